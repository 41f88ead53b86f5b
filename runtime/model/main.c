/* The main function of a model compiled to a program: lines in, an answer to each out, as text or
 * as token ids. */
#define _GNU_SOURCE
#include "runtime/model/model.h"

#include "base/limits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tfc_model_main(const TfcModel *model, int argc, char **argv);

static const char usage[] =
    "Usage: %s [--weights FILE] [--beam N] [--tokens N] [--seed N] [--threads N]%s\n"
    "       [--bos ID] [--eos ID]\n"
    "%s on standard input, a line each; the answers, a line each, out.\n";

typedef struct Options {
    const char *weights;
    bool ids; /* in place of text */
    /* -1: as the model's generation has it; threads 0: as many as processors */
    int beam, tokens, seed, bos, eos, threads;
} Options;

static void print_usage(const TfcModel *model, const char *program)
{
    fprintf(stderr, usage, program, model->text ? " [--ids]" : "",
            model->text ? "Text (with --ids token ids)" : "Token ids");
}

/* A whole number from least to most; else says so. */
static bool read_number(const char *program, const char *option, const char *text, int least,
                        int64_t most, int *out)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end != text && !*end && !errno && value >= least && value <= most) {
        *out = (int)value;
        return true;
    }
    fprintf(stderr, "%s: %s takes a whole number from %d to %lld, not '%s'\n", program, option,
            least, (long long)most, text);
    return false;
}

/* 0, or the exit status. */
static int read_options(const TfcModel *model, int argc, char **argv, Options *o)
{
    const int64_t last = model->vocab > 0 ? model->vocab - 1 : INT32_MAX;
    const struct {
        const char *name;
        int least;
        int64_t most;
        int *value;
    } numbers[] = {{"--beam", 1, LIMIT_beam, &o->beam},
                   {"--tokens", 0, LIMIT_tokens, &o->tokens},
                   {"--seed", 0, INT32_MAX, &o->seed},
                   {"--bos", 0, last, &o->bos},
                   {"--eos", 0, last, &o->eos},
                   {"--threads", 1, LIMIT_threads, &o->threads}};
    o->ids = !model->text;
    for (int i = 1; i < argc; i += 2) {
        if (model->text && !strcmp(argv[i], "--ids")) {
            o->ids = true;
            i--;
            continue;
        }
        bool known = !strcmp(argv[i], "--weights"), right = true;
        if (known && i + 1 < argc)
            o->weights = argv[i + 1];
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
            if (!strcmp(argv[i], numbers[k].name)) {
                known = true;
                right =
                    i + 1 >= argc || read_number(argv[0], argv[i], argv[i + 1], numbers[k].least,
                                                 numbers[k].most, numbers[k].value);
            }
        if (!right)
            return 2;
        if (known && i + 1 < argc)
            continue;
        fprintf(stderr, known ? "%s: %s takes a value\n" : "%s: there is no option '%s'\n", argv[0],
                argv[i]);
        print_usage(model, argv[0]);
        return 2;
    }
    return 0;
}

/* ---- sentences ---- */

typedef struct Ids {
    int32_t *data;
    int32_t n, room;
} Ids;

static bool add_id(Ids *ids, int32_t id)
{
    if (ids->n == ids->room) {
        int32_t room = ids->room ? 2 * ids->room : 64;
        int32_t *data =
            ids->room <= INT32_MAX / 2 ? realloc(ids->data, sizeof *data * (size_t)room) : NULL;
        if (!data)
            return false;
        ids->data = data;
        ids->room = room;
    }
    ids->data[ids->n++] = id;
    return true;
}

/* Whole numbers of the vocabulary, blanks between; NULL, or what is wrong. `word` becomes
 * where that begins. */
static const char *read_ids(char *line, int64_t vocab, Ids *ids, char **word)
{
    const char *blanks = " \t\r\n";
    ids->n = 0;
    for (char *at = line + strspn(line, blanks), *end; *at; at = end + strspn(end, blanks)) {
        *word = at;
        errno = 0;
        long long id = strtoll(at, &end, 10);
        if (end == at || errno || id < 0 || id > INT32_MAX || (vocab > 0 && id >= vocab) ||
            (*end && !strchr(blanks, *end)))
            return "is no token id";
        if (!add_id(ids, (int32_t)id))
            return "is where memory ends";
    }
    return NULL;
}

static void print_ids(const TfcResult *result)
{
    for (int64_t i = 0; i < result->n; i++)
        printf("%s%d", i ? " " : "", result->ids[i]);
    putchar('\n');
}

static int complain(const char *program, const char *what, const char *why)
{
    fprintf(stderr, "%s: %s: %s\n", program, what, why);
    return 1;
}

/* What answers the lines. */
typedef struct Answering {
    const TfcModel *model;
    const char *program;
    const Options *options;
    TfcSessionHandle *session;
    TfcGeneration settings;
    Ids ids; /* of a line */
} Answering;

/* One line of ids; the exit status. */
static int answer_ids(Answering *a, long number, char *line)
{
    const TfcModel *model = a->model;
    const char *program = a->program;
    Ids *ids = &a->ids;
    TfcResult result = {0};
    char *word = line;
    const char *wrong = read_ids(line, model->vocab, ids, &word);
    if (wrong) {
        fprintf(stderr, "%s: line %ld: '%.*s' %s", program, number, (int)strcspn(word, " \t\r\n"),
                word, wrong);
        fprintf(stderr, model->vocab > 0 ? " (0 to %lld)\n" : "\n", (long long)model->vocab - 1);
        return 1;
    }
    if (ids->n && tfc_model_generate(a->session, &a->settings, 1, &ids->n, ids->data, &result))
        return complain(program, "cannot generate", tfc_model_error_detail());
    print_ids(&result);
    return 0;
}

/* One line of text, without what files begin and lines end with. */
static int answer_text(Answering *a, long number, const char *line, size_t length)
{
    const char *answer;
    int64_t n;
    if (number == 1 && length >= 3 && !memcmp(line, "\xEF\xBB\xBF", 3)) {
        line += 3;
        length -= 3;
    }
    length -= length && line[length - 1] == '\n';
    length -= length && line[length - 1] == '\r';
    if (tfc_model_answer_line(a->session, &a->settings, number - 1, line, (int64_t)length, &answer,
                              &n)) {
        fprintf(stderr, "%s: line %ld: %s\n", a->program, number, tfc_model_error_detail());
        return 1;
    }
    fwrite(answer, 1, (size_t)n, stdout);
    putchar('\n');
    return 0;
}

static int answer_lines(Answering *a)
{
    char *line = NULL;
    size_t room = 0;
    int failed = 0;
    ssize_t n;
    errno = 0;
    for (long number = 1; !failed && (n = getline(&line, &room, stdin)) >= 0; number++) {
        failed = a->options->ids ? answer_ids(a, number, line)
                                 : answer_text(a, number, line, (size_t)n);
        if (!failed && fflush(stdout))
            failed = complain(a->program, "cannot write", strerror(errno));
    }
    if (!failed && !feof(stdin))
        failed = complain(a->program, "cannot read", strerror(errno));
    free(line);
    free(a->ids.data);
    return failed;
}

/* A beam searches, also where the model's own way is to draw. */
static void set_options(const Options *o, TfcGeneration *settings)
{
    if (o->beam >= 0) {
        settings->beam = o->beam;
        settings->sample = 0;
    }
    if (o->tokens >= 0) {
        settings->length_factor = 0;
        settings->length_extra = o->tokens;
    }
    settings->seed = o->seed >= 0 ? (uint64_t)o->seed : settings->seed;
    settings->bos = o->bos >= 0 ? o->bos : settings->bos;
    settings->eos = o->eos >= 0 ? o->eos : settings->eos;
}

static int answer_with(const TfcModel *model, const char *program, TfcModelHandle *loaded,
                       const Options *o)
{
    Answering a = {.model = model, .program = program, .options = o};
    if (tfc_model_session_new(loaded, &a.session) ||
        tfc_model_generation_defaults(loaded, &a.settings))
        return complain(program, "cannot begin", tfc_model_error_detail());
    set_options(o, &a.settings);
    int status = answer_lines(&a);
    tfc_model_session_free(a.session);
    return status;
}

int tfc_model_main(const TfcModel *model, int argc, char **argv)
{
    Options o = {.beam = -1, .tokens = -1, .seed = -1, .bos = -1, .eos = -1};
    int status = read_options(model, argc, argv, &o);
    if (status)
        return status;
    if (o.threads)
        tfc_model_set_threads(o.threads);
    TfcModelHandle *loaded;
    if ((status = tfc_model_open(model, model->header, o.weights, &loaded)))
        return complain(argv[0], tfc_model_error_text(status), tfc_model_error_detail());
    status = answer_with(model, argv[0], loaded, &o);
    tfc_model_close(loaded);
    return status;
}
