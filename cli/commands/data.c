/* tfc data: looks at a corpus before it is trained on. */
#include "base/file.h"
#include "cli/commands/commands.h"
#include "cli/report/survey_print.h"
#include "driver/run/record.h"
#include "runtime/data/prepared.h"
#include "runtime/data/tmx.h"

#include <stdio.h>
#include <string.h>

static const unsigned kinds = TEXTS_PAIRS | TEXTS_DATA | TEXTS_TEXT;

typedef struct Data {
    Common common;
    SurveyOptions o;
    TextFiles valid;            /* of --valid-source and so on */
    TextList named;             /* --valid */
    const char *model;          /* whose inputs the table feeds; NULL: texts */
    TextList columns, settings; /* --column, --set */
    bool json;
} Data;

/* MODEL.tfg and the FILE of its table, if that is no option; 0, or a usage error. */
static int take_model(Job *job, Data *command, const Arguments *arguments)
{
    TextFiles *train = &command->o.train.files;
    command->model = arguments->words[0];
    if (arguments->count > 1)
        vec_push(job->arena, train->data, arguments->words[1]);
    if (!train->data.count)
        return cli_usage_error("%s reads a table: give its FILE, too", command->model);
    return 0;
}

/* FILE of a text, FILE.tsv or FILE.tmx, or SOURCE and TARGET; 0, or a usage error. */
static int take_files(Job *job, Data *command, const Arguments *arguments)
{
    TextFiles *train = &command->o.train.files;
    if (!arguments->count)
        return 0;
    if (text_ends(arguments->words[0], ".tfg"))
        return take_model(job, command, arguments);
    if (text_files_given(train))
        return cli_usage_error("FILES are in place of --source and --target, --data and --text");
    for (int i = 0; i < arguments->count; i++)
        if (is_run_folder(arguments->words[i]) || is_prepared(arguments->words[i]))
            return cli_usage_error("%s is no text: tfc info %s shows what it holds",
                                   arguments->words[i], arguments->words[i]);
        else if (file_is_folder(arguments->words[i]))
            return cli_usage_error(
                "%s is a folder: give the file of a text, as tfc data FILE, or of two, as tfc data SOURCE "
                "TARGET",
                arguments->words[i]);
    const char *first = arguments->words[0];
    const bool pairs = table_file_is_named(first) || tmx_is_name(first);
    TextList *list = arguments->count == 2 ? &train->source : pairs ? &train->data : &train->text;
    vec_push(job->arena, *list, first);
    if (arguments->count == 2)
        vec_push(job->arena, train->target, arguments->words[1]);
    return 0;
}

static int check_usage(Job *job, const Data *command)
{
    const SurveyOptions *o = &command->o;
    const TextFiles *train = &o->train.files, *valid = &command->valid;
    if (!text_files_given(train))
        return cli_usage_error("a text is needed: FILE, or SOURCE and TARGET, or %s",
                               text_files_options(job->arena, "", kinds));
    const char *mistake = text_files_mistake(job->arena, train, "", kinds);
    if (!mistake)
        mistake = text_files_mistake(job->arena, valid, "valid-", kinds);
    if (!mistake)
        mistake =
            text_files_in_vain(job->arena, train, o->lines, o->languages, valid, &command->named);
    if (mistake)
        return cli_usage_error("%s", mistake);
    if (train->text.count ? valid->source.count || valid->data.count : valid->text.count)
        return cli_usage_error(
            "the text to compare with is of another kind: pairs are compared with pairs, and a text with a text");
    if (!o->vocab.spec && (o->vocab.source || o->vocab.tokens.count || o->max_length))
        return cli_usage_error("%s is for tokens: --vocab is needed, too",
                               o->max_length     ? "--max-length"
                               : o->vocab.source ? "--source-vocab"
                                                 : "--token");
    if (o->vocab.source && train->text.count)
        return cli_usage_error(SOURCE_VOCAB_IN_VAIN);
    if (!mistake && !command->model)
        mistake = text_files_columns_mistake(job->arena, train, valid, &command->named);
    if (mistake)
        return cli_usage_error("%s", mistake);
    if (!command->model && command->settings.count)
        return cli_usage_error("--set is for a model that reads a table: tfc data MODEL.tfg FILE");
    if (command->model && (train->source.count || train->text.count || valid->source.count ||
                           valid->text.count || o->languages))
        return cli_usage_error("%s reads a table: --data, --valid-data and --valid name tables",
                               command->model);
    return 0;
}

/* Which fields of pairs are read. False after an error. */
static bool take_columns(Job *job, Data *command)
{
    TextFiles *train = &command->o.train.files;
    if (!command->model && !pair_columns_of(job, NULL, NULL, &command->columns, &train->columns))
        return false;
    command->valid.columns = train->columns;
    return true;
}

/* The texts to compare with, as tfc train has them. */
static int take_valid(Job *job, Data *command)
{
    SurveyOptions *o = &command->o;
    if (text_files_given(&command->valid))
        vec_push(job->arena, o->valid, (SurveyText){.files = command->valid});
    for (size_t i = 0; i < command->named.count; i++) {
        const char *given = command->named.data[i], *equals = strchr(given, '=');
        if (!equals || equals == given || !equals[1])
            return cli_usage_error("--valid %s: expected NAME=FILE", given);
        SurveyText text = {.name = arena_strndup(job->arena, given, (size_t)(equals - given)),
                           .files.columns = command->valid.columns};
        vec_push(job->arena, *(o->train.files.text.count ? &text.files.text : &text.files.data),
                 equals + 1);
        vec_push(job->arena, o->valid, text);
    }
    return 0;
}

static bool survey_data(Job *job, const Data *command, Text *out)
{
    PrepareModel model;
    Survey result;
    bool ok = !command->model || prepare_model_open(job, command->model, &command->columns,
                                                    &command->settings, &model);
    if (!command->model) {
        text_files_look(job, &command->o.train.files, "", kinds);
        text_files_look(job, &command->valid, "valid-", kinds);
    }
    ok = ok && survey(job, &command->o, command->model ? &model : NULL, &result);
    cli_flush(job);
    if (ok)
        (command->json ? survey_print_json : survey_print)(&result, out);
    return ok;
}

static int run_data(Job *job, void *record, const Arguments *arguments)
{
    Data *command = record;
    int status = take_files(job, command, arguments);
    if (!status && !take_columns(job, command))
        return cli_finish(job, false);
    if (!status)
        status = check_usage(job, command);
    if (!status)
        status = take_valid(job, command);
    if (status)
        return status;
    command->o.line_limit = command->common.line_limit;
    Text out = {0};
    const bool ok = survey_data(job, command, &out);
    if (ok)
        fwrite(out.data, 1, out.length, stdout);
    text_free(&out);
    return cli_finish(job, ok);
}

static const Option options[] = {
    {"source", "FILE", FIELD(Data, o.train.files.source), 0, NULL,
     "source text, one sentence a line"},
    {"target", "FILE", FIELD(Data, o.train.files.target), 0, NULL,
     "target text, with as many lines as the source"},
    {"data", "FILE", FIELD(Data, o.train.files.data), 0, NULL,
     "pairs " PAIRS_HELP "; "
     "with MODEL.tfg a table"},
    OPTION_COLUMN(Data, columns),
    {"languages", "A,B", FIELD(Data, o.languages), 0, NULL,
     "languages of sources and targets in translation memories, such as en,de"},
    {"text", "FILE", FIELD(Data, o.train.files.text), 0, NULL, "text of a model with one input"},
    {"lines", NULL, FIELD(Data, o.lines), 0, NULL,
     "take each line of --text as a text of its own: empty lines and duplicates are faults"},
    {"valid-source", "FILE", FIELD(Data, valid.source), 0, NULL,
     "sources for validation or test, which should not be in the training text"},
    {"valid-target", "FILE", FIELD(Data, valid.target), 0, NULL,
     "targets for validation or test, with as many lines as --valid-source"},
    {"valid-data", "FILE", FIELD(Data, valid.data), 0, NULL,
     "pairs for validation or test in one file, as for --data"},
    {"valid-text", "FILE", FIELD(Data, valid.text), 0, NULL,
     "text for validation or test, of a model with one input"},
    {"valid", "NAME=FILE", FIELD(Data, named), 0, NULL,
     "another text for validation or test, under a name: pairs as for --data; with --text a text"},
    {"vocab", "V", FIELD(Data, o.vocab.spec), 0, NULL,
     "also count tokens, by a SentencePiece model, tokenizer.json, words:FILE or a run's folder"},
    {"source-vocab", "V", FIELD(Data, o.vocab.source), 0, NULL,
     "vocabulary of the sources (that of --vocab)"},
    OPTION_TOKEN(Data, o.vocab.tokens),
    {"max-length", "N", FIELD(Data, o.max_length), 1, NULL,
     "report lines or pairs with a side of more than N tokens"},
    OPTION_LINE_LIMIT(Data),
    {"examples", "N", FIELD(Data, o.examples), 0, "3", "most lines to show of each finding"},
    {"set", "NAME=VALUE", FIELD(Data, settings), 0, NULL,
     "give a constant of MODEL.tfg another value, as the training will"},
    {"json", NULL, FIELD(Data, json), 0, NULL, "print the findings as JSON"},
    OPTION_ALLOW_OUTSIDE(Data),
};

const Command command_data = {
    .name = "data",
    .summary = "look at a corpus before training: lengths, faults, overlap with tests",
    .arguments = "[TEXT | FILE.tsv | SOURCE TARGET | MODEL.tfg TABLE]",
    .text =
        "Prints statistics of a corpus, and the lines that a training should not learn: bytes "
        "that are not UTF-8, text that was decoded wrongly, duplicates, copies, swapped sides, "
        "sides that do not fit each other, lines of the validation text and more. Of the table "
        "that feeds a model it prints what each column holds, and the records that are repeated, "
        "left out or refused. The exit status is 0 whatever was found.",
    .max_arguments = 2,
    COMMAND_OPTIONS(Data, options),
    .run = run_data,
};
