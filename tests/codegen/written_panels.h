/* Panels that are written without the form's own code (runtime/exec/panels.h). */
#ifndef TESTS_CODEGEN_WRITTEN_PANELS_H
#define TESTS_CODEGEN_WRITTEN_PANELS_H

#include "runtime/exec/panels.h"

#include <stdlib.h>

/* The panels of b[k, n], whose element (l, j) is `at(b, l × row + j × column)`, for this form;
 * freed by the caller. Asserts that they are read back. */
static void *written_panels(const TfcForm *form, TfcProductType product, int64_t k, int64_t n,
                            const void *b, int64_t row, int64_t column,
                            float (*at)(const void *b, int64_t i))
{
    const TfcPanels panels = {.name = "b",
                              .matrices = 1,
                              .product = product,
                              .k = k,
                              .n = n,
                              .is_transposed = row == 1 && n > 1,
                              .layout = panel_layout(&form->sizes)};
    float *values = malloc((size_t)(2 * k * n + 1) * sizeof *values), *back = values + k * n;
    for (int64_t l = 0; l < k; l++)
        for (int64_t j = 0; j < n; j++)
            values[panels.is_transposed ? j * k + l : l * n + j] = at(b, l * row + j * column);
    void *out = aligned_alloc(64, (size_t)(panels_bytes(&panels) + 127) / 64 * 64);
    panels_write(&panels, values, out);
    TfcPanels written = panels;
    written.data = out;
    panels_read(&written, back);
    assert_memory_equal(values, back, (size_t)(k * n) * sizeof *values);
    free(values);
    return out;
}

#endif
