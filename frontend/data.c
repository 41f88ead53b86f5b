/* What a model says of its data: the columns that feed its inputs, the words that their integers
 * stand for, and what it predicts. */
#include "frontend/elab.h"

#include <math.h>

/* ---- texts of these declarations ---- */

static bool is_call(const Node *node, const char *name)
{
    return node->kind == NODE_CALL && !strcmp(node->name, name);
}

/* The text that is an argument of a call; NULL after a message. `use`: how it is written. */
static const char *text_of(Elab *e, const Node *call, const Node *arg, const char *use)
{
    Val val = eval_at_top(e, arg->a);
    if (val.kind == VAL_ERROR)
        return NULL;
    if (val.kind == VAL_STRING && *val.text)
        return val.text;
    elab_error(e, arg->a, "`%s` takes a text, not %s: write `%s`", call->name,
               val.kind == VAL_STRING ? "an empty one" : val_text(e, &val), use);
    return NULL;
}

/* The one text that a call takes; NULL after a message. */
static const char *text_of_call(Elab *e, const Node *call, const char *use)
{
    const Node *arg = call->kids.count == 1 ? call->kids.data[0] : NULL;
    if (arg && !arg->name && !call->label)
        return text_of(e, call, arg, use);
    elab_error(e, call, "`%s` takes one text and nothing else: write `%s`", call->name, use);
    return NULL;
}

/* Whether the first dimension is that of the batch: each row of a table is one element of it. */
static bool begins_with_batch(const Elab *e, const Type *type)
{
    return type->rank > 0 && !dim_is_const(type->dims[0]) &&
           !symbol_is_ragged(e->module, type->dims[0].symbol);
}

static void set_text(Elab *e, Op *op, AttrName name, const char *text)
{
    op_set_attr(e->b.function, op, attr_string(name, text));
}

/* ---- input NAME : type[dims] = column("FIELD", hide = …, many = …) ---- */

static const char column_use[] = "column(\"FIELD\")";

typedef enum ColumnSettingKind { SETTING_SHARE, SETTING_TRUTH, SETTING_NUMBER } ColumnSettingKind;

/* The settings of a column: shares from 0 to 1, truth values, numbers. */
static const struct ColumnSetting {
    const char *name;
    AttrName attr;
    ColumnSettingKind kind;
} column_settings[] = {
    {"hide", ATTR_hide, SETTING_SHARE},     {"keep", ATTR_keep, SETTING_SHARE},
    {"random", ATTR_random, SETTING_SHARE}, {"whole_words", ATTR_whole_words, SETTING_TRUTH},
    {"end", ATTR_end, SETTING_NUMBER},
};
enum {
    N_COLUMN_SETTINGS = sizeof column_settings / sizeof *column_settings,
    SETTINGS_OF_HIDE = 1, /* from here on, they go with `hide` … */
    SETTINGS_BEHIND = 4   /* … up to here */
};

/* What the end of a text has: for floats of a ragged dimension. */
static bool set_end(Elab *e, const Node *arg, const Val *val, Op *op)
{
    const Type *type = &op_result(op)->type;
    const bool fits = val->kind == VAL_NUMBER && isfinite(val->number);
    if (!dtype_is_float(type->dtype) || type->rank < 2 ||
        !symbol_is_ragged(e->module, type->dims[1].symbol))
        elab_error(e, arg->a, "`end` is for numbers beside a text, which are float[B, T~], not %s",
                   type_text(e, type));
    else if (!fits)
        elab_error(e, arg->a, "`end` is the number that the end of a text has, not %s",
                   val_text(e, val));
    else {
        op_set_attr(e->b.function, op, attr_float(ATTR_end, val->number));
        return true;
    }
    return false;
}

static bool set_share(Elab *e, const Node *arg, const Val *val, AttrName attr, Op *op)
{
    const bool fits = val->kind == VAL_NUMBER && val->number >= 0 && val->number <= 1 &&
                      (attr != ATTR_hide || val->number > 0);
    if (fits)
        op_set_attr(e->b.function, op, attr_float(attr, val->number));
    else
        elab_error(e, arg->a, "`%s` is a share, a number %s to 1, not %s", arg->name,
                   attr == ATTR_hide ? "above 0 and up" : "from 0", val_text(e, val));
    return fits;
}

/* `many`: the mark between labels of a set, of an input bool[B, n]. */
static bool set_many(Elab *e, const Node *arg, const Node *input, Op *op)
{
    const Type *type = &op_result(op)->type;
    const Val val = eval_at_top(e, arg->a);
    const Node *count = input->a->kids.count == 2 ? input->a->kids.data[1] : NULL;
    if (val.kind == VAL_ERROR)
        return false;
    if (type->dtype != DT_BOOL || type->rank != 2 || !dim_is_const(type->dims[1])) {
        elab_error(e, arg,
                   "`many` is for sets of labels, a truth value for each: `%s` is %s, and would "
                   "be `bool[B, n]`",
                   input->name, type_text(e, type));
        return false;
    }
    if (val.kind != VAL_STRING || strlen(val.text) != 1 || (unsigned char)*val.text < ' ') {
        elab_error(e, arg->a,
                   "`many` is the mark between labels, one character such as \"|\", not %s",
                   val_text(e, &val));
        return false;
    }
    set_text(e, op, ATTR_many, val.text);
    set_text(e, op, ATTR_vocab, "words");
    if (count && count->kind == NODE_NAME)
        set_text(e, op, ATTR_counts, count->name);
    return true;
}

static bool set_column(Elab *e, const Node *arg, const Node *input, Op *op)
{
    const char *names[N_COLUMN_SETTINGS + 1];
    if (!strcmp(arg->name, "many"))
        return set_many(e, arg, input, op);
    for (int i = 0; i < N_COLUMN_SETTINGS; i++) {
        const struct ColumnSetting *setting = &column_settings[i];
        names[i] = setting->name;
        if (strcmp(setting->name, arg->name) != 0)
            continue;
        const Val val = eval_at_top(e, arg->a);
        if (val.kind != VAL_ERROR && setting->kind == SETTING_NUMBER)
            return set_end(e, arg, &val, op);
        if (val.kind == VAL_ERROR || setting->kind == SETTING_SHARE)
            return val.kind != VAL_ERROR && set_share(e, arg, &val, setting->attr, op);
        if (val.kind == VAL_BOOL) {
            op_set_attr(e->b.function, op, attr_int(setting->attr, val.number != 0));
            return true;
        }
        elab_error(e, arg->a, "`%s` is true or false, not %s", arg->name, val_text(e, &val));
        return false;
    }
    names[N_COLUMN_SETTINGS] = "many";
    elab_error(e, arg,
               "a column has no `%.60s`; it has hide, keep, random, whole_words, end and many%s",
               arg->name, did_you_mean(e, arg->name, NULL, 0, names, N_COLUMN_SETTINGS + 1));
    return false;
}

/* Gives a column that hides tokens the shares that it does not say; false after a message. */
static bool complete_hiding(Elab *e, const Node *input, const Node *feed, Op *op)
{
    for (int i = SETTINGS_OF_HIDE; i < SETTINGS_BEHIND; i++)
        if (!op_attr(op, ATTR_hide) && op_attr(op, column_settings[i].attr)) {
            elab_error(e, feed, "`%s` says what becomes of hidden tokens: `hide = 0.15` hides some",
                       column_settings[i].name);
            return false;
        }
    if (!op_attr(op, ATTR_hide))
        return true;
    const Type *type = &op_result(op)->type;
    if (strcmp(input->text, "token") != 0 || type->rank != 2 ||
        !symbol_is_ragged(e->module, type->dims[1].symbol)) {
        elab_error(e, input->a, "`hide` is for a text, which is token[B, T~]; `%s` is %s",
                   input->name, type_text(e, type));
        return false;
    }
    for (int i = SETTINGS_OF_HIDE; i < SETTINGS_BEHIND; i++)
        if (column_settings[i].kind == SETTING_SHARE && !op_attr(op, column_settings[i].attr))
            op_set_attr(e->b.function, op, attr_float(column_settings[i].attr, 0.1));
    if (op_float(op, ATTR_keep) + op_float(op, ATTR_random) <= 1)
        return true;
    elab_error(e, feed, "`keep` and `random` are shares of the hidden tokens: together at most 1");
    return false;
}

/* The names of fields so far, and one more; NULL after a message. */
static const char *add_field(Elab *e, const Node *input, const Node *feed, const Node *arg,
                             const char *fields, const Op *op)
{
    const Type *type = &op_result((Op *)op)->type;
    const char *field = text_of(e, feed, arg, column_use);
    if (field && type->rank == 2 && dim_is_const(type->dims[1]) && !op_attr(op, ATTR_many))
        return arena_printf(e->arena, "%s\t%s", fields, field);
    if (field)
        elab_error(e, arg,
                   "several fields are a row of numbers, `float[B, n]` or `int[B, n]`: `%s` is %s",
                   input->name, type_text(e, type));
    return NULL;
}

/* Reads `column("FIELD", NAME = VALUE, …)` into the op's attributes; NULL after a message. */
static const char *read_column(Elab *e, const Node *input, const Node *feed, Op *op)
{
    const Node *first = feed->kids.count ? feed->kids.data[0] : NULL;
    if (!first || first->name || feed->label) {
        elab_error(e, feed, "`column` takes the name of a field first: write `%s`", column_use);
        return NULL;
    }
    const char *field = text_of(e, feed, first, column_use);
    bool ok = field != NULL;
    for (size_t i = 1; ok && i < feed->kids.count; i++) {
        const Node *arg = feed->kids.data[i];
        if (arg->name)
            ok = set_column(e, arg, input, op);
        else
            ok = (field = add_field(e, input, feed, arg, field, op)) != NULL;
    }
    return ok && complete_hiding(e, input, feed, op) ? field : NULL;
}

/* Reads `missing("FIELD")`; NULL after a message. */
static const char *read_missing(Elab *e, const Node *input, const Node *feed, Op *op)
{
    const Type *type = &op_result(op)->type;
    const char *field = NULL;
    for (size_t i = 0; i < feed->kids.count; i++) {
        const Node *arg = feed->kids.data[i];
        if (arg->name) {
            elab_error(e, arg,
                       "`missing` takes names of fields and nothing else: write "
                       "`missing(\"FIELD\")`");
            return NULL;
        }
        field = i ? add_field(e, input, feed, arg, field, op)
                  : text_of(e, feed, arg, "missing(\"FIELD\")");
        if (!field)
            return NULL;
    }
    if (!field) {
        elab_error(e, feed, "`missing` takes the name of a field: write `missing(\"FIELD\")`");
        return NULL;
    }
    if (!dtype_is_float(type->dtype)) {
        elab_error(e, input->a,
                   "`missing` gives numbers, 1 where there is no value: `%s` is %s, and "
                   "would be float",
                   input->name, type_text(e, type));
        return NULL;
    }
    op_set_attr(e->b.function, op, attr_int(ATTR_missing, 1));
    return field;
}

void declare_column(Elab *e, const Node *input, Op *op)
{
    static const char *const known[] = {"column", "missing"};
    const Node *feed = input->kids.count ? input->kids.data[0] : NULL;
    if (!feed)
        return;
    if (!is_call(feed, "column") && !is_call(feed, "missing")) {
        const char *hint =
            feed->kind == NODE_CALL ? did_you_mean(e, feed->name, NULL, 0, known, 2) : "";
        elab_error(e, feed, "what feeds an input is written `%s`, not `%s`%s", column_use,
                   expression_text(e->arena, feed), hint);
        return;
    }
    const char *field = is_call(feed, "missing") ? read_missing(e, input, feed, op)
                                                 : read_column(e, input, feed, op);
    const Type *type = &op_result(op)->type;
    if (!field)
        return;
    if (!begins_with_batch(e, type)) {
        elab_error(e, input->a,
                   "an input with a column begins with the batch, which a `dim` declares, as in "
                   "`[B]` or `[B, 32]`; `%s` is %s",
                   input->name, type_text(e, type));
        return;
    }
    set_text(e, op, ATTR_column, field);
}

/* ---- vocab NAME = words, words("FILE"), shared or own("SPEC") ---- */

/* The value of the op's attribute; NULL after a message. */
static const char *words_of(Elab *e, const Node *vocab)
{
    static const char *const known[] = {"words", "shared", "own"};
    const Node *value = vocab->a;
    bool is_name = value->kind == NODE_NAME;
    for (int i = 0; is_name && i < 2; i++)
        if (!strcmp(value->name, known[i]))
            return known[i];
    if (is_call(value, "words")) {
        const char *file = value->kids.count ? text_of_call(e, value, "words(\"FILE\")") : NULL;
        if (!value->kids.count)
            elab_error(e, value,
                       "`words()` names no file: write `words(\"FILE\")`, or `words` for the words "
                       "of the data");
        return file ? arena_printf(e->arena, "words:%s", file) : NULL;
    }
    if (is_call(value, "own")) {
        const char *spec = text_of_call(e, value, "own(\"auto:8000\")");
        return spec ? arena_printf(e->arena, "own:%s", spec) : NULL;
    }
    const char *hint =
        value->kind == NODE_STRING
            ? arena_printf(e->arena, "; write `words(%s)`", expression_text(e->arena, value))
        : is_name || value->kind == NODE_CALL ? did_you_mean(e, value->name, NULL, 0, known, 3)
                                              : "";
    elab_error(e, value,
               "a vocabulary is `words`, `words(\"FILE\")`, `shared` or `own(\"auto:8000\")`, not "
               "`%s`%s",
               expression_text(e->arena, value), hint);
    return NULL;
}

/* The declared input; NULL after a message. */
static const Decl *input_of(Elab *e, const Node *vocab)
{
    Decl *decl = map_get(&e->decls, vocab->name);
    if (decl && decl->node->kind == NODE_INPUT)
        return decl;
    VEC(const char *) inputs = {0};
    for (size_t i = 0; i < e->decls.count; i++) {
        const Decl *other = e->decls.entries[i].value;
        if (other->node->kind == NODE_INPUT)
            vec_push(e->arena, inputs, other->node->name);
    }
    elab_error(e, vocab, "the model has no input `%.60s`: only an input has a vocabulary%s",
               vocab->name, did_you_mean(e, vocab->name, NULL, 0, inputs.data, (int)inputs.count));
    if (decl)
        elab_note(e, decl->node->loc, "`%.60s` is declared here", vocab->name);
    return NULL;
}

static void declare_vocab(Elab *e, const Node *vocab)
{
    const Decl *decl = input_of(e, vocab);
    const char *words = vocab->a ? words_of(e, vocab) : NULL;
    if (!decl || !words || decl->value.kind != VAL_TENSOR)
        return;
    const Type *type = &decl->value.tensor->type;
    Op *op = decl->value.tensor->op;
    const bool is_set = op_attr(op, ATTR_many) != NULL;
    if (type->dtype == DT_I32 || (is_set && !strncmp(words, "words", 5))) {
        set_text(e, op, ATTR_vocab, words);
        return;
    }
    if (is_set)
        elab_error(e, vocab,
                   "`%s` has sets of labels: its vocabulary is `words` or `words(\"FILE\")`",
                   vocab->name);
    else
        elab_error(e, vocab,
                   "`%s` is %s: only an input of `token` or `int`, or a column with `many`, has a "
                   "vocabulary",
                   vocab->name, type_text(e, type));
    elab_note(e, decl->node->loc, "declared here");
}

/* In a model that is fed by columns, tokens without a vocabulary of their own have the one that
 * fits what the model does with them. */
static void declare_auto(Elab *e)
{
    bool has_columns = false;
    for (size_t i = 0; i < e->decls.count; i++) {
        const Decl *decl = e->decls.entries[i].value;
        has_columns = has_columns || (decl->node->kind == NODE_INPUT && decl->node->kids.count);
    }
    for (size_t i = 0; i < e->decls.count && has_columns; i++) {
        const Decl *decl = e->decls.entries[i].value;
        if (decl->node->kind == NODE_INPUT && decl->value.kind == VAL_TENSOR &&
            !strcmp(decl->node->text, "token"))
            set_text(e, decl->value.tensor->op, ATTR_vocab, "auto");
    }
}

void declare_vocabs(Elab *e)
{
    declare_auto(e);
    for (size_t i = 0; i < e->loaded.items.count; i++) {
        const Node *node = e->loaded.items.data[i];
        if (node->kind == NODE_VOCAB && !node->overridden)
            declare_vocab(e, node);
    }
}

/* ---- predict NAME = value ---- */

/* A softmax along another axis than the last gives no probabilities of what the last counts; a
 * block of that name is the model's own matter. */
static bool is_along_last(const Elab *e, const Node *call, const Value *value)
{
    return map_has(&e->blocks, call->name) || is_call(call, "sigmoid") ||
           value->op->kind == OP_softmax;
}

static const char *class_problem(const Elab *e, const Node *call, const Value *value)
{
    const Type *type = &value->type;
    if (!dtype_is_float(type->dtype))
        return "probabilities of classes are floats";
    if (!dim_is_const(type->dims[type->rank - 1]))
        return "the last dimension counts the classes, so it must be constant";
    if (is_call(call, "many") && type->rank != 2)
        return "a set of labels is of each row: its probabilities are [B, n]";
    if (!is_along_last(e, call, value))
        return "probabilities of classes are a softmax along the last axis";
    return NULL;
}

const char *prediction_kind(Elab *e, const Node *predict, const Val *val)
{
    const Node *given = predict->a;
    const bool many = is_call(given, "many"),
               classes = many || is_call(given, "softmax") || is_call(given, "sigmoid");
    const char *problem = NULL;
    if (val->kind != VAL_TENSOR || !begins_with_batch(e, &val->tensor->type))
        problem = "a model predicts something of each row, so the first dimension must be the "
                  "batch, which a `dim` declares";
    else if (classes)
        problem = class_problem(e, given, val->tensor);
    else if (val->tensor->type.dtype == DT_BOOL)
        problem = "a model predicts numbers; `float(x)` makes numbers of truth values";
    if (!problem)
        return many ? "many" : classes ? "classes" : "values";
    elab_error(e, given, "%s: `%s` is %s", problem, predict->name, val_text(e, val));
    return NULL;
}
