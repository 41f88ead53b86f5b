/* tfc prepare: texts as shards of ids, for tfc train --prepared. */
#define _GNU_SOURCE
#include "base/printing.h"
#include "base/team.h"
#include "cli/commands/commands.h"
#include "driver/corpus/prepare.h"
#include "driver/corpus/table_stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static const unsigned kinds = TEXTS_PAIRS | TEXTS_DATA | TEXTS_TEXT;

typedef struct Prepare {
    Common common;
    PrepareOptions o;
    TextList columns; /* "INPUT=FIELD" */
} Prepare;

/* What contradicts itself before any file is read; 0 if nothing does. */
static int check_usage(Job *job, const Prepare *command, const char *model)
{
    const PrepareOptions *o = &command->o;
    const TextFiles *texts = &o->texts;
    bool has_text = texts->text.count > 0, pairs = !has_text;
    const char *mistake = text_files_mistake(job->arena, texts, "", kinds);
    if (!o->folder)
        return cli_usage_error("-o FOLDER is needed; see tfc prepare --help");
    if (model && (!texts->data.count || o->lines || o->languages))
        return cli_usage_error("%s",
                               o->lines || o->languages
                                   ? "--lines and --languages are not for tables: leave them out"
                                   : "a table is needed: --data FILE");
    if (!model && o->settings.count)
        return cli_usage_error("--set is for a model that reads a table: tfc prepare MODEL.tfg");
    if (!model && !o->vocab.spec)
        return cli_usage_error(VOCAB_IS_MISSING);
    if (!text_files_given(texts))
        return cli_usage_error("texts are needed: %s of a language model",
                               text_files_options(job->arena, "", kinds));
    if (o->vocab.normalize && !vocabulary_normalization(&o->vocab, false))
        return cli_usage_error(NORMALIZE_IN_VAIN);
    if (!mistake)
        mistake = text_files_in_vain(job->arena, texts, o->lines, o->languages, NULL, NULL);
    if (!mistake)
        mistake = text_files_columns_mistake(job->arena, texts, NULL, NULL);
    if (mistake)
        return cli_usage_error("%s", mistake);
    if (o->vocab.source && !pairs)
        return cli_usage_error(SOURCE_VOCAB_IN_VAIN);
    if (o->max_length && has_text && !o->lines)
        return cli_usage_error("a stream has no rows that could be too long: --max-length of tfc "
                               "train is its window");
    return 0;
}

/* `why`: behind "left out". */
static void tell_left_out(Job *job, const Prepared *p, int64_t n, const char *why)
{
    if (n)
        diag_warning(&job->diags, (Loc){0}, "%s: %" PRId64 " of %" PRId64 " %s%s left out %s",
                     p->folder, n, p->lines, prepared_is_table(p) ? "record" : "line",
                     text_plural(p->lines, "", "s"), why);
}

static void tell(Job *job, const PrepareResult *result)
{
    const Prepared *p = &result->prepared;
    int64_t n = (int64_t)p->shards.count;
    const bool is_table = prepared_is_table(p);
    const char *line = is_table ? "record" : "line";
    fprintf(stderr, "%s: ", p->folder);
    if (p->kind != CORPUS_STREAM)
        fprintf(stderr, "%" PRId64 " %s%s of ", p->rows,
                p->kind == CORPUS_PAIRS && !is_table ? "pair" : line,
                text_plural(p->rows, "", "s"));
    fprintf(stderr, "%" PRId64 " %s%s, ", p->lines, line, text_plural(p->lines, "", "s"));
    if (p->kind == CORPUS_PAIRS)
        fprintf(stderr, "%" PRId64 " + ", p->source.tokens);
    if (p->kind != CORPUS_RECORDS)
        fprintf(stderr, "%" PRId64 " token%s, ", p->target.tokens,
                text_plural(p->target.tokens, "", "s"));
    if (is_table)
        fprintf(stderr, "%zu column%s, ", p->columns.count,
                text_plural((int64_t)p->columns.count, "", "s"));
    fprintf(stderr, "%" PRId64 " shard%s", n, text_plural(n, "", "s"));
    if (result->kept)
        fprintf(stderr, " (%" PRId64 " %s there)", result->kept,
                text_plural(result->kept, "was", "were"));
    fputc('\n', stderr);
    tell_left_out(job, p, p->empty,
                  prepared_is_table(p)      ? "for an empty text"
                  : p->kind == CORPUS_PAIRS ? "for an empty side"
                                            : "that are empty");
    tell_left_out(job, p, p->long_,
                  !p->max_length
                      ? "whose texts, joined, are longer than the model's positions"
                      : arena_printf(job->arena,
                                     "that are longer than %" PRId64 " tokens (--max-length)",
                                     p->max_length));
}

static void show_progress(int64_t done, int64_t shards)
{
    char line[64];
    snprintf(line, sizeof line, "%" PRId64 " of %" PRId64 " shards", done, shards);
    printing_status(done < shards ? line : "");
}

static int run_prepare(Job *job, void *record, const Arguments *arguments)
{
    Prepare *command = record;
    PrepareOptions *o = &command->o;
    PrepareResult result;
    PrepareModel model;
    const char *path = arguments->count ? arguments->words[0] : NULL;
    if (!path && !pair_columns_of(job, NULL, NULL, &command->columns, &o->texts.columns))
        return cli_finish(job, false);
    int status = check_usage(job, command, path);
    if (status)
        return status;
    if (!path)
        text_files_look(job, &o->texts, "", kinds);
    o->line_limit = command->common.line_limit;
    o->threads = command->common.threads ? (int)command->common.threads : team_default();
    o->progress = isatty(STDERR_FILENO) ? show_progress : NULL;
    bool ok = !path || (prepare_model_open(job, path, &command->columns, &o->settings, &model) &&
                        table_fields_expand(job, &o->texts.data, o->line_limit, &model.fields) &&
                        common_check_vocabulary(job, path, model.has_text, false, &o->vocab));
    o->table = path ? &model : NULL;
    ok = ok && prepare(job, o, &result);
    status = cli_finish(job, ok);
    if (ok)
        tell(job, &result);
    return status;
}

static const Option options[] = {
    {"source", "FILE", FIELD(Prepare, o.texts.source), 0, NULL, "source text, one sentence a line"},
    {"target", "FILE", FIELD(Prepare, o.texts.target), 0, NULL,
     "target text, with as many lines as the source; one for each --source"},
    {"data", "FILE", FIELD(Prepare, o.texts.data), 0, NULL,
     "pairs " PAIRS_HELP ", "
     "which is read whole into memory; with MODEL.tfg " TABLE_HELP},
    OPTION_COLUMN(Prepare, columns),
    {"languages", "A,B", FIELD(Prepare, o.languages), 0, NULL,
     "languages of sources and targets in translation memories, such as en,de"},
    {"text", "FILE", FIELD(Prepare, o.texts.text), 0, NULL, "text of a model with one input"},
    {"lines", NULL, FIELD(Prepare, o.lines), 0, NULL,
     "take each line of --text as a text of its own; otherwise the text is one stream"},
    {"vocab", "V", FIELD(Prepare, o.vocab.spec), 0, NULL,
     "a SentencePiece model, tokenizer.json, words:FILE or the folder of a run; or auto:N, "
     "words:auto or chars:auto, made from at most a million lines of the texts"},
    {"source-vocab", "V", FIELD(Prepare, o.vocab.source), 0, NULL,
     "vocabulary of the sources (that of --vocab)"},
    OPTION_NORMALIZE(Prepare, o.vocab.normalize),
    OPTION_TOKEN(Prepare, o.vocab.tokens),
    {"max-length", "N", FIELD(Prepare, o.max_length), 1, NULL,
     "leave out lines, or pairs with a side, of more than N tokens"},
    OPTION_LINE_LIMIT(Prepare),
    {"rows-per-shard", "N", FIELD(Prepare, o.rows_per_shard), 1, NULL,
     "lines that each file of ids is made from (as many as have 8 MiB)"},
    {"window-rows", "N", FIELD(Prepare, o.window_rows), 1, "1048576",
     "most rows that a training has in memory, and draws its batches from, at a time"},
    {"set", "NAME=VALUE", FIELD(Prepare, o.settings), 0, NULL,
     "give a constant of MODEL.tfg another value, as the training will"},
    OPTION_THREADS(Prepare),
    {"output", "FOLDER", FIELD(Prepare, o.folder), 0, NULL, "folder to make, or to complete"},
    OPTION_ALLOW_OUTSIDE(Prepare),
};

const Command command_prepare = {
    .name = "prepare",
    .summary = "make shards of ids from texts, for tfc train --prepared",
    .arguments = "[MODEL.tfg] -o FOLDER",
    .max_arguments = 1,
    .text =
        "Turns texts into files of ids, for trainings whose data is larger than memory; with "
        "MODEL.tfg, the table that feeds this model. If it is killed and called again, it keeps "
        "the files that are complete and makes the others. The result is the same for any number "
        "of threads.",
    COMMAND_OPTIONS(Prepare, options),
    .run = run_prepare,
};
