/* KeptWeights: prepared weights, kept between processes. A program prepares its weights once: it
 * packs them into panels, puts them side by side, or rounds them to bf16 (TfcProgram.n_prepared).
 * The user's cache keeps this block for each program and checkpoint, if it has at least 4 MiB, and
 * the next process maps the block. Params of that size that steps look rows up in are kept and
 * mapped in the same way. If a checkpoint has been read whole before, a param is read from it only
 * when a step reads the param itself.
 *
 * A checkpoint is identified by size, times, inode and a sample of its bytes, and by the model's
 * text and settings, since the model's weights block says what the tensors mean; a program by its
 * key. */
#ifndef DRIVER_RUN_KEPT_WEIGHTS_H
#define DRIVER_RUN_KEPT_WEIGHTS_H

#include "driver/session/session.h"

typedef struct KeptWeights KeptWeights;
/* Lives in the job's arena; to be closed after the store that uses it. NULL: the cache is off or
 * cannot be used, or `checkpoint` cannot be opened or identified. */
KeptWeights *kept_weights_open(Job *job, Session *session, const char *checkpoint);
/* Whether an earlier process has read all of the checkpoint and found its values valid; false for
 * NULL. */
bool kept_weights_checked(const KeptWeights *kept);
/* Makes `kept` the source of the store's params (store_set_source). If kept_weights_checked, each
 * param is read when it is needed; otherwise call this after all params have been read from the
 * checkpoint, which is then recorded as checked. Does nothing for NULL. */
void kept_weights_use(KeptWeights *kept, Store *store);
void kept_weights_close(KeptWeights *kept); /* NULL is allowed */

#endif
