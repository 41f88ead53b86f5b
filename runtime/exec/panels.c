/* The places of a matrix's elements in panels. */
#include "runtime/exec/panels.h"

#include "base/bf16.h"
#include "runtime/product/integers.h"
#include "runtime/product/product_pack.h"

#include <string.h>

static int64_t rounded_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

static int64_t smaller_of(int64_t a, int64_t b) { return a < b ? a : b; }

/* What packing reads of a form. */
static TfcFormSizes panels_form(const TfcPanels *p)
{
    return (TfcFormSizes){.integers = quant_info(product_quant(p->product))->bits,
                          .quant = product_quant(p->product),
                          .columns = p->layout.columns,
                          .joined = p->layout.joined,
                          .kept = p->layout.kept,
                          .whole = p->layout.whole,
                          .element = sizeof(float)};
}

bool panels_agree(const TfcPanels *a, const TfcPanels *b)
{
    return !strcmp(a->name, b->name) && a->product == b->product && a->matrices == b->matrices &&
           a->k == b->k && a->n == b->n && a->is_transposed == b->is_transposed &&
           !memcmp(&a->layout, &b->layout, sizeof a->layout);
}

static int64_t pitch_of(const TfcPanels *p)
{
    const TfcFormSizes f = panels_form(p);
    return pack_kept_bytes(&f, p->k);
}

/* Of one matrix. */
static int64_t matrix_bytes(const TfcPanels *p)
{
    return rounded_up(p->n, TFC_PANEL_COLUMNS) * pitch_of(p);
}

int64_t panels_bytes(const TfcPanels *p) { return p->matrices * matrix_bytes(p); }

typedef enum Move { WRITE_F32, WRITE_BF16, READ_F32, READ_BF16 } Move;

/* Moves a value to its place in panels, or from there. */
static inline __attribute__((always_inline)) void move_value(Move move, void *panels, int64_t place,
                                                             float *value)
{
    switch (move) {
    case WRITE_F32: ((float *)panels)[place] = *value; break;
    case WRITE_BF16: ((uint16_t *)panels)[place] = bf16_from_float(*value); break;
    case READ_F32: *value = ((const float *)panels)[place]; break;
    case READ_BF16: *value = bf16_to_float(((const uint16_t *)panels)[place]); break;
    }
}

/* Every element of a matrix, in the order of the panels. */
static inline __attribute__((always_inline)) void move_all(const TfcPanels *p, const void *panels,
                                                           const float *values, Move move)
{
    const int64_t columns = p->layout.columns, kept = p->layout.kept;
    const int64_t k = rounded_up(p->k, p->layout.whole);
    const int64_t along_k = p->is_transposed ? 1 : p->n, along_n = p->is_transposed ? p->k : 1;
    for (int64_t first = 0; first < p->n; first += columns)
        for (int64_t l = 0; l < p->k; l += kept)
            for (int64_t j = first; j < smaller_of(p->n, first + columns); j++)
                for (int64_t i = 0; i < smaller_of(kept, p->k - l); i++)
                    move_value(move, (void *)(uintptr_t)panels,
                               first * k + l * columns + (j - first) * kept + i,
                               (float *)(uintptr_t)values + (l + i) * along_k + j * along_n);
}

static void write_matrix(const TfcPanels *p, const float *values, void *out)
{
    const TfcFormSizes f = panels_form(p);
    const int64_t k_step = p->is_transposed ? 1 : p->n, n_step = p->is_transposed ? p->k : 1;
    memset(out, 0, (size_t)matrix_bytes(p));
    if (f.integers)
        integers_pack_columns(&f, p->k, values, k_step, n_step, p->n, out, pitch_of(p));
    else if (p->product == TFC_PRODUCT_BF16)
        move_all(p, out, values, WRITE_BF16);
    else
        move_all(p, out, values, WRITE_F32);
}

static void read_matrix(const TfcPanels *p, const void *data, float *values)
{
    const TfcFormSizes f = panels_form(p);
    const int64_t k_step = p->is_transposed ? 1 : p->n, n_step = p->is_transposed ? p->k : 1;
    if (f.integers)
        integers_unpack_columns(&f, p->k, data, pitch_of(p), values, k_step, n_step, p->n);
    else if (p->product == TFC_PRODUCT_BF16)
        move_all(p, data, values, READ_BF16);
    else
        move_all(p, data, values, READ_F32);
}

void panels_write(const TfcPanels *p, const float *values, void *out)
{
    for (int64_t i = 0; i < p->matrices; i++)
        write_matrix(p, values + i * p->k * p->n, (char *)out + i * matrix_bytes(p));
}

void panels_read(const TfcPanels *p, float *values)
{
    for (int64_t i = 0; i < p->matrices; i++)
        read_matrix(p, (const char *)p->data + i * matrix_bytes(p), values + i * p->k * p->n);
}
