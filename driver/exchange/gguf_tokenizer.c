/* Tokens by id, from either kind of tokenizer. */
#include "driver/exchange/gguf_tokenizer.h"

#include "base/file.h"
#include "base/json_read.h"
#include "driver/exchange/gguf_keys.h"
#include "driver/exchange/import_added_tokens.h"
#include "base/proto.h"
#include "runtime/text/sentencepiece/fields.h"

#include <string.h>
#include <strings.h>

enum { LARGEST_FILE = 256 << 20 };

typedef struct TokenTable {
    Job *job;
    GgufWriter *writer;
    const char *folder, *path;
    const Source *json; /* a tokenizer.json made in memory; NULL: it is the file `path` */
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
    if (id < 0)
        return job_error(t->job, "%s: the token '%s' has the id %lld", t->path,
                         text_visible_name(t->job->arena, text), (long long)id);
    if (id >= t->n) /* the model has no row for it */
        return true;
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
            set_token(t, i, arena_printf(t->job->arena, "[PAD%lld]", (long long)i), -10000,
                      SP_UNUSED);
    gguf_put_text(t->writer, "tokenizer.ggml.model", model);
    gguf_put_texts(t->writer, "tokenizer.ggml.tokens", t->texts, (uint64_t)t->n);
    if (has_scores)
        gguf_put_numbers(t->writer, "tokenizer.ggml.scores", t->scores, (uint64_t)t->n);
    gguf_put_integers(t->writer, "tokenizer.ggml.token_type", t->kinds, (uint64_t)t->n);
}

/* ---- SentencePiece ---- */

static bool read_piece(TokenTable *t, int64_t id, Proto piece)
{
    const char *text = "";
    float score = 0;
    int32_t kind = SP_NORMAL;
    ProtoField field;
    while (proto_next(&piece, &field)) {
        if (field.number == SP_PIECE_piece && field.kind == PROTO_BYTES)
            text = arena_strndup(t->job->arena, field.bytes, field.size);
        else if (field.number == SP_PIECE_score)
            score = proto_float(&field);
        else if (field.number == SP_PIECE_type)
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

/* What a NormalizerSpec says. */
typedef struct PieceRules {
    const char *characters; /* precompiled_charsmap */
    size_t n_characters;
    bool has_prefix, removes_extra;
} PieceRules;

static PieceRules piece_rules(Proto message)
{
    PieceRules rules = {.has_prefix = true, .removes_extra = true};
    ProtoField field;
    while (proto_next(&message, &field)) {
        if (field.number == SP_NORMALIZER_precompiled_charsmap && field.kind == PROTO_BYTES) {
            rules.characters = field.bytes;
            rules.n_characters = field.size;
        } else if (field.number == SP_NORMALIZER_add_dummy_prefix) {
            rules.has_prefix = field.value != 0;
        } else if (field.number == SP_NORMALIZER_remove_extra_whitespaces) {
            rules.removes_extra = field.value != 0;
        }
    }
    return rules;
}

static bool put_pieces(TokenTable *t)
{
    const Source *file = job_read(t->job, t->folder, t->path, LARGEST_FILE);
    uint64_t type = SP_UNIGRAM;
    int64_t n = 0;
    ProtoField field;
    if (!file)
        return false;
    Proto model = proto_message(file->text, file->length);
    PieceRules rules = piece_rules(proto_message("", 0));
    while (proto_next(&model, &field)) {
        const Proto part = proto_message(field.bytes, field.size);
        if (field.kind != PROTO_BYTES)
            continue;
        if (field.number == SP_MODEL_pieces && !read_piece(t, n++, part))
            return false;
        if (field.number == SP_MODEL_trainer_spec)
            type = number_in(part, SP_TRAINER_model_type, type);
        if (field.number == SP_MODEL_normalizer_spec)
            rules = piece_rules(part);
    }
    if (type != SP_UNIGRAM && type != SP_BPE)
        return job_error(t->job,
                         "%s is a list of words or characters, and GGUF has no such vocabulary",
                         t->path);
    AddedTokens added;
    if (!import_added_tokens(t->job, t->folder, &added))
        return false;
    for (size_t i = 0; i < added.count; i++)
        if (added.data[i].id >= n && !set_token(t, added.data[i].id, added.data[i].text, 0,
                                                added.data[i].is_special ? SP_CONTROL : SP_USER))
            return false;
    put_table(t, type == SP_UNIGRAM ? "t5" : "llama", true);
    gguf_put_bool(t->writer, "tokenizer.ggml.add_space_prefix", rules.has_prefix);
    gguf_put_bool(t->writer, "tokenizer.ggml.remove_extra_whitespaces", rules.removes_extra);
    if (rules.n_characters)
        gguf_put_bytes(t->writer, "tokenizer.ggml.precompiled_charsmap", rules.characters,
                       rules.n_characters);
    return true;
}

/* ---- tokenizer.json ---- */

static bool is_of_type(const JsonValue *step, const char *type)
{
    const char *is = step && step->kind == JV_OBJECT ? json_member_text(step, "type") : NULL;
    return is && !strcmp(is, type);
}

static bool is_on(const JsonValue *object, const char *key, bool usual)
{
    const JsonValue *value = json_member(object, key);
    return value ? value->kind == JV_TRUE : usual;
}

/* Adds a Split's pattern. False: it has none, or there are too many. */
static bool add_pattern(const JsonValue *step, GgufCut *cut)
{
    const JsonValue *pattern = json_member(step, "pattern");
    int n = 0;
    while (n < GGUF_PATTERNS && cut->patterns[n])
        n++;
    if (n == GGUF_PATTERNS || !pattern || pattern->kind != JV_OBJECT)
        return false;
    cut->patterns[n] = json_member_text(pattern, "Regex");
    return cut->patterns[n];
}

/* How texts are cut: by ByteLevel alone, or by Splits or Digits before it. False: in another way.
 */
static bool find_steps(const JsonValue *step, GgufCut *cut)
{
    const bool is_list = is_of_type(step, "Sequence");
    const JsonValue *list = is_list ? json_member(step, "pretokenizers") : step;
    const size_t n = !is_list ? 1 : list && list->kind == JV_LIST ? list->n : 0;
    const JsonValue *steps = is_list && n ? list->items : list;
    if (!steps || n < 1 || !is_of_type(&steps[n - 1], "ByteLevel") ||
        is_on(&steps[n - 1], "add_prefix_space", false))
        return false;
    const bool cuts = is_on(&steps[n - 1], "use_regex", true);
    if (n == 2 && is_of_type(&steps[0], "Digits")) {
        cut->digits = is_on(&steps[0], "individual_digits", false);
        return cut->digits && cuts;
    }
    for (size_t i = 0; i + 1 < n; i++)
        if (!is_of_type(&steps[i], "Split") || !add_pattern(&steps[i], cut))
            return false;
    return cuts == (n == 1);
}

static bool is_same_cut(const GgufCut *a, const GgufCut *b)
{
    bool same = a->digits == b->digits && (!a->patterns[0] || a->whole == b->whole);
    for (int i = 0; same && i < GGUF_PATTERNS; i++)
        same = a->patterns[i] && b->patterns[i] ? !strcmp(a->patterns[i], b->patterns[i])
                                                : a->patterns[i] == b->patterns[i];
    return same;
}

/* Whether the normalizer is NFC, or there is none; any other is an error. */
static bool find_nfc(TokenTable *t, const JsonValue *normalizer, bool *nfc)
{
    *nfc = is_of_type(normalizer, "NFC");
    const JsonValue *list =
        is_of_type(normalizer, "Sequence") ? json_member(normalizer, "normalizers") : NULL;
    if (list && list->kind == JV_LIST && list->n <= 1)
        return !list->n || find_nfc(t, &list->items[0], nfc);
    if (*nfc || !normalizer || normalizer->kind == JV_NULL)
        return true;
    const char *type = normalizer->kind == JV_OBJECT ? json_member_text(normalizer, "type") : NULL;
    return job_error(
        t->job,
        "%s: its normalizer is '%s', and llama.cpp changes no text before it is cut: a "
        "GGUF would find other tokens",
        t->path, text_visible_name(t->job->arena, type ? type : ""));
}

/* Decomposed letters are put together (NFC) or not, by the name alone. */
static void tell_nfc(const TokenTable *t, const GgufCut *cut, bool nfc)
{
    if (nfc != cut->nfc)
        diag_warning(
            &t->job->diags, (Loc){0},
            "%s: the tokenizer %s, but readers of a GGUF whose tokenizer.ggml.pre is '%s' %s: letters whose accents are characters of their own get other tokens there",
            t->path, nfc ? "composes letters and accents (NFC)" : "leaves accents as they are",
            cut->name, cut->nfc ? "compose them (NFC)" : "leave them");
}

static bool put_cut(TokenTable *t, const JsonValue *json, bool whole)
{
    GgufCut is = {.whole = whole};
    bool nfc;
    if (!find_nfc(t, json_member(json, "normalizer"), &nfc))
        return false;
    if (find_steps(json_member(json, "pre_tokenizer"), &is))
        for (const GgufCut *cut = gguf_cuts; cut->name; cut++)
            if (is_same_cut(&is, cut)) {
                gguf_put_text(t->writer, "tokenizer.ggml.pre", cut->name);
                tell_nfc(t, cut, nfc);
                return true;
            }
    return job_error(
        t->job,
        "%s: tfc knows no tokenizer.ggml.pre of llama.cpp that cuts texts as its pre_tokenizer does (--format hf writes it as it is)%s%s",
        t->path, is.patterns[0] ? ": " : "", is.patterns[0] ? is.patterns[0] : "");
}

static bool put_merges(TokenTable *t, const JsonValue *merges)
{
    const char **texts = ARENA_ARRAY(t->job->arena, const char *, merges->n + 1);
    for (size_t i = 0; i < merges->n; i++) {
        const JsonValue *merge = &merges->items[i];
        const bool is_pair = merge->kind == JV_LIST && merge->n == 2 &&
                             merge->items[0].kind == JV_STRING && merge->items[1].kind == JV_STRING;
        if (!is_pair && merge->kind != JV_STRING)
            return job_error(t->job,
                             "%s: an entry of model.merges is neither a text nor a pair of texts",
                             t->path);
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
                       special && special->kind == JV_TRUE ? SP_CONTROL : SP_USER))
            return false;
    }
    return true;
}

static bool put_bytes_and_merges(TokenTable *t, const JsonValue *json, const JsonValue *model)
{
    const JsonValue *merges = json_member(model, "merges");
    if (!merges || merges->kind != JV_LIST || is_on(model, "byte_fallback", false))
        return job_error(
            t->job,
            "%s: its model is not byte-level BPE: a GGUF takes byte-level BPE, WordPiece, or SentencePiece (tokenizer.model)",
            t->path);
    put_table(t, "gpt2", false);
    return put_cut(t, json, is_on(model, "ignore_merges", false)) && put_merges(t, merges);
}

/* llama.cpp has "\u2581" before a piece that begins a word, and nothing before one that goes on
 * with one; it makes letters small, and knows special tokens by their brackets. */
static bool put_words(TokenTable *t, const JsonValue *json, const JsonValue *model)
{
    const char *more = json_member_text(model, "continuing_subword_prefix");
    const JsonValue *normalizer = json_member(json, "normalizer");
    if (!is_of_type(normalizer, "BertNormalizer") || !is_on(normalizer, "lowercase", true))
        return job_error(t->job,
                         "%s keeps capital letters: llama.cpp makes them small, so a GGUF would "
                         "find other tokens",
                         t->path);
    const size_t n = more ? strlen(more) : 0;
    for (int64_t i = 0; i < t->n; i++) {
        const char *text = t->texts[i];
        if (!text || t->kinds[i] != SP_NORMAL)
            continue;
        if (n && !strncmp(text, more, n) && text[n])
            t->texts[i] = text + n;
        else
            t->texts[i] = arena_printf(t->job->arena, "\xe2\x96\x81%s", text);
    }
    put_table(t, "bert", false);
    return true;
}

/* A special token of WordPiece, by the names that BERT's vocabularies have. */
static void put_word_tokens(TokenTable *t)
{
    static const char *const names[][2] = {
        {"[UNK]", "unknown_token_id"}, {"[SEP]", "seperator_token_id"},
        {"[PAD]", "padding_token_id"}, {"[CLS]", "cls_token_id"},
        {"[CLS]", "bos_token_id"},     {"[MASK]", "mask_token_id"}};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        for (int64_t i = 0; i < t->n; i++)
            if (!strcmp(t->texts[i], names[k][0]))
                gguf_put_size(t->writer,
                              arena_printf(t->job->arena, "tokenizer.ggml.%s", names[k][1]),
                              (uint32_t)i);
}

static bool put_json(TokenTable *t)
{
    const Source *file = t->json ? t->json : job_read(t->job, t->folder, t->path, LARGEST_FILE);
    const char *problem = NULL;
    const JsonValue *json =
        file ? json_read(t->job->arena, file->text, file->length, &problem) : NULL;
    if (!json)
        return file ? job_error(t->job, "%s: %s", t->path, problem ? problem : "out of memory")
                    : false;
    const JsonValue *model = json->kind == JV_OBJECT ? json_member(json, "model") : NULL;
    const JsonValue *vocab = model && model->kind == JV_OBJECT ? json_member(model, "vocab") : NULL;
    if (!vocab || vocab->kind != JV_OBJECT)
        return job_error(
            t->job,
            "%s: its vocabulary is not a map of tokens to ids: a GGUF takes byte-level BPE, WordPiece, or SentencePiece (tokenizer.model)",
            t->path);
    for (size_t i = 0; i < vocab->n; i++)
        if (vocab->items[i].kind == JV_INTEGER &&
            !set_token(t, vocab->items[i].integer, vocab->keys[i], 0, SP_NORMAL))
            return false;
    if (!set_added(t, json_member(json, "added_tokens")))
        return false;
    if (!is_of_type(model, "WordPiece"))
        return put_bytes_and_merges(t, json, model);
    if (!put_words(t, json, model))
        return false;
    put_word_tokens(t);
    return true;
}

/* ---- the folder ---- */

static void put_chat(TokenTable *t, const char *folder)
{
    const char *path = file_in(t->job->arena, folder, "tokenizer_config.json"), *problem;
    Job quiet = job_quiet(t->job, t->job->arena);
    const Source *file = file_exists(path) ? job_read(&quiet, folder, path, LARGEST_FILE) : NULL;
    const JsonValue *json =
        file ? json_read(t->job->arena, file->text, file->length, &problem) : NULL;
    const char *chat =
        json && json->kind == JV_OBJECT ? json_member_text(json, "chat_template") : NULL;
    if (chat)
        gguf_put_text(t->writer, "tokenizer.chat_template", chat);
}

static bool has_token(const TokenTable *t, const char *text)
{
    for (int64_t i = 0; i < t->n; i++)
        if (t->texts[i] && !strcmp(t->texts[i], text))
            return true;
    return false;
}

/* llama.cpp does not open a model whose name says Phi-3 without these tokens (llama-vocab.cpp). */
static void put_name(const TokenTable *t, const char *name)
{
    static const char *const tokens[] = {"<unk>", "<s>", "</s>", "<|endoftext|>"};
    bool is_phi = true;
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++)
        is_phi = is_phi && has_token(t, tokens[i]);
    bool says_phi = false;
    for (const char *at = name; *at && !says_phi; at++)
        says_phi = !strncasecmp(at, "phi3", 4) || !strncasecmp(at, "phi-3", 5);
    gguf_put_text(t->writer, "general.name", says_phi && !is_phi ? "model" : name);
}

/* Of older lists of tokens. */
static bool put_lists(TokenTable *t, const ImportConfig *config)
{
    AddedTokens added;
    size_t length;
    const char *bytes = import_added_tokens(t->job, t->folder, &added)
                            ? import_token_lists(t->job, t->folder, config, &added, &length)
                            : NULL;
    t->path = t->folder;
    t->json = bytes ? diag_source(t->job->arena, t->folder, bytes, length) : NULL;
    return t->json && put_json(t);
}

bool gguf_put_tokenizer(Job *job, const char *folder, const ImportConfig *config, const char *name,
                        int64_t vocab, GgufWriter *writer)
{
    static const struct {
        const char *name;
        bool (*put)(TokenTable *t);
    } kinds[] = {{"tokenizer.model", put_pieces},
                 {"spiece.model", put_pieces},
                 {"tokenizer.json", put_json}};
    TokenTable t = {.job = job, .writer = writer, .folder = folder};
    table_init(&t, vocab);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        t.path = file_in(job->arena, folder, kinds[i].name);
        if (!file_exists(t.path))
            continue;
        put_chat(&t, folder);
        const bool ok = kinds[i].put(&t);
        put_name(&t, name);
        return ok;
    }
    if (import_token_lists_are(job, folder)) {
        put_chat(&t, folder);
        const bool ok = put_lists(&t, config);
        put_name(&t, name);
        return ok;
    }
    return job_error(
        job, "%s has no tokenizer.model and no tokenizer.json: a GGUF has one of these", folder);
}
