/* The published rule of texts, from the files that say parts of it. */
#include "driver/exchange/import_text.h"

#include "driver/exchange/import_added_tokens.h"
#include "driver/exchange/import_json.h"
#include "runtime/data/token_rules.h"

#include <string.h>

/* id -1: none. */
static void add_rule(Job *job, const char *rule, const Vocabulary *vocab, int64_t id,
                     TextList *tokens)
{
    vec_push(job->arena, *tokens, token_rule_text(job->arena, vocab, rule, (int32_t)id));
}

static bool check_id(Job *job, const char *file, const JsonValue *id, const Vocabulary *vocab)
{
    return id->kind == JV_INTEGER ||
           job_error(job, "%s: \"%s\" names no token of the vocabulary, which has %d", file,
                     published_ends.key, (int)vocab_size(vocab));
}

/* One id or a list of them; absent and null are none, as is an id that the vocabulary does not
 * have: of the first one import_config_tokens warns. */
static bool add_stops(Job *job, const char *file, const JsonValue *ids, const Vocabulary *vocab,
                      TextList *tokens)
{
    bool is_list = ids && ids->kind == JV_LIST;
    size_t n = !ids || ids->kind == JV_NULL ? 0 : is_list ? ids->n : 1, added = 0;
    for (size_t i = 0; i < n; i++) {
        const JsonValue *id = is_list ? &ids->items[i] : ids;
        if (!check_id(job, file, id, vocab))
            return false;
        if (import_config_has_token(vocab, id->integer))
            add_rule(job, "stop", vocab, id->integer, tokens);
        added += import_config_has_token(vocab, id->integer);
        if (i && !import_config_has_token(vocab, id->integer))
            diag_warning(&job->diags, (Loc){0},
                         "%s: \"%s\" has %lld, but the vocabulary has %d tokens: it names none",
                         file, published_ends.key, (long long)id->integer, (int)vocab_size(vocab));
    }
    if (!added)
        add_rule(job, "stop", vocab, -1, tokens);
    return true;
}

static bool put_stops(Job *job, const ImportConfig *config, const Vocabulary *vocab,
                      TextList *tokens)
{
    const char *file;
    const JsonValue *ids = import_config_token(job, config, &published_ends, &file);
    return add_stops(job, file, ids, vocab, tokens);
}

static bool is_one(const JsonValue *id, int32_t token)
{
    return id->kind == JV_INTEGER && id->integer == token;
}

/* Of translations: nothing, where the end token of targets is the only one. */
static bool put_ends(Job *job, const ImportConfig *config, const Vocabulary *vocab,
                     TextList *tokens)
{
    const char *file;
    const JsonValue *ids = import_config_token(job, config, &published_ends, &file);
    if (!ids || ids->kind == JV_NULL)
        return true;
    const int32_t end = vocab_rules(vocab)->end;
    bool is_other = ids->kind != JV_LIST && !is_one(ids, end);
    for (size_t i = 0; ids->kind == JV_LIST && i < ids->n; i++)
        is_other = is_other || !is_one(&ids->items[i], end);
    return !is_other || add_stops(job, file, ids, vocab, tokens);
}

/* What tokenizer_config.json says of a key: true, false or null, which is neither; *said NULL:
 * nothing. */
static bool find_flag(Job *job, const JsonValue *json, const char *key, const JsonValue **said)
{
    *said = json ? json_member(json, key) : NULL;
    return !*said || (*said)->kind == JV_TRUE || (*said)->kind == JV_FALSE ||
           (*said)->kind == JV_NULL ||
           job_error(job, "tokenizer_config.json: \"%s\": expected true or false", key);
}

/* What tokenizer_config.json says of one side of a text: whether a token stands there (find_flag),
 * and which. */
typedef struct TextSide {
    const JsonValue *said;
    int64_t token; /* -1: none */
} TextSide;

/* The token is the one that tokenizer_config.json names, as in transformers' classes, or `usual`,
 * the tokenizer's own. False after an error. */
static bool find_side(Job *job, const JsonValue *json, const PublishedToken *published,
                      const Vocabulary *vocab, int64_t usual, TextSide *side)
{
    const char *text = import_token_of_key(json, published->text);
    const int32_t named = text && *text ? vocab_find(vocab, text) : -1;
    side->token = named >= 0 ? named : usual;
    if (text && *text && named < 0)
        diag_warning(&job->diags, (Loc){0},
                     TOKENIZER_SETTINGS ": \"%s\" is '%s', which is no token of the tokenizer: it "
                                        "is left unread",
                     published->text, text_visible_name(job->arena, text));
    return find_flag(job, json, published->frame, &side->said);
}

/* The token on one side of a text, -1: none; `ids`: those of a template. */
static int64_t framing(Job *job, const Vocabulary *vocab, const PublishedToken *published,
                       const TextSide *side, const int32_t *ids, int32_t n)
{
    const bool is_said = side->said && side->said->kind == JV_TRUE;
    if (side->said && side->said->kind == JV_FALSE)
        return -1;
    if (n && is_said && side->token >= 0 && side->token != *ids)
        diag_warning(&job->diags, (Loc){0},
                     TOKENIZER_SETTINGS ": \"%s\" is '%s', and the template of tokenizer.json has "
                                        "'%s': tokenizer.json is taken; transformers may take the "
                                        "other",
                     published->text,
                     text_visible_name(job->arena, vocab_token(vocab, (int32_t)side->token)),
                     text_visible_name(job->arena, vocab_token(vocab, *ids)));
    return n ? *ids : is_said ? side->token : -1;
}

static bool is_stop(const char *rule) { return !strncmp(rule, "stop=", 5); }

TextList import_text_rules(Arena *arena, const TextList *read, const TextList *said)
{
    TextList rules = {0};
    bool has_stop = false;
    for (size_t i = 0; i < said->count; i++)
        has_stop = has_stop || is_stop(said->data[i]);
    for (size_t i = 0; i < read->count; i++)
        if (!has_stop || !is_stop(read->data[i]))
            vec_push(arena, rules, read->data[i]);
    for (size_t i = 0; i < said->count; i++)
        vec_push(arena, rules, said->data[i]);
    return rules;
}

/* Texts that are too long lose their ends. */
static bool warn_of_truncation(Job *job, const char *folder)
{
    const JsonValue *json, *side;
    if (!import_json_read(job, folder, "tokenizer_config.json", JV_OBJECT, &json))
        return false;
    side = json ? json_member(json, "truncation_side") : NULL;
    if (side && side->kind == JV_STRING && !strcmp(side->text, "left"))
        diag_warning(&job->diags, (Loc){0},
                     "%s/tokenizer_config.json: \"truncation_side\" is \"left\", and is left out: "
                     "texts that are too long lose their end here, not their beginning",
                     folder);
    return true;
}

/* At most a token on each side. False after an error. */
static bool find_frame(Job *job, const char *folder, const Vocabulary *vocab, TokenizerFrame *frame)
{
    *frame = vocab_frame(vocab);
    if (!warn_of_truncation(job, folder))
        return false;
    return (frame->n_before <= 1 && frame->n_after <= 1) ||
           job_error(
               job,
               "%s/tokenizer.json: its template stands %d tokens before and %d behind a text; "
               "one on each side is read",
               folder, (int)frame->n_before, (int)frame->n_after);
}

bool import_text_frame(Job *job, const char *folder, const Vocabulary *vocab, TextList *tokens)
{
    TokenizerFrame frame;
    const TokenRules *rules = vocab_rules(vocab);
    if (!find_frame(job, folder, vocab, &frame))
        return false;
    const bool has_template = vocab_kind(vocab) == VOCAB_JSON; /* which may put nothing there */
    const int64_t begin = has_template ? -1 : rules->begin, end = has_template ? -1 : rules->end;
    add_rule(job, "source-begin", vocab, frame.n_before ? *frame.before : begin, tokens);
    add_rule(job, "source-end", vocab, frame.n_after ? *frame.after : end, tokens);
    return true;
}

bool import_text_source(Job *job, const char *folder, const ImportConfig *config,
                        const Vocabulary *vocab, TextList *tokens)
{
    const JsonValue *json;
    TokenizerFrame frame;
    TextSide end;
    const int32_t usual = vocab_rules(vocab)->end;
    if (!find_frame(job, folder, vocab, &frame) ||
        !import_json_read(job, folder, TOKENIZER_SETTINGS, JV_OBJECT, &json) ||
        !find_side(job, json, published_token("eos_token_id"), vocab, usual, &end))
        return false;
    if (frame.n_before)
        add_rule(job, "source-begin", vocab, *frame.before, tokens);
    if (vocab_kind(vocab) == VOCAB_SENTENCEPIECE && end.token != usual)
        add_rule(job, "source-end", vocab, end.token, tokens);
    return put_ends(job, config, vocab, tokens);
}

bool import_text_tokens(Job *job, const char *folder, const ImportConfig *config,
                        const Vocabulary *vocab, TextList *tokens)
{
    const PublishedToken *bos = published_token("bos_token_id"),
                         *eos = published_token("eos_token_id");
    const TokenRules *rules = vocab_rules(vocab);
    const JsonValue *json;
    TextSide begin, end;
    TokenizerFrame frame;
    if (!import_json_read(job, folder, TOKENIZER_SETTINGS, JV_OBJECT, &json) ||
        !find_side(job, json, bos, vocab, rules->begin, &begin) ||
        !find_side(job, json, eos, vocab, rules->end, &end) ||
        !find_frame(job, folder, vocab, &frame))
        return false;
    int64_t before = framing(job, vocab, bos, &begin, frame.before, frame.n_before);
    /* A SentencePiece model has no template: models that come with one alone are LLaMA's and begin
     * so. */
    if (vocab_kind(vocab) == VOCAB_SENTENCEPIECE && !begin.said)
        before = begin.token;
    add_rule(job, "text-begin", vocab, before, tokens);
    add_rule(job, "text-end", vocab, framing(job, vocab, eos, &end, frame.after, frame.n_after),
             tokens);
    add_rule(job, "newline", vocab, -1, tokens);
    return put_stops(job, config, vocab, tokens);
}

bool import_text_rule(Job *job, const char *folder, const ImportConfig *config,
                      const ModelPorts *ports, const Vocabulary *vocab, TextList *tokens)
{
    if (ports->is_table)
        return import_text_frame(job, folder, vocab, tokens);
    if (ports->source)
        return import_text_source(job, folder, config, vocab, tokens);
    return !ports->target || import_text_tokens(job, folder, config, vocab, tokens);
}
