/* Preparing a training: settings, programs, params, the folder. */
#include "driver/train/training.h"

#include "base/file.h"
#include "driver/ports/patterns.h"
#include "driver/run/published.h"
#include "driver/run/weights.h"
#include "driver/train/best.h"
#include "driver/train/data.h"
#include "driver/train/hash_lines.h"
#include "driver/train/ranks.h"
#include "driver/train/verify.h"
#include "runtime/train/runlog.h"

#include <inttypes.h>
#include <string.h>

/* ---- settings: the command is stronger than the model ---- */

RateSettings training_rate(const TrainSpec *spec, int64_t steps)
{
    return (RateSettings){.kind = spec->schedule,
                          .d_model = spec->rate_d_model,
                          .factor = spec->rate_factor,
                          .peak = spec->rate_peak,
                          .final = spec->rate_final,
                          .warmup = spec->warmup,
                          .steps = spec->rate_steps > 0 ? spec->rate_steps : steps};
}

static void make_settings(Training *t)
{
    const TrainOptions *o = t->options;
    const TrainSpec *spec = &t->session.model->train;
    TrainSettings *s = &t->settings;
    *s = (TrainSettings){.seconds = o->minutes * 60,
                         .folder = o->out,
                         .rounded_gradients = !strcmp(o->gradients, "bf16"),
                         .check_numerics = o->check_numerics,
                         .hashes = o->hashes || o->verify};
#define LOOP(name, ...) s->name = o->name >= 0 ? o->name : spec->name;
#include "base/training_settings.def"
    if (!s->steps && !o->minutes)
        s->steps = TRAINING_STEPS;
    s->rate = training_rate(spec, s->steps);
    s->batch = (BatchOptions){.tokens = training_batch_tokens(o, spec),
                              .distinct = (o->distinct >= 0 ? o->distinct : spec->distinct) > 0,
                              .sentences = o->batch_sentences > 0 ? o->batch_sentences
                                           : o->batch_tokens > 0  ? 0
                                                                  : spec->batch_sentences,
                              .shards = o->shards > 0 ? o->shards : spec->shards,
                              .shuffle = true,
                              .hides = true,
                              .seed = (uint64_t)o->seed};
    s->ranks = o->ranks;
    if (o->ranks && o->shards < 0 && spec->shards == 1) {
        s->batch.shards = TRAINING_RANKS_SHARDS;
        diag_remark(&t->job->diags, (Loc){0},
                    "each batch is cut into %d shards for the ranks; --shards says otherwise",
                    TRAINING_RANKS_SHARDS);
    }
}

/* ---- programs and params ---- */

/* As large in every number as any batch of the first epoch: others have hardly larger ones. */
static bool bound_batches(Training *t, BatchShape *bound)
{
    if (t->options->rows) {
        *bound = prepared_largest(t->corpus, &t->settings.batch);
        return true;
    }
    Batches *batches = batches_new(t->corpus, &t->settings.batch, 0);
    if (!batches)
        return job_no_memory(t->job);
    batches_largest(batches, bound, 1);
    batches_free(batches);
    return true;
}

/* What is compiled from now on takes at most --memory, with `beside` (or NULL), which runs
 * by turns with it. */
static bool limit_memory(Training *t, const TfcProgram *beside)
{
    const Module *module = t->session.model->module;
    const Feed *feed = &t->programs.feed;
    int n_dims = (int)module->symbols.count;
    DimSize *dims = ARENA_ARRAY(t->job->arena, DimSize, n_dims + 1);
    BatchShape bound = {0};
    if (!t->options->memory)
        return true;
    if (!bound_batches(t, &bound))
        return false;
    for (int d = 0; d < n_dims; d++) {
        const char *name = module->symbols.data[d].name;
        const int side = feed_side(feed, name);
        dims[d] = side < 0 ? (DimSize){name, bound.rows, bound.rows}
                           : (DimSize){name, bound.side[side].longest, bound.side[side].total};
    }
    t->session.options.memory = (MemoryLimit){t->options->memory, dims, n_dims, beside};
    return true;
}

/* A function that a model may not have: NULL then. False after errors. */
static bool compile_any(Training *t, Function *function, const TfcProgram **program)
{
    *program = function ? session_compile(&t->session, function) : NULL;
    return *program || !function;
}

static bool compile_shards(Training *t)
{
    TrainPrograms *p = &t->programs;
    Module *module = t->session.model->module;
    Function *accumulate = derive_accumulate_rows(module), *states = derive_states(module);
    return training_split_compile(t, accumulate, states) && compile_any(t, states, &p->states) &&
           limit_memory(t, p->update) && (p->accumulate = session_compile(&t->session, accumulate));
}

/* Of several batches. */
static bool compile_pieces(Training *t)
{
    TrainPrograms *p = &t->programs;
    Session *session = &t->session;
    Module *module = session->model->module;
    if (!check_pieces(module) || !compile_any(t, derive_totals(module, true), &p->totals))
        return false;
    if (t->settings.batch.shards > 1)
        return compile_shards(t);
    return (p->update = session_compile(session, session_function(session, "update"))) &&
           limit_memory(t, p->update) &&
           (p->accumulate = session_compile(session, session_function(session, "accumulate")));
}

static bool compile_training(Training *t)
{
    TrainPrograms *p = &t->programs;
    Session *session = &t->session;
    if (t->settings.batch.shards > 1 || t->settings.accumulate > 1)
        return compile_pieces(t);
    const OptimizerSpec optimizer = session_optimizer(session);
    return limit_memory(t, NULL) &&
           (p->step = session_compile(
                session, t->settings.hashes
                             ? derive_train_step_gradients(session->model->module, &optimizer)
                             : session_function(session, "train_step")));
}

/* Params, gradients and slots of what was compiled. */
static bool fill_store(Training *t)
{
    const TrainPrograms *p = &t->programs;
    const TfcProgram *all[] = {p->step, p->accumulate, p->totals, p->states,
                               p->split ? NULL : p->update};
    for (int i = 0; i < 5; i++)
        if (all[i] && !store_add_program(t->store, all[i]))
            return job_no_memory(t->job);
    return !p->split || training_split_store(t);
}

/* Pairs and records are translated, and beginnings continued, where the model can do so token by
 * token: that is no part of what was asked for, so a model that cannot trains without, and a note
 * tells. */
static bool prepare_decode(Training *t)
{
    const bool pairs = t->options->kind == CORPUS_PAIRS || t->columns.n;
    return !ports_predict(&t->ports) || t->options->no_bleu ||
           inference_prepare_decode_or_note(&t->inference,
                                            pairs ? "validations keep no translations"
                                                  : "validations keep no continuations",
                                            "; --no-bleu leaves them out without this note");
}

/* What the model predicts, if a validation measures any of it. */
static bool prepare_predictions(Training *t)
{
    bool is_measured = false;
    if (!t->columns.n || !predicts(t->session.model->module))
        return true;
    if (!predictor_prepare(&t->predictor, t->job, &t->inference, &t->columns, t->options->kind,
                           NULL))
        return false;
    for (int i = 0; i < TRAIN_MEASURES; i++)
        is_measured = is_measured || predictor_measures(&t->predictor, i);
    if (!is_measured)
        t->predictor = (Predictor){0};
    return true;
}

/* Training computes in the type asked for, validation in f32, as tfc eval does: a run
 * may be resumed, and compared, in either type. */
static bool compile_programs(Training *t)
{
    t->programs.feed = feed_of(t->session.model->module, &t->ports);
    session_set_dtype(&t->session.options, t->options->dtype);
    if (!compile_training(t))
        return false;
    t->session.options.memory = (MemoryLimit){0};
    session_set_dtype(&t->session.options, "f32");
    if (!fill_store(t))
        return false;
    inference_init(&t->inference, &t->session, t->store, t->vocab);
    t->inference.workers.given = 1; /* --memory knows of one stepper */
    if (!t->n_valid)
        return true;
    return inference_prepare_score(&t->inference, true) && prepare_decode(t) &&
           prepare_predictions(t);
}

/* The optimizer's slots of params that began or ceased to train. */
static void tell_slots(Training *t, const CheckpointSlots *slots, const char *path)
{
    Diagnostics *diags = &t->job->diags;
    if (slots->fresh)
        diag_remark(diags, (Loc){0},
                    "%" PRId64
                    " of the optimizer's tensors, such as '%s', are not in %s: they begin at 0",
                    slots->fresh, slots->first_fresh, path);
    if (slots->dropped)
        diag_remark(
            diags, (Loc){0},
            "%" PRId64
            " of the optimizer's tensors in %s, such as '%s', belong to params that do not train now: "
            "they are dropped",
            slots->dropped, path, slots->first_dropped);
}

/* After a checkpoint that cannot be read: the newest of the steps that can. */
static void name_whole(Training *t, const CheckpointParts *parts, const char *last)
{
    Arena *arena = t->job->arena;
    const char *out = t->options->out;
    int64_t *steps;
    for (int n = run_steps(arena, out, INT64_MAX, &steps); n--;) {
        const char *path = run_step_path(arena, out, steps[n]);
        TrainState state;
        CheckpointSlots slots;
        Diagnostics unseen;
        diag_init(&unseen, arena);
        if (!checkpoint_load(&unseen, arena, path, t->store, parts, &state, &slots))
            continue;
        diag_note(
            &t->job->diags, (Loc){0},
            "%s is whole: cp --remove-destination %s %s, and --resume goes on from step %" PRId64,
            path, path, last, steps[n]);
        return;
    }
}

/* The run's checkpoint; its tensors are all there are, so nothing is initialised. */
static bool load_run(Training *t, bool changed)
{
    const TrainOptions *o = t->options;
    const char *last = o->begin ? o->begin : file_in(t->job->arena, o->out, "last.safetensors");
    uint64_t config = train_config(&t->settings, t->corpus);
    const Split *split = t->programs.split;
    const CheckpointParts *parts = split ? split_checkpoint(split, t->job->arena) : NULL;
    CheckpointSlots slots = {0};
    if (!checkpoint_load(&t->job->diags, t->job->arena, last, t->store, parts, &t->state,
                         changed ? &slots : NULL)) {
        if (!o->begin)
            name_whole(t, parts, last);
        return false;
    }
    tell_slots(t, &slots, last);
    if (t->state.config != config && !changed)
        return job_error(
            t->job,
            "%s belongs to another training than the one of %s/run.json: put back the checkpoint of this run, or begin another by --weights",
            last, o->home);
    t->state.config = config;
    t->state.seed = (uint64_t)o->seed;
    return true;
}

/* Initial values, and --weights over them. */
static bool begin_params(Training *t)
{
    const TrainOptions *o = t->options;
    const Model *model = t->session.model;
    const Module *module = model->module;
    for (size_t i = 0; i < t->params_new.grown.count; i++) {
        GrownRows *grown = &t->params_new.grown.data[i];
        RowParams *params = ARENA_NEW(t->job->arena, RowParams);
        *params = grown->input ? ports_label_params(module, ports_input(module, grown->input))
                               : ports_token_params(module, &t->ports, &t->columns, grown->sides);
        grown->params = params->names.count ? params : NULL;
    }
    const WeightsLoad how = {.fresh = &o->fresh,
                             .anew = &t->params_new.anew,
                             .grown = t->params_new.grown.data,
                             .n_grown = (int)t->params_new.grown.count};
    return weights_initialise(t->job, model, t->store, (uint64_t)o->seed) &&
           (!o->weights || (patterns_check(t->job, "new", &o->fresh, model->module) &&
                            weights_load(t->job, model, t->store, o->weights, &how)));
}

/* A folder that is gone on with keeps its model unless that has changed. */
static bool write_folder(Training *t, const RunRecord *record, bool changed)
{
    const char *out = t->options->out, *from = t->run_from;
    return t->options->record && !t->options->verify && !changed
               ? run_record_write(t->job, out, record)
               : (!from || published_keep(t->job, from, NULL, out)) &&
                     run_folder_write(t->job, out, &t->session, t->vocab, &t->columns, record);
}

/* Warns where --distinct makes batches small, since many records have the same text. */
static void tell_distinct(Training *t)
{
    if (!t->settings.batch.distinct || t->corpus->prepared)
        return;
    Batches *batches = batches_new(t->corpus, &t->settings.batch, 0);
    const int64_t early = batches_early(batches), n = batches_count(batches);
    batches_free(batches);
    if (2 * early > n)
        diag_warning(
            &t->job->diags, (Loc){0},
            "--distinct: %" PRId64 " of the %" PRId64 " batches of an epoch end early, for too "
            "many records have the same text in a column; a batch has %.1f records in the mean",
            early < n ? early : n, n, (double)t->corpus->own / (double)n);
}

/* The file of --hashes, or what --verify compares, once it is known after which step the training
 * goes on. */
static bool open_hashes(Training *t)
{
    const char *path = t->options->hashes;
    if (t->options->verify)
        return (t->verify = verify_open(t)) != NULL;
    return !path || (t->hash_lines = hash_lines_open(t->job, path, t->state.step));
}

bool training_prepare(Training *t)
{
    const TrainOptions *o = t->options;
    RunRecord record;
    bool changed = false;
    make_settings(t);
    tell_distinct(t);
    if (!training_record(t, &record) ||
        (o->record && !training_may_go_on(t, o->record, &record, &changed)) ||
        !compile_programs(t) || !training_choose_best(t, &record))
        return false;
    t->state =
        (TrainState){.seed = (uint64_t)o->seed, .config = train_config(&t->settings, t->corpus)};
    const bool first = !ranks_mine(o->ranks);
    bool ok = (training_goes_on(o) ? load_run(t, changed) : begin_params(t)) &&
              training_ranks_agree(t, &record);
    if (changed)
        record.changed = t->state.step;
    if (ok)
        training_ranks_processors(t, &record);
    if (ok && first)
        ok = write_folder(t, &record, changed) && training_judge_anew(t) && open_hashes(t);
    if (ok)
        ranks_share(o->ranks, &t->state, sizeof t->state);
    if (!first)
        t->state.thresholds = NULL; /* rank 0's memory */
    return ok;
}
