/* Checkpoints of other programs: each form of the weights block read, and written back to the
 * same bytes; what is missing or does not fit. */
#define _GNU_SOURCE
#include "driver/run/weight_parts.h"

#include "tests/driver/weights_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

static void forms(void **state)
{
    Fixture *f = *state;
    StTensor tensors[TENSORS];
    make_tensors(f, tensors);
    assert_true(open_model(f, weights_map));
    assert_true(weights_load(&f->job, f->session.model, f->store,
                             write_checkpoint(f, tensors, TENSORS), NULL));
    assert_true(element(f, "joined", 3 * 4 + 1) == 113);             /* u[3, 1] */
    assert_true(element(f, "joined", 4 * 4 + 2) == 200 + 2 * 3 + 1); /* v[2, 1] */
    assert_true(element(f, "joined", 5 * 4 + 2) == 200 + 2 * 3 + 2); /* v[2, 2] */
    assert_true(element(f, "turned", 1 * 3 + 2) == 300 + 2 * 4 + 1);
    assert_true(element(f, "other", 1 * 4 + 2) == 400 + (4 + 2) * 4 + 1);
    assert_true(element(f, "cube", (1 * 3 + 2) * 4 + 3) == 500 + (2 * 4 + 3) * 2 + 1);
    assert_true(element(f, "scaled", 1) == 300.5);
    assert_true(element(f, "shared", 3) == 703 && element(f, "again", 3) == 703);
    assert_true(element(f, "plain", 2) == 802);
}

/* Parts whose sizes differ, a name that is composed, a tensor that may be missing. */
static void unequal(void **state)
{
    Fixture *f = *state;
    StTensor tensors[] = {numbers(f, "u", 100, 2, (int64_t[]){1, 4}),
                          numbers(f, "v", 200, 2, (int64_t[]){4, 3}),
                          numbers(f, "z", 300, 2, (int64_t[]){2, 4}),
                          numbers(f, "turned", 400, 2, (int64_t[]){4, 3}),
                          numbers(f, "part", 500, 2, (int64_t[]){4, 4}),
                          numbers(f, "other", 600, 2, (int64_t[]){4, 4}),
                          numbers(f, "cube", 700, 3, (int64_t[]){2, 3, 4}),
                          numbers(f, "scaled", 800, 1, (int64_t[]){4}),
                          numbers(f, "all.name", 900, 1, (int64_t[]){4}),
                          numbers(f, "other again", 1000, 1, (int64_t[]){4}),
                          numbers(f, "plain", 1100, 1, (int64_t[]){4})};
    enum { N = sizeof tensors / sizeof *tensors };
    assert_true(
        open_model(f, "const front = \"all.\", name = \"name\"\n"
                      "weights {\n"
                      "  joined = concat([\"u\", transpose(\"v\"), \"z\"], 0, sizes = [1, 3, 2])\n"
                      "  shared = front + name\n"
                      "  again  = optional(\"absent\")\n"
                      "}\n"));
    assert_true(
        weights_load(&f->job, f->session.model, f->store, write_checkpoint(f, tensors, N), NULL));
    assert_true(element(f, "joined", 0 * 4 + 3) == 103);
    assert_true(element(f, "joined", 2 * 4 + 3) == 200 + 3 * 3 + 1); /* v[3, 1] */
    assert_true(element(f, "joined", 4 * 4 + 1) == 301 && element(f, "joined", 5 * 4) == 304);
    assert_true(element(f, "shared", 2) == 902 && element(f, "again", 2) == 0);
    const char *back = in_folder(f, "back.safetensors");
    assert_true(weights_export(&f->job, f->session.model, f->store, &(WeightsExport){0}, back));
    StFile *file = st_open(&f->job.diags, f->job.arena, back);
    assert_non_null(file);
    assert_int_equal(file->n, N);
    for (int i = 0; i < N; i++) {
        const StTensor *again = st_find(file, tensors[i].name);
        if (i == 9) { /* nobody's; the optional one is written */
            assert_null(again);
            assert_non_null(st_find(file, "absent"));
            continue;
        }
        assert_non_null(again);
        assert_memory_equal(again->data, tensors[i].data, again->bytes);
    }
    st_close(file);
}

/* A part [2, 35, 19] of a tensor [4, 40, 21], its axes in the given order in the param: larger than
 * a tile, and with a rest. Each element is looked up by its place. */
static void check_part(StType type, const int order[3], double scale)
{
    enum { A = 2, B = 35, C = 19, ALL = 4 * 40 * 21 };
    static uint16_t bits[ALL];
    static float floats[ALL], ours[A * B * C];
    for (int i = 0; i < ALL; i++) {
        bits[i] = (uint16_t)(i * 7 % 0x7000 + (i % 2 ? 0x8000 : 0));
        floats[i] = (float)i;
    }
    StTensor from = {.type = type, .rank = 3, .dims = {4, 40, 21}, .count = ALL};
    from.data = type == ST_F32 ? (const void *)floats : bits;
    WeightPart part = {.rank = 3, .scale = scale};
    static const WeightAxis axes[] = {{.size = A, .their_begin = 1},
                                      {.size = B, .their_begin = 3},
                                      {.size = C, .their_begin = 2}};
    StoreTensor param = {.type = TFC_F32, .rank = 3, .count = A * B * C, .data = ours};
    for (int i = 0; i < 3; i++) {
        part.axes[i] = axes[i];
        part.axes[i].ours = order[i];
        part.axes[i].is_slice = true;
        param.dims[order[i]] = axes[i].size;
    }
    memset(ours, 0xFF, sizeof ours);
    assert_true(part_read(&part, &from, &param));
    for (int64_t i = 0; i < param.count; i++) {
        int64_t at[3], place = i;
        for (int axis = 3; axis-- > 0; place /= param.dims[axis])
            at[axis] = place % param.dims[axis];
        int64_t theirs = ((at[order[0]] + 1) * 40 + at[order[1]] + 3) * 21 + at[order[2]] + 2;
        assert_true(ours[i] == (float)(scale * st_value(&from, theirs)));
    }
}

static void large_parts(void **state)
{
    (void)state;
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        check_part(ST_F32, orders[i], 1);
        check_part(ST_BF16, orders[i], 1);
        check_part(ST_F16, orders[i], 1);
        check_part(ST_BF16, orders[i], 0.5);
    }
}

static const WeightsExport everything;

/* The file that comes back has the tensors of the one that went in, element for element. Of v
 * the model has a part alone, so all of v cannot be. */
static void there_and_back(void **state)
{
    Fixture *f = *state;
    StTensor tensors[TENSORS];
    make_tensors(f, tensors);
    const char *map = "weights {\n"
                      "  joined = concat([\"u\", transpose(\"v\")])\n"
                      "  turned = transpose(\"t\")\n"
                      "  part   = transpose(slice(\"merged\", 0, 0, 4))\n"
                      "  other  = transpose(slice(\"merged\", 0, 4, 4))\n"
                      "  cube   = permute(\"c\", [2, 0, 1])\n"
                      "  scaled = \"s\" / 2\n"
                      "  shared = tied([\"first.name\", \"second.name\"])\n"
                      "  again  = \"first.name\"\n"
                      "}\n";
    tensors[0] = numbers(f, "u", 100, 2, (int64_t[]){3, 4});
    assert_true(open_model(f, map));
    assert_true(weights_load(&f->job, f->session.model, f->store,
                             write_checkpoint(f, tensors, TENSORS), NULL));
    const char *path = in_folder(f, "back.safetensors");
    assert_true(weights_export(&f->job, f->session.model, f->store, &everything, path));
    StFile *file = st_open(&f->job.diags, f->job.arena, path);
    assert_non_null(file);
    assert_int_equal(file->n, TENSORS);
    for (int i = 0; i < TENSORS; i++) {
        const StTensor *back = st_find(file, tensors[i].name);
        assert_non_null(back);
        assert_int_equal(back->rank, tensors[i].rank);
        assert_memory_equal(back->dims, tensors[i].dims, sizeof(int64_t) * (size_t)back->rank);
        assert_memory_equal(back->data, tensors[i].data, back->bytes);
    }
    st_close(file);
}

/* The front of all names left out: "wte.weight" for "transformer.wte.weight". */
static void without_front(void **state)
{
    Fixture *f = *state;
    StTensor tensors[TENSORS];
    make_tensors(f, tensors);
    tensors[6].name = "name";
    assert_true(open_model(f, weights_map));
    assert_true(weights_load(&f->job, f->session.model, f->store,
                             write_checkpoint(f, tensors, TENSORS), NULL));
    assert_true(element(f, "shared", 3) == 703);
    tensors[7].name = "first.other"; /* some names have the front: then all have it */
    assert_false(weights_load(&f->job, f->session.model, f->store,
                              write_checkpoint(f, tensors, TENSORS), NULL));
}

static void export_refuses(void **state)
{
    Fixture *f = *state;
    StTensor tensors[TENSORS];
    make_tensors(f, tensors);
    assert_true(open_model(f, weights_map));
    assert_true(weights_load(&f->job, f->session.model, f->store,
                             write_checkpoint(f, tensors, TENSORS), NULL));
    const char *path = in_folder(f, "back.safetensors");
    assert_false(weights_export(&f->job, f->session.model, f->store, &everything, path));
    assert_non_null(strstr(told(f), "the params do not fill the tensor 'v'"));
    assert_false(file_exists(path));
}

static void differing_twins(void **state)
{
    Fixture *f = *state;
    assert_true(open_model(f, "weights {\n  shared = \"w\"\n  again = \"w\"\n}\n"));
    for (int64_t t = 0; t < store_count(f->store); t++)
        if (!strcmp(store_at(f->store, t)->name, "again"))
            ((float *)store_at(f->store, t)->data)[2] = 1;
    assert_false(weights_export(&f->job, f->session.model, f->store, &everything,
                                in_folder(f, "back.safetensors")));
    assert_non_null(strstr(told(f), "one tensor cannot hold both"));
}

static void missing(void **state)
{
    Fixture *f = *state;
    StTensor tensors[TENSORS];
    make_tensors(f, tensors);
    tensors[0].name = "model.u";
    tensors[5].name = "first.nome";
    tensors[6].name = "x";
    assert_true(open_model(f, weights_map));
    assert_false(weights_load(&f->job, f->session.model, f->store,
                              write_checkpoint(f, tensors, TENSORS), NULL));
    const char *text = told(f);
    assert_non_null(strstr(text, "4 of the model's tensors are missing:"));
    assert_non_null(strstr(text, "'u' (for the param 'joined'); did you mean 'model.u'?"));
    assert_non_null(
        strstr(text, "'first.name' (for the param 'again'); did you mean 'first.nome'?"));
}

static void does_not_fit(void **state)
{
    Fixture *f = *state;
    StTensor tensors[TENSORS];
    make_tensors(f, tensors);
    tensors[2] = numbers(f, "t", 0, 2, (int64_t[]){4, 4});
    tensors[3] = numbers(f, "merged", 0, 2, (int64_t[]){7, 4});
    assert_true(open_model(f, weights_map));
    assert_false(weights_load(&f->job, f->session.model, f->store,
                              write_checkpoint(f, tensors, TENSORS), NULL));
    const char *text = told(f);
    assert_non_null(strstr(text, "the tensor 't' is [4, 4], but the param 'turned' takes [3, 4]"));
    assert_non_null(strstr(text, "there is no part 4 … 7 of its axis 0"));
}

/* Two rows become three: a new one between them, the mean. */
static void grown_vocabulary(void **state)
{
    Fixture *f = *state;
    StTensor tensors[TENSORS];
    make_tensors(f, tensors);
    tensors[2] = numbers(f, "t", 300, 2, (int64_t[]){2, 4});
    assert_true(open_model(f, weights_map));
    const char *path = write_checkpoint(f, tensors, TENSORS);
    const GrownRows grown = {.before = 2, .now = 3, .was = (int32_t[]){0, -1, 1}, .what = "tokens"};
    const WeightsLoad how = {.grown = &grown, .n_grown = 1};
    assert_true(weights_load(&f->job, f->session.model, f->store, path, &how));
    for (int i = 0; i < 4; i++) {
        assert_true(element(f, "turned", i * 3) == 300 + i);
        assert_true(element(f, "turned", i * 3 + 1) == 302 + i);
        assert_true(element(f, "turned", i * 3 + 2) == 304 + i);
    }
    assert_true(element(f, "cube", (1 * 3 + 2) * 4 + 3) == 500 + (2 * 4 + 3) * 2 + 1);
    assert_non_null(strstr(told(f), "1 of the 3 tokens are new: their rows of turned begin"));
    assert_false(weights_load(&f->job, f->session.model, f->store, path, NULL));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, open_weights_case, close_weights_case)
    const struct CMUnitTest tests[] = {
        CASE(forms),         CASE(unequal),         CASE(large_parts),     CASE(there_and_back),
        CASE(without_front), CASE(export_refuses),  CASE(differing_twins), CASE(missing),
        CASE(does_not_fit),  CASE(grown_vocabulary)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
