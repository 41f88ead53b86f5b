/* Panels: a matrix b[k, n] in the order in which products read it (product_pack). Here are the
 * places of its elements, so that panels can be written and read without the code of their
 * processor: a compiled model has them in its file. */
#ifndef RUNTIME_EXEC_PANELS_H
#define RUNTIME_EXEC_PANELS_H

#include "runtime/product/form.h"

/* What TfcFormSizes says of panels that product_pack makes. */
typedef struct TfcPanelLayout {
    int64_t columns, joined, kept, whole;
} TfcPanelLayout;

/* TfcPanels: panels of a param of f32, which is a matrix or several. */
typedef struct TfcPanels {
    const char *name; /* of the param */
    int64_t product;  /* TfcProductType that reads them: the elements are f32 or bf16, or integers
                           with scales */
    int64_t matrices; /* how many the param has, one after another, as have the panels */
    int64_t k, n;
    int64_t is_transposed; /* b[l, j] is element j × k + l of a matrix; else l × n + j */
    TfcPanelLayout layout;
    const void *data; /* panels_bytes of them, 64-byte aligned */
} TfcPanels;

static inline TfcPanelLayout panel_layout(const TfcFormSizes *f)
{
    return (TfcPanelLayout){f->columns, f->joined, f->kept, f->whole};
}

/* Whether `data` of one can stand for the other's. */
bool panels_agree(const TfcPanels *a, const TfcPanels *b);
int64_t panels_bytes(const TfcPanels *panels);
/* Writes panels of the param's values to `out`; missing elements are zero. */
void panels_write(const TfcPanels *panels, const float *values, void *out);
/* Writes the param's values, which are those of `data`. */
void panels_read(const TfcPanels *panels, float *values);

#endif
