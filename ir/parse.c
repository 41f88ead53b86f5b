/* The parser of the IR's text form: recursive descent, one function a rule of the
 * grammar in docs/ir.md. It builds what the text says and checks names; whether
 * the graph obeys the rules of the IR is the verifier's question.
 *
 * After a mistake it goes on at the next line, so that one run tells several. */
#include "ir/parser.h"
#include "ir/text.h"
#include "ir/words.h"

#include <inttypes.h>
#include <string.h>

static bool parse_op_kind(Parser *p, OpKind *kind)
{
    const char *names[OP_COUNT];
    for (int i = 0; i < OP_COUNT; i++) {
        names[i] = op_info[i].name;
        if (p->now.kind == TOKEN_WORD && !strcmp(names[i], p->now.text)) {
            *kind = (OpKind)i;
            tir_advance(p);
            return true;
        }
    }
    if (p->now.kind != TOKEN_WORD) {
        error_here(p, "expected an op");
        return false;
    }
    error_here(p, "there is no op `%s`%s", p->now.text,
               tir_suggestion(p, p->now.text, names, OP_COUNT));
    return false;
}

static const char *value_key(Parser *p)
{
    return arena_printf(p->arena, "%" PRId64, p->now.number);
}

typedef VEC(Value *) Values;

/* %1, %2, … An undefined one is reported and stood in for. */
static bool parse_operands(Parser *p, Values *operands)
{
    do {
        if (p->now.kind != TOKEN_VALUE) {
            error_here(p, "expected a value such as %%12");
            return false;
        }
        Value *value = map_get(&p->values, value_key(p));
        if (!value) {
            error_here(p, "%%%" PRId64 " is not defined before this use", p->now.number);
            value = p->unknown;
        }
        vec_push(p->arena, *operands, value);
        tir_advance(p);
    } while (tir_accept(p, ','));
    return true;
}

/* A line of a block before it becomes an op. */
typedef struct Line {
    VEC(Token) results;
    OpKind kind;
    Loc loc;
    Values operands;
    Attrs attrs;
    VEC(Type) types;
    const char *scope;
} Line;

static bool parse_results(Parser *p, Line *line)
{
    if (p->now.kind != TOKEN_VALUE)
        return true;
    do {
        if (p->now.kind != TOKEN_VALUE) {
            error_here(p, "expected a value such as %%12");
            return false;
        }
        vec_push(p->arena, line->results, p->now);
        tir_advance(p);
    } while (tir_accept(p, ','));
    return tir_expect(p, '=', "after results");
}

static bool parse_result_types(Parser *p, Line *line)
{
    if (line->results.count) {
        if (!tir_expect(p, ':', "and the type of each result"))
            return false;
        do {
            Type type;
            if (!tir_type(p, &type))
                return false;
            vec_push(p->arena, line->types, type);
        } while (tir_accept(p, ','));
    }
    if (line->types.count == line->results.count)
        return true;
    parse_error(p, line->loc, "the results and their types differ in number: %zu and %zu",
                line->results.count, line->types.count);
    return false;
}

/* A line up to the body of a region. */
static bool parse_line(Parser *p, Line *line)
{
    line->loc = p->now.loc;
    if (!parse_results(p, line))
        return false;
    line->loc = p->now.loc;
    if (!parse_op_kind(p, &line->kind))
        return false;
    if (tir_accept(p, '(')) {
        if (!tir_accept(p, ')') &&
            !(parse_operands(p, &line->operands) && tir_expect(p, ')', "after operands")))
            return false;
    } else if (p->now.kind == TOKEN_VALUE && !p->now.starts_line) {
        if (!parse_operands(p, &line->operands))
            return false;
    }
    return tir_attrs(p, &line->attrs) && parse_result_types(p, line) &&
           (!tir_accept(p, '@') || (line->scope = tir_name(p, "a scope")) != NULL);
}

static void define_results(Parser *p, const Line *line, Op *op)
{
    for (size_t i = 0; i < line->results.count; i++) {
        const char *key = arena_printf(p->arena, "%" PRId64, line->results.data[i].number);
        Value *before = map_get(&p->values, key);
        if (before) {
            parse_error(p, line->results.data[i].loc, "%%%s is defined twice", key);
            if (before->op)
                diag_note(p->diags, before->op->loc, "here is the first");
        }
        map_set(&p->values, key, op ? &op->results[i] : p->unknown);
    }
}

static Op *make_op(Parser *p, const Line *line)
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

/* From a mistake in the line that began after `start` tokens to the next line;
 * whether the line skipped opened a block. */
static bool skip_line(Parser *p, long start)
{
    bool opens = false;
    while (p->now.kind != TOKEN_END && (p->consumed == start || !p->now.starts_line)) {
        opens = at_mark(p, '{');
        tir_advance(p);
        if (parse_errors(p) >= MOST_ERRORS)
            tir_give_up(p);
    }
    return opens;
}

static void parse_block(Parser *p, Block *block);

static void parse_body(Parser *p, Block *block)
{
    if (p->depth == DEEPEST_REGION) {
        error_here(p, "regions are nested more than %d deep", DEEPEST_REGION);
        tir_give_up(p);
        return;
    }
    p->depth++;
    parse_block(p, block);
    p->depth--;
    tir_expect(p, '}', "after the body of a region");
}

static void parse_op(Parser *p, Block *block)
{
    Line line = {0};
    long start = p->consumed;
    Op *op = parse_line(p, &line) ? make_op(p, &line) : NULL;
    if (!op) {
        if (skip_line(p, start))
            parse_body(p, &(Block){0});
    } else {
        if (op_family(op) == FAMILY_region && tir_expect(p, '{', "and the body of the region")) {
            op->body = block_of_region(p->arena);
            parse_body(p, op->body);
        }
        block_append(block, op);
    }
    define_results(p, &line, op);
}

static void parse_block(Parser *p, Block *block)
{
    while (p->now.kind != TOKEN_END && !at_mark(p, '}'))
        parse_op(p, block);
}

static bool parse_function(Parser *p)
{
    Loc loc = p->now.loc;
    const char *name = tir_name(p, "the function's name");
    if (!name || !tir_expect(p, '{', "before the function's ops"))
        return false;
    if (module_function(p->module, name))
        parse_error(p, loc, "function `%s` is defined twice", name);
    if (p->module->functions.count == MOST_FUNCTIONS) {
        parse_error(p, loc, "more than %d functions", MOST_FUNCTIONS);
        tir_give_up(p);
        return false;
    }
    p->function = module_add_function(p->module, name);
    map_init(&p->values, p->arena);
    parse_block(p, &p->function->body);
    return tir_expect(p, '}', "after the function's ops");
}

static bool parse_dim_declaration(Parser *p)
{
    Loc loc = p->now.loc;
    int batch = NO_SYMBOL;
    const char *name = tir_name(p, "the dimension's name");
    if (!name || (tir_accept_word(p, "ragged") && !tir_symbol(p, &batch)))
        return false;
    if (module_symbol(p->module, name) != NO_SYMBOL) {
        parse_error(p, loc, "dimension `%s` is declared twice", name);
    } else if (p->module->symbols.count == MOST_DIMS) {
        parse_error(p, loc, "more than %d dimensions", MOST_DIMS);
        tir_give_up(p);
    } else {
        module_add_symbol(p->module, name, batch);
    }
    return true;
}

static bool parse_init(Parser *p, ParamInfo *info)
{
    int kind = 0;
    while (kind < INIT_COUNT &&
           !(p->now.kind == TOKEN_WORD && !strcmp(tir_inits[kind].name, p->now.text)))
        kind++;
    if (kind == INIT_COUNT) {
        error_here(p, "expected how the param begins: zeros, ones, constant(a), normal(a, b), …");
        return false;
    }
    tir_advance(p);
    info->init = (InitKind)kind;
    if (kind == INIT_FILE)
        return tir_expect(p, '(', "and the file") &&
               (info->file = tir_string(p, "the file's name")) &&
               tir_expect(p, ',', "and the tensor's name") &&
               (info->tensor = tir_string(p, "the tensor's name")) &&
               tir_expect(p, ')', "after the name");
    if (tir_inits[kind].numbers == 0)
        return true;
    if (!tir_expect(p, '(', "and a number") || !tir_float(p, &info->a))
        return false;
    if (tir_inits[kind].numbers == 2 &&
        (!tir_expect(p, ',', "and a number") || !tir_float(p, &info->b)))
        return false;
    return tir_expect(p, ')', "after the number");
}

static bool parse_role(Parser *p, ParamInfo *info)
{
    for (int role = 0; role < PARAM_ROLES; role++)
        if (tir_accept_word(p, tir_roles[role])) {
            info->role = (ParamRole)role;
            return true;
        }
    error_here(p, "expected a role: trained, frozen, state, slot or gradient");
    return false;
}

static bool parse_param_settings(Parser *p, ParamInfo *info)
{
    if (!tir_accept(p, '{'))
        return true;
    do {
        const char *key = tir_name(p, "role, init or decay");
        if (!key || !tir_expect(p, '=', "after the name"))
            return false;
        if (!strcmp(key, "role")) {
            if (!parse_role(p, info))
                return false;
        } else if (!strcmp(key, "init")) {
            if (!parse_init(p, info))
                return false;
        } else if (strcmp(key, "decay")) {
            error_here(p, "a param has role, init and decay but no `%s`", key);
            return false;
        } else if (!(info->decay = tir_accept_word(p, "true")) && !tir_accept_word(p, "false")) {
            error_here(p, "expected true or false");
            return false;
        }
    } while (tir_accept(p, ','));
    return tir_expect(p, '}', "after the param's settings");
}

static bool parse_param(Parser *p)
{
    ParamInfo info = {.loc = p->now.loc};
    info.name = tir_string(p, "the param's name");
    if (!info.name || !tir_expect(p, ':', "and the param's type") || !tir_type(p, &info.type) ||
        !parse_param_settings(p, &info))
        return false;
    if (module_param(p->module, info.name)) {
        parse_error(p, info.loc, "param `%s` is declared twice", info.name);
        diag_note(p->diags, module_param(p->module, info.name)->loc, "here is the first");
    } else {
        module_add_param(p->module, info);
    }
    return true;
}

static void parse_declaration(Parser *p)
{
    long start = p->consumed;
    bool read = false;
    if (tir_accept_word(p, "dim"))
        read = parse_dim_declaration(p);
    else if (tir_accept_word(p, "param"))
        read = parse_param(p);
    else if (tir_accept_word(p, "func"))
        read = parse_function(p);
    else
        error_here(p, "expected dim, param or func");
    if (!read && skip_line(p, start)) { /* a function with a wrong head */
        p->function = module_add_function(p->module, "");
        map_init(&p->values, p->arena);
        parse_block(p, &p->function->body);
        tir_accept(p, '}');
    }
}

Module *ir_parse(Arena *arena, Diagnostics *diags, const Source *source)
{
    Parser parser = {.scan = tir_scan_begin(arena, diags, source),
                     .arena = arena,
                     .diags = diags,
                     .errors_before = diags->errors,
                     .unknown = ARENA_NEW(arena, Value)};
    Parser *p = &parser;
    tir_advance(p);
    const char *name = NULL;
    if (!tir_accept_word(p, "module"))
        error_here(p, "expected `module` and its name in quotes");
    else
        name = tir_string(p, "the module's name");
    p->module = module_new(arena, diags, name ? name : "");
    if (!name)
        skip_line(p, p->consumed);
    while (p->now.kind != TOKEN_END)
        parse_declaration(p);
    return parse_errors(p) ? NULL : p->module;
}
