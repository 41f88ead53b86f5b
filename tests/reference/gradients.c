/* `tfc run --grad` against PyTorch: from the same weights and a padded batch the same
 * logits, loss and gradient of every param, optimised and not, in f32, f64 and bf16 (whose
 * tolerance is a few of its ulps, 2^-8); and bf16 with attention in regions against without.
 * Models of papers are compared in f32 and f64; the short form has f64, optimised, alone.
 * The fixtures are made by tests/fixtures/make_*.py. */
#include "tests/reference/harness.h"
#include "tests/short.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct Fixture {
    const char *file, *model;
    /* a ReLU of it is so close to 0 that one weight rounded to bf16, with all else in f64, changes
     * gradients by a half: they say nothing of bf16 */
    bool at_kink;
    const char *output; /* NULL: logits */
} fixtures[] = {
    {"tests/fixtures/transformer_small.safetensors", "models/transformer_base.tfg", true, NULL},
    {"tests/fixtures/pre_norm_small.safetensors", "models/pre_norm.tfg", false, NULL},
    {"tests/fixtures/gpt_small.safetensors", "models/gpt.tfg", false, NULL},
    {"tests/fixtures/llama_small.safetensors", "models/llama.tfg", false, NULL},
    {"tests/fixtures/conformer_small.safetensors", "tests/models/conformer.tfg", false, NULL},
    {"tests/fixtures/canon_small.safetensors", "tests/models/canon.tfg", false, NULL},
    {"tests/fixtures/convs2s_small.safetensors", "tests/models/convs2s.tfg", false, NULL},
    {"tests/fixtures/experts_small.safetensors", "tests/models/experts.tfg", false, NULL},
    {"tests/fixtures/mixtral_small.safetensors", "models/mixtral.tfg", false, NULL},
    {"tests/fixtures/ctc.safetensors", "tests/fixtures/ctc.tfg", false, NULL},
    {"tests/fixtures/label_loss.safetensors", "tests/fixtures/label_loss.tfg", false, NULL},
};

/* By make_papers.py; a model of a page: PAGE#NAME. */
static const struct Fixture papers[] = {
    {"tests/fixtures/masks_small.safetensors", "tests/models/masks.tfg", false, NULL},
    {"tests/fixtures/differential_small.safetensors", "docs/papers.md#differential", false, NULL},
    {"tests/fixtures/retnet_small.safetensors", "docs/papers.md#retnet", false, NULL},
    {"tests/fixtures/sinks_small.safetensors", "docs/papers.md#sinks", false, NULL},
    {"tests/fixtures/prefix_tuning_small.safetensors", "docs/papers.md#prefix_tuning", false, NULL},
    {"tests/fixtures/gmlp_small.safetensors", "docs/papers.md#gmlp", false, NULL},
    {"tests/fixtures/longformer_small.safetensors", "docs/papers.md#longformer", false, "class"},
    {"tests/fixtures/gpt_oss_small.safetensors", "tests/strangers/gpt_oss.tfg", false, NULL},
    {"tests/fixtures/mamba2_small.safetensors", "tests/models/mamba2.tfg", false, NULL},
    {"tests/fixtures/deltanet_small.safetensors", "tests/strangers/deltanet.tfg", false, NULL},
    {"tests/fixtures/minlstm_small.safetensors", "tests/strangers/minlstm.tfg", false, NULL},
    {"tests/fixtures/mla_small.safetensors", "tests/strangers/mla.tfg", false, NULL},
    {"tests/fixtures/deepseek_moe_small.safetensors", "tests/strangers/deepseek_moe.tfg", false,
     NULL},
    {"tests/fixtures/ngpt_small.safetensors", "tests/models/ngpt.tfg", false, NULL},
    {"tests/fixtures/transformer_xl_small.safetensors", "tests/models/transformer_xl.tfg", false,
     NULL},
    {"tests/fixtures/expert_choice_small.safetensors", "tests/models/expert_choice.tfg", false,
     "class"},
};

/* The fixtures were computed in f64 and are kept in f32, which bounds what f64 can show. */
static const struct Way {
    const char *dtype, *level;
    double logits, loss, gradient; /* absolute, of logits up to 8; relative; relative norm */
    double nothing;                /* of a zero gradient: relative to all gradients */
    double rounding; /* relative to all gradients: where terms cancel, as a decay's of Mamba-2 */
} ways[] = {
    {"f32", "-O2", 3e-5, 1e-5, 1e-5, 1e-5, 5e-7}, {"f32", "-O0", 3e-5, 1e-5, 1e-5, 1e-5, 5e-7},
    {"f64", "-O2", 1e-6, 1e-7, 1e-6, 1e-7, 0},    {"f64", "-O0", 1e-6, 1e-7, 1e-6, 1e-7, 0},
    {"bf16", "-O2", 6e-2, 1e-3, 6e-2, 1e-2, 0},   {"bf16", "-O0", 6e-2, 1e-3, 6e-2, 1e-2, 0},
};

enum { SHORT_WAY = 2 }; /* of models of papers: f64 -O2 */

/* Attention in regions against attention without, in bf16: sums differ in their order, and
 * now and then one is rounded the other way. */
static const struct Way regions = {"bf16", NULL, 1e-2, 1e-4, 1e-2, 1e-3, 0};

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
    harness_check(h, d.same_count && d.norm <= way->gradient * d.theirs + way->rounding * all,
                  "%s: %s differs by %g of its norm %g", title, theirs->name, d.norm / d.theirs,
                  d.theirs);
}

static void compare_files(Harness *h, const char *title, const struct Way *way, const char *output,
                          bool gradients, const StFile *ours, const StFile *theirs)
{
    Worst worst = {0};
    output = output ? output : "logits";
    const StTensor *logits = st_find(ours, output), *loss = st_find(ours, "loss");
    if (harness_check(h, logits && loss, "%s: no logits or no loss", title)) {
        Difference d = tensor_difference(logits, st_find(theirs, output));
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

/* A model's file; of PAGE#NAME the block of the page that begins with `model NAME`. */
static const char *model_file(Harness *h, const char *model)
{
    const char *mark = strchr(model, '#');
    if (!mark)
        return model;
    const char *page = arena_printf(h->arena, "%.*s", (int)(mark - model), model);
    const Source *source = file_read(&h->diags, h->arena, page, 1 << 24);
    const char *begins = arena_printf(h->arena, "```tfg\nmodel %s\n", mark + 1);
    const char *from = source ? strstr(source->text, begins) : NULL;
    const char *to = from ? strstr(from, "\n```\n") : NULL;
    if (!harness_check(h, to, "%s has no %s", page, mark + 1))
        return model;
    const char *path = harness_path(h, arena_printf(h->arena, "%s.tfg", mark + 1));
    from += strlen("```tfg\n");
    bool ok = file_write_all(&h->diags, path, from, (size_t)(to + 1 - from));
    harness_check(h, ok, "no %s", path);
    return path;
}

/* Runs the model and returns what it gave, or NULL after a complaint. `level`: an option. */
static StFile *run_fixture(Harness *h, const char *title, const struct Fixture *fixture,
                           const char *dtype, const char *level, const char *name)
{
    StFile *theirs = harness_open(h, fixture->file);
    const char *out = harness_path(h, name);
    Words words = {0};
    words_add(h, words, "run", model_file(h, fixture->model), "--weights", fixture->file, "--in",
              fixture->file, "--out", out, "--grad", "--dtype", dtype, level);
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
    compare_files(h, title, way, fixture->output, gradients, ours, theirs);
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
        compare_files(h, title, &regions, fixture->output, true, with, without);
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
    for (size_t f = 0; f < sizeof papers / sizeof *papers; f++)
        for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
            if (short_test() ? w == SHORT_WAY : strcmp(ways[w].dtype, "bf16"))
                test_fixture(&h, &papers[f], &ways[w]);
    return harness_finish(&h);
}
