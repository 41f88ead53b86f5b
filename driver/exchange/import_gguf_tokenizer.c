/* The tokens of a GGUF (tokenizer.ggml.*) as tokenizer.json, or as a SentencePiece model. */
#include "driver/exchange/import_gguf_tokenizer.h"

#include "base/json_write.h"
#include "driver/exchange/gguf_keys.h"
#include "base/proto.h"
#include "runtime/text/sentencepiece/fields.h"
#include "driver/exchange/published_tokens.h"
#include "driver/exchange/tokenizer_json.h"
#include "runtime/text/sentencepiece/sp.h"

#include <inttypes.h>
#include <string.h>

static int64_t kind_of(const GgufImport *m, uint64_t i)
{
    const GgufValue *kinds = gguf_find(m->gguf, "tokenizer.ggml.token_type");
    return kinds && i < kinds->n ? gguf_integer(kinds, i) : 1;
}

/* Those whose text is never cut. */
static void put_added(const GgufImport *m, const GgufValue *tokens, JsonWriter *json)
{
    const unsigned char *at = tokens->data;
    Text text = {0};
    json_open(json, "added_tokens", '[');
    for (uint64_t i = 0; i < tokens->n; i++) {
        const char *token = gguf_next(&at, &text);
        const int64_t kind = kind_of(m, i);
        if (kind == SP_CONTROL || kind == SP_USER)
            tokenizer_json_token(
                json, &(AddedToken){(int64_t)i, token, .is_special = kind == SP_CONTROL});
    }
    json_close(json, ']');
    text_free(&text);
}

/* llama.cpp has "\u2581" before pieces that begin a word, and nothing before those that go on with
 * one, where tokenizer.json has "##". */
static const char *word_piece(const GgufImport *m, const char *token, int64_t kind)
{
    static const char blank[] = "\xe2\x96\x81";
    const size_t n = strlen(blank);
    if (!strncmp(token, blank, n) && token[n])
        return token + n;
    return kind == SP_NORMAL ? arena_printf(m->job->arena, "##%s", token) : token;
}

static bool is_utf8(const char *text)
{
    size_t size = 1;
    for (size_t left = strlen(text); left && size; text += size, left -= size)
        size = utf8_length(text, left);
    return size;
}

/* The member "vocab", which names each token once. False after an error. */
static bool put_vocabulary(const GgufImport *m, const GgufValue *tokens, bool is_words,
                           JsonWriter *json)
{
    const unsigned char *at = tokens->data;
    Map seen;
    Text text = {0};
    bool ok = true;
    map_init(&seen, m->job->arena);
    json_open(json, "vocab", '{');
    for (uint64_t i = 0; ok && i < tokens->n; i++) {
        const char *token = gguf_next(&at, &text);
        if (is_words)
            token = word_piece(m, token, kind_of(m, i));
        const bool twice = map_has(&seen, token);
        if (twice || !is_utf8(token))
            ok = gguf_wrong(m, arena_printf(m->job->arena, "token %" PRIu64 ", '%s', is %s", i,
                                            text_visible_name(m->job->arena, token),
                                            twice ? "an earlier one, too" : "not valid UTF-8"));
        map_set(&seen, token, (void *)(uintptr_t)(i + 1));
        json_put_integer(json, token, (int64_t)i);
    }
    json_close(json, '}');
    text_free(&text);
    return ok;
}

/* How texts are cut, by tokenizer.ggml.pre. Without it llama.cpp takes "default"; here GPT-2's own
 * files, which are older than the key, are cut as GPT-2 is. NULL after an error. */
static const GgufCut *find_cut(const GgufImport *m)
{
    const char *said = gguf_text(m->gguf, gguf_find(m->gguf, "tokenizer.ggml.pre"));
    const bool is_gpt2 = !strcmp(m->architecture->name, "gpt2");
    const char *name = said && *said ? said : is_gpt2 ? "gpt-2" : "default";
    const GgufCut *cut = gguf_cut(name);
    if (!cut)
        gguf_wrong(m, arena_printf(m->job->arena,
                                   "its texts are cut as '%s' (tokenizer.ggml.pre), which is not "
                                   "known here: --config FOLDER takes config.json and "
                                   "tokenizer.json of the published folder",
                                   text_visible_name(m->job->arena, name)));
    else if (name != said)
        diag_warning(&m->job->diags, (Loc){0},
                     "%s: tokenizer.ggml.pre is absent, which says how texts are cut: they are cut "
                     "as '%s'%s. If the model was trained with another cut, numbers, contractions "
                     "and blanks get other tokens: --config FOLDER takes config.json and "
                     "tokenizer.json of the published folder",
                     m->path, name, is_gpt2 ? "" : ", as llama.cpp does then");
    return cut;
}

static bool write_bpe(const GgufImport *m, const GgufValue *tokens)
{
    const GgufValue *merges = gguf_find(m->gguf, "tokenizer.ggml.merges");
    const GgufCut *rule = find_cut(m);
    if (!rule)
        return false;
    if (!merges || merges->kind != GGUF_STRING || !merges->is_array)
        return gguf_wrong(m, "its tokenizer has no merges");
    Text text = {0};
    JsonWriter json = {.out = &text};
    json_open(&json, NULL, '{');
    json_put_text(&json, "version", "1.0");
    put_added(m, tokens, &json);
    if (rule->nfc)
        tokenizer_json_nfc(&json);
    gguf_cut_put(&json, rule);
    tokenizer_json_bytes(&json, "decoder", true, false);
    json_open(&json, "model", '{');
    json_put_text(&json, "type", "BPE");
    json_put_bool(&json, "ignore_merges", rule->whole);
    bool ok = put_vocabulary(m, tokens, false, &json);
    json_open(&json, "merges", '[');
    const unsigned char *at = merges->data;
    Text merge = {0};
    for (uint64_t i = 0; i < merges->n; i++)
        json_put_text(&json, NULL, gguf_next(&at, &merge));
    text_free(&merge);
    json_close(&json, ']');
    json_close(&json, '}');
    json_close(&json, '}');
    ok = ok && job_write(m->job, m->to, "tokenizer.json", text.data, text.length);
    text_free(&text);
    return ok;
}

static bool says(const GgufImport *m, const char *key, bool usual)
{
    const GgufValue *value = gguf_find(m->gguf, key);
    return value ? gguf_number(value, 0) != 0 : usual;
}

static const GgufValue *find_own(const GgufImport *m, const char *name)
{
    return gguf_find(m->gguf, arena_printf(m->job->arena, "tokenizer.ggml.%s", name));
}

static const GgufValue *find_id(const GgufImport *m, const PublishedToken *token)
{
    return find_own(m, token->gguf[0]);
}

/* Which piece stands for what is unknown: the file says it, or the first one of this kind. */
static int64_t find_unknown(const GgufImport *m, const GgufValue *tokens)
{
    const GgufValue *said = find_id(m, published_token("unk_token_id"));
    const int64_t id = said ? gguf_integer(said, 0) : -1;
    uint64_t first = 0;
    while (first < tokens->n && kind_of(m, first) != SP_UNKNOWN)
        first++;
    return id >= 0 && id < (int64_t)tokens->n ? id : (int64_t)first;
}

/* Older converters of llama.cpp called the pieces that pad a vocabulary unknown, too, and the one
 * that is a control piece. */
static int64_t piece_kind(const GgufImport *m, uint64_t i, int64_t unknown)
{
    const int64_t kind = kind_of(m, i);
    if ((int64_t)i == unknown && (kind == SP_CONTROL || kind == SP_NORMAL))
        return SP_UNKNOWN;
    return kind == SP_UNKNOWN && (int64_t)i != unknown ? SP_UNUSED : kind;
}

/* SentencePiece's model (sentencepiece_model.proto): of merges with scores, or of words as likely
 * pieces (unigram). Its control tokens are read from texts, as llama.cpp reads prompts. */
static bool write_pieces(const GgufImport *m, const GgufValue *tokens, bool is_unigram)
{
    const GgufValue *scores = gguf_find(m->gguf, "tokenizer.ggml.scores");
    const GgufValue *characters = gguf_find(m->gguf, "tokenizer.ggml.precompiled_charsmap");
    const unsigned char *at = tokens->data;
    Text model = {0}, token = {0};
    bool has_bytes = false;
    const int64_t unknown = find_unknown(m, tokens);
    for (uint64_t i = 0; i < tokens->n; i++) {
        Text piece = {0};
        has_bytes = has_bytes || kind_of(m, i) == SP_BYTE;
        proto_put_string(&piece, SP_PIECE_piece, gguf_next(&at, &token));
        proto_put_float(&piece, SP_PIECE_score, (float)gguf_number(scores, i));
        proto_put_int(&piece, SP_PIECE_type, piece_kind(m, i, unknown));
        proto_put_message(&model, SP_MODEL_pieces, &piece);
    }
    text_free(&token);
    Text trainer = {0}, normalizer = {0};
    proto_put_int(&trainer, SP_TRAINER_model_type, is_unigram ? SP_UNIGRAM : SP_BPE);
    proto_put_int(&trainer, SP_TRAINER_byte_fallback, has_bytes);
    for (const PublishedToken *special = published_tokens; special->key; special++) {
        const GgufValue *id = special->piece_field ? find_id(m, special) : NULL;
        if (special->piece_field)
            proto_put_int(&trainer, special->piece_field, id ? gguf_integer(id, 0) : -1);
    }
    proto_put_message(&model, SP_MODEL_trainer_spec, &trainer);
    if (characters && characters->is_array &&
        (characters->kind == GGUF_U8 || characters->kind == GGUF_I8))
        proto_put_bytes(&normalizer, SP_NORMALIZER_precompiled_charsmap, characters->data,
                        (size_t)characters->n);
    proto_put_int(&normalizer, SP_NORMALIZER_add_dummy_prefix,
                  says(m, "tokenizer.ggml.add_space_prefix", true));
    proto_put_int(&normalizer, SP_NORMALIZER_remove_extra_whitespaces,
                  says(m, "tokenizer.ggml.remove_extra_whitespaces", false));
    proto_put_int(&normalizer, SP_NORMALIZER_escape_whitespaces, 1);
    proto_put_message(&model, SP_MODEL_normalizer_spec, &normalizer);
    proto_put_int(&model, SP_MODEL_specials, true);
    const bool ok = job_write(m->job, m->to, "tokenizer.model", model.data, model.length);
    text_free(&model);
    return ok;
}

/* ---- words of pieces, as BERT's ---- */

static bool write_words(const GgufImport *m, const GgufValue *tokens)
{
    static const char *const names[] = {"[CLS]", "[SEP]", "[UNK]"};
    int64_t ids[3] = {-1, -1, -1};
    Text text = {0}, next = {0};
    JsonWriter json = {.out = &text};
    const unsigned char *at = tokens->data;
    for (uint64_t i = 0; i < tokens->n; i++) {
        const char *token = gguf_next(&at, &next);
        for (int k = 0; k < 3; k++)
            ids[k] = strcmp(token, names[k]) ? ids[k] : (int64_t)i;
    }
    text_free(&next);
    for (int k = 0; k < 3; k++)
        if (ids[k] < 0)
            return gguf_wrong(m, arena_printf(m->job->arena, "its tokens have no %s", names[k]));
    json_open(&json, NULL, '{');
    json_put_text(&json, "version", "1.0");
    put_added(m, tokens, &json);
    tokenizer_json_bert(&json, &(BertCut){true, true, true}, names, ids);
    json_open(&json, "model", '{');
    tokenizer_json_pieces(&json, names[2]);
    bool ok = put_vocabulary(m, tokens, true, &json);
    json_close(&json, '}');
    json_close(&json, '}');
    ok = ok && job_write(m->job, m->to, "tokenizer.json", text.data, text.length);
    text_free(&text);
    return ok;
}

/* ---- any ---- */

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
    if (!strcmp(model, "llama") || !strcmp(model, "t5"))
        return write_pieces(m, tokens, !strcmp(model, "t5"));
    if (!strcmp(model, "bert"))
        return write_words(m, tokens);
    return gguf_wrong(
        m, arena_printf(m->job->arena,
                        "its tokenizer is '%s'; gpt2, llama, t5 and bert are read: --config FOLDER "
                        "takes config.json and the tokenizer beside it",
                        text_visible_name(m->job->arena, model)));
}

/* The text of a token; NULL: there is none. */
static const char *token_text(const GgufImport *m, const GgufValue *id)
{
    const GgufValue *tokens = gguf_find(m->gguf, "tokenizer.ggml.tokens");
    const double wanted = id ? gguf_number(id, 0) : -1;
    const unsigned char *at = tokens->data;
    const char *found = NULL;
    Text text = {0};
    for (uint64_t i = 0; i < tokens->n && !found; i++) {
        const char *token = gguf_next(&at, &text);
        found = (double)i == wanted ? arena_strdup(m->job->arena, token) : NULL;
    }
    text_free(&text);
    return found;
}

/* What stands around a text, and the chat template. llama.cpp begins a text of pieces with the
 * first token where the file does not say. */
static bool write_tokenizer_config(const GgufImport *m)
{
    const char *model = gguf_text(m->gguf, gguf_find(m->gguf, "tokenizer.ggml.model"));
    const char *chat = gguf_text(m->gguf, gguf_find(m->gguf, "tokenizer.chat_template"));
    Text text = {0};
    JsonWriter json = {.out = &text, .indent = 2};
    json_open(&json, NULL, '{');
    for (const PublishedToken *frame = published_tokens; frame->key; frame++) {
        if (!frame->frame)
            continue;
        const GgufValue *value = find_own(m, frame->frame);
        const bool usual = frame == published_token("bos_token_id") && !strcmp(model, "llama");
        json_put_bool(&json, frame->frame, value ? gguf_number(value, 0) != 0 : usual);
        const char *token = token_text(m, find_id(m, frame));
        if (token)
            json_put_text(&json, frame->text, token);
    }
    if (chat)
        json_put_text(&json, "chat_template", chat);
    json_close(&json, '}');
    const bool ok = job_write(m->job, m->to, "tokenizer_config.json", text.data, text.length);
    text_free(&text);
    return ok;
}

bool import_gguf_tokenizer(const GgufImport *m)
{
    return write_tokenizer(m) && write_tokenizer_config(m);
}
