/* Whether the values of a config.json are such as its model is written for; see import_config.h. */
#include "driver/exchange/import_config.h"
#include "driver/exchange/import_json.h"
#include "driver/exchange/import_ranges.h"

#include <inttypes.h>
#include <string.h>

static const double LEAST_FACTOR = 1e-3;

/* ---- layers of two kinds ---- */

/* The lists whose elements are numbers; those of others are words. */
static bool has_numbers(const char *key) { return !strcmp(key, "no_rope_layers"); }

/* Whether an element of a list of layers is one of the others (IMPORT_LAYERS); -1: neither. */
static int is_other(const char *key, const JsonValue *item)
{
    if (has_numbers(key))
        return item->kind != JV_INTEGER ? -1 : item->integer == 0 ? 1 : item->integer == 1 ? 0 : -1;
    const char *type = item->kind == JV_STRING ? item->text : "";
    return !strcmp(type, "full_attention") ? 1 : !strcmp(type, "sliding_attention") ? 0 : -1;
}

/* How many others stand before the rest; -1: one stands behind it. */
static int64_t count_front(const char *key, const JsonValue *list)
{
    size_t n = 0;
    while (n < list->n && is_other(key, &list->items[n]) == 1)
        n++;
    for (size_t i = n; i < list->n; i++)
        if (is_other(key, &list->items[i]))
            return -1;
    return (int64_t)n;
}

/* Each how many-th layer is one of the others: the first (of those behind the first layer, if they
 * count from it) tells; 0: none is, -1: they are not each n-th. */
static int64_t count_every(const char *key, const JsonValue *list, bool from_first)
{
    const size_t shift = from_first ? 0 : 1;
    int64_t every = 0;
    for (size_t i = 0; i < list->n; i++) {
        const int other = is_other(key, &list->items[i]);
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
    const ImportRow *row = import_config_row(config, key);
    const JsonValue *list = import_config_member(job, config->json, key);
    const char *how = row && row->value ? row->value : "";
    if (!list || list->kind != JV_LIST)
        return import_config_size(job, config, key);
    const int64_t layers = import_config_size(job, config, "num_hidden_layers");
    if (layers >= 0 && (int64_t)list->n != layers)
        return -1;
    return !strcmp(how, "from") ? count_front(key, list)
                                : count_every(key, list, !strcmp(how, "first"));
}

/* ---- rows ---- */

static bool check_layers(Job *job, const ImportConfig *config, const ImportRow *row)
{
    const bool is_type = !has_numbers(row->key);
    const char *others = !row->value                   ? "each n-th one"
                         : !strcmp(row->value, "from") ? "the first ones"
                                                       : "each n-th one from the first on";
    return import_config_layers(job, config, row->key) >= 0 ||
           import_config_refuse(
               job, config,
               arena_printf(
                   job->arena,
                   "\"%s\": expected %s for all layers, or %s for %s, as models/%s has them",
                   row->key, is_type ? "\"sliding_attention\"" : "1",
                   is_type ? "\"full_attention\"" : "0", others, config->model->files[0]));
}

/* Whether the key of an earlier const, which is wrong in the same way, has the value. */
static bool is_told(Job *job, const ImportConfig *config, const ImportRow *row)
{
    const char *key = import_config_spoken_key(job, config, row->key), *expected, *earlier;
    const JsonValue *value = import_config_value(job, config, row->key);
    for (const ImportRow *other = config->model->rows; value && other != row; other++)
        if (other->kind == IMPORT_CONST &&
            !strcmp(import_config_spoken_key(job, config, other->key), key) &&
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
           import_config_refuse(job, config,
                                arena_printf(job->arena, "\"%s\" is %s: expected %s",
                                             import_config_spoken_key(job, config, row->key),
                                             import_json_text(job, value), expected));
}

static bool check_factors(Job *job, const ImportConfig *config, const ImportRow *row)
{
    const JsonValue *list = import_config_value(job, config, row->key);
    bool ok = !list || list->kind == JV_NULL || (list->kind == JV_LIST && list->n);
    for (size_t i = 0; ok && list && i < list->n; i++)
        ok = import_json_is_number(&list->items[i]) && list->items[i].number >= LEAST_FACTOR &&
             list->items[i].number <= 1 / LEAST_FACTOR;
    return ok || import_config_refuse(
                     job, config,
                     arena_printf(job->arena, "\"%s\": expected a list of numbers from %g to %g",
                                  import_config_spoken_key(job, config, row->key), LEAST_FACTOR,
                                  1 / LEAST_FACTOR));
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
    const JsonValue *wanted = row->kind == IMPORT_MUST ? import_json_parse(job, row->to)
                                                       : import_config_value(job, config, row->to);
    if (is && wanted && import_json_is_one_of(job, is, wanted))
        return true;
    return import_config_refuse(
        job, config,
        arena_printf(job->arena, "\"%s\" is %s: models/%s is written for %s%s alone",
                     import_config_spoken_key(job, config, row->key),
                     is ? import_json_text(job, is) : "absent", config->model->files[0],
                     wanted ? import_json_text(job, wanted) : "null",
                     row->kind == IMPORT_SAME ? arena_printf(job->arena, ", as \"%s\" is,", row->to)
                                              : ""));
}

static bool check_multiple(Job *job, const ImportConfig *config, const char *of, const char *by)
{
    const char *of_key, *by_key;
    const int64_t whole = import_config_const(job, config, of, &of_key);
    const int64_t parts = import_config_const(job, config, by, &by_key);
    return whole < 1 || parts < 1 || whole % parts == 0 ||
           import_config_refuse(job, config,
                                arena_printf(job->arena,
                                             "\"%s\" is %" PRId64
                                             ", which is no multiple of \"%s\", %" PRId64,
                                             of_key, whole, by_key, parts));
}

/* What slows positions down says how, and by how much. */
static bool check_scaling(Job *job, const ImportConfig *config)
{
    static const char factor_key[] = "rope_parameters.factor",
                      type_key[] = "rope_parameters.rope_type";
    static const char *const with_factor[] = {"linear", "dynamic", "yarn", "llama3"};
    if (!import_config_row(config, factor_key))
        return true;
    const JsonValue *factor = import_config_value(job, config, factor_key),
                    *type = import_config_value(job, config, type_key);
    const char *word = type && type->kind == JV_STRING ? type->text : "default";
    const bool has = factor && factor->kind != JV_NULL;
    bool needs = false;
    for (size_t i = 0; i < sizeof with_factor / sizeof *with_factor; i++)
        needs = needs || !strcmp(word, with_factor[i]);
    if (needs && !has)
        return import_config_refuse(
            job, config,
            arena_printf(job->arena, "\"%s\" is \"%s\", and there is no \"factor\" beside it",
                         import_config_spoken_key(job, config, type_key), word));
    return strcmp(word, "default") || !has || factor->number == 1 ||
           import_config_refuse(
               job, config,
               arena_printf(job->arena,
                            "\"%s\" is %s, and no type beside it says what it does: \"linear\", "
                            "\"dynamic\", \"yarn\" or \"llama3\"",
                            import_config_spoken_key(job, config, factor_key),
                            import_json_text(job, factor)));
}

/* The last part of a dotted key. */
static const char *last_part(const char *key)
{
    const char *point = strrchr(key, '.');
    return point ? point + 1 : key;
}

/* Whether two keys are one that moved: versions of transformers put rope_theta into other objects,
 * and call a type rope_type. */
static bool is_moved(const char *key, const char *other)
{
    const char *a = last_part(key), *b = last_part(other);
    return !strcmp(a, b) || (text_ends(a, "type") && text_ends(b, "type"));
}

/* A key that moved has one value, wherever it stands. */
static bool check_moved(Job *job, const ImportConfig *config, const ImportRow *row)
{
    const JsonValue *one =
        import_row_has_key(row) ? import_config_member(job, config->json, row->key) : NULL;
    for (const ImportRow *at = row; one && one->kind != JV_NULL && at;) {
        const char *other = at->absent && *at->absent == '=' ? at->absent + 1 : NULL;
        if (!other || !is_moved(row->key, other))
            return true;
        const JsonValue *two = import_config_member(job, config->json, other);
        if (two && two->kind != JV_NULL && !import_json_is_same(job, one, two))
            return import_config_refuse(
                job, config,
                arena_printf(
                    job->arena, "\"%s\" is %s, and \"%s\" is %s: they mean the same, take one out",
                    row->key, import_json_text(job, one), other, import_json_text(job, two)));
        at = import_config_row(config, other);
    }
    return true;
}

/* Frequencies between the two factors of "llama3" are scaled in part, so low is below high. */
static bool check_llama3(Job *job, const ImportConfig *config)
{
    static const char low_key[] = "rope_parameters.low_freq_factor",
                      high_key[] = "rope_parameters.high_freq_factor";
    if (!import_config_row(config, low_key))
        return true;
    const JsonValue *low = import_config_value(job, config, low_key),
                    *high = import_config_value(job, config, high_key);
    return !low || !high || !import_json_is_number(low) || !import_json_is_number(high) ||
           low->number < high->number ||
           import_config_refuse(
               job, config,
               arena_printf(
                   job->arena, "\"%s\" is %s, which is not below \"%s\", %s",
                   import_config_spoken_key(job, config, low_key), import_json_text(job, low),
                   import_config_spoken_key(job, config, high_key), import_json_text(job, high)));
}

/* Of tokens there may be several ends alone. */
static bool check_tokens(Job *job, const ImportConfig *config)
{
    bool ok = true;
    for (const PublishedToken *token = published_tokens; token->key; token++) {
        const JsonValue *id = json_member(config->json, token->key);
        if (strcmp(token->key, published_ends.key) && id && id->kind == JV_LIST && id->n != 1)
            ok = import_config_refuse(
                job, config,
                arena_printf(job->arena, "\"%s\" is a list: expected one id", token->key));
    }
    return ok;
}

/* Heads share the model's width evenly, unless each has one of its own, and share keys so, too. */
static bool check_heads(Job *job, const ImportConfig *config)
{
    const char *key;
    const bool has_own = import_config_const(job, config, "d_k", &key) > 0 ||
                         import_config_const(job, config, "d_kv", &key) > 0;
    return (has_own || check_multiple(job, config, "d_model", "heads")) &&
           check_multiple(job, config, "heads", "kv_heads");
}

bool import_config_check(Job *job, const ImportConfig *config)
{
    bool ok = true;
    for (const ImportRow *row = config->model->rows; row->key; row++)
        ok = check_row(job, config, row) && check_moved(job, config, row) && ok;
    return ok && check_tokens(job, config) && check_scaling(job, config) &&
           check_llama3(job, config) && check_heads(job, config);
}
