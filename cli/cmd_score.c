/* tfc score: how probable given targets are. */
#include "cli/run_folder.h"

#include <stdio.h>

enum { SCORE_TOKENS = 2048 };

static bool score(Cli *cli, RunFolder *run, const char *source, const char *target,
                  const char *text, const char *checkpoint)
{
    bool pairs = run->kind == CORPUS_PAIRS;
    if (!run->inference.ports.logits || !run->inference.ports.next)
        return cli_error(cli, "%s: the model gives no probabilities of next tokens", run->path);
    if (pairs ? !source || !target : !text)
        return cli_error(cli, "%s: %s needed", run->path,
                         pairs ? "--source and --target are"
                               : "the model reads one text: --text is");
    CorpusOptions options = {.kind = pairs ? CORPUS_PAIRS : CORPUS_LINES,
                             .keep_all = true,
                             .max_length = inference_max_length(&run->inference)};
    Corpus *corpus = corpus_read(&cli->diags, run->vocab, &options, pairs ? source : text,
                                 pairs ? target : NULL);
    if (!corpus)
        return false;
    bool ok = inference_prepare_score(&run->inference) && run_folder_load(cli, run, checkpoint);
    cli_flush(cli);
    double *each = ARENA_ARRAY(cli->arena, double, corpus->n + 1);
    Scores scores;
    if (ok && !score_corpus(&run->inference.score, corpus, SCORE_TOKENS, each, &scores))
        ok = cli_error(cli, "out of memory");
    for (int64_t i = 0; ok && i < corpus->n; i++)
        printf("%.6f\n", each[i]);
    corpus_free(corpus);
    return ok;
}

int command_score(Cli *cli, int argc, char **argv)
{
    const char *source = NULL, *target = NULL, *text = NULL, *checkpoint = NULL;
    int64_t threads = 0;
    const Option options[] = {
        {"source", "FILE", OPTION_TEXT, &source, 0, "source text, one sentence a line"},
        {"target", "FILE", OPTION_TEXT, &target, 0, "target text, as many lines"},
        {"text", "FILE", OPTION_TEXT, &text, 0, "the text of a language model"},
        {"checkpoint", "FILE", OPTION_TEXT, &checkpoint, 0,
         "params from here (RUN's average, else best, else last)"},
        {"threads", "N", OPTION_INT, &threads, 1, "threads (all processors)"},
        OPTION_GEMM(cli),
        OPTION_CPU(cli),
        OPTION_PASSES(cli),
    };
    const Usage usage = {"score", "RUN",
                         "Prints the natural logarithm of the probability of each target, its end\n"
                         "included, given its source: one line each.",
                         1, 1};
    Arguments arguments;
    int status;
    if (options_parse(cli, &usage, options, OPTION_COUNT(options), argc, argv, &arguments, &status))
        return status;
    if (threads)
        exec_set_threads((int)threads);
    RunFolder run;
    bool ok = run_folder_open(cli, arguments.words[0], &run) &&
              score(cli, &run, source, target, text, checkpoint);
    run_folder_close(&run);
    return cli_finish(cli, ok);
}
