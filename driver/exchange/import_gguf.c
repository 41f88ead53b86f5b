/* The metadata of a GGUF (docs/gguf.md of ggml) in the words of config.json and tokenizer.json. */
#include "driver/exchange/import_gguf.h"

#include "base/file.h"
#include "base/json_write.h"
#include "driver/exchange/gguf_keys.h"
#include "driver/exchange/onnx/wire.h"
#include "driver/formats/gguf.h"

#include <string.h>

typedef struct GgufImport {
    Job *job;
    const char *path, *to;
    const Gguf *gguf;
    const GgufArchitecture *architecture;
} GgufImport;

static bool write_text(const GgufImport *m, const char *name, const Text *text)
{
    return file_write_all(&m->job->diags, file_in(m->job->arena, m->to, name), text->data,
                          text->length);
}

static bool gguf_wrong(const GgufImport *m, const char *problem)
{
    return job_error(m->job, "%s: %s", m->path, problem);
}

/* ---- config.json ---- */

static bool has_tensor(const GgufImport *m, const char *name)
{
    for (size_t i = 0; i < m->gguf->list.tensors.count; i++)
        if (!strcmp(m->gguf->list.tensors.data[i].name, name))
            return true;
    return false;
}

enum { DIGITS = 7 }; /* of an f32 */

static void put_number(JsonWriter *json, const char *key, const GgufValue *value)
{
    if (value->kind == GGUF_F32 || value->kind == GGUF_F64)
        json_put_number(json, key, gguf_number(value, 0), DIGITS);
    else
        json_put_integer(json, key, (int64_t)gguf_number(value, 0));
}

static void put_token(const GgufImport *m, JsonWriter *json, const char *theirs,
                      const char *published)
{
    const GgufValue *value =
        gguf_find(m->gguf, arena_printf(m->job->arena, "tokenizer.ggml.%s", theirs));
    if (value)
        json_put_integer(json, published, (int64_t)gguf_number(value, 0));
}

static bool put_scaling(const GgufImport *m, JsonWriter *json)
{
    const char *type = gguf_text(m->gguf, gguf_own(m->gguf, "rope.scaling.type"));
    if (has_tensor(m, "rope_freqs.weight"))
        return gguf_wrong(m, "it has rope_freqs.weight, a table of scaled positions, which is not "
                             "read: import the published folder of the model");
    if (!type || !strcmp(type, "none"))
        return true;
    if (strcmp(type, "linear"))
        return gguf_wrong(m, arena_printf(m->job->arena,
                                          "its positions are scaled by '%s'; linear is read",
                                          text_visible_name(m->job->arena, type)));
    json_open(json, "rope_scaling", '{');
    json_put_text(json, "type", type);
    const GgufValue *factor = gguf_own(m->gguf, "rope.scaling.factor");
    if (factor)
        put_number(json, "factor", factor);
    json_close(json, '}');
    return true;
}

/* The value of a key of the architecture; `missing`: it has none. */
static double own_number(const GgufImport *m, const char *key, double missing)
{
    const GgufValue *value = gguf_own(m->gguf, key);
    return value ? gguf_number(value, 0) : missing;
}

/* Positions turn the whole of each head, whose keys are as wide as its values. */
static bool check_widths(const GgufImport *m)
{
    const double heads = own_number(m, "attention.head_count", 0);
    const double usual = heads > 0 ? own_number(m, "embedding_length", 0) / heads : 0;
    const double width = own_number(m, "attention.key_length", usual);
    for (int i = 0; gguf_head_widths[i]; i++) {
        const double is = own_number(m, gguf_head_widths[i], width);
        if (is != width)
            return gguf_wrong(
                m, arena_printf(m->job->arena,
                                "%s is %g, but heads are %g wide, which models/llama.tfg "
                                "is written for",
                                gguf_head_widths[i], is, width));
    }
    return true;
}

static bool write_config(const GgufImport *m)
{
    const char *type = m->architecture->model_type;
    const bool is_gpt2 = !strcmp(type, "gpt2");
    const GgufValue *tokens = gguf_find(m->gguf, "tokenizer.ggml.tokens");
    Text text = {0};
    JsonWriter json = {.out = &text, .indent = 2};
    json_open(&json, NULL, '{');
    json_put_text(&json, "model_type", type);
    json_put_integer(&json, "vocab_size", tokens ? (int64_t)tokens->n : 0);
    for (const GgufKey *key = gguf_keys; key->theirs; key++) {
        const GgufValue *value = gguf_own(m->gguf, key->theirs);
        if ((*key->model_type != 0) != is_gpt2)
            continue;
        if (value && !value->is_array && value->kind != GGUF_STRING)
            put_number(&json, key->published, value);
        else if (key->missing != 0)
            json_put_number(&json, key->published, key->missing, DIGITS);
    }
    put_token(m, &json, "bos_token_id", "bos_token_id");
    put_token(m, &json, "eos_token_id", "eos_token_id");
    json_put_bool(&json, "tie_word_embeddings", is_gpt2 || !has_tensor(m, "output.weight"));
    if (!is_gpt2 && strcmp(type, "qwen2") != 0) /* which has them always */
        json_put_bool(&json, "attention_bias", has_tensor(m, "blk.0.attn_q.bias"));
    const bool ok = is_gpt2 || (check_widths(m) && put_scaling(m, &json));
    json_close(&json, '}');
    const bool is_written = ok && write_text(m, "config.json", &text);
    text_free(&text);
    return is_written;
}

/* ---- tokenizers ---- */

enum { TOKEN_CONTROL = 3, TOKEN_USER = 4, TOKEN_BYTE = 6 }; /* as SentencePiece's types */

static void put_byte_level(JsonWriter *json, const char *key, bool cuts_too)
{
    json_open(json, key, '{');
    json_put_text(json, "type", "ByteLevel");
    json_put_bool(json, "add_prefix_space", false);
    json_put_bool(json, "trim_offsets", true);
    json_put_bool(json, "use_regex", cuts_too);
    json_close(json, '}');
}

static void put_cuts(JsonWriter *json, const char *pattern)
{
    if (!pattern) {
        put_byte_level(json, "pre_tokenizer", true);
        return;
    }
    json_open(json, "pre_tokenizer", '{');
    json_put_text(json, "type", "Sequence");
    json_open(json, "pretokenizers", '[');
    json_open(json, NULL, '{');
    json_put_text(json, "type", "Split");
    json_open(json, "pattern", '{');
    json_put_text(json, "Regex", pattern);
    json_close(json, '}');
    json_put_text(json, "behavior", "Isolated");
    json_put_bool(json, "invert", false);
    json_close(json, '}');
    put_byte_level(json, NULL, false);
    json_close(json, ']');
    json_close(json, '}');
}

static int64_t kind_of(const GgufImport *m, uint64_t i)
{
    const GgufValue *kinds = gguf_find(m->gguf, "tokenizer.ggml.token_type");
    return kinds && i < kinds->n ? (int64_t)gguf_number(kinds, i) : 1;
}

static void put_added(const GgufImport *m, const GgufValue *tokens, JsonWriter *json)
{
    const unsigned char *at = tokens->data;
    json_open(json, "added_tokens", '[');
    for (uint64_t i = 0; i < tokens->n; i++) {
        const char *token = gguf_next(m->gguf, &at);
        const int64_t kind = kind_of(m, i);
        if (kind != TOKEN_CONTROL && kind != TOKEN_USER)
            continue;
        json_open(json, NULL, '{');
        json_put_integer(json, "id", (int64_t)i);
        json_put_text(json, "content", token);
        json_put_bool(json, "single_word", false);
        json_put_bool(json, "lstrip", false);
        json_put_bool(json, "rstrip", false);
        json_put_bool(json, "normalized", false);
        json_put_bool(json, "special", kind == TOKEN_CONTROL);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static bool write_bpe(const GgufImport *m, const GgufValue *tokens)
{
    const GgufValue *merges = gguf_find(m->gguf, "tokenizer.ggml.merges");
    const char *cut = gguf_text(m->gguf, gguf_find(m->gguf, "tokenizer.ggml.pre"));
    const GgufCut *rule = gguf_cuts;
    while (cut && rule->name && strcmp(rule->name, cut))
        rule++;
    if (!rule->name)
        return gguf_wrong(m,
                          arena_printf(m->job->arena,
                                       "its texts are cut as '%s' (tokenizer.ggml.pre), which "
                                       "is not known here: --config FOLDER takes config.json and "
                                       "tokenizer.json of the published folder",
                                       text_visible_name(m->job->arena, cut)));
    if (!merges || merges->kind != GGUF_STRING || !merges->is_array)
        return gguf_wrong(m, "its tokenizer has no merges");
    Text text = {0};
    JsonWriter json = {.out = &text};
    json_open(&json, NULL, '{');
    json_put_text(&json, "version", "1.0");
    put_added(m, tokens, &json);
    put_cuts(&json, rule->pattern);
    put_byte_level(&json, "decoder", true);
    json_open(&json, "model", '{');
    json_put_text(&json, "type", "BPE");
    json_put_bool(&json, "ignore_merges", !strcmp(rule->name, "llama-bpe"));
    json_open(&json, "vocab", '{');
    const unsigned char *at = tokens->data;
    for (uint64_t i = 0; i < tokens->n; i++)
        json_put_integer(&json, gguf_next(m->gguf, &at), (int64_t)i);
    json_close(&json, '}');
    json_open(&json, "merges", '[');
    at = merges->data;
    for (uint64_t i = 0; i < merges->n; i++)
        json_put_text(&json, NULL, gguf_next(m->gguf, &at));
    json_close(&json, ']');
    json_close(&json, '}');
    json_close(&json, '}');
    const bool ok = write_text(m, "tokenizer.json", &text);
    text_free(&text);
    return ok;
}

/* SentencePiece's model of merges with scores (sentencepiece_model.proto). */
static bool write_pieces(const GgufImport *m, const GgufValue *tokens)
{
    enum { PIECES = 1, TRAINER = 2, NORMALIZER = 3, PIECE = 1, SCORE = 2, TYPE = 3 };
    enum {
        MODEL_TYPE = 3,
        OF_MERGES = 2,
        BYTE_FALLBACK = 35,
        UNKNOWN = 40,
        BEGIN = 41,
        END = 42,
        PAD = 43
    };
    enum { DUMMY_PREFIX = 3, REMOVE_EXTRA = 4, ESCAPE = 5 };
    const GgufValue *scores = gguf_find(m->gguf, "tokenizer.ggml.scores");
    const GgufValue *prefix = gguf_find(m->gguf, "tokenizer.ggml.add_space_prefix");
    const unsigned char *at = tokens->data;
    Text model = {0};
    bool has_bytes = false;
    for (uint64_t i = 0; i < tokens->n; i++) {
        Text piece = {0};
        has_bytes = has_bytes || kind_of(m, i) == TOKEN_BYTE;
        wire_string(&piece, PIECE, gguf_next(m->gguf, &at));
        wire_float(&piece, SCORE, (float)gguf_number(scores, i));
        wire_int(&piece, TYPE, kind_of(m, i));
        wire_message(&model, PIECES, &piece);
    }
    Text trainer = {0}, normalizer = {0};
    wire_int(&trainer, MODEL_TYPE, OF_MERGES);
    wire_int(&trainer, BYTE_FALLBACK, has_bytes);
    for (const GgufToken *token = gguf_tokens; token->theirs; token++) {
        const GgufValue *id =
            gguf_find(m->gguf, arena_printf(m->job->arena, "tokenizer.ggml.%s", token->theirs));
        wire_int(&trainer, token->piece_field, id ? (int64_t)gguf_number(id, 0) : -1);
    }
    wire_message(&model, TRAINER, &trainer);
    wire_int(&normalizer, DUMMY_PREFIX, prefix ? gguf_number(prefix, 0) != 0 : 1);
    wire_int(&normalizer, REMOVE_EXTRA, 0);
    wire_int(&normalizer, ESCAPE, 1);
    wire_message(&model, NORMALIZER, &normalizer);
    const bool ok = write_text(m, "tokenizer.model", &model);
    text_free(&model);
    return ok;
}

static bool write_tokenizer(const GgufImport *m)
{
    const char *model = gguf_text(m->gguf, gguf_find(m->gguf, "tokenizer.ggml.model"));
    const GgufValue *tokens = gguf_find(m->gguf, "tokenizer.ggml.tokens");
    if (!model || !tokens || !tokens->is_array || tokens->kind != GGUF_STRING)
        return gguf_wrong(
            m, "it has no tokenizer: --config FOLDER takes config.json and the tokenizer "
               "beside it");
    if (!strcmp(model, "gpt2"))
        return write_bpe(m, tokens);
    if (!strcmp(model, "llama"))
        return write_pieces(m, tokens);
    return gguf_wrong(
        m, arena_printf(m->job->arena,
                        "its tokenizer is '%s'; gpt2 and llama are read: --config FOLDER "
                        "takes config.json and the tokenizer beside it",
                        text_visible_name(m->job->arena, model)));
}

/* The text of a token; NULL: there is none. */
static const char *token_text(const GgufImport *m, const char *key)
{
    const GgufValue *tokens = gguf_find(m->gguf, "tokenizer.ggml.tokens");
    const GgufValue *id = gguf_find(m->gguf, key);
    const double wanted = id ? gguf_number(id, 0) : -1;
    const unsigned char *at = tokens->data;
    for (uint64_t i = 0; i < tokens->n; i++) {
        const char *token = gguf_next(m->gguf, &at);
        if ((double)i == wanted)
            return token;
    }
    return NULL;
}

/* What stands around a text, and the chat template. llama.cpp begins a text of pieces with the
 * first token where the file does not say. */
static bool write_tokenizer_config(const GgufImport *m)
{
    static const struct {
        const char *key, *published, *token, *text;
    } frames[] = {
        {"tokenizer.ggml.add_bos_token", "add_bos_token", "tokenizer.ggml.bos_token_id",
         "bos_token"},
        {"tokenizer.ggml.add_eos_token", "add_eos_token", "tokenizer.ggml.eos_token_id",
         "eos_token"},
    };
    const char *model = gguf_text(m->gguf, gguf_find(m->gguf, "tokenizer.ggml.model"));
    const char *chat = gguf_text(m->gguf, gguf_find(m->gguf, "tokenizer.chat_template"));
    Text text = {0};
    JsonWriter json = {.out = &text, .indent = 2};
    json_open(&json, NULL, '{');
    for (int i = 0; i < 2; i++) {
        const GgufValue *value = gguf_find(m->gguf, frames[i].key);
        const bool usual = i == 0 && !strcmp(model, "llama");
        json_put_bool(&json, frames[i].published, value ? gguf_number(value, 0) != 0 : usual);
        const char *token = token_text(m, frames[i].token);
        if (token)
            json_put_text(&json, frames[i].text, token);
    }
    if (chat)
        json_put_text(&json, "chat_template", chat);
    json_close(&json, '}');
    const bool ok = write_text(m, "tokenizer_config.json", &text);
    text_free(&text);
    return ok;
}

/* ---- weights ---- */

/* In what most bytes of blocks are computed, and what is said of it. */
static const char *find_quant(const GgufImport *m)
{
    const char *quant = NULL, *names = "";
    uint64_t most = 0;
    for (uint32_t number = 0; number < 64; number++) {
        const GgufType *type = gguf_type(number);
        uint64_t bytes = 0;
        for (size_t i = 0; type && type->blocks && i < m->gguf->list.tensors.count; i++)
            if (m->gguf->list.tensors.data[i].blocks == type->blocks)
                bytes += m->gguf->list.tensors.data[i].bytes;
        if (!bytes)
            continue;
        names = arena_printf(m->job->arena, "%s%s%s", names, *names ? ", " : "", type->name);
        quant = bytes > most ? type->quant : quant;
        most = bytes > most ? bytes : most;
    }
    if (quant)
        diag_note(&m->job->diags, (Loc){0},
                  "%s: matrices are %s: commands compute them in %s (--dtype chooses another)",
                  m->path, names, quant);
    return quant;
}

static bool convert(GgufImport *m, const char **quant)
{
    m->architecture = gguf_architecture(m->gguf->architecture);
    if (!m->architecture)
        return gguf_wrong(m, arena_printf(m->job->arena,
                                          "its architecture is '%s'; llama, qwen2, qwen3 and gpt2 "
                                          "are read",
                                          text_visible_name(m->job->arena, m->gguf->architecture)));
    const bool ok = write_tokenizer(m) && write_tokenizer_config(m) && write_config(m);
    *quant = ok ? find_quant(m) : NULL;
    return ok;
}

bool import_gguf_is(Job *job, const char *path)
{
    Diagnostics unseen;
    diag_init(&unseen, job->arena);
    uint64_t size;
    const void *map = file_map(&unseen, path, &size);
    const bool is = map && gguf_is_read(map, size);
    file_unmap(map, size);
    return is;
}

bool import_gguf(Job *job, const char *path, const char *to, const char **quant)
{
    uint64_t size;
    const void *map = file_map(&job->diags, path, &size);
    GgufImport m = {.job = job, .path = path, .to = to};
    m.gguf = map ? gguf_read(&job->diags, job->arena, path, map, size) : NULL;
    const bool ok = m.gguf && convert(&m, quant);
    file_unmap(map, size);
    return ok;
}
