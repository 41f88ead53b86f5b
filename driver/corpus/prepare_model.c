/* Reading the model of a table. */
#include "driver/corpus/prepare_model.h"

#include "driver/run/column_words.h"
#include "driver/run/inference.h"
#include "driver/run/model_argument.h"

static SessionOptions options_of(Job *job, const PrepareModel *model, const TextList *settings)
{
    SessionOptions options = session_defaults(model->path);
    options.reach = model->reach;
    for (size_t i = 0; i < settings->count; i++)
        vec_push(job->arena, options.settings, settings->data[i]);
    return options;
}

static bool take_columns(Job *job, const Module *module, PrepareModel *model)
{
    const Feed feed = feed_of(module, &model->ports);
    model->same_lengths = feed_shares_lengths(&feed);
    return columns_of(job, module, &model->ports, &model->columns);
}

bool prepare_model_open(Job *job, const char *path, const TextList *given, const TextList *settings,
                        PrepareModel *model)
{
    Session session;
    *model = (PrepareModel){.path = path, .reach = model_reach(job, path)};
    const SessionOptions options = options_of(job, model, settings);
    if (!session_open(&session, job, &options))
        return false;
    const Module *module = session.model->module;
    model->ports = ports_of(module);
    bool ok =
        model->ports.is_table ||
        job_error(job, "%s reads texts, and no table: its texts are prepared without it", path);
    ok = ok && ports_feed(&model->ports, session_function(&session, "loss"), &job->diags) &&
         take_columns(job, module, model) &&
         table_fields_of(job, module, &model->ports, given, NULL, &model->fields);
    model->kind = ports_kind(&model->ports, true);
    model->max_length = session_max_length(&session);
    model->has_text = ok && columns_have_text(&model->ports, &model->columns);
    session_close(&session);
    return ok;
}

bool prepare_model_fit(Job *job, const TextList *settings, const Vocabulary *vocab,
                       PrepareModel *model)
{
    Session session;
    const DataColumns begun = model->columns;
    SessionOptions options = options_of(job, model, settings);
    column_words_set_sizes(job, &begun, &options);
    if (!inference_open_model(&session, job, &options, vocab))
        return false;
    model->ports = ports_of(session.model->module);
    bool ok = take_columns(job, session.model->module, model);
    if (ok)
        column_words_pass(&begun, &model->columns);
    session_close(&session);
    return ok && columns_take_vocabulary(job, session.model, &model->columns, vocab);
}
