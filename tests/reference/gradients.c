/* `tfc run --grad` against PyTorch: from the same weights and a padded batch the same
 * logits, loss and gradient of every param, optimised and not, in f32, f64 and bf16 (whose
 * tolerance is a few of its ulps, 2^-8); and bf16 with attention in regions against without.
 * The fixtures are made by tests/fixtures/make_*.py. */
#include "tests/reference/harness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct Fixture {
    const char *file, *model;
    /* a ReLU of it is so close to 0 that one weight rounded to bf16, with all else in f64, changes
     * gradients by a half: they say nothing of bf16 */
    bool at_kink;
} fixtures[] = {
    {"tests/fixtures/transformer_small.safetensors", "models/transformer_base.tfg", true},
    {"tests/fixtures/pre_norm_small.safetensors", "models/pre_norm.tfg", false},
    {"tests/fixtures/gpt_small.safetensors", "models/gpt.tfg", false},
    {"tests/fixtures/llama_small.safetensors", "models/llama.tfg", false},
    {"tests/fixtures/conformer_small.safetensors", "tests/models/conformer.tfg", false},
    {"tests/fixtures/canon_small.safetensors", "tests/models/canon.tfg", false},
    {"tests/fixtures/convs2s_small.safetensors", "tests/models/convs2s.tfg", false},
    {"tests/fixtures/experts_small.safetensors", "tests/models/experts.tfg", false},
    {"tests/fixtures/mixtral_small.safetensors", "models/mixtral.tfg", false},
    {"tests/fixtures/ctc.safetensors", "tests/fixtures/ctc.tfg", false},
};

/* The fixtures were computed in f64 and are kept in f32, which bounds what f64 can show. */
static const struct Way {
    const char *dtype, *level;
    double logits, loss, gradient; /* absolute; relative; relative norm */
    double nothing;                /* of a zero gradient: relative to all gradients */
} ways[] = {
    {"f32", "-O2", 1e-4, 1e-5, 1e-3, 1e-5},  {"f32", "-O0", 1e-4, 1e-5, 1e-3, 1e-5},
    {"f64", "-O2", 1e-6, 1e-7, 1e-6, 1e-7},  {"f64", "-O0", 1e-6, 1e-7, 1e-6, 1e-7},
    {"bf16", "-O2", 6e-2, 1e-3, 6e-2, 1e-2}, {"bf16", "-O0", 6e-2, 1e-3, 6e-2, 1e-2},
};

/* Attention in regions against attention without, in bf16: sums differ in their order, and
 * now and then one is rounded the other way. */
static const struct Way regions = {"bf16", NULL, 1e-2, 1e-4, 1e-2, 1e-3};

static double norm_of_gradients(const StFile *file)
{
    double sum = 0;
    for (int64_t i = 0; i < file->n; i++)
        for (int64_t k = 0;
             !strncmp(file->tensors[i].name, "grad.", 5) && k < file->tensors[i].count; k++)
            sum += st_value(&file->tensors[i], k) * st_value(&file->tensors[i], k);
    return sqrt(sum);
}

/* Worst differences, for the table. */
typedef struct Worst {
    double logits, loss, gradient;
} Worst;

static void compare_gradient(Harness *h, const char *title, const struct Way *way,
                             const StTensor *ours, const StTensor *theirs, double all, Worst *worst)
{
    if (!harness_check(h, ours, "%s: no %s", title, theirs->name))
        return;
    Difference d = tensor_difference(ours, theirs);
    if (d.theirs < 1e-9 * all) { /* a key's bias: zero but for rounding */
        harness_check(h, d.same_count && d.norm <= way->nothing * all, "%s: %s is %g, not 0", title,
                      theirs->name, d.norm);
        return;
    }
    worst->gradient = fmax(worst->gradient, d.norm / d.theirs);
    harness_check(h, d.same_count && d.norm <= way->gradient * d.theirs,
                  "%s: %s differs by %g of its norm %g", title, theirs->name, d.norm / d.theirs,
                  d.theirs);
}

static void compare_files(Harness *h, const char *title, const struct Way *way, bool gradients,
                          const StFile *ours, const StFile *theirs)
{
    Worst worst = {0};
    const StTensor *logits = st_find(ours, "logits"), *loss = st_find(ours, "loss");
    if (harness_check(h, logits && loss, "%s: no logits or no loss", title)) {
        Difference d = tensor_difference(logits, st_find(theirs, "logits"));
        worst.logits = d.largest;
        harness_check(h, d.same_count && d.largest <= way->logits, "%s: logits differ by %g", title,
                      d.largest);
        d = tensor_difference(loss, st_find(theirs, "loss"));
        worst.loss = d.norm / d.theirs;
        harness_check(h, d.same_count && worst.loss <= way->loss,
                      "%s: the loss differs by %g of it", title, worst.loss);
    }
    double all = norm_of_gradients(theirs);
    for (int64_t i = 0; gradients && i < theirs->n; i++)
        if (!strncmp(theirs->tensors[i].name, "grad.", 5))
            compare_gradient(h, title, way, st_find(ours, theirs->tensors[i].name),
                             &theirs->tensors[i], all, &worst);
    for (int64_t i = 0; i < ours->n; i++)
        if (!strncmp(ours->tensors[i].name, "grad.", 5))
            harness_check(h, st_find(theirs, ours->tensors[i].name), "%s: a %s that is not there",
                          title, ours->tensors[i].name);
    printf("%-48s logits %.1e   loss %.1e   worst gradient %.1e\n", title, worst.logits, worst.loss,
           worst.gradient);
}

/* Runs the model and returns what it gave, or NULL after a complaint. `level`: an option. */
static StFile *run_fixture(Harness *h, const char *title, const struct Fixture *fixture,
                           const char *dtype, const char *level, const char *name)
{
    StFile *theirs = harness_open(h, fixture->file);
    const char *out = harness_path(h, name);
    Words words = {0};
    words_add(h, words, "run", fixture->model, "--weights", fixture->file, "--in", fixture->file,
              "--out", out, "--grad", "--dtype", dtype, level);
    for (int64_t i = 0; i < theirs->n_meta; i++)
        words_add(h, words, "--set",
                  arena_printf(h->arena, "%s=%s", theirs->meta_keys[i], theirs->meta_values[i]));
    int status = harness_run(h, &words);
    st_close(theirs);
    bool ran =
        harness_check(h, status == 0, "%s: exit status %d: %s", title, status, harness_said(h));
    return ran ? harness_open(h, out) : NULL;
}

static void test_fixture(Harness *h, const struct Fixture *fixture, const struct Way *way)
{
    const char *title = arena_printf(h->arena, "%s %s %s", fixture->model, way->dtype, way->level);
    StFile *ours = run_fixture(h, title, fixture, way->dtype, way->level, "out.safetensors");
    if (!ours)
        return;
    StFile *theirs = harness_open(h, fixture->file);
    bool gradients = !fixture->at_kink || strcmp(way->dtype, "bf16");
    compare_files(h, title, way, gradients, ours, theirs);
    st_close(theirs);
    st_close(ours);
}

static void test_regions(Harness *h, const struct Fixture *fixture)
{
    const char *title = arena_printf(h->arena, "%s bf16 regions", fixture->model);
    StFile *with = run_fixture(h, title, fixture, "bf16", "-O2", "with.safetensors");
    StFile *without =
        run_fixture(h, title, fixture, "bf16", "--passes=-fuse_attention", "without.safetensors");
    if (with && without)
        compare_files(h, title, &regions, true, with, without);
    if (with)
        st_close(with);
    if (without)
        st_close(without);
}

int main(int argc, char **argv)
{
    Harness h;
    harness_init(&h, argc, argv, NULL);
    for (size_t f = 0; f < sizeof fixtures / sizeof *fixtures; f++) {
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
            test_fixture(&h, &fixtures[f], &ways[w]);
        test_regions(&h, &fixtures[f]);
    }
    return harness_finish(&h);
}
