/* Common: the options that several commands have, and the work that they need before a command does
 * its own. The record of every command has a Common; the command's table has a row for each of
 * these options that it takes. */
#ifndef CLI_OPTIONS_COMMON_H
#define CLI_OPTIONS_COMMON_H

#include "cli/options/options.h"
#include "driver/corpus/text_files.h"
#include "driver/run/folder.h"
#include "driver/run/model_argument.h"
#include "runtime/ranks/ranks.h"

typedef struct Common {
    const char *gemm, *cpu, *fma, *passes;
    const char *level, *dtype; /* NULL: the command has no such option */
    const char *checkpoint, *trace;
    const char *special; /* NULL: "read" */
    const char *weights;
    VocabularyChoice vocab;
    ShortlistChoice shortlist;
    TextList with;
    int64_t threads;      /* 0: all processors */
    int64_t workers;      /* 0: measured (runtime/decode/workers.h) */
    int64_t rank_timeout; /* seconds (cli/ranks.h) */
    int64_t memory;       /* bytes; 0: no limit */
    int64_t line_limit;   /* bytes; 0: LINE_LIMIT */
    bool keep_going, allow_outside;
    TextList settings; /* "NAME=VALUE" */
    Ranks *ranks;      /* that run the command together; NULL: one process (cli/ranks.h) */
} Common;

/* clang-format off */
#define OPTION_GEMM(record)                                                                        \
    {"gemm", "blas|native|auto", FIELD(record, common.gemm), 0, NULL,                              \
     "compute products by OpenBLAS, by native kernels (the default on processors with fused "      \
     "multiply-add), or (auto) in training by the faster of both for each shape, otherwise by "    \
     "native kernels"}

#define OPTION_CPU(record)                                                                         \
    {"cpu", "NAME", MACHINE(record, common.cpu), 0, NULL,                                          \
     "generate code for the processor NAME, such as x86-64-v3 (this machine); those with fused "     \
     "multiply-add, from x86-64-v3 on, compute the same bits"}

#define OPTION_FMA(record)                                                                         \
    {"fma", "native|emulate", MACHINE(record, common.fma), 0, "native",                            \
     "on processors without fused multiply-add: round products and sums one by one, which gives "  \
     "bits of their own, or emulate it, slowly, for the bits of all others"}

#define OPTION_PASSES(record)                                                                      \
    {"passes", "LIST", FIELD(record, common.passes), 0, NULL,                                      \
     "run only these passes; -NAME,-NAME,…: all but these (tfc opt --list names them)"}

#define OPTION_LEVEL(record)                                                                       \
    {"-O", "0|2", FIELD(record, common.level), 0, "2", "level of optimisation"}

#define OPTION_DTYPE(record)                                                                       \
    {"dtype", "f32|bf16|" QUANT_WORDS "|f64", FIELD(record, common.dtype), 0, NULL,                \
     "type of all floats; bf16 and integers (int8 …): of products alone, other floats are f32 "    \
     "(f32; of a quantized run its own)"}

/* For commands that train; for those that do not. */
#define OPTION_TRAIN_PRODUCTS(record)                                                              \
    {"dtype", "f32|bf16", FIELD(record, common.dtype), 0, "f32",                                   \
     "type of the matrix products; params stay f32"}

#define OPTION_PRODUCTS(record)                                                                    \
    {"dtype", "f32|bf16|" QUANT_WORDS, FIELD(record, common.dtype), 0, NULL,                       \
     "type of the matrix products: int8, int4, q8_0 and q4_1 round rows and weights to "           \
     "integers (f32; of a quantized run its own)"}

#define OPTION_CHECKPOINT(record)                                                                  \
    {"checkpoint", "FILE", FIELD(record, common.checkpoint), 0, NULL,                              \
     "params from this file, of RUN or elsewhere (those that tfc info RUN names)"}

/* For commands that take a model's file in place of a run. */
#define OPTION_WEIGHTS(record)                                                                     \
    {"weights", "FILE", FIELD(record, common.weights), 0, NULL,                                    \
     "params from this safetensors file, index of shards or folder, by the model's weights block"}

#define OPTION_VOCAB(record)                                                                       \
    {"vocab", "FILE", FIELD(record, common.vocab.spec), 0, NULL,                                   \
     "vocabulary of MODEL.tfg: a SentencePiece model, a tokenizer.json, words:FILE (a list of "    \
     "words), or a folder with such files"}

#define NORMALIZE_IN_VAIN \
    "--normalize is for --vocab auto:N: a vocabulary that is there has its own way"
#define SOURCE_VOCAB_IN_VAIN "--source-vocab is for pairs: leave it out"
#define VOCAB_IS_MISSING                                                                           \
    "--vocab is missing: auto:8000 (subwords learned from your texts), words:auto (their words), " \
    "chars:auto (their characters), words:FILE (a list of words), or FILE (a SentencePiece model or tokenizer.json)"

#define OPTION_SOURCE_VOCAB(record)                                                                \
    {"source-vocab", "FILE", FIELD(record, common.vocab.source), 0, NULL,                          \
     "vocabulary of MODEL.tfg's sources (that of --vocab)"}

#define OPTION_TOKEN(record, tokens)                                                               \
    {"token", "NAME=TOKEN", FIELD(record, tokens), 0, NULL,                                        \
     "use TOKEN of the vocabulary (#N: by its number; none) as NAME: begin, first or end (of "     \
     "targets), source-begin, source-end, pad, unk or mask, such as begin='<pad>'; of a "          \
     "language model's texts also text-begin, text-end and newline; and one or more stop, which "  \
     "end what is generated"}

#define OPTION_SPECIAL(record)                                                                     \
    {"special", "read|text", FIELD(record, common.special), 0, "read",                             \
     "read: take special tokens that a text names, such as </s>, as such, if the vocabulary is "   \
     "a tokenizer.json; text: take them as any other text"}

#define OPTION_NORMALIZE(record, field)                                                            \
    {"normalize", "nfkc|none", FIELD(record, field), 0, NULL,                                      \
     "normalize texts for auto:N by NFKC, with one blank for tabs and runs of blanks (nfkc, the "  \
     "default for pairs), or not (none, the default for --text)"}

#define OPTION_WITH(record)                                                                        \
    {"with", "RUN", FIELD(record, common.with), 0, NULL,                                           \
     "add this run to an ensemble: probabilities are the mean of those of all its runs"}

#define OPTION_TRACE(record)                                                                       \
    {"trace", "FILE", OUTPUT(record, common.trace), 0, NULL,                                       \
     "write a timeline of every kernel, for ui.perfetto.dev or chrome://tracing"}

#define OPTION_THREADS(record)                                                                     \
    {"threads", "N", MACHINE(record, common.threads), 1, NULL, "threads (all processors)"}

#define OPTION_WORKERS(record)                                                                     \
    {"workers", "N", MACHINE(record, common.workers), 1, NULL,                                     \
     "batches decoded at the same time, which share --threads (measured on long texts)"}

#define OPTION_SHORTLIST(record)                                                                   \
    {"shortlist", "FILE", FIELD(record, common.shortlist.path), 0, NULL,                           \
     "choose only among tokens that this lexical table (tfc align --shortlist) has for those of "  \
     "the source, those of the source if both sides have one vocabulary, and the first tokens"},   \
    {"shortlist-size", "N", FIELD(record, common.shortlist.size), 1, "100",                        \
     "with --shortlist: how many tokens for each token of the source, and how many first tokens"}

#define LEAST_MEMORY 1000 /* less is a number without its unit */
#define OPTION_MEMORY(record)                                                                      \
    {"memory", "SIZE", MACHINE(record, common.memory), LEAST_MEMORY, NULL,                         \
     "memory for params and values, such as 800M or 1.5G: values that do not fit are recomputed"}

/* Of help: files of tables, by their endings; files of pairs, behind "pairs" (pair_files.h). */
#define TABLE_HELP                                                                                 \
    "a table (by its ending:" TABLE_ENDINGS_TEXT ", also "                                         \
    "with .gz, .xz or .zst behind it; or .safetensors)"
#define PAIRS_TABLE_HELP                                                                           \
    "in one file: lines of source, tab, target; or a table (by its ending:" TABLE_ENDINGS_TEXT ") " \
    "with two fields that a header calls source and target, or that --column names"
#define PAIRS_HELP PAIRS_TABLE_HELP "; or a translation memory, FILE.tmx"

#define OPTION_COLUMN(record, member)                                                              \
    {"column", "INPUT=FIELD", FIELD(record, member), 0, NULL,                                      \
     "of a table: the field, or its number, that feeds an input of the model; of pairs the one "   \
     "that is source or target"}

#define OPTION_LINE_LIMIT(record)                                                                  \
    {"line-limit", "SIZE", FIELD(record, common.line_limit), 1, NULL,                              \
     "longest line that is read, in bytes (1M; of a table, record: 16M)"}

#define OPTION_KEEP_GOING(record)                                                                  \
    {"keep-going", NULL, FIELD(record, common.keep_going), 0, NULL,                                \
     "pass over lines that cannot be read or are too long: warn, and answer by an empty line"}

#define OPTION_SET(record)                                                                         \
    {"set", "NAME=VALUE", FIELD(record, common.settings), 0, NULL,                                 \
     "set a const of the model, such as layers=3"}

#define OPTION_ALLOW_OUTSIDE(record)                                                               \
    {"allow-outside", NULL, CALL(record, common.allow_outside), 0, NULL,                           \
     "also read files that a run, a published folder or an index of shards names outside its "     \
     "own folder, or by links that lead out of it; otherwise they are refused"}
/* clang-format on */

/* The run or model at `path`, opened as these options say. */
RunSource common_source(const Common *common, const char *path);
/* Calls options_parse, then sets the number of threads and the job's options from --threads,
 * --gemm, --cpu and --passes. False: as options_parse, or --shortlist-size without --shortlist. */
bool common_parse(Job *job, const Command *command, int argc, char **argv, void *record,
                  Arguments *arguments, int *status);

/* Reads a MODEL argument (model_argument.h), with --set, -O and --dtype; false after an error. */
bool common_model(Job *job, const Common *common, const char *path, ModelArgument *model);

/* Whether texts of the kind that the run reads are given: pairs, or lines; `kinds`: which texts the
 * command takes. `columns`: of --column, which texts->columns become of those that the run was
 * trained with, and of these. False after a usage error. */
bool common_check_texts(Job *job, const RunFolder *run, TextFiles *texts, unsigned kinds,
                        const TextList *columns);

/* Whether a vocabulary is chosen if and only if a model fed by columns has text among them.
 * `is_there`: prepared data has one in any case. False after an error. */
bool common_check_vocabulary(Job *job, const char *model, bool has_text, bool is_there,
                             const VocabularyChoice *choice);

/* The fields that feed a run's inputs: those that it was trained with, then those of --column. */
TextList fields_given(Job *job, const RunFolder *run, const TextList *columns);

/* What a command does with a run, whose model and vocabulary are loaded; false after errors. */
typedef bool RunUse(Job *job, const void *record, RunFolder *run);
/* Opens the run, calls `use` under --trace, and closes it; returns an exit status. */
int common_run(Job *job, const Common *common, const char *path, RunUse *use, const void *record);

#endif
