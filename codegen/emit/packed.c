/* Elements of a table that is packed as panels of integers (runtime/product/integers.h, nibbles.h):
 * row r of the table is column r of the panels. An element of a panel is 4 bytes. */
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

/* A byte of an element, as a number with a sign. */
static LoValue term_of_8(const PackedRow *r)
{
    Lo *lo = &r->e->lo;
    LoValue element = load_element(r, lo_i32, high_of(r, r->column, INTEGERS_TERMS));
    LoValue term = low_of(r, r->column, INTEGERS_TERMS), byte = term;
    if (!form_has_bytes(&r->form)) { /* plus INTEGERS_OFFSET, in the order 0, 2, 1, 3 */
        element = lo_xor(lo, element, word(r, (int32_t)0x80808080));
        byte = sum_of(r, low_of(r, term, 2), 2, high_of(r, term, 2), 1);
    }
    LoValue up = lo_mul(lo, lo_sub(lo, word(r, INTEGERS_TERMS - 1), byte), word(r, BYTE_BITS));
    return lo_ashr(lo, lo_shl(lo, element, up), word(r, WORD_BITS - BYTE_BITS));
}

static LoValue scale_of_8(const PackedRow *r)
{
    const int64_t quads = (r->k + INTEGERS_TERMS - 1) / INTEGERS_TERMS;
    return load_element(r, lo_f32, word(r, quads));
}

/* 4 bits of an element, less what was added. */
static LoValue term_of_4(const PackedRow *r)
{
    Lo *lo = &r->e->lo;
    LoValue turn = high_of(r, r->column, NIBBLES_TURN);
    LoValue inside = high_of(r, low_of(r, r->column, NIBBLES_TURN), NIBBLES_TERMS);
    LoValue element = load_element(r, lo_i32, sum_of(r, turn, NIBBLES_ROWS, inside, 1));
    LoValue term = low_of(r, r->column, NIBBLES_TERMS);
    const int64_t parts = form_has_bytes(&r->form) ? INTEGERS_TERMS : 2;
    LoValue shift =
        sum_of(r, low_of(r, term, parts), WORD_BITS / parts, high_of(r, term, parts), NIBBLES_BITS);
    return lo_sub(lo, low_of(r, lo_lshr(lo, element, shift), 1 << NIBBLES_BITS),
                  word(r, NIBBLES_OFFSET));
}

static LoValue scale_of_4(const PackedRow *r)
{
    Lo *lo = &r->e->lo;
    LoValue turn = high_of(r, r->column, NIBBLES_TURN);
    LoValue index = lo_add(lo, lo_mul(lo, turn, word(r, NIBBLES_ROWS)), word(r, NIBBLES_ROWS - 1));
    LoValue halves = load_element(r, lo_i32, index);
    LoValue group = low_of(r, high_of(r, r->column, NIBBLES_GROUP), NIBBLES_GROUPS);
    LoValue up = lo_mul(lo, lo_sub(lo, word(r, NIBBLES_GROUPS - 1), group), word(r, HALF_BITS));
    return lo_half_value(lo, lo_shl(lo, halves, up));
}

LoValue emit_packed(Emit *e, int buffer, int64_t bits, LoValue row, const Place *place)
{
    Lo *lo = &e->lo;
    const bool of_4 = bits == NIBBLES_BITS;
    const int64_t k = e->buffers[buffer].type->dims[1].size;
    PackedRow r = {.e = e,
                   .form = gemm_sizes(e->target, product_of_bits(bits)),
                   .buffer = e->buffers[buffer].base,
                   .column = coord_value(e, &place->at[place->rank - 1], lo_i32),
                   .valid = place->valid,
                   .k = k};
    r.pitch = r.form.columns;
    LoValue width = lo_i64_of(lo, r.pitch), panel = lo_udiv(lo, row, width);
    LoValue first = lo_imul(lo, panel, lo_i64_of(lo, r.pitch * form_column_elements(&r.form, k)));
    r.base = lo_iadd(lo, first, lo_and(lo, row, lo_i64_of(lo, r.pitch - 1)));
    LoValue scale = of_4 ? scale_of_4(&r) : scale_of_8(&r);
    LoValue term = of_4 ? term_of_4(&r) : term_of_8(&r);
    return lo_mul(lo, scale, lo_from_int(lo, term, lo_like(lo_type(term), lo_f32)));
}
