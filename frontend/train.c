/* The train block: how the model is trained. Later settings replace earlier ones,
 * so a model may change one of a library's. */
#include "frontend/elab.h"

#include "base/limits.h"
#include "frontend/foreign.h"

#include <math.h>

void train_defaults(TrainSpec *spec)
{
    *spec = (TrainSpec){
        .optimizer = OPTIMIZER_ADAM,
        .beta1 = 0.9,
        .beta2 = 0.98,
        .eps = 1e-9,
        .schedule = RATE_NOAM,
        .rate_d_model = 512,
        .rate_factor = 1,
        .warmup = 4000,
#define TRAIN_SETTING(name, initial, ...) .name = initial,
#include "base/training_settings.def"
    };
}

/* ---- arguments of adam(…), noam(…) and the like ---- */

typedef struct Param {
    const char *name;
    double *real; /* one of the two */
    int64_t *whole;
    bool required;
    int64_t initial; /* what 0 stands for */
    double least;    /* the most is limit_of(name) */
    double below;    /* 0: no further bound */
} Param;

enum { MAX_PARAMS = 6 };

/* What may be given. */
static const char *param_range(Elab *e, const Param *param)
{
    char text[RANGE_TEXT];
    if (param->below > 0)
        return arena_printf(e->arena, "a number from %g to below %g", param->least, param->below);
    range_text(text, param->whole, param->least, limit_of(param->name));
    return arena_strdup(e->arena, text);
}

static bool store(Elab *e, const Node *node, const Param *param, const Val *val)
{
    int64_t whole = 0;
    if (val->kind == VAL_ERROR)
        return false;
    bool fits = val->kind == VAL_NUMBER && isfinite(val->number) && val->number >= param->least &&
                val->number <= limit_of(param->name) &&
                (param->below <= 0 || val->number < param->below) &&
                (param->real || whole_number(val, &whole));
    if (!fits)
        elab_error(e, node, "`%s` is %s, not %s", param->name, param_range(e, param),
                   val_text(e, val));
    else if (param->real)
        *param->real = val->number;
    else
        *param->whole = whole ? whole : param->initial;
    return fits;
}

/* Which parameter the argument number i of a call is for; -1 after an error: for none. */
static int find_argument(Elab *e, const Node *call, size_t i, const char *const *names, int n)
{
    const Node *arg = call->kids.data[i];
    if (!arg->name && i < (size_t)n)
        return (int)i;
    if (!arg->name) {
        elab_error(e, arg, "`%s` takes %d argument%s, given %zu", call->name, n,
                   text_plural(n, "", "s"), call->kids.count);
        return -1;
    }
    for (int k = 0; k < n; k++)
        if (!strcmp(arg->name, names[k]))
            return k;
    const char *hint = foreign_setting(arg->name);
    elab_error(e, arg, "`%s` takes no `%s`%s", call->name, arg->name,
               hint ? hint : did_you_mean(e, arg->name, NULL, 0, names, n));
    return -1;
}

/* False after an error. */
static bool read_args(Elab *e, const Node *call, const Param *params, int n)
{
    bool given[MAX_PARAMS] = {0};
    const char *names[MAX_PARAMS];
    for (int i = 0; i < n; i++)
        names[i] = params[i].name;
    for (size_t i = 0; call->kind == NODE_CALL && i < call->kids.count; i++) {
        const Node *arg = call->kids.data[i];
        int at = find_argument(e, call, i, names, n);
        if (at < 0)
            return false;
        Val val = eval_at_top(e, arg->a);
        given[at] = true;
        if (!store(e, arg, &params[at], &val))
            return false;
    }
    for (int i = 0; i < n; i++)
        if (params[i].required && !given[i]) {
            elab_error(e, call, "`%s` needs `%s`", call->name, names[i]);
            return false;
        }
    return true;
}

/* ---- the three settings with words ---- */

static bool is_word(const Node *node, const char *word)
{
    return (node->kind == NODE_NAME || node->kind == NODE_CALL) && !strcmp(node->name, word);
}

/* Which of the words; n: none. */
static int find_word(const Node *node, const char *const *words, int n)
{
    int i = 0;
    while (i < n && !is_word(node, words[i]))
        i++;
    return i;
}

static void unknown_word(Elab *e, const Node *value, const char *what, const char *const *words,
                         int n, const char *example)
{
    bool worded = value->kind == NODE_NAME || value->kind == NODE_CALL;
    const char *near = worded ? did_you_mean(e, value->name, NULL, 0, words, n) : "";
    Text all = {0};
    for (int i = 0; i < n; i++)
        text_add(&all, "%s%s", i == 0 ? "" : i == n - 1 ? " or " : ", ", words[i]);
    if (!*near)
        near = arena_printf(e->arena, "; as in `%s`", example);
    elab_error(e, value, "%s is %s, not `%s`%s", what, all.data, expression_text(e->arena, value),
               near);
    text_free(&all);
}

static void set_optimizer(Elab *e, const Node *value)
{
    TrainSpec *s = &e->model->train;
    Param adam[] = {{.name = "beta1", .real = &s->beta1, .below = 1},
                    {.name = "beta2", .real = &s->beta2, .below = 1},
                    {.name = "eps", .real = &s->eps},
                    {.name = "weight_decay", .real = &s->weight_decay}};
    Param sgd[] = {{.name = "momentum", .real = &s->momentum, .below = 1},
                   {.name = "weight_decay", .real = &s->weight_decay}};
    int which = find_word(value, optimizer_words(), OPTIMIZER_COUNT);
    s->momentum = s->weight_decay = 0;
    if (which == OPTIMIZER_COUNT) {
        unknown_word(e, value, "an optimizer", optimizer_words(), OPTIMIZER_COUNT,
                     "optimizer = adam(beta2 = 0.98)");
        return;
    }
    s->optimizer = (Optimizer)which;
    if (s->optimizer == OPTIMIZER_SGD) {
        read_args(e, value, sgd, 2);
        return;
    }
    s->beta1 = 0.9;
    s->beta2 = 0.999;
    s->eps = 1e-8;
    s->weight_decay = s->optimizer == OPTIMIZER_ADAMW ? 0.01 : 0;
    read_args(e, value, adam, 4);
}

static void set_rate(Elab *e, const Node *value)
{
    TrainSpec *s = &e->model->train;
    Param noam[] = {{.name = "d_model", .real = &s->rate_d_model, .required = true, .least = 1},
                    {.name = "warmup", .whole = &s->warmup, .required = true, .least = 1},
                    {.name = "factor", .real = &s->rate_factor}};
    Param root[] = {{.name = "peak", .real = &s->rate_peak, .required = true},
                    {.name = "warmup", .whole = &s->warmup, .required = true, .least = 1}};
    Param constant[] = {{.name = "rate", .real = &s->rate_peak, .required = true},
                        {.name = "warmup", .whole = &s->warmup}};
    Param decay[] = {{.name = "peak", .real = &s->rate_peak, .required = true},
                     {.name = "steps", .whole = &s->rate_steps},
                     {.name = "warmup", .whole = &s->warmup},
                     {.name = "final", .real = &s->rate_final}};
    int which = find_word(value, schedule_words(), RATE_COUNT);
    s->warmup = 0;
    s->rate_final = 0;
    s->rate_factor = 1;
    if (which != RATE_COUNT)
        s->schedule = (Schedule)which;
    switch (which) {
    case RATE_NOAM: read_args(e, value, noam, 3); break;
    case RATE_INVERSE_SQRT: read_args(e, value, root, 2); break;
    case RATE_CONSTANT: read_args(e, value, constant, 2); break;
    case RATE_LINEAR:
    case RATE_COSINE:
        s->rate_steps = 0; /* the run's end */
        if (read_args(e, value, decay, 4) && s->rate_steps && s->rate_steps <= s->warmup)
            elab_error(e, value,
                       "`steps` must be more than `warmup`, at which the rate begins to fall");
        break;
    default:
        unknown_word(e, value, "a rate", schedule_words(), RATE_COUNT, "rate = constant(0.001)");
    }
}

static void set_batch(Elab *e, const Node *value)
{
    static const char *const words[] = {"tokens", "sentences"};
    TrainSpec *s = &e->model->train;
    bool tokens = is_word(value, "tokens");
    if (!tokens && !is_word(value, "sentences")) {
        unknown_word(e, value, "a batch", words, 2, "batch = sentences(32)");
        return;
    }
    int64_t n = 0;
    Param param = {.name = tokens ? "batch_tokens" : "batch_sentences",
                   .whole = &n,
                   .required = true,
                   .least = 1};
    if (!read_args(e, value, &param, 1))
        return;
    s->batch_tokens = tokens ? n : 0;
    s->batch_sentences = tokens ? 0 : n;
}

/* ---- the plain ones ---- */

static void set_number(Elab *e, const Node *setting)
{
    TrainSpec *s = &e->model->train;
    const Param plain[] = {
        {.name = "clip_norm", .real = &s->clip_norm},
#define TRAIN_SETTING(field, none, block, ...) \
    {.name = #field, .whole = &s->field, .initial = none, .least = block},
#define BATCH(...)
#include "base/training_settings.def"
    };
    enum { N_PLAIN = sizeof plain / sizeof *plain };
    const char *names[N_PLAIN + 3] = {"optimizer", "rate", "batch"};
    for (int i = 0; i < N_PLAIN; i++) {
        names[i + 3] = plain[i].name;
        if (strcmp(setting->name, plain[i].name))
            continue;
        Val val = eval_at_top(e, setting->a);
        store(e, setting, &plain[i], &val);
        return;
    }
    const char *hint = foreign_setting(setting->name);
    elab_error(e, setting, "there is no setting `%.60s`%s", setting->name,
               hint ? hint : did_you_mean(e, setting->name, NULL, 0, names, N_PLAIN + 3));
}

void elaborate_train(Elab *e, const Node *train)
{
    e->model->has_train = true;
    e->model->train.optimizer_place = train->loc;
    for (size_t i = 0; i < train->kids.count; i++) {
        const Node *setting = train->kids.data[i];
        if (!setting->a)
            continue; /* not read; reported */
        if (!strcmp(setting->name, "optimizer")) {
            e->model->train.optimizer_place = setting->loc;
            set_optimizer(e, setting->a);
        } else if (!strcmp(setting->name, "rate"))
            set_rate(e, setting->a);
        else if (!strcmp(setting->name, "batch"))
            set_batch(e, setting->a);
        else
            set_number(e, setting);
    }
}
