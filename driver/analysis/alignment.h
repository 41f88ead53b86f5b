/* Alignment: how much each token of a target is made from each of its source, as the last attention
 * of the decoder over the encoder has it in the mean of its heads. */
#ifndef DRIVER_ANALYSIS_ALIGNMENT_H
#define DRIVER_ANALYSIS_ALIGNMENT_H

#include "driver/run/inference.h"

/* One pair's; in the arena that was given.
 *   source, target   ids with what stands around them: begin and end of the source, the target's end
 *   weights          [n_target, n_source], rows sum to 1: what was looked at to predict the token */
typedef struct Alignment {
    const int32_t *source, *target;
    int64_t n_source, n_target;
    const float *weights;
} Alignment;

typedef struct Aligner {
    const Inference *inference;
    const TfcProgram *program;
    Exec *exec;
} Aligner;

/* Compiles what gives alignments and adds its params to the store, to be called before that is
 * filled. False after an error: the model has no attention over a source, or is an ensemble. */
bool aligner_prepare(Aligner *aligner, Inference *inference);
/* Of row `row` of a corpus of sources or pairs and n tokens of a target, without begin and end. False
 * after an error. */
bool aligner_run(Aligner *aligner, const Corpus *corpus, int64_t row, const int32_t *ids, int64_t n,
                 Arena *arena, Alignment *out);
void aligner_free(Aligner *aligner); /* {0} is allowed */

#endif
