/* Passes: functions over the graph, in the order of pipeline.def. */
#ifndef PASSES_PASS_H
#define PASSES_PASS_H

#include "base/functions.h"
#include "base/training.h"
#include "ir/graph.h"

/* Miss: why ops were not fused where a reader may have expected it (misses.def). */
typedef enum Miss {
    MISS_NONE,
#define MISS(pass, name, text) MISS_##name,
#include "passes/misses.def"
    MISS_COUNT
} Miss;

/* ReportLine: what a pass did or nearly did (--report), and the op that it is about. */
typedef struct ReportLine {
    const char *text;
    Miss miss; /* MISS_NONE: something was done */
    Loc loc;
    const char *scope; /* or NULL */
} ReportLine;
typedef struct Report {
    Arena *arena;
    VEC(ReportLine) lines;
} Report;
/* Adds a line about what was done; does nothing if `report` is NULL. */
void report_op(Report *report, const Op *op, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Adds the line "not fused: TEXT: why". */
void report_miss(Report *report, const Op *op, Miss miss, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Appends "path:line: text, in scope", without a newline. */
void report_print(const ReportLine *line, Text *out);
static inline bool report_is_miss(const ReportLine *line) { return line->miss != MISS_NONE; }

/* DimSize: the size of a dimension in a run's largest batch. Of a ragged one: the longest row, and
 * the sum of all rows; else the same number twice. */
typedef struct DimSize {
    const char *name;
    int64_t extent, total;
} DimSize;

/* MemoryBudget: how many bytes the values of a function, without params, may take while it runs. */
typedef struct MemoryBudget {
    int64_t bytes;
    const DimSize *dims; /* those not listed are 1 */
    int n_dims;
} MemoryBudget;

typedef struct PassContext {
    Diagnostics *diags;
    Report *report;             /* may be NULL */
    DType compute;              /* of products: DT_F32 leaves them as they are */
    const MemoryBudget *budget; /* NULL: nothing is recomputed */
} PassContext;

typedef struct PassInfo {
    const char *name, *needs, *gives, *help;
    bool (*run)(Function *function, PassContext *context);
    bool at_O0; /* also part of the unoptimised pipeline */
} PassInfo;
extern const PassInfo pass_info[];
extern const int pass_count;
const PassInfo *pass_find(const char *name);

typedef struct PipelineOptions {
    int opt_level; /* 0: only what codegen needs; above: everything */

    /* comma-separated names: these alone; "-name"s: the level's without these; NULL: the level's */
    const char *passes;
    const char *after; /* stop after this pass; NULL: all */

    /* DT_BF16: `precision` makes products bf16; naming it in `passes` does the same */
    DType compute;
    const MemoryBudget *budget; /* of `recompute`; NULL: it does nothing */
    Report *report;
    /* Called after each pass that ran, with the function as it is then; may be NULL. */
    void (*observe)(void *observer, const PassInfo *pass, Function *function);
    void *observer;
} PipelineOptions;
/* Checks that each name of a list, as in `passes` above (or NULL), is a pass. False after an
 * error. */
bool pipeline_check(const char *list, Diagnostics *diags);
/* Runs the pipeline over one function; verifies between passes in debug builds. False after
 * errors. */
bool pipeline_run(Function *function, const PipelineOptions *options, Diagnostics *diags);

/* ---- deriving functions from what the frontend gives (function "model") ---- */

typedef struct OptimizerSpec {
    Optimizer kind;
    double beta1, beta2, eps, momentum, weight_decay;
    double clip_norm; /* 0: none */
    Loc loc;          /* the place in the train block; {0}: none */
} OptimizerSpec;

/* forward: outputs but not the loss; no dropout, training = false. */
Function *derive_forward(Module *module);
/* loss: the loss alone; no dropout, training = false. */
Function *derive_loss(Module *module);
/* gradient: outputs "loss" and, for each trained param that it reads, "grad.NAME" of the param's
 * type. `training`: with dropout. */
Function *derive_gradient(Module *module, bool training);
/* train_step: forward, loss, backward, clip, update in one. Inputs beside the
 * model's: "rate" f32[] (learning rate), "step" f32[] (1, 2, …). Outputs "loss",
 * "gradient_norm". */
Function *derive_train_step(Module *module, const OptimizerSpec *optimizer);
/* alignment: a function whose output "alignment" f32[B, T~, S~] is the mean over heads of the last
 * attention of the target (an input's name) over the source. NULL: the model has no such attention.
 * (alignment.c) */
Function *derive_alignment(Module *module, const char *source, const char *target);
typedef enum AttentionKind { ATTENTION_ENCODER, ATTENTION_DECODER, ATTENTION_CROSS } AttentionKind;
/* AttentionOutput: the weights [B, heads …, queries, keys] of one attention. The source attends to
 * itself (encoder), the target to itself (decoder), or the target to the source (cross).
 *   scope   of its softmax, "decoder.layer.0.cross"
 *   heads   all dimensions of heads as one, in their order */
typedef struct AttentionOutput {
    const char *output, *scope;
    AttentionKind kind;
    int64_t heads;
} AttentionOutput;
/* Renames a forward function "attention" and makes its outputs all attentions of `kinds` (bits 1 <<
 * kind), in the order of the function. source or target NULL: the model has none. Returns how many;
 * *outputs, in the module's arena, describes them. */
size_t expose_attentions(Function *forward, const char *source, const char *target, unsigned kinds,
                         AttentionOutput **outputs);
/* PositionOutput: a table of floats [T, D], a row a position, that follows from positions and
 * params alone.
 *   scope     of the op that made it, "encoder.positions"
 *   made_by   that op's name, "cos" */
typedef struct PositionOutput {
    const char *output, *scope, *made_by;
} PositionOutput;
/* Renames a forward function "positions" and makes its outputs the tables that ops combine with
 * values of inputs, in the order of the function. Returns how many; *outputs, in the module's
 * arena, describes them. (positions.c) */
size_t expose_positions(Function *forward, PositionOutput **outputs);
/* "grad.NAME", and "grad.NAME:rows" for the sparse terms (derive_accumulate_rows), in the arena. */
const char *gradient_name(Arena *arena, const char *param);
const char *gradient_rows_name(Arena *arena, const char *param);
/* A batch in pieces, of whole rows each (batch_sums.h). accumulate adds the piece's part of the
 * gradient to the params "grad.NAME" (role gradient); update clips, updates and zeroes them, and
 * assigns the model's states.
 *
 * Inputs of accumulate: "weight" f32[], the piece's share of the batch's tokens, and the early
 * totals. Its outputs: "loss", the piece's part of the batch's loss, and the late totals. Inputs of
 * update: the totals that states are made from. A loss that is no sum of parts is weighted by
 * "weight". */
Function *derive_accumulate(Module *module);
/* The same for shards. If only some terms of a gradient are sparse, such as the rows that gathers
 * read (gradient_terms.h), these are added to the param "grad.NAME:rows" instead, so that ranks can
 * sum each kind in its own way. */
Function *derive_accumulate_rows(Module *module);
/* totals: outputs are a piece's early totals; NULL: there are none. `training`: as in the function
 * that reads them. */
Function *derive_totals(Module *module, bool training);
/* loss_share: a piece's part of the loss, from the inputs "weight" and early totals. `outputs`:
 * with the outputs of forward, too, and without random numbers. */
Function *derive_loss_share(Module *module, bool outputs);
/* states: assigns the model's states from totals, unless "gradient_norm" f32[] is not finite. It
 * reads params, so it runs before their update. NULL: the model assigns no states. */
Function *derive_states(Module *module);
/* Checks that states can be computed from totals. False after an error, which names the line that
 * prevents it. If the loss is no sum of parts, a note names the line that prevents that. */
bool check_pieces(Module *module);
/* Whether a function of derive_accumulate_rows adds only sparse terms to the gradient of that
 * name. */
bool accumulates_rows(const Function *accumulate, const char *gradient);
/* Whether a function after the pass `precision` reads the f32 param of that name and rounds it to
 * bf16 at every use. Later passes change where it is rounded, not whether. */
bool reads_as_bf16(const Function *function, const char *param);
/* The function "update", which changes params by gradients that other functions summed. */
Function *derive_update(Module *module, const OptimizerSpec *optimizer);
/* Sets *params to the params that training changes, in the module's order; returns how many. The
 * array is in the module's arena. */
int derive_trained(const Module *module, const ParamInfo ***params);
/* The update of some elements of these params, in a module of its own: param i is a vector of
 * counts[i] elements; 0: it is left out. Input "gradient_norm" f32[] is the norm of all
 * gradients. */
Function *derive_update_part(const Module *module, const OptimizerSpec *optimizer,
                             const int64_t *counts);
/* Derives the function `which`; gradient is without dropout and training. NULL for the functions
 * of derive_incremental and derive_alignment. */
Function *derive_function(Module *module, ModelFunction which, const OptimizerSpec *optimizer);

/* Splits "forward" into the ops that do not depend on the input `target` [B, T~], and the others:
 *
 *   encode       the model's other inputs → values "memory.N"
 *   decode_step  "memory.N", the newest tokens of each hypothesis (input `target` i32[B, Q~];
 *                usually one each), caches (params "cache.N" [B, P~, …], P~ counting the newest)
 *                → output `logits` [B, Q~, V]
 *
 * B counts hypotheses here; the target dimension T is split into Q (newest) and P (all so far); the
 * source dimension S stays ragged over B: offsets say where each hypothesis' memory is. False after
 * an error, which names an op that is not position-wise. */
typedef struct Incremental {
    Function *encode; /* NULL for a decoder-only model */
    Function *decode_step;
} Incremental;
bool derive_incremental(Module *module, const char *target, const char *logits, Incremental *out,
                        Diagnostics *diags);
/* Narrows the logits of derive_incremental's functions to some tokens: encode gains the input
 * "shortlist" i32[K] of their ids, decode_step's output is [B, Q~, K]. `halves`: products will be
 * in bf16 (pass `precision`). False after an error: there is no encode, or an op of the logits
 * takes all tokens together. */
#define SHORTLIST_INPUT "shortlist"
bool derive_shortlist(Module *module, const Incremental *incremental, const char *logits,
                      bool halves, Diagnostics *diags);

#endif
