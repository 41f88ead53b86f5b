/* What every op has: attributes, operands, results, their types, uses. */
#include "ir/infer.h"
#include "ir/text.h"
#include "ir/verify/verify.h"

#include <stdint.h>
#include <string.h>

/* Elements that the constant dimensions of one tensor may make up. */
#define MOST_ELEMENTS (INT64_C(1) << 48)

/* ---- types and attributes ---- */

/* NULL, or what is wrong. */
static const char *dims_problem(const Module *module, int rank, const Dim *dims)
{
    int64_t elements = 1;
    if (rank < 0 || rank > MAX_RANK)
        return "more dimensions than a tensor can have";
    for (int i = 0; i < rank; i++) {
        if (!dim_is_const(dims[i])) {
            if (dims[i].symbol < 0 || (size_t)dims[i].symbol >= module->symbols.count)
                return "a dimension that the module does not declare";
            if (dims[i].size)
                return "a dimension that is a symbol and a constant";
            continue;
        }
        if (dims[i].size < 0)
            return "a negative dimension";
        if (dims[i].size > MOST_ELEMENTS ||
            __builtin_mul_overflow(elements, dims[i].size ? dims[i].size : 1, &elements) ||
            elements > MOST_ELEMENTS)
            return "more than 2^48 elements";
    }
    return NULL;
}

const char *verify_type(const Module *module, const Type *type)
{
    if ((unsigned)type->dtype >= DT_COUNT)
        return "an element type that does not exist";
    return dims_problem(module, type->rank, type->dims);
}

typedef enum Takes { TAKES_NOT, TAKES_MAYBE, TAKES } Takes;

/* How the row of the op names the attribute: in braces in its help text, with a
 * question mark where it may be absent. */
static Takes op_takes(OpKind kind, AttrName name)
{
    const char *text = op_info[kind].help, *word = attr_info[name].name;
    size_t length = strlen(word);
    bool inside = false, at_word = false;
    for (; *text; text++) {
        if (*text == '{' || *text == '}')
            inside = at_word = *text == '{';
        else if (inside && at_word && !strncmp(text, word, length) && text[length] &&
                 strchr("},?", text[length]))
            return text[length] == '?' ? TAKES_MAYBE : TAKES;
        else
            at_word = *text == ' ' || *text == ',';
    }
    return TAKES_NOT;
}

static bool check_attr_value(Verifier *v, const Op *op, const Attr *attr)
{
    const char *problem = NULL;
    switch (attr_info[attr->name].kind) {
    case INT:
    case FLOAT: break;
    case STRING: problem = !attr->s || !*attr->s ? "no text" : NULL; break;
    case INTS:
        problem = attr->n < 0 || attr->n > MAX_RANK ? "a list of a wrong length" : NULL;
        break;
    case DIMS: problem = dims_problem(v->module, attr->rank, attr->dims); break;
    case TYPE:
        problem = (uint64_t)attr->i >= DT_COUNT ? "an element type that does not exist" : NULL;
        break;
    case SYMBOL:
        if ((uint64_t)attr->i >= v->module->symbols.count)
            problem = "a dimension that the module does not declare";
        break;
    }
    return problem ? verify_fail(v, op, "attribute %s has %s", attr_info[attr->name].name, problem)
                   : true;
}

bool verify_attrs(Verifier *v, const Op *op)
{
    for (int i = 0; i < op->n_attrs; i++) {
        AttrName name = op->attrs[i].name;
        if ((unsigned)name >= ATTR_COUNT)
            return verify_fail(v, op, "an attribute that does not exist");
        if (i && op->attrs[i - 1].name >= name)
            return verify_fail(v, op, "attributes are not in order or given twice");
        if (name != ATTR_chunk && !op_takes(op->kind, name))
            return verify_fail(v, op, "takes no attribute %s", attr_info[name].name);
        if (!check_attr_value(v, op, &op->attrs[i]))
            return false;
    }
    for (int name = 0; name < ATTR_COUNT; name++)
        if (op_takes(op->kind, (AttrName)name) == TAKES && !op_attr(op, (AttrName)name))
            return verify_fail(v, op, "attribute %s is missing", attr_info[name].name);
    return true;
}

/* ---- ops ---- */

bool verify_operands(Verifier *v, const Op *op)
{
    int arity = op_info[op->kind].arity;
    if (arity >= 0 && op->n_args != arity)
        return verify_fail(v, op, "takes %d operand%s, given %d", arity,
                           text_plural(arity, "", "s"), op->n_args);
    if (arity < 0 && op->n_args < 1 && op_family(op) != FAMILY_region)
        return verify_fail(v, op, "takes at least one operand");
    for (int i = 0; i < op->n_args; i++) {
        if (!op->args[i])
            return verify_fail(v, op, "operand %d is missing", i);
        if (!verify_visible(v, op->args[i]))
            return verify_fail(v, op, "operand %d, %%%d, is not defined before this use", i,
                               op->args[i]->id);
    }
    return true;
}

bool verify_results(Verifier *v, const Op *op)
{
    bool region = op_family(op) == FAMILY_region;
    int expected = op_family(op) == FAMILY_effect ? 0 : 1;
    if (region && op->n_results < 1)
        return verify_fail(v, op, "a region gives at least one result");
    if (!region && op->n_results != expected)
        return verify_fail(v, op, "gives %s, here %d", expected ? "one result" : "no result",
                           op->n_results);
    for (int i = 0; i < op->n_results; i++) {
        const char *problem = verify_type(v->module, &op->results[i].type);
        if (problem)
            return verify_fail(v, op, "the type of result %d has %s", i, problem);
        if (op->results[i].op != op || op->results[i].index != i)
            return verify_fail(v, op, "result %d does not know its op", i);
    }
    return true;
}

/* The op's operands are in the lists of their values, and nothing else is (check_function). */
bool verify_uses(Verifier *v, const Op *op)
{
    if (op->listed != !v->region)
        return verify_fail(v, op, "its operands are %s lists of uses", op->listed ? "in" : "in no");
    for (int i = 0; i < op->n_args && op->listed; i++) {
        const Use *use = &op->uses[i];
        const Value *value = op->args[i];
        if (use->user != op || (use->previous ? use->previous->next : value->first_use) != use ||
            (use->next ? use->next->previous : value->last_use) != use)
            return verify_fail(v, op, "operand %%%d does not list this use", value->id);
        v->n_operands++;
    }
    for (int i = 0; i < op->n_results; i++)
        v->n_uses += (size_t)value_use_count(&op->results[i]);
    return true;
}

bool verify_inferred(Verifier *v, const Op *op)
{
    Type type = {0};
    if (!infer_type(v->module, op, &type, v->diags)) {
        verify_note(v, op);
        return false;
    }
    if (op->n_results != 1 || op->body || type_equal(&type, &op->results[0].type))
        return true;
    return verify_fail(v, op, "gives %s, but %s is stated", verify_type_text(v, &type),
                       verify_type_text(v, &op->results[0].type));
}
