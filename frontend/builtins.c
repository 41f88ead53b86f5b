/* Functions known to the language: the table, their arguments, and those that
 * work element by element. Everything that can be written in the language itself
 * is in models/lib/prelude.tfg instead. */
#include "frontend/elab.h"

#include "ir/fold.h"
#include "ir/infer.h"

#include <math.h>

/* ---- element by element ---- */

static Val extreme(Elab *e, const Node *call, Val *args, OpKind kind)
{
    Value *x, *y;
    if (args[0].kind == VAL_NUMBER && args[1].kind == VAL_NUMBER) {
        double numbers[] = {args[0].number, args[1].number}, result = 0;
        fold_value(kind, DT_F64, numbers, &result);
        return val_number(result, call->loc);
    }
    if (!promote_pair(e, call, args[0], args[1], &x, &y) || !check_broadcast(e, call, x, y))
        return val_error();
    Val val = val_tensor(e, call, build_binary(&e->b, kind, x, y));
    if (val.kind == VAL_TENSOR) {
        copy_dim_names(e, val.tensor, x);
        copy_dim_names(e, val.tensor, y);
    }
    return val;
}

static Val run_maximum(Elab *e, const Node *call, Val *args)
{
    return extreme(e, call, args, OP_max);
}
static Val run_minimum(Elab *e, const Node *call, Val *args)
{
    return extreme(e, call, args, OP_min);
}

static Val with_names(Elab *e, const Node *call, Value *result, const Value *from)
{
    Val val = val_tensor(e, call, result);
    if (val.kind == VAL_TENSOR)
        copy_dim_names(e, val.tensor, from);
    return val;
}

static Val run_float(Elab *e, const Node *call, Val *args)
{
    Value *x = as_float(e, call, args[0]);
    return x ? val_tensor(e, call, x) : val_error();
}

static Val run_int(Elab *e, const Node *call, Val *args)
{
    if (args[0].kind == VAL_NUMBER)
        return val_number(trunc(args[0].number), args[0].origin);
    Value *x = as_tensor(e, call, args[0]);
    return x ? with_names(e, call, build_cast(&e->b, x, DT_I32), x) : val_error();
}

static Val run_stop_gradient(Elab *e, const Node *call, Val *args)
{
    Value *x = as_tensor(e, call, args[0]);
    return x ? with_names(e, call, build_unary(&e->b, OP_stop_gradient, x), x) : val_error();
}

/* What a known condition chooses: of tensors in the shape and type of both together, as for any
 * other condition. */
static Val choose_known(Elab *e, const Node *call, bool first, Val a, Val b)
{
    Val chosen = first ? a : b, other = first ? b : a;
    if (chosen.kind != VAL_TENSOR && other.kind != VAL_TENSOR)
        return chosen;
    if (chosen.kind == VAL_TENSOR && dtype_is_float(chosen.tensor->type.dtype) &&
        other.kind == VAL_NUMBER)
        return chosen;
    Value *x, *y;
    Type both;
    if (!promote_pair(e, call, a, b, &x, &y) || !check_broadcast(e, call, x, y) ||
        !shape_broadcast(&x->type, &y->type, &both))
        return val_error();
    Value *whole = build_broadcast(&e->b, first ? x : y, both.rank, both.dims);
    copy_dim_names(e, whole, x);
    copy_dim_names(e, whole, y);
    return val_tensor(e, call, whole);
}

static Val choose_value(Elab *e, const Node *call, Val condition, Val a, Val b)
{
    Value *x, *y;
    if (condition.kind == VAL_BOOL || condition.kind == VAL_NUMBER)
        return choose_known(e, call, condition.number != 0, a, b);
    Value *c = as_tensor(e, call, condition);
    if (!c || !promote_pair(e, call, a, b, &x, &y))
        return val_error();
    if (c->type.dtype != DT_BOOL)
        return elab_error(e, call, "`%s`: the condition is a truth value, not %s",
                          expression_text(e->arena, call), type_text(e, &c->type));
    if (!check_broadcast(e, call, c, x) || !check_broadcast(e, call, c, y) ||
        !check_broadcast(e, call, x, y))
        return val_error();
    Val val = with_names(e, call, build_select(&e->b, c, x, y), x);
    if (val.kind == VAL_TENSOR) {
        copy_dim_names(e, val.tensor, y);
        copy_dim_names(e, val.tensor, c);
    }
    return val;
}

static Val run_select(Elab *e, const Node *call, Val *args)
{
    return choose_value(e, call, args[0], args[1], args[2]);
}

/* Scores where allowed, -inf elsewhere: softmax gives 0 there. */
static Val run_mask(Elab *e, const Node *call, Val *args)
{
    return choose_value(e, call, args[1], args[0], val_number(-INFINITY, call->loc));
}

static Val run_dropout(Elab *e, const Node *call, Val *args)
{
    Value *x = as_float(e, call, args[0]);
    if (!x)
        return val_error();
    if (args[1].kind != VAL_NUMBER || args[1].number < 0 || args[1].number >= 1)
        return elab_error_of(
            e, call, &args[1],
            "`dropout`: the probability of a zero is a number from 0 to below 1, not %s",
            val_text(e, &args[1]));
    if (args[1].number == 0)
        return val_tensor(e, call, x);
    return with_names(e, call, build_dropout(&e->b, x, args[1].number, e->sites++), x);
}

static Val run_random(Elab *e, const Node *call, Val *args)
{
    Value *x = as_tensor(e, call, args[0]);
    if (!x)
        return val_error();
    Type type = x->type;
    type.dtype = e->float_type;
    return with_names(e, call, build_random(&e->b, type, e->sites++), x);
}

/* ---- data and checks ---- */

/* The op of an input of tokens; NULL after a message. */
static const Op *tokens_of(Elab *e, const Node *call, const Val *val)
{
    const Op *op = val->kind == VAL_TENSOR ? val->tensor->op : NULL;
    if (op && op->kind == OP_input && val->tensor->type.dtype == DT_I32)
        return op;
    elab_error(e, call, "`%s` takes an input of tokens, not %s", call->name, val_text(e, val));
    return NULL;
}

/* A further input that the runtime makes along with the given one. */
static Val made_input(Elab *e, const Node *call, const Val *of, const char *suffix)
{
    const char *name = arena_printf(e->arena, "%s%s", op_string(of->tensor->op, ATTR_name), suffix);
    Value *value = map_get(&e->inputs_made, name);
    if (!value) {
        value = build_input(&e->b, name, of->tensor->type);
        map_set(&e->inputs_made, name, value);
    }
    return val_tensor(e, call, value);
}

/* next(weight) of numbers beside a text: those of the tokens one place on; of the one that ends the
 * text that of the last one, or what the column says. */
static Val next_numbers(Elab *e, const Node *call, Value *x)
{
    const Type *type = &x->type;
    const int symbol = type->dims[1].symbol;
    Value *one = build_const(&e->b, DT_I32, 1);
    Dim dims[MAX_RANK];
    for (int i = 0; i < type->rank; i++)
        dims[i] = i ? dim_const(1) : type->dims[0];
    Value *length = build_reshape(&e->b, build_lengths(&e->b, DT_I32, symbol), type->rank, dims);
    Value *last = build_binary(&e->b, OP_sub, length, one);
    Value *position = build_iota_along(&e->b, type->dims[1], 1, type->rank);
    Value *behind = build_binary(&e->b, OP_add, position, one);
    Value *next = build_lookup(&e->b, x, build_binary(&e->b, OP_min, behind, last), 1);
    if (op_attr(x->op, ATTR_end)) {
        Value *end = build_const(&e->b, type->dtype, op_float(x->op, ATTR_end));
        next = build_select(&e->b, build_binary(&e->b, OP_lt, last, behind), end, next);
    }
    return with_names(e, call, next, x);
}

/* next(tgt): the tokens one place on; -1 past the end. */
static Val run_next(Elab *e, const Node *call, Val *args)
{
    Value *x = args[0].kind == VAL_TENSOR ? args[0].tensor : NULL;
    if (x && x->op->kind == OP_input && dtype_is_float(x->type.dtype) && x->type.rank > 1 &&
        symbol_is_ragged(e->module, x->type.dims[1].symbol))
        return next_numbers(e, call, x);
    return tokens_of(e, call, &args[0]) ? made_input(e, call, &args[0], NEXT_SUFFIX) : val_error();
}

/* hidden(text): the tokens that were chosen to be hidden; -1 elsewhere. */
static Val run_hidden(Elab *e, const Node *call, Val *args)
{
    const Op *op = tokens_of(e, call, &args[0]);
    if (!op)
        return val_error();
    if (op_attr(op, ATTR_hide))
        return made_input(e, call, &args[0], HIDDEN_SUFFIX);
    const char *name = op_string(op, ATTR_name);
    return elab_error(e, call,
                      "nothing of `%s` is hidden: `input %s : … = column(\"FIELD\", hide = 0.15)` "
                      "hides 15 %% of its tokens",
                      name, name);
}

static Val run_ctc(Elab *e, const Node *call, Val *args)
{
    Value *x = as_float(e, call, args[0]), *labels = x ? as_tensor(e, call, args[1]) : NULL;
    return labels ? val_tensor(e, call, build_binary(&e->b, OP_ctc, x, labels)) : val_error();
}

/* add_loss(x): another term of the model's loss, from wherever it is computed. */
static Val run_add_loss(Elab *e, const Node *call, Val *args)
{
    Value *x = as_float(e, call, args[0]);
    if (!x)
        return val_error();
    if (x->type.rank)
        return elab_error(e, call, "`add_loss` adds one number, not %s; `mean(x)` makes one",
                          type_text(e, &x->type));
    vec_push(e->arena, e->losses, ((LossTerm){x, call}));
    return (Val){0};
}

/* require(condition, message, a, b): the last two are shown where they come from. */
static Val run_require(Elab *e, const Node *call, Val *args)
{
    bool truth;
    if (!known_truth(e, call, &args[0], &truth))
        return val_error();
    if (truth)
        return (Val){0};
    e->frame->returned = e->frame != e->top; /* what follows relies on it */
    e->frame->result = val_error();
    const Val *about = is_users(e, &args[3].origin) ? &args[3] : &args[2];
    Val error = args[1].kind == VAL_STRING
                    ? elab_error_of(e, call, about, "%s", args[1].text)
                    : elab_error_of(e, call, about, "this does not hold: %s",
                                    expression_text(e->arena, call->kids.data[0]->a));
    for (int i = 2; i < MAX_BUILTIN_ARGS; i++)
        if (args[i].kind == VAL_NUMBER && args[i].text)
            elab_note(e, args[i].origin, "%s is %s", args[i].text,
                      val_text(e, &args[i]) + strlen("the number "));
    return error;
}

/* one_of(word, words): the word, which is one of them. */
static Val run_one_of(Elab *e, const Node *call, Val *args)
{
    const Node *asked = call->kids.data[0]->a;
    const Val *list = &args[1];
    const char **words =
        ARENA_ARRAY(e->arena, const char *, list->kind == VAL_LIST ? list->n + 1 : 1);
    int n = 0;
    while (list->kind == VAL_LIST && n < list->n && list->items[n].kind == VAL_STRING)
        words[n] = list->items[n].text, n++;
    if (list->kind != VAL_LIST || !n || n < list->n)
        return elab_error(e, call, "`one_of` takes a list of strings, not %s", val_text(e, list));
    bool is_word = args[0].kind == VAL_STRING;
    for (int i = 0; is_word && i < n; i++)
        if (!strcmp(args[0].text, words[i]))
            return args[0];
    const Decl *decl = asked->kind == NODE_NAME ? map_get(&e->decls, asked->name) : NULL;
    const char *near = is_word ? text_suggest(e->arena, "\"", args[0].text, words, (size_t)n) : "";
    Text known = {0};
    for (int i = 0; i < n; i++)
        text_add(&known, "%s\"%s\"", i ? ", " : "", words[i]);
    Val error =
        elab_error(e, decl ? decl->node : call, "`%s` is %s, but it can be %s alone%s",
                   expression_text(e->arena, asked), val_text(e, &args[0]), known.data, near);
    if (decl)
        elab_note(e, call->loc, "it is read here");
    text_free(&known);
    return error;
}

/* ---- the table ---- */

/* What is a function of one float, by its type rule in ir/ops.def, has its name here, too. */
#define BUILTIN_floats(name) {#name, "x", NULL, OP_##name},
#define BUILTIN_same(name)
#define BUILTIN_bools(name)
#define BUILTIN_cast(name)
#define BUILTIN_dropout(name)
#define BUILTIN_binary(name)
#define BUILTIN_compare(name)
#define BUILTIN_logic(name)
#define BUILTIN_select(name)

static const Builtin builtins[] = {
#define OP(name, ...)
#define ELEMENTWISE(name, arity, infer, ...) BUILTIN_##infer(name)
#include "ir/ops.def"
    {"abs", "x", NULL, OP_abs},
    {"relu", "x", NULL, OP_relu},
    {.name = "maximum", .params = "x y", .run = run_maximum},
    {.name = "minimum", .params = "x y", .run = run_minimum},
    {.name = "float", .params = "x", .run = run_float},
    {.name = "int", .params = "x", .run = run_int},
    {.name = "stop_gradient", .params = "x", .run = run_stop_gradient},
    {.name = "stop", .params = "x", .run = run_stop_gradient}, /* another spelling */
    {.name = "select", .params = "condition x y", .run = run_select},
    {.name = "mask", .params = "scores allowed", .run = run_mask},
    {.name = "dropout", .params = "x rate", .run = run_dropout},
    {.name = "random", .params = "x", .run = run_random},
    {.name = "sum", .params = "x axis?", .run = builtin_sum},
    {.name = "mean", .params = "x axis?", .run = builtin_mean},
    {.name = "max", .params = "x axis?", .run = builtin_max},
    {.name = "min", .params = "x axis?", .run = builtin_min},
    {.name = "softmax", .params = "x axis?", .run = builtin_softmax},
    {.name = "logsumexp", .params = "x axis?", .run = builtin_logsumexp},
    {.name = "reshape", .params = "x shape", .run = builtin_reshape},
    {.name = "permute", .params = "x order", .run = builtin_permute},
    {.name = "transpose", .params = "x a? b?", .run = builtin_transpose},
    {.name = "broadcast", .params = "x shape", .run = builtin_broadcast},
    {.name = "slice", .params = "x axis start size", .run = builtin_slice},
    {.name = "pad", .params = "x axis before after", .run = builtin_pad},
    {.name = "concat", .params = "parts axis?", .run = builtin_concat},
    {.name = "split", .params = "x parts axis?", .run = builtin_split},
    {.name = "flip", .params = "x axis?", .run = builtin_flip},
    {.name = "lookup", .params = "x dim index", .run = builtin_lookup},
    {.name = "scatter", .params = "rows dim index", .run = builtin_scatter},
    {.name = "pick", .params = "x index", .run = builtin_pick},
    {.name = "top_k", .params = "x k", .run = builtin_top_k},
    {.name = "argmax", .params = "x", .run = builtin_argmax},
    {.name = "full", .params = "shape value", .run = builtin_full},
    {.name = "position", .params = "dim", .run = builtin_position},
    {.name = "size", .params = "dim", .run = builtin_size},
    {.name = "lengths", .params = "dim", .run = builtin_lengths},
    {.name = "shape", .params = "x from? to?", .run = builtin_shape},
    {.name = "rank", .params = "x", .run = builtin_rank},
    {.name = "ragged", .params = "dim", .run = builtin_ragged},
    {.name = "is_float", .params = "x", .run = builtin_is_float},
    {.name = "next", .params = "input", .run = run_next},
    {.name = "hidden", .params = "input", .run = run_hidden},
    {.name = "ctc", .params = "log_probabilities labels", .run = run_ctc},
    {.name = "add_loss", .params = "x", .run = run_add_loss},
    {.name = "one_of", .params = "word words", .run = run_one_of},
    {.name = "require", .params = "condition message? about? about_too?", .run = run_require},
};
enum { N_BUILTINS = sizeof builtins / sizeof *builtins };

const Builtin *find_builtin(const char *name)
{
    for (int i = 0; i < N_BUILTINS; i++)
        if (!strcmp(builtins[i].name, name))
            return &builtins[i];
    return NULL;
}

int builtin_names(const char **names)
{
    for (int i = 0; names && i < N_BUILTINS; i++)
        names[i] = builtins[i].name;
    return N_BUILTINS;
}

/* ---- arguments ---- */

typedef struct Params {
    int n;
    const char *names[MAX_BUILTIN_ARGS];
    bool optional[MAX_BUILTIN_ARGS];
} Params;

static Params read_params(Elab *e, const char *text)
{
    Params params = {0};
    while (*text) {
        size_t length = strcspn(text, " ?");
        params.names[params.n] = arena_strndup(e->arena, text, length);
        text += length;
        params.optional[params.n++] = *text == '?';
        text += strspn(text, "? ");
    }
    return params;
}

static const char *params_text(Elab *e, const Builtin *builtin, const Params *params)
{
    Text text = {0};
    text_add(&text, "%s(", builtin->name);
    for (int i = 0; i < params->n; i++)
        text_add(&text, "%s%s%s", i ? ", " : "", params->names[i], params->optional[i] ? "?" : "");
    text_add(&text, ")");
    return text_keep(e->arena, &text);
}

static int place_of(const Params *params, const Node *arg, size_t i)
{
    if (!arg->name)
        return i < (size_t)params->n ? (int)i : -1;
    for (int k = 0; k < params->n; k++)
        if (!strcmp(params->names[k], arg->name))
            return k;
    return -1;
}

static bool bind(Elab *e, const Builtin *builtin, const Node *call, Val *args)
{
    Params params = read_params(e, builtin->params);
    bool given[MAX_BUILTIN_ARGS] = {0}, ok = true;
    for (size_t i = 0; i < call->kids.count; i++) {
        const Node *arg = call->kids.data[i];
        Val val = eval_node(e, arg->a);
        int at = place_of(&params, arg, i);
        if (at < 0 || given[at]) {
            if (at >= 0)
                elab_error(e, arg, "`%s` is given twice", params.names[at]);
            else if (arg->name)
                elab_error(e, arg, "`%s` takes no `%s`%s; it is %s", builtin->name, arg->name,
                           did_you_mean(e, arg->name, NULL, 0, params.names, params.n),
                           params_text(e, builtin, &params));
            else
                elab_error(e, arg, "`%s` takes %d argument%s, given %zu; it is %s", builtin->name,
                           params.n, text_plural(params.n, "", "s"), call->kids.count,
                           params_text(e, builtin, &params));
            return false;
        }
        if (val.kind == VAL_NONE)
            val = no_value(e, arg->a);
        ok &= val.kind != VAL_ERROR;
        args[at] = val;
        given[at] = true;
    }
    for (int i = 0; i < params.n; i++)
        if (!given[i] && !params.optional[i]) {
            elab_error(e, call, "`%s` needs `%s`; it is %s", builtin->name, params.names[i],
                       params_text(e, builtin, &params));
            return false;
        }
    return ok;
}

Val run_builtin(Elab *e, const Builtin *builtin, const Node *call)
{
    Val args[MAX_BUILTIN_ARGS] = {{0}};
    if (!bind(e, builtin, call, args))
        return val_error();
    e->b.loc = primary_place(e, call);
    if (builtin->run)
        return builtin->run(e, call, args);
    if (args[0].kind == VAL_NUMBER) {
        double result;
        if (!fold_value(builtin->op, DT_F64, &args[0].number, &result) || isnan(result))
            return elab_error(e, call, "`%s` is not a number", expression_text(e->arena, call));
        return val_number(result, e->b.loc);
    }
    bool whole = builtin->op == OP_abs || builtin->op == OP_relu;
    Value *x = whole ? as_tensor(e, call, args[0]) : as_float(e, call, args[0]);
    if (x && x->type.dtype == DT_BOOL)
        x = build_cast(&e->b, x, e->float_type);
    return x ? with_names(e, call, build_unary(&e->b, builtin->op, x), x) : val_error();
}
