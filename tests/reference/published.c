/* Models as they are published (tests/fixtures/make_published.py), from PyTorch and back: tfc
 * import reads their folder (config.json, tokenizer.json, safetensors), the logits are PyTorch's
 * within 1e-4, greedy text where it is generated is PyTorch's (make_generations.py), 20 steps of
 * fine-tuning have its losses within 1 %, and tfc export writes the tensors that came. */
#define _GNU_SOURCE
#include "tests/reference/published_case.h"
#include "tests/short.h"

#include "driver/run/weights.h"
#include "driver/values/tensors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const models[] = {"bert_classes",
                                     "roberta_classes",
                                     "distilbert_classes",
                                     "albert_classes",
                                     "bert_tags",
                                     "marian",
                                     "bart",
                                     "t5",
                                     "flan",
                                     "gpt2",
                                     "llama",
                                     "llama31",
                                     "qwen2",
                                     "bert",
                                     "roberta",
                                     "albert",
                                     "bge",
                                     "qwen3",
                                     "yarn",
                                     "gemma2",
                                     "distilbert",
                                     "minilm",
                                     "phi3",
                                     "olmo2",
                                     "mistral",
                                     "gemma",
                                     "gemma3",
                                     "mbart",
                                     "m2m",
                                     "mt5",
                                     "modernbert",
                                     "modern",
                                     "byt5",
                                     "nllb",
                                     "smollm",
                                     "llama_biased",
                                     "qwen2_window",
                                     "smollm3",
                                     "longrope",
                                     "marian_uneven",
                                     "m2m_uneven",
                                     "bert_scores",
                                     "roberta_scores",
                                     "bert_independent",
                                     "modern_classes",
                                     "modern_labels",
                                     "modern_scores"};

/* What a batch is in the file: "1.src". */
static const char *batch_part(const PublishedCase *c, int64_t i, int batch)
{
    const char *name = c->theirs->tensors[i].name;
    bool is = name[0] == '0' + batch && name[1] == '.';
    return is ? name + 2 : NULL;
}

/* A batch as a file of inputs, with the rate and the number of the step; NULL after a complaint. */
static const char *write_batch(Harness *h, const PublishedCase *c, int batch, float step)
{
    float rate = (float)c->rate;
    StTensor *tensors = ARENA_ARRAY(h->arena, StTensor, c->theirs->n + 2);
    int64_t n = 0;
    for (int64_t i = 0; i < c->theirs->n; i++)
        if (batch_part(c, i, batch)) {
            tensors[n] = c->theirs->tensors[i];
            tensors[n++].name = batch_part(c, i, batch);
        }
    tensors[n++] = (StTensor){.name = "rate", .type = ST_F32, .data = &rate};
    tensors[n++] = (StTensor){.name = "step", .type = ST_F32, .data = &step};
    const char *path = harness_path(h, "batch.safetensors");
    bool ok = st_write(&h->diags, path, tensors, n, NULL, 0);
    return harness_check(h, ok, "%s: no file of a batch", c->name) ? path : NULL;
}

static void check_import(Harness *h, const PublishedCase *c)
{
    Words words = {0};
    words_add(h, words, "import", case_write_folder(h, c), "-o", c->run);
    int status = harness_run(h, &words);
    harness_check(h, status == 0 && !strstr(harness_said(h), "warning"), "%s: %s", c->name,
                  harness_said(h));
    harness_check(h, !strstr(harness_said(h), "longrope") == !st_find(c->theirs, "long"),
                  "%s: of the factors: %s", c->name, harness_said(h));
    const Source *model =
        file_read(&h->diags, h->arena, arena_printf(h->arena, "%s/model.tfg", c->run), 1 << 20);
    harness_check(h,
                  strcmp(c->name, "bert") || (model && strstr(model->text, "const mask_id = 7\n")),
                  "%s: the mask's id is another", c->name);
    const char *labels = case_labels(c);
    if (labels) {
        const Source *list =
            file_read(&h->diags, h->arena,
                      arena_printf(h->arena, "%s/labels-%s.txt", c->run, labels), 1 << 20);
        const char *wanted =
            !strcmp(labels, "tag") ? "O\nB-PER\nI-PER\nB-LOC\nI-LOC\n" : "bad\ngood\nneither\n";
        harness_check(h, list && !strcmp(list->text, wanted), "%s: other labels", c->name);
    }
}

/* Of heads with one label or independent ones: by problem_type the logits or their sigmoids. */
static void check_prediction(Harness *h, const PublishedCase *c, const StFile *ours,
                             const StTensor *logits)
{
    const StTensor *score = st_find(ours, "score");
    const bool is_number = !strcmp(c->name, "bert_scores") || !strcmp(c->name, "modern_scores");
    const bool is_independent =
        !strcmp(c->name, "bert_independent") || !strcmp(c->name, "modern_labels");
    if (!is_number && !is_independent && strcmp(c->name, "roberta_scores"))
        return;
    if (is_independent)
        score = st_find(ours, "tag");
    bool ok = score && score->count == logits->count;
    for (int64_t i = 0; ok && i < score->count; i++) {
        const double x = st_value(logits, i), wanted = is_number ? x : 1 / (1 + exp(-x));
        ok = fabs(st_value(score, i) - wanted) < 1e-6;
    }
    harness_check(h, ok, "%s: the prediction is another", c->name);
}

/* `theirs`: the tensor that the results are in, of a model with the const set so, if one is. */
static void check_results(Harness *h, const PublishedCase *c, const char *theirs, const char *set)
{
    const char *in = write_batch(h, c, 0, 1), *out = harness_path(h, "out.safetensors");
    Words words = {0};
    words_add(h, words, "run", c->run, "--in", in, "--out", out);
    if (set)
        words_add(h, words, "--set", set);
    int status = harness_run(h, &words);
    if (!harness_check(h, status == 0, "%s: %s", c->name, harness_said(h)))
        return;
    StFile *ours = harness_open(h, out);
    const char *result = st_find(c->theirs, "vector") ? "vector" : "logits";
    const StTensor *values = st_find(ours, result);
    if (harness_check(h, values, "%s: no %s", c->name, result)) {
        Difference d = tensor_difference(values, st_find(c->theirs, theirs));
        harness_check(h, d.same_count && d.largest <= 1e-4, "%s: %s: they differ by %g", c->name,
                      result, d.largest);
        printf("%-10s %s %.1e", c->name, result, d.largest);
        check_prediction(h, c, ours, values);
    }
    st_close(ours);
}

static void check_logits(Harness *h, const PublishedCase *c)
{
    const char *result = st_find(c->theirs, "vector") ? "vector" : "logits";
    /* PyTorch's fixture has a logit of <pad>, which Marian does not have */
    check_results(h, c, result, case_is_marian(c) ? "absent=-1" : NULL);
    if (st_find(c->theirs, "long")) /* longrope, by the factors of longer texts */
        check_results(h, c, "long", "longest=24");
}

/* ---- greedy text ---- */

/* The fields of a line, which is changed: at most `n`. */
static int split_fields(char *line, char **fields, int n)
{
    int count = 0;
    for (char *at = line; at && count < n; count++) {
        fields[count] = at;
        at = strchr(at, '|');
        if (at)
            *at++ = 0;
    }
    return count;
}

static int64_t count_words(const char *text)
{
    int64_t n = *text != 0;
    for (; *text; text++)
        n += *text == ' ';
    return n;
}

/* What was said, without the newline, cut behind eight words or letters. */
static const char *first_eight(Harness *h, bool letters)
{
    char *said = arena_strdup(h->arena, harness_said(h)), *at = said;
    for (int i = 0; *at && *at != '\n'; at++)
        if ((letters || *at == ' ') && ++i == 8)
            break;
    if (letters && *at && *at != '\n')
        at++;
    *at = 0;
    return said;
}

/* A prompt, and what follows it: generations.txt. */
static void check_continuation(Harness *h, const PublishedCase *c, char *const *fields)
{
    const char *n = arena_printf(h->arena, "%lld", (long long)count_words(fields[2]));
    const bool is_whole = !strcmp(fields[4], "stop");
    Words words = {0};
    words_add(h, words, "generate", c->run, "--prompt", fields[1], "--temperature", "0", "--tokens",
              is_whole ? "30" : n);
    int status = harness_run(h, &words);
    harness_check(h,
                  status == 0 && !strcmp(harness_said(h),
                                         arena_printf(h->arena, "%s %s\n", fields[1], fields[2])),
                  "%s goes on with %s as %s not %s", c->name, fields[1], harness_said(h),
                  fields[2]);
}

/* A source and its translation, or the beginning of that: translations.txt. */
static void check_translation(Harness *h, const PublishedCase *c, char *const *fields)
{
    const char *in = harness_path(h, "source.txt");
    const bool letters = !strcmp(c->name, "byt5");
    case_write_text(h, h->folder, "source.txt", arena_printf(h->arena, "%s\n", fields[1]));
    Words words = {0};
    words_add(h, words, "translate", c->run, "--input", in, "--beam", "1");
    if (!strcmp(c->name, "mbart") || !strncmp(c->name, "m2m", 3))
        words_add(h, words, "--token", "source-begin=t6", "--token", "first=t7");
    int status = harness_run(h, &words);
    const char *ours = first_eight(h, letters);
    harness_check(h, status == 0 && !strcmp(ours, fields[2]), "%s translates %s as %s, not %s",
                  c->name, fields[1], ours, fields[2]);
}

/* Of the family's lines in both files: one or more, where it generates. */
static void check_text(Harness *h, const PublishedCase *c)
{
    const bool translates = st_find(c->theirs, "0.src") != NULL;
    if (case_is_encoder(c))
        return;
    const Source *file = file_read(
        &h->diags, h->arena,
        translates ? "tests/fixtures/translations.txt" : "tests/fixtures/generations.txt", 1 << 20);
    int n = 0;
    char *next = file ? arena_strdup(h->arena, file->text) : NULL;
    for (char *line; (line = strsep(&next, "\n"));) {
        char *fields[5];
        const int wanted = translates ? 3 : 5;
        if (split_fields(line, fields, wanted) < wanted || strcmp(fields[0], c->name))
            continue;
        n++;
        (translates ? check_translation : check_continuation)(h, c, fields);
    }
    harness_check(h, n > 0, "%s: no text is known", c->name);
}

/* ---- export, and steps ---- */

static void check_export(Harness *h, const PublishedCase *c)
{
    const char *out = harness_path(h, "exported.safetensors");
    Words words = {0};
    words_add(h, words, "export", c->run, "-o", out);
    int status = harness_run(h, &words);
    if (!harness_check(h, status == 0, "%s: %s", c->name, harness_said(h)))
        return;
    StFile *ours = harness_open(h, out);
    int64_t n = 0;
    for (int64_t i = 0; i < c->theirs->n; i++) {
        const StTensor *theirs = &c->theirs->tensors[i];
        bool wanted = case_is_weight(theirs);
        const StTensor *mine = wanted ? st_find(ours, theirs->name) : NULL;
        n += wanted;
        bool same =
            !wanted || (mine && mine->rank == theirs->rank && mine->type == theirs->type &&
                        !memcmp(mine->dims, theirs->dims, sizeof(int64_t) * (size_t)mine->rank) &&
                        !memcmp(mine->data, theirs->data, theirs->bytes));
        harness_check(h, same, "%s: '%s' does not come back as it was", c->name, theirs->name);
    }
    harness_check(h, n > 10 && ours->n == n, "%s: %lld tensors were exported, not %lld", c->name,
                  (long long)ours->n, (long long)n);
    st_close(ours);
}

/* The loss of the step; NAN after a complaint. */
static double run_step(Harness *h, const PublishedCase *c, Job *job, const Module *module,
                       Exec *exec, const TfcProgram *program, int step)
{
    const char *path = write_batch(h, c, (step - 1) % c->batches, (float)step);
    StFile *file = path ? harness_open(h, path) : NULL;
    Binding binding = {.job = job, .file = file, .module = module};
    bool ok = file && tensors_bind(&binding, program, exec) && exec_run(exec);
    harness_tell(&job->diags);
    double loss = ok ? *(const float *)exec_output(exec, "loss") : NAN;
    if (file)
        st_close(file);
    return loss;
}

static void run_steps(Harness *h, const PublishedCase *c, Job *job, Session *session, Store *store,
                      const TfcProgram *program)
{
    const StTensor *losses = st_find(c->theirs, "losses");
    Exec *exec = exec_new(program, store);
    double worst = 0;
    for (int step = 1; step <= losses->count; step++) {
        double theirs = st_value(losses, step - 1);
        double loss = run_step(h, c, job, session->model->module, exec, program, step);
        double off = fabs(loss - theirs) / theirs;
        worst = fmax(worst, off);
        harness_check(h, off <= 0.01, "%s: step %d: loss %g, PyTorch's %g", c->name, step, loss,
                      theirs);
    }
    printf("   %d steps' losses %.1e\n", (int)losses->count, worst);
    exec_free(exec);
}

/* The model whose steps are taken: the imported one with Adam. Where a batch has labels, nothing is
 * hidden, and each token has another to be found in its place. */
static const char *write_model(Harness *h, const PublishedCase *c)
{
    const char *path = arena_printf(h->arena, "%s/steps.tfg", c->run);
    const char *labels = st_find(c->theirs, "0.labels")
                             ? "input labels : token[B, T~]\n"
                               "block masked(tokens, rate, mask_id) { return tokens, tokens }\n"
                               "loss = cross_entropy(logits, labels)\n"
                             : "";
    const char *smoothing = st_find(c->theirs, "0.src") ? "const smoothing = 0\n" : "";
    const char *bias = st_find(c->theirs, "final_logits_bias") ? "const trains_bias = true\n" : "";
    const char *absent = case_is_marian(c) ? "const absent = -1\n" : "";
    const char *text = arena_printf(
        h->arena,
        "use \"model.tfg\"\n%s%s%s%strain { optimizer = adam(beta1 = 0.9, beta2 = 0.98, eps = 1e-9); "
        "clip_norm = 0 }\n",
        labels, smoothing, bias, absent);
    bool ok = file_write_all(&h->diags, path, text, strlen(text));
    return harness_check(h, ok, "%s: no %s", c->name, path) ? path : NULL;
}

static void check_steps(Harness *h, const PublishedCase *c)
{
    Job job = {.arena = h->arena};
    diag_init(&job.diags, job.arena);
    const char *model = write_model(h, c);
    if (!model)
        return;
    SessionOptions options = session_defaults(model);
    Session session;
    Store *store = store_new();
    bool ok = session_open(&session, &job, &options);
    if (ok) {
        const TfcProgram *program =
            session_compile(&session, session_function(&session, "train_step"));
        ok = program && store_add_program(store, program) &&
             weights_initialise(&job, session.model, store, 1) &&
             weights_load(&job, session.model, store, c->fixture, NULL);
        if (ok)
            run_steps(h, c, &job, &session, store, program);
        session_close(&session);
    }
    harness_tell(&job.diags);
    harness_check(h, ok, "%s: train_step was not made", c->name);
    store_free(store);
}

/* A model that uses bert.tfg and replaces its head, and so drops the library's lines of weights for
 * it, reads an encoder without a head: vectors of 9, 1, 30 and 12 tokens. */
static void check_headless(Harness *h)
{
    const char *path = harness_path(h, "embed.tfg"), *out = harness_path(h, "out.safetensors");
    static const char folder[] = "tests/fixtures/headless_bert";
    char *root = realpath("models/bert.tfg", NULL);
    const char *text = arena_printf(
        h->arena,
        "use \"%s\"\nconst vocab = 40, layers = 2, d_model = 32, d_ff = 64, heads = 4, context = 64, "
        "segments = 2, norm_eps = 1e-12, p_drop = 0\nblock predict(x) { return x }\n"
        "v = mean(logits, 1)\noutput vector = v * rsqrt(sum(v * v, -1))\n",
        root ? root : "");
    free(root);
    bool ok = file_write_all(&h->diags, path, text, strlen(text));
    Words words = {0};
    words_add(h, words, "run", path, "--weights", arena_printf(h->arena, "%s/hf", folder), "--in",
              arena_printf(h->arena, "%s/in.safetensors", folder), "--out", out);
    if (!harness_check(h, ok && harness_run(h, &words) == 0, "headless: %s", harness_said(h)))
        return;
    StFile *theirs = harness_open(h, arena_printf(h->arena, "%s/expected.safetensors", folder));
    StFile *ours = harness_open(h, out);
    Difference d = tensor_difference(st_find(ours, "vector"), st_find(theirs, "vector"));
    harness_check(h, d.same_count && d.largest <= 1e-6, "headless: vectors differ by %g",
                  d.largest);
    st_close(ours);
    st_close(theirs);
}

int main(int argc, char **argv)
{
    Harness h;
    harness_init(&h, argc, argv, NULL);
    for (size_t m = 0; m < sizeof models / sizeof *models; m += short_test() ? 3 : 1) {
        PublishedCase c = {
            .name = models[m],
            .fixture = arena_printf(h.arena, "tests/fixtures/%s_published.safetensors", models[m])};
        c.theirs = harness_open(&h, c.fixture);
        c.batches = atoi(st_meta(c.theirs, "batches"));
        c.rate = atof(st_meta(c.theirs, "rate"));
        c.run = harness_path(&h, arena_printf(h.arena, "%s-run", models[m]));
        check_import(&h, &c);
        check_logits(&h, &c);
        check_text(&h, &c);
        check_export(&h, &c);
        check_steps(&h, &c);
        st_close(c.theirs);
    }
    check_headless(&h);
    return harness_finish(&h);
}
