/* Pictures of what a model is before it has learnt: its positions, its masks, its rate, as SVG for
 * papers. */
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

/* Of each table a map of its numbers, positions downwards, and the waves of some of its columns. */
void picture_put_positions(const char *title, const PictureMap *maps, size_t n, Text *out);
/* Of each mask its squares: rows look at columns where these are filled. */
void picture_put_masks(const char *title, const PictureMap *maps, size_t n, Text *out);
/* The rate of steps 1 to n; `warmup` is marked where it is within them. */
void picture_put_schedule(const char *title, const double *rates, size_t n, int64_t warmup,
                          Text *out);
/* The blocks of the function "model", with shapes and params. `arena`: for scratch.
 * (model_svg.c) */
void picture_put_model(const Module *module, Arena *arena, Text *out);

#endif
