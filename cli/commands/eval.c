/* tfc eval: loss, perplexity, BLEU, and exact matches of a run on given text. */
#include "base/json_write.h"
#include "cli/commands/commands.h"
#include "cli/eval_text.h"
#include "cli/options/decoding.h"
#include "cli/tokens.h"
#include "driver/corpus/table_files.h"
#include "driver/run/prediction_measures.h"
#include "driver/run/thresholds.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Eval {
    Common common;
    TextFiles texts;
    TextList columns; /* "INPUT=FIELD" */
    const char *tokenize, *confusions, *languages;
    Decoding decoding;
    double threshold;
    bool json;
} Eval;

typedef struct Figures {
    Evaluation of;
    TrainFigures predicted;       /* of a table; else all NAN */
    Judged judged;                /* what is counted of its records */
    double full_bleu;             /* with --shortlist: over the whole vocabulary; else NAN */
    double shortlist, vocabulary; /* tokens of a batch's shortlist, in the mean; of all */
} Figures;

static void put_predicted(const TrainFigures *figures, JsonWriter *json)
{
    for (int i = 0; i < TRAIN_MEASURES; i++) {
        const TrainMeasure *measure = &train_measures[i];
        const double figure = train_measure_figure(measure, figures);
        if (!isnan(figure) && json)
            json_put_number(json, measure->field + sizeof "valid_" - 1, figure, RESULT_DIGITS);
        else if (!isnan(figure))
            printf("%-24s %.*f%s\n", measure->title, measure->decimals, measure->scale * figure,
                   measure->unit);
    }
}

/* ---- classes, one by one ---- */

static const char *class_name(const Prediction *p, int64_t id, Text *digits)
{
    if (p->names)
        return p->names[id];
    digits->length = 0;
    text_integer(digits, id);
    return digits->data;
}

static void put_match(const char *label, const MatchCount *of, JsonWriter *json)
{
    json_put_text(json, "label", label);
    json_put_integer(json, "labels", of->labels);
    json_put_integer(json, "predictions", of->predictions);
    json_put_integer(json, "right", of->right);
    json_put_number(json, "precision", match_precision(of), RESULT_DIGITS);
    json_put_number(json, "recall", match_recall(of), RESULT_DIGITS);
    json_put_number(json, "f1", match_f1(of), RESULT_DIGITS);
}

/* All labels of sets. */
static void put_sets(const JudgedSets *sets, JsonWriter *json)
{
    Text digits = {0};
    json_open(json, "sets", '[');
    for (int64_t i = 0; i < sets->n; i++) {
        json_open(json, NULL, '{');
        put_match(class_name(sets->prediction, i, &digits), &sets->of[i].count, json);
        json_put_number(json, "average_precision", sets->of[i].average_precision, RESULT_DIGITS);
        json_put_number(json, "threshold", (double)sets->prediction->thresholds[i], RESULT_DIGITS);
        json_close(json, '}');
    }
    json_close(json, ']');
    text_free(&digits);
}

/* Those that occur. `p`: whose classes they are; NULL: types of spans. */
static void put_matches(const char *key, const MatchCount *of, const char *const *names, int64_t n,
                        const Prediction *p, JsonWriter *json)
{
    Text digits = {0};
    json_open(json, key, '[');
    for (int64_t i = 0; i < n; i++) {
        if (!of[i].labels && !of[i].predictions)
            continue;
        json_open(json, NULL, '{');
        put_match(p ? class_name(p, i, &digits) : names[i], &of[i], json);
        json_close(json, '}');
    }
    json_close(json, ']');
    text_free(&digits);
}

static void put_judged(const Judged *judged, JsonWriter *json)
{
    const ClassCounts *classes = &judged->classes.counts, *tags = &judged->tags.counts;
    const TagCounts *spans = &judged->tags.spans;
    if (judged->classes.prediction)
        put_matches("classes", classes->of, NULL, classes->n, judged->classes.prediction, json);
    if (judged->tags.prediction)
        put_matches("tags", tags->of, NULL, tags->n, judged->tags.prediction, json);
    if (judged->tags.prediction && spans->has_spans)
        put_matches("spans", spans->of, spans->types, spans->n_types, NULL, json);
    if (judged->sets.prediction)
        put_sets(&judged->sets, json);
}

/* The table of --confusions of sets: a line for each label, with what a text has to do with it. */
static void put_set_table(const JudgedSets *sets, Text *out)
{
    Text digits = {0};
    text_string(out, "label\tlabels\tpredictions\tright\tprecision\trecall\tf1\taverage_precision\t"
                     "threshold\n");
    for (int64_t i = 0; i < sets->n; i++) {
        const MatchCount *of = &sets->of[i].count;
        const double figures[] = {match_precision(of), match_recall(of), match_f1(of),
                                  sets->of[i].average_precision,
                                  (double)sets->prediction->thresholds[i]};
        text_add(out, "%s\t%" PRId64 "\t%" PRId64 "\t%" PRId64,
                 class_name(sets->prediction, i, &digits), of->labels, of->predictions, of->right);
        for (size_t k = 0; k < sizeof figures / sizeof *figures; k++)
            if (isnan(figures[k])) /* of a label that no text has */
                text_string(out, "\t");
            else
                text_add(out, "\t%.*g", RESULT_DIGITS, figures[k]);
        text_string(out, "\n");
    }
    text_free(&digits);
}

static bool write_set_table(Job *job, const char *path, const JudgedSets *sets)
{
    Text out = {0};
    put_set_table(sets, &out);
    const bool ok = cli_write(job, path, &out);
    text_free(&out);
    return ok;
}

/* The table of --confusions: a line for each label, a field for each prediction. */
static bool write_confusions(Job *job, const char *path, const Judged *judged)
{
    if (judged->sets.prediction && !judged->classes.prediction)
        return write_set_table(job, path, &judged->sets);
    const JudgedTask *task = judged->classes.prediction ? &judged->classes : &judged->tags;
    const ClassCounts *counts = &task->counts;
    if (!task->prediction)
        return job_error(
            job, "--confusions: no column says which class or tags are right: leave it out");
    if (!counts->table)
        return job_error(job,
                         "--confusions: %s has %" PRId64
                         " classes, and a table shows %d at most: leave it out",
                         task->prediction->name, counts->n, CLASSES_MOST_TABLE);
    Text out = {0}, digits = {0};
    text_string(&out, "label");
    for (int64_t p = 0; p < counts->n; p++)
        text_add(&out, "\t%s", class_name(task->prediction, p, &digits));
    for (int64_t label = 0; label < counts->n; label++) {
        text_add(&out, "\n%s", class_name(task->prediction, label, &digits));
        for (int64_t p = 0; p < counts->n; p++)
            text_add(&out, "\t%" PRId64, counts->table[label * counts->n + p]);
    }
    text_string(&out, "\n");
    const bool ok = cli_write(job, path, &out);
    text_free(&out);
    text_free(&digits);
    return ok;
}

/* Loss and answers of targets. */
static void put_texts(const Figures *f, JsonWriter *json)
{
    json_put_number(json, "loss", f->of.loss, RESULT_DIGITS);
    json_put_number(json, "perplexity", f->of.perplexity, RESULT_DIGITS);
    json_put_number(json, "model_loss", f->of.model_loss, RESULT_DIGITS);
    if (f->of.decoded) {
        json_put_number(json, "bleu", f->of.judgement.bleu, RESULT_DIGITS);
        json_put_text(json, "signature", f->of.signature);
        if (!isnan(f->full_bleu)) {
            json_put_number(json, "bleu_without_shortlist", f->full_bleu, RESULT_DIGITS);
            json_put_number(json, "shortlist_tokens", f->shortlist, RESULT_DIGITS);
        }
        json_put_number(json, "accuracy", f->of.judgement.exact, RESULT_DIGITS);
        json_put_number(json, "symbol_error_rate", f->of.judgement.symbol_error_rate,
                        RESULT_DIGITS);
    }
    json_put_integer(json, "sentences", f->of.sentences);
    json_put_integer(json, "tokens", f->of.tokens);
    json_put_integer(json, "cut_sources", f->of.cut_sources);
    json_put_integer(json, "cut_targets", f->of.cut_targets);
}

static void print_json(const RunFolder *run, const Figures *f)
{
    const ModelPorts *ports = &run->inference.ports;
    Text out = {0};
    JsonWriter json = {.out = &out};
    json_open(&json, NULL, '{');
    if (ports_predict(ports) || !ports->is_table)
        put_texts(f, &json);
    else
        json_put_number(&json, "loss", f->of.model_loss, RESULT_DIGITS);
    if (ports->is_table) {
        put_predicted(&f->predicted, &json);
        json_put_integer(&json, "records", f->of.sentences);
        put_judged(&f->judged, &json);
    }
    json_close(&json, '}');
    puts(out.data);
    text_free(&out);
}

static void print_texts(const Figures *f)
{
    printf("loss               %.4f nats a target token\n", f->of.loss);
    printf("perplexity         %.3f\n", f->of.perplexity);
    if (score_losses_differ(f->of.model_loss, f->of.loss))
        printf("model's loss       %.4f, as it says itself\n", f->of.model_loss);
    if (f->of.decoded) {
        printf("BLEU               %.2f  %s\n", f->of.judgement.bleu, f->of.signature);
        if (!isnan(f->full_bleu))
            printf("without shortlist  %.2f (%+.2f); a batch has %.0f of %.0f tokens\n",
                   f->full_bleu, f->of.judgement.bleu - f->full_bleu, f->shortlist, f->vocabulary);
        printf("exactly right      %.2f %%\n", 100 * f->of.judgement.exact);
        printf("symbol error rate  %.2f %%\n", 100 * f->of.judgement.symbol_error_rate);
    }
    printf("sentences          %" PRId64 "\n", f->of.sentences);
    printf("tokens             %" PRId64 "\n", f->of.tokens);
    if (f->of.cut_sources)
        printf("sources cut        %" PRId64 ", to %" PRId64 " tokens\n", f->of.cut_sources,
               f->of.max_length);
    if (f->of.cut_targets)
        printf("targets cut        %" PRId64 ", to %" PRId64 " tokens, for the loss alone\n",
               f->of.cut_targets, f->of.max_length);
}

static void print_figures(const RunFolder *run, const Figures *f)
{
    const ModelPorts *ports = &run->inference.ports;
    const bool has_texts = ports_predict(ports) || !ports->is_table;
    if (has_texts)
        print_texts(f);
    else if (!isnan(f->of.model_loss))
        printf("%-24s %.4f\n", "loss", f->of.model_loss);
    if (ports->is_table)
        put_predicted(&f->predicted, NULL);
    if (!has_texts)
        printf("%-24s %" PRId64 "\n", "records", f->of.sentences);
}

/* ---- measuring ---- */

/* EvalMeasured: what is measured of each corpus.
 *   full        the run opened once more, without its shortlist; is_open: it is, or was tried
 *   is_mean     predictions of an ensemble, which has no loss
 *   predicted   NULL: the model predicts nothing of a table */
typedef struct EvalMeasured {
    const Eval *o;
    RunFolder *run, full;
    bool is_open, is_mean;
    Evaluator evaluator, full_evaluator;
    Measuring *predicted;
} EvalMeasured;

static bool measure_answers(const EvalMeasured *m, RunFolder *run, Evaluator *e,
                            const Corpus *corpus, const Lines *target)
{
    const DecodeSettings settings = decoding_settings(&m->o->decoding, &run->inference);
    return evaluator_answers(e, corpus, target, &settings, m->o->tokenize);
}

/* For BLEU over the whole vocabulary. */
static bool open_full(EvalMeasured *m, Job *job)
{
    RunSource source = common_source(&m->o->common, m->run->path);
    source.shortlist.path = NULL;
    m->is_open = true;
    evaluator_begin(&m->full_evaluator, job, &m->full);
    return run_folder_open(job, &source, &m->full) &&
           inference_prepare_decode(&m->full.inference) &&
           run_folder_load(job, &m->full, m->o->common.checkpoint);
}

static bool measure_corpus(EvalMeasured *m, const Corpus *corpus, const Lines *target)
{
    return (m->is_mean || evaluator_loss(&m->evaluator, corpus)) &&
           (!evaluation_decodes(m->run) ||
            measure_answers(m, m->run, &m->evaluator, corpus, target)) &&
           (!m->is_open || measure_answers(m, &m->full, &m->full_evaluator, corpus, target)) &&
           (!m->predicted || measuring_add(m->predicted, corpus));
}

/* Takes the figures, and frees what measured them. */
static bool end_measured(EvalMeasured *m, bool ok, Figures *figures)
{
    const Shortlist *shortlist = m->run->inference.shortlist;
    Evaluation full = {0};
    ok = evaluator_end(&m->evaluator, ok, &figures->of);
    if (m->is_open) {
        ok = evaluator_end(&m->full_evaluator, ok, &full);
        run_folder_close(&m->full);
    }
    if (ok && m->is_open) {
        figures->full_bleu = full.judgement.bleu;
        figures->shortlist = (double)shortlist->count->tokens / (double)shortlist->count->batches;
        figures->vocabulary = shortlist->n_targets;
    }
    return measuring_end(m->predicted, ok, &figures->predicted);
}

/* Counts all corpora, of which the first has come, then measures them. predictor: NULL without
 * predictions. */
static bool measure_text(Job *job, const Eval *o, RunFolder *run, const Corpus *first,
                         EvalText *text, Predictor *predictor, Figures *figures)
{
    EvalMeasured m = {.o = o, .run = run, .is_mean = predictor && run->n_with};
    bool ok = true;
    evaluator_begin(&m.evaluator, job, run);
    for (const Corpus *corpus = first; ok && corpus; corpus = eval_text_next(text))
        ok = m.is_mean || evaluator_count(&m.evaluator, corpus);
    const int64_t rows = text->rows;
    ok = ok && eval_text_rewind(text);
    cli_flush(job);
    if (ok && predictor) {
        m.predicted = measuring_begin(predictor, job, rows, &figures->judged, false);
        ok = m.predicted != NULL;
    }
    if (ok && evaluation_decodes(run) && run->inference.shortlist)
        ok = open_full(&m, job);
    for (const Corpus *corpus; ok && (corpus = eval_text_next(text));)
        ok = measure_corpus(&m, corpus, text->target);
    ok = end_measured(&m, ok && !text->has_failed, figures);
    if (m.is_mean) {
        figures->of.sentences = rows;
        figures->of.model_loss = NAN;
    }
    return ok;
}

/* ---- what is read ---- */

static bool open_texts(Job *job, const Eval *o, const RunFolder *run, EvalText *text)
{
    TextFiles texts = o->texts;
    return common_check_texts(job, run, &texts, TEXTS_PAIRS | TEXTS_DATA | TEXTS_TEXT,
                              &o->columns) &&
           eval_text_open_files(text, job, run, &texts, o->languages, o->common.line_limit);
}

static bool open_table(Job *job, const Eval *o, const RunFolder *run, EvalText *text)
{
    const ModelPorts *ports = &run->inference.ports;
    const Module *module = run->session.model->module;
    const TextList given = fields_given(job, run, &o->columns);
    TableFields fields;
    if (!o->texts.data.count || o->texts.source.count || o->texts.text.count)
        return cli_refuse(job, "%s reads a table: give it as --data FILE", run->path);
    return run_check_columns(job, run) &&
           table_fields_of(job, module, ports, &given, NULL, &fields) &&
           eval_text_open_table(text, job, run, &o->texts.data, &fields, o->common.line_limit);
}

static bool eval(Job *job, const void *record, RunFolder *run)
{
    const Eval *o = record;
    const bool is_table = run->inference.ports.is_table,
               predicting = is_table && predicts(run->session.model->module);
    EvalText text = {0};
    Predictor predictor = {0};
    Figures figures = {.predicted = train_no_figures(), .full_bleu = NAN};
    if (!is_table && o->confusions)
        return cli_refuse(
            job, "--confusions: %s reads no table, so no column says what is right: leave it out",
            run->path);
    const bool is_mean = predicting && run->n_with;
    if (is_mean && ports_predict(&run->inference.ports))
        return cli_refuse(job,
                          "--with: %s predicts next tokens, too, and only one of both has an "
                          "ensemble: leave --with out",
                          run->path);
    bool ok = (is_table ? open_table : open_texts)(job, o, run, &text);
    const Corpus *first = ok ? eval_text_next(&text) : NULL; /* tells mistakes early */
    ok = first &&
         (!predicting ||
          predictor_prepare(&predictor, job, &run->inference, &run->columns, run->kind, NULL)) &&
         (is_mean ? predictor_add_members(&predictor, job, run) &&
                        run_folder_load(job, run, o->common.checkpoint)
                  : evaluation_prepare(job, run, o->common.checkpoint)) &&
         thresholds_settle(job, &predictor, run, o->threshold) &&
         measure_text(job, o, run, first, &text, predicting ? &predictor : NULL, &figures);
    ok = eval_text_close(&text, ok) &&
         (!o->confusions || write_confusions(job, o->confusions, &figures.judged));
    if (ok)
        (o->json ? print_json : print_figures)(run, &figures);
    judged_free(&figures.judged);
    return ok;
}

static int run_eval(Job *job, void *record, const Arguments *arguments)
{
    Eval *o = record;
    decoding_note_given(&o->decoding, arguments);
    const char *mistake = decoding_mistake(job->arena, &o->decoding);
    if (!mistake)
        mistake =
            text_files_mistake(job->arena, &o->texts, "", TEXTS_PAIRS | TEXTS_DATA | TEXTS_TEXT);
    if (mistake)
        return cli_usage_error("%s", mistake);
    return common_run(job, &o->common, arguments->words[0], eval, o);
}

static const Option options[] = {
    {"source", "FILE", FIELD(Eval, texts.source), 0, NULL, "source text, one sentence a line"},
    {"target", "FILE", FIELD(Eval, texts.target), 0, NULL,
     "reference text, with as many lines as the source"},
    {"text", "FILE", FIELD(Eval, texts.text), 0, NULL, "text of a model with one input"},
    {"data", "FILE", FIELD(Eval, texts.data), 0, NULL,
     "pairs " PAIRS_HELP "; "
     "the table of a model that is fed by columns (docs/data-columns.md)"},
    {"languages", "A,B", FIELD(Eval, languages), 0, NULL,
     "languages of sources and targets in translation memories, such as en,de"},
    OPTION_COLUMN(Eval, columns),
#define RECORD Eval
#define SEARCH DECODING_OPTION
#define LONGEST DECODING_OPTION
#define CONTINUE(...)
#define ANY DECODING_OPTION
#include "runtime/decode/settings.def"
    {"confusions", "FILE.tsv", OUTPUT(Eval, confusions), 0, NULL,
     "of a table with a label a record or position: write how many records of each label (a line) "
     "got each prediction (a field); of sets of labels: for each label how often it is there, "
     "predicted and right, its precision, recall, F1, average precision and threshold"},
    {"threshold", "P", FIELD(Eval, threshold), 0, "-1",
     "of sets of labels: count the labels with a probability of at least P, from 0 to 1, as "
     "predicted (those that the run chose on its validation text for each label, or 0.5)"},
    {"tokenize", "13a|none", FIELD(Eval, tokenize), 0, NULL,
     "tokenization of BLEU (none if the vocabulary is a list of words, else 13a)"},
    OPTION_CHECKPOINT(Eval),
    OPTION_WEIGHTS(Eval),
    OPTION_VOCAB(Eval),
    OPTION_SOURCE_VOCAB(Eval),
    OPTION_TOKEN(Eval, common.vocab.tokens),
    OPTION_SPECIAL(Eval),
    OPTION_SET(Eval),
    OPTION_WITH(Eval),
    OPTION_LINE_LIMIT(Eval),
    OPTION_PRODUCTS(Eval),
    OPTION_THREADS(Eval),
    OPTION_WORKERS(Eval),
    OPTION_SHORTLIST(Eval),
    OPTION_GEMM(Eval),
    OPTION_CPU(Eval),
    OPTION_PASSES(Eval),
    {"json", NULL, FIELD(Eval, json), 0, NULL,
     "print one JSON object: loss, perplexity, bleu, signature, …; of a table the loss, the measures "
     "of its predictions, and precision, recall and F1 of each class, tag and type of spans"},
    OPTION_ALLOW_OUTSIDE(Eval),
};

const Command command_eval = {
    .name = "eval",
    .summary = "measure loss, BLEU and predictions of a run on given text or tables",
    .arguments = "RUN|MODEL.tfg",
    .min_arguments = 1,
    .max_arguments = 1,
    .text =
        "Measures a run on given text: the loss without label smoothing and the perplexity; of "
        "pairs also BLEU as sacrebleu counts it, and how many translations are exactly right. If "
        "the model's own loss is another number (label smoothing, labels that do not count, "
        "further terms), that is shown, too, computed as if the whole text were one batch. Of a "
        "table: the model's loss, and how well its predictions fit the columns that say what is "
        "right.",
    COMMAND_OPTIONS(Eval, options),
    .run = run_eval,
};
