/* Packing: what is read side by side becomes panels, which tiles read in one stream. */
#include "runtime/product/product_pack.h"

#include "runtime/product/integers.h"

#include <assert.h>
#include <string.h>

static int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t elements_along(const TfcFormSizes *f, int64_t k, int64_t joined)
{
    return f->whole == 1 ? k : (k + f->whole - 1) / f->whole * f->whole / joined;
}

int64_t pack_elements(const TfcFormSizes *f, int64_t k)
{
    return f->integers ? integers_turns(f, k) : elements_along(f, k, f->joined);
}

int64_t pack_row_bytes(const TfcFormSizes *f, int64_t k)
{
    return f->integers ? integers_row_bytes(f, k) : pack_elements(f, k) * f->element;
}

int64_t pack_column_bytes(const TfcFormSizes *f, int64_t k)
{
    return f->integers ? integers_column_bytes(f, k) : pack_elements(f, k) * f->element;
}

int64_t pack_kept_bytes(const TfcFormSizes *f, int64_t k)
{
    return f->integers ? integers_column_bytes(f, k) : elements_along(f, k, f->kept) * f->element;
}

/* ---- columns of b ---- */

/* How a panel is packed: by what, and terms an element. */
typedef struct Way {
    const TfcFormSizes *f;
    TfcPackPanel *pack;
    int64_t joined;
} Way;

/* Zeros where terms are missing: those that there are come over them. */
static void clear_missing(const Way *way, int64_t k, char *out)
{
    const TfcFormSizes *f = way->f;
    if (f->whole > 1 && k % f->whole) {
        int64_t row = f->columns * f->element, begin = k / f->whole * f->whole / way->joined;
        memset(out + begin * row, 0, (size_t)((elements_along(f, k, way->joined) - begin) * row));
    }
}

static void pack_panel(const Way *way, int64_t k, const void *x, int64_t x_k, int64_t x_column,
                       int64_t count, char *out)
{
    clear_missing(way, k, out);
    way->pack(k, x, x_k, x_column, count, out);
}

static void prefetch_terms(const TfcFormSizes *f, int64_t terms, const char *x, int64_t x_k,
                           int64_t columns)
{
    for (int64_t l = 0; l < terms; l++)
        for (int64_t at = 0; at < columns * f->source; at += f->line)
            __builtin_prefetch(x + l * x_k * f->source + at);
}

/* Narrow panels beside each other: some terms of all, while the next are brought near. So the page
 * that a row of b lies in is found once. */
static void pack_beside(const Way *way, int64_t k, const char *x, int64_t x_k, int64_t columns,
                        char *panels, int64_t pitch)
{
    enum { TERMS = 16 };
    const TfcFormSizes *f = way->f;
    for (int64_t l = 0; l < k; l += TERMS) {
        const char *from = x + l * x_k * f->source;
        char *to = panels + l / way->joined * f->columns * f->element;
        prefetch_terms(f, least_of(k - l - TERMS, TERMS), from + TERMS * x_k * f->source, x_k,
                       columns);
        for (int64_t j = 0; j < columns; j += f->columns)
            pack_panel(way, least_of(k - l, TERMS), from + j * f->source, x_k, 1,
                       least_of(columns - j, f->columns), to + j * pitch);
    }
}

static void pack_all(const Way *way, int64_t k, const void *x, int64_t x_k, int64_t x_column,
                     int64_t columns, void *panels, int64_t pitch)
{
    const TfcFormSizes *f = way->f;
    const char *from = x;
    char *to = panels;
    bool beside = x_column == 1 && f->columns < TFC_PANEL_COLUMNS;
    for (int64_t j = 0, step; j < columns; j += step) {
        step = beside ? TFC_PANEL_COLUMNS : f->columns;
        int64_t count = least_of(columns - j, step);
        if (beside)
            pack_beside(way, k, from + j * f->source, x_k, count, to + j * pitch, pitch);
        else
            pack_panel(way, k, from + j * x_column * f->source, x_k, x_column, count,
                       to + j * pitch);
    }
}

/* The next of n terms, up to a unit, which any distance is between: how many they are, where they
 * begin, and how far apart they are, in elements. */
static int64_t next_unit(const TfcFormSizes *f, const PackTerms *terms, int64_t from, int64_t n,
                         int64_t *begin, int64_t *x_k)
{
    const int64_t count = least_of(n, f->whole > 1 ? 2 : 1);
    *begin = listed_row(&terms->rows, from) * terms->stride;
    *x_k = listed_row(&terms->rows, from + count - 1) * terms->stride - *begin;
    return count;
}

/* Adjacent columns of terms that a list names: a unit of all panels, then the next one. */
static void pack_listed(const Way *way, int64_t k, const char *x, const PackTerms *terms,
                        int64_t columns, char *panels, int64_t pitch)
{
    const TfcFormSizes *f = way->f;
    const int64_t row = f->columns * f->element;
    for (int64_t j = 0; j < columns; j += f->columns)
        clear_missing(way, k, panels + j * pitch);
    for (int64_t l = 0, begin, x_k, count; l < k; l += count) {
        count = next_unit(f, terms, l, k - l, &begin, &x_k);
        for (int64_t j = 0; j < columns; j += f->columns)
            way->pack(count, x + (begin + j) * f->source, x_k, 1, least_of(columns - j, f->columns),
                      panels + j * pitch + l / way->joined * row);
    }
}

void pack_columns(const TfcForm *form, int64_t k, const void *x, PackTerms terms, int64_t x_column,
                  int64_t columns, void *panels, int64_t pitch)
{
    const Way way = {&form->sizes, form->pack_panel, form->sizes.joined};
    if (form->sizes.integers)
        integers_pack_columns(&form->sizes, k, x, terms.stride, x_column, columns, panels, pitch);
    else if (terms.rows.rows)
        pack_listed(&way, k, x, &terms, columns, panels, pitch);
    else
        pack_all(&way, k, x, terms.stride, x_column, columns, panels, pitch);
}

void product_pack(const TfcForm *form, int64_t k, int64_t begin, int64_t end, const void *b,
                  int64_t b_row, int64_t b_column, void *panels)
{
    const TfcFormSizes *f = &form->sizes;
    const Way way = {f, form->pack_kept, f->kept};
    int64_t pitch = pack_kept_bytes(f, k);
    const char *from = (const char *)b + begin * b_column * f->source;
    char *to = (char *)panels + begin * pitch;
    if (f->integers)
        integers_pack_columns(f, k, (const float *)from, b_row, b_column, end - begin, to, pitch);
    else
        pack_all(&way, k, from, b_row, b_column, end - begin, to, pitch);
}

/* Of pairs the odd terms, then the even ones. */
static void widen_pairs(int64_t n, const uint32_t *restrict pairs, uint32_t *restrict odd,
                        uint32_t *restrict even)
{
    for (int64_t j = 0; j < n; j++) {
        odd[j] = pairs[j] & 0xFFFF0000u;
        even[j] = pairs[j] << 16;
    }
}

void widen_panels(const TfcForm *form, int64_t k, const void *kept, int64_t columns,
                  int64_t kept_pitch, void *panels, int64_t pitch)
{
    const int64_t width = form->sizes.columns;
    for (int64_t j = 0; j < columns; j += width) {
        const uint32_t *pairs = (const uint32_t *)((const char *)kept + j * kept_pitch);
        uint32_t *out = (uint32_t *)((char *)panels + j * pitch);
        for (int64_t l = 0; l < k; l += 2, pairs += width, out += 2 * width)
            widen_pairs(width, pairs, out, out + width);
    }
}

/* ---- rows of a ---- */

/* Terms joined: as they are, filled up with zeros. */
static void copy_row(const TfcFormSizes *f, int64_t k, const char *x, char *out)
{
    size_t bytes = (size_t)(k * f->source);
    memcpy(out, x, bytes);
    memset(out + bytes, 0, (size_t)(pack_elements(f, k) * f->element) - bytes);
}

/* Of bf16 as f32, the odd term of each pair before the even one. */
static void widen_row(int64_t k, const void *x, void *out)
{
    const uint16_t *terms = x;
    uint32_t *widened = out;
    for (int64_t l = 0; l + 1 < k; l += 2) {
        widened[l] = (uint32_t)terms[l + 1] << 16;
        widened[l + 1] = (uint32_t)terms[l] << 16;
    }
    if (k % 2) {
        widened[k - 1] = 0;
        widened[k] = (uint32_t)terms[k - 1] << 16;
    }
}

static void round_rows(const TfcForm *form, int64_t k, const float *x, int64_t x_k, int64_t x_row,
                       int64_t rows, char *out, int64_t pitch)
{
    for (int64_t i = 0; i < rows; i++)
        form->round_row(k, x + i * x_row, x_k, out + i * pitch);
}

void pack_rows_along(const TfcForm *form, int64_t k, const void *x, int64_t x_row, int64_t rows,
                     void *out, int64_t pitch)
{
    const TfcFormSizes *f = &form->sizes;
    if (f->integers) {
        round_rows(form, k, x, 1, x_row, rows, out, pitch);
        return;
    }
    for (int64_t i = 0; i < rows; i++) {
        const char *from = (const char *)x + i * x_row * f->source;
        if (f->joined > 1 || f->source == f->element)
            copy_row(f, k, from, (char *)out + i * pitch);
        else
            widen_row(k, from, (char *)out + i * pitch);
    }
}

/* Terms that a list names: into panels a unit at a time; for rows of pairs they are brought
 * together first. */
static void pack_rows_listed(const TfcForm *form, int64_t begin, int64_t end, const char *x,
                             const PackTerms *terms, int64_t rows, char *out, int64_t pitch)
{
    enum { MOST_ROWS = 96, PAIRS = sizeof(uint16_t) };
    const TfcFormSizes *f = &form->sizes;
    const bool panels = f->beside == TFC_LAYOUT_PANELS;
    uint16_t beside[PACK_K][MOST_ROWS];
    assert(panels || (f->source == PAIRS && rows <= MOST_ROWS));
    for (int64_t l = begin, count, at, x_k; panels && l < end; l += count) {
        count = next_unit(f, terms, l, end - l, &at, &x_k);
        for (int64_t i = 0; i < rows; i += f->rows)
            form->pack_rows(count, x + (at + i) * f->source, x_k, 1, rows - i,
                            out + l / f->joined * f->rows * f->element + i * pitch);
    }
    for (int64_t l = begin, count; !panels && l < end; l += count) {
        count = least_of(end - l, PACK_K);
        for (int64_t t = 0; t < count; t++)
            memcpy(beside[t], x + listed_row(&terms->rows, l + t) * terms->stride * f->source,
                   (size_t)(rows * f->source));
        form->transpose_rows(count, beside, MOST_ROWS, rows, out + l / f->joined * f->element,
                             pitch);
    }
}

void pack_rows_beside(const TfcForm *form, int64_t begin, int64_t end, const void *x, PackTerms all,
                      int64_t rows, void *out, int64_t pitch)
{
    const TfcFormSizes *f = &form->sizes;
    const int64_t x_k = all.stride;
    if (f->integers) { /* rows are packed whole: begin is 0 */
        round_rows(form, end, x, x_k, 1, rows, out, pitch);
        return;
    }
    if (all.rows.rows) {
        pack_rows_listed(form, begin, end, x, &all, rows, out, pitch);
        return;
    }
    bool panels = f->beside == TFC_LAYOUT_PANELS;
    int64_t element = (panels ? f->rows : 1) * f->element;
    for (int64_t l = begin, terms; l < end; l += terms) {
        const char *from = (const char *)x + l * x_k * f->source;
        char *to = (char *)out + l / f->joined * element;
        terms = panels ? least_of(end - l, PACK_K) : end - l;
        for (int64_t i = 0; panels && i < rows; i += f->rows)
            form->pack_rows(terms, from + i * f->source, x_k, 1, rows - i, to + i * pitch);
        if (!panels)
            form->transpose_rows(terms, from, x_k, rows, to, pitch);
    }
}

/* ---- rows of c ---- */

void add_floats(int64_t n, const float *restrict x, float *restrict sum)
{
    for (int64_t i = 0; i < n; i++)
        sum[i] += x[i];
}

void add_doubles(int64_t n, const double *restrict x, double *restrict sum)
{
    for (int64_t i = 0; i < n; i++)
        sum[i] += x[i];
}
