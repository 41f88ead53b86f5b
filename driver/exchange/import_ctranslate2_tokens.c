/* From CTranslate2's list of tokens, and the tokenizer's files beside it, to those of a published
 * folder. */
#include "base/file.h"
#include "base/json_read.h"
#include "base/json_write.h"
#include "driver/exchange/import_ctranslate2_model.h"
#include "runtime/data/marian_vocab.h"
#include "runtime/data/vocabulary.h"

#include <string.h>

enum { LARGEST_TEXT = 256 << 20 };

/* ---- lists ---- */

static bool add_lines(SpecImport *m, const Source *source, TextList *tokens)
{
    for (const char *at = source->text, *end = at + source->length; at < end;) {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        const size_t length = (size_t)((line ? line : end) - at);
        vec_push(m->job->arena, *tokens, arena_strndup(m->job->arena, at, length));
        at += length + 1;
    }
    return true;
}

static bool read_list(SpecImport *m, const char *path, TextList *tokens)
{
    const Source *source = job_read(m->job, m->folder, path, LARGEST_TEXT);
    if (!source || !text_ends(path, ".json"))
        return source && add_lines(m, source, tokens);
    const char *problem = "";
    const JsonValue *list = json_read(m->job->arena, source->text, source->length, &problem);
    bool ok = list && list->kind == JV_LIST;
    for (size_t i = 0; ok && i < list->n; i++) {
        ok = list->items[i].kind == JV_STRING;
        vec_push(m->job->arena, *tokens, list->items[i].text);
    }
    return ok || job_error(m->job, "%s: %s", path,
                           list || !problem ? "expected a list of tokens" : problem);
}

/* The list NAME.json or NAME.txt of the folder. False: there is none, or after an error. */
static bool read_named(SpecImport *m, const char *name, TextList *tokens)
{
    static const char *const endings[] = {"json", "txt"};
    *tokens = (TextList){0};
    for (int i = 0; i < 2; i++) {
        const char *path = file_in(m->job->arena, m->folder,
                                   arena_printf(m->job->arena, "%s.%s", name, endings[i]));
        if (file_exists(path))
            return read_list(m, path, tokens);
    }
    return false;
}

int64_t spec_id(const SpecImport *m, const char *token)
{
    return (int64_t)(uintptr_t)map_get(&m->ids, token) - 1;
}

bool spec_read_tokens(SpecImport *m)
{
    TextList source;
    const int errors = m->job->diags.errors;
    bool same = true;
    if (!read_named(m, "shared_vocabulary", &m->tokens)) {
        if (m->job->diags.errors > errors || !read_named(m, "source_vocabulary", &source) ||
            !read_named(m, "target_vocabulary", &m->tokens))
            return m->job->diags.errors == errors &&
                   job_error(
                       m->job,
                       "%s has no shared_vocabulary.json, and no source_vocabulary.json with target_vocabulary.json: copy them from where the model was converted",
                       m->folder);
        same = source.count == m->tokens.count;
        for (size_t i = 0; same && i < source.count; i++)
            same = !strcmp(source.data[i], m->tokens.data[i]);
    }
    if (!same)
        return job_error(m->job,
                         "%s has another vocabulary on each side: the models that are read have "
                         "one for both",
                         m->folder);
    map_init(&m->ids, m->job->arena);
    for (size_t i = 0; i < m->tokens.count; i++) {
        const char *token = m->tokens.data[i];
        if (map_has(&m->ids, token))
            return job_error(m->job, "%s: the token '%s' is twice in the vocabulary", m->folder,
                             text_visible_name(m->job->arena, token));
        map_set(&m->ids, token, (void *)(uintptr_t)(i + 1));
    }
    return true;
}

/* ---- tokenizers ---- */

/* vocab.json, which *list is, too. */
static bool write_list(const SpecImport *m, Source *list)
{
    Text text = {0};
    JsonWriter json = {.out = &text};
    json_open(&json, NULL, '{');
    for (size_t i = 0; i < m->tokens.count; i++)
        json_put_integer(&json, m->tokens.data[i], (int64_t)i);
    if (m->family->from_zeros)
        json_put_integer(&json, "<pad>", (int64_t)m->tokens.count);
    json_close(&json, '}');
    const bool ok = spec_write_file(m, "vocab.json", text.data, text.length);
    *list = (Source){.path = "vocab.json", .length = text.length};
    list->text = text_keep(m->job->arena, &text);
    return ok;
}

static bool has_file(const SpecImport *m, const char *name)
{
    return file_exists(file_in(m->job->arena, m->folder, name));
}

static bool copy(const SpecImport *m, const char *name)
{
    const Source *file =
        job_read(m->job, m->folder, file_in(m->job->arena, m->folder, name), LARGEST_TEXT);
    return file && spec_write_file(m, name, file->text, file->length);
}

/* The model's tokens and a tokenizer.json are of one model. */
static bool check_tokenizer(const SpecImport *m, const char *name)
{
    const char *path = file_in(m->job->arena, m->folder, name);
    const Vocabulary *vocab =
        vocab_load_within(&m->job->diags, m->job->arena, job_reach(m->job, m->folder), path);
    if (!vocab)
        return false;
    for (int32_t i = 0; i < vocab_size(vocab) && i < (int64_t)m->tokens.count; i++)
        if (*vocab_token(vocab, i) && strcmp(vocab_token(vocab, i), m->tokens.data[i]))
            return job_error(m->job,
                             "%s: token %d is '%s', but '%s' in the vocabulary of the folder: both "
                             "must be of one model",
                             path, (int)i, text_visible_name(m->job->arena, vocab_token(vocab, i)),
                             text_visible_name(m->job->arena, m->tokens.data[i]));
    return true;
}

/* Copies tokenizer.json with what says more of it and of generation. */
static bool copy_tokenizer(const SpecImport *m)
{
    static const char *const more[] = {"tokenizer_config.json", "special_tokens_map.json",
                                       "added_tokens.json", "generation_config.json"};
    bool ok = check_tokenizer(m, "tokenizer.json") && copy(m, "tokenizer.json");
    for (size_t i = 0; ok && i < sizeof more / sizeof *more; i++)
        ok = !has_file(m, more[i]) || copy(m, more[i]);
    return ok;
}

static bool lacks(const SpecImport *m, const char *what, const char *of)
{
    return job_error(m->job,
                     "%s has no %s: copy %s of the published model there (--copy_files of "
                     "ct2-transformers-converter does)",
                     m->folder, what, of);
}

/* One SentencePiece model for all languages, whose pieces have the ids of the list. */
static bool write_pieces(const SpecImport *m, const char *name)
{
    Source list;
    size_t n;
    const Source *model =
        job_read(m->job, m->folder, file_in(m->job->arena, m->folder, name), LARGEST_TEXT);
    if (!model || !write_list(m, &list))
        return false;
    const char *bytes = marian_model(&m->job->diags, m->job->arena, model, &list, true, &n);
    return bytes && spec_write_file(m, "tokenizer.model", bytes, n) &&
           spec_write_file(m, name, model->text, model->length);
}

bool spec_write_tokenizer(SpecImport *m)
{
    static const char pieces[] = "sentencepiece.bpe.model";
    static const char *const sides[] = {"source.spm", "target.spm"};
    Source list;
    bool ok = true;
    for (int i = 0; ok && m->family->from_zeros && i < 2; i++) /* Marian's pair */
        ok = has_file(m, sides[i]) ? copy(m, sides[i])
                                   : lacks(m, sides[i], "the SentencePiece models");
    if (m->family->from_zeros)
        return ok && write_list(m, &list);
    if (has_file(m, "tokenizer.json"))
        return copy_tokenizer(m);
    if (!m->family->has_languages)
        return lacks(m, "tokenizer.json", "it");
    return has_file(m, pieces)
               ? write_pieces(m, pieces)
               : lacks(m, "tokenizer.json and no sentencepiece.bpe.model", "one of them");
}
