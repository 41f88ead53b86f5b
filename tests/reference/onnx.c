/* The ONNX conformance suite: every case of ../shared/data/onnx-ops whose op the
 * language can say is written as a model, run and compared. Prints a table: passed
 * with the greatest difference, or why the case is not said. */
#include "tests/reference/harness.h"
#include "tests/reference/onnx_case.h"

#include <stdio.h>
#include <string.h>

#define DATA "../shared/data/onnx-ops/"

static const double tolerance = 1e-4;

static OnnxCase read_case(Harness *h, const JsonValue *entry)
{
    OnnxCase c = {.name = json_member_text(entry, "case"),
                  .op = json_member_text(entry, "op"),
                  .attributes = json_member(entry, "attributes"),
                  .inputs = json_member(entry, "inputs"),
                  .outputs = json_member(entry, "outputs"),
                  .arena = h->arena};
    c.file = harness_open(h, arena_printf(h->arena, DATA "%s.safetensors", c.name));
    return c;
}

static bool write_inputs(Harness *h, const OnnxCase *c, const char *path)
{
    VEC(StTensor) tensors = {0};
    for (size_t i = 0; i < c->inputs->n; i++)
        if (case_input(c, i)) {
            StTensor tensor = *case_input(c, i);
            tensor.name = case_input_name(c, i);
            vec_push(h->arena, tensors, tensor);
        }
    return st_write(&h->diags, path, tensors.data, (int64_t)tensors.count, NULL, 0);
}

static bool same_shape(const StTensor *a, const StTensor *b)
{
    return a->rank == b->rank && !memcmp(a->dims, b->dims, sizeof(int64_t) * (size_t)a->rank);
}

/* Whether every output is as the suite has it; the greatest difference. */
static bool compare_outputs(Harness *h, const OnnxCase *c, const StFile *ours, double *worst)
{
    bool ok = true;
    for (size_t i = 0; i < c->outputs->n; i++) {
        const char *name = case_output_name(c, i);
        if (!name)
            continue;
        const StTensor *theirs = st_find(c->file, arena_printf(h->arena, "out.%s", name + 4));
        const StTensor *tensor = st_find(ours, name);
        if (!tensor || !same_shape(tensor, theirs)) {
            printf("  %s: %s\n", name, tensor ? "another shape" : "absent");
            ok = false;
            continue;
        }
        Difference d = tensor_difference(tensor, theirs);
        *worst = d.largest > *worst ? d.largest : *worst;
        ok = ok && d.same_count && d.largest <= tolerance;
    }
    return ok;
}

typedef struct Count {
    int passed, unsaid, failed;
} Count;

static void test_case(Harness *h, const OnnxCase *c, const char *level, Count *count)
{
    Text text = {0};
    const char *why = say_case(c, &text);
    if (why) {
        printf("%-66s not sayable: %s\n", c->name, why);
        count->unsaid++;
        text_free(&text);
        return;
    }
    const char *model = harness_path(h, "case.tfg"), *in = harness_path(h, "in.safetensors");
    const char *out = harness_path(h, "out.safetensors");
    Words words = {0};
    words_add(h, words, "run", model, "--in", in, "--out", out, level);
    double worst = 0;
    bool ok = file_write_all(&h->diags, model, text.data, text.length) && write_inputs(h, c, in) &&
              harness_run(h, &words) == 0;
    const char *said = ok ? "" : harness_said(h);
    if (ok) {
        StFile *ours = harness_open(h, out);
        ok = compare_outputs(h, c, ours, &worst);
        st_close(ours);
    }
    *(ok ? &count->passed : &count->failed) += 1;
    if (harness_check(h, ok, "%s %s differs by %g\n%s\n%s", c->name, level, worst, said, text.data))
        printf("%-66s passed %.1e\n", c->name, worst);
    text_free(&text);
}

static void test_cases(Harness *h, const JsonValue *cases, const char *level)
{
    Count count = {0};
    for (size_t i = 0; i < cases->n; i++) {
        OnnxCase c = read_case(h, &cases->items[i]);
        test_case(h, &c, level, &count);
        st_close((StFile *)c.file);
    }
    printf("%s: of %u cases %d passed, %d failed, %d are not sayable\n", level, cases->n,
           count.passed, count.failed, count.unsaid);
}

int main(int argc, char **argv)
{
    Harness h;
    harness_init(&h, argc, argv, DATA "cases.json");
    const char *problem = "is not there";
    const Source *text = file_read(&h.diags, h.arena, DATA "cases.json", 1 << 20);
    const JsonValue *cases = text ? json_read(h.arena, text->text, text->length, &problem) : NULL;
    if (harness_check(&h, cases && cases->kind == JV_LIST, "cases.json: %s",
                      problem ? problem : "is no list")) {
        test_cases(&h, cases, "-O2");
        test_cases(&h, cases, "-O0");
    }
    return harness_finish(&h);
}
