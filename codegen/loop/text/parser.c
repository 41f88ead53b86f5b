/* The parts of a line of loop IR's text form: types, operands, lists, names. */
#include "codegen/loop/text/parser.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- types ---- */

/* ELEMENT or ELEMENTxLANES; lo_none: neither. */
static LoType type_of_word(const char *word)
{
    for (LoElement e = LO_NONE + 1; e < LO_ELEMENTS; e++) {
        size_t n = strlen(lo_element_name(e));
        if (strncmp(word, lo_element_name(e), n))
            continue;
        if (!word[n])
            return LO_TYPE(e, 1);
        char *end;
        if (word[n] != 'x' || word[n + 1] < '1' || word[n + 1] > '9') /* i1 begins i16, too */
            continue;
        long lanes = strtol(word + n + 1, &end, 10);
        return *end || lanes < 2 || lanes > MOST_LANES ? lo_none : LO_TYPE(e, lanes);
    }
    return lo_none;
}

bool lo_is_type_word(const char *word) { return type_of_word(word) != lo_none; }

bool lo_parse_type(LoParser *p, LoType *type)
{
    *type = p->in.now.kind == TOKEN_WORD ? type_of_word(p->in.now.text) : lo_none;
    if (*type == lo_none) {
        read_error_here(&p->in, "expected a type such as f32, f32x16 or ptr");
        return false;
    }
    read_advance(&p->in);
    return true;
}

/* ---- operands ---- */

/* nan.7ff8000000000001: its bits as an f64. */
static bool parse_nan(LoParser *p, double *value)
{
    char *end;
    const char *word = p->in.now.text;
    if (p->in.now.kind != TOKEN_WORD || strncmp(word, "nan.", 4))
        return false;
    uint64_t bits = strtoull(word + 4, &end, 16);
    memcpy(value, &bits, sizeof bits);
    if (*end || end != word + 20 || *value == *value) {
        read_error_here(&p->in, "a NaN is written nan, or nan. and its 16 hexadecimal digits");
        *value = 0;
    }
    read_advance(&p->in);
    return true;
}

static LoValue parse_constant(LoParser *p)
{
    LoType type;
    int64_t number;
    double real;
    if (!lo_parse_type(p, &type))
        return NULL;
    if (lo_is_float(type))
        return parse_nan(p, &real) || read_float(&p->in, &real) ? lo_real(&p->lo, type, real)
                                                                : NULL;
    if (lo_is_vector(type) && read_accept_word(&p->in, "iota"))
        return lo_iota_of(&p->lo, type, lo_lanes(type));
    int bits = lo_bits(type);
    int64_t most = bits == 64 ? INT64_MAX : (INT64_C(1) << bits) - 1;
    int64_t least = -1 - (INT64_MAX >> (64 - bits));
    return read_int(&p->in, least, most, &number) ? lo_int(&p->lo, type, number) : NULL;
}

bool lo_parse_operand(LoParser *p, LoParserValues *values)
{
    LoValue value;
    if (p->in.now.kind == TOKEN_VALUE) {
        value = map_get(&p->values, arena_printf(p->arena, "%" PRId64, p->in.now.number));
        if (!value) {
            read_error_here(&p->in, "%%%" PRId64 " is not defined before this use",
                            p->in.now.number);
            value = p->unknown;
        }
        read_advance(&p->in);
    } else if (p->in.now.kind == TOKEN_WORD) {
        value = parse_constant(p);
    } else {
        read_error_here(&p->in, "expected an operand: %%12, or a constant such as f32 0.5");
        value = NULL;
    }
    if (value)
        vec_push(p->arena, *values, value);
    return value != NULL;
}

bool lo_parse_operands(LoParser *p, LoParserValues *values)
{
    do
        if (!lo_parse_operand(p, values))
            return false;
    while (read_accept(&p->in, ','));
    return true;
}

/* ---- lists and names ---- */

bool lo_parse_order(LoParser *p, LoOp *op)
{
    VEC(int) order = {0};
    if (!read_expect(&p->in, '[', "before lanes"))
        return false;
    if (!read_accept(&p->in, ']')) {
        do {
            int64_t lane;
            if (!read_int(&p->in, INT32_MIN, INT32_MAX, &lane))
                return false;
            vec_push(p->arena, order, (int)lane);
        } while (read_accept(&p->in, ','));
        if (!read_expect(&p->in, ']', "after lanes"))
            return false;
    }
    op->order = order.data;
    op->n_order = (int)order.count;
    return true;
}

const char *lo_parse_name(LoParser *p)
{
    return read_expect(&p->in, '@', "and a name") ? read_name(&p->in, "a name") : NULL;
}

void lo_parser_link(LoParser *p, LoFunction **to, const char *name, Loc loc)
{
    LoParserLink link = {to, name, loc};
    vec_push(p->arena, p->links, link);
}
