/* The main function of a model compiled to a program: lines in, an answer to each out, as text or
 * as token ids. */
#define _GNU_SOURCE
#include "runtime/model/program_options.h"

#include "base/unknown.h"
#include "runtime/data/lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tfc_model_main(const TfcModel *model, int argc, char **argv);

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
    const ProgramOptions *options;
    TfcSessionHandle *session;
    TfcGeneration settings;
    bool lists;     /* several results a line */
    int32_t places; /* as many at most */
    TfcResult *results;
    FILE *prefixes; /* NULL: none are given */
    char *prefix;   /* of the line */
    size_t prefix_room;
    int64_t prefix_length;
    Ids ids, prefix_ids;  /* of a line */
    UnknownCount unknown; /* tokens of all lines */
} Answering;

/* A line's ids; false after saying what is wrong. */
static bool take_ids(const Answering *a, long number, char *line, const char *of, Ids *ids)
{
    int64_t vocab = a->model->vocab;
    char *word = line;
    const char *wrong = read_ids(line, vocab, ids, &word);
    if (!wrong)
        return true;
    fprintf(stderr, "%s: %sline %ld: '%.*s' %s", a->program, of, number,
            (int)strcspn(word, " \t\r\n"), word, wrong);
    fprintf(stderr, vocab > 0 ? " (0 to %lld)\n" : "\n", (long long)vocab - 1);
    return false;
}

/* One line of ids; the exit status. */
static int answer_ids(Answering *a, long number, char *line)
{
    if (!take_ids(a, number, line, "", &a->ids) ||
        (a->prefixes && !take_ids(a, number, a->prefix, "--prefix: ", &a->prefix_ids)))
        return 1;
    memset(a->results, 0, sizeof *a->results * (size_t)a->places);
    a->settings.prefix_lengths = a->prefixes ? &a->prefix_ids.n : NULL;
    a->settings.prefixes = a->prefix_ids.data;
    if (a->ids.n &&
        tfc_model_generate(a->session, &a->settings, 1, &a->ids.n, a->ids.data, a->results))
        return complain(a->program, "cannot generate", tfc_model_error_detail());
    for (int32_t k = 0; k < a->places && (k == 0 || a->results[k].n_each); k++) {
        if (a->lists)
            printf("%ld ||| ", number - 1);
        print_ids(&a->results[k]);
        if (a->lists)
            printf(" ||| %.6f", a->results[k].score);
        putchar('\n');
    }
    return 0;
}

static int fail_line(const Answering *a, long number)
{
    fprintf(stderr, "%s: line %ld: %s\n", a->program, number, tfc_model_error_detail());
    return 1;
}

static void count_unknown(Answering *a)
{
    int64_t tokens, unknown;
    if (!tfc_model_unknown(a->session, &tokens, &unknown, NULL)) {
        a->unknown.tokens += tokens;
        a->unknown.unknown += unknown;
    }
}

/* After the last line. */
static void tell_unknown_share(const Answering *a)
{
    char note[UNKNOWN_NOTE_BYTES];
    if (!unknown_is_above(&a->unknown, UNKNOWN_TOLD))
        return;
    unknown_note(&a->unknown, "the text's tokens", note);
    fprintf(stderr, "%s: %s\n", a->program, note);
}

/* Line breaks within stand as "\\n" and "\\r". */
static void print_one_line(const char *text, int64_t length)
{
    for (int64_t i = 0; i < length; i++)
        if (text[i] == '\n' || text[i] == '\r')
            fputs(text[i] == '\n' ? "\\n" : "\\r", stdout);
        else
            putchar(text[i]);
}

/* All results of a line of text. */
static int list_text(Answering *a, long number, const char *line, int64_t length)
{
    const TfcTranslation *list;
    int64_t n;
    if (tfc_model_line_translations(a->session, &a->settings, number - 1, line, length, &list, &n))
        return fail_line(a, number);
    for (int64_t k = 0; k < n; k++) {
        printf("%ld ||| ", number - 1);
        print_one_line(list[k].text, list[k].length);
        printf(" ||| %.6f\n", list[k].result.score);
    }
    if (!n)
        printf("%ld |||  ||| %.6f\n", number - 1, 0.0);
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
    bool begins = length && a->prefix_length; /* a text of no bytes has no lines */
    a->settings.prefix_text = begins ? a->prefix : NULL;
    a->settings.prefix_length = begins ? a->prefix_length : 0;
    if (a->lists)
        return list_text(a, number, line, (int64_t)length);
    if (tfc_model_answer_line(a->session, &a->settings, number - 1, line, (int64_t)length, &answer,
                              &n))
        return fail_line(a, number);
    fwrite(answer, 1, (size_t)n, stdout);
    putchar('\n');
    return 0;
}

/* The next line with its end, as getline gives it; -1: there is none, -2: it cannot be read, which
 * has been told. */
static ssize_t read_line(const Answering *a, FILE *from, const char *name, long number, char **line,
                         size_t *room)
{
    size_t n = 0;
    int c = 0;
    errno = 0;
    while (c != '\n' && (c = getc(from)) != EOF) {
        if (c != '\n' && n >= (size_t)LINE_LIMIT + (c == '\r')) {
            fprintf(stderr, "%s: %sline %ld: the line is longer than %d bytes\n", a->program, name,
                    number, LINE_LIMIT);
            return -2;
        }
        if (n + 1 >= *room) {
            char *larger = realloc(*line, 2 * *room + 128);
            if (!larger)
                break;
            *line = larger;
            *room = 2 * *room + 128;
        }
        (*line)[n++] = (char)c;
    }
    if (ferror(from) || (c != EOF && c != '\n')) {
        fprintf(stderr, "%s: %sline %ld: cannot read: %s\n", a->program, name, number,
                strerror(errno));
        return -2;
    }
    if (!n)
        return -1;
    (*line)[n] = '\0';
    return (ssize_t)n;
}

/* The line of prefixes that goes with a line; false after saying that there is none. */
static bool read_prefix(Answering *a, long number)
{
    if (!a->prefixes)
        return true;
    ssize_t n = read_line(a, a->prefixes, "--prefix: ", number, &a->prefix, &a->prefix_room);
    if (n == -1)
        fprintf(stderr, "%s: %s has no line %ld\n", a->program, a->options->prefix, number);
    if (n < 0)
        return false;
    n -= n && a->prefix[n - 1] == '\n';
    n -= n && a->prefix[n - 1] == '\r';
    a->prefix[n] = '\0';
    a->prefix_length = n;
    return true;
}

static int answer_lines(Answering *a)
{
    char *line = NULL;
    size_t room = 0;
    int failed = 0;
    ssize_t n = 0;
    for (long number = 1; !failed && (n = read_line(a, stdin, "", number, &line, &room)) >= 0;
         number++) {
        if (!read_prefix(a, number))
            failed = 1;
        else
            failed = a->options->ids ? answer_ids(a, number, line)
                                     : answer_text(a, number, line, (size_t)n);
        if (!failed && !a->options->ids)
            count_unknown(a);
        if (!failed && fflush(stdout))
            failed = complain(a->program, "cannot write", strerror(errno));
    }
    failed = failed || n == -2;
    if (!failed && a->prefixes && getc(a->prefixes) != EOF)
        failed = complain(a->program, a->options->prefix, "it has more lines than the text");
    free(line);
    return failed;
}

/* The exit status. */
static int prepare_program(Answering *a, TfcModelHandle *loaded)
{
    const ProgramOptions *o = a->options;
    if (tfc_model_session_new(loaded, &a->session) ||
        tfc_model_generation_defaults(loaded, &a->settings))
        return complain(a->program, "cannot begin", tfc_model_error_detail());
    int status = program_options_set(o, a->program, &a->settings);
    if (status)
        return status;
    a->lists = a->settings.nbest > 1 || a->settings.alternatives;
    a->places = a->settings.alternatives ? a->settings.alternatives : a->settings.nbest;
    a->results = calloc((size_t)a->places, sizeof *a->results);
    if (!a->results)
        return complain(a->program, "cannot begin", strerror(errno));
    if (o->prefix && !(a->prefixes = fopen(o->prefix, "r")))
        return complain(a->program, o->prefix, strerror(errno));
    return 0;
}

static int answer_with(const TfcModel *model, const char *program, TfcModelHandle *loaded,
                       const ProgramOptions *o)
{
    Answering a = {.model = model, .program = program, .options = o};
    int status = prepare_program(&a, loaded);
    if (!status)
        status = answer_lines(&a);
    tell_unknown_share(&a);
    if (a.prefixes)
        fclose(a.prefixes);
    free(a.prefix);
    free(a.results);
    free(a.ids.data);
    free(a.prefix_ids.data);
    tfc_model_session_free(a.session);
    return status;
}

int tfc_model_main(const TfcModel *model, int argc, char **argv)
{
    ProgramOptions o;
    int status = program_options_read(model, argc, argv, &o);
    if (status || o.help)
        return status;
    if (o.threads > 0)
        tfc_model_set_threads((int)o.threads);
    TfcModelHandle *loaded;
    if ((status = tfc_model_open(model, model->header, o.weights, &loaded)))
        return complain(argv[0], tfc_model_error_text(status), tfc_model_error_detail());
    status = answer_with(model, argv[0], loaded, &o);
    tfc_model_close(loaded);
    return status;
}
