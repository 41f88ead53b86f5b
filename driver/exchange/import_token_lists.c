/* From lists of tokens to a tokenizer.json (transformers: convert_slow_tokenizer.py, BertConverter,
 * GPT2Converter, RobertaConverter, Qwen2Converter). */
#include "driver/exchange/import_added_tokens.h"

#include "base/file.h"
#include "base/json_write.h"
#include "base/map.h"
#include "driver/exchange/gguf_keys.h"
#include "driver/exchange/import_json.h"
#include "driver/exchange/tokenizer_json.h"

#include <string.h>

enum { LARGEST_FILE = 256 << 20, MOST_LINES = 1 << 24 };
static const char words_file[] = "vocab.txt", vocab_file[] = "vocab.json",
                  merges_file[] = "merges.txt";

typedef VEC(const char *) TokenTexts;

/* TokenLists: the files of a folder while they become a tokenizer.json.
 *   settings, special   tokenizer_config.json, special_tokens_map.json; NULL: there is none */
typedef struct TokenLists {
    Job *job;
    const char *folder;
    const JsonValue *settings, *special;
    AddedTokens added;
    Map ids; /* of each token, its id and 1 */
} TokenLists;

/* TokenClass: a tokenizer of transformers.
 *   types     the model_types that have it, each between blanks
 *   cut       of byte-level BPE: how texts are cut (gguf_cut); NULL: words, then pieces of them
 *   tokens    its special tokens by their keys of tokenizer_config.json, up to one without a key
 *   framed    cls_token stands before a text, and sep_token behind it */
typedef struct TokenKey {
    const char *key, *usual;
    bool lstrip;
} TokenKey;
typedef struct TokenClass {
    const char *name, *types, *cut;
    const TokenKey *tokens;
    bool framed;
} TokenClass;

static const TokenKey bert_tokens[] = {
    {"unk_token", "[UNK]", false}, {"sep_token", "[SEP]", false},   {"pad_token", "[PAD]", false},
    {"cls_token", "[CLS]", false}, {"mask_token", "[MASK]", false}, {NULL, NULL, false}};
static const TokenKey roberta_tokens[] = {
    {"bos_token", "<s>", false},    {"eos_token", "</s>", false},
    {"unk_token", "<unk>", false},  {"sep_token", "</s>", false},
    {"pad_token", "<pad>", false},  {"cls_token", "<s>", false},
    {"mask_token", "<mask>", true}, {NULL, NULL, false}};
static const TokenKey gpt2_tokens[] = {{"bos_token", "<|endoftext|>", false},
                                       {"eos_token", "<|endoftext|>", false},
                                       {"unk_token", "<|endoftext|>", false},
                                       {"pad_token", NULL, false},
                                       {NULL, NULL, false}};
static const TokenClass classes[] = {
    {"BertTokenizer", " bert ", NULL, bert_tokens, true},
    {"DistilBertTokenizer", " distilbert ", NULL, bert_tokens, true},
    {"ElectraTokenizer", " ", NULL, bert_tokens, true},
    {"GPT2Tokenizer", " gpt2 ", "gpt-2", gpt2_tokens, false},
    {"RobertaTokenizer", " roberta ", "gpt-2", roberta_tokens, true},
    {"BartTokenizer", " bart ", "gpt-2", roberta_tokens, true},
    {"Qwen2Tokenizer", " qwen2 qwen3 ", "qwen2", gpt2_tokens, false},
};
enum { N_CLASSES = sizeof classes / sizeof *classes };

/* ---- which files, which class ---- */

static bool has_file(Job *job, const char *folder, const char *name)
{
    return file_is_named(file_in(job->arena, folder, name));
}

bool import_token_lists_are(Job *job, const char *folder)
{
    return has_file(job, folder, words_file) ||
           (has_file(job, folder, vocab_file) && has_file(job, folder, merges_file));
}

/* The class that the folder names, with or without "Fast", or else that of its model_type; NULL: it
 * is none of the table. */
static const TokenClass *find_token_class(const TokenLists *t, const ImportConfig *config,
                                          bool is_words)
{
    const char *said = import_tokenizer_class(t->settings, config);
    const char *type = arena_printf(t->job->arena, " %s ", config->model->type);
    const size_t n = strlen(said), less = text_ends(said, "Fast") ? strlen("Fast") : 0;
    for (int i = 0; i < N_CLASSES; i++) {
        const TokenClass *is = &classes[i];
        const bool is_named = strlen(is->name) == n - less && !strncmp(is->name, said, n - less);
        const bool is_other = is_words && !n && is->cut == NULL; /* as an ALBERT of such words */
        if (!is->cut == is_words && (*said ? is_named : is_other || strstr(is->types, type)))
            return is;
    }
    return NULL;
}

static bool refuse_class(const TokenLists *t, const ImportConfig *config, bool is_words)
{
    const char *said = import_tokenizer_class(t->settings, config);
    return job_error(
        t->job,
        "%s has %s, but tfc does not know how %s%s uses them: write a tokenizer.json by "
        "save_pretrained of transformers' fast tokenizer",
        t->folder, is_words ? words_file : "vocab.json and merges.txt",
        *said ? "its tokenizer_class " : "its model_type ",
        text_visible_name(t->job->arena, *said ? said : config->model->type));
}

/* ---- tokens ---- */

/* Its id; -1: the lists do not have it. */
static int64_t id_of_token(const TokenLists *t, const char *text)
{
    return text ? (int64_t)(uintptr_t)map_get(&t->ids, text) - 1 : -1;
}

static const char *special_token(const TokenLists *t, const TokenClass *is, const char *key)
{
    const TokenKey *token = is->tokens;
    while (token->key && strcmp(token->key, key) != 0)
        token++;
    const char *said = import_token_of_key(t->settings, key);
    said = said ? said : import_token_of_key(t->special, key);
    return said ? said : token->usual;
}

static bool is_added(const AddedTokens *added, int64_t id)
{
    bool is = false;
    for (size_t i = 0; !is && i < added->count; i++)
        is = added->data[i].id == id;
    return is;
}

/* "added_tokens": those that the folder adds, and the special ones of its class. */
static void put_added_tokens(TokenLists *t, const TokenClass *is, JsonWriter *json)
{
    for (const TokenKey *key = is->tokens; key->key; key++) {
        const char *text = special_token(t, is, key->key);
        const int64_t id = id_of_token(t, text);
        if (id >= 0 && !is_added(&t->added, id))
            vec_push(t->job->arena, t->added,
                     ((AddedToken){id, text, .is_special = true, .lstrip = key->lstrip}));
    }
    json_open(json, "added_tokens", '[');
    for (size_t i = 0; i < t->added.count; i++)
        tokenizer_json_token(json, &t->added.data[i]);
    json_close(json, ']');
}

/* The two tokens around a text. False after an error: the lists lack one. */
static bool find_frame_ids(const TokenLists *t, const TokenClass *is, const char *tokens[2],
                           int64_t ids[2])
{
    static const char *const keys[] = {"cls_token", "sep_token"};
    for (int i = 0; i < 2; i++) {
        tokens[i] = special_token(t, is, keys[i]);
        ids[i] = id_of_token(t, tokens[i]);
        if (ids[i] < 0)
            return job_error(t->job, "%s: the vocabulary has no token '%s', its \"%s\"", t->folder,
                             text_visible_name(t->job->arena, tokens[i]), keys[i]);
    }
    return true;
}

/* A flag of the folder's settings; if it is none, an error, which the caller finds among the
 * job's. */
static bool setting_is(const TokenLists *t, const char *key, bool usual)
{
    const JsonValue *value;
    import_json_member(t->job, file_in(t->job->arena, t->folder, TOKENIZER_SETTINGS), t->settings,
                       key, IS_FLAG, &value);
    return value ? value->kind == JV_TRUE : usual;
}

/* ---- lines ---- */

/* A list of tokens as text. NULL after an error. */
static const Source *read_list(const TokenLists *t, const char *name)
{
    const Source *file =
        job_read(t->job, t->folder, file_in(t->job->arena, t->folder, name), LARGEST_FILE);
    size_t at = 0, n = 1;
    while (file && n && at < file->length) {
        n = file->text[at] ? utf8_length(file->text + at, file->length - at) : 0;
        at += n;
    }
    if (!file || n)
        return file;
    job_error(t->job, "%s: byte %zu is not UTF-8 text: the list is damaged", file->path, at);
    return NULL;
}

/* The lines of a file, without their ends. */
static TokenTexts cut_lines(Job *job, const Source *file)
{
    TokenTexts lines = {0};
    const char *at = file->text, *end = at + file->length;
    while (at < end && lines.count < MOST_LINES) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t n = (size_t)((stop ? stop : end) - at);
        n -= n && at[n - 1] == '\r';
        vec_push(job->arena, lines, arena_strndup(job->arena, at, n));
        at = stop ? stop + 1 : end;
    }
    return lines;
}

/* ---- words: BERT's ---- */

/* Of equal lines the last one has the token. */
static void put_words_vocab(const TokenLists *t, const TokenTexts *lines, JsonWriter *json)
{
    json_open(json, "vocab", '{');
    for (size_t i = 0; i < lines->count; i++)
        if (id_of_token(t, lines->data[i]) == (int64_t)i)
            json_put_integer(json, lines->data[i], (int64_t)i);
    json_close(json, '}');
}

static bool put_words(TokenLists *t, const TokenClass *is, JsonWriter *json)
{
    const Source *file = read_list(t, words_file);
    if (!file)
        return false;
    const TokenTexts lines = cut_lines(t->job, file);
    for (size_t i = 0; i < lines.count; i++)
        map_set(&t->ids, lines.data[i], (void *)(uintptr_t)(i + 1));
    const char *tokens[2], *unknown = special_token(t, is, "unk_token");
    int64_t ids[2];
    if (!find_frame_ids(t, is, tokens, ids))
        return false;
    if (!setting_is(t, "do_basic_tokenize", true))
        return job_error(t->job,
                         "%s: " TOKENIZER_SETTINGS
                         "'s \"do_basic_tokenize\" is false: texts are cut "
                         "at punctuation here",
                         t->folder);
    const bool lower = setting_is(t, "do_lower_case", true);
    put_added_tokens(t, is, json);
    tokenizer_json_bert(json,
                        &(BertCut){.lowercase = lower,
                                   .strip_accents = setting_is(t, "strip_accents", lower),
                                   .ideographs = setting_is(t, "tokenize_chinese_chars", true)},
                        tokens, ids);
    json_open(json, "model", '{');
    tokenizer_json_pieces(json, unknown);
    put_words_vocab(t, &lines, json);
    json_close(json, '}');
    return true;
}

/* ---- bytes: GPT-2's ---- */

static bool put_merges(const TokenLists *t, int64_t n_tokens, JsonWriter *json)
{
    enum { BYTES = 256 };
    const Source *file = read_list(t, merges_file);
    if (!file)
        return false;
    const TokenTexts lines = cut_lines(t->job, file);
    json_open(json, "merges", '[');
    for (size_t i = 0; i < lines.count; i++)
        if (*lines.data[i] && (i || strncmp(lines.data[i], "#version", strlen("#version")) != 0))
            json_put_text(json, NULL, lines.data[i]);
    json_close(json, ']');
    const int64_t own = n_tokens - (int64_t)t->added.count - BYTES;
    if ((int64_t)lines.count < own / 2)
        diag_warning(&t->job->diags, (Loc){.source = file},
                     "it has %lld merges, and %s %lld tokens, most of which no merge makes: is it "
                     "whole?",
                     (long long)lines.count, vocab_file, (long long)n_tokens);
    return true;
}

static bool put_cut_bytes(TokenLists *t, const TokenClass *is, JsonWriter *json)
{
    const JsonValue *vocab;
    if (!import_json_read(t->job, t->folder, vocab_file, JV_OBJECT, &vocab))
        return false;
    for (size_t i = 0; i < vocab->n; i++) {
        if (vocab->items[i].kind != JV_INTEGER || vocab->items[i].integer < 0)
            return job_error(t->job, "%s/%s: '%s' has no id", t->folder, vocab_file,
                             text_visible_name(t->job->arena, vocab->keys[i]));
        map_set(&t->ids, vocab->keys[i], (void *)(uintptr_t)(vocab->items[i].integer + 1));
    }
    const char *tokens[2];
    int64_t ids[2];
    if (is->framed && !find_frame_ids(t, is, tokens, ids))
        return false;
    GgufCut cut = *gguf_cut(is->cut);
    cut.has_prefix = setting_is(t, "add_prefix_space", false);
    put_added_tokens(t, is, json);
    if (cut.nfc)
        tokenizer_json_nfc(json);
    gguf_cut_put(json, &cut);
    if (is->framed)
        tokenizer_json_template(json, tokens, ids);
    tokenizer_json_bytes(json, "decoder", true, false);
    json_open(json, "model", '{');
    json_put_text(json, "type", "BPE");
    json_open(json, "vocab", '{');
    for (size_t i = 0; i < vocab->n; i++)
        json_put_integer(json, vocab->keys[i], vocab->items[i].integer);
    json_close(json, '}');
    const bool ok = put_merges(t, (int64_t)vocab->n, json);
    json_close(json, '}');
    return ok;
}

const char *import_token_lists(Job *job, const char *folder, const ImportConfig *config,
                               const AddedTokens *added, size_t *length)
{
    TokenLists t = {.job = job, .folder = folder, .added = *added};
    const bool is_words = has_file(job, folder, words_file);
    if (!import_json_read(job, folder, TOKENIZER_SETTINGS, JV_OBJECT, &t.settings) ||
        !import_json_read(job, folder, "special_tokens_map.json", JV_OBJECT, &t.special))
        return NULL;
    const TokenClass *is = find_token_class(&t, config, is_words);
    if (!is) {
        refuse_class(&t, config, is_words);
        return NULL;
    }
    map_init(&t.ids, job->arena);
    Text text = {0};
    JsonWriter json = {.out = &text};
    json_open(&json, NULL, '{');
    json_put_text(&json, "version", "1.0");
    const int errors = job->diags.errors;
    const bool ok = (is->cut ? put_cut_bytes(&t, is, &json) : put_words(&t, is, &json)) &&
                    job->diags.errors == errors;
    json_close(&json, '}');
    *length = text.length;
    const char *bytes = ok ? arena_copy(job->arena, text.data, text.length) : NULL;
    text_free(&text);
    return bytes;
}
