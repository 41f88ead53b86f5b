/* The vocabulary of a training: loaded or made from its texts, and compared with that of the run
 * whose params it begins with, whose rows follow their tokens. */
#include "driver/train/data.h"

#include "driver/ports/patterns.h"
#include "runtime/data/token_rules.h"
#include "driver/run/column_words.h"

#include <string.h>

/* The columns in tokens of the run's vocabulary: of the sources, or the others. */
static int list_texts(const Training *t, bool source, const Lines **texts, int n)
{
    const CorpusText *text = &t->text;
    for (int c = 0; c < t->columns.n; c++) {
        if (text->columns[c] && column_is_shared_text(&t->columns, c) &&
            t->columns.specs[c].is_source == source && !text->columns[c]->tensor)
            texts[n++] = text->columns[c];
    }
    return n;
}

/* What the vocabulary is made from: sources, targets, and columns that are text. */
static Vocabulary *vocabulary_of_texts(Training *t)
{
    const TrainOptions *o = t->options;
    const Lines *texts[MOST_COLUMNS + 2];
    int n = 0;
    if (t->text.source)
        texts[n++] = t->text.source;
    const int n_source = n = list_texts(t, true, texts, n);
    if (t->text.target)
        texts[n++] = t->text.target;
    n = list_texts(t, false, texts, n);
    const VocabularyTexts all = {texts, n, n_source, o->kind == CORPUS_PAIRS,
                                 columns_hide(&t->columns)};
    return o->vocab.spec ? vocabulary_make(t->job, &o->vocab, &all)
                         : vocab_empty(&t->job->diags, t->job->arena);
}

/* The run's vocabulary of the sides and that of the training: rows follow their tokens. False after
 * an error: a token is missing, and the params with a row for it are not new. */
static bool compare_sides(Training *t, const Vocabulary *was, const Vocabulary *now, unsigned sides)
{
    Job *job = t->job;
    NewParams *new = &t->params_new;
    GrownRows grown = grown_rows(job->arena, was, now);
    const RowParams params = ports_token_params(new->module, &t->ports, &t->columns, sides);
    grown.sides = sides;
    if (grown.was || !params.names.count) {
        if (grown.moves || grown.now != grown.before)
            vec_push(job->arena, new->grown, grown);
        return true;
    }
    if (patterns_meet_all(new->fresh, &params.names)) {
        for (size_t i = 0; i < params.names.count; i++)
            vec_push(job->arena, new->anew, params.names.data[i]);
        return true;
    }
    const TextList all = patterns_params(job, new->module);
    return job_error(
        job,
        "the vocabulary lacks %s%s%s of %s, and rows of params are kept where tokens are added: take "
        "the run's by --vocab %s, or begin with new rows by %s",
        grown.lacks ? "'" : "tokens", grown.lacks ? grown.lacks : "",
        grown.lacks ? "', a token" : "", t->run_from, t->run_from,
        patterns_options(job->arena, "new", &all, &params.names));
}

/* Warns of a vocabulary with the run's tokens that may give other ones for a text. */
static void compare_cutting(Training *t, const Vocabulary *was)
{
    size_t sizes[2];
    const char *bytes[2] = {vocab_bytes(was, &sizes[0]), vocab_bytes(t->vocab, &sizes[1])};
    if (vocab_is_words(t->vocab) || vocab_is_characters(t->vocab) ||
        vocab_size(was) != vocab_size(t->vocab) ||
        (sizes[0] == sizes[1] && !memcmp(bytes[0], bytes[1], sizes[0])))
        return;
    diag_warning(&t->job->diags, (Loc){0},
                 "the vocabulary has the tokens of %s in another file, which may normalize or cut "
                 "texts otherwise than the params have learned",
                 t->run_from);
}

/* The rules of a run's tokens go over to a vocabulary that has them all, before those of
 * --token. */
static bool pass_rules(Training *t, const Vocabulary *was, const TextList *rules)
{
    Job *job = t->job;
    TextList tokens = {0};
    for (size_t i = 0; i < rules->count; i++) {
        const char *rule = token_rule_moved(job->arena, was, t->vocab, rules->data[i]);
        if (rule)
            vec_push(job->arena, tokens, rule);
    }
    for (size_t i = 0; i < t->tokens.count; i++)
        vec_push(job->arena, tokens, t->tokens.data[i]);
    t->tokens = tokens;
    return token_rules_set(t->vocab, &job->diags, tokens.data, tokens.count);
}

/* The vocabulary of a training that begins with a run's params may have more tokens than the run's,
 * or their order may be another. False after an error. */
static bool compare_vocabularies(Training *t)
{
    RunRecord record;
    if (!t->run_from || vocab_is_empty(t->vocab))
        return true;
    const Vocabulary *was = run_record_read(t->job, t->run_from, &record)
                                ? vocabulary_of_run(t->job, t->run_from, &record)
                                : NULL;
    if (!was || vocab_is_empty(was))
        return was != NULL;
    const char *spec = t->options->vocab.spec;
    const size_t n_new = t->params_new.anew.count;
    const bool is_one = vocab_source(was) == was && vocab_source(t->vocab) == t->vocab;
    if (!compare_sides(t, was, t->vocab, is_one ? HAS_SOURCE | HAS_TARGET : HAS_TARGET) ||
        (!is_one && !compare_sides(t, vocab_source(was), vocab_source(t->vocab), HAS_SOURCE)))
        return false;
    if (t->params_new.anew.count > n_new)
        return true; /* another vocabulary has rules of its own */
    compare_cutting(t, was);
    return t->options->rows || (spec && is_run_folder(spec)) || pass_rules(t, was, &record.tokens);
}

/* What of the run that --weights names the new training need not fit. False after an error. */
static bool compare_weights(Training *t)
{
    return (!t->run_from ||
            column_words_keep(t->job, t->run_from, &t->ports, &t->columns, &t->params_new)) &&
           (!t->vocab || compare_vocabularies(t));
}

bool training_make_vocabulary(Training *t)
{
    const TrainOptions *o = t->options;
    if (o->record) {
        t->vocab = vocabulary_of_run(t->job, o->home, o->record);
        if (t->vocab && !column_words_read(t->job, o->home, o->record, &t->columns))
            return false;
    } else {
        if (vocabulary_needs_text(&o->vocab))
            vocabulary_note(t->job, &o->vocab, o->kind == CORPUS_PAIRS, "");
        job_show(t->job);
        t->vocab = vocabulary_of_texts(t);
        if (!(o->rows ? column_words_read(t->job, o->prepared, NULL, &t->columns)
                      : column_words_make(t->job, o->reach.folder, &t->ports, &t->columns,
                                          t->text.columns, o->line_limit, o->vocab.normalize)))
            return false;
    }
    if (!training_goes_on(o) && !compare_weights(t))
        return false;
    if (t->vocab)
        vocab_set_stream(t->vocab, o->kind == CORPUS_STREAM);
    return t->vocab != NULL;
}
