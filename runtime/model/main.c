/* The main function of a model compiled to a program: lines in, an answer to each out, as text or
 * as token ids. Where texts are generated from columns, a line is a record as JSON. */
#define _GNU_SOURCE
#include "runtime/model/program_options.h"
#include "runtime/model/program_unknown.h"
#include "runtime/model/records_json.h"

#include "base/printing.h"
#include "base/record_cutter.h"
#include "runtime/data/lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct ProgramIds {
    int32_t *data;
    int32_t n, room;
} ProgramIds;

static bool add_id(ProgramIds *ids, int32_t id)
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
static const char *read_ids(char *line, int64_t vocab, ProgramIds *ids, char **word)
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

/* Lines that are answered together, each ended by a CRLF. */
typedef struct LineWindow {
    char *text;
    size_t length, room;
} LineWindow;

/* Most lines and about the most bytes that are answered together. */
enum { MOST_LINES = 256, MANY_BYTES = 1 << 16, FAULT_BYTES = 4096 };

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
    RecordCutter input, begun;  /* the lines; the prefixes, if there are any */
    LineWindow lines, prefixes; /* a window of each; without prefixes the second has no text */
    ProgramIds ids, prefix_ids; /* of a line */
    UnknownCount unknown;       /* tokens of all lines */
    char fault[FAULT_BYTES];    /* of the input, reported after the answers; "": none */
} Answering;

/* A line's ids; false after saying what is wrong. */
static bool take_ids(const Answering *a, long number, char *line, const char *of, ProgramIds *ids)
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
static int answer_ids(Answering *a, long number, char *line, char *prefix)
{
    if (!take_ids(a, number, line, "", &a->ids) ||
        (prefix && !take_ids(a, number, prefix, "--prefix: ", &a->prefix_ids)))
        return 1;
    memset(a->results, 0, sizeof *a->results * (size_t)a->places);
    a->settings.prefix_lengths = prefix ? &a->prefix_ids.n : NULL;
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

/* The detail may name a line itself, of several that were answered together from `number` on. */
static int fail_line(const Answering *a, long number)
{
    const char *detail = tfc_model_error_detail(), record[] = "record 0: ";
    fflush(stdout);                               /* the answers before */
    if (!strncmp(detail, record, strlen(record))) /* of the line, which is one */
        detail += strlen(record);
    if (strncmp(detail, "line ", 5))
        fprintf(stderr, "%s: line %ld: %s\n", a->program, number, detail);
    else
        fprintf(stderr, "%s: %s\n", a->program, detail);
    return 1;
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

static size_t line_length(const char *line, const char *end)
{
    return (size_t)((const char *)memchr(line, '\n', (size_t)(end - line)) + 1 - line);
}

/* The answers to records, a line each as JSON; false: there are none. */
static bool answer_records(Answering *a, long number, const char *text, size_t length)
{
    const TfcTranslation *list;
    int64_t n = 0;
    TfcWord words[MOST_DIMS + MOST_INPUTS];
    Arena *arena = arena_try_new();
    int status = arena ? records_of_json(a->model, a->model->variants[0].programs[TFC_ENCODE], text,
                                         length, arena, words)
                       : tfc_model_no_memory();
    bool ok = !status && !tfc_model_record_translations(a->session, &a->settings, number - 1, words,
                                                        &list, &n);
    for (int64_t k = 0; ok && k < n; k++) {
        if (a->lists)
            printf("%ld ||| ", number - 1 + (long)list[k].line);
        print_one_line(list[k].text, list[k].length);
        if (a->lists)
            printf(" ||| %.6f", list[k].result.score);
        putchar('\n');
    }
    arena_free(arena);
    return ok;
}

/* All results of lines of text, the first of which has this number; false: there are none. */
static bool list_texts(Answering *a, long number, const char *text, size_t length)
{
    const TfcTranslation *list;
    int64_t n;
    if (tfc_model_line_translations(a->session, &a->settings, number - 1, text, (int64_t)length,
                                    &list, &n))
        return false;
    for (int64_t k = 0; k < n; k++) {
        printf("%ld ||| ", number - 1 + (long)list[k].line);
        print_one_line(list[k].text, list[k].length);
        printf(" ||| %.6f\n", list[k].result.score);
    }
    return true;
}

/* The answers to lines of text, each of which ends with a newline; false: there are none. */
static bool answer_texts(Answering *a, long number, const char *text, size_t length)
{
    const char *answer;
    int64_t n;
    if (a->model->n_columns)
        return answer_records(a, number, text, length);
    if (a->lists)
        return list_texts(a, number, text, length);
    if (tfc_model_answer_lines(a->session, &a->settings, number - 1, text, (int64_t)length, &answer,
                               &n))
        return false;
    fwrite(answer, 1, (size_t)n, stdout);
    return true;
}

static void give_prefix(Answering *a, const char *text, size_t length)
{
    a->settings.prefix_text = text;
    a->settings.prefix_length = (int64_t)length;
}

/* One line, which ends with a newline, and the one of prefixes that goes with it, or NULL. */
static int answer_line(Answering *a, long number, char *line, size_t length, char *prefix,
                       size_t prefix_length)
{
    if (a->options->ids) {
        line[length - 1] = '\0';
        if (prefix)
            prefix[prefix_length - 1] = '\0';
        return answer_ids(a, number, line, prefix);
    }
    give_prefix(a, prefix, prefix_length);
    if (!answer_texts(a, number, line, length))
        return fail_line(a, number);
    program_count_unknown(a->session, &a->unknown);
    return 0;
}

/* All at once, or, if one of them is at fault, one by one up to that. */
static int answer_window(Answering *a, long number, long n)
{
    char *line = a->lines.text, *prefix = a->prefixes.text;
    const char *end = line + a->lines.length,
               *prefix_end = prefix ? prefix + a->prefixes.length : NULL;
    if (n > 1) {
        give_prefix(a, prefix, a->prefixes.length);
        if (answer_texts(a, number, line, a->lines.length)) {
            program_count_unknown(a->session, &a->unknown);
            return 0;
        }
    }
    int failed = 0;
    for (long i = 0; !failed && i < n; i++) {
        size_t length = line_length(line, end);
        size_t begun = prefix ? line_length(prefix, prefix_end) : 0;
        failed = answer_line(a, number + i, line, length, prefix, begun);
        line += length;
        prefix = prefix ? prefix + begun : NULL;
    }
    return failed;
}

/* ---- reading ---- */

static size_t line_limit(const Answering *a)
{
    return (size_t)(a->model->n_columns ? RECORD_LIMIT : LINE_LIMIT);
}

/* Appends a line and a CRLF: a return of the line's own before it stays one. */
static bool add_line(Answering *a, LineWindow *lines, const Line *line)
{
    static const char end[] = "\r\n";
    if (lines->room - lines->length < line->length + sizeof end) {
        size_t room = 2 * lines->room + line->length + sizeof end;
        char *text = realloc(lines->text, room);
        if (!text) {
            snprintf(a->fault, FAULT_BYTES, "cannot read: %s", strerror(ENOMEM));
            return false;
        }
        lines->text = text;
        lines->room = room;
    }
    if (line->length)
        memcpy(lines->text + lines->length, line->text, line->length);
    memcpy(lines->text + lines->length + line->length, end, sizeof end);
    lines->length += line->length + sizeof end - 1;
    return true;
}

/* Adds the next line. `name`: in front of messages. False: the text has ended, or `fault` has the
 * reason. */
static bool take_line(Answering *a, RecordCutter *from, const char *name, LineWindow *lines)
{
    Record line;
    const RecordStatus status = record_next(from, &line);
    if (status == RECORD_END)
        return false;
    if (status == RECORD_READ && !line.is_cut)
        return add_line(a, lines, &(Line){line.text, line.length});
    if (status == RECORD_READ)
        snprintf(a->fault, FAULT_BYTES, "%sline %lld: the line is longer than %zu bytes", name,
                 (long long)from->line, line_limit(a));
    else
        snprintf(a->fault, FAULT_BYTES, "%sline %lld: cannot read: %s", name,
                 (long long)from->line + 1, byte_source_problem(&from->source));
    return false;
}

/* The line of prefixes that goes with a line; false: there is none, or a fault. */
static bool take_prefix(Answering *a, long number)
{
    if (!a->options->prefix)
        return true;
    if (take_line(a, &a->begun, "--prefix: ", &a->prefixes))
        return true;
    if (!a->fault[0])
        snprintf(a->fault, FAULT_BYTES, "%s has no line %ld", a->options->prefix, number);
    return false;
}

/* Reads available lines, at least one, until there are many or `fault` is set. Returns how many. */
static long read_window(Answering *a, long number)
{
    long n = 0, most = a->options->ids ? 1 : MOST_LINES;
    a->lines.length = a->prefixes.length = 0;
    while (n < most && a->lines.length < MANY_BYTES && (!n || record_ready(&a->input))) {
        const size_t before = a->lines.length;
        if (!take_line(a, &a->input, "", &a->lines))
            break;
        if (!take_prefix(a, number + n)) {
            a->lines.length = before;
            break;
        }
        n++;
    }
    return n;
}

static int answer_lines(Answering *a)
{
    int failed = 0;
    for (long number = 1, n; !failed && !a->fault[0] && (n = read_window(a, number)); number += n) {
        failed = answer_window(a, number, n);
        /* a write that failed earlier leaves nothing to flush */
        if ((fflush(stdout) || ferror(stdout)) && !failed)
            failed = complain(a->program, "cannot write", strerror(errno));
    }
    if (!failed && !a->fault[0] && a->options->prefix &&
        take_line(a, &a->begun, "--prefix: ", &a->prefixes))
        snprintf(a->fault, FAULT_BYTES, "%s: it has more lines than the text", a->options->prefix);
    if (!failed && a->fault[0]) {
        fprintf(stderr, "%s: %s\n", a->program, a->fault);
        failed = 1;
    }
    return failed;
}

/* Path NULL: standard input. The exit status. */
static int open_lines(const Answering *a, RecordCutter *lines, const char *path)
{
    if (record_cutter_open(lines, path, (RecordRule){.longest = line_limit(a)}))
        return 0;
    fprintf(stderr, "%s: cannot read %s: %s\n", a->program, path ? path : "standard input",
            strerror(errno));
    return 1;
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
    status = open_lines(a, &a->input, NULL);
    return status || !o->prefix ? status : open_lines(a, &a->begun, o->prefix);
}

static int answer_with(const TfcModel *model, const char *program, TfcModelHandle *loaded,
                       const ProgramOptions *o)
{
    Answering a = {.model = model, .program = program, .options = o};
    int status = prepare_program(&a, loaded);
    if (!status)
        status = answer_lines(&a);
    program_tell_unknown(program, &a.unknown);
    record_cutter_close(&a.input);
    record_cutter_close(&a.begun);
    free(a.lines.text);
    free(a.prefixes.text);
    free(a.results);
    free(a.ids.data);
    free(a.prefix_ids.data);
    tfc_model_session_free(a.session);
    return status;
}

int tfc_model_main(const TfcModel *model, int argc, char **argv)
{
    ProgramOptions o;
    if (!printing_guard())
        return complain(argv[0], "cannot begin", strerror(ENOMEM));
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
