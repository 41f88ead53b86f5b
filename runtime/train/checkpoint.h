/* Checkpoints: every tensor of a store (but gradients) and the state
 * of the training, in one safetensors file, written beside its place and renamed. */
#ifndef RUNTIME_TRAIN_CHECKPOINT_H
#define RUNTIME_TRAIN_CHECKPOINT_H

#include "base/diag.h"
#include "runtime/data/safetensors.h"
#include "runtime/exec/exec.h"

/* TrainState: all that a resumed training needs, besides the tensors, to compute the same
 * as one that never stopped. The random numbers of a step follow from seed and step, the
 * order of an epoch from seed and epoch. */
typedef struct TrainState {
    int64_t step;   /* updates done */
    int64_t epoch;  /* the current one, from 0 */
    int64_t window; /* of prepared data, from 0 (runtime/data/prepared.h) */
    int64_t batch;  /* how many batches of the epoch, or of its window, are done */
    uint64_t seed;
    double best;       /* figure of the best validation, negated where higher is better */
    double best_loss;  /* the loss of that validation, which decides between equal figures */
    int64_t best_step; /* 0: none yet */

    /* hash of the figure that chose the best (train_best_hash); 0: none, or one of an older
     * version, which mixed BLEU and loss */
    uint64_t judge;
    uint64_t judge_texts; /* hash of the texts on which it was measured (TrainBest.texts) */
    int64_t judge_from;   /* validations up to this step had another figure or other texts */
    int64_t horizon;      /* step at which a falling rate ends; 0: the settings' */

    /* steps of the warm-up, where a limit of time has shortened it; 0: the settings' */
    int64_t warmup;
    int64_t bad; /* validations since the best, of those that have the figure */

    /* that the last validation has chosen, as JSON of predictions' names: {"tag": [0.5, 0.31]};
     * rank 0 alone has them; not owned; NULL: none */
    const char *thresholds;

    /* of training, all sessions together; kept in log.jsonl, not in the checkpoint, so that equal
     * trainings have equal checkpoints */
    double seconds;
    uint64_t config; /* hash of what must not change between sessions */
} TrainState;

/* CheckpointPart: a tensor of which this process writes `count` elements, from number `from` on;
 * other processes write the rest. If the tensor is not in the store, such as an optimizer's slot,
 * this process has only these elements. */
typedef struct CheckpointPart {
    const char *name;
    TfcType type;
    int32_t rank;
    int64_t dims[TFC_MAX_AXES]; /* of the whole tensor */
    int64_t from, count;
    void *data; /* these elements */
} CheckpointPart;

/* CheckpointParts: what one process of several writes of a checkpoint.
 *   rest   this process also writes the store's tensors that are not in the list */
typedef struct CheckpointParts {
    const CheckpointPart *list;
    int64_t n;
    bool rest;
} CheckpointParts;

/* Checks that all that training computes (trained params, states, the optimizer's slots) is
 * finite. False after an error that begins with `what` and names the first tensor that is not. */
bool checkpoint_check(Diagnostics *diags, const char *what, Store *store);
/* The same for one tensor; a tensor that training does not compute passes. */
bool checkpoint_check_tensor(Diagnostics *diags, const char *what, const StoreTensor *tensor);
/* Writes a checkpoint with checksums. is_own: PATH is a name that tfc chose in a folder of its own
 * (file_create_own). False after an error, one of checkpoint_check included; PATH is then as it
 * was. */
bool checkpoint_save(Diagnostics *diags, Arena *arena, const char *path, bool is_own, Store *store,
                     const TrainState *state);
/* This process's writer, in the arena, of a checkpoint that several processes write; checks as
 * checkpoint_save does. NULL after an error. */
StWriter *checkpoint_writer(Diagnostics *diags, Arena *arena, const char *path, Store *store,
                            const CheckpointParts *parts);
/* Makes the writer's header, once it has taken all checksums. Returns where the data begin; 0: out
 * of memory. */
uint64_t checkpoint_header(StWriter *writer, Arena *arena, const TrainState *state);
/* CheckpointSlots: the optimizer's slots that only the file or only the training has, because other
 * params train now, or the optimizer is another one.
 *   fresh    how many slots the file lacks: the training's are not changed
 *   dropped  how many tensors of the file the training lacks
 *   first_…  the name of one, in the arena; NULL: there is none */
typedef struct CheckpointSlots {
    int64_t fresh, dropped;
    const char *first_fresh, *first_dropped;
} CheckpointSlots;

/* Fills every tensor of the store but gradients, and the parts that are not in the
 * store. The file must have each with its shape, with finite values if training computes it, and
 * with the bytes of its checksum if the file has checksums. With `slots` it may lack slots of the
 * optimizer. `parts`, `state` and `slots` may be NULL. False after errors; some tensors may then be
 * filled. */
bool checkpoint_load(Diagnostics *diags, Arena *arena, const char *path, Store *store,
                     const CheckpointParts *parts, TrainState *state, CheckpointSlots *slots);
/* Fills only params (trained, frozen, state), for decoding. `state` may be NULL. False after
 * errors. */
bool checkpoint_load_params(Diagnostics *diags, Arena *arena, const char *path, Store *store,
                            TrainState *state);
/* CheckpointAverage: what the mean of checkpoints says of itself, in the file that it is.
 *   of       how many there are; 0: the file is no mean, or one of an older version
 *   first    the step of the oldest
 *   by       TrainBest.by of the validation that compared it with the best checkpoint; NULL: none
 *   figure   its own, beside the best checkpoint's; NAN: there is none
 *   better   whether it is the better one
 *   thresholds  TrainState.thresholds of that validation; NULL: those of the last checkpoint */
typedef struct CheckpointAverage {
    int64_t of, first;
    const char *by;
    double figure, best;
    bool better;
    const char *thresholds;
} CheckpointAverage;
/* Called when the store's params are the mean, before it is written: fills all but `of` and
 * `first`. False after an error. */
typedef bool CheckpointJudge(void *user, CheckpointAverage *average);
/* Writes to PATH the mean of n checkpoints, oldest first. The state, and tensors that are not f32
 * or f64 params, are the last checkpoint's. The store says which tensors are params; with `judge`
 * they are the mean afterwards, else they are not changed. False after errors. */
bool checkpoint_average(Diagnostics *diags, Arena *arena, const char *path,
                        const char *const *paths, int n, Store *store, CheckpointJudge *judge,
                        void *user);
/* Of an open file; texts are the file's. */
CheckpointAverage checkpoint_average_of(const StFile *file);

#endif
