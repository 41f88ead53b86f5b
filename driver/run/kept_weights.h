/* KeptWeights: what decoding reads of a checkpoint, kept between processes as it is read. A program prepares its weights once
 * (as panels, side by side, as bf16: TfcProgram.n_prepared); the user's cache keeps that block for each program and
 * checkpoint, and the next process maps it. Of a checkpoint that was read whole before, params are then read only
 * where a step reads them as they are.
 *
 * A checkpoint is known by size, times, inode and a sample of its bytes, and by the model's text, whose name map says what
 * its tensors mean; a program by its key. */
#ifndef DRIVER_RUN_KEPT_WEIGHTS_H
#define DRIVER_RUN_KEPT_WEIGHTS_H

#include "driver/session/session.h"

typedef struct KeptWeights KeptWeights;
/* In the job's arena, to be closed after the store that uses it. NULL: the cache is off, or it is no checkpoint
 * that can be known. */
KeptWeights *kept_weights_open(Job *job, Session *session, const char *checkpoint);
/* Whether a process before this one has read all of the checkpoint, and found its values good. NULL: no. */
bool kept_weights_checked(const KeptWeights *kept);
/* The store's params are the checkpoint's: read already, or, checked, from now on where they are needed. NULL: nothing
 * is done. */
void kept_weights_use(KeptWeights *kept, Store *store);
void kept_weights_close(KeptWeights *kept); /* NULL is allowed */

#endif
