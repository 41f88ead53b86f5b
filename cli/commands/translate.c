/* tfc translate: text in, text out. */
#include "cli/commands/commands.h"
#include "cli/options/decoding.h"
#include "cli/records.h"
#include "cli/ranks.h"
#include "cli/stream.h"
#include "cli/tokens.h"
#include "driver/corpus/pair_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Translate {
    Common common;
    RecordFiles given;
    TextList prefix;
    const char *output;
    Decoding decoding;
    int64_t batch_tokens;
    bool json, token_scores, attention;
} Translate;

/* `alignment`: NULL without --attention. */
static void print_json(const Translate *o, const Inference *inference, int64_t line,
                       const char *text, const Hypothesis *h, const Alignment *alignment, Text *out)
{
    JsonWriter json = {.out = out};
    json_open(&json, NULL, '{');
    json_put_integer(&json, "line", line);
    json_put_text(&json, "text", text);
    json_put_number(&json, "score", h ? h->score : 0, RESULT_DIGITS);
    json_put_number(&json, "log_probability", h ? h->log_probability : 0, RESULT_DIGITS);
    if (o->token_scores)
        put_token_scores(&json, inference->vocab, h ? h->ids : NULL, h ? h->n : 0,
                         vocab_rules(inference->vocab)->end, h ? h->each : NULL, h ? h->n_each : 0);
    if (alignment)
        put_alignment(&json, inference->vocab, alignment);
    json_close(&json, '}');
    text_string(out, "\n");
}

/* Line i of the window: one line a result; of n-best lists "NUMBER ||| TEXT ||| SCORE", as Moses
 * has it. False after an error. */
static bool print_result(const Translate *o, Aligner *aligner, const TextStream *stream, int64_t i,
                         const Decoded *decoded, Arena *arena, Text *out)
{
    const Inference *inference = aligner->inference;
    int64_t line = stream->first + i;
    for (int32_t k = 0; k < (decoded->n ? decoded->n : 1); k++) {
        const Hypothesis *h = decoded->n ? &decoded->best[k] : NULL;
        const char *text = h ? inference_text(inference, h, arena) : "";
        Alignment alignment;
        bool aligned = o->attention && h;
        if (aligned &&
            !aligner_run(aligner, stream->corpus, stream->row[i], h->ids, h->n, arena, &alignment))
            return false;
        if (o->json || o->token_scores) {
            print_json(o, inference, line, text, h, aligned ? &alignment : NULL, out);
            continue;
        }
        bool lists = o->decoding.nbest > 1 || o->decoding.alternatives;
        if (lists)
            text_add(out, "%" PRId64 " ||| ", line);
        put_one_line(out, text);
        if (lists)
            text_add(out, " ||| %.6f", h ? h->score : 0.0);
        if (aligned)
            put_soft_alignment(out, &alignment);
        text_string(out, "\n");
    }
    return true;
}

typedef struct Prefixes {
    Lines *lines;   /* NULL: none are given */
    Tokens *tokens; /* of each line */
} Prefixes;

static bool read_prefixes(Job *job, const Translate *o, RunFolder *run, Prefixes *out)
{
    *out = (Prefixes){0};
    if (!o->prefix.count)
        return true;
    for (size_t i = 0; i < o->prefix.count; i++)
        if (!strcmp(o->prefix.data[i], "-"))
            return job_error(job, "--prefix -: standard input is for the text: give a file");
    const LineLimits limits = {.line = o->common.line_limit};
    out->lines = lines_read_all(&job->diags, job->arena, o->prefix.data, o->prefix.count, &limits);
    if (!out->lines)
        return false;
    int64_t longest = inference_max_length(&run->inference) - 1;
    SidesUnknown unknown = {0};
    const Source *const texts[] = {out->lines->source, NULL};
    out->tokens = ARENA_ARRAY(job->arena, Tokens, out->lines->n + 1);
    for (int64_t i = 0; i < out->lines->n; i++) {
        Ids ids = {0};
        if (!vocab_encode(run->vocab, out->lines->at[i].text, out->lines->at[i].length, &ids))
            return job_error(job, "--prefix: %s: %s", lines_where(job->arena, out->lines, i),
                             tokenizer_problem());
        int32_t n = (int32_t)ids.count;
        unknown_add(&unknown.target, ids.data, ids.count, vocab_rules(run->vocab)->unk);
        int32_t *copy = ARENA_ARRAY(job->arena, int32_t, n + 1);
        if (n)
            memcpy(copy, ids.data, sizeof(int32_t) * (size_t)n);
        out->tokens[i] = (Tokens){copy, n};
        free(ids.data);
        if (n > longest)
            return job_error(
                job, "--prefix: %s has %d token%s, but the model takes %" PRId64 ": shorten it",
                lines_where(job->arena, out->lines, i), n, text_plural(n, "", "s"), longest);
    }
    corpus_tell_unknown(&job->diags, CORPUS_LINES, &unknown, texts);
    run->inference.prefixes = out->tokens;
    return true;
}

static bool has_prefixes(Job *job, const Prefixes *prefixes, const TextStream *stream)
{
    if (!prefixes->lines || stream->first + stream->n <= prefixes->lines->n)
        return true;
    return job_error(
        job, "--prefix: %s has %" PRId64 " line%s, fewer than the text: a line for each is needed",
        prefixes->lines->source->path, prefixes->lines->n,
        text_plural(prefixes->lines->n, "", "s"));
}

/* After the last window. */
static bool used_prefixes(Job *job, const Prefixes *prefixes, const TextStream *stream)
{
    if (!prefixes->lines || stream->failure || prefixes->lines->n <= stream->answered)
        return true;
    return job_error(job, "--prefix: %s has %" PRId64 " line%s, but the text %" PRId64,
                     prefixes->lines->source->path, prefixes->lines->n,
                     text_plural(prefixes->lines->n, "", "s"), stream->answered);
}

static bool answer(const Translate *o, RunFolder *run, Aligner *aligner, TextStream *stream,
                   Text *out)
{
    static const Decoded nothing;
    Arena *arena = arena_new();
    DecodeSettings settings = decoding_settings(&o->decoding, &run->inference);
    settings.n_stuck = &run->inference.n_stuck;
    Decoded *results = ARENA_ARRAY(arena, Decoded, stream->corpus->n + 1);
    bool ok = inference_decode(&run->inference, stream->corpus, &settings, o->batch_tokens, arena,
                               results) &&
              inference_check_numbers(&run->inference, stream->corpus, results);
    for (int64_t i = 0; ok && i < stream->n; i++)
        ok = print_result(o, aligner, stream, i,
                          stream->row[i] < 0 ? &nothing : &results[stream->row[i]], arena, out);
    arena_free(arena);
    return ok;
}

/* Windows are answered by one rank after the other, and written by the first. */
static bool translate_window(const Translate *o, RunFolder *run, Aligner *aligner,
                             TextStream *stream, int64_t window)
{
    Ranks *ranks = o->common.ranks;
    int me = ranks_mine(ranks), by = (int)(window % ranks_count(ranks));
    Text out = {0};
    bool ok = me != by || answer(o, run, aligner, stream, &out);
    if (ok && me == by && me)
        cli_ranks_send(ranks, out.data, out.length);
    else if (ok && me != by && !me)
        cli_ranks_receive(ranks, by, &out);
    if (ok && !me)
        stream_put(stream, out.data, out.length);
    text_free(&out);
    if (me)
        stream->answered += stream->n;
    return ok && (me || stream_flush(stream));
}

/* Whether records are translated: of a run that reads tables, unless it is given lines of text as
 * its source. */
static bool reads_records(const Translate *o, const RunFolder *run)
{
    const Inference *inference = &run->inference;
    bool reads = o->given.columns.count > 0;
    for (size_t i = 0; i < o->given.files.count; i++)
        reads = reads || table_file_is_named(o->given.files.data[i]);
    for (int c = 0; inference->encode && c < inference->ports.n_columns; c++)
        reads = reads || function_reads(inference->encode,
                                        op_string(inference->ports.columns[c], ATTR_name));
    return reads && inference->ports.is_table;
}

/* Opens a stream of the records; the predictor must outlive it. */
static bool open_records(Job *job, const Translate *o, RunFolder *run, TextList input,
                         Predictor *predictor, TextStream *stream)
{
    const int ranks = ranks_count(o->common.ranks);
    RecordFiles given = o->given;
    given.files = input;
    given.line_limit = o->common.line_limit;
    enum { RANK_RECORDS = 64 }; /* of a window, where several ranks answer windows */
    StreamOptions options = {.predictor = predictor,
                             .output = o->output,
                             .window_lines = ranks > 1 ? RANK_RECORDS : WINDOW_LINES,
                             .silent = ranks_mine(o->common.ranks) > 0};
    if (o->common.keep_going)
        return cli_refuse(job, "--keep-going passes over lines of a text, and %s reads a table",
                          run->path);
    if (!predictor_read_sources(predictor, job, run))
        return false;
    options.table = records_open(job, run, predictor, &given);
    return options.table && stream_open(stream, job, &options);
}

/* Whether --column names the source alone, as fields of pairs: *own those of this command, *all
 * with those that the run was trained with. False after an error. */
static bool check_columns(Job *job, const Translate *o, const RunFolder *run, TextList *own,
                          TextList *all)
{
    const ModelPorts *ports = &run->inference.ports;
    const TextList given = fields_given(job, run, &o->given.columns);
    if (!pair_columns_of(job, ports->source, ports->target, &o->given.columns, own) ||
        !pair_columns_of(job, ports->source, ports->target, &given, all))
        return false;
    for (size_t i = 0; i < own->count; i++)
        if (!strncmp(own->data[i], pair_sides.names[1], strlen(pair_sides.names[1])))
            return cli_refuse(job, "--column %s: a table that is translated has sources alone",
                              o->given.columns.data[i]);
    return true;
}

/* Warns where fields go by their numbers and the first line looks like a header. */
static void warn_of_header(Job *job, const TextList *input, const TableFields *fields,
                           const TextList *given)
{
    PairFields pair;
    const Source *begin =
        given->count ? NULL : pair_file_beginning(job, input->data[0], given, &pair);
    if (begin && !strcmp(fields->names[0], "1") && table_looks_headed(begin, ""))
        diag_warning(&job->diags, (Loc){.source = begin, .line = 1, .column = 1},
                     "this line is translated, too: if it is a header, --column source=FIELD reads "
                     "the field of that name");
}

/* Opens the tables whose sources are translated; *table NULL: the input is lines. False after an
 * error. `fields` must outlive the table. */
static bool open_sources(Job *job, const Translate *o, const RunFolder *run, const TextList *input,
                         TableFields *fields, TableStream **table)
{
    const TableStreamOptions options = {.line_limit = o->common.line_limit};
    TextList own, all;
    size_t tables = 0;
    *table = NULL;
    if (run->inference.ports.is_table) /* of which these are the lines of its one text */
        return true;
    if (!check_columns(job, o, run, &own, &all))
        return false;
    for (size_t i = 0; i < input->count; i++) {
        PairFields pair;
        if (!pair_file_is_table(job, input->data[i], &own, &pair))
            continue;
        if (tables++ != i)
            break;
    }
    if (tables && tables != input->count)
        return cli_refuse(job, "some files of --input are tables and some are lines: translate the "
                               "tables by themselves");
    if (!tables)
        return true;
    *fields = pair_source_fields(job, input->data[0], &all);
    warn_of_header(job, input, fields, &all);
    *table = table_stream_open(job, input, fields, &options);
    return *table != NULL;
}

static bool open_lines(Job *job, const Translate *o, RunFolder *run, TextList input,
                       TableFields *fields, TextStream *stream)
{
    const int ranks = ranks_count(o->common.ranks);
    int batches = ranks > 1 ? (WINDOW_BATCHES + 4 * ranks - 1) / (4 * ranks) : WINDOW_BATCHES;
    StreamOptions options = {.source = input,
                             .output = o->output,
                             .vocab = run->vocab,
                             .kind = CORPUS_SOURCES,
                             .max_length = inference_max_length(&run->inference),
                             .window_tokens = batches * o->batch_tokens,
                             .silent = ranks_mine(o->common.ranks) > 0,
                             .line_limit = o->common.line_limit,
                             .keep_going = o->common.keep_going};
    if (!open_sources(job, o, run, &input, fields, &options.sources))
        return false;
    for (size_t i = 0; !options.silent && !options.sources && i < input.count; i++)
        text_file_look(job, input.data[i], "the first column alone is a source: --column source=1");
    return stream_open(stream, job, &options);
}

static bool translate(Job *job, const void *record, RunFolder *run)
{
    const Translate *o = record;
    if (run->kind != CORPUS_PAIRS && !(run->columns.n && ports_predict(&run->inference.ports)))
        return job_error(job,
                         "%s: the model does not translate; tfc generate is for language models, "
                         "tfc predict for those that read tables",
                         run->path);
    int ranks = ranks_count(o->common.ranks);
    TextList input = o->given.files;
    if (!input.count)
        vec_push(job->arena, input, "-");
    bool has_stdin = false;
    for (size_t i = 0; i < input.count; i++)
        has_stdin = has_stdin || !strcmp(input.data[i], "-");
    if (ranks > 1 && has_stdin)
        return job_error(job, "standard input reaches rank 0 alone: give --input FILE");
    TextStream stream = {.job = job};
    Prefixes prefixes;
    Predictor predictor;
    TableFields fields;
    if (!read_prefixes(job, o, run, &prefixes) || !inference_prepare_decode(&run->inference))
        return false;
    Aligner aligner = {.inference = &run->inference};
    bool ok = (reads_records(o, run) ? open_records(job, o, run, input, &predictor, &stream)
                                     : open_lines(job, o, run, input, &fields, &stream)) &&
              (!o->attention || aligner_prepare(&aligner, &run->inference)) &&
              run_folder_load(job, run, o->common.checkpoint);
    cli_flush(job);
    for (int64_t window = 0; ok && stream_next(&stream); window++)
        ok = has_prefixes(job, &prefixes, &stream) &&
             translate_window(o, run, &aligner, &stream, window);
    aligner_free(&aligner);
    decoding_tell_stuck(job, run->inference.n_stuck);
    return stream_close(&stream, ok && used_prefixes(job, &prefixes, &stream));
}

static int run_translate(Job *job, void *record, const Arguments *arguments)
{
    Translate *o = record;
    decoding_note_given(&o->decoding, arguments);
    const char *mistake = decoding_mistake(job->arena, &o->decoding);
    if (mistake)
        return cli_usage_error("%s", mistake);
    int status = cli_ranks_open(job, &command_translate, o, arguments);
    if (!status)
        status = common_run(job, &o->common, arguments->words[0], translate, o);
    cli_flush(job);
    return cli_ranks_close(o->common.ranks, status);
}

static const Option options[] = {
    {"input", "FILE", FIELD(Translate, given.files), 0, NULL,
     "text to translate, one sentence a line (standard input); or " TABLE_HELP "; "
     "of a model of pairs --column, or a header with source, names the field"},
    OPTION_COLUMN(Translate, given.columns),
    {"output", "FILE", OUTPUT(Translate, output), 0, NULL, "where to write (standard output)"},
#define RECORD Translate
#define SEARCH DECODING_OPTION
#define LIST DECODING_OPTION
#define LONGEST DECODING_OPTION
#define CONTINUE(...)
#include "runtime/decode/settings.def"
    {"prefix", "FILE", FIELD(Translate, prefix), 0, NULL,
     "beginnings of the results, a line for each line of the text"},
#define ANY DECODING_OPTION
#include "runtime/decode/settings.def"
    {"batch-tokens", "N", FIELD(Translate, batch_tokens), 1, "1024", "source tokens of a batch"},
    OPTION_KEEP_GOING(Translate),
    OPTION_LINE_LIMIT(Translate),
    OPTION_PRODUCTS(Translate),
    OPTION_THREADS(Translate),
    OPTION_WORKERS(Translate),
    OPTION_SHORTLIST(Translate),
    OPTION_RANK_TIMEOUT(Translate),
    OPTION_GEMM(Translate),
    OPTION_CPU(Translate),
    OPTION_PASSES(Translate),
    OPTION_CHECKPOINT(Translate),
    OPTION_WEIGHTS(Translate),
    OPTION_VOCAB(Translate),
    OPTION_SOURCE_VOCAB(Translate),
    OPTION_TOKEN(Translate, common.vocab.tokens),
    OPTION_SET(Translate),
    OPTION_WITH(Translate),
    {"json", NULL, FIELD(Translate, json), 0, NULL,
     "print a JSON object for each result: line, text, score, log_probability"},
    {"token-scores", NULL, FIELD(Translate, token_scores), 0, NULL,
     "as --json, with tokens: [TOKEN, LOG-PROBABILITY] each, the end among them"},
    OPTION_ATTENTION(Translate),
    OPTION_TRACE(Translate),
    OPTION_ALLOW_OUTSIDE(Translate),
};

const Command command_translate = {
    .name = "translate",
    .summary = "translate text with a trained run",
    .arguments = "RUN|MODEL.tfg",
    .min_arguments = 1,
    .max_arguments = 1,
    .joins_ranks = true,
    .text =
        "Translates text with a trained run: one line out for each line in, in order. Results do "
        "not depend on the size of batches. Lines are answered while text is read: a line written "
        "into a pipe at once, a long text in windows of many lines. A line that is not valid "
        "UTF-8 or too long for the model is an error, after the answers to the lines before it, "
        "unless --keep-going is given. Several results of a line are a line each: NUMBER ||| TEXT "
        "||| SCORE.",
    COMMAND_OPTIONS(Translate, options),
    .run = run_translate,
};
