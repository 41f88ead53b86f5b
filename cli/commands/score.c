/* tfc score: how probable given targets are. */
#include "cli/commands/commands.h"
#include "cli/records.h"
#include "cli/stream.h"
#include "cli/tokens.h"
#include "driver/run/evaluation.h"

#include <math.h>

typedef struct Score {
    Common common;
    TextFiles texts;
    TextList columns; /* "INPUT=FIELD" */
    bool token_scores, attention;
} Score;

static double sum_of_row(const Corpus *corpus, const double *tokens, int64_t row)
{
    double sum = 0;
    for (int64_t at = score_place(corpus, row); at < score_place(corpus, row + 1); at++)
        sum += tokens[at];
    return sum;
}

static bool put_row(const Score *o, Aligner *aligner, const TextStream *stream, int64_t line,
                    const double *tokens, Arena *arena, Text *out)
{
    const Corpus *corpus = stream->corpus;
    int64_t row = stream->row[line];
    double sum = sum_of_row(corpus, tokens, row);
    if (isnan(sum))
        return inference_no_numbers(
            aligner->inference,
            arena_printf(arena, "line %lld", (long long)(stream->first + line + 1)));
    int64_t n = rows_length(&corpus->target, row);
    const int32_t *ids = corpus->target.ids.data + corpus->target.start[row];
    Alignment alignment;
    if (o->attention && !aligner_run(aligner, corpus, row, ids, n, arena, &alignment))
        return false;
    if (!o->token_scores) {
        text_add(out, "%.6f", sum);
        if (o->attention)
            put_soft_alignment(out, &alignment);
        text_string(out, "\n");
        return true;
    }
    JsonWriter json = {.out = out};
    json_open(&json, NULL, '{');
    json_put_integer(&json, "line", stream->first + line);
    json_put_number(&json, "log_probability", sum, RESULT_DIGITS);
    int64_t from, predicted = corpus_predicted(corpus, row, &from);
    put_token_scores(&json, corpus->vocab, ids + from, n - from, corpus_target_ends(corpus).after,
                     tokens + score_place(corpus, row), predicted);
    if (o->attention)
        put_alignment(&json, corpus->vocab, &alignment);
    json_close(&json, '}');
    text_string(out, "\n");
    return true;
}

/* Of a line that --keep-going passed over. */
static void put_nothing(const Score *o, const TextStream *stream, int64_t line, Text *out)
{
    if (o->token_scores)
        text_add(out, "{\"line\": %lld, \"log_probability\": null}",
                 (long long)(stream->first + line));
    text_string(out, "\n");
}

static bool score_window(Job *job, const Score *o, RunFolder *run, Aligner *aligner,
                         TextStream *stream)
{
    Arena *arena = arena_new();
    double *tokens = ARENA_ARRAY(arena, double, score_tokens(stream->corpus) + 1);
    Text out = {0};
    Scores scores;
    bool ok = inference_score(&run->inference, stream->corpus, EVALUATION_BATCH, tokens, &scores) ||
              job_no_memory(job);
    for (int64_t i = 0; ok && i < stream->n; i++)
        if (stream->row[i] < 0)
            put_nothing(o, stream, i, &out);
        else
            ok = put_row(o, aligner, stream, i, tokens, arena, &out);
    if (ok)
        stream_put(stream, out.data, out.length);
    text_free(&out);
    arena_free(arena);
    return ok && stream_flush(stream);
}

/* Whether no target of the window is cut, of which a part has a probability alone. */
static bool has_whole_targets(Job *job, const TextStream *stream)
{
    if (!stream->told.cut_targets)
        return true;
    diag_error(&job->diags,
               lines_place(corpus_lines(&stream->told_text), stream->told.first_target),
               "the target has more tokens than the %lld that the model takes: shorten it",
               (long long)stream->corpus->options.max_length);
    return false;
}

/* Opens a stream of the records; the predictor must outlive it. */
static bool open_records(Job *job, const Score *o, RunFolder *run, Predictor *predictor,
                         TextStream *stream)
{
    const RecordFiles given = {o->texts.data, o->columns, o->common.line_limit};
    StreamOptions options = {.predictor = predictor};
    Function *forward = session_function(run->inference.session, "forward");
    predictor_read(predictor, job, &run->inference, &run->columns, run->kind, forward);
    if (run_check_columns(job, run))
        options.table = records_open(job, run, predictor, &given);
    return options.table && stream_open(stream, job, &options);
}

/* The same of pairs, of which two fields are read. */
static bool open_pairs(Job *job, const Score *o, RunFolder *run, Predictor *predictor,
                       TextStream *stream)
{
    TextFiles *texts = ARENA_NEW(job->arena, TextFiles);
    TableFields *fields = ARENA_NEW(job->arena, TableFields);
    PairFields chosen;
    StreamOptions options = {.predictor = predictor};
    const TableStreamOptions reading = {.line_limit = o->common.line_limit};
    *texts = o->texts;
    if (!common_check_texts(job, run, texts, TEXTS_PAIRS | TEXTS_DATA | TEXTS_TEXT, &o->columns))
        return false;
    pair_file_is_table(job, texts->data.data[0], &texts->columns, &chosen);
    *fields = pair_table_fields(&chosen);
    predictor_read(predictor, job, &run->inference, &run->columns, run->kind,
                   session_function(run->inference.session, "forward"));
    options.table = table_stream_open(job, &texts->data, fields, &reading);
    return options.table && stream_open(stream, job, &options);
}

static bool open_lines(Job *job, const Score *o, const RunFolder *run, TextStream *stream)
{
    const bool pairs = run->kind == CORPUS_PAIRS;
    StreamOptions options = {.source = pairs ? o->texts.source : o->texts.text,
                             .target = o->texts.target,
                             .vocab = run->vocab,
                             .kind = pairs ? CORPUS_PAIRS : CORPUS_LINES,
                             .max_length = inference_max_length(&run->inference),
                             .window_tokens = WINDOW_BATCHES * EVALUATION_BATCH,
                             .line_limit = o->common.line_limit,
                             .same_lengths = feed_shares_lengths(&run->inference.feed),
                             .keep_going = o->common.keep_going};
    TextFiles texts = o->texts;
    return common_check_texts(job, run, &texts, TEXTS_PAIRS | TEXTS_DATA | TEXTS_TEXT,
                              &o->columns) &&
           stream_open(stream, job, &options);
}

static bool score(Job *job, const void *record, RunFolder *run)
{
    const Score *o = record;
    const bool has_data = o->texts.data.count > 0,
               is_table = has_data && run->inference.ports.is_table;
    if (!ports_predict(&run->inference.ports))
        return job_error(job, "%s: the model gives no probabilities of next tokens%s", run->path,
                         predicts(run->session.model->module)
                             ? "; tfc predict gives what it predicts, and tfc eval measures that"
                             : "");
    if (!has_data && run->columns.n)
        return cli_refuse(job, "%s reads a table: give it as --data FILE", run->path);
    if (has_data && o->common.keep_going)
        return cli_refuse(job, "--keep-going passes over lines of a text, and --data is read as a "
                               "table: leave it out");
    TextStream stream = {.job = job};
    Predictor predictor;
    Aligner aligner = {.inference = &run->inference};
    bool ok = (is_table   ? open_records(job, o, run, &predictor, &stream)
               : has_data ? open_pairs(job, o, run, &predictor, &stream)
                          : open_lines(job, o, run, &stream)) &&
              inference_prepare_score(&run->inference, false) &&
              (!o->attention || aligner_prepare(&aligner, &run->inference)) &&
              run_folder_load(job, run, o->common.checkpoint);
    cli_flush(job);
    while (ok && stream_next(&stream))
        ok = has_whole_targets(job, &stream) && score_window(job, o, run, &aligner, &stream);
    aligner_free(&aligner);
    return stream_close(&stream, ok);
}

static int run_score(Job *job, void *record, const Arguments *arguments)
{
    const Score *o = record;
    const char *mistake =
        text_files_mistake(job->arena, &o->texts, "", TEXTS_PAIRS | TEXTS_DATA | TEXTS_TEXT);
    if (mistake)
        return cli_usage_error("%s", mistake);
    return common_run(job, &o->common, arguments->words[0], score, o);
}

static const Option options[] = {
    {"source", "FILE", FIELD(Score, texts.source), 0, NULL, "source text, one sentence a line"},
    {"target", "FILE", FIELD(Score, texts.target), 0, NULL,
     "target text, with as many lines as the source"},
    {"text", "FILE", FIELD(Score, texts.text), 0, NULL, "texts of a language model, one a line"},
    {"data", "FILE", FIELD(Score, texts.data), 0, NULL,
     "pairs " PAIRS_TABLE_HELP "; "
     "the table of a model that is fed by columns, with one for the target "
     "(docs/data-columns.md)"},
    OPTION_COLUMN(Score, columns),
    {"token-scores", NULL, FIELD(Score, token_scores), 0, NULL,
     "print a JSON object for each line: line, log_probability, tokens ([TOKEN, LOG-PROBABILITY] "
     "each)"},
    OPTION_ATTENTION(Score),
    OPTION_CHECKPOINT(Score),
    OPTION_WEIGHTS(Score),
    OPTION_VOCAB(Score),
    OPTION_SOURCE_VOCAB(Score),
    OPTION_TOKEN(Score, common.vocab.tokens),
    OPTION_SPECIAL(Score),
    OPTION_SET(Score),
    OPTION_WITH(Score),
    OPTION_KEEP_GOING(Score),
    OPTION_LINE_LIMIT(Score),
    OPTION_PRODUCTS(Score),
    OPTION_THREADS(Score),
    OPTION_GEMM(Score),
    OPTION_CPU(Score),
    OPTION_PASSES(Score),
    OPTION_ALLOW_OUTSIDE(Score),
};

const Command command_score = {
    .name = "score",
    .summary = "print the log-probability of given pairs or texts",
    .arguments = "RUN|MODEL.tfg",
    .min_arguments = 1,
    .max_arguments = 1,
    .text = "Prints a line for each pair, while pairs are read: the natural logarithm of the "
            "probability of the target, its end included, given its source or, in a table, all "
            "that the model reads of its record. For a language model "
            "each line is a text, framed by the tokens of the model's rule (docs/tokenizers.md).",
    COMMAND_OPTIONS(Score, options),
    .run = run_score,
};
