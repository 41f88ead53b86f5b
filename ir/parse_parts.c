/* The parts of a line of the IR's text form: marks, names, numbers, types and
 * attributes. */
#include "ir/parser.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void tir_give_up(Parser *p)
{
    p->gave_up = true;
    p->scan.at = p->scan.end;
    p->now.kind = TOKEN_END;
}

void tir_advance(Parser *p)
{
    p->consumed++;
    p->now = tir_scan_next(&p->scan);
}

const char *tir_suggestion(Parser *p, const char *name, const char *const *known, size_t n)
{
    return text_suggest(p->arena, "`", name, known, n);
}

bool tir_accept(Parser *p, char mark)
{
    if (!at_mark(p, mark))
        return false;
    tir_advance(p);
    return true;
}

bool tir_expect(Parser *p, char mark, const char *where)
{
    if (tir_accept(p, mark))
        return true;
    error_here(p, "expected '%c' %s", mark, where);
    return false;
}

bool tir_accept_word(Parser *p, const char *word)
{
    if (p->now.kind != TOKEN_WORD || strcmp(p->now.text, word))
        return false;
    tir_advance(p);
    return true;
}

/* A bare or quoted name. */
const char *tir_name(Parser *p, const char *what)
{
    const char *name = p->now.text;
    if ((p->now.kind != TOKEN_WORD && p->now.kind != TOKEN_STRING) || !*name) {
        error_here(p, "expected %s", what);
        return NULL;
    }
    tir_advance(p);
    return name;
}

const char *tir_string(Parser *p, const char *what)
{
    const char *text = p->now.text;
    if (p->now.kind != TOKEN_STRING) {
        error_here(p, "expected %s in quotes", what);
        return NULL;
    }
    tir_advance(p);
    return text;
}

bool tir_int(Parser *p, int64_t least, int64_t most, int64_t *result)
{
    char *end = NULL;
    errno = 0;
    long long value = p->now.kind == TOKEN_NUMBER ? strtoll(p->now.text, &end, 10) : 0;
    if (!end || *end) {
        error_here(p, "expected a whole number");
        return false;
    }
    if (errno || value < least || value > most) {
        error_here(p, "%s is not within %" PRId64 " and %" PRId64, p->now.text, least, most);
        return false;
    }
    *result = value;
    tir_advance(p);
    return true;
}

bool tir_float(Parser *p, double *result)
{
    char *end = NULL;
    bool number = p->now.kind == TOKEN_NUMBER || p->now.kind == TOKEN_WORD;
    *result = number ? strtod(p->now.text, &end) : 0;
    if (!end || *end || end == p->now.text) {
        error_here(p, "expected a number");
        return false;
    }
    tir_advance(p);
    return true;
}

bool tir_symbol(Parser *p, int *symbol)
{
    Loc loc = p->now.loc;
    const char *name = tir_name(p, "a dimension");
    if (!name)
        return false;
    *symbol = module_symbol(p->module, name);
    if (*symbol != NO_SYMBOL)
        return true;
    const char *names[MOST_DIMS];
    size_t n = p->module->symbols.count;
    for (size_t i = 0; i < n; i++)
        names[i] = p->module->symbols.data[i].name;
    parse_error(p, loc, "there is no dimension `%s`%s", name, tir_suggestion(p, name, names, n));
    return false;
}

/* One of a type's dimensions: 512, B or S~. */
static bool parse_dim(Parser *p, Dim *dim)
{
    if (p->now.kind == TOKEN_NUMBER) {
        *dim = dim_const(0);
        return tir_int(p, 0, INT64_C(1) << 40, &dim->size);
    }
    int symbol;
    Loc loc = p->now.loc;
    if (!tir_symbol(p, &symbol))
        return false;
    *dim = dim_symbol(symbol);
    bool ragged = symbol_is_ragged(p->module, symbol), marked = tir_accept(p, '~');
    const char *name = p->module->symbols.data[symbol].name;
    if (ragged && !marked)
        parse_error(p, loc, "dimension `%s` is ragged: write %s~", name, name);
    else if (marked && !ragged)
        parse_error(p, loc, "dimension `%s` is not declared ragged: write %s", name, name);
    return ragged == marked;
}

static bool parse_dims(Parser *p, int *rank, Dim *dims)
{
    *rank = 0;
    if (!tir_expect(p, '[', "before dimensions"))
        return false;
    if (tir_accept(p, ']'))
        return true;
    do {
        if (*rank == MAX_RANK) {
            error_here(p, "a tensor has at most %d dimensions", MAX_RANK);
            return false;
        }
        if (!parse_dim(p, &dims[(*rank)++]))
            return false;
    } while (tir_accept(p, ','));
    return tir_expect(p, ']', "after dimensions");
}

static bool parse_dtype(Parser *p, DType *dtype)
{
    if (p->now.kind == TOKEN_WORD && dtype_parse(p->now.text, dtype)) {
        tir_advance(p);
        return true;
    }
    error_here(p, "expected an element type: f32, f64, bf16, i32 or bool");
    return false;
}

bool tir_type(Parser *p, Type *type)
{
    *type = (Type){0};
    return parse_dtype(p, &type->dtype) && parse_dims(p, &type->rank, type->dims);
}

static bool parse_ints(Parser *p, Attr *attr)
{
    if (!tir_expect(p, '[', "before a list of numbers"))
        return false;
    if (tir_accept(p, ']'))
        return true;
    do {
        int64_t value;
        if (attr->n == MAX_RANK) {
            error_here(p, "the list has more than %d numbers", MAX_RANK);
            return false;
        }
        if (!tir_int(p, INT32_MIN, INT32_MAX, &value))
            return false;
        attr->ints[attr->n++] = (int)value;
    } while (tir_accept(p, ','));
    return tir_expect(p, ']', "after a list of numbers");
}

static bool parse_attr_value(Parser *p, Attr *attr)
{
    int symbol;
    DType dtype;
    switch (attr_info[attr->name].kind) {
    case INT: return tir_int(p, INT64_MIN, INT64_MAX, &attr->i);
    case FLOAT: return tir_float(p, &attr->f);
    case STRING: return (attr->s = tir_string(p, "text")) != NULL;
    case INTS: return parse_ints(p, attr);
    case DIMS: return parse_dims(p, &attr->rank, attr->dims);
    case TYPE:
        if (!parse_dtype(p, &dtype))
            return false;
        attr->i = dtype;
        return true;
    case SYMBOL:
        if (!tir_symbol(p, &symbol))
            return false;
        attr->i = symbol;
        return true;
    }
    return false;
}

static bool parse_attr_name(Parser *p, AttrName *name)
{
    const char *names[ATTR_COUNT];
    for (int i = 0; i < ATTR_COUNT; i++) {
        names[i] = attr_info[i].name;
        if (p->now.kind == TOKEN_WORD && !strcmp(names[i], p->now.text)) {
            *name = (AttrName)i;
            tir_advance(p);
            return true;
        }
    }
    error_here(p, "expected an attribute%s", tir_suggestion(p, p->now.text, names, ATTR_COUNT));
    return false;
}

/* { name = value, … } */
bool tir_attrs(Parser *p, Attrs *attrs)
{
    if (!tir_accept(p, '{'))
        return true;
    do {
        Attr attr = {0};
        Loc loc = p->now.loc;
        if (!parse_attr_name(p, &attr.name) || !tir_expect(p, '=', "after an attribute's name") ||
            !parse_attr_value(p, &attr))
            return false;
        for (size_t i = 0; i < attrs->count; i++)
            if (attrs->data[i].name == attr.name) {
                parse_error(p, loc, "attribute `%s` is given twice", attr_info[attr.name].name);
                return false;
            }
        vec_push(p->arena, *attrs, attr);
    } while (tir_accept(p, ','));
    return tir_expect(p, '}', "after attributes");
}
