/* `tfc attend` against PyTorch: from the same weights and token ids the same attention weights of
 * every head of every layer, encoder, decoder and cross, in its NumPy archive and in its JSON.
 * The fixtures are made by tests/fixtures/make_attentions.py. */
#include "tests/reference/harness.h"

#include "base/json_read.h"
#include "driver/formats/npz.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A model, tests/fixtures/NAME.safetensors with its weights, NAME_attention.safetensors with what
 * PyTorch's heads look at in each of LINES sentences. */
static const struct Fixture {
    const char *model, *name;
    int vocab;
    int layers; /* attentions of all kinds */
} fixtures[] = {
    {"models/transformer_base.tfg", "transformer_small", 50, 6},
    {"models/pre_norm.tfg", "pre_norm_small", 50, 6},
    {"models/gpt.tfg", "gpt_small", 50, 2},
    {"tests/fixtures/bert_published.tfg", "bert_published", 40, 2},
};
enum { LINES = 3 };
static const double tolerance = 1e-5;

/* Tokens by their ids, "t0", "t1", … but for the ones that the fixtures' ids 0 to 3 are. */
static const char *const special[] = {"<pad>", "<unk>", "<s>", "</s>"};
enum { FIRST_WORD = sizeof special / sizeof *special };

static const char *token(Harness *h, int id)
{
    return id < FIRST_WORD ? special[id] : arena_printf(h->arena, "t%d", id);
}

static const char *write_file(Harness *h, const char *name, Text *text)
{
    const char *path = harness_path(h, name);
    bool ok = file_write_all(&h->diags, path, text->data, text->length);
    text_free(text);
    return harness_check(h, ok, "%s is not written", path) ? path : "";
}

static const char *write_words(Harness *h, int vocab)
{
    Text text = {0};
    for (int id = 0; id < vocab; id++)
        text_add(&text, "%s\n", token(h, id));
    return write_file(h, "words.txt", &text);
}

static const StTensor *ids_of(Harness *h, const StFile *theirs, int line, const char *side)
{
    return st_find(theirs, arena_printf(h->arena, "%d.%s", line, side));
}

/* The sentences of a side without begin and end, which tfc puts around them. */
static const char *write_side(Harness *h, const StFile *theirs, const char *side)
{
    Text text = {0};
    for (int line = 0; line < LINES; line++) {
        const StTensor *ids = ids_of(h, theirs, line, side);
        for (int64_t i = 0, words = 0; i < ids->count; i++)
            if (st_value(ids, i) >= FIRST_WORD)
                text_add(&text, "%s%s", words++ ? " " : "", token(h, (int)st_value(ids, i)));
        text_string(&text, "\n");
    }
    return write_file(h, side, &text);
}

/* ---- what tfc attend writes ---- */

static bool run_attend(Harness *h, const struct Fixture *f, const StFile *theirs, const char *npz,
                       const char *json)
{
    Words words = {0};
    words_add(h, words, "attend", f->model, "--weights",
              arena_printf(h->arena, "tests/fixtures/%s.safetensors", f->name), "--vocab",
              write_words(h, f->vocab), "--npy", npz, "--json", json);
    for (int64_t i = 0; i < theirs->n_meta; i++)
        words_add(h, words, "--set",
                  arena_printf(h->arena, "%s=%s", theirs->meta_keys[i], theirs->meta_values[i]));
    bool source = ids_of(h, theirs, 0, "source"), target = ids_of(h, theirs, 0, "target");
    if (source)
        words_add(h, words, target ? "--source" : "--text", write_side(h, theirs, "source"));
    if (target)
        words_add(h, words, source ? "--target" : "--text", write_side(h, theirs, "target"));
    if (!source) /* a language model's text begins as PyTorch's did */
        words_add(h, words, "--token",
                  arena_printf(h->arena, "text-begin=#%d",
                               (int)st_value(ids_of(h, theirs, 0, "target"), 0)));
    int status = harness_run(h, &words);
    return harness_check(h, status == 0, "%s: exit status %d: %s", f->name, status,
                         harness_said(h));
}

/* The numbers of nested lists, in order; how many. */
static int64_t take_numbers(const JsonValue *value, double *out)
{
    if (value->kind != JV_LIST) {
        *out = value->number;
        return 1;
    }
    int64_t n = 0;
    for (size_t i = 0; i < value->n; i++)
        n += take_numbers(&value->items[i], out + n);
    return n;
}

/* Of an attention in the JSON all heads' weights, [heads, queries, keys], as a tensor. */
static StTensor weights_of_json(Harness *h, const JsonValue *attention, int64_t count)
{
    const JsonValue *heads = json_member(attention, "heads");
    double *data = ARENA_ARRAY(h->arena, double, count + 1);
    StTensor tensor = {.type = ST_F64, .data = data};
    for (size_t i = 0; i < heads->n; i++) {
        const JsonValue *weights = json_member(&heads->items[i], "weights");
        int64_t each = (int64_t)weights->n ? (int64_t)weights->n * (int64_t)weights->items[0].n : 0;
        tensor.count += each;
        if (tensor.count <= count)
            take_numbers(weights, data + tensor.count - each);
    }
    return tensor;
}

static const JsonValue *attention_named(const JsonValue *sentence, const char *name)
{
    const JsonValue *attentions = json_member(sentence, "attentions");
    for (size_t i = 0; i < attentions->n; i++)
        if (!strcmp(json_member(&attentions->items[i], "name")->text, name))
            return &attentions->items[i];
    return NULL;
}

/* ---- compared ---- */

/* The ids with begin and end are those that PyTorch had. */
static void check_tokens(Harness *h, const struct Fixture *f, const StFile *theirs, int line,
                         const JsonValue *sentence, const char *side)
{
    const StTensor *ids = ids_of(h, theirs, line, side);
    const JsonValue *tokens = json_member(sentence, side);
    bool same = (int64_t)tokens->n == (ids ? ids->count : 0);
    for (size_t i = 0; same && i < tokens->n; i++)
        same = !strcmp(tokens->items[i].text, token(h, (int)st_value(ids, (int64_t)i)));
    harness_check(h, same, "%s: line %d: other tokens of its %s", f->name, line, side);
}

/* Their largest difference; after a complaint, infinite. */
static double compare(Harness *h, const struct Fixture *f, const char *what, const StTensor *ours,
                      const StTensor *theirs)
{
    Difference d = tensor_difference(ours, theirs);
    bool ok =
        harness_check(h, d.same_count && d.largest <= tolerance, "%s: %s of the %s differs by %g",
                      f->name, theirs->name, what, d.same_count ? d.largest : (double)INFINITY);
    return ok ? d.largest : (double)INFINITY;
}

static void compare_layer(Harness *h, const struct Fixture *f, const StTensor *theirs,
                          const Npz *npz, const JsonValue *sentence, double *worst)
{
    const NpyArray *array = npz_find(npz, theirs->name);
    const JsonValue *attention = attention_named(sentence, strchr(theirs->name, '.') + 1);
    if (!harness_check(h, array && attention, "%s: there is no %s", f->name, theirs->name))
        return;
    bool same =
        array->rank == theirs->rank && !memcmp(array->dims, theirs->dims, sizeof *array->dims * 3);
    harness_check(h, same, "%s: %s has another shape", f->name, theirs->name);
    const StTensor in_archive = {.type = ST_F32, .count = array->count, .data = array->data};
    const StTensor in_json = weights_of_json(h, attention, theirs->count);
    worst[0] = fmax(worst[0], compare(h, f, "archive", &in_archive, theirs));
    worst[1] = fmax(worst[1], compare(h, f, "JSON", &in_json, theirs));
}

static void test_fixture(Harness *h, const struct Fixture *f)
{
    StFile *theirs =
        harness_open(h, arena_printf(h->arena, "tests/fixtures/%s_attention.safetensors", f->name));
    const char *npz_path = harness_path(h, "all.npz"), *json_path = harness_path(h, "all.json"),
               *problem;
    double worst[2] = {0};
    if (!run_attend(h, f, theirs, npz_path, json_path))
        return;
    const Npz *npz = npz_read(&h->diags, h->arena, npz_path);
    const Source *text = file_read(&h->diags, h->arena, json_path, 1 << 24);
    const JsonValue *json = text ? json_read(h->arena, text->text, text->length, &problem) : NULL;
    const JsonValue *sentences = json_member(json, "sentences");
    harness_tell(&h->diags);
    int64_t n = 0;
    if (harness_check(h, npz && sentences && sentences->n == LINES, "%s: not every line",
                      f->name)) {
        for (int line = 0; line < LINES; line++) {
            check_tokens(h, f, theirs, line, &sentences->items[line], "source");
            check_tokens(h, f, theirs, line, &sentences->items[line], "target");
        }
        for (int64_t i = 0; i < theirs->n; i++)
            if (theirs->tensors[i].rank == 3) {
                int line = theirs->tensors[i].name[0] - '0';
                compare_layer(h, f, &theirs->tensors[i], npz, &sentences->items[line], worst);
                n++;
            }
        harness_check(h, n == f->layers * LINES && (int64_t)npz->arrays.count == n,
                      "%s: %lld attentions, PyTorch has %lld", f->name,
                      (long long)npz->arrays.count, (long long)n);
    }
    printf("%-20s %2lld attentions: archive %.1e   JSON %.1e\n", f->name, (long long)n, worst[0],
           worst[1]);
    st_close(theirs);
}

int main(int argc, char **argv)
{
    Harness h;
    harness_init(&h, argc, argv, NULL);
    for (size_t i = 0; i < sizeof fixtures / sizeof *fixtures; i++)
        test_fixture(&h, &fixtures[i]);
    return harness_finish(&h);
}
