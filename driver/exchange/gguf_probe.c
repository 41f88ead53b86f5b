/* A tokenizer beside what a GGUF keeps of it: a GGUF names kinds of tokenizers, whose steps are
 * known by name, and has no place for others. */
#include "driver/exchange/gguf_probe.h"

#include "base/file.h"
#include "driver/exchange/import_gguf.h"
#include "driver/exchange/import_text.h"
#include "driver/exchange/import_tokenizer.h"
#include "driver/run/new_folder.h"

#include <string.h>

enum { MOST_TOKENS = 256, WINDOWS = 64, WINDOW = 8 };

/* In NFC, whose lack in llama.cpp has a note of its own. */
static const char *const probes[] = {
    "the quick Brown FOX jumps",
    "caf\xc3\xa9 na\xc3\xafve \xc3\x9c"
    "berfall \xc3\x85ngstr\xc3\xb6m",
    "a\xe6\xbc\xa2"
    "b \xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e \xe3\x81\x8b\xe3\x81\xaa \xed\x95\x9c\xea\xb8\x80",
    "one\001two\ttab\xc2\xa0wide\xe2\x80\x8bzero",
    "hello,world.it's (fine)-\xc2\xab"
    "x\xc2\xbb #1 $2 50% a_b c/d",
    "1 12 123 1234 12345678 3.14 2024-01-02",
    "  two  blanks   three \n\n lines\r\n end ",
    "I'm you're WE'LL can't",
    "\xc2\xbd \xef\xac\x81 \xe2\x85\xa3 \xe2\x80\xa6 \xf0\x9f\x98\x80",
    "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnop"
    "qrstuvwxyzabcdefghijklmnopqrstuvwxyz",
};

typedef struct Probe {
    Job *job;
    const char *folder;
    const Vocabulary *is, *read;
} Probe;

static const char *shown_ids(Arena *arena, const Vocabulary *vocab, const Ids *ids)
{
    Text text = {0};
    for (size_t i = 0; i < ids->count && i < 2 * WINDOW; i++)
        text_add(&text, "%s'%s'", i ? " " : "",
                 text_visible_name(arena, vocab_token(vocab, ids->data[i])));
    text_string(&text, ids->count > 2 * WINDOW ? " …" : "");
    return text_keep(arena, &text);
}

/* Whether both find the same tokens in a text, and the same text in them. */
static bool probe_text(const Probe *p, const char *probe)
{
    Arena *arena = p->job->arena;
    Ids is = {0}, read = {0};
    Text texts[2] = {0};
    bool ok = true; /* of a text with a token beyond the model's rows, too */
    if (vocab_encode(p->is, probe, strlen(probe), &is) &&
        vocab_encode(p->read, probe, strlen(probe), &read)) {
        vocab_decode(p->is, is.data, is.count, &texts[0]);
        vocab_decode(p->read, is.data, is.count, &texts[1]);
        ok = is.count == read.count &&
             (!is.count || !memcmp(is.data, read.data, is.count * sizeof *is.data)) &&
             texts[0].length == texts[1].length &&
             (!texts[0].length || !memcmp(texts[0].data, texts[1].data, texts[0].length));
        if (!ok)
            job_error(p->job,
                      "%s: a GGUF cannot hold this tokenizer: of '%s' it makes %s, a reader of the "
                      "GGUF would make %s; --format hf keeps it",
                      p->folder, text_visible_name(arena, probe), shown_ids(arena, p->is, &is),
                      shown_ids(arena, p->read, &read));
    }
    for (int i = 0; i < 2; i++)
        text_free(&texts[i]);
    ids_free(&is);
    ids_free(&read);
    return ok;
}

/* A token's text with an accent on a letter, a control character and an ideograph inside. */
static void put_variants(const char *token, Text *out)
{
    static const char *const accents[][2] = {
        {"a", "\xc3\xa1"}, {"e", "\xc3\xa9"}, {"o", "\xc3\xb3"}, {"i", "\xc3\xad"}};
    for (size_t i = 0; i < sizeof accents / sizeof *accents; i++) {
        const char *at = strstr(token, accents[i][0]);
        if (at)
            text_add(out, " %.*s%s%s", (int)(at - token), token, accents[i][1], at + 1);
    }
    if ((*token & 0x80) == 0)
        text_add(out, " %.1s\001%s \xe6\xbc\xa2%s", token, token + 1, token);
}

/* The text of a token alone, between others and between blanks, and its variants. */
static bool probe_token(const Probe *p, int32_t id)
{
    Text token = {0}, text = {0};
    if (!vocab_is_special(p->is, id))
        vocab_decode(p->is, &id, 1, &token);
    bool ok = true;
    if (token.length > 1) {
        const char *is = text_keep(p->job->arena, &token);
        text_add(&text, "%s a%sb  %s  c", is, is, is);
        put_variants(is, &text);
        ok = probe_text(p, text_keep(p->job->arena, &text));
    }
    text_free(&token);
    text_free(&text);
    return ok;
}

/* The first and the last tokens, among which are the added ones, and some in a row. */
static bool probe_tokens(const Probe *p)
{
    const int32_t n = vocab_size(p->is), most = n < MOST_TOKENS ? n : MOST_TOKENS;
    bool ok = true;
    for (int32_t i = 0; ok && i < most; i++)
        ok = probe_token(p, i) && probe_token(p, n - 1 - i);
    for (int k = 0; ok && k < WINDOWS && n > WINDOW; k++) {
        const int32_t first = (int32_t)((int64_t)(n - WINDOW) * k / WINDOWS);
        int32_t ids[WINDOW];
        size_t count = 0;
        Text text = {0};
        for (int32_t id = first; id < first + WINDOW; id++)
            if (!vocab_is_special(p->is, id))
                ids[count++] = id;
        vocab_decode(p->is, ids, count, &text);
        ok = !text.length || probe_text(p, text_keep(p->job->arena, &text));
        text_free(&text);
    }
    return ok;
}

/* Of an encoder, the tokens around a text. */
static bool probe_frame(const Probe *p, const ImportConfig *config, const char *read)
{
    TextList is = {0}, other = {0};
    if (strcmp(config->model->type, "bert"))
        return true;
    if (!import_text_frame(p->job, p->folder, p->is, &is) ||
        !import_text_frame(p->job, read, p->read, &other))
        return false;
    bool ok = is.count == other.count;
    for (size_t i = 0; ok && i < is.count; i++)
        ok = !strcmp(is.data[i], other.data[i]);
    return ok || job_error(p->job,
                           "%s: a GGUF has no place for the tokens that its tokenizer puts around "
                           "a text (--format hf writes it as it is)",
                           p->folder);
}

static bool compare(Probe *p, const ImportConfig *config, const char *made,
                    const GgufWriter *writer)
{
    GgufWriter copy = {.n = writer->n};
    ImportConfig read;
    const char *quant, *file = file_in(p->job->arena, made, "metadata.gguf");
    Job quiet = job_quiet(p->job, p->job->arena);
    text_put(&copy.values, writer->values.data, writer->values.length);
    if (!gguf_write(&quiet.diags, file, &copy, NULL, NULL, 0) ||
        !import_gguf(&quiet, file, made, &quant) || !import_config_read(&quiet, made, NULL, &read))
        return true; /* import says why not, of a whole file */
    p->is = import_tokenizer(&quiet, p->folder, p->folder, config);
    p->read = import_tokenizer(&quiet, made, made, &read);
    bool ok = true;
    for (size_t i = 0; ok && p->is && p->read && i < sizeof probes / sizeof *probes; i++)
        ok = probe_text(p, probes[i]);
    return !p->is || !p->read || (ok && probe_tokens(p) && probe_frame(p, config, made));
}

bool gguf_probe_tokenizer(Job *job, const char *folder, const ImportConfig *config,
                          const GgufWriter *writer, const char *path)
{
    Probe probe = {.job = job, .folder = folder};
    Job quiet = job_quiet(job, job->arena);
    NewFolder made;
    if (!new_folder_begin(&quiet, arena_printf(job->arena, "%s.files", path), &made))
        return true; /* the GGUF cannot be written there either, or goes to a device */
    const bool ok = compare(&probe, config, made.made, writer);
    new_folder_end(&made, false);
    return ok;
}
