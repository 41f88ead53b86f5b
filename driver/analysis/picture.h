/* What tfc draw computes of a model: its positions and its masks, by running it on made-up tokens, and its
 * learning rate. */
#ifndef DRIVER_ANALYSIS_PICTURE_H
#define DRIVER_ANALYSIS_PICTURE_H

#include "driver/session/session.h"
#include "passes/pass.h"

typedef struct PictureOptions {
    SessionOptions model;
    const char *weights; /* as weights_load takes them; NULL: initial values */
    int64_t source_length, target_length; /* tokens */
} PictureOptions;

/* PictureTable: [rows, columns] in the job's arena.
 *   name      where it comes from, "encoder.positions" or "decoder.layer.0.cross"
 *   made_by   of positions: the op, "cos"
 *   alike     of masks: how many attentions of the kind have the same
 *   values    of masks: 1 where some head may look, else 0 */
typedef struct PictureTable {
    const char *name, *made_by;
    int64_t rows, columns, alike;
    AttentionKind kind; /* of masks */
    const float *values;
} PictureTable;

typedef VEC(PictureTable) PictureTables;

/* Tables that are the same as an earlier one are left out. False after errors: the model has none. */
bool picture_positions(Job *job, const PictureOptions *options, PictureTables *tables);
/* Where attentions may look: their weights over made-up tokens are not 0. */
bool picture_masks(Job *job, const PictureOptions *options, PictureTables *tables);

#endif
