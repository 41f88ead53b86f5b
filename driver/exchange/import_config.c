/* Values of a config.json, present or meant, and what they come to. */
#include "driver/exchange/import_config.h"

#include "base/file.h"
#include "driver/exchange/import_keys.h"
#include "driver/exchange/import_labels.h"
#include "driver/exchange/import_ranges.h"
#include "driver/exchange/import_sentences.h"
#include "driver/formats/folder_files.h"
#include "driver/formats/formats.h"
#include "runtime/data/token_rules.h"

#include <inttypes.h>
#include <string.h>

enum { LARGEST_CONFIG = 1 << 20 };
static const double LEAST_FACTOR = 1e-3;

static bool refuse(Job *job, const ImportConfig *config, const char *text)
{
    diag_error(&job->diags, (Loc){.source = config->source}, "%s", text);
    return false;
}

/* ---- values ---- */

static const ImportRow *find_row(const ImportConfig *config, const char *key)
{
    const ImportRow *row = config->model->rows;
    while (row->key && (!import_row_has_key(row) || strcmp(row->key, key)))
        row++;
    return row->key ? row : NULL;
}

static const JsonValue *parse(Job *job, const char *text)
{
    const char *problem;
    return json_read(job->arena, text, strlen(text), &problem);
}

/* The member "key", or "object.key", and so on. */
static const JsonValue *member(Job *job, const JsonValue *json, const char *key)
{
    const char *point = strchr(key, '.');
    if (!point)
        return json_member(json, key);
    json = json_member(json, arena_strndup(job->arena, key, (size_t)(point - key)));
    return json ? member(job, json, point + 1) : NULL;
}

const JsonValue *import_config_value(Job *job, const ImportConfig *config, const char *key)
{
    const JsonValue *value = member(job, config->json, key);
    const ImportRow *row = find_row(config, key);
    const bool other = row && row->absent && *row->absent == '=';
    if ((!value && row && row->absent) || (other && value->kind == JV_NULL))
        value = *row->absent == '=' ? import_config_value(job, config, row->absent + 1)
                                    : parse(job, row->absent);
    const bool is_first = row && row->kind == IMPORT_TOKEN; /* of a list of ends */
    return is_first && value && value->kind == JV_LIST && value->n ? &value->items[0] : value;
}

/* The key that the value stands under. */
static const char *spoken_key(Job *job, const ImportConfig *config, const char *key)
{
    const ImportRow *row = member(job, config->json, key) ? NULL : find_row(config, key);
    bool other = row && row->absent && *row->absent == '=';
    return other ? spoken_key(job, config, row->absent + 1) : key;
}

static void put_value(const JsonValue *value, Text *text)
{
    switch (value->kind) {
    case JV_NULL: text_string(text, "null"); break;
    case JV_FALSE: text_string(text, "false"); break;
    case JV_TRUE: text_string(text, "true"); break;
    case JV_INTEGER: text_integer(text, value->integer); break;
    case JV_NUMBER: text_number(text, value->number); break;
    case JV_STRING: text_quote(text, value->text); break;
    case JV_LIST:
        text_string(text, value->n ? "" : "[]");
        for (size_t i = 0; i < value->n; i++) {
            text_string(text, i ? ", " : "");
            put_value(&value->items[i], text);
        }
        break;
    default: text_string(text, "…"); break;
    }
}

/* As JSON has it; a list of some without its brackets, and "…" of an object. */
static const char *value_text(Job *job, const JsonValue *value)
{
    Text text = {0};
    put_value(value, &text);
    const char *copy = arena_strdup(job->arena, text.data);
    text_free(&text);
    return copy ? copy : "";
}

static bool is_number(const JsonValue *value)
{
    return value->kind == JV_INTEGER || value->kind == JV_NUMBER;
}

static bool is_same(Job *job, const JsonValue *a, const JsonValue *b)
{
    if (is_number(a) && is_number(b))
        return a->number == b->number;
    return a->kind == b->kind && !strcmp(value_text(job, a), value_text(job, b));
}

static bool is_one_of(Job *job, const JsonValue *value, const JsonValue *allowed)
{
    if (allowed->kind != JV_LIST)
        return is_same(job, value, allowed);
    for (size_t i = 0; i < allowed->n; i++)
        if (is_same(job, value, &allowed->items[i]))
            return true;
    return false;
}

int64_t import_config_size(Job *job, const ImportConfig *config, const char *key)
{
    const JsonValue *value = import_config_value(job, config, key);
    return value && value->kind == JV_INTEGER ? value->integer : -1;
}

/* ---- what the model must be ---- */

/* Whether an element of a list of layers is one of the others (IMPORT_LAYERS); -1: neither. */
static int is_other(const JsonValue *item)
{
    if (item->kind == JV_INTEGER)
        return item->integer == 0 ? 1 : item->integer == 1 ? 0 : -1;
    const char *type = item->kind == JV_STRING ? item->text : "";
    return !strcmp(type, "full_attention") ? 1 : !strcmp(type, "sliding_attention") ? 0 : -1;
}

/* How many others stand before the rest; -1: one stands behind it. */
static int64_t count_front(const JsonValue *list)
{
    size_t n = 0;
    while (n < list->n && is_other(&list->items[n]) == 1)
        n++;
    for (size_t i = n; i < list->n; i++)
        if (is_other(&list->items[i]))
            return -1;
    return (int64_t)n;
}

/* Each how many-th layer is one of the others: the first (of those behind the first layer, if they
 * count from it) tells; 0: none is, -1: they are not each n-th. */
static int64_t count_every(const JsonValue *list, bool from_first)
{
    const size_t shift = from_first ? 0 : 1;
    int64_t every = 0;
    for (size_t i = 0; i < list->n; i++) {
        const int other = is_other(&list->items[i]);
        const bool full = other == 1;
        const int64_t place = (int64_t)(i + shift);
        if (other < 0)
            return -1;
        if (full && !every)
            every = place;
        if (full != (!place || (every && place % every == 0)))
            return -1;
    }
    return every || !from_first ? every : (int64_t)list->n;
}

int64_t import_config_layers(Job *job, const ImportConfig *config, const char *key)
{
    const ImportRow *row = find_row(config, key);
    const JsonValue *list = member(job, config->json, key);
    const char *how = row && row->value ? row->value : "";
    if (!list || list->kind != JV_LIST)
        return import_config_size(job, config, key);
    return !strcmp(how, "from") ? count_front(list) : count_every(list, !strcmp(how, "first"));
}

static bool check_layers(Job *job, const ImportConfig *config, const ImportRow *row)
{
    const bool is_type = strcmp(row->key, "no_rope_layers") != 0;
    const char *others = !row->value                   ? "each n-th one"
                         : !strcmp(row->value, "from") ? "the first ones"
                                                       : "each n-th one from the first on";
    return import_config_layers(job, config, row->key) >= 0 ||
           refuse(job, config,
                  arena_printf(
                      job->arena, "\"%s\": models/%s has layers of %s alone, or with %s of %s",
                      row->key, config->model->files[0], is_type ? "\"sliding_attention\"" : "1",
                      others, is_type ? "\"full_attention\"" : "0"));
}

/* Whether the key of an earlier const, which is wrong in the same way, has the value. */
static bool is_told(Job *job, const ImportConfig *config, const ImportRow *row)
{
    const char *key = spoken_key(job, config, row->key), *expected, *earlier;
    const JsonValue *value = import_config_value(job, config, row->key);
    for (const ImportRow *other = config->model->rows; value && other != row; other++)
        if (other->kind == IMPORT_CONST && !strcmp(spoken_key(job, config, other->key), key) &&
            import_range_is_known(other->to) && !import_range_has(other->to, value, &earlier) &&
            !import_range_has(row->to, value, &expected) && earlier == expected)
            return true;
    return false;
}

/* A value that a const takes; null and none are the model's own, or have errors of their own.
 * Settings of Marian become keys of a config.json, whose consts have the ranges. */
static bool check_range(Job *job, const ImportConfig *config, const ImportRow *row)
{
    if (!import_range_is_known(row->to) || is_told(job, config, row))
        return true;
    const JsonValue *value = import_config_value(job, config, row->key);
    const char *expected;
    return !value || value->kind == JV_NULL || import_range_has(row->to, value, &expected) ||
           refuse(job, config,
                  arena_printf(job->arena, "\"%s\" is %s: expected %s",
                               spoken_key(job, config, row->key), value_text(job, value),
                               expected));
}

static bool check_factors(Job *job, const ImportConfig *config, const ImportRow *row)
{
    const JsonValue *list = import_config_value(job, config, row->key);
    bool ok = !list || list->kind == JV_NULL || (list->kind == JV_LIST && list->n);
    for (size_t i = 0; ok && list && i < list->n; i++)
        ok = is_number(&list->items[i]) && list->items[i].number >= LEAST_FACTOR &&
             list->items[i].number <= 1 / LEAST_FACTOR;
    return ok ||
           refuse(job, config,
                  arena_printf(job->arena, "\"%s\": expected a list of numbers from %g to %g",
                               spoken_key(job, config, row->key), LEAST_FACTOR, 1 / LEAST_FACTOR));
}

static bool check_row(Job *job, const ImportConfig *config, const ImportRow *row)
{
    if (row->kind == IMPORT_CONST)
        return check_range(job, config, row);
    if (row->kind == IMPORT_LAYERS)
        return check_layers(job, config, row);
    if (row->kind == IMPORT_FACTORS)
        return check_factors(job, config, row);
    if (row->kind != IMPORT_MUST && row->kind != IMPORT_SAME)
        return true;
    const JsonValue *is = import_config_value(job, config, row->key);
    const JsonValue *wanted =
        row->kind == IMPORT_MUST ? parse(job, row->to) : import_config_value(job, config, row->to);
    if (is && wanted && is_one_of(job, is, wanted))
        return true;
    return refuse(
        job, config,
        arena_printf(job->arena, "\"%s\" is %s: models/%s is written for %s%s alone",
                     spoken_key(job, config, row->key), is ? value_text(job, is) : "absent",
                     config->model->files[0], wanted ? value_text(job, wanted) : "null",
                     row->kind == IMPORT_SAME ? arena_printf(job->arena, ", as \"%s\" is,", row->to)
                                              : ""));
}

/* The key of a const, and what it comes to; -1: there is no such const, or no whole number. */
static int64_t const_size(Job *job, const ImportConfig *config, const char *name, const char **key)
{
    for (const ImportRow *row = config->model->rows; row->key; row++)
        if (row->kind == IMPORT_CONST && !strcmp(row->to, name)) {
            *key = spoken_key(job, config, row->key);
            return import_config_size(job, config, row->key);
        }
    return -1;
}

static bool check_multiple(Job *job, const ImportConfig *config, const char *of, const char *by)
{
    const char *of_key, *by_key;
    const int64_t whole = const_size(job, config, of, &of_key);
    const int64_t parts = const_size(job, config, by, &by_key);
    return whole < 1 || parts < 1 || whole % parts == 0 ||
           refuse(job, config,
                  arena_printf(job->arena,
                               "\"%s\" is %" PRId64 ", which is no multiple of \"%s\", %" PRId64,
                               of_key, whole, by_key, parts));
}

/* Heads share the model's width evenly, unless each has one of its own, and share keys so, too. */
static bool check_heads(Job *job, const ImportConfig *config)
{
    const char *key;
    const bool has_own =
        const_size(job, config, "d_k", &key) > 0 || const_size(job, config, "d_kv", &key) > 0;
    return (has_own || check_multiple(job, config, "d_model", "heads")) &&
           check_multiple(job, config, "heads", "kv_heads");
}

bool import_config_check(Job *job, const ImportConfig *config)
{
    bool ok = true;
    for (const ImportRow *row = config->model->rows; row->key; row++)
        ok = check_row(job, config, row) && ok;
    return ok && check_heads(job, config);
}

/* The first of `architectures`; NULL: it is not said. */
static const char *class_name(const JsonValue *json)
{
    const JsonValue *names = json_member(json, "architectures");
    const bool is = names && names->kind == JV_LIST && names->n && names->items->kind == JV_STRING;
    return is ? names->items->text : NULL;
}

bool import_config_read(Job *job, const char *folder, const TextList *tensors, ImportConfig *config)
{
    const char *path = file_in(job->arena, folder, "config.json");
    return import_config_read_file(job, path, folder, NULL, tensors, config);
}

static const char *no_config(Job *job, const char *folder)
{
    if (!file_exists(folder))
        return "there is no such folder (download a model of a hub first, with all its files)";
    const FolderFiles files = folder_files(job->arena, folder, ".gguf");
    return files.count ? arena_printf(job->arena, "name its file %s in place of the folder",
                                      text_visible_name(job->arena, files.data[0]))
                       : "it has no config.json";
}

bool import_config_read_file(Job *job, const char *path, const char *folder, const char *shown,
                             const TextList *tensors, ImportConfig *config)
{
    const char *problem = NULL;
    *config = (ImportConfig){0};
    if (tensors)
        config->tensors = *tensors;
    if (!file_is_folder(folder) && !format_check(&job->diags, job->arena, folder))
        return false;
    if (!file_is_named(path))
        return job_error(job, "%s is not the folder of a published model: %s", folder,
                         no_config(job, folder));
    config->source = file_read(&job->diags, job->arena, path, LARGEST_CONFIG);
    if (!config->source)
        return false;
    if (shown)
        config->source =
            diag_source(job->arena, shown, config->source->text, config->source->length);
    config->json = json_read(job->arena, config->source->text, config->source->length, &problem);
    if (!config->json)
        return refuse(job, config, problem ? problem : "out of memory");
    const char *type = json_member_text(config->json, "model_type");
    if (!type)
        return refuse(job, config, "it has no \"model_type\"");
    config->model =
        import_model(job, &(ImportSought){.type = type,
                                          .class_name = class_name(config->json),
                                          .tensors = &config->tensors,
                                          .vectors = import_sentences_is(job, folder),
                                          .one_label = import_labels_one(config->json)});
    if (!config->model)
        return false;
    bool ok = import_config_check(job, config);
    return import_keys_check(job, config->source, config->json, config->model) && ok;
}

/* ---- lines of the model ---- */

typedef struct Activation {
    const char *theirs, *ours;
} Activation;

static const Activation activations[] = {
    {"relu", "relu"},          {"gelu", "gelu"},
    {"gelu_new", "gelu_tanh"}, {"gelu_pytorch_tanh", "gelu_tanh"},
    {"silu", "silu"},          {"swish", "silu"},
    {"tanh", "tanh"}};
enum { N_ACTIVATIONS = sizeof activations / sizeof activations[0] };

static bool put_activation(Job *job, const ImportConfig *config, const ImportRow *row, Text *out)
{
    const JsonValue *value = import_config_value(job, config, row->key);
    for (int i = 0; value && value->kind == JV_STRING && i < N_ACTIVATIONS; i++)
        if (!strcmp(value->text, activations[i].theirs)) {
            text_add(out, "\nblock activation(x) { return %s(x) }\n", activations[i].ours);
            return true;
        }
    return refuse(job, config,
                  arena_printf(job->arena, "\"%s\" is %s, which is not a function known here",
                               row->key, value ? value_text(job, value) : "absent"));
}

static bool put_const(Job *job, const ImportConfig *config, const ImportRow *row, Text *out)
{
    const JsonValue *value = import_config_value(job, config, row->key);
    if (value && value->kind == JV_NULL)
        return true; /* as the model has it */
    if (!value || value->kind == JV_LIST || value->kind == JV_OBJECT)
        return refuse(job, config,
                      arena_printf(job->arena,
                                   "\"%s\": expected a number, a truth "
                                   "value or a string",
                                   row->key));
    text_add(out, "const %s = %s%s\n", row->to, value_text(job, value),
             row->value ? row->value : "");
    return true;
}

static bool put_flag(Job *job, const ImportConfig *config, const ImportRow *row, Text *out)
{
    const JsonValue *value = import_config_value(job, config, row->key);
    bool is = value && is_same(job, value, parse(job, row->value));
    text_add(out, "const %s = %s\n", row->to, is ? "true" : "false");
    return true;
}

static bool put_labels(Job *job, const ImportConfig *config, const ImportRow *row, Text *out)
{
    TextList labels = {0};
    if (!import_labels_read(job, config->source, config->json, &labels))
        return false;
    text_add(out, "const %s = %zu\n", row->to, labels.count);
    return true;
}

/* A block, because no const is a list. */
static bool put_factors(Job *job, const ImportConfig *config, const ImportRow *row, Text *out)
{
    const JsonValue *list = import_config_value(job, config, row->key);
    if (!list || list->kind == JV_NULL)
        return true; /* as the model has it */
    text_add(out, "block %s(pairs) {\n  return concat([", row->to);
    for (size_t i = 0; i < list->n; i++) {
        text_string(out, i ? ", full([1], " : "full([1], ");
        text_number(out, list->items[i].number);
        text_string(out, ")");
    }
    text_string(out, "])\n}\n");
    return true;
}

/* Which factors are taken is settled for all texts: by the length of each, no text could be
 * continued, because what is kept of its tokens would change. */
static void put_longest(Job *job, const ImportConfig *config, Text *out)
{
    const JsonValue *type = import_config_value(job, config, "rope_parameters.rope_type");
    const int64_t most = import_config_size(job, config, "max_position_embeddings");
    const int64_t less =
        import_config_size(job, config, "rope_parameters.original_max_position_embeddings");
    if (!type || type->kind != JV_STRING || strcmp(type->text, "longrope") || less >= most)
        return;
    text_string(out, "const longest = rope_context\n");
    diag_note(
        &job->diags, (Loc){.source = config->source},
        "\"longrope\" has factors for texts of up to %" PRId64 " tokens, which are taken, and "
        "others for longer texts: `const longest = %" PRId64 "` in model.tfg takes these, for "
        "all texts",
        less, most);
}

static void put_front(const ImportConfig *config, const ImportRow *row, Text *out)
{
    bool has = false;
    for (size_t i = 0; !has && i < config->tensors.count; i++)
        has = !strncmp(config->tensors.data[i], row->key, strlen(row->key));
    text_add(out, "const %s = \"%s\"\n", row->to, has ? row->key : "");
}

static bool put_piece(Job *job, const ImportConfig *config, const Vocabulary *vocab,
                      const ImportRow *row, Text *out)
{
    int32_t id = vocab_find(vocab, row->key);
    if (id < 0)
        return refuse(job, config,
                      arena_printf(job->arena,
                                   "the vocabulary has no token '%s', which the model needs",
                                   row->key));
    text_add(out, "const %s = %d\n", row->to, (int)id);
    return true;
}

static bool put_row(Job *job, const ImportConfig *config, const Vocabulary *vocab,
                    const ImportRow *row, Text *out)
{
    switch (row->kind) {
    case IMPORT_CONST: return put_const(job, config, row, out);
    case IMPORT_FLAG: return put_flag(job, config, row, out);
    case IMPORT_PIECE: return put_piece(job, config, vocab, row, out);
    case IMPORT_FIXED: text_add(out, "const %s = %s\n", row->to, row->key); return true;
    case IMPORT_LAYERS:
        text_add(out, "const %s = %" PRId64 "\n", row->to,
                 import_config_layers(job, config, row->key));
        return true;
    case IMPORT_FACTORS: return put_factors(job, config, row, out);
    case IMPORT_LABELS: return put_labels(job, config, row, out);
    case IMPORT_FRONT: put_front(config, row, out); return true;
    default: return true;
    }
}

bool import_config_model(Job *job, const ImportConfig *config, const Vocabulary *vocab, Text *out)
{
    bool ok = true;
    for (const ImportRow *row = config->model->rows; row->key; row++)
        ok = put_row(job, config, vocab, row, out) && ok;
    put_longest(job, config, out);
    for (const ImportRow *row = config->model->rows; row->key; row++)
        if (row->kind == IMPORT_ACTIVATION)
            ok = put_activation(job, config, row, out) && ok;
    return ok;
}

bool import_config_tokens(Job *job, const ImportConfig *config, const Vocabulary *vocab,
                          TextList *tokens)
{
    for (const ImportRow *row = config->model->rows; row->key; row++) {
        const JsonValue *value =
            row->kind == IMPORT_TOKEN ? import_config_value(job, config, row->key) : NULL;
        if (!value || value->kind == JV_NULL)
            continue;
        if (value->kind != JV_INTEGER || value->integer < 0 || value->integer >= vocab_size(vocab))
            return refuse(job, config,
                          arena_printf(job->arena, "\"%s\" is %s, but the vocabulary has %d tokens",
                                       row->key, value_text(job, value), (int)vocab_size(vocab)));
        vec_push(job->arena, *tokens,
                 token_rule_text(job->arena, vocab, row->to, (int32_t)value->integer));
    }
    return true;
}
