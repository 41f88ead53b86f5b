/* From the tokenizer's files of a folder to a vocabulary. */
#include "driver/exchange/import_tokenizer.h"

#include "base/file.h"
#include "base/json_write.h"
#include "driver/exchange/import_added_tokens.h"
#include "driver/exchange/import_json.h"
#include "base/proto.h"
#include "driver/exchange/tokenizer_json.h"
#include "runtime/text/hf/tokenizer_json.h"
#include "runtime/text/sentencepiece/fields.h"
#include "runtime/data/vocabulary_of.h"
#include "runtime/text/sentencepiece/sp.h"

#include <string.h>

/* The file, or the folder itself, that --vocab would be; NULL: there is none. */
static const char *find_tokenizer(Job *job, const char *folder)
{
    static const char *const files[] = {"tokenizer.json", "spiece.model", "tokenizer.model"};
    if (file_exists(file_in(job->arena, folder, "source.spm")) &&
        file_exists(file_in(job->arena, folder, "vocab.json")))
        return folder;
    for (int i = 0; i < 3; i++)
        if (file_is_named(file_in(job->arena, folder, files[i])))
            return file_in(job->arena, folder, files[i]);
    return NULL;
}

static bool refuse_none(Job *job, const char *folder, const char *source)
{
    if (file_exists(file_in(job->arena, folder, "sentencepiece.bpe.model")))
        return job_error(
            job,
            "%s has no tokenizer.json: sentencepiece.bpe.model has other ids than the model, "
            "and no languages; save_pretrained of transformers' fast tokenizer writes it",
            source);
    return job_error(job,
                     "%s has no tokenizer that is read: source.spm, target.spm and vocab.json, or "
                     "tokenizer.json, spiece.model, tokenizer.model, vocab.txt, or vocab.json and "
                     "merges.txt; save_pretrained of transformers' fast tokenizer writes "
                     "tokenizer.json",
                     source);
}

/* ---- bytes ---- */

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
        tokenizer_json_token(&json, &(AddedToken){i, special[i], .is_special = true});
    for (int64_t i = SPECIAL + BYTES; i < size; i++) {
        const char *hidden = arena_printf(job->arena, "<extra_id_%d>", (int)(i - SPECIAL - BYTES));
        tokenizer_json_token(&json, &(AddedToken){i, hidden, .is_special = true});
    }
    json_close(&json, ']');
    tokenizer_json_bytes(&json, "pre_tokenizer", false, false);
    tokenizer_json_bytes(&json, "decoder", false, false);
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
                     TOKENIZER_SETTINGS, text_visible_name(job->arena, token->text),
                     (long long)token->id, text_visible_name(job->arena, is));
        return;
    }
}

/* ---- settings beside a tokenizer.json ---- */

/* The object of this type in a step of a tokenizer.json, or in a sequence of steps; NULL: none. */
static const JsonValue *find_step(const JsonValue *step, const char *type, const char *sequence)
{
    const char *is = step && step->kind == JV_OBJECT ? json_member_text(step, "type") : NULL;
    const JsonValue *list = is && !strcmp(is, "Sequence") ? json_member(step, sequence) : NULL;
    if (is && !strcmp(is, type))
        return step;
    for (size_t i = 0; list && list->kind == JV_LIST && i < list->n; i++)
        if (find_step(&list->items[i], type, sequence))
            return find_step(&list->items[i], type, sequence);
    return NULL;
}

/* A warning of flags of tokenizer_config.json that are others than tokenizer.json's, whose steps
 * transformers makes anew by them. */
static void tell_settings(Job *job, const char *folder, const Vocabulary *vocab,
                          const JsonValue *settings)
{
    static const struct {
        const char *key, *step, *type, *sequence, *member;
    } flags[] = {
        {"do_lower_case", "normalizer", "BertNormalizer", "normalizers", "lowercase"},
        {"strip_accents", "normalizer", "BertNormalizer", "normalizers", "strip_accents"},
        {"tokenize_chinese_chars", "normalizer", "BertNormalizer", "normalizers",
         "handle_chinese_chars"},
        {"add_prefix_space", "pre_tokenizer", "ByteLevel", "pretokenizers", "add_prefix_space"},
        {"add_prefix_space", "pre_tokenizer", "Metaspace", "pretokenizers", "add_prefix_space"},
    };
    size_t length;
    const char *problem, *bytes = vocab_bytes(vocab, &length);
    const JsonValue *json = settings && vocab_kind(vocab) == VOCAB_JSON
                                ? json_read(job->arena, bytes, length, &problem)
                                : NULL;
    for (size_t i = 0; json && i < sizeof flags / sizeof *flags; i++) {
        const JsonValue *step = find_step(json_member(json, flags[i].step), flags[i].type,
                                          flags[i].sequence),
                        *is = step ? json_member(step, flags[i].member) : NULL,
                        *said = json_member(settings, flags[i].key);
        if (is && is->kind == JV_NULL) /* accents are stripped from small letters */
            is = json_member(step, "lowercase");
        const bool are_flags = is && said && (is->kind == JV_TRUE || is->kind == JV_FALSE) &&
                               (said->kind == JV_TRUE || said->kind == JV_FALSE);
        if (are_flags && is->kind != said->kind)
            diag_warning(&job->diags, (Loc){0},
                         "%s/" TOKENIZER_SETTINGS ": \"%s\" is %s, and tokenizer.json's \"%s\" is "
                         "%s: tokenizer.json is taken; transformers may take the other",
                         folder, flags[i].key, import_json_text(job, said), flags[i].member,
                         import_json_text(job, is));
    }
}

/* ---- rows ---- */

/* The file with the number of rows in it. NULL: there is no memory. */
static const char *put_rows(Job *job, const Vocabulary *vocab, int64_t rows, size_t *length)
{
    const char *bytes = vocab_bytes(vocab, length), *brace = memchr(bytes, '{', *length);
    Text text = {0};
    if (vocab_kind(vocab) == VOCAB_JSON) {
        const size_t head = (size_t)(brace - bytes) + 1;
        text_put(&text, bytes, head);
        text_add(&text, "\"" TOKENIZER_JSON_ROWS "\": %lld, ", (long long)rows);
        text_put(&text, bytes + head, *length - head);
    } else {
        text_put(&text, bytes, *length);
        proto_put_int(&text, SP_MODEL_rows, rows);
    }
    *length = text.length;
    bytes = arena_copy(job->arena, text.data, text.length);
    text_free(&text);
    return bytes;
}

/* The vocabulary without the tokens for which the model has no row, as published folders and test
 * models have them. */
static Vocabulary *limit_rows(Job *job, const char *path, const ImportConfig *config,
                              Vocabulary *vocab)
{
    const int64_t rows = import_config_size(job, config, "vocab_size"), n = vocab_size(vocab);
    size_t length;
    if (rows < 1 || rows >= n)
        return vocab;
    diag_warning(&job->diags, (Loc){.source = config->source},
                 "\"vocab_size\" is %lld, and the tokenizer has %lld tokens: a text with %s '%s' "
                 "is an error, since the model has no row for %s",
                 (long long)rows, (long long)n, n - rows > 1 ? "tokens such as" : "the token",
                 text_visible_name(job->arena, vocab_token(vocab, (int32_t)rows)),
                 n - rows > 1 ? "them" : "it");
    const char *bytes = put_rows(job, vocab, rows, &length);
    return vocab_of_model(&job->diags, job->arena, path, bytes, length,
                          vocab_kind(vocab) == VOCAB_JSON);
}

/* ---- any ---- */

/* Of a file of the folder. What was made of another file is called by that one. */
static Vocabulary *read_file(Job *job, const char *folder, const char *path,
                             const ImportConfig *config)
{
    enum { LARGEST_FILE = 256 << 20 };
    if (!config->shown)
        return vocab_load_within(&job->diags, job->arena, job_reach(job, folder), path);
    const Source *file = job_read(job, folder, path, LARGEST_FILE);
    return file ? vocab_of_model(&job->diags, job->arena, config->shown, file->text, file->length,
                                 text_ends(path, ".json"))
                : NULL;
}

/* Of the lists, as if they were a tokenizer.json. */
static Vocabulary *read_lists(Job *job, const char *folder, const char *source,
                              const ImportConfig *config, const AddedTokens *added)
{
    size_t length;
    if (!import_token_lists_are(job, folder)) {
        refuse_none(job, folder, source);
        return NULL;
    }
    const char *bytes = import_token_lists(job, folder, config, added, &length);
    return bytes ? vocab_of_model(&job->diags, job->arena, source, bytes, length, true) : NULL;
}

Vocabulary *import_tokenizer(Job *job, const char *folder, const char *source,
                             const ImportConfig *config)
{
    const JsonValue *settings;
    AddedTokens added;
    if (!import_json_read(job, folder, TOKENIZER_SETTINGS, JV_OBJECT, &settings) ||
        !import_added_tokens(job, folder, &added))
        return NULL;
    const char *path = find_tokenizer(job, folder);
    if (!strcmp(import_tokenizer_class(settings, config), "ByT5Tokenizer") &&
        !file_exists(file_in(job->arena, folder, "tokenizer.json")))
        return make_bytes(job, source, config);
    if (path == folder) /* Marian's pair, whose vocab.json has all */
        return vocab_load_within(&job->diags, job->arena, job_reach(job, folder), path);
    Vocabulary *vocab = path ? read_file(job, folder, path, config)
                             : read_lists(job, folder, source, config, &added);
    if (!vocab)
        return NULL;
    if (vocab_kind(vocab) == VOCAB_SENTENCEPIECE)
        vocab = add_tokens(job, path, vocab, &added);
    if (vocab)
        tell_others(job, vocab, &added);
    if (vocab && path)
        tell_settings(job, folder, vocab, settings);
    return vocab ? limit_rows(job, path ? path : source, config, vocab) : NULL;
}
