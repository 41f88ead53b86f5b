/* The parser of loop IR's text form: recursive descent, one function a rule of the grammar in
 * docs/loop-ir.md. It builds what the text says and checks names; whether that obeys the rules
 * is the verifier's question.
 *
 * After a mistake it goes on at the next line, so that one run reports several. Functions may be
 * called before they are defined: calls and records are linked at the end. */
#include "codegen/loop/text/parser.h"
#include "codegen/loop/text/text.h"

#include <inttypes.h>

static void parse_block(LoParser *p, LoBlock *block);

/* ---- ops ---- */

/* Each line of a block before it becomes an op. */
typedef struct LoopLine {
    LoOp op;
    ScanToken result; /* TOKEN_END: none */
    LoParserValues args;
    const char *callee;
    Loc loc;
} LoopLine;

static bool parse_kind(LoParser *p, LoopLine *line)
{
    const char *names[LO_KINDS];
    size_t n = 0;
    for (int i = 0; i < LO_KINDS; i++) {
        if (!lo_info[i].name)
            continue;
        names[n++] = lo_info[i].name;
        if (read_accept_word(&p->in, lo_info[i].name)) {
            line->op.kind = (LoKind)i;
            return true;
        }
    }
    if (p->in.now.kind != TOKEN_WORD)
        read_error_here(&p->in, "expected an op");
    else
        read_error_here(&p->in, "there is no op `%s`%s", p->in.now.text,
                        read_suggestion(&p->in, p->in.now.text, names, n));
    return false;
}

static bool parse_result(LoParser *p, LoopLine *line)
{
    line->result = p->in.now;
    if (p->in.now.kind != TOKEN_VALUE) {
        read_error_here(&p->in, "expected the result, such as %%12");
        return false;
    }
    read_advance(&p->in);
    return read_expect(&p->in, '=', "after the result");
}

/* vector LANES, perhaps jam VECTORS, whole, masked. */
static bool parse_vector(LoParser *p, LoopLine *line)
{
    int64_t lanes = 0, jam = 0;
    if (!read_accept_word(&p->in, "vector"))
        return true;
    if (!read_int(&p->in, 1, LO_MAX_LANES, &lanes) ||
        (read_accept_word(&p->in, "jam") && !read_int(&p->in, 1, LO_MAX_JAM, &jam)))
        return false;
    bool whole = read_accept_word(&p->in, "whole"), masked = read_accept_word(&p->in, "masked");
    line->op.vector = (LoVector){(uint8_t)lanes, (uint8_t)jam, whole, masked};
    return true;
}

static bool parse_for(LoParser *p, LoopLine *line)
{
    if (!lo_parse_type(p, &line->op.type) || !parse_result(p, line) ||
        !lo_parse_operand(p, &line->args))
        return false;
    if (!read_accept_word(&p->in, "to")) {
        read_error_here(&p->in, "expected `to` and the end of the loop");
        return false;
    }
    if (!lo_parse_operand(p, &line->args))
        return false;
    if (!read_accept_word(&p->in, "step")) {
        read_error_here(&p->in, "expected `step` and a number");
        return false;
    }
    return read_int(&p->in, INT64_MIN, INT64_MAX, &line->op.number) && parse_vector(p, line);
}

/* LAST >= STEP over CARRIES, of which LAST is the last. */
static bool parse_while(LoParser *p, LoopLine *line)
{
    LoParserValues test = {0};
    Loc loc = p->in.now.loc;
    if (!lo_parse_operand(p, &test) || !read_expect(&p->in, '>', "= and the step") ||
        !read_expect(&p->in, '=', "after >") || !lo_parse_operand(p, &test))
        return false;
    if (!read_accept_word(&p->in, "over")) {
        read_error_here(&p->in, "expected `over` and the carries of the loop");
        return false;
    }
    if (!lo_parse_operands(p, &line->args))
        return false;
    if (vec_last(line->args) != test.data[0]) {
        read_error(&p->in, loc, "a while tests the last of its carries");
        return false;
    }
    vec_push(p->arena, line->args, test.data[1]);
    int64_t unroll = 0;
    if (read_accept_word(&p->in, "unroll") && !read_int(&p->in, 2, LO_MAX_UNROLL, &unroll))
        return false;
    line->op.unroll = (int)unroll;
    return true;
}

static bool parse_call(LoParser *p, LoopLine *line)
{
    line->callee = lo_parse_name(p);
    return line->callee && read_expect(&p->in, '(', "before operands") &&
           (read_accept(&p->in, ')') ||
            (lo_parse_operands(p, &line->args) && read_expect(&p->in, ')', "after operands")));
}

static bool parse_plain(LoParser *p, LoopLine *line)
{
    LoForm form = lo_info[line->op.kind].form;
    int64_t align = 0, parts = 0;
    if (form == LO_FORM_ELEMENT && !lo_parse_type(p, &line->op.element))
        return false;
    if (line->op.kind == LO_math && !(line->op.name = read_string(&p->in, "the function's name")))
        return false;
    bool operand_follows = p->in.now.kind == TOKEN_VALUE || p->in.now.kind == TOKEN_WORD;
    if (operand_follows && !p->in.now.starts_line && !lo_parse_operands(p, &line->args))
        return false;
    if (form == LO_FORM_ORDER && !lo_parse_order(p, &line->op))
        return false;
    if ((form == LO_FORM_ALIGN || form == LO_FORM_ELEMENT) && read_accept_word(&p->in, "align") &&
        !read_int(&p->in, 1, UINT16_MAX, &align))
        return false;
    if (line->op.kind == LO_accumulator && read_accept_word(&p->in, "parts") &&
        !read_int(&p->in, 1, LO_MAX_LANES * LO_MAX_JAM, &parts))
        return false;
    line->op.align = (uint16_t)align;
    line->op.parts = (int)parts;
    return true;
}

static bool takes_name(LoKind kind)
{
    return lo_info[kind].form == LO_FORM_BLOCKS || kind == LO_scratch || kind == LO_accumulator;
}

/* A line up to its block. */
static bool parse_line(LoParser *p, LoopLine *line)
{
    bool typed = p->in.now.kind == TOKEN_WORD && lo_is_type_word(p->in.now.text);
    if (typed && !(lo_parse_type(p, &line->op.type) && parse_result(p, line)))
        return false;
    line->loc = p->in.now.loc;
    if (!parse_kind(p, line))
        return false;
    const LoInfo *info = &lo_info[line->op.kind];
    bool wants_type = info->result != LO_RESULT_NONE && line->op.kind != LO_for;
    if (typed != wants_type) {
        read_error(&p->in, line->loc,
                   typed ? "`%s` is written without a result"
                         : "`%s` gives a value: TYPE %%1 = %s …",
                   info->name, info->name);
        return false;
    }
    if (line->op.kind == LO_load)
        line->op.memory = read_accept_word(&p->in, "fixed")   ? LO_FIXED
                          : read_accept_word(&p->in, "given") ? LO_GIVEN
                                                              : LO_CHANGES;
    bool read = line->op.kind == LO_for     ? parse_for(p, line)
                : line->op.kind == LO_while ? parse_while(p, line)
                : line->op.kind == LO_call  ? parse_call(p, line)
                                            : parse_plain(p, line);
    if (read && takes_name(line->op.kind) && p->in.now.kind == TOKEN_STRING)
        line->op.name = read_string(&p->in, "a word");
    return read;
}

static void define_result(LoParser *p, const LoopLine *line, LoOp *op)
{
    if (line->result.kind != TOKEN_VALUE)
        return;
    const char *key = arena_printf(p->arena, "%" PRId64, line->result.number);
    if (map_has(&p->values, key))
        read_error(&p->in, line->result.loc, "%%%s is defined twice", key);
    map_set(&p->values, key, op ? op : p->unknown);
}

static LoBlock *parse_body(LoParser *p, LoOp *parent)
{
    LoBlock *block = ARENA_NEW(p->arena, LoBlock);
    *block = (LoBlock){.parent = parent, .function = p->lo.function};
    if (p->depth == DEEPEST_BLOCK) {
        read_error_here(&p->in, "blocks are nested more than %d deep", DEEPEST_BLOCK);
        read_give_up(&p->in);
        return block;
    }
    p->depth++;
    parse_block(p, block);
    p->depth--;
    read_expect(&p->in, '}', "after the block");
    return block;
}

static LoOp *make_op(LoParser *p, LoopLine *line, LoBlock *block)
{
    p->lo.block = block;
    lo_resume(&p->lo);
    line->op.line = line->loc.line;
    line->op.column = line->loc.column;
    LoOp *op = lo_append(&p->lo, line->op, (int)line->args.count, line->args.data);
    if (line->callee)
        lo_parser_link(p, &op->callee, line->callee, line->loc);
    return op;
}

static void parse_op(LoParser *p, LoBlock *block)
{
    LoopLine line = {0};
    long start = p->in.consumed;
    LoOp *op = parse_line(p, &line) ? make_op(p, &line, block) : NULL;
    define_result(p, &line, op);
    if (!op) {
        if (read_skip_line(&p->in, start))
            parse_body(p, NULL);
        return;
    }
    if (lo_info[op->kind].form != LO_FORM_BLOCKS || !read_expect(&p->in, '{', "and a block"))
        return;
    op->body = parse_body(p, op);
    if (op->kind == LO_if && read_accept_word(&p->in, "else") &&
        read_expect(&p->in, '{', "and a block"))
        op->other = parse_body(p, op);
}

static void parse_block(LoParser *p, LoBlock *block)
{
    while (p->in.now.kind != TOKEN_END && !read_at(&p->in, '}'))
        parse_op(p, block);
}

/* ---- functions and records ---- */

static void open_function(LoParser *p, LoFunction *f)
{
    lo_begin(&p->lo, p->module, f);
    map_init(&p->values, p->arena);
}

static bool parse_params(LoParser *p, LoParserTypes *types, LoParserTokens *names)
{
    if (!read_expect(&p->in, '(', "before parameters"))
        return false;
    if (read_accept(&p->in, ')'))
        return true;
    do {
        LoType type;
        if (!lo_parse_type(p, &type))
            return false;
        vec_push(p->arena, *types, type);
        if (p->in.now.kind != TOKEN_VALUE) {
            read_error_here(&p->in, "expected the parameter, such as %%0");
            return false;
        }
        vec_push(p->arena, *names, p->in.now);
        read_advance(&p->in);
    } while (read_accept(&p->in, ','));
    return read_expect(&p->in, ')', "after parameters");
}

static bool parse_function(LoParser *p, bool is_kernel)
{
    LoParserTypes types = {0};
    LoParserTokens names = {0};
    Loc loc = p->in.now.loc;
    const char *name = lo_parse_name(p);
    if (!name || !parse_params(p, &types, &names) || !read_expect(&p->in, '{', "before ops"))
        return false;
    if (map_has(&p->functions, name))
        read_error(&p->in, loc, "@%s is defined twice", name);
    LoFunction *f = lo_add_function(p->module, name, is_kernel, (int)types.count, types.data);
    map_set(&p->functions, name, f);
    open_function(p, f);
    for (size_t i = 0; i < names.count; i++)
        define_result(p, &(LoopLine){.result = names.data[i]}, f->params[i]);
    parse_block(p, f->body);
    return read_expect(&p->in, '}', "after the function's ops");
}

/* Numbers, then functions. */
static bool parse_fields(LoParser *p, LoParserNumbers *numbers, LoParserTokens *functions)
{
    do {
        ScanToken field = p->in.now;
        int64_t number;
        if (!functions->count && read_accept_word(&p->in, "i64")) {
            if (!read_int(&p->in, INT64_MIN, INT64_MAX, &number))
                return false;
            vec_push(p->arena, *numbers, number);
        } else if (read_accept_word(&p->in, "null")) {
            field.kind = TOKEN_END;
            vec_push(p->arena, *functions, field);
        } else {
            if (!(field.text = lo_parse_name(p)))
                return false;
            vec_push(p->arena, *functions, field);
        }
    } while (read_accept(&p->in, ','));
    return read_expect(&p->in, '}', "after the record");
}

static bool parse_record(LoParser *p)
{
    LoParserNumbers numbers = {0};
    LoParserTokens functions = {0};
    const char *name = lo_parse_name(p);
    if (!name || !read_expect(&p->in, '{', "before the record"))
        return false;
    if (!read_accept(&p->in, '}') && !parse_fields(p, &numbers, &functions))
        return false;
    LoRecord *record = lo_add_record(p->module, name, (int)numbers.count, (int)functions.count);
    for (size_t i = 0; i < numbers.count; i++)
        record->numbers[i] = numbers.data[i];
    for (size_t i = 0; i < functions.count; i++)
        if (functions.data[i].kind != TOKEN_END)
            lo_parser_link(p, &record->functions[i], functions.data[i].text, functions.data[i].loc);
    return true;
}

static void parse_declaration(LoParser *p)
{
    long start = p->in.consumed;
    bool read = false;
    if (read_accept_word(&p->in, "kernel"))
        read = parse_function(p, true);
    else if (read_accept_word(&p->in, "function"))
        read = parse_function(p, false);
    else if (read_accept_word(&p->in, "record"))
        read = parse_record(p);
    else
        read_error_here(&p->in, "expected kernel, function or record");
    if (!read && read_skip_line(&p->in, start)) { /* a function with a wrong head */
        LoFunction *f = lo_add_function(p->module, "", false, 0, NULL);
        open_function(p, f);
        parse_block(p, f->body);
        read_accept(&p->in, '}');
    }
}

static void link_names(LoParser *p)
{
    const char **names = ARENA_ARRAY(p->arena, const char *, p->module->functions.count);
    for (size_t i = 0; i < p->module->functions.count; i++)
        names[i] = p->module->functions.data[i]->name;
    for (size_t i = 0; i < p->links.count; i++) {
        const LoParserLink *link = &p->links.data[i];
        *link->to = map_get(&p->functions, link->name);
        if (!*link->to && read_errors(&p->in) < MOST_ERRORS)
            diag_error(p->in.scan.diags, link->loc, "there is no function @%s%s", link->name,
                       read_suggestion(&p->in, link->name, names, p->module->functions.count));
    }
}

LoModule *lo_parse(Arena *arena, Diagnostics *diags, const Source *source)
{
    LoParser parser = {.in = read_begin(arena, diags, source, "=>,{}()[]@"),
                       .arena = arena,
                       .module = lo_module_new(arena),
                       .unknown = ARENA_NEW(arena, LoOp)};
    parser.module->source = source;
    map_init(&parser.functions, arena);
    while (parser.in.now.kind != TOKEN_END)
        parse_declaration(&parser);
    link_names(&parser);
    return read_errors(&parser.in) ? NULL : parser.module;
}
