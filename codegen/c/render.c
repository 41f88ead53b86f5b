/* Functions, blocks and records; see render.h. */
#include "codegen/c/render_state.h"

#include "base/arena.h"
#include "base/file.h"
#include "runtime/exec/device.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *c_name(Arena *arena, const char *name)
{
    char *copy = arena_strdup(arena, name);
    for (char *p = copy; *p; p++)
        if (!isalnum((unsigned char)*p))
            *p = '_';
    return copy;
}

/* ---- what is written where ---- */

/* Ops that an expression may hold: more is hard to read. */
enum { MOST_WEIGHT = 5 };

static void count_uses(const CRender *r, const LoBlock *block)
{
    FOR_LOOP_OPS (op, block) {
        for (int i = 0; i < op->n_args; i++)
            if (!lo_is_constant(op->args[i]))
                c_note(r, op->args[i])->uses++;
        if (op->body)
            count_uses(r, op->body);
        if (op->other)
            count_uses(r, op->other);
    }
}

/* An operand is written at its one use if nothing but straight code lies between: a loop after it
 * may change a variable that it reads. */
static void fold_operands(const CRender *r, const LoOp *op, int stretch)
{
    int weight = 1;
    for (int i = 0; i < op->n_args; i++) {
        const LoOp *x = op->args[i];
        if (lo_is_constant(x) || x->kind == LO_param)
            continue;
        ValueNote *note = c_note(r, x);
        if (note->uses == 1 && note->stretch == stretch && note->weight + weight <= MOST_WEIGHT &&
            c_can_fold(x) && c_takes_expression(op, i)) {
            note->folded = true;
            weight += note->weight;
        }
    }
    if (op->type != lo_none)
        c_note(r, op)->weight = weight;
}

static void note_block(CRender *r, const LoBlock *block)
{
    int stretch = ++r->n_stretches;
    FOR_LOOP_OPS (op, block) {
        fold_operands(r, op, stretch);
        if (op->type != lo_none) {
            c_note(r, op)->stretch = stretch;
            c_note(r, op)->mask_bits = c_choose_mask_bits(r, op);
            c_note(r, op)->space = c_choose_space(r, op);
        }
        if (op->body)
            note_block(r, op->body);
        if (op->other)
            note_block(r, op->other);
        if (op->body || op->kind == LO_call)
            stretch = ++r->n_stretches;
    }
}

/* ---- statements ---- */

static void put_line(CRender *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put_line(CRender *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    for (int i = 0; i < r->indent; i++)
        text_string(&r->functions, "    ");
    text_vadd(&r->functions, format, args);
    const Loc *loc = r->op ? lo_follow(&r->at, r->function, r->op->origin) : NULL;
    if (loc)
        text_add(&r->functions, " /* %s:%d */", file_name(loc->source->path), loc->line);
    r->op = NULL;
    text_string(&r->functions, "\n");
    va_end(args);
}

static void declare(CRender *r, const LoOp *x, const char *value)
{
    const char *type = c_value_type(r, x);
    put_line(r, "%s%s%s = %s;", type, text_ends(type, "*") ? "" : " ", c_value(r, x).text, value);
}

/* As what stands for a value of x's type. */
static const char *as_value_of(CRender *r, const LoOp *x, const LoOp *value)
{
    Expr e = c_is_mask(x->type) ? c_mask_as(r, value, c_note(r, x)->mask_bits) : c_value(r, value);
    return e.text;
}

static void put_scratch(CRender *r, const LoOp *op)
{
    const LoOp *n = op->args[0];
    const char *name = c_value(r, op).text, *about = op->name ? op->name : "";
    int bytes = c_bytes(op->element), align = op->align ? op->align : bytes;
    r->op = NULL; /* the comment is what it is for */
    if (lo_is_int(n) && r->dialect->device)
        put_line(r, "char %s[%" PRId64 "] __attribute__((aligned(%d))); /* %s */", name,
                 n->number * bytes, align, about);
    else if (r->dialect->device)
        diag_error(r->diags, (Loc){0}, "OpenCL C has no room of a size that is known later: %s",
                   about);
    else if (lo_is_int(n))
        put_line(r, "_Alignas(%d) char %s[%" PRId64 "]; /* %s */", align, name, n->number * bytes,
                 about);
    else
        put_line(r, "char *%s = __builtin_alloca_with_align((size_t)(%s * %d), %d); /* %s */", name,
                 c_wrap(r, c_value(r, n), TIGHT_PRODUCT), bytes, 8 * align, about);
}

static void put_block(CRender *r, const LoBlock *block);

static void put_for(CRender *r, const LoOp *op)
{
    const char *i = c_value(r, op).text;
    const char *step = op->number == 1 ? arena_printf(r->arena, "%s++", i)
                                       : arena_printf(r->arena, "%s += %" PRId64, i, op->number);
    put_line(r, "for (i64 %s = %s; %s < %s; %s) {%s%s%s", i, c_value(r, op->args[0]).text, i,
             c_wrap(r, c_value(r, op->args[1]), TIGHT_SUM), step, op->name ? " /* " : "",
             op->name ? op->name : "", op->name ? " */" : "");
    put_block(r, op->body);
    put_line(r, "}");
}

/* Whether the expression of a value reads this variable. */
static bool reads(const CRender *r, const LoOp *x, const LoOp *carry)
{
    if (x == carry)
        return true;
    if (lo_is_constant(x) || x->kind == LO_param || !c_note(r, x)->folded)
        return false;
    for (int i = 0; i < x->n_args; i++)
        if (reads(r, x->args[i], carry))
            return true;
    return false;
}

/* Variables take their new values one after the other: what reads one that was changed before is
 * computed before them all. */
static void put_next(CRender *r, const LoOp *loop, const LoOp *next)
{
    const char **names = ARENA_ARRAY(r->arena, const char *, next->n_args + 1);
    for (int i = 0; i < next->n_args; i++)
        for (int j = 0; j < i && !names[i]; j++)
            if (next->args[j] != loop->args[j] && reads(r, next->args[i], loop->args[j])) {
                names[i] = arena_printf(r->arena, "next%d", i);
                put_line(r, "%s %s = %s;", c_value_type(r, loop->args[i]), names[i],
                         as_value_of(r, loop->args[i], next->args[i]));
            }
    for (int i = 0; i < next->n_args; i++)
        if (next->args[i] != loop->args[i])
            put_line(r, "%s = %s;", c_value(r, loop->args[i]).text,
                     names[i] ? names[i] : as_value_of(r, loop->args[i], next->args[i]));
}

static void put_while(CRender *r, const LoOp *op)
{
    int n = op->n_args - 1;
    put_line(r, "while (%s >= %s) {%s%s%s", c_value(r, op->args[n - 1]).text,
             c_wrap(r, c_value(r, op->args[n]), TIGHT_SUM), op->name ? " /* " : "",
             op->name ? op->name : "", op->name ? " */" : "");
    put_block(r, op->body);
    r->indent++;
    put_next(r, op, op->body->last);
    r->indent--;
    put_line(r, "}");
}

static void put_if(CRender *r, const LoOp *op)
{
    put_line(r, "if (%s) {", c_value(r, op->args[0]).text);
    put_block(r, op->body);
    if (op->other) {
        put_line(r, "} else {");
        put_block(r, op->other);
    }
    put_line(r, "}");
}

static const char *param_types(CRender *r, const LoFunction *f)
{
    Text out = {0};
    for (int i = 0; i < f->n_params; i++)
        text_add(&out, "%s%s", i ? ", " : "", c_type(r, f->params[i]->type));
    const char *copy = arena_strdup(r->arena, f->n_params ? out.data : "void");
    text_free(&out);
    return copy;
}

/* A function that is called is declared with the types. */
static void put_call(CRender *r, const LoOp *op)
{
    Text out = {0};
    const char *head = arena_printf(r->arena, "head of %s", op->callee->name);
    if (!map_has(&r->seen, head)) {
        map_set(&r->seen, head, r);
        text_add(&r->types, "static void %s(%s);\n", c_name(r->arena, op->callee->name),
                 param_types(r, op->callee));
    }
    text_add(&out, "%s(", c_name(r->arena, op->callee->name));
    for (int i = 0; i < op->n_args; i++)
        text_add(&out, "%s%s", i ? ", " : "", c_value(r, op->args[i]).text);
    put_line(r, "%s);", out.data);
    text_free(&out);
}

static void put_op(CRender *r, const LoOp *op)
{
    switch (op->kind) {
    case LO_for: put_for(r, op); return;
    case LO_while: put_while(r, op); return;
    case LO_if: put_if(r, op); return;
    case LO_call: put_call(r, op); return;
    case LO_next: return; /* with its loop */
    case LO_return:
        if (op->after || op->block->parent)
            put_line(r, "return;");
        return;
    case LO_scratch: put_scratch(r, op); return;
    case LO_carry: declare(r, op, as_value_of(r, op, op->args[0])); return;
    default: break;
    }
    if (op->type == lo_none)
        put_line(r, "%s;", c_statement(r, op));
    else if (!c_note(r, op)->folded)
        declare(r, op, c_expression(r, op).text);
}

static void put_block(CRender *r, const LoBlock *block)
{
    r->indent++;
    FOR_LOOP_OPS (op, block) {
        r->op = op;
        put_op(r, op);
        r->op = NULL;
    }
    r->indent--;
}

/* ---- functions ---- */

static void put_params(CRender *r, const LoFunction *f, Text *out)
{
    bool device = r->dialect->device && f->is_kernel;
    const char *before = "";
    for (int i = 0; i < f->n_params; i++) {
        const char *type = c_value_type(r, f->params[i]), *name = c_value(r, f->params[i]).text;
        if (device && i == TFC_DEVICE_UNIT)
            text_add(out, "%si64 units", before);
        else if (f->is_kernel && i == 0 && !device)
            text_add(out, "const TfcKernelArgs *args");
        else
            text_add(out, "%s%s%s%s", before, type, text_ends(type, "*") ? "" : " ", name);
        before = ", ";
    }
}

static void put_head(CRender *r, const LoFunction *f, Text *out)
{
    text_add(out, "%s void %s(", r->dialect->device && f->is_kernel ? "kernel" : "static",
             c_name(r->arena, f->name));
    put_params(r, f, out);
    text_add(out, ")");
}

/* What is passed and not read; a kernel's first parameter is bytes. */
static void open_params(CRender *r, const LoFunction *f)
{
    for (int i = 0; i < f->n_params; i++) {
        const char *name = c_value(r, f->params[i]).text;
        bool used = c_note(r, f->params[i])->uses > 0, is_args = f->is_kernel && i == 0;
        if (!used)
            put_line(r, "(void)%s;", is_args ? "args" : name);
        else if (is_args)
            put_line(r, "char *%s = (char *)args;", name);
    }
}

/* Each call of a device's kernel does one unit; those past the last do nothing. */
static void open_unit(CRender *r, const LoFunction *f)
{
    const char *unit = c_value(r, f->params[TFC_DEVICE_UNIT]).text;
    put_line(r, "i64 %s = get_global_id(0);", unit);
    put_line(r, "if (%s >= units) return;", unit);
}

static void put_function(CRender *r, const LoFunction *f, const char *comment)
{

    r->function = f;
    r->notes = memory_zeroed((size_t)f->n_ids + 1, sizeof *r->notes);
    r->n_stretches = 0;
    count_uses(r, f->body);
    note_block(r, f->body);
    if (comment)
        text_add(&r->functions, "/* %s */\n", comment);
    put_head(r, f, &r->functions);
    text_add(&r->functions, "\n{\n");
    r->indent = 1;
    if (!r->dialect->device)
        open_params(r, f);
    else if (f->is_kernel)
        open_unit(r, f);
    r->indent = 0;
    put_block(r, f->body);
    text_add(&r->functions, "}\n\n");
    free(r->notes);
}

/* ---- records ---- */

static void put_record(CRender *r, const LoRecord *record)
{
    const char *name = c_name(r->arena, record->name);
    text_add(
        &r->functions,
        "static const struct {\n    i64 numbers[%d];\n    void (*functions[%d])(void);\n} %s = {\n    {",
        record->n_numbers, record->n_functions, name);
    for (int i = 0; i < record->n_numbers; i++)
        text_add(&r->functions, "%s%" PRId64, i ? ", " : "", record->numbers[i]);
    text_add(&r->functions, "},\n    {\n");
    for (int i = 0; i < record->n_functions; i++) {
        const LoFunction *f = record->functions[i];
        if (f)
            text_add(&r->functions, "        [%d] = (void (*)(void))%s,\n", i,
                     c_name(r->arena, f->name));
    }
    text_add(&r->functions, "    }\n};\n\n");
}

/* ---- the module ---- */

bool c_render(LoModule *module, const CDialect *dialect, const Map *comments, Text *out,
              Diagnostics *diags)
{
    Arena *arena = arena_new();
    CRender r = {.arena = arena, .diags = diags, .dialect = dialect};
    int before = diags->errors;
    map_init(&r.seen, arena);
    for (size_t i = 0; i < module->functions.count; i++) {
        const LoFunction *f = module->functions.data[i];
        put_function(&r, f, comments ? map_get(comments, f->name) : NULL);
    }
    for (size_t i = 0; i < module->records.count; i++)
        put_record(&r, module->records.data[i]);
    c_write_fixed_helpers(dialect, out);
    if (r.types.data)
        text_put(out, r.types.data, r.types.length);
    text_string(out, "\n");
    if (r.functions.data)
        text_put(out, r.functions.data, r.functions.length);
    text_free(&r.types);
    text_free(&r.functions);
    arena_free(arena);
    return diags->errors == before;
}
