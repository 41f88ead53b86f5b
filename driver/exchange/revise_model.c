/* Whether the published files mean the run's model: import's text of them is read as a model, and
 * its function compared with the run's. */
#include "driver/exchange/import_json.h"
#include "driver/exchange/import_ranges.h"
#include "driver/exchange/revise_parts.h"

#include "base/file.h"
#include "base/portable_math.h"
#include "ir/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what a model computes ---- */

/* Of all text that differs between two models, what the one function computes: its params and ops,
 * and the longest text. NULL: the model has no such function. */
static const char *describe_function(Revise *r, const Model *model)
{
    Session session = {.job = &r->quiet, .options = session_defaults(""), .model = (Model *)model};
    const Function *forward = session_function(&session, "forward");
    if (!forward)
        return NULL;
    Text text = {0};
    for (size_t i = 0; i < model->module->params.count; i++) {
        const ParamInfo *info = model->module->params.data[i];
        text_add(&text, "%s %s\n", info->name,
                 ir_type_text(model->module, &info->type, r->quiet.arena));
    }
    ir_print_function(forward, &text);
    text_add(&text, "longest %lld\n", (long long)session_max_length(&session));
    return text_keep(r->quiet.arena, &text);
}

/* ---- the model that the files mean ---- */

/* "const NAME = VALUE" of each line, as settings. */
static TextList settings_of(Arena *arena, const char *lines)
{
    static const char front[] = "const ", equals[] = " = ";
    TextList settings = {0};
    for (const char *at = lines; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        const size_t length = strcspn(at, "\n");
        const char *line = arena_strndup(arena, at, length);
        const char *value = strstr(line, equals);
        if (!strncmp(line, front, strlen(front)) && value)
            vec_push(arena, settings,
                     arena_printf(arena, "%.*s=%s", (int)(value - line - (long)strlen(front)),
                                  line + strlen(front), value + strlen(equals)));
    }
    return settings;
}

/* The run's own text with other consts; NULL after an error. */
static const Model *read_changed(Revise *r, const TextList *settings)
{
    Session session;
    SessionOptions options = r->options->model->options;
    options.run = NULL;
    revise_quiet(r);
    for (size_t i = 0; i < settings->count; i++)
        vec_push(r->quiet.arena, options.settings, settings->data[i]);
    return session_open(&session, &r->quiet, &options) ? session.model : NULL;
}

/* Where the file that import's text uses lies: with the library of this program; of a run that
 * another version made, with its own, which may say the same in another way. */
static const char *find_models(Revise *r)
{
    Arena *arena = r->quiet.arena;
    const bool is_own = r->record.version && !strcmp(r->record.version, TFC_VERSION);
    for (size_t i = 0; !is_own && i < r->is->files.count; i++)
        if (!strcmp(file_name(r->is->files.data[i]->path), r->config.model->files[0]))
            return file_folder(arena, r->is->files.data[i]->path);
    const char *library = frontend_library(arena, NULL);
    return library ? file_in(arena, library, "..") : "models";
}

/* LLaMA's long texts have factors of their own (longrope): the files have both, and the run says
 * which it computes with. */
static bool takes_long_factors(const Revise *r, const char *lines)
{
    const char *longest = revise_const(r->is, "longest"), *most = revise_const(r->is, "context");
    return strstr(lines, "const longest = rope_context\n") && longest && most &&
           !strcmp(longest, most);
}

static const Model *parse_reference(Revise *r, const char *lines)
{
    Arena *arena = r->quiet.arena;
    revise_quiet(r);
    const char *path = file_in(arena, find_models(r), "published.tfg");
    const char *text =
        arena_printf(arena, "model published\nuse \"%s\"\n\n%s", r->config.model->files[0], lines);
    const Setting longest = {"longest", "context"};
    const FrontendOptions options = {.float_type = DT_F32,
                                     .reach = FILE_ANYWHERE,
                                     .is_trained = true,
                                     .settings = &longest,
                                     .n_settings = takes_long_factors(r, lines)};
    return model_parse(arena, &r->quiet.diags, diag_source(arena, path, text, strlen(text)),
                       &options);
}

/* The text that import makes of the files; NULL after an error. */
static const char *import_lines(Revise *r)
{
    Text lines = {0};
    if (!import_config_model(&r->quiet, r->folder, &r->config, r->vocab, &lines) &&
        !import_config_model(r->job, r->folder, &r->config, r->vocab, &lines)) {
        text_free(&lines);
        return NULL;
    }
    return text_keep(r->quiet.arena, &lines);
}

/* NULL after an error. */
static const Model *read_reference(Revise *r, const char *lines)
{
    const TextList settings = settings_of(r->quiet.arena, lines);
    const Model *model =
        r->options->merges ? read_changed(r, &settings) : parse_reference(r, lines);
    if (!model)
        job_error(r->job, "%s: the model that the published files mean cannot be read: %s", r->run,
                  r->quiet.diags.list.count ? r->quiet.diags.list.data[0].message : "");
    return model;
}

/* ---- where a value is said ---- */

/* Whether another const has the key: its value is not this one's to change. */
static bool is_of_other(const ImportConfig *config, const char *key, const char *name)
{
    for (const ImportRow *row = config->model->rows; row->key; row++)
        if (row->kind == IMPORT_CONST && !strcmp(row->key, key) && strcmp(row->to, name) != 0)
            return true;
    return false;
}

static bool has_parent(Revise *r, const char *key)
{
    const char *point = strrchr(key, '.');
    const JsonValue *parent =
        point ? import_config_member(&r->quiet, r->config.json,
                                     arena_strndup(r->quiet.arena, key, (size_t)(point - key)))
              : r->config.json;
    return parent && parent->kind == JV_OBJECT;
}

/* The key to write a row's value under: of all keys that may stand for it (ImportRow.absent), the
 * one that the file has, else the last whose object it has, else the second, which all versions of
 * transformers read. */
static const char *choose_key(Revise *r, const ImportRow *row, const char *name)
{
    enum { MOST = 8 };
    const char *keys[MOST], *key = row->key, *last = NULL;
    int n = 0;
    for (const ImportRow *next = row; next && n < MOST && !is_of_other(&r->config, key, name);
         next = import_config_row(&r->config, key)) {
        keys[n++] = key;
        if (!next->absent || *next->absent != '=')
            break;
        key = next->absent + 1;
    }
    for (int i = 0; i < n; i++) {
        if (import_config_member(&r->quiet, r->config.json, keys[i]))
            return keys[i];
        last = has_parent(r, keys[i]) ? keys[i] : last;
    }
    return last ? last : n > 1 ? keys[1] : row->key;
}

/* The number that, with what the row puts behind it (" + 1", " / 2", " ^ -0.5"), is the const's. */
static double before_value(const ImportRow *row, double number)
{
    const char *at = row->value ? row->value + 1 : "";
    const double by = *at ? strtod(at + 1, NULL) : 0;
    const double x = *at == '+'   ? number - by
                     : *at == '/' ? number * by
                     : *at == '^' ? portable_pow(number, 1 / by)
                                  : number;
    const double whole = nearbyint(x);
    return fabs(x - whole) <= 1e-9 * fabs(x) ? whole : x;
}

/* Whether 0 says that there is none, for which config.json has null: a window is one of these by
 * its range. */
static bool is_none(const char *name, const JsonValue *value)
{
    static const char names[] = " score_cap logit_cap rope_scale ";
    const char *at = strstr(names, name);
    return at && at[-1] == ' ' && at[strlen(name)] == ' ' && import_json_is_number(value) &&
           value->number == 0;
}

static JsonValue value_of(Revise *r, const ImportRow *row, const char *text)
{
    const JsonValue *value = import_json_parse(&r->quiet, text);
    const char *expected;
    if (!value)
        return (JsonValue){.kind = JV_NULL};
    JsonValue is = *value;
    if (import_json_is_number(value)) {
        const double x = before_value(row, value->number);
        const bool is_whole = x == nearbyint(x) && fabs(x) < 1e15;
        is = is_whole ? json_of_integer((int64_t)x) : (JsonValue){.kind = JV_NUMBER, .number = x};
    }
    if (is_none(row->to, &is) ||
        (import_range_is_known(row->to) && !import_range_has(row->to, &is, &expected)))
        is = (JsonValue){.kind = JV_NULL};
    return is;
}

/* A word for each layer. */
static void set_layers(Revise *r, const ImportRow *row, const char *text)
{
    const char *layers = revise_const(r->is, "layers"), *how = row->value ? row->value : "";
    const int64_t n = layers ? strtoll(layers, NULL, 10) : 0, each = strtoll(text, NULL, 10);
    const bool is_word = strcmp(row->key, "no_rope_layers") != 0;
    JsonValue list = {.kind = JV_LIST};
    for (int64_t i = 0; i < n && n <= 10000; i++) {
        const bool other = !strcmp(how, "from")    ? i < each
                           : !strcmp(how, "first") ? each && i % each == 0
                                                   : each && (i + 1) % each == 0;
        json_edit_insert(r->job->arena, &list, list.n,
                         is_word ? json_of_text(other ? "full_attention" : "sliding_attention")
                                 : json_of_integer(!other));
    }
    revise_set(r, PUBLISHED_CONFIG, row->key, list);
}

static void set_row(Revise *r, const ImportRow *row, const char *text)
{
    const JsonValue *flag = row->kind == IMPORT_FLAG && !strcmp(text, "true")
                                ? import_json_parse(&r->quiet, row->value)
                                : NULL;
    if (row->kind == IMPORT_LAYERS)
        set_layers(r, row, text);
    else if (row->kind == IMPORT_FLAG)
        revise_set(r, PUBLISHED_CONFIG, row->key, flag ? *flag : (JsonValue){.kind = JV_NULL});
    else if (row->kind == IMPORT_CONST)
        revise_set(r, PUBLISHED_CONFIG, choose_key(r, row, row->to), value_of(r, row, text));
}

static void set_const(Revise *r, const char *name, const char *text)
{
    for (const ImportRow *row = r->config.model->rows; row->key; row++)
        if (import_row_has_key(row) && row->to && !strcmp(row->to, name) &&
            row->kind != IMPORT_TOKEN) {
            set_row(r, row, text);
            return;
        }
    if (r->config.model->gives == GIVES_VECTORS)
        revise_sentences(r, name, text);
    else if (r->config.model->pairs)
        revise_pairs(r, name, text);
}

/* ---- the comparison ---- */

/* Whether the run computes something else with the published value. */
static bool counts_in(Revise *r, const char *is, const ModelConst *published)
{
    TextList settings = {0};
    vec_push(r->quiet.arena, settings,
             arena_printf(r->quiet.arena, "%s=%s", published->name, published->value));
    const Model *model = read_changed(r, &settings);
    const char *other = model ? describe_function(r, model) : NULL;
    return !other || strcmp(is, other) != 0;
}

/* Whether published files say the const; others follow from these in the library's text. */
static bool is_said(const Revise *r, const char *name)
{
    for (const ImportRow *row = r->config.model->rows; row->key; row++)
        if (row->kind != IMPORT_TOKEN && row->to && !strcmp(row->to, name))
            return true;
    return r->config.model->gives == GIVES_VECTORS
               ? revise_sentences_say(name)
               : r->config.model->pairs && revise_pairs_say(name);
}

/* `said`: those that files say; else all others. */
static void compare_consts(Revise *r, const Model *reference, const char *function, bool said)
{
    for (size_t i = 0; i < reference->consts.count; i++) {
        const ModelConst *published = &reference->consts.data[i];
        const char *is = revise_const(r->is, published->name);
        if (!is || !strcmp(is, published->value) || is_said(r, published->name) != said ||
            !counts_in(r, function, published))
            continue;
        revise_differs(r, published->name, is, published->value);
        set_const(r, published->name, is);
    }
}

/* Whether the run computes what the files mean, but for another activation, which is then set. */
static bool find_activation(Revise *r, const char *lines, const char *function)
{
    static const char front[] = "block activation(x) { return ";
    Arena *arena = r->quiet.arena;
    const ImportRow *row = r->config.model->rows;
    const char *block = strstr(lines, front), *tail = block ? strchr(block, '}') : NULL;
    while (row->key && row->kind != IMPORT_ACTIVATION)
        row++;
    for (const ImportActivation *as = import_activations; tail && row->key && as->theirs; as++) {
        const char *text =
            arena_printf(arena, "%.*s%s%s %s", (int)(block - lines), lines, front, as->ours, tail);
        const Model *model = parse_reference(r, text);
        const char *other = model ? describe_function(r, model) : NULL;
        if (!other || strcmp(other, function) != 0)
            continue;
        revise_differs(r, "its activation", as->theirs, "another");
        revise_set(r, PUBLISHED_CONFIG, choose_key(r, row, ""), json_of_text(as->theirs));
        return true;
    }
    return false;
}

static bool compare_functions(Revise *r, const char *lines)
{
    const Model *reference = read_reference(r, lines);
    const char *is = describe_function(r, r->is);
    const char *published = reference ? describe_function(r, reference) : NULL;
    if (!reference)
        return false;
    if (!is || !published || !strcmp(is, published))
        return true;
    compare_consts(r, reference, is, true);
    if (!r->differs.count)
        compare_consts(r, reference, is, false);
    if (!r->differs.count && !find_activation(r, lines, is))
        revise_differs(
            r, "a block or a statement of its model.tfg", "its own",
            arena_printf(r->quiet.arena, "that of models/%s", r->config.model->files[0]));
    return true;
}

bool revise_model(Revise *r)
{
    const char *lines = import_lines(r);
    return lines && compare_functions(r, lines);
}
