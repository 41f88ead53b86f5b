/* What tfc draw computes, by running the model on made-up tokens: a model's tables of positions and
 * its masks. */
#ifndef DRIVER_ANALYSIS_PICTURE_H
#define DRIVER_ANALYSIS_PICTURE_H

#include "driver/session/session.h"
#include "passes/pass.h"

typedef struct PictureOptions {
    SessionOptions model;
    const char *weights;                  /* as weights_load takes them; NULL: initial values */
    int64_t source_length, target_length; /* tokens */
} PictureOptions;

/* PictureTable: values [rows, columns]; in the job's arena.
 *   name      scope of the op that made it, "encoder.positions" or "decoder.layer.0.cross"
 *   made_by   of positions: the op, "cos"
 *   alike     how many attentions of the kind have this mask, or how many tables are equal to this
 *   values    of masks: 1 where the weight of some head is not 0, else 0 */
typedef struct PictureTable {
    const char *name, *made_by;
    int64_t rows, columns, alike;
    AttentionKind kind; /* of masks */
    const float *values;
} PictureTable;

typedef VEC(PictureTable) PictureTables;

/* Sets *tables to the model's tables of positions; of equal ones only the first. False after
 * errors, such as a model without such a table. */
bool picture_positions(Job *job, const PictureOptions *options, PictureTables *tables);
/* Sets *tables to the masks of the model's attentions: where weights over made-up tokens are not 0.
 * Of equal ones of a kind only the first. False after errors, such as a model without attention. */
bool picture_masks(Job *job, const PictureOptions *options, PictureTables *tables);

#endif
