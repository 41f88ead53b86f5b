/* Further runs of an ensemble: models that are the first one's but for their weights. */
#include "driver/compile/artifact.h"

#include "ir/text.h"

#include <string.h>

/* Whether both functions are the same ops, constants included. */
static bool are_same(const Function *a, const Function *b)
{
    Text texts[2] = {{0}, {0}};
    ir_print_function(a, &texts[0]);
    ir_print_function(b, &texts[1]);
    bool same = !strcmp(texts[0].data, texts[1].data);
    text_free(&texts[0]);
    text_free(&texts[1]);
    return same;
}

/* Whether the member decodes by the programs of the first. */
static bool has_same_programs(Artifact *a, const RunFolder *first, RunFolder *member)
{
    Incremental incremental;
    const char *target, *logits;
    member->session.options.opt_level = a->session.options.opt_level;
    member->session.options.precision = a->session.options.precision;
    if (!session_incremental(&member->session, &incremental, &target, &logits) ||
        !compile_narrow(a, &member->session, &incremental, logits))
        return false;
    Function *const halves[] = {incremental.encode, incremental.decode_step};
    const Function *const firsts[] = {a->functions[TFC_ENCODE], a->functions[TFC_DECODE_STEP]};
    bool same = true;
    for (int i = 0; same && i < 2; i++) {
        if (halves[i] && !session_lower(&member->session, halves[i], NULL))
            return false;
        same = !halves[i] == !firsts[i] && (!halves[i] || are_same(halves[i], firsts[i]));
    }
    return same ||
           job_error(a->job,
                     "%s and %s are other models, in their sizes or ops: an ensemble that is "
                     "compiled has one; tfc translate --with takes any",
                     first->path, member->path);
}

/* Before the member's type becomes that of the first. */
static bool has_same_type(Artifact *a, const RunFolder *first, const RunFolder *member)
{
    const char *types[] = {session_dtype(&a->session.options),
                           session_dtype(&member->session.options)};
    return !strcmp(types[0], types[1]) ||
           job_error(a->job,
                     "%s computes in %s and %s in %s: an ensemble that is compiled has one type, "
                     "which --dtype names; tfc translate --with takes any",
                     first->path, types[0], member->path, types[1]);
}

static bool open_member(Artifact *a, const RunFolder *first, const char *path, bool one_type,
                        RunFolder *member)
{
    return run_folder_open(a->job, &(RunSource){.path = path}, member) &&
           run_check_average(a->job, first, member) &&
           (one_type || has_same_type(a, first, member)) && has_same_programs(a, first, member);
}

bool compile_members(Artifact *a, const char *first, const CompileOptions *o)
{
    const TextList *with = o->with;
    const RunFolder run = {.path = first, .kind = a->kind, .vocab = a->vocab};
    if (with->count && !a->vocab)
        return job_error(a->job,
                         "--with: the first model needs a vocabulary, to be compared: --vocab");
    if (with->count >= MAX_MEMBERS)
        return job_error(a->job, "--with: %d models at most", MAX_MEMBERS);
    a->members = ARENA_ARRAY(a->job->arena, RunFolder, with->count + 1);
    for (size_t i = 0; i < with->count; i++)
        if (!open_member(a, &run, with->data[i], o->one_type, &a->members[a->n_members++]))
            return false;
    return true;
}

bool compile_load_members(Artifact *a)
{
    if (a->n_members && !a->weights)
        return job_error(a->job, "--with: the first model has no weights: --weights");
    for (int i = 0; i < a->n_members; i++) {
        for (int f = 0; f < TFC_N_FUNCTIONS; f++)
            if (a->programs[f] && !store_add_program(a->members[i].store, a->programs[f]))
                return job_no_memory(a->job);
        if (!run_folder_load(a->job, &a->members[i], NULL))
            return false;
    }
    return true;
}

void compile_close_members(Artifact *a)
{
    for (int i = 0; i < a->n_members; i++)
        run_folder_close(&a->members[i]);
}
