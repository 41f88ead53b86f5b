/* Pictures, as SVG for papers, of what a model has before it is trained: its positions, masks,
 * learning rate and blocks. */
#ifndef INSPECT_PICTURE_SVG_H
#define INSPECT_PICTURE_SVG_H

#include "base/text.h"
#include "ir/graph.h"

/* PictureMap: a table as a picture, [rows, columns]. */
typedef struct PictureMap {
    const char *title;
    int64_t rows, columns;
    const float *values;
} PictureMap;

/* For each table a map of its numbers, positions downwards (of wide tables some columns only), and
 * curves of some columns. */
void picture_put_positions(const char *title, const PictureMap *maps, size_t n, Text *out);
/* For each mask its squares: a filled one says that its row (query) sees its column (key). */
void picture_put_masks(const char *title, const PictureMap *maps, size_t n, Text *out);
/* The learning rate of steps 1 to n; the end of the warm-up is marked if it is before step n. */
void picture_put_schedule(const char *title, const double *rates, size_t n, int64_t warmup,
                          Text *out);
/* The blocks of the function "model", with shapes and params. `arena`: for scratch.
 * (model_svg.c) */
void picture_put_model(const Module *module, Arena *arena, Text *out);

#endif
