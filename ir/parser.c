/* The parts of a line of the IR's text form: marks, names, numbers, types and
 * attributes. */
#include "ir/parser.h"

#include <string.h>

bool tir_symbol(TirParser *p, int *symbol)
{
    Loc loc = p->in.now.loc;
    const char *name = read_name(&p->in, "a dimension");
    if (!name)
        return false;
    *symbol = module_symbol(p->module, name);
    if (*symbol != NO_SYMBOL)
        return true;
    const char *names[MOST_SYMBOLS];
    size_t n = p->module->symbols.count;
    for (size_t i = 0; i < n; i++)
        names[i] = p->module->symbols.data[i].name;
    read_error(&p->in, loc, "there is no dimension `%s`%s", name,
               read_suggestion(&p->in, name, names, n));
    return false;
}

/* One of a type's dimensions: 512, B or S~. */
static bool parse_dim(TirParser *p, Dim *dim)
{
    if (p->in.now.kind == TOKEN_NUMBER) {
        *dim = dim_const(0);
        return read_int(&p->in, 0, INT64_C(1) << 40, &dim->size);
    }
    int symbol;
    Loc loc = p->in.now.loc;
    if (!tir_symbol(p, &symbol))
        return false;
    *dim = dim_symbol(symbol);
    bool ragged = symbol_is_ragged(p->module, symbol), marked = read_accept(&p->in, '~');
    const char *name = p->module->symbols.data[symbol].name;
    if (ragged && !marked)
        read_error(&p->in, loc, "dimension `%s` is ragged: write %s~", name, name);
    else if (marked && !ragged)
        read_error(&p->in, loc, "dimension `%s` is not declared ragged: write %s", name, name);
    return ragged == marked;
}

static bool parse_dims(TirParser *p, int *rank, Dim *dims)
{
    *rank = 0;
    if (!read_expect(&p->in, '[', "before dimensions"))
        return false;
    if (read_accept(&p->in, ']'))
        return true;
    do {
        if (*rank == MAX_RANK) {
            read_error_here(&p->in, "a tensor has at most %d dimensions", MAX_RANK);
            return false;
        }
        if (!parse_dim(p, &dims[(*rank)++]))
            return false;
    } while (read_accept(&p->in, ','));
    return read_expect(&p->in, ']', "after dimensions");
}

static bool parse_dtype(TirParser *p, DType *dtype)
{
    if (p->in.now.kind == TOKEN_WORD && dtype_parse(p->in.now.text, dtype)) {
        read_advance(&p->in);
        return true;
    }
    read_error_here(&p->in, "expected an element type: f32, f64, bf16, i32 or bool");
    return false;
}

bool tir_type(TirParser *p, Type *type)
{
    *type = (Type){0};
    return parse_dtype(p, &type->dtype) && parse_dims(p, &type->rank, type->dims);
}

static bool parse_ints(TirParser *p, Attr *attr)
{
    if (!read_expect(&p->in, '[', "before a list of numbers"))
        return false;
    if (read_accept(&p->in, ']'))
        return true;
    do {
        int64_t value;
        if (attr->n == MAX_RANK) {
            read_error_here(&p->in, "the list has more than %d numbers", MAX_RANK);
            return false;
        }
        if (!read_int(&p->in, INT32_MIN, INT32_MAX, &value))
            return false;
        attr->ints[attr->n++] = (int)value;
    } while (read_accept(&p->in, ','));
    return read_expect(&p->in, ']', "after a list of numbers");
}

static bool parse_attr_value(TirParser *p, Attr *attr)
{
    int symbol;
    DType dtype;
    switch (attr_info[attr->name].kind) {
    case INT: return read_int(&p->in, INT64_MIN, INT64_MAX, &attr->i);
    case FLOAT: return read_float(&p->in, &attr->f);
    case STRING: return (attr->s = read_string(&p->in, "text")) != NULL;
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

static bool parse_attr_name(TirParser *p, AttrName *name)
{
    const char *names[ATTR_COUNT];
    for (int i = 0; i < ATTR_COUNT; i++) {
        names[i] = attr_info[i].name;
        if (p->in.now.kind == TOKEN_WORD && !strcmp(names[i], p->in.now.text)) {
            *name = (AttrName)i;
            read_advance(&p->in);
            return true;
        }
    }
    read_error_here(&p->in, "expected an attribute%s",
                    read_suggestion(&p->in, p->in.now.text, names, ATTR_COUNT));
    return false;
}

/* { name = value, … } */
bool tir_attrs(TirParser *p, Attrs *attrs)
{
    if (!read_accept(&p->in, '{'))
        return true;
    do {
        Attr attr = {0};
        Loc loc = p->in.now.loc;
        if (!parse_attr_name(p, &attr.name) ||
            !read_expect(&p->in, '=', "after an attribute's name") || !parse_attr_value(p, &attr))
            return false;
        for (size_t i = 0; i < attrs->count; i++)
            if (attrs->data[i].name == attr.name) {
                read_error(&p->in, loc, "attribute `%s` is given twice", attr_info[attr.name].name);
                return false;
            }
        vec_push(p->arena, *attrs, attr);
    } while (read_accept(&p->in, ','));
    return read_expect(&p->in, '}', "after attributes");
}
