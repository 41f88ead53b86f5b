/* What ranks have to have in common, compared before the first step, and which has which part of
 * the update. */
#include "driver/train/ranks.h"

#include "base/map.h"
#include "driver/session/session.h"
#include "driver/session/tuning.h"
#include "passes/clone.h"
#include "passes/optimizer.h"
#include "runtime/exec/size.h"

#include <inttypes.h>
#include <string.h>

bool training_ranks_choose(Job *job, Ranks *ranks)
{
    TfcChoice choice = {{0}};
    bool ok = ranks_mine(ranks) || session_choice(job, &choice);
    if (!ok || !ranks)
        return ok;
    ranks_share(ranks, &choice, sizeof choice);
    job->choice = arena_copy(job->arena, &choice, sizeof choice);
    return true;
}

/* ---- comparing ---- */

static uint64_t hash_params(Store *store)
{
    uint64_t hash = HASH_SEED;
    for (int64_t i = 0; i < store_count(store); i++) {
        const StoreTensor *tensor = store_at(store, i);
        if (store_is_param(tensor))
            hash =
                hash_bytes(hash, tensor->data, (size_t)(tensor->count * type_bytes(tensor->type)));
    }
    return hash;
}

static void add_fact(Training *t, RankFacts *facts, const char *name, const char *value)
{
    vec_push(t->job->arena, *facts, ((RankFact){name, value}));
}

/* All that decides the bits, and each text by its checksum. */
static RankFacts list_facts(Training *t, const RunRecord *record)
{
    Arena *arena = t->job->arena;
    RankFacts facts = {0};
    const bool common = !strcmp(run_record_fact(record, "bits"), COMMON_BITS);
    for (size_t i = 0; i < record->facts.count; i++)
        if (!common || strcmp(record->facts.data[i].name, "cpu"))
            add_fact(t, &facts, record->facts.data[i].name, record->facts.data[i].value);
    for (size_t i = 0; i < record->texts.count; i++)
        add_fact(t, &facts, arena_printf(arena, "the text of --%s", record->texts.data[i].option),
                 record->texts.data[i].sha256);
    add_fact(t, &facts, "the step to go on from", arena_printf(arena, "%" PRId64, t->state.step));
    add_fact(t, &facts, "what the params begin with, as a hash,",
             arena_printf(arena, "%016" PRIx64, hash_params(t->store)));
    return facts;
}

static bool same_everywhere(Training *t, const RunRecord *record)
{
    const RankFacts facts = list_facts(t, record);
    return ranks_agree(t->options->ranks, &t->job->diags, &facts, 0);
}

/* ---- what can be shared ---- */

static bool can_share(Training *t)
{
    int64_t count = ranks_count(t->options->ranks), shards = t->settings.batch.shards;
    if (count > 1 && shards < 2)
        return job_error(t->job, "--shards 1 leaves %" PRId64 " ranks nothing to share", count);
    if (count > shards && !ranks_mine(t->options->ranks))
        diag_warning(&t->job->diags, (Loc){0},
                     "%" PRId64 " ranks share %" PRId64 " shards: %" PRId64 " have nothing to do",
                     count, shards, count - shards);
    return true;
}

bool training_ranks_agree(Training *t, const RunRecord *record)
{
    return !t->options->ranks || (can_share(t) && same_everywhere(t, record));
}

void training_ranks_processors(Training *t, RunRecord *record)
{
    const Ranks *ranks = t->options->ranks;
    const char *mine = run_record_processor(t->job->arena, record);
    int64_t n = (int64_t)strlen(mine) + 1;
    if (ranks_mine(ranks)) {
        ranks_send(ranks, &n, sizeof n, 0);
        ranks_send(ranks, mine, n, 0);
        return;
    }
    for (int rank = 1; rank < ranks_count(ranks); rank++) {
        ranks_receive(ranks, &n, sizeof n, rank);
        char *theirs = ARENA_ARRAY(t->job->arena, char, n);
        ranks_receive(ranks, theirs, n, rank);
        run_record_add_processor(t->job->arena, record, theirs);
    }
}

/* ---- the update of a rank: parts for all, the program of this one's, and its store ---- */

const Function *training_split_round(Session *session, const Function *accumulate)
{
    Module *module = session->model->module;
    size_t functions = module->functions.count, told = session->report.lines.count;
    Function *copy = clone_function(
        accumulate, arena_printf(session->job->arena, "%s rounded", accumulate->name));
    bool ok = session_lower(session, copy, "precision");
    module->functions.count =
        functions; /* it is no function of the model, and told what the program will */
    session->report.lines.count = told;
    return ok ? copy : NULL;
}

static bool reads(const Function *function, const char *param)
{
    FOR_OPS (op, &function->body)
        if (op->kind == OP_param && !strcmp(op_string(op, ATTR_name), param))
            return true;
    return false;
}

/* Functions: what is asked which params it reads, and how. `states` may be NULL, `rounded` in one
 * process. */
typedef struct Readers {
    const Function *accumulate, *rounded, *states;
} Readers;

static PartTensor tensor_of(Training *t, const Readers *readers, const ParamInfo *param)
{
    Arena *arena = t->job->arena;
    const char *rows = gradient_rows_name(arena, param->name);
    PartTensor tensor = {
        .param = param->name, .gradient = gradient_name(arena, param->name), .count = 1};
    for (int axis = 0; axis < param->type.rank; axis++)
        tensor.count *= param->type.dims[axis].size;
    tensor.rows = module_param(t->session.model->module, rows) ? rows : NULL;
    tensor.sparse = accumulates_rows(readers->accumulate, tensor.gradient);
    tensor.rounded = readers->rounded && reads_as_bf16(readers->rounded, param->name) &&
                     !(readers->states && reads(readers->states, param->name));
    return tensor;
}

/* All elements of the params that are trained; NULL after errors. */
static const Parts *make_parts(Training *t, const Function *accumulate, const Function *states)
{
    Arena *arena = t->job->arena;
    const ParamInfo **params;
    int n = derive_trained(t->session.model->module, &params);
    PartTensor *tensors = ARENA_ARRAY(arena, PartTensor, n + 1);
    Readers readers = {.accumulate = accumulate, .states = states};
    if (ranks_count(t->options->ranks) > 1 &&
        !(readers.rounded = training_split_round(&t->session, accumulate)))
        return NULL;
    for (int i = 0; i < n; i++)
        tensors[i] = tensor_of(t, &readers, params[i]);
    return parts_new(arena, tensors, n, ranks_count(t->options->ranks));
}

/* The optimizer's slots of all params. */
static void list_slots(Training *t, Split *split)
{
    Arena *arena = t->job->arena;
    OptimizerSpec optimizer = session_optimizer(&t->session);
    const char *const *kinds = optimizer_slots(&optimizer);
    int n_kinds = 0;
    while (kinds[n_kinds])
        n_kinds++;
    SplitSlot *slots =
        ARENA_ARRAY(arena, SplitSlot, (int64_t)n_kinds * split->parts->n_tensors + 1);
    for (int k = 0; k < n_kinds; k++)
        for (int32_t i = 0; i < split->parts->n_tensors; i++)
            slots[split->n_slots++] = (SplitSlot){
                optimizer_slot_name(arena, kinds[k], split->parts->tensors[i].param), i};
    split->slots = slots;
}

/* NULL after an error. */
static const TfcProgram *compile_part(Training *t, const Parts *parts, int part)
{
    OptimizerSpec optimizer = session_optimizer(&t->session);
    int64_t *counts = ARENA_ARRAY(t->job->arena, int64_t, parts->n_tensors + 1);
    for (int32_t i = 0; i < parts->n_tensors; i++)
        counts[i] = parts_slice(parts, i, part, part).count;
    return session_compile(&t->session,
                           derive_update_part(t->session.model->module, &optimizer, counts));
}

bool training_split_compile(Training *t, const Function *accumulate, const Function *states)
{
    Split *split = ARENA_NEW(t->job->arena, Split);
    int me = ranks_mine(t->options->ranks);
    *split = (Split){
        .ranks = t->options->ranks, .parts = make_parts(t, accumulate, states), .store = t->store};
    if (!split->parts)
        return false;
    list_slots(t, split);
    t->programs.split = t->split = split;
    if (!parts_elements(split->parts, me))
        return true;
    t->programs.update = compile_part(t, split->parts, me);
    return t->programs.update != NULL;
}

/* The memory of a param's or a gradient's slice. */
static void *find_slice(void *context, const TfcTensor *tensor)
{
    const Split *split = context;
    const Parts *parts = split->parts;
    int me = ranks_mine(split->ranks);
    StoreTensor *whole = tensor->role == TFC_SLOT ? NULL : store_find(split->store, tensor->name);
    for (int32_t i = 0; whole && i < parts->n_tensors; i++) {
        const PartTensor *of = &parts->tensors[i];
        if (!strcmp(tensor->name, of->param) || !strcmp(tensor->name, of->gradient))
            return (char *)whole->data +
                   parts_slice(parts, i, me, me).from * type_bytes(whole->type);
    }
    return NULL;
}

bool training_split_store(Training *t)
{
    Split *split = t->split;
    split->own = store_new_or_end();
    bool ok = split_open(split, t->job->arena) &&
              (!t->programs.update ||
               store_add_borrowing(split->own, t->programs.update, find_slice, split));
    return ok || job_no_memory(t->job);
}
