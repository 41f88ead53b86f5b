/* tfc align: which words of a pair belong together. */
#include "base/file.h"
#include "cli/commands/commands.h"
#include "cli/records.h"
#include "driver/analysis/word_alignment.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct Align {
    Common common;
    TextFiles texts;
    TextList columns; /* "INPUT=FIELD" */
    const char *output, *shortlist, *at, *languages;
    int64_t layer, head;
} Align;

static bool write_lexicon(Job *job, const Align *o, Lexicon *lexicon, const Vocabulary *vocab)
{
    Text out = {0};
    lexicon_put(lexicon, vocab, &out);
    bool ok = cli_write(job, o->shortlist, &out);
    text_free(&out);
    return ok;
}

/* A line each, empty where a side is or the pair is too long. */
static bool align_corpus(const Align *o, Attender *attender, const AlignBy *by,
                         const Corpus *corpus, const Lines *source, const Lines *target,
                         Lexicon *lexicon, FileWriter *file)
{
    bool ok = true;
    for (int64_t line = 0, row = 0; ok && line < source->n; line++) {
        Arena *arena = arena_new();
        Text out = {0};
        if (row < corpus->n && corpus->line[row] == line) {
            if (rows_length(&corpus->source, row) && rows_length(&corpus->target, row)) {
                const float *weights = align_tokens(attender, by, corpus, row, arena);
                ok = weights != NULL;
                if (ok)
                    align_words(corpus, row, weights, &source->at[line], &target->at[line], arena,
                                &out);
                if (ok && o->shortlist)
                    lexicon_add(lexicon, corpus, row, weights);
            }
            row++;
        }
        text_string(&out, "\n");
        file_write(file, out.data, out.length);
        text_free(&out);
        arena_free(arena);
    }
    return ok;
}

static bool choose_attention(Job *job, const Align *o, Attender *attender, const Corpus *corpus,
                             AlignBy *by)
{
    *by = (AlignBy){.layer = o->layer, .head = o->head, .is_read = !strcmp(o->at, "read")};
    if (!align_check(attender, by))
        return false;
    if (by->layer != BEST_LAYER)
        return true;
    double confidence;
    by->layer = align_best_layer(attender, corpus, by->is_read, &confidence);
    if (by->layer < 0)
        return false;
    cli_flush(job);
    fprintf(stderr, "aligned by %s, layer %" PRId64 ", the most confident (%.2f)\n",
            attender->outputs[by->layer].scope, by->layer, confidence);
    return true;
}

/* The pairs of lines. NULL after an error. */
static Corpus *read_pairs(Job *job, const Align *o, RunFolder *run, CorpusText *text)
{
    TextFiles texts = o->texts;
    Lines *target;
    if (!common_check_texts(job, run, &texts, TEXTS_PAIRS | TEXTS_DATA, &o->columns))
        return NULL;
    const Lines *source = text_files_read(job, &texts, o->languages, o->common.line_limit, &target);
    const CorpusOptions options = {.kind = CORPUS_PAIRS,
                                   .max_length = inference_max_length(&run->inference),
                                   .keep_all = true,
                                   .refuse_long = true,
                                   .same_lengths = feed_shares_lengths(&run->inference.feed)};
    *text = (CorpusText){.source = source, .target = target};
    return source ? corpus_encode(&job->diags, run->vocab, &options, text) : NULL;
}

/* Those of a table, with its other columns. NULL after an error. */
static Corpus *read_table(Job *job, const Align *o, RunFolder *run, CorpusText *text)
{
    Predictor predictor;
    CorpusTold told = {0};
    const RecordFiles given = {o->texts.data, o->columns, o->common.line_limit};
    predictor_read(&predictor, job, &run->inference, &run->columns, run->kind,
                   session_function(run->inference.session, "forward"));
    int64_t n = 0;
    TableStream *table = records_open(job, run, &predictor, &given);
    const bool ok = table && table_stream_rest(table, 0, text, &n);
    table_stream_close(table);
    Corpus *corpus = ok ? predictor_corpus(&predictor, job, text, 0, n, &told) : NULL;
    if (!corpus || !(told.cut_sources || told.cut_targets))
        return corpus;
    diag_error(
        &job->diags,
        lines_place(corpus_lines(text), told.cut_targets ? told.first_target : told.first_source),
        "the %s has more tokens than the %lld that the model takes: shorten it",
        told.cut_targets ? "target" : "source", (long long)corpus->options.max_length);
    corpus_free(corpus);
    return NULL;
}

static bool align(Job *job, const void *record, RunFolder *run)
{
    const Align *o = record;
    const bool has_data = o->texts.data.count > 0, is_table = run->inference.ports.is_table;
    if (run->kind != CORPUS_PAIRS)
        return job_error(job, "%s: the model has no attention of its target over a source",
                         run->path);
    if (!has_data && run->columns.n)
        return cli_refuse(job, "%s reads a table: give it as --data FILE", run->path);
    CorpusText text;
    Corpus *corpus = (has_data && is_table ? read_table : read_pairs)(job, o, run, &text);
    Attender attender = {0};
    AlignBy by;
    Lexicon lexicon;
    lexicon_init(&lexicon, job->arena);
    bool ok = corpus && attender_prepare(&attender, &run->inference, 1u << ATTENTION_CROSS) &&
              run_folder_load(job, run, o->common.checkpoint) &&
              choose_attention(job, o, &attender, corpus, &by);
    cli_flush(job);
    FileWriter *file = ok ? file_create(&job->diags, o->output ? o->output : "/dev/stdout") : NULL;
    ok = file && align_corpus(o, &attender, &by, corpus, text.source, text.target, &lexicon, file);
    if (file && !ok)
        file_discard(file);
    ok = ok && file_commit(file, &job->diags) &&
         (!o->shortlist || write_lexicon(job, o, &lexicon, run->vocab));
    attender_free(&attender);
    corpus_free(corpus);
    return ok;
}

static int run_align(Job *job, void *record, const Arguments *arguments)
{
    const Align *o = record;
    const char *mistake = text_files_mistake(job->arena, &o->texts, "", TEXTS_PAIRS | TEXTS_DATA);
    if (!mistake)
        mistake = text_files_misfit(job->arena, &o->texts, "", TEXTS_PAIRS | TEXTS_DATA,
                                    arguments->words[0], true, true);
    if (mistake)
        return cli_usage_error("%s", mistake);
    if (o->head != MEAN_OF_HEADS && o->layer == BEST_LAYER)
        return cli_usage_error("--head is one of a layer: give --layer too");
    return common_run(job, &o->common, arguments->words[0], align, o);
}

static const Option options[] = {
    {"source", "FILE", FIELD(Align, texts.source), 0, NULL, "source text, one sentence a line"},
    {"target", "FILE", FIELD(Align, texts.target), 0, NULL,
     "target text, with as many lines as the source"},
    {"data", "FILE", FIELD(Align, texts.data), 0, NULL,
     "pairs " PAIRS_HELP "; "
     "the table of a model that is fed by columns, with one for the target "
     "(docs/data-columns.md)"},
    {"languages", "A,B", FIELD(Align, languages), 0, NULL,
     "languages of sources and targets in translation memories, such as en,de"},
    OPTION_COLUMN(Align, columns),
    {"output", "FILE", OUTPUT(Align, output), 0, NULL, "where to write (standard output)"},
    {"layer", "L", FIELD(Align, layer), 0, "-1",
     "number of the attention over the source, from 0 (the one whose weights are the most "
     "confident on the first 200 pairs)"},
    {"head", "H", FIELD(Align, head), 0, "-1",
     "number of a head of --layer, from 0 (the mean of all heads)"},
    {"at", "predicted|read", FIELD(Align, at), 0, "predicted",
     "take a token's weights from the step that predicts it, or from the next, which reads it"},
    {"shortlist", "FILE", OUTPUT(Align, shortlist), 0, NULL,
     "also write a lexical table of tokens: lines TARGET SOURCE PROBABILITY, as Marian's "
     "--shortlist reads them"},
    OPTION_CHECKPOINT(Align),
    OPTION_WEIGHTS(Align),
    OPTION_VOCAB(Align),
    OPTION_SOURCE_VOCAB(Align),
    OPTION_TOKEN(Align, common.vocab.tokens),
    OPTION_SET(Align),
    OPTION_LINE_LIMIT(Align),
    OPTION_THREADS(Align),
    OPTION_GEMM(Align),
    OPTION_CPU(Align),
    OPTION_PASSES(Align),
    OPTION_ALLOW_OUTSIDE(Align),
};

const Command command_align = {
    .name = "align",
    .summary = "align the words of given pairs",
    .arguments = "RUN|MODEL.tfg",
    .min_arguments = 1,
    .max_arguments = 1,
    .text =
        "Prints a line for each pair, or record of a table: for each word of the target, "
        "SOURCE-TARGET, the numbers of two words, from 0: \"0-0 2-1\". Words are what blanks "
        "separate. SOURCE is the word that the decoder attends to most. The line of a pair that is "
        "too long or has an empty side is empty.",
    COMMAND_OPTIONS(Align, options),
    .run = run_align,
};
