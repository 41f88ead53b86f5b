/* minGPT's gpt-nano that sorts (models/gpt_nano_sort.tfg) with its published weights:
 * every activation that was recorded for it, and its trade itself, decoding with the
 * derived decode_step: all 729 rows of six digits out of three kinds. */
#include "tests/reference/harness.h"

#include "driver/run/inference.h"
#include "driver/run/weights.h"

#include <stdio.h>
#include <string.h>

#define DATA "../shared/data/gpt-nano-sort/"
#define MODEL "models/gpt_nano_sort.tfg"
#define WEIGHTS DATA "model.safetensors"

/* ---- activations ---- */

/* Recorded: the steps of the first block, what each block gives, the head. */
static const struct Activation {
    const char *theirs, *ours[3]; /* of several, side by side along the last axis */
} activations[] = {
    {"tok_emb", {"token_vectors"}},
    {"pos_emb", {"position_vectors"}},
    {"x", {"embedded"}},
    {"ln1", {"layer.0.self_norm"}},
    {"qkv", {"layer.0.self.query", "layer.0.self.key", "layer.0.self.value"}},
    {"q", {"layer.0.self.q"}},
    {"k", {"layer.0.self.k"}},
    {"v", {"layer.0.self.v"}},
    {"att", {"layer.0.self.compared"}},
    {"attSm", {"layer.0.self.weights"}},
    {"y", {"layer.0.self.mixed"}},
    {"yProj", {"layer.0.self.output"}},
    {"attnResid", {"layer.0.attended"}},
    {"ln2", {"layer.0.feed_norm"}},
    {"fc", {"layer.0.feed_forward.inner"}},
    {"gelu", {"layer.0.feed_forward.activation"}},
    {"mlp", {"layer.0.feed_forward"}},
    {"mlpResid", {"layer.0.fed"}},
    {"block0", {"layer.0.fed"}},
    {"block1", {"layer.1.fed"}},
    {"block2", {"layer.2.fed"}},
    {"ln_f", {"norm"}},
    {"lm_head", {"logits"}},
    {"probs", {"probabilities"}},
};

/* The outputs beside each other, as one tensor; NULL if one is absent. */
static const StTensor *join_outputs(Harness *h, const StFile *file, const char *const names[3])
{
    const StTensor *parts[3];
    int64_t n = 0, columns = 0, rows;
    for (; n < 3 && names[n]; n++, columns += parts[n - 1]->dims[parts[n - 1]->rank - 1])
        if (!(parts[n] = st_find(file, names[n])))
            return NULL;
    if (n == 1)
        return parts[0];
    rows = parts[0]->count / parts[0]->dims[parts[0]->rank - 1];
    StTensor *joined = ARENA_NEW(h->arena, StTensor);
    *joined = (StTensor){.name = names[0],
                         .type = ST_F64,
                         .rank = 2,
                         .dims = {rows, columns},
                         .count = rows * columns};
    double *data = ARENA_ARRAY(h->arena, double, joined->count), *at = data;
    for (int64_t row = 0; row < rows; row++)
        for (int64_t p = 0; p < n; p++)
            for (int64_t k = 0, width = parts[p]->count / rows; k < width; k++)
                *at++ = st_value(parts[p], row * width + k);
    joined->data = data;
    return joined;
}

static bool write_tokens(Harness *h, const StFile *recorded, const char *path)
{
    StTensor tokens = *st_find(recorded, "idx"); /* floats, as recorded */
    int32_t *ids = ARENA_ARRAY(h->arena, int32_t, tokens.count);
    if (!st_to_i32(&tokens, ids))
        return false;
    tokens.name = "tokens";
    tokens.type = ST_I32;
    tokens.data = ids;
    return st_write(&h->diags, path, &tokens, 1, NULL, 0);
}

static void test_activations(Harness *h, const char *level)
{
    StFile *theirs = harness_open(h, DATA "activations.safetensors");
    const char *in = harness_path(h, "in.safetensors"), *out = harness_path(h, "out.safetensors");
    Words words = {0};
    words_add(h, words, "run", MODEL, "--weights", WEIGHTS, "--in", in, "--out", out, level);
    bool ran = write_tokens(h, theirs, in) && harness_run(h, &words) == 0;
    if (harness_check(h, ran, "%s: tfc run: %s", level, harness_said(h))) {
        StFile *ours = harness_open(h, out);
        enum { COMPARED = sizeof activations / sizeof *activations };
        harness_check(h, theirs->n == COMPARED + 1, "all but idx are compared");
        for (size_t i = 0; i < COMPARED; i++) {
            const struct Activation *a = &activations[i];
            const StTensor *tensor = join_outputs(h, ours, a->ours);
            if (!harness_check(h, tensor, "%s: there is no output %s", level, a->ours[0]))
                continue;
            Difference d = tensor_difference(tensor, st_find(theirs, a->theirs));
            printf("%s  %-10s %-34s %.1e\n", level, a->theirs, a->ours[0], d.largest);
            harness_check(h, d.same_count && d.largest <= 1e-4, "%s: %s differs by %g", level,
                          a->theirs, d.largest);
        }
        st_close(ours);
    }
    st_close(theirs);
}

/* ---- sorting ---- */

enum { DIGITS = 6, KINDS = 3, ROWS = 243 /* KINDS ^ (DIGITS - 1) */ };

static bool is_sorted_copy(const int32_t *digits, const int32_t *sorted)
{
    int counts[KINDS] = {0};
    for (int i = 0; i < DIGITS; i++) {
        if (sorted[i] < 0 || sorted[i] >= KINDS || (i && sorted[i] < sorted[i - 1]))
            return false;
        counts[digits[i]]++;
        counts[sorted[i]]--;
    }
    return !counts[0] && !counts[1] && !counts[2];
}

/* Every row that begins with `first`, which takes the place of what begins a text. */
static int sort_rows(Harness *h, Stepper *stepper, int32_t first)
{
    int32_t digits[ROWS][DIGITS];
    Tokens prompts[ROWS];
    Decoded decoded[ROWS];
    for (int32_t row = 0; row < ROWS; row++) {
        digits[row][0] = first;
        for (int32_t i = 1, rest = row; i < DIGITS; i++, rest /= KINDS)
            digits[row][i] = rest % KINDS;
        prompts[row] = (Tokens){digits[row] + 1, DIGITS - 1};
    }
    DecodeSettings settings = decode_defaults();
    settings.beam = 1;
    settings.bos = first;
    settings.until_eos = false;
    settings.length_factor = 0;
    settings.length_extra = settings.length_limit = DIGITS;
    int sorted = 0;
    if (!harness_check(
            h, decode_batch(stepper, &settings, NULL, prompts, NULL, ROWS, h->arena, decoded),
            "decoding failed"))
        return 0;
    for (int32_t row = 0; row < ROWS; row++)
        sorted += decoded[row].n && decoded[row].best[0].n == DIGITS &&
                  is_sorted_copy(digits[row], decoded[row].best[0].ids);
    return sorted;
}

static bool test_sorting(Harness *h, Job *job, int level)
{
    SessionOptions options = session_defaults(MODEL);
    options.opt_level = level;
    Session session;
    if (!session_open(&session, job, &options))
        return false;
    Store *store = store_new();
    Inference inference;
    inference_init(&inference, &session, store, NULL);
    bool ok = inference_prepare_decode(&inference) &&
              weights_load(job, session.model, store, WEIGHTS, NULL);
    int sorted = 0;
    for (int32_t first = 0; ok && first < KINDS; first++)
        sorted += sort_rows(h, &inference.stepper, first);
    printf("-O%d: %d of %d rows sorted\n", level, sorted, KINDS * ROWS);
    harness_check(h, sorted == KINDS * ROWS, "-O%d: %d rows not sorted", level,
                  KINDS * ROWS - sorted);
    inference_free(&inference);
    store_free(store);
    session_close(&session);
    return ok;
}

int main(int argc, char **argv)
{
    Harness h;
    harness_init(&h, argc, argv, DATA "activations.safetensors");
    test_activations(&h, "-O2");
    test_activations(&h, "-O0");
    Job job = {.arena = h.arena};
    diag_init(&job.diags, job.arena);
    for (int level = 0; level <= 2; level += 2)
        harness_check(&h, test_sorting(&h, &job, level), "-O%d: no decode_step", level);
    harness_tell(&job.diags);
    return harness_finish(&h);
}
