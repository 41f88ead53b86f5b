/* What is told before the vocabulary is made and anything is compiled. */
#include "driver/train/data.h"

#include "base/file.h"
#include "base/machine.h"
#include "codegen/codegen.h"

#include <math.h>
#include <sys/stat.h>

/* ---- settings ---- */

/* Bytes of params, with gradients' moments of those that are trained: what a training has in any
 * case. A double, for dimensions that nobody could have. `open`: sizes of vocabularies that are not
 * known yet, which count as 1; or 0. */
static double param_bytes(const Session *session, const int64_t open[2])
{
    const OptimizerSpec optimizer = session_optimizer(session);
    const Module *module = session->model->module;
    double moments = optimizer.kind != OPTIMIZER_SGD ? 2 : optimizer.momentum != 0, sum = 0;
    for (size_t i = 0; i < module->params.count; i++) {
        const ParamInfo *info = module->params.data[i];
        double count = 1;
        for (int d = 0; d < info->type.rank; d++)
            if (info->type.dims[d].size != open[0] && info->type.dims[d].size != open[1])
                count *= (double)info->type.dims[d].size;
        sum += count * sizeof(float) * (info->role == PARAM_TRAINED ? 1 + moments : 1);
    }
    return sum;
}

/* "412 MB". */
static const char *size_text(Arena *arena, double bytes)
{
    Text text = {0};
    text_bytes(&text, bytes < 9e18 ? (int64_t)bytes : INT64_MAX);
    return text_keep(arena, &text);
}

bool training_check_memory(Training *t, bool knows_vocabulary)
{
    const Module *module = t->session.model->module;
    const int64_t open[2] = {
        knows_vocabulary ? 0 : t->ports.vocab,
        knows_vocabulary ? 0 : ports_vocabulary(module, &t->ports, t->ports.source)};
    double params = param_bytes(&t->session, open), free = (double)machine_memory_free();
    Arena *arena = t->job->arena;
    const char *text = arena_printf(arena, "params and optimizer take %s%s",
                                    size_text(arena, params), knows_vocabulary ? "" : " at least");
    if (t->options->memory && params > (double)t->options->memory)
        return job_error(
            t->job,
            "--memory: %s, more than %s, and activations come on top: a larger --memory, or a smaller "
            "model, is needed; training without --memory reports what both take",
            text, size_text(arena, (double)t->options->memory));
    return params <= free ||
           job_error(
               t->job,
               "%s, and %s of memory are free: a smaller model (--set), frozen params (--only) or a machine "
               "with more is needed",
               text, size_text(arena, free));
}

/* "--freeze A --freeze B". */
static const char *patterns_text(const Training *t, const char *option, const TextList *patterns)
{
    const char *all = "";
    for (size_t i = 0; i < patterns->count; i++)
        all = arena_printf(t->job->arena, "%s%s--%s '%s'", all, *all ? " " : "", option,
                           patterns->data[i]);
    return all;
}

/* Whether a param trains; a run in which none does is a mistake of --freeze and --only, or a
 * test. */
static void note_trained(Training *t)
{
    const Module *module = t->session.model->module;
    bool any = !t->options->freeze.count && !t->options->only.count;
    for (size_t i = 0; i < module->params.count; i++)
        any = any || module->params.data[i]->role == PARAM_TRAINED;
    if (!any)
        diag_warning(
            &t->job->diags, (Loc){0},
            "no param trains, so the model learns nothing: %s%s%s leave%s none; fewer patterns "
            "of --freeze, or wider ones of --only, let some train",
            patterns_text(t, "freeze", &t->options->freeze),
            t->options->freeze.count && t->options->only.count ? " and " : "",
            patterns_text(t, "only", &t->options->only),
            t->options->freeze.count + t->options->only.count == 1 ? "s" : "");
}

bool training_check_settings(Training *t)
{
    const TrainOptions *o = t->options;
    Job *job = t->job;
    const TargetOptions target = {.cpu = job->cpu, .opt_level = 2};
    note_trained(t);
    return codegen_processor(&target, job->arena, &job->diags) &&
           (!o->json_summary || file_can_write(&job->diags, o->json_summary)) &&
           (!o->hashes || o->verify || file_can_write(&job->diags, o->hashes)) &&
           training_check_memory(t, !o->record && o->vocab.spec && vocab_spec_size(o->vocab.spec) &&
                                        (!o->vocab.source || vocab_spec_size(o->vocab.source)));
}

/* ---- texts ---- */

bool training_check_sizes(Training *t)
{
    const TrainOptions *o = t->options;
    Arena *arena = t->job->arena;
    const TextList paths[] = {text_files_paths(arena, &o->texts),
                              text_files_paths(arena, &o->valid_texts)};
    const char *spec = o->vocab.spec ? o->vocab.spec : "words:auto"; /* of a model without text */
    bool is_made = !o->record && vocab_needs_text(spec);
    double bytes = 0, factor = vocab_spec_memory(spec, is_made);
    bool makes = factor > vocab_spec_memory(spec, false); /* that makes the difference */
    for (size_t k = 0; k < sizeof paths / sizeof *paths; k++)
        for (size_t i = 0; i < paths[k].count; i++) {
            struct stat info;
            if (file_stat(paths[k].data[i], &info) && S_ISREG(info.st_mode))
                bytes += (double)info.st_size;
        }
    int64_t free = machine_memory_free();
    if (bytes * factor <= (double)free)
        return true;
    return job_error(t->job,
                     "the texts have %s, for which a training%s%s takes about %s, and %s of memory "
                     "are free; train on a part of them, or with --prepared%s",
                     size_text(arena, bytes), makes ? " with --vocab " : "", makes ? spec : "",
                     size_text(arena, bytes * factor), size_text(arena, (double)free),
                     makes ? ", or make the vocabulary from a part and give it as --vocab FILE"
                           : "");
}
