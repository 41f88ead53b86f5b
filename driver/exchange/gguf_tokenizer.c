/* Tokens by id, from either kind of tokenizer. */
#include "driver/exchange/gguf_tokenizer.h"

#include "base/file.h"
#include "base/json_read.h"
#include "driver/exchange/gguf_keys.h"
#include "runtime/text/sentencepiece/proto.h"

#include <string.h>

enum { LARGEST_FILE = 256 << 20 };
/* As SentencePiece's types, which GGUF shares. */
enum { NORMAL = 1, CONTROL = 3, USER = 4, UNUSED = 5 };

typedef struct TokenTable {
    Job *job;
    GgufWriter *writer;
    const char *path;
    int64_t n;
    const char **texts;
    float *scores;
    int32_t *kinds;
} TokenTable;

/* A table of n tokens without a name. */
static void table_init(TokenTable *t, int64_t n)
{
    Arena *arena = t->job->arena;
    t->n = n > 0 ? n : 0;
    t->texts = ARENA_ARRAY(arena, const char *, t->n + 1);
    t->scores = ARENA_ARRAY(arena, float, t->n + 1);
    t->kinds = ARENA_ARRAY(arena, int32_t, t->n + 1);
}

static bool set_token(TokenTable *t, int64_t id, const char *text, float score, int32_t kind)
{
    if (id < 0 || id >= t->n)
        return job_error(t->job, "%s: the token '%s' has the id %lld, but vocab_size is %lld",
                         t->path, text_visible_name(t->job->arena, text), (long long)id,
                         (long long)t->n);
    t->texts[id] = text;
    t->scores[id] = score;
    t->kinds[id] = kind;
    return true;
}

/* As llama.cpp's converter calls ids without a token. */
static void put_table(TokenTable *t, const char *model, bool has_scores)
{
    for (int64_t i = 0; i < t->n; i++)
        if (!t->texts[i])
            set_token(t, i, arena_printf(t->job->arena, "[PAD%lld]", (long long)i), -10000, UNUSED);
    gguf_put_text(t->writer, "tokenizer.ggml.model", model);
    gguf_put_texts(t->writer, "tokenizer.ggml.tokens", t->texts, (uint64_t)t->n);
    if (has_scores)
        gguf_put_numbers(t->writer, "tokenizer.ggml.scores", t->scores, (uint64_t)t->n);
    gguf_put_integers(t->writer, "tokenizer.ggml.token_type", t->kinds, (uint64_t)t->n);
}

/* ---- SentencePiece ---- */

static bool read_piece(TokenTable *t, int64_t id, Proto piece)
{
    enum { PIECE = 1, SCORE = 2, TYPE = 3 };
    const char *text = "";
    float score = 0;
    int32_t kind = NORMAL;
    ProtoField field;
    while (proto_next(&piece, &field)) {
        if (field.number == PIECE && field.kind == PROTO_BYTES)
            text = arena_strndup(t->job->arena, field.bytes, field.size);
        else if (field.number == SCORE)
            score = proto_float(&field);
        else if (field.number == TYPE)
            kind = (int32_t)field.value;
    }
    return set_token(t, id, text, score, kind);
}

/* A number of a message; `usual` if it has none. */
static uint64_t number_in(Proto message, uint32_t number, uint64_t usual)
{
    ProtoField field;
    while (proto_next(&message, &field))
        if (field.number == number && field.kind == PROTO_VARINT)
            usual = field.value;
    return usual;
}

static bool put_pieces(TokenTable *t)
{
    enum {
        PIECES = 1,
        TRAINER = 2,
        NORMALIZER = 3,
        MODEL_TYPE = 3,
        OF_MERGES = 2,
        DUMMY_PREFIX = 3
    };
    const Source *file = file_read(&t->job->diags, t->job->arena, t->path, LARGEST_FILE);
    uint64_t type = 1, prefix = 1;
    int64_t n = 0;
    ProtoField field;
    if (!file)
        return false;
    Proto model = proto_message(file->text, file->length);
    while (proto_next(&model, &field)) {
        const Proto part = proto_message(field.bytes, field.size);
        if (field.kind != PROTO_BYTES)
            continue;
        if (field.number == PIECES && !read_piece(t, n++, part))
            return false;
        if (field.number == TRAINER)
            type = number_in(part, MODEL_TYPE, type);
        if (field.number == NORMALIZER)
            prefix = number_in(part, DUMMY_PREFIX, prefix);
    }
    if (type != OF_MERGES)
        return job_error(
            t->job, "%s is no model of merges: llama.cpp reads no other for these models", t->path);
    put_table(t, "llama", true);
    gguf_put_bool(t->writer, "tokenizer.ggml.add_space_prefix", prefix != 0);
    return true;
}

/* ---- tokenizer.json ---- */

/* The pattern of the first Split, at any depth; NULL: there is none. */
static const char *find_pattern(const JsonValue *step)
{
    const JsonValue *list = json_member(step, "pretokenizers");
    const char *pattern = NULL;
    for (size_t i = 0; list && list->kind == JV_LIST && i < list->n && !pattern; i++)
        if (list->items[i].kind == JV_OBJECT)
            pattern = find_pattern(&list->items[i]);
    const JsonValue *own = json_member(step, "pattern");
    return pattern                         ? pattern
           : own && own->kind == JV_OBJECT ? json_member_text(own, "Regex")
                                           : NULL;
}

static bool put_cut(TokenTable *t, const JsonValue *json)
{
    const JsonValue *step = json_member(json, "pre_tokenizer");
    const char *pattern = step && step->kind == JV_OBJECT ? find_pattern(step) : NULL;
    for (const GgufCut *cut = gguf_cuts; cut->name; cut++)
        if (pattern && cut->pattern ? !strcmp(pattern, cut->pattern) : pattern == cut->pattern) {
            gguf_put_text(t->writer, "tokenizer.ggml.pre", cut->name);
            return true;
        }
    return job_error(t->job,
                     "%s: llama.cpp has no name that is known here for how it cuts texts: %s",
                     t->path, pattern);
}

static bool put_merges(TokenTable *t, const JsonValue *merges)
{
    const char **texts = ARENA_ARRAY(t->job->arena, const char *, merges->n + 1);
    for (size_t i = 0; i < merges->n; i++) {
        const JsonValue *merge = &merges->items[i];
        const bool is_pair = merge->kind == JV_LIST && merge->n == 2 &&
                             merge->items[0].kind == JV_STRING && merge->items[1].kind == JV_STRING;
        if (!is_pair && merge->kind != JV_STRING)
            return job_error(t->job, "%s: a merge is no text and no pair", t->path);
        texts[i] = is_pair ? arena_printf(t->job->arena, "%s %s", merge->items[0].text,
                                          merge->items[1].text)
                           : merge->text;
    }
    gguf_put_texts(t->writer, "tokenizer.ggml.merges", texts, merges->n);
    return true;
}

static bool set_added(TokenTable *t, const JsonValue *added)
{
    for (size_t i = 0; added && added->kind == JV_LIST && i < added->n; i++) {
        const JsonValue *id = json_member(&added->items[i], "id");
        const JsonValue *special = json_member(&added->items[i], "special");
        const char *text = json_member_text(&added->items[i], "content");
        if (id && id->kind == JV_INTEGER && text &&
            !set_token(t, id->integer, text, 0,
                       special && special->kind == JV_TRUE ? CONTROL : USER))
            return false;
    }
    return true;
}

static bool put_json(TokenTable *t)
{
    const Source *file = file_read(&t->job->diags, t->job->arena, t->path, LARGEST_FILE);
    const char *problem = NULL;
    const JsonValue *json =
        file ? json_read(t->job->arena, file->text, file->length, &problem) : NULL;
    if (!json)
        return file ? job_error(t->job, "%s: %s", t->path, problem ? problem : "out of memory")
                    : false;
    const JsonValue *model = json->kind == JV_OBJECT ? json_member(json, "model") : NULL;
    const JsonValue *vocab = model && model->kind == JV_OBJECT ? json_member(model, "vocab") : NULL;
    const JsonValue *merges = vocab ? json_member(model, "merges") : NULL;
    if (!merges || merges->kind != JV_LIST || vocab->kind != JV_OBJECT)
        return job_error(t->job, "%s has no merges: a GGUF is written of tokenizers that have",
                         t->path);
    for (size_t i = 0; i < vocab->n; i++)
        if (vocab->items[i].kind == JV_INTEGER &&
            !set_token(t, vocab->items[i].integer, vocab->keys[i], 0, NORMAL))
            return false;
    if (!set_added(t, json_member(json, "added_tokens")))
        return false;
    put_table(t, "gpt2", false);
    return put_cut(t, json) && put_merges(t, merges);
}

/* ---- the folder ---- */

static void put_chat(TokenTable *t, const char *folder)
{
    const char *path = file_in(t->job->arena, folder, "tokenizer_config.json"), *problem;
    Diagnostics unseen;
    diag_init(&unseen, t->job->arena);
    const Source *file =
        file_exists(path) ? file_read(&unseen, t->job->arena, path, LARGEST_FILE) : NULL;
    const JsonValue *json =
        file ? json_read(t->job->arena, file->text, file->length, &problem) : NULL;
    const char *chat =
        json && json->kind == JV_OBJECT ? json_member_text(json, "chat_template") : NULL;
    if (chat)
        gguf_put_text(t->writer, "tokenizer.chat_template", chat);
}

bool gguf_put_tokenizer(Job *job, const char *folder, int64_t vocab, GgufWriter *writer)
{
    static const struct {
        const char *name;
        bool (*put)(TokenTable *t);
    } kinds[] = {{"tokenizer.model", put_pieces},
                 {"spiece.model", put_pieces},
                 {"tokenizer.json", put_json}};
    TokenTable t = {.job = job, .writer = writer};
    table_init(&t, vocab);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        t.path = file_in(job->arena, folder, kinds[i].name);
        if (!file_exists(t.path))
            continue;
        put_chat(&t, folder);
        return kinds[i].put(&t);
    }
    return job_error(
        job, "%s has no tokenizer.model and no tokenizer.json: a GGUF has one of these", folder);
}
