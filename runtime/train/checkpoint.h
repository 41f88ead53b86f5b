/* Checkpoints: every tensor of a store (but gradients and caches) and the state
 * of the training, in one safetensors file that is written beside and renamed. */
#ifndef RUNTIME_TRAIN_CHECKPOINT_H
#define RUNTIME_TRAIN_CHECKPOINT_H

#include "base/diag.h"
#include "runtime/data/safetensors.h"
#include "runtime/exec/exec.h"

/* All that a training needs to go on as if it had never stopped; the random
 * numbers of a step follow from seed and step, the order of an epoch from seed
 * and epoch. */
typedef struct TrainState {
    int64_t step;  /* updates done */
    int64_t epoch; /* being read, from 0 */
    int64_t window; /* of prepared data, from 0 (runtime/data/prepared.h) */
    int64_t batch; /* batches of this epoch, or window, done */
    uint64_t seed;
    double best;       /* validation figure of the best checkpoint: lower is better */
    double best_loss;  /* its loss, which decides between equal figures */
    int64_t best_step; /* 0: none yet */
    uint64_t judge;    /* by what it was chosen (train_best_hash); 0: nothing, or an older version, which mixed
                          BLEU and loss */
    uint64_t judge_texts; /* … and of which texts (TrainBest.texts) */
    int64_t judge_from;   /* validations up to this step were of others */
    int64_t horizon;   /* step at which a falling rate ends; 0: as the settings say */
    int64_t warmup;    /* steps of a warm-up that time has shortened; 0: as the settings say */
    int64_t bad;       /* validations since the best */
    double seconds;    /* of training, all sessions together; log.jsonl's, not the file's: so equal
                          trainings have equal files */
    uint64_t config;   /* hash of what must not change between sessions */
} TrainState;

/* CheckpointPart: a tensor of the file of which this process writes the `count` elements from number `from` on,
 * while others write the rest. Of one that is not in the store, such as an optimizer's slot, it has these alone. */
typedef struct CheckpointPart {
    const char *name;
    TfcType type;
    int32_t rank;
    int64_t dims[TFC_MAX_AXES]; /* of the whole tensor */
    int64_t from, count;
    void *data; /* these elements */
} CheckpointPart;

/* CheckpointParts: what of a checkpoint one process of several writes; NULL: all of the store.
 *   rest   the store's other tensors, too */
typedef struct CheckpointParts {
    const CheckpointPart *list;
    int64_t n;
    bool rest;
} CheckpointParts;

/* Whether all that training computes (trained params, states, the optimizer's slots) is
 * finite; else an error that begins with `what` names the first that is not. */
bool checkpoint_check(Diagnostics *diags, const char *what, Store *store);
/* The same of one tensor, which others than these pass. */
bool checkpoint_check_tensor(Diagnostics *diags, const char *what, const StoreTensor *tensor);
/* Refuses what checkpoint_check refuses; PATH is then as it was. Checksums go along. */
bool checkpoint_save(Diagnostics *diags, Arena *arena, const char *path, Store *store,
                     const TrainState *state);
/* What several processes write: of this one, which refuses the same. NULL after an error. */
StWriter *checkpoint_writer(Diagnostics *diags, Arena *arena, const char *path, Store *store,
                            const CheckpointParts *parts);
/* Its header, once it has all sums: gives where the data begin; 0: out of memory. */
uint64_t checkpoint_header(StWriter *writer, Arena *arena, const TrainState *state);
/* CheckpointSlots: the optimizer's slots that a file and a training do not have both, because other params train now,
 * or with another optimizer.
 *   fresh    how many the file lacks: they stay as they are
 *   dropped  how many the training lacks
 *   first_…  the name of one, in the arena; NULL: there is none */
typedef struct CheckpointSlots {
    int64_t fresh, dropped;
    const char *first_fresh, *first_dropped;
} CheckpointSlots;

/* Fills every tensor of the store but gradients and caches, and of the parts those that are not in it; each
 * must be there with its shape and with finite values, and match its checksum if the file has checksums. With `slots`
 * the optimizer's need not be there. */
bool checkpoint_load(Diagnostics *diags, Arena *arena, const char *path, Store *store,
                     const CheckpointParts *parts, TrainState *state, CheckpointSlots *slots);
/* Params alone (trained, frozen, state): for decoding; state may be NULL. */
bool checkpoint_load_params(Diagnostics *diags, Arena *arena, const char *path, Store *store,
                            TrainState *state);
/* PATH becomes the mean of n checkpoints; what is not a float param comes from
 * the last. The store tells which tensors are params. */
bool checkpoint_average(Diagnostics *diags, Arena *arena, const char *path,
                        const char *const *paths, int n, Store *store);

#endif
