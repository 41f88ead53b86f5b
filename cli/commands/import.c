/* tfc import: a published model's folder as the folder of a run. */
#include "cli/commands/commands.h"
#include "driver/exchange/import.h"

typedef struct Import {
    Common common;
    const char *out, *config;
    TextList tokens;
    bool copy, pairs;
} Import;

static int run_import(Job *job, void *record, const Arguments *arguments)
{
    const Import *o = record;
    if (!o->out)
        return cli_usage_error("-o RUN is needed; see tfc import --help");
    ImportOptions options = {.source = arguments->words[0],
                             .config = o->config,
                             .run = o->out,
                             .tokens = o->tokens,
                             .pairs = o->pairs,
                             .copy = o->copy};
    vec_push(job->arena, options.command, "tfc");
    for (int i = 0; i < arguments->argc; i++)
        vec_push(job->arena, options.command, arguments->argv[i]);
    return cli_finish(job, import_model_of(job, &options));
}

static const Option options[] = {
    {"output", "RUN", FIELD(Import, out), 0, NULL, "folder to make"},
    {"copy", NULL, FIELD(Import, copy), 0, NULL,
     "copy the weights into RUN (RUN has a link to them; Marian's are always converted)"},
    {"pairs", NULL, FIELD(Import, pairs), 0, NULL,
     "of a classifier or reranker: it reads two texts together (what a folder's config.json says)"},
    {"config", "PATH", FIELD(Import, config), 0, NULL,
     "for a file of weights: the folder with its config.json and tokenizer, or a config.json with "
     "the tokenizer beside it (the file's own folder, or what a GGUF says)"},
    OPTION_TOKEN(Import, tokens),
    OPTION_ALLOW_OUTSIDE(Import),
};

const Command command_import = {
    .name = "import",
    .summary = "make the folder of a run from a published model",
    .arguments = "FOLDER|FILE -o RUN",
    .min_arguments = 1,
    .max_arguments = 1,
    .text =
        "Reads a published folder: config.json, tokenizer and weights as Hugging Face has them "
        "(docs/published.md lists the families), sentence-transformers' modules.json, or "
        "Marian's own files: model.npz, its vocabulary, source.spm, target.spm. Writes RUN: the "
        "model in a few lines, its vocabulary, and its weights or a link to them. Commands that "
        "take a run take RUN: translate, generate, predict, score, eval, train RUN -o NEW, "
        "compile, export.",
    COMMAND_OPTIONS(Import, options),
    .run = run_import,
};
