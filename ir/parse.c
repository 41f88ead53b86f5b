/* The parser of the IR's text form: recursive descent, one function a rule of the
 * grammar in docs/ir.md. It builds what the text says and checks names; whether
 * the graph obeys the rules of the IR is the verifier's question.
 *
 * After a mistake it goes on at the next line, so that one run tells several. */
#include "ir/parser.h"
#include "ir/text.h"

#include <inttypes.h>
#include <string.h>

static bool parse_op_kind(TirParser *p, OpKind *kind)
{
    const char *names[OP_COUNT];
    for (int i = 0; i < OP_COUNT; i++) {
        names[i] = op_info[i].name;
        if (p->in.now.kind == TOKEN_WORD && !strcmp(names[i], p->in.now.text)) {
            *kind = (OpKind)i;
            read_advance(&p->in);
            return true;
        }
    }
    if (p->in.now.kind != TOKEN_WORD) {
        read_error_here(&p->in, "expected an op");
        return false;
    }
    read_error_here(&p->in, "there is no op `%s`%s", p->in.now.text,
                    read_suggestion(&p->in, p->in.now.text, names, OP_COUNT));
    return false;
}

static const char *value_key(TirParser *p)
{
    return arena_printf(p->arena, "%" PRId64, p->in.now.number);
}

typedef VEC(Value *) Values;

/* %1, %2, … An undefined one is reported and stood in for. */
static bool parse_operands(TirParser *p, Values *operands)
{
    do {
        if (p->in.now.kind != TOKEN_VALUE) {
            read_error_here(&p->in, "expected a value such as %%12");
            return false;
        }
        Value *value = map_get(&p->values, value_key(p));
        if (!value) {
            read_error_here(&p->in, "%%%" PRId64 " is not defined before this use",
                            p->in.now.number);
            value = p->unknown;
        }
        vec_push(p->arena, *operands, value);
        read_advance(&p->in);
    } while (read_accept(&p->in, ','));
    return true;
}

/* A line of a block before it becomes an op. */
typedef struct GraphLine {
    VEC(ScanToken) results;
    OpKind kind;
    Loc loc;
    Values operands;
    Attrs attrs;
    VEC(Type) types;
    const char *scope;
} GraphLine;

static bool parse_results(TirParser *p, GraphLine *line)
{
    if (p->in.now.kind != TOKEN_VALUE)
        return true;
    do {
        if (p->in.now.kind != TOKEN_VALUE) {
            read_error_here(&p->in, "expected a value such as %%12");
            return false;
        }
        vec_push(p->arena, line->results, p->in.now);
        read_advance(&p->in);
    } while (read_accept(&p->in, ','));
    return read_expect(&p->in, '=', "after results");
}

static bool parse_result_types(TirParser *p, GraphLine *line)
{
    if (line->results.count) {
        if (!read_expect(&p->in, ':', "and the type of each result"))
            return false;
        do {
            Type type;
            if (!tir_type(p, &type))
                return false;
            vec_push(p->arena, line->types, type);
        } while (read_accept(&p->in, ','));
    }
    if (line->types.count == line->results.count)
        return true;
    read_error(&p->in, line->loc, "the results and their types differ in number: %zu and %zu",
               line->results.count, line->types.count);
    return false;
}

/* A line up to the body of a region. */
static bool parse_line(TirParser *p, GraphLine *line)
{
    line->loc = p->in.now.loc;
    if (!parse_results(p, line))
        return false;
    line->loc = p->in.now.loc;
    if (!parse_op_kind(p, &line->kind))
        return false;
    if (read_accept(&p->in, '(')) {
        if (!read_accept(&p->in, ')') &&
            !(parse_operands(p, &line->operands) && read_expect(&p->in, ')', "after operands")))
            return false;
    } else if (p->in.now.kind == TOKEN_VALUE && !p->in.now.starts_line) {
        if (!parse_operands(p, &line->operands))
            return false;
    }
    return tir_attrs(p, &line->attrs) && parse_result_types(p, line) &&
           (!read_accept(&p->in, '@') || (line->scope = read_name(&p->in, "a scope")) != NULL);
}

static void define_results(TirParser *p, const GraphLine *line, Op *op)
{
    for (size_t i = 0; i < line->results.count; i++) {
        const char *key = arena_printf(p->arena, "%" PRId64, line->results.data[i].number);
        Value *before = map_get(&p->values, key);
        if (before) {
            read_error(&p->in, line->results.data[i].loc, "%%%s is defined twice", key);
            if (before->op)
                diag_note(p->diags, before->op->loc, "here is the first");
        }
        map_set(&p->values, key, op ? &op->results[i] : p->unknown);
    }
}

static Op *make_op(TirParser *p, const GraphLine *line)
{
    Op *op = op_new(p->function, line->kind, (int)line->operands.count, line->operands.data,
                    (int)line->results.count);
    for (size_t i = 0; i < line->types.count; i++)
        op->results[i].type = line->types.data[i];
    for (size_t i = 0; i < line->attrs.count; i++)
        op_set_attr(p->function, op, line->attrs.data[i]);
    op->loc = line->loc;
    op->scope = line->scope;
    return op;
}

static void parse_block(TirParser *p, Block *block);

static void parse_body(TirParser *p, Block *block)
{
    if (p->depth == DEEPEST_REGION) {
        read_error_here(&p->in, "regions are nested more than %d deep", DEEPEST_REGION);
        read_give_up(&p->in);
        return;
    }
    p->depth++;
    parse_block(p, block);
    p->depth--;
    read_expect(&p->in, '}', "after the body of a region");
}

static void parse_op(TirParser *p, Block *block)
{
    GraphLine line = {0};
    long start = p->in.consumed;
    Op *op = parse_line(p, &line) ? make_op(p, &line) : NULL;
    if (!op) {
        if (read_skip_line(&p->in, start))
            parse_body(p, &(Block){0});
    } else {
        if (op_family(op) == FAMILY_region &&
            read_expect(&p->in, '{', "and the body of the region")) {
            op->body = block_of_region(p->arena);
            parse_body(p, op->body);
        }
        block_append(block, op);
    }
    define_results(p, &line, op);
}

static void parse_block(TirParser *p, Block *block)
{
    while (p->in.now.kind != TOKEN_END && !read_at(&p->in, '}'))
        parse_op(p, block);
}

static bool parse_function(TirParser *p)
{
    Loc loc = p->in.now.loc;
    const char *name = read_name(&p->in, "the function's name");
    if (!name || !read_expect(&p->in, '{', "before the function's ops"))
        return false;
    if (module_function(p->module, name))
        read_error(&p->in, loc, "function `%s` is defined twice", name);
    if (p->module->functions.count == MOST_FUNCTIONS) {
        read_error(&p->in, loc, "more than %d functions", MOST_FUNCTIONS);
        read_give_up(&p->in);
        return false;
    }
    p->function = module_add_function(p->module, name);
    map_init(&p->values, p->arena);
    parse_block(p, &p->function->body);
    return read_expect(&p->in, '}', "after the function's ops");
}

static bool parse_number(TirParser *p, int64_t least, int32_t *out)
{
    int64_t number;
    if (!read_int(&p->in, least, INT32_MAX, &number))
        return false;
    *out = (int32_t)number;
    return true;
}

static bool parse_range(TirParser *p, DimFormula *formula)
{
    return parse_number(p, 0, &formula->least) &&
           read_expect(&p->in, ',', "and the most positions of the last dimension") &&
           parse_number(p, 1, &formula->most) && read_expect(&p->in, ']', "after the range");
}

/* The rest of `= (2 S + 1 T + 1) / 3 [4, 9]`. */
static bool parse_formula(TirParser *p, DimFormula *formula)
{
    *formula = (DimFormula){0};
    if (!read_expect(&p->in, '(', "before what the dimension is made of"))
        return false;
    for (;;) {
        if (!parse_number(p, INT32_MIN, &formula->plus))
            return false;
        if (formula->n && read_accept(&p->in, ')'))
            break;
        if (formula->n == MAX_DIM_TERMS) {
            read_error_here(&p->in, "a dimension is made of at most %d others", MAX_DIM_TERMS);
            return false;
        }
        int symbol;
        if (!tir_symbol(p, &symbol) || !read_expect(&p->in, '+', "between terms"))
            return false;
        formula->terms[formula->n++] = (DimTerm){symbol, formula->plus};
    }
    return read_expect(&p->in, '/', "and the divisor") &&
           parse_number(p, INT32_MIN, &formula->divisor) &&
           (!read_accept(&p->in, '[') || parse_range(p, formula));
}

static bool parse_dim_declaration(TirParser *p)
{
    Loc loc = p->in.now.loc;
    int batch = NO_SYMBOL;
    DimFormula formula = {0};
    const char *name = read_name(&p->in, "the dimension's name"), *problem = NULL;
    if (!name || (read_accept_word(&p->in, "ragged") && !tir_symbol(p, &batch)) ||
        (read_accept(&p->in, '=') && !parse_formula(p, &formula)))
        return false;
    if (formula.n &&
        formula_batch(p->module, &formula, (int)p->module->symbols.count, &problem) != batch &&
        !problem)
        problem = "is not ragged over what it is made of";
    if (module_symbol(p->module, name) != NO_SYMBOL) {
        read_error(&p->in, loc, "dimension `%s` is declared twice", name);
    } else if (p->module->symbols.count == MOST_SYMBOLS) {
        read_error(&p->in, loc, "more than %d dimensions", MOST_SYMBOLS);
        read_give_up(&p->in);
    } else if (problem) {
        read_error(&p->in, loc, "dimension `%s` %s", name, problem);
    } else {
        int symbol = module_add_symbol(p->module, name, batch);
        p->module->symbols.data[symbol].formula = formula;
    }
    return true;
}

static bool parse_init(TirParser *p, ParamInfo *info)
{
    int kind = 0;
    while (kind < INIT_COUNT &&
           !(p->in.now.kind == TOKEN_WORD && !strcmp(tir_inits[kind].name, p->in.now.text)))
        kind++;
    if (kind == INIT_COUNT) {
        read_error_here(&p->in,
                        "expected how the param begins: zeros, ones, constant(a), normal(a, b), …");
        return false;
    }
    read_advance(&p->in);
    info->init = (InitKind)kind;
    if (kind == INIT_FILE)
        return read_expect(&p->in, '(', "and the file") &&
               (info->file = read_string(&p->in, "the file's name")) &&
               read_expect(&p->in, ',', "and the tensor's name") &&
               (info->tensor = read_string(&p->in, "the tensor's name")) &&
               read_expect(&p->in, ')', "after the name");
    if (tir_inits[kind].numbers == 0)
        return true;
    if (!read_expect(&p->in, '(', "and a number") || !read_float(&p->in, &info->a))
        return false;
    if (tir_inits[kind].numbers == 2 &&
        (!read_expect(&p->in, ',', "and a number") || !read_float(&p->in, &info->b)))
        return false;
    return read_expect(&p->in, ')', "after the number");
}

static bool parse_role(TirParser *p, ParamInfo *info)
{
    for (int role = 0; role < PARAM_ROLES; role++)
        if (read_accept_word(&p->in, tir_roles[role])) {
            info->role = (ParamRole)role;
            return true;
        }
    read_error_here(&p->in, "expected a role: trained, frozen, state, slot or gradient");
    return false;
}

static bool parse_param_flag(TirParser *p, const char *key, ParamInfo *info)
{
    bool *flag = !strcmp(key, "decay") ? &info->decay : !strcmp(key, "kept") ? &info->kept : NULL;
    if (!flag) {
        read_error_here(&p->in, "a param has role, init, decay, kept and quant but no `%s`", key);
        return false;
    }
    if (!(*flag = read_accept_word(&p->in, "true")) && !read_accept_word(&p->in, "false")) {
        read_error_here(&p->in, "expected true or false");
        return false;
    }
    return true;
}

static bool parse_param_quant(TirParser *p, ParamInfo *info)
{
    const char *word = read_string(&p->in, "a word of " QUANT_WORDS);
    info->quant = word ? quant_of_word(word) : QUANT_NONE;
    if (word && !info->quant)
        read_error_here(&p->in, "quant is \"%s\", not one of %s", word, QUANT_WORDS);
    return info->quant != QUANT_NONE;
}

static bool parse_param_settings(TirParser *p, ParamInfo *info)
{
    if (!read_accept(&p->in, '{'))
        return true;
    do {
        const char *key = read_name(&p->in, "role, init, decay, kept or quant");
        if (!key || !read_expect(&p->in, '=', "after the name"))
            return false;
        if (!strcmp(key, "role")) {
            if (!parse_role(p, info))
                return false;
        } else if (!strcmp(key, "quant")) {
            if (!parse_param_quant(p, info))
                return false;
        } else if (!strcmp(key, "init")) {
            if (!parse_init(p, info))
                return false;
        } else if (!parse_param_flag(p, key, info)) {
            return false;
        }
    } while (read_accept(&p->in, ','));
    return read_expect(&p->in, '}', "after the param's settings");
}

static bool parse_param(TirParser *p)
{
    ParamInfo info = {.loc = p->in.now.loc};
    info.name = read_string(&p->in, "the param's name");
    if (!info.name || !read_expect(&p->in, ':', "and the param's type") ||
        !tir_type(p, &info.type) || !parse_param_settings(p, &info))
        return false;
    if (module_param(p->module, info.name)) {
        read_error(&p->in, info.loc, "param `%s` is declared twice", info.name);
        diag_note(p->diags, module_param(p->module, info.name)->loc, "here is the first");
    } else {
        module_add_param(p->module, info);
    }
    return true;
}

static void parse_declaration(TirParser *p)
{
    long start = p->in.consumed;
    bool read = false;
    if (read_accept_word(&p->in, "dim"))
        read = parse_dim_declaration(p);
    else if (read_accept_word(&p->in, "param"))
        read = parse_param(p);
    else if (read_accept_word(&p->in, "func"))
        read = parse_function(p);
    else
        read_error_here(&p->in, "expected dim, param or func");
    if (!read && read_skip_line(&p->in, start)) { /* a function with a wrong head */
        p->function = module_add_function(p->module, "");
        map_init(&p->values, p->arena);
        parse_block(p, &p->function->body);
        read_accept(&p->in, '}');
    }
}

Module *ir_parse(Arena *arena, Diagnostics *diags, const Source *source)
{
    TirParser parser = {.in = read_begin(arena, diags, source, "=:,{}()[]@~+/"),
                        .arena = arena,
                        .diags = diags,
                        .unknown = ARENA_NEW(arena, Value)};
    TirParser *p = &parser;
    const char *name = NULL;
    if (!read_accept_word(&p->in, "module")) {
        read_error_here(&p->in, "expected `module` and its name in quotes, which IR begins with");
        return NULL;
    }
    name = read_string(&p->in, "the module's name");
    p->module = module_new(arena, diags, name ? name : "");
    if (!name)
        read_skip_line(&p->in, p->in.consumed);
    while (p->in.now.kind != TOKEN_END)
        parse_declaration(p);
    return read_errors(&p->in) ? NULL : p->module;
}
