/* A training whose rows are prepared data. */
#define _GNU_SOURCE
#include "driver/train/training.h"

#include <stdlib.h>
#include <string.h>

/* Params of a run whose tokens are others would be learned anew. */
static bool compare_run(Job *job, const char *run, const Prepared *rows)
{
    RunRecord record;
    const Vocabulary *vocab =
        run_record_read(job, run, &record) ? vocabulary_of_run(job, run, &record) : NULL;
    if (vocab && strcmp(prepared_vocabulary(job->arena, vocab), rows->vocabulary))
        diag_warning(&job->diags, (Loc){0},
                     "%s has another vocabulary than %s; tfc prepare --vocab %s takes that", run,
                     rows->folder, run);
    return vocab != NULL;
}

bool training_open_prepared(Job *job, TrainOptions *o)
{
    char *real = realpath(o->prepared, NULL); /* a path, whatever its name is like */
    const char *folder = arena_strdup(job->arena, real ? real : o->prepared);
    free(real);
    const Prepared *rows = prepared_open(&job->diags, job->arena, folder);
    if (!rows)
        return false;
    o->rows = rows;
    o->vocab = (VocabularyChoice){.spec = folder};
    for (size_t i = 0; i < rows->tokens.count; i++)
        vec_push(job->arena, o->vocab.tokens, rows->tokens.data[i]);
    return !o->weights || !is_run_folder(o->weights) || compare_run(job, o->weights, rows);
}

bool training_prepared_kind(Job *job, TrainOptions *o, const ModelPorts *ports)
{
    CorpusKind kind = o->rows->kind;
    bool pairs = ports->source && ports->target;
    if (pairs != (kind == CORPUS_PAIRS))
        return job_error(job, "%s reads %s, and %s was prepared from %s", o->model,
                         pairs ? "sources and targets" : "one text", o->prepared,
                         pairs ? "one text" : "sources and targets");
    o->kind = ports_kind(ports, kind == CORPUS_LINES);
    return o->kind != CORPUS_SENTENCES || kind == CORPUS_LINES ||
           job_error(job, "%s reads lines, and %s is one stream: prepare it with --lines", o->model,
                     o->prepared);
}

bool training_check_vocabulary(const Training *t)
{
    const Prepared *rows = t->options->rows;
    if (!rows)
        return true;
    const char *now = prepared_vocabulary(t->job->arena, t->vocab);
    return !strcmp(now, rows->vocabulary) ||
           job_error(t->job,
                     "the vocabulary is not the one that %s was prepared with: that had %s, and "
                     "this has %s; prepare the texts again",
                     t->options->prepared, rows->vocabulary, now);
}

Corpus *training_prepared_corpus(const Training *t, const CorpusOptions *options)
{
    Corpus *corpus = corpus_new(t->vocab, options);
    corpus->prepared = t->options->rows;
    corpus->n = corpus->own = t->options->rows->rows;
    return corpus;
}

RunText training_prepared_text(const Training *t)
{
    const Prepared *rows = t->options->rows;
    return (RunText){.option = "prepared",
                     .file = rows->folder,
                     .sha256 = rows->sha256,
                     .bytes = rows->bytes,
                     .lines = rows->rows};
}
