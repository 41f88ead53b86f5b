/* Passes: functions over the graph, in the order of pipeline.def. */
#ifndef PASSES_PASS_H
#define PASSES_PASS_H

#include "base/functions.h"
#include "base/training.h"
#include "ir/graph.h"
#include "ir/side.h"

/* Miss: why ops were not fused where a reader may have expected fusion (misses.def). */
typedef enum Miss {
    MISS_NONE,
#define MISS(pass, name, text) MISS_##name,
#include "passes/misses.def"
    MISS_COUNT
} Miss;

/* ReportLine: what a pass did or did not do (--report), and the place and scope of the op. */
typedef struct ReportLine {
    const char *text;
    Miss miss; /* why ops were not fused; MISS_NONE: the line is about something else */
    Loc loc;
    const char *scope; /* NULL: unknown */
} ReportLine;
typedef struct Report {
    Arena *arena;
    VEC(ReportLine) lines;
} Report;
/* Adds a line that is no miss; does nothing if `report` is NULL. */
void report_op(Report *report, const Op *op, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Adds the line "not fused: TEXT: WHY", WHY as in misses.def; does nothing if `report` is NULL. */
void report_miss(Report *report, const Op *op, Miss miss, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Appends "path:line: text, in scope", without a newline. An unknown place, and an unknown or empty
 * scope, are left out. */
void report_print(const ReportLine *line, Text *out);
static inline bool report_is_miss(const ReportLine *line) { return line->miss != MISS_NONE; }

/* DimSize: the size of a dimension in the largest batch of a training.
 *   extent  of a ragged dimension the length of the longest row
 *   total   of a ragged dimension the sum of the rows' lengths, else the extent */
typedef struct DimSize {
    const char *name;
    int64_t extent, total;
} DimSize;

/* MemoryBudget: how many bytes the values of a function, without params, may take while it runs. */
typedef struct MemoryBudget {
    int64_t bytes;
    const DimSize *dims; /* the size of any other dimension is taken as 1 */
    int n_dims;
} MemoryBudget;

/* In what products are computed: in their operands' type, or in less (passes `precision` and
 * `quantize`). */
typedef enum ProductPrecision {
    PRODUCTS_AS_TYPED,
    PRODUCTS_BF16,
#define QUANT(NAME, ...) PRODUCTS_##NAME,
#include "base/quants.def"
} ProductPrecision;

/* The integers to which weights are rounded, and the other way round. */
static inline Quant precision_quant(ProductPrecision precision)
{
    return precision > PRODUCTS_BF16 ? (Quant)(precision - PRODUCTS_BF16) : QUANT_NONE;
}
static inline ProductPrecision precision_of_quant(Quant quant)
{
    return (ProductPrecision)(PRODUCTS_BF16 + (int)quant);
}

typedef struct PassContext {
    Diagnostics *diags;
    Report *report; /* may be NULL */
    ProductPrecision precision;
    const MemoryBudget *budget; /* NULL: memory is not limited */
} PassContext;

/* PassNeeds: what a pass needs of the function.
 *   NO_REGIONS  it has no regions: an error where it has
 *   EXPANDED    it has no ops that `expand` removes: an error where it has
 *   REGIONS     the passes that make regions have run: not checked, since without regions the pass
 *               finds less to do */
typedef enum PassNeeds { PASS_NEEDS_NO_REGIONS, PASS_NEEDS_EXPANDED, PASS_NEEDS_REGIONS } PassNeeds;

typedef struct PassInfo {
    const char *name;
    PassNeeds needs;
    const char *gives, *help;
    bool (*run)(Function *function, PassContext *context);
    bool at_O0; /* also part of the unoptimised pipeline */
} PassInfo;
extern const PassInfo pass_info[];
extern const int pass_count;
const PassInfo *pass_find(const char *name);

typedef struct PipelineOptions {
    int opt_level; /* 0: the passes that codegen needs (at_O0); above: all */

    /* comma-separated names of the passes to run. If each name begins with "-": the level's passes
     * without these. NULL: the level's passes */
    const char *passes;
    const char *after; /* stop after this pass, or at its place if it is left out; NULL: run all */

    /* as in PassContext; if `passes` names `precision` or `quantize`, what that pass is for */
    ProductPrecision precision;
    const MemoryBudget *budget; /* as in PassContext */
    Report *report;
    /* Called after each pass that ran, with the function as the pass left it; may be NULL. */
    void (*observe)(void *observer, const PassInfo *pass, Function *function);
    void *observer;
} PipelineOptions;
/* Checks that each name of a list such as PipelineOptions.passes, or NULL, is a pass's. False after
 * an error. */
bool pipeline_check(const char *list, Diagnostics *diags);
/* Runs the pipeline over one function; debug builds verify the module after each pass. False after
 * errors. */
bool pipeline_run(Function *function, const PipelineOptions *options, Diagnostics *diags);

/* After the pipelines of a program's functions: lookups in a table that a product of one of them
 * reads as panels of f32 read these, too (attribute `panels`), so that the table need not be there
 * as it is. Only for programs whose functions find the panels in a file: others would pack the
 * table for each function. (prepack.c) */
void prepack_lookups(Function *const *functions, int n, Arena *arena);

/* ---- deriving functions from what the frontend gives (function "model") ---- */

typedef struct OptimizerSpec {
    Optimizer kind;
    double beta1, beta2, eps, momentum, weight_decay;
    double clip_norm; /* 0: none */
    Loc loc;          /* the place in the train block; {0}: none */
} OptimizerSpec;

/* forward: the outputs except the loss; no dropout, random numbers are 1, training = false. */
Function *derive_forward(Module *module);
/* predict: the outputs that the model predicts, as forward computes them. */
Function *derive_predict(Module *module);
/* loss: the loss alone; no dropout, training = false. */
Function *derive_loss(Module *module);
/* gradient: outputs "loss" and, for each trained param that it reads, "grad.NAME" of the param's
 * type. `training`: with dropout and the model's assigns of states, training = true. */
Function *derive_gradient(Module *module, bool training);
/* train_step: loss, backward, clipping and update in one. Inputs beside the model's: "rate" f32[]
 * (learning rate), "step" f32[] (1, 2, …). Outputs "loss" and, if any param is trained,
 * "gradient_norm". */
Function *derive_train_step(Module *module, const OptimizerSpec *optimizer);
/* The same with the outputs "grad.NAME" of derive_gradient: the gradients before clipping. */
Function *derive_train_step_gradients(Module *module, const OptimizerSpec *optimizer);
/* alignment: a function whose output "alignment" f32[B, T~, S~], with 1 for each dimension of
 * heads, is the mean over heads of the last attention of the input `target` over the input
 * `source`. NULL: the model has no such attention. (alignment.c) */
Function *derive_alignment(Module *module, const char *source, const char *target);
typedef enum AttentionKind { ATTENTION_ENCODER, ATTENTION_DECODER, ATTENTION_CROSS } AttentionKind;
/* AttentionSide: an input, for the dimension of its positions; NULL: the model has none. */
typedef struct AttentionSide {
    const char *input;
    bool is_target;
} AttentionSide;
/* AttentionOutput: the weights [B, heads …, queries, keys] of one attention: of a side over itself
 * (decoder: of a target; else encoder), or over another side, which is no target (cross).
 *   scope           of its softmax, "decoder.layer.0.cross"
 *   queries, keys   which sides
 *   heads           number of heads: the product of the dimensions of heads */
typedef struct AttentionOutput {
    const char *output, *scope;
    AttentionKind kind;
    size_t queries, keys;
    int64_t heads;
} AttentionOutput;
/* Renames a forward function "attention" and makes its outputs all attentions of `kinds` (bits 1 <<
 * kind) between n sides, in the order of the function. Of sides of one dimension the first counts.
 * Returns how many; *outputs, in the module's arena, describes them. */
size_t expose_attentions(Function *forward, const AttentionSide *sides, size_t n, unsigned kinds,
                         AttentionOutput **outputs);
/* PositionOutput: a table of floats [T, D], D at least 4, with one row for each position, that is
 * computed from positions and params alone.
 *   scope     of the op whose result it is, "encoder.positions"
 *   made_by   name of that op, or of the op before it if it is a reshape: "cos" */
typedef struct PositionOutput {
    const char *output, *scope, *made_by;
} PositionOutput;
/* Renames a forward function "positions" and makes its outputs the tables that are operands of ops
 * whose results depend on inputs, in the order of the function. Returns how many; *outputs, in the
 * module's arena, describes them. (positions.c) */
size_t expose_positions(Function *forward, PositionOutput **outputs);
/* "grad.NAME", and "grad.NAME:rows" for the sparse terms (derive_accumulate_rows), in the arena. */
const char *gradient_name(Arena *arena, const char *param);
const char *gradient_rows_name(Arena *arena, const char *param);
/* accumulate and update: training with batches in pieces of whole rows (batch_sums.h). accumulate
 * adds the piece's part of the gradient to the params "grad.NAME" (role gradient). update clips
 * these gradients, updates the params, zeroes the gradients, and assigns the model's states.
 *
 * Inputs of accumulate beside the model's: "piece.share" f32[], of the batch's tokens,
 * and the early totals. Its outputs: "loss", the piece's part of the batch's loss, and the late
 * totals. A loss that is not a sum of the pieces' parts is multiplied by it. Inputs of
 * update: "rate" and "step" as in train_step, and the totals from which states are computed. */
Function *derive_accumulate(Module *module);
/* accumulate for shards: as derive_accumulate, but if some terms of a gradient are sparse and some
 * are not (derive.h), the sparse terms are added to the param "grad.NAME:rows", so that
 * ranks can sum each kind in its own way. */
Function *derive_accumulate_rows(Module *module);
/* totals: its outputs are a piece's early totals. `training`: as in the function that reads the
 * totals. NULL: there are none. */
Function *derive_totals(Module *module, bool training);
/* loss_share: its output "loss" is a piece's part of the loss, without dropout. Inputs beside the
 * model's: "piece.share" and the early totals. `outputs`: it has the outputs of forward, too, and
 * random numbers are 1. */
Function *derive_loss_share(Module *module, bool outputs);
/* states: assigns the model's states from totals, unless the input "gradient_norm" f32[] is not
 * finite. It reads params, so it runs before they are updated. NULL: the model assigns no
 * states. */
Function *derive_states(Module *module);
/* Checks that states can be computed from totals. False after an error, which names the line that
 * prevents it. If the loss is not a sum of the pieces' parts, a note names the line that prevents
 * that. */
bool check_pieces(Module *module);
/* Whether a function of derive_accumulate_rows adds only sparse terms to the gradient of that name
 * ("grad.NAME" or "grad.NAME:rows"). */
bool accumulates_rows(const Function *accumulate, const char *gradient);
/* Whether a function after the pass `precision` reads the f32 param of that name and rounds it to
 * bf16 at every use. Later passes change where it is rounded, not whether. */
bool reads_as_bf16(const Function *function, const char *param);
/* update: see derive_accumulate. */
Function *derive_update(Module *module, const OptimizerSpec *optimizer);
/* Sets *params to the params that training changes, in the module's order; returns how many. The
 * array is in the module's arena. */
int derive_trained(const Module *module, const ParamInfo ***params);
/* update for some elements of the params of derive_trained, in a module of its own, without states:
 * param i is a vector of counts[i] elements; 0: it is left out. The input "gradient_norm" f32[] is
 * the norm of all gradients. */
Function *derive_update_part(const Module *module, const OptimizerSpec *optimizer,
                             const int64_t *counts);
/* Derives the function `which`; gradient with training = false, loss_share without the outputs of
 * forward. NULL for the functions of derive_incremental and derive_alignment. */
Function *derive_function(Module *module, ModelFunction which, const OptimizerSpec *optimizer);

/* Splits "forward" into two functions. encode computes the values that depend on inputs, but
 * neither on the input `target` [B, T~] nor on the dimension T; decode_step computes all else:
 *
 *   encode       the model's other inputs → values "memory.N"
 *   decode_step  "memory.N", the newest tokens of each hypothesis (input `target` i32[B, Q~];
 *                usually one each), caches (params "cache.N" [B, P~, …], P~ counting the newest)
 *                → output `logits` [B, Q~, V]
 *
 * In decode_step B counts hypotheses. The target dimension T becomes Q (newest) and P (all so far).
 * The source dimension S stays ragged over B: offsets say where each hypothesis' memory is. False
 * after an error: the input or output is missing, or an op cannot be computed position by
 * position. */
typedef struct Incremental {
    Function *encode; /* NULL: nothing depends on other inputs (a decoder-only model) */
    Function *decode_step;
    int64_t many; /* rows with so many new positions make keys and values of kept latents anew
                     (incremental/rows.c); 0: none do */
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

/* ---- expand.c ---- */

/* What other passes know about reductions after expand. */

bool pass_expand(Function *function, PassContext *context);
/* Whether the function is expanded, as later passes need it: it has no op that the pass
 * rewrites. */
bool is_expanded(const Function *function);
/* Whether a reduction runs along the last storage axis alone, and that axis is not packed tokens: a
 * row region can contain it. After expand every other reduction runs along other axes alone: a
 * column region's. */
bool is_row_reduction(const Module *module, const Op *op);

/* ---- simplify.c ---- */

/* The part of simplify that other passes use. */

bool pass_simplify(Function *function, PassContext *context);
/* Merges ops of the same kind, operands, attributes and type, except effects and regions; returns
 * whether it merged any. */
bool merge_equal_ops(Function *function);

/* ---- prepack.c ---- */

/* Finds values that are computed from params alone: they change only when the params do. */

/* Of a param: whether it is a decoding step's cache. */
bool is_cache(const Value *param);
/* A number for each op of the body: 1 for a param, except a decoding step's cache, and for an op
 * with operands that are all results of ops with a 1; else 0. In the module's arena. */
SideTable find_made_of_params(const Function *function);
/* Whether all that reads the param are products, through transposes, too, and lookups in it. */
bool is_table_param(const Value *param);
/* Whether the function's products by weights read panels: it answers (forward, predict, encode), or
 * is a decoding step. */
bool reads_panels(const Function *function);
bool pass_prepack(Function *function, PassContext *context);

#endif
