/* Whether the published files say the run's rules of tokens, and where they can. */
#include "driver/exchange/import_text.h"
#include "driver/exchange/import_tokenizer.h"
#include "driver/exchange/revise_parts.h"
#include "driver/exchange/revise_template.h"

#include "base/file.h"
#include "runtime/data/token_rules.h"

#include <string.h>

static const char settings_file[] = "tokenizer_config.json";

/* ---- rules that the files say ---- */

/* NULL after an error. */
static Vocabulary *read_published(Revise *r)
{
    Job *job = &r->quiet;
    const ModelPorts ports = ports_of(r->is->module);
    TextList size = {0}, tokens = {0}, text = {0};
    Vocabulary *vocab = import_tokenizer(job, r->folder, r->folder, &r->config);
    const bool ok = vocab && import_config_rows(job, &r->config, vocab, &size) &&
                    token_rules_set(vocab, &job->diags, size.data, size.count) &&
                    import_config_tokens(job, &r->config, vocab, &tokens) &&
                    token_rules_set(vocab, &job->diags, tokens.data, tokens.count) &&
                    import_text_rule(job, r->folder, &r->config, &ports, vocab, &text) &&
                    token_rules_set(vocab, &job->diags, text.data, text.count);
    if (!ok)
        return NULL;
    vocab_set_stream(vocab, r->record.kind == CORPUS_STREAM);
    return vocab;
}

/* ---- where they are said ---- */

/* An id of config.json and generation_config.json: in each file that says it, else in config.json,
 * or where generate() of transformers asks first. -1: null. */
static void set_id(Revise *r, const char *key, int32_t id)
{
    const PublishedToken *token = published_token(key);
    const JsonValue value = id < 0 ? (JsonValue){.kind = JV_NULL} : json_of_integer(id);
    const bool trained = json_member(r->config.json, key) != NULL;
    const bool decoded = r->config.generation && json_member(r->config.generation, key);
    if (trained || !r->config.generation || !token || !token->is_decoded)
        revise_set(r, PUBLISHED_CONFIG, key, value);
    if (decoded || (r->config.generation && token && token->is_decoded))
        revise_set(r, PUBLISHED_GENERATION, key, value);
}

/* The key of the model's rule; NULL: its files do not say it. */
static const char *find_key(const Revise *r, const char *rule)
{
    for (const ImportRow *row = r->config.model->rows; row->key; row++)
        if (row->kind == IMPORT_TOKEN && !strcmp(row->to, rule))
            return row->key;
    return NULL;
}

void revise_make_generation(Revise *r)
{
    for (const PublishedToken *token = published_tokens; token->key && !r->config.generation;
         token++) {
        const JsonValue *value = json_member(r->config.json, token->key);
        if (value)
            revise_set(r, PUBLISHED_GENERATION, token->key, *value);
    }
}

/* Each once. */
static void add_end(Revise *r, JsonValue *list, int32_t id)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (list->items[i].integer == id)
            return;
    json_edit_insert(r->job->arena, list, list->n, json_of_integer(id));
}

/* The ends of what is generated: of a translation the end token, too. One is a number, several are
 * a list. */
static JsonValue list_ends(Revise *r, const TokenRules *rules, bool is_pair)
{
    JsonValue list = {.kind = JV_LIST};
    if (is_pair)
        add_end(r, &list, rules->end);
    for (int32_t i = 0; i < rules->text.n_stops; i++)
        add_end(r, &list, rules->text.stops[i]);
    return list.n == 1 ? list.items[0] : list.n ? list : (JsonValue){.kind = JV_NULL};
}

static void set_ends(Revise *r, const TokenRules *rules)
{
    const ModelPorts ports = ports_of(r->is->module);
    revise_make_generation(r);
    revise_set(r, PUBLISHED_GENERATION, published_ends.key,
               list_ends(r, rules, ports.source && ports.target));
}

/* The `end` of targets or texts: the first of config.json, whose others stay. */
static void set_end(Revise *r, int32_t id)
{
    const JsonValue *said = json_member(r->config.json, published_ends.key);
    JsonValue value = id < 0 ? (JsonValue){.kind = JV_NULL} : json_of_integer(id);
    if (said && said->kind == JV_LIST && said->n && id >= 0) {
        JsonValue list = {.kind = JV_LIST};
        json_edit_insert(r->job->arena, &list, 0, value);
        for (uint32_t i = 0; i < said->n; i++)
            if (said->items[i].integer != id)
                json_edit_insert(r->job->arena, &list, list.n, said->items[i]);
        value = list;
    }
    revise_set(r, PUBLISHED_CONFIG, published_ends.key, value);
}

/* A language by its token: "de_DE", or "de" of "__de__". */
static void set_language(Revise *r, const char *key, int32_t id)
{
    const JsonValue *json = revise_read(r, settings_file, false);
    const char *said = json ? json_member_text(json, key) : NULL;
    const char *text = id < 0 ? "" : vocab_token(r->vocab, id);
    const size_t length = strlen(text);
    if (!said || !length)
        return;
    const bool is_framed = vocab_find(r->vocab, said) < 0 && length > 4 &&
                           !strncmp(text, "__", 2) && !strcmp(text + length - 2, "__");
    revise_set(r, settings_file, key,
               json_of_text(is_framed ? arena_strndup(r->job->arena, text + 2, length - 4) : text));
}

/* A token beside a text: in the template of tokenizer.json, and by the flag where the file has it;
 * of a SentencePiece model by the flag alone. */
static void set_frame(Revise *r, bool is_end, int32_t id)
{
    const PublishedToken *token = published_token(is_end ? "eos_token_id" : "bos_token_id");
    const char *flag = token->frame;
    const JsonValue *settings = revise_read(r, settings_file, false);
    const bool is_json = vocab_kind(r->vocab) == VOCAB_JSON;
    if (is_json)
        revise_template(r, is_end, id);
    if (is_json && !(settings && json_member(settings, flag)))
        return;
    revise_set(r, settings_file, flag, json_of_truth(id >= 0));
    if (id >= 0)
        revise_set(r, settings_file, token->text, json_of_text(vocab_token(r->vocab, id)));
}

static void set_source(Revise *r, bool is_end, int32_t id)
{
    if (vocab_kind(r->vocab) == VOCAB_JSON)
        revise_template(r, is_end, id);
    if (!is_end)
        set_language(r, "src_lang", id);
}

/* ---- the comparison ---- */

static const char *token_text(Revise *r, int32_t id)
{
    return id < 0 ? "none" : arena_printf(r->job->arena, "'%s'", vocab_token(r->vocab, id));
}

static void compare_id(Revise *r, const char *rule, int32_t is, int32_t published)
{
    const char *key = find_key(r, rule);
    if (is == published)
        return;
    revise_differs(r, arena_printf(r->job->arena, "its token %s", rule), token_text(r, is),
                   token_text(r, published));
    if (!strcmp(rule, "text-begin") || !strcmp(rule, "text-end"))
        set_frame(r, !strcmp(rule, "text-end"), is);
    else if (!strncmp(rule, "source-", strlen("source-")))
        set_source(r, !strcmp(rule, "source-end"), is);
    else if (key && !strcmp(key, published_ends.key))
        set_end(r, is);
    else if (key)
        set_id(r, key, is);
    if (!strcmp(rule, "first"))
        set_language(r, "tgt_lang", is);
}

static bool has_stop(const TextRule *text, int32_t id)
{
    for (int32_t i = 0; i < text->n_stops; i++)
        if (text->stops[i] == id)
            return true;
    return false;
}

static bool has_stops(const TextRule *text, const TextRule *of)
{
    for (int32_t i = 0; i < of->n_stops; i++)
        if (!has_stop(text, of->stops[i]))
            return false;
    return true;
}

static const char *stops_text(Revise *r, const TextRule *text)
{
    const char *all = text->n_stops ? "" : "none";
    for (int32_t i = 0; i < text->n_stops; i++)
        all =
            arena_printf(r->job->arena, "%s%s%s", all, i ? " " : "", token_text(r, text->stops[i]));
    return all;
}

static void compare_stops(Revise *r, const TokenRules *is, const TokenRules *published)
{
    if (has_stops(&is->text, &published->text) && has_stops(&published->text, &is->text))
        return;
    revise_differs(r, "its token stop", stops_text(r, &is->text), stops_text(r, &published->text));
    set_ends(r, is);
}

bool revise_tokens(Revise *r)
{
    const ModelPorts ports = ports_of(r->is->module);
    const Vocabulary *read = read_published(r);
    if (!read) { /* once more, for its messages */
        r->quiet = *r->job;
        read_published(r);
        r->job->diags = r->quiet.diags;
        return r->job->diags.errors == 0;
    }
    const TokenRules *is = vocab_rules(r->vocab), *published = vocab_rules(read);
    const bool is_pair = ports.source && ports.target, is_text = !is_pair && ports.target;
    compare_id(r, "begin", is->begin, published->begin);
    compare_id(r, "end", is->end, published->end);
    compare_id(r, "pad", is->pad, published->pad);
    compare_id(r, "unk", is->unk, published->unk);
    compare_id(r, "mask", is->mask, published->mask);
    if (is_pair)
        compare_id(r, "first", is->first, published->first);
    if (is_pair || ports.is_table) {
        compare_id(r, "source-begin", is->source_begin, published->source_begin);
        compare_id(r, "source-end", is->source_end, published->source_end);
    }
    if (is_text && !ports.is_table) {
        compare_id(r, "text-begin", is->text.begin, published->text.begin);
        compare_id(r, "text-end", is->text.end, published->text.end);
        if (is->said & SAID_NEWLINE) /* else it follows from how the run's texts were read */
            compare_id(r, "newline", is->text.newline, published->text.newline);
    }
    if (is_pair || is_text)
        compare_stops(r, is, published);
    return true;
}
