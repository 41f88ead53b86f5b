/* From the tokenizer's files of a folder to a vocabulary. */
#include "driver/exchange/import_tokenizer.h"

#include "base/file.h"
#include "base/json_write.h"
#include "driver/exchange/import_json.h"
#include "base/proto.h"
#include "runtime/text/sentencepiece/fields.h"
#include "driver/exchange/tokenizer_json.h"
#include "runtime/data/vocabulary_of.h"
#include "runtime/text/sentencepiece/sp.h"

#include <stdlib.h>
#include <string.h>

static const char settings_file[] = "tokenizer_config.json";

/* The file, or the folder itself, that --vocab would be; NULL after an error. */
static const char *find_tokenizer(Job *job, const char *folder, const char *source)
{
    static const char *const files[] = {"tokenizer.json", "spiece.model", "tokenizer.model"};
    if (file_exists(file_in(job->arena, folder, "source.spm")) &&
        file_exists(file_in(job->arena, folder, "vocab.json")))
        return folder;
    for (int i = 0; i < 3; i++)
        if (file_is_named(file_in(job->arena, folder, files[i])))
            return file_in(job->arena, folder, files[i]);
    if (file_exists(file_in(job->arena, folder, "sentencepiece.bpe.model"))) {
        job_error(job,
                  "%s has no tokenizer.json: sentencepiece.bpe.model has other ids than the model, "
                  "and no languages; save_pretrained of transformers' fast tokenizer writes it",
                  source);
        return NULL;
    }
    job_error(job,
              "%s has no tokenizer that is read: source.spm, target.spm and vocab.json, or "
              "tokenizer.json, spiece.model or tokenizer.model; save_pretrained of transformers' "
              "fast tokenizer writes tokenizer.json",
              source);
    return NULL;
}

/* ---- bytes ---- */

/* What tokenizer_config.json or config.json calls the tokenizer; "": neither does. False after an
 * error. */
static bool find_class(Job *job, const char *folder, const ImportConfig *config, const char **name)
{
    const JsonValue *json;
    if (!import_json_read(job, folder, settings_file, JV_OBJECT, &json))
        return false;
    *name = json ? json_member_text(json, "tokenizer_class") : NULL;
    if (!*name)
        *name = json_member_text(config->json, "tokenizer_class");
    *name = *name ? *name : "";
    return true;
}

/* The letter that tokenizer.json has for a byte: itself where it is one that is seen, else one of
 * those from 256 on (Radford et al. 2019, encoder.py). */
static void put_letter(Text *out, int byte, int *other)
{
    const bool is_seen = (byte > 32 && byte < 127) || (byte > 160 && byte != 173);
    const int letter = is_seen ? byte : 256 + (*other)++;
    if (letter >= 128)
        text_put(out, (char[]){(char)(0xC0 | letter >> 6), (char)(0x80 | (letter & 63))}, 2);
    else
        text_put(out, (char[]){(char)letter}, 1);
}

/* ByT5 (Xue et al. 2022, section 3.1): three special tokens, the bytes, then `size` - 259 tokens
 * for hidden parts of a text. As a tokenizer.json without merges. */
static void put_bytes_tokenizer(Job *job, int64_t size, Text *out)
{
    enum { SPECIAL = 3, BYTES = 256 };
    static const char *const special[SPECIAL] = {"<pad>", "</s>", "<unk>"};
    JsonWriter json = {.out = out};
    json_open(&json, NULL, '{');
    json_put_text(&json, "version", "1.0");
    json_open(&json, "added_tokens", '[');
    for (int i = 0; i < SPECIAL; i++)
        tokenizer_json_token(&json, i, special[i], true);
    for (int64_t i = SPECIAL + BYTES; i < size; i++)
        tokenizer_json_token(
            &json, i, arena_printf(job->arena, "<extra_id_%d>", (int)(i - SPECIAL - BYTES)), true);
    json_close(&json, ']');
    tokenizer_json_bytes(&json, "pre_tokenizer", false);
    tokenizer_json_bytes(&json, "decoder", false);
    json_open(&json, "model", '{');
    json_put_text(&json, "type", "BPE");
    json_open(&json, "vocab", '{');
    for (int byte = 0, other = 0; byte < BYTES; byte++) {
        Text letter = {0};
        put_letter(&letter, byte, &other);
        json_put_integer(&json, letter.data, byte + SPECIAL);
        text_free(&letter);
    }
    json_close(&json, '}');
    json_open(&json, "merges", '[');
    json_close(&json, ']');
    json_close(&json, '}');
    json_close(&json, '}');
}

static Vocabulary *make_bytes(Job *job, const char *source, const ImportConfig *config)
{
    enum { MOST = 1 << 16 };
    const int64_t size = import_config_size(job, config, "vocab_size");
    Text text = {0};
    put_bytes_tokenizer(job, size < MOST ? size : MOST, &text);
    const size_t n = text.length;
    const char *bytes = arena_copy(job->arena, text.data, n);
    text_free(&text);
    return vocab_of_model(&job->diags, job->arena, source, bytes, n, true);
}

/* ---- added tokens ---- */

static int by_id(const void *a, const void *b)
{
    const AddedToken *one = a, *other = b;
    return (one->id > other->id) - (one->id < other->id);
}

bool import_added_tokens(Job *job, const char *folder, AddedTokens *added)
{
    const JsonValue *settings, *more;
    *added = (AddedTokens){0};
    if (!import_json_read(job, folder, settings_file, JV_OBJECT, &settings) ||
        !import_json_read(job, folder, "added_tokens.json", JV_OBJECT, &more))
        return false;
    const JsonValue *list = settings ? json_member(settings, "added_tokens_decoder") : NULL;
    for (size_t i = 0; list && list->kind == JV_OBJECT && i < list->n; i++) {
        const JsonValue *token = &list->items[i];
        const bool is_object = token->kind == JV_OBJECT;
        const JsonValue *special = is_object ? json_member(token, "special") : NULL;
        char *end;
        const AddedToken is = {.id = strtoll(list->keys[i], &end, 10),
                               .text = is_object ? json_member_text(token, "content") : NULL,
                               .is_special = special && special->kind == JV_TRUE};
        if (*end || is.id < 0 || !is.text)
            return job_error(job, "%s/%s: \"added_tokens_decoder\": expected ids with their tokens",
                             folder, settings_file);
        vec_push(job->arena, *added, is);
    }
    const size_t n_more = more && !added->count ? more->n : 0; /* the older file says less */
    for (size_t i = 0; i < n_more; i++)
        if (more->items[i].kind == JV_INTEGER && more->items[i].integer >= 0)
            vec_push(job->arena, *added,
                     ((AddedToken){.id = more->items[i].integer, .text = more->keys[i]}));
    if (added->count)
        qsort(added->data, added->count, sizeof *added->data, by_id);
    return true;
}

/* A SentencePiece model ends in pieces as well as it begins with them. */
static void put_piece(Text *model, const char *text, int64_t kind)
{
    Text piece = {0};
    proto_put_string(&piece, SP_PIECE_piece, text);
    proto_put_float(&piece, SP_PIECE_score, 0);
    proto_put_int(&piece, SP_PIECE_type, kind);
    proto_put_message(model, SP_MODEL_pieces, &piece);
}

/* The vocabulary with the added tokens that it lacks, whose control tokens are read from texts. */
static Vocabulary *add_tokens(Job *job, const char *path, Vocabulary *vocab,
                              const AddedTokens *added)
{
    enum { MOST_UNUSED = 1 << 16 };
    int64_t n = vocab_size(vocab);
    size_t length;
    const char *bytes = vocab_bytes(vocab, &length);
    Text model = {0};
    text_put(&model, bytes, length);
    for (size_t i = 0; i < added->count; i++) {
        const AddedToken *token = &added->data[i];
        if (token->id < n || token->id > n + MOST_UNUSED)
            continue;
        for (; n < token->id; n++)
            put_piece(&model, arena_printf(job->arena, "[unused %d]", (int)n), SP_UNUSED);
        put_piece(&model, token->text, token->is_special ? SP_CONTROL : SP_USER);
        n++;
    }
    proto_put_int(&model, SP_MODEL_specials, true);
    vocab = vocab_of_model(&job->diags, job->arena, path,
                           arena_copy(job->arena, model.data, model.length), model.length, false);
    text_free(&model);
    return vocab;
}

/* A token that the files give to an id is the vocabulary's, too. */
static void tell_others(Job *job, const Vocabulary *vocab, const AddedTokens *added)
{
    for (size_t i = 0; i < added->count; i++) {
        const AddedToken *token = &added->data[i];
        const char *is =
            token->id < vocab_size(vocab) ? vocab_token(vocab, (int32_t)token->id) : "";
        if (!strcmp(is, token->text))
            continue;
        diag_warning(&job->diags, (Loc){0},
                     "%s: the added token '%s' has the id %lld, which is '%s' in the tokenizer: it "
                     "is not read from texts",
                     settings_file, text_visible_name(job->arena, token->text),
                     (long long)token->id, text_visible_name(job->arena, is));
        return;
    }
}

Vocabulary *import_tokenizer(Job *job, const char *folder, const char *source,
                             const ImportConfig *config)
{
    const char *class;
    AddedTokens added;
    if (!find_class(job, folder, config, &class) || !import_added_tokens(job, folder, &added))
        return NULL;
    if (!strcmp(class, "ByT5Tokenizer") &&
        !file_exists(file_in(job->arena, folder, "tokenizer.json")))
        return make_bytes(job, source, config);
    const char *path = find_tokenizer(job, folder, source);
    Vocabulary *vocab =
        path ? vocab_load_within(&job->diags, job->arena, job_reach(job, folder), path) : NULL;
    if (!vocab || path == folder) /* Marian's pair, whose vocab.json has all */
        return vocab;
    if (vocab_kind(vocab) == VOCAB_SENTENCEPIECE)
        vocab = add_tokens(job, path, vocab, &added);
    if (vocab)
        tell_others(job, vocab, &added);
    return vocab;
}
