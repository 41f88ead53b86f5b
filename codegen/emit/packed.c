/* Elements of a table that is packed as panels, of f32 or of integers (runtime/product/integers.h,
 * groups.h): row r of the table is column r of the panels. An element of a panel is 4 bytes. */
#include "codegen/emit/emit.h"

#include "codegen/emit/gemm/gemm.h"

enum { WORD = 4 /* bytes */, WORD_BITS = 32, BYTE_BITS = 8, HALF_BITS = 16 };

/* PackedRow: where a row lies.
 *   base      its place in the first element of its panel
 *   pitch     elements from one element of the row to the next
 *   column    which of the row's terms, i32 */
typedef struct PackedRow {
    Emit *e;
    TfcFormSizes form;
    LoValue buffer, base, column, valid;
    int64_t k, pitch;
} PackedRow;

static LoValue word(const PackedRow *r, int64_t value) { return lo_int(&r->e->lo, lo_i32, value); }

/* Element `index`, an i32, of the row. */
static LoValue load_element(const PackedRow *r, LoType type, LoValue index)
{
    Lo *lo = &r->e->lo;
    LoValue at = lo_zext(lo, lo_mul(lo, index, word(r, r->pitch)), lo_i64);
    LoValue pointer = lo_at(lo, type, lo_at(lo, type, r->buffer, r->base), at);
    LoValue x = r->valid ? lo_masked_load(lo, type, pointer, r->valid, WORD)
                         : lo_load(lo, type, pointer, WORD);
    return lo_reads(x, LO_FIXED);
}

/* The low bits of a term's number, and those above. */
static LoValue low_of(const PackedRow *r, LoValue x, int64_t n)
{
    return lo_and(&r->e->lo, x, word(r, n - 1));
}
static LoValue high_of(const PackedRow *r, LoValue x, int64_t n)
{
    return lo_udiv(&r->e->lo, x, word(r, n));
}

/* x · a + y · b, of i32. */
static LoValue sum_of(const PackedRow *r, LoValue x, int64_t a, LoValue y, int64_t b)
{
    Lo *lo = &r->e->lo;
    return lo_add(lo, lo_mul(lo, x, word(r, a)), lo_mul(lo, y, word(r, b)));
}

/* The byte of an element that term `term` of it is, as a number with a sign. */
static LoValue byte_of(const PackedRow *r, LoValue element, LoValue term)
{
    Lo *lo = &r->e->lo;
    LoValue byte = term;
    if (!form_has_bytes(&r->form)) { /* plus INTEGERS_OFFSET, in the order 0, 2, 1, 3 */
        element = lo_xor(lo, element, word(r, (int32_t)0x80808080));
        byte = sum_of(r, low_of(r, term, 2), 2, high_of(r, term, 2), 1);
    }
    LoValue up = lo_mul(lo, lo_sub(lo, word(r, INTEGERS_TERMS - 1), byte), word(r, BYTE_BITS));
    return lo_ashr(lo, lo_shl(lo, element, up), word(r, WORD_BITS - BYTE_BITS));
}

/* The 4 bits of an element that term `term` of it is, less what was added. */
static LoValue nibble_of(const PackedRow *r, LoValue element, LoValue term)
{
    enum { BITS = 4 };
    Lo *lo = &r->e->lo;
    const int64_t parts = form_has_bytes(&r->form) ? INTEGERS_TERMS : 2;
    LoValue shift =
        sum_of(r, low_of(r, term, parts), WORD_BITS / parts, high_of(r, term, parts), BITS);
    return lo_sub(lo, low_of(r, lo_lshr(lo, element, shift), 1 << BITS),
                  word(r, form_offset(&r->form)));
}

static LoValue real_of(const PackedRow *r, LoValue integer)
{
    return lo_from_int(&r->e->lo, integer, lo_like(lo_type(integer), lo_f32));
}

/* A scale is behind all terms. */
static LoValue value_of_row(const PackedRow *r)
{
    LoValue scale = load_element(r, lo_f32, word(r, (r->k + INTEGERS_TERMS - 1) / INTEGERS_TERMS));
    LoValue element = load_element(r, lo_i32, high_of(r, r->column, INTEGERS_TERMS));
    return lo_mul(&r->e->lo, scale,
                  real_of(r, byte_of(r, element, low_of(r, r->column, INTEGERS_TERMS))));
}

/* The f16 of the term's group in row `row` of its turn. */
static LoValue half_of_turn(const PackedRow *r, LoValue turn, int64_t row)
{
    Lo *lo = &r->e->lo;
    LoValue halves = load_element(r, lo_i32, lo_add(lo, turn, word(r, row)));
    LoValue group = low_of(r, high_of(r, r->column, GROUP_TERMS), TURN_GROUPS);
    LoValue up = lo_mul(lo, lo_sub(lo, word(r, TURN_GROUPS - 1), group), word(r, HALF_BITS));
    return lo_half_value(lo, lo_shl(lo, halves, up));
}

static LoValue value_of_group(const PackedRow *r)
{
    Lo *lo = &r->e->lo;
    const QuantInfo *q = quant_info((Quant)r->form.quant);
    const int64_t terms = group_element_terms(q->bits), rows = TURN_TERMS / terms;
    LoValue turn = lo_mul(lo, high_of(r, r->column, TURN_TERMS),
                          word(r, group_turn_rows(q->bits, q->has_minimum)));
    LoValue row = high_of(r, low_of(r, r->column, TURN_TERMS), terms);
    LoValue element = load_element(r, lo_i32, lo_add(lo, turn, row));
    LoValue term = low_of(r, r->column, terms);
    LoValue integer = q->bits == 8 ? byte_of(r, element, term) : nibble_of(r, element, term);
    LoValue value = lo_mul(lo, half_of_turn(r, turn, rows), real_of(r, integer));
    return q->has_minimum ? lo_add(lo, value, half_of_turn(r, turn, rows + 1)) : value;
}

LoValue emit_packed(Emit *e, int buffer, Quant quant, LoValue row, const Place *place)
{
    Lo *lo = &e->lo;
    const int64_t k = e->buffers[buffer].type->dims[1].size;
    PackedRow r = {.e = e,
                   .form = gemm_sizes(e->target, product_of_quant(quant, TFC_PRODUCT_F32)),
                   .buffer = e->buffers[buffer].base,
                   .column = coord_value(e, &place->at[place->rank - 1], lo_i32),
                   .valid = place->valid,
                   .k = k};
    r.pitch = r.form.columns;
    LoValue width = lo_i64_of(lo, r.pitch), panel = lo_udiv(lo, row, width);
    const int64_t elements = quant ? form_column_elements(&r.form, k) : k;
    LoValue first = lo_imul(lo, panel, lo_i64_of(lo, r.pitch * elements));
    r.base = lo_iadd(lo, first, lo_and(lo, row, lo_i64_of(lo, r.pitch - 1)));
    return !quant                     ? load_element(&r, lo_f32, r.column)
           : quant_info(quant)->group ? value_of_group(&r)
                                      : value_of_row(&r);
}
