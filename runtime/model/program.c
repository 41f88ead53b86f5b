/* What every compiled program does: it reads lines, answers those together that are there, and
 * tells what was wrong. */
#define _GNU_SOURCE
#include "runtime/model/program.h"

#include "base/printing.h"
#include "base/team.h"
#include "runtime/data/lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* About the most bytes that are answered together. */
enum { MANY_BYTES = 1 << 16 };

int program_complain(const Program *p, const char *what, const char *why)
{
    fflush(stdout);
    fprintf(stderr, "%s: %s%s%s\n", p->name, what ? what : "", what ? ": " : "", why);
    return 1;
}

/* ---- answers ---- */

/* The detail may name a line itself, of several that were answered together. */
static int fail_line(const Program *p, int64_t number)
{
    const char *detail = tfc_model_error_detail(), record[] = "record 0: ";
    char line[32];
    if (!strncmp(detail, record, strlen(record))) /* of the line, which is one */
        detail += strlen(record);
    if (!strncmp(detail, "line ", 5) || !strncmp(detail, "--prefix: ", 10))
        return program_complain(p, NULL, detail);
    snprintf(line, sizeof line, "line %lld", (long long)number + 1);
    return program_complain(p, line, detail);
}

static bool answer_lines(Program *p, int64_t first, int64_t n)
{
    int64_t tokens, unknown;
    if (!p->kind->answer(p, first, n))
        return false;
    if (!p->options.ids && !tfc_model_unknown(p->session, &tokens, &unknown, NULL)) {
        p->unknown.tokens += tokens;
        p->unknown.unknown += unknown;
    }
    return true;
}

/* All at once, or, if one of them is at fault, one by one up to that. The exit status. */
static int answer_window(Program *p)
{
    if (p->n > 1 && answer_lines(p, 0, p->n))
        return 0;
    for (int64_t i = 0; i < p->n; i++)
        if (!answer_lines(p, i, 1))
            return fail_line(p, p->number + i);
    return 0;
}

static void tell_share(const Program *p)
{
    char note[UNKNOWN_NOTE_BYTES];
    if (!unknown_is_above(&p->unknown, UNKNOWN_TOLD))
        return;
    unknown_note(&p->unknown, "the text's tokens", note);
    program_complain(p, NULL, note);
}

/* ---- lines ---- */

static size_t line_limit(const Program *p)
{
    return (size_t)(p->model->n_columns ? RECORD_LIMIT : LINE_LIMIT);
}

/* Adds a line, the i-th, and a CRLF: a return of the line's own before it stays one. */
static bool add_program_line(Program *p, ProgramLines *lines, int64_t i, const Record *line)
{
    static const char end[] = "\r\n";
    if (lines->room - lines->used < line->length + sizeof end) {
        const size_t room = 2 * lines->room + line->length + sizeof end;
        char *text = realloc(lines->text, room);
        if (!text) {
            snprintf(p->fault, FAULT_BYTES, "cannot read: %s", strerror(ENOMEM));
            return false;
        }
        lines->text = text;
        lines->room = room;
    }
    if (line->length)
        memcpy(lines->text + lines->used, line->text, line->length);
    memcpy(lines->text + lines->used + line->length, end, sizeof end);
    lines->at[i] = (int64_t)lines->used;
    lines->length[i] = (int64_t)line->length;
    lines->used += line->length + sizeof end - 1;
    return true;
}

void program_fault_of_length(Program *p, const char *name, const RecordCutter *lines)
{
    snprintf(p->fault, FAULT_BYTES, "%sline %lld: the line is longer than %zu bytes", name,
             (long long)lines->line, line_limit(p));
}

/* Adds the next line. `name`: in front of messages. False: the text has ended, or `fault` has the
 * reason. */
static bool take_line(Program *p, RecordCutter *from, const char *name, ProgramLines *lines)
{
    Record line;
    const RecordStatus status = record_next(from, &line);
    if (status == RECORD_END)
        return false;
    if (status == RECORD_READ && !line.is_cut)
        return add_program_line(p, lines, p->n, &line);
    if (status == RECORD_READ)
        program_fault_of_length(p, name, from);
    else
        snprintf(p->fault, FAULT_BYTES, "%sline %lld: cannot read: %s", name,
                 (long long)from->line + 1, byte_source_problem(&from->source));
    return false;
}

/* The same of what is answered, where empty lines behind the last record are passed. */
static bool take_input(Program *p)
{
    const size_t used = p->lines.used;
    if (!take_line(p, &p->input, "", &p->lines))
        return false;
    if (!p->model->n_columns)
        return true;
    if (p->lines.length[p->n]) {
        if (p->empty)
            snprintf(p->fault, FAULT_BYTES, "line %lld: an empty line between records: take it out",
                     (long long)p->empty);
        return !p->empty;
    }
    p->lines.used = used;
    p->empty = p->empty ? p->empty : p->input.line;
    return false;
}

/* The line of prefixes that goes with a line; false: there is none, or a fault. */
static bool take_prefix(Program *p)
{
    if (!p->options.prefix || take_line(p, &p->begun, "--prefix: ", &p->prefixes))
        return true;
    if (!p->fault[0])
        snprintf(p->fault, FAULT_BYTES, "%s has no line %lld", p->options.prefix,
                 (long long)(p->number + p->n + 1));
    return false;
}

/* Reads available lines, at least one, until there are many or `fault` is set. False: none. */
static bool read_window(Program *p)
{
    const int64_t most = p->options.ids ? 1 : MOST_LINES;
    p->number += p->n;
    p->n = 0;
    p->lines.used = p->prefixes.used = 0;
    while (!p->fault[0] && p->n < most && p->lines.used < MANY_BYTES &&
           (!p->n || record_ready(&p->input))) {
        const int64_t at = p->input.line;
        if (take_input(p) && take_prefix(p))
            p->n++;
        else if (p->n || p->input.line == at) /* an empty line is passed */
            break;
    }
    return p->n > 0;
}

static int answer_all(Program *p)
{
    while (read_window(p)) {
        int failed = answer_window(p);
        /* a write that failed earlier leaves nothing to flush */
        if ((fflush(stdout) || ferror(stdout)) && !failed)
            failed = program_complain(p, "cannot write", strerror(errno));
        if (failed)
            return failed;
    }
    if (!p->fault[0] && p->options.prefix && take_line(p, &p->begun, "--prefix: ", &p->prefixes))
        snprintf(p->fault, FAULT_BYTES, "%s: it has more lines than the text", p->options.prefix);
    return p->fault[0] ? program_complain(p, NULL, p->fault) : 0;
}

int program_cannot_read(const Program *p, const char *path, int error)
{
    char what[FAULT_BYTES];
    snprintf(what, sizeof what, "cannot read %s", path ? path : "standard input");
    return program_complain(p, what, strerror(error));
}

int program_open_lines(const Program *p, RecordCutter *lines, const char *path)
{
    return record_cutter_open(lines, path, (RecordRule){.longest = line_limit(p)})
               ? 0
               : program_cannot_read(p, path, errno);
}

/* ---- the whole ---- */

static int answer_with(Program *p, TfcModelHandle *loaded)
{
    int status = tfc_model_session_new(loaded, &p->session)
                     ? program_complain(p, "cannot begin", tfc_model_error_detail())
                     : p->kind->begin(p, loaded);
    if (!status)
        status = program_open_lines(p, &p->input, NULL);
    if (!status && p->options.prefix)
        status = program_open_lines(p, &p->begun, p->options.prefix);
    if (!status)
        status = answer_all(p);
    tell_share(p);
    p->kind->end(p);
    record_cutter_close(&p->input);
    record_cutter_close(&p->begun);
    free(p->lines.text);
    free(p->prefixes.text);
    tfc_model_session_free(p->session);
    return status;
}

typedef struct ProgramCall {
    const TfcModel *model;
    const ProgramKind *kind;
    int argc;
    char **argv;
} ProgramCall;

static int call_program(void *context)
{
    const ProgramCall *call = context;
    const TfcModel *model = call->model;
    Program p = {.model = model, .kind = call->kind, .name = call->argv[0]};
    if (!printing_guard())
        return program_complain(&p, "cannot begin", strerror(ENOMEM));
    int status = program_options_read(&p, call->argc, call->argv);
    if (status || p.options.help)
        return status;
    if (p.options.threads > 0)
        tfc_model_set_threads((int)p.options.threads);
    TfcModelHandle *loaded;
    if ((status = tfc_model_open(model, model->header, p.options.weights, &loaded)))
        return program_complain(&p, tfc_model_error_text(status), tfc_model_error_detail());
    status = answer_with(&p, loaded);
    tfc_model_close(loaded);
    return status;
}

int tfc_model_main(const TfcModel *model, const ProgramKind *kind, int argc, char **argv)
{
    return team_main(call_program, &(ProgramCall){model, kind, argc, argv});
}
