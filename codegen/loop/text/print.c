/* The printer of loop IR's text form; see text.h. */
#include "codegen/loop/text/text.h"

#include "base/scan.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- types and constants ---- */

void lo_print_type(LoType type, Text *out)
{
    LoElement element = lo_element_kind(type);
    text_string(out, element > LO_NONE && element < LO_ELEMENTS ? lo_element_name(element) : "?");
    if (lo_lanes(type) != 1)
        text_add(out, "x%d", lo_lanes(type));
}

const char *lo_type_text(LoType type, Arena *arena)
{
    Text text = {0};
    lo_print_type(type, &text);
    return text_keep(arena, &text);
}

/* The shortest decimal that reads back as the same f32. */
static void print_f32(double value, Text *out)
{
    char digits[40];
    if (value == floor(value) && fabs(value) < 1e9) {
        text_number(out, value);
        return;
    }
    for (int precision = 1; precision <= 9; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if ((float)strtod(digits, NULL) == value) {
            text_string(out, digits);
            return;
        }
    }
    text_number(out, value);
}

/* Bits follow a NaN that is not the usual one. */
static void print_real(LoType type, double value, Text *out)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (isnan(value) && bits != LO_NAN_BITS)
        text_add(out, "nan.%016" PRIx64, bits);
    else if (isfinite(value) && lo_element(type) == lo_f32)
        print_f32(value, out);
    else
        text_number(out, value);
}

static void print_operand(const LoOp *x, Text *out)
{
    if (!x || !lo_is_constant(x)) {
        text_put(out, "%", 1);
        if (x)
            text_integer(out, x->id);
        else
            text_put(out, "?", 1);
        return;
    }
    lo_print_type(x->type, out);
    text_put(out, " ", 1);
    if (x->kind == LO_iota)
        text_string(out, "iota");
    else if (x->kind == LO_real)
        print_real(x->type, x->real, out);
    else
        text_integer(out, lo_element(x->type) == lo_i1 ? x->number & 1 : x->number);
}

/* ---- ops ---- */

static void print_operands(const LoOp *op, int n, Text *out)
{
    for (int i = 0; i < n; i++) {
        text_string(out, i ? ", " : "");
        print_operand(op->args[i], out);
    }
}

static const LoOp *operand(const LoOp *op, int i)
{
    return i >= 0 && i < op->n_args ? op->args[i] : NULL;
}

static void print_name(const char *name, Text *out)
{
    text_put(out, "@", 1);
    text_word(out, name ? name : "");
}

static void print_for(const LoOp *op, Text *out)
{
    lo_print_type(op->type, out);
    text_add(out, " %%%d = ", op->id);
    print_operand(operand(op, 0), out);
    text_string(out, " to ");
    print_operand(operand(op, 1), out);
    text_add(out, " step %" PRId64, op->number);
    if (!op->vector.lanes)
        return;
    text_add(out, " vector %d", op->vector.lanes);
    if (op->vector.jam)
        text_add(out, " jam %d", op->vector.jam);
    text_string(out, op->vector.whole ? " whole" : "");
    text_string(out, op->vector.masked ? " masked" : "");
}

static void print_while(const LoOp *op, Text *out)
{
    print_operand(operand(op, op->n_args - 2), out);
    text_string(out, " >= ");
    print_operand(operand(op, op->n_args - 1), out);
    text_string(out, " over ");
    print_operands(op, op->n_args - 1, out);
    if (op->unroll)
        text_add(out, " unroll %d", op->unroll);
}

static void print_call(const LoOp *op, Text *out)
{
    print_name(op->callee ? op->callee->name : NULL, out);
    text_put(out, "(", 1);
    print_operands(op, op->n_args, out);
    text_put(out, ")", 1);
}

static void print_order(const LoOp *op, Text *out)
{
    text_string(out, " [");
    for (int i = 0; i < op->n_order; i++) {
        text_string(out, i ? ", " : "");
        text_integer(out, op->order[i]);
    }
    text_put(out, "]", 1);
}

/* What follows the name of an op without blocks. */
static void print_plain(const LoOp *op, Text *out)
{
    LoForm form = lo_info[op->kind].form;
    if (form == LO_FORM_ELEMENT) {
        lo_print_type(op->element, out);
        text_put(out, " ", 1);
    }
    if (op->kind == LO_math) {
        text_quote(out, op->name ? op->name : "");
        text_put(out, " ", 1);
    }
    print_operands(op, op->n_args, out);
    if (form == LO_FORM_ORDER)
        print_order(op, out);
    if (op->align)
        text_add(out, " align %d", op->align);
    if (op->parts)
        text_add(out, " parts %d", op->parts);
}

void lo_print_op(const LoOp *op, Text *out)
{
    if (op->type != lo_none && op->kind != LO_for) {
        lo_print_type(op->type, out);
        text_add(out, " %%%d = ", op->id);
    }
    text_string(out, lo_info[op->kind].name);
    text_string(out, op->memory == LO_FIXED ? " fixed" : op->memory == LO_GIVEN ? " given" : "");
    text_string(out, op->n_args || lo_info[op->kind].form != LO_FORM_PLAIN ? " " : "");
    switch (op->kind) {
    case LO_for: print_for(op, out); break;
    case LO_while: print_while(op, out); break;
    case LO_call: print_call(op, out); break;
    default: print_plain(op, out);
    }
    if (op->name && op->kind != LO_math) {
        text_put(out, " ", 1);
        text_quote(out, op->name);
    }
}

/* ---- functions and modules ---- */

/* The text, and who is told of each line; `lines` may be NULL. */
typedef struct Printer {
    const LoFunction *function;
    LoLines *lines;
    void *data;
    Text *out;
} Printer;

static void end_line(const Printer *p, int origin)
{
    if (p->lines)
        p->lines(p->data, p->function, origin, p->out);
    text_put(p->out, "\n", 1);
}

static void print_block(const Printer *p, const LoBlock *block, int depth)
{
    Text *out = p->out;
    if (!block)
        return;
    FOR_LOOP_OPS (op, block) {
        text_add(out, "%*s", 2 * depth, "");
        lo_print_op(op, out);
        if (lo_info[op->kind].form == LO_FORM_BLOCKS) {
            text_string(out, " {");
            end_line(p, op->origin);
            print_block(p, op->body, depth + 1);
            if (op->other) {
                text_add(out, "%*s} else {", 2 * depth, "");
                end_line(p, op->origin);
            }
            print_block(p, op->other, depth + 1);
            text_add(out, "%*s}", 2 * depth, "");
        }
        end_line(p, op->origin);
    }
}

void lo_print_function(LoFunction *f, LoLines *lines, void *data, Text *out)
{
    Printer p = {f, lines, data, out};
    lo_number(f);
    text_string(out, f->is_kernel ? "kernel " : "function ");
    print_name(f->name, out);
    text_put(out, "(", 1);
    for (int i = 0; i < f->n_params; i++) {
        text_string(out, i ? ", " : "");
        lo_print_type(f->params[i]->type, out);
        text_add(out, " %%%d", f->params[i]->id);
    }
    text_string(out, ") {");
    end_line(&p, LO_ORIGIN_WHOLE);
    print_block(&p, f->body, 1);
    text_string(out, "}");
    end_line(&p, LO_ORIGIN_WHOLE);
}

static void print_record(const LoRecord *record, Text *out)
{
    text_string(out, "record ");
    print_name(record->name, out);
    text_string(out, " {");
    const char *between = " ";
    for (int i = 0; i < record->n_numbers; i++, between = ", ")
        text_add(out, "%si64 %" PRId64, between, record->numbers[i]);
    for (int i = 0; i < record->n_functions; i++, between = ", ") {
        text_string(out, between);
        if (record->functions[i])
            print_name(record->functions[i]->name, out);
        else
            text_string(out, "null");
    }
    text_string(out, " }\n");
}

void lo_print_module(LoModule *module, Text *out) { lo_print_lines(module, NULL, NULL, out); }

void lo_print_lines(LoModule *module, LoLines *lines, void *data, Text *out)
{
    text_put(out, "", 0);
    for (size_t i = 0; i < module->functions.count; i++) {
        text_string(out, i ? "\n" : "");
        lo_print_function(module->functions.data[i], lines, data, out);
    }
    if (module->functions.count && module->records.count)
        text_put(out, "\n", 1);
    for (size_t i = 0; i < module->records.count; i++)
        print_record(module->records.data[i], out);
}
