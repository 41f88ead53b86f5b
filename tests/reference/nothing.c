/* Where there is nothing to attend to: a fully masked row and a sentence of length 0
 * give zeros, in values and gradients, and leave the other rows what they are. */
#include "tests/reference/harness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool all_finite(const StTensor *tensor)
{
    bool finite = true;
    for (int64_t i = 0; i < tensor->count; i++)
        finite = finite && isfinite(st_value(tensor, i));
    return finite;
}

/* The row's greatest absolute element. */
static double row_size(const StTensor *tensor, int64_t row)
{
    int64_t width = tensor->count / tensor->dims[0];
    double size = 0;
    for (int64_t i = 0; i < width; i++)
        size = fmax(size, fabs(st_value(tensor, row * width + i)));
    return size;
}

static void check_finite(Harness *h, const char *level, const StFile *ours)
{
    for (int64_t i = 0; i < ours->n; i++)
        harness_check(h, all_finite(&ours->tensors[i]), "%s: %s is not finite", level,
                      ours->tensors[i].name);
}

/* ---- masks ---- */

static const char masked_model[] = "input allowed : bool[3, 4]\n"
                                   "param q : [3, 8] = normal(0, 1)\n"
                                   "param k : [4, 8] = normal(0, 1)\n"
                                   "param v : [4, 5] = normal(0, 1)\n"
                                   "weights = softmax(mask(q @ transpose(k), allowed))\n"
                                   "output weights\n"
                                   "output y = weights @ v\n"
                                   "loss = sum(y * y)\n";

static void test_masked_row(Harness *h, const char *level)
{
    static const uint8_t allowed[3][4] = {{1, 1, 0, 0}, {0, 0, 0, 0}, {0, 1, 1, 0}};
    const char *model = harness_path(h, "model.tfg"), *in = harness_path(h, "in.safetensors");
    const char *out = harness_path(h, "out.safetensors");
    StTensor mask = {
        .name = "allowed", .type = ST_BOOL, .rank = 2, .dims = {3, 4}, .data = allowed};
    Words words = {0};
    words_add(h, words, "run", model, "--in", in, "--out", out, "--grad", level);
    bool ran = file_write_all(&h->diags, model, masked_model, strlen(masked_model)) &&
               st_write(&h->diags, in, &mask, 1, NULL, 0) && harness_run(h, &words) == 0;
    if (!harness_check(h, ran, "%s, a masked row: %s", level, harness_said(h)))
        return;
    StFile *ours = harness_open(h, out);
    check_finite(h, level, ours);
    static const char *const by_query[] = {"weights", "y", "grad.q"};
    for (int i = 0; i < 3; i++)
        for (int64_t row = 0; row < 3; row++)
            harness_check(h, (row_size(st_find(ours, by_query[i]), row) == 0) == (row == 1),
                          "%s: row %d of %s is %g", level, (int)row, by_query[i],
                          row_size(st_find(ours, by_query[i]), row));
    for (int64_t row = 0; row < 4; row++) /* nobody sees the last key */
        harness_check(h, (row_size(st_find(ours, "grad.v"), row) == 0) == (row == 3),
                      "%s: row %d of grad.v", level, (int)row);
    st_close(ours);
}

/* ---- empty sentences ---- */

#define FIXTURE "tests/fixtures/transformer_small.safetensors"

/* The fixture's batch with one sentence of a side emptied; without lengths of its own
 * the other side's tensors are as they were. */
static bool write_emptied(Harness *h, const StFile *fixture, const char *path, const char *side,
                          int row)
{
    VEC(StTensor) tensors = {0};
    const char *lengths_name = arena_printf(h->arena, "%s.lengths", side);
    for (int64_t i = 0; i < fixture->n; i++) {
        StTensor tensor = fixture->tensors[i];
        if (!strcmp(tensor.name, lengths_name)) {
            int32_t *lengths = ARENA_ARRAY(h->arena, int32_t, tensor.count);
            st_to_i32(&tensor, lengths);
            lengths[row] = 0;
            tensor.data = lengths;
        }
        if (!strncmp(tensor.name, "src", 3) || !strncmp(tensor.name, "tgt", 3))
            vec_push(h->arena, tensors, tensor);
    }
    return st_write(&h->diags, path, tensors.data, (int64_t)tensors.count, NULL, 0);
}

static void test_empty(Harness *h, const char *level, const char *side)
{
    enum { EMPTY = 1 };
    StFile *fixture = harness_open(h, FIXTURE);
    const char *in = harness_path(h, "in.safetensors"), *out = harness_path(h, "out.safetensors");
    Words words = {0};
    words_add(h, words, "run", "models/transformer_base.tfg", "--weights", FIXTURE, "--in", in,
              "--out", out, "--grad", level);
    for (int64_t i = 0; i < fixture->n_meta; i++)
        words_add(h, words, "--set",
                  arena_printf(h->arena, "%s=%s", fixture->meta_keys[i], fixture->meta_values[i]));
    bool ran = write_emptied(h, fixture, in, side, EMPTY) && harness_run(h, &words) == 0;
    if (harness_check(h, ran, "%s, an empty %s: %s", level, side, harness_said(h))) {
        StFile *ours = harness_open(h, out);
        check_finite(h, level, ours);
        const StTensor *logits = st_find(ours, "logits"), *theirs = st_find(fixture, "logits");
        int64_t row_count = theirs->count / theirs->dims[0],
                shown = logits->count / logits->dims[0];
        for (int64_t row = 0; row < theirs->dims[0]; row++)
            for (int64_t k = 0; row != EMPTY && k < row_count; k++) {
                double a = k < shown ? st_value(logits, row * shown + k) : 0;
                double b = st_value(theirs, row * row_count + k);
                if (fabs(a - b) > 1e-4)
                    harness_check(h, false, "%s, an empty %s: logits of row %d: %g, not %g", level,
                                  side, (int)row, a, b);
            }
        harness_check(h, strcmp(side, "tgt") || row_size(logits, EMPTY) == 0,
                      "%s: a row of nothing", level);
        st_close(ours);
    }
    st_close(fixture);
}

int main(int argc, char **argv)
{
    Harness h;
    harness_init(&h, argc, argv, NULL);
    static const char *const levels[] = {"-O0", "-O2"};
    for (int i = 0; i < 2; i++) {
        test_masked_row(&h, levels[i]);
        test_empty(&h, levels[i], "src");
        test_empty(&h, levels[i], "tgt");
    }
    return harness_finish(&h);
}
