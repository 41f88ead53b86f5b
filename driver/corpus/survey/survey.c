/* A survey of any data: what texts and tables have in common. */
#include "driver/corpus/survey/repeats.h"

/* The vocabulary that is chosen, which is there already; *vocab NULL: none is chosen. False after
 * an error. */
static bool open_vocabulary(Job *job, const VocabularyChoice *choice, Vocabulary **vocab)
{
    *vocab = NULL;
    if (!choice->spec)
        return true;
    if (vocabulary_needs_text(choice))
        return job_error(
            job,
            "--vocab %s makes a vocabulary, and a finished one is needed: name a run's folder or "
            "a file",
            choice->spec);
    *vocab = vocabulary_load(job, choice);
    return *vocab != NULL;
}

bool survey(Job *job, const SurveyOptions *options, PrepareModel *model, Survey *result)
{
    static const SurveyKind held[] = {SURVEY_overlap, SURVEY_overlap_source, SURVEY_overlap_target,
                                      SURVEY_overlap_relabelled, SURVEY_valid_refused};
    const bool is_text = options->train.files.text.count;
    Vocabulary *vocab;
    *result = (Survey){.data = model     ? OF_TABLE
                               : is_text ? OF_LINES
                                         : OF_PAIRS,
                       .unit = model     ? "record"
                               : is_text ? "line"
                                         : "pair"};
    if (!open_vocabulary(job, &options->vocab, &vocab))
        return false;
    Findings findings = findings_begin(job, options, result);
    Repeats repeats = repeats_begin(&findings, options);
    for (size_t i = 0; !repeats.n_held && i < sizeof held / sizeof *held; i++)
        result->findings[held[i]].is_looked_for = false;
    const bool ok = model ? survey_records(options, vocab, model, &repeats)
                          : survey_texts(options, vocab, &repeats);
    if (ok)
        repeats_put(&repeats);
    repeats_free(&repeats);
    return ok;
}
