/* tfc import: a published model's folder as the folder of a run. */
#include "cli/commands/commands.h"
#include "driver/exchange/import.h"

typedef struct Import {
    Common common;
    const char *out;
    bool copy;
} Import;

static int run_import(Job *job, void *record, const Arguments *arguments)
{
    const Import *o = record;
    if (!o->out)
        return cli_usage_error("-o RUN is needed; see tfc import --help");
    ImportOptions options = {.folder = arguments->words[0], .run = o->out, .copy = o->copy};
    vec_push(job->arena, options.command, "tfc");
    for (int i = 0; i < arguments->argc; i++)
        vec_push(job->arena, options.command, arguments->argv[i]);
    return cli_finish(job, import_folder(job, &options));
}

static const Option options[] = {
    {"-o", "RUN", FIELD(Import, out), 0, NULL, "folder to make"},
    {"copy", NULL, FIELD(Import, copy), 0, NULL,
     "copy the weights into RUN (RUN has a link to their folder; Marian's are always converted)"},
};

const Command command_import = {
    .name = "import",
    .summary = "make the folder of a run from a published model",
    .arguments = "FOLDER -o RUN",
    .min_arguments = 1,
    .max_arguments = 1,
    .text =
        "Reads a published folder: config.json, tokenizer and safetensors as Hugging Face has\n"
        "them (docs/published.md lists the families), sentence-transformers' modules.json, or\n"
        "Marian's own files: model.npz, its vocabulary, source.spm, target.spm. Writes RUN: the\n"
        "model in a few lines, its vocabulary, and its weights or a link to them. Commands that\n"
        "take a run take RUN: translate, generate, predict, score, eval, train RUN --out NEW,\n"
        "compile, export.",
    COMMAND_OPTIONS(Import, options),
    .run = run_import,
};
