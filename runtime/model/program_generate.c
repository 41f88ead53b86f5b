/* Programs that decode: a translation or continuation of each line, as text or as token ids. Where
 * texts are generated from columns, a line is a record as JSON. */
#include "runtime/model/program.h"
#include "runtime/model/state.h"

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

/* Generating: what a program needs besides.
 *   lists         several results a line, `places` at most
 *   ids, begun    of a line and its prefix */
typedef struct Generating {
    TfcGeneration settings;
    bool lists;
    int32_t places;
    TfcResult *results;
    ProgramIds ids, begun;
} Generating;

/* A line's ids, which it is no longer a line after; false: the detail of the last error has why. */
static bool take_ids(const Program *p, ProgramLines *lines, int64_t i, const char *of,
                     ProgramIds *ids)
{
    const int64_t vocab = p->model->vocab;
    char *line = lines->text + lines->at[i], *word = line, range[32] = "";
    line[lines->length[i]] = '\0';
    const char *wrong = read_ids(line, vocab, ids, &word);
    if (vocab > 0)
        snprintf(range, sizeof range, " (0 to %lld)", (long long)vocab - 1);
    if (wrong)
        tfc_model_fail(TFC_ERROR_ARGUMENT, "%sline %lld: '%.*s' %s%s", of,
                       (long long)(p->number + i + 1), (int)strcspn(word, " \t\r\n"), word, wrong,
                       range);
    return !wrong;
}

static bool answer_ids(Program *p, int64_t i)
{
    Generating *g = p->own;
    const bool begins = p->prefixes.text != NULL;
    if (!take_ids(p, &p->lines, i, "", &g->ids) ||
        (begins && !take_ids(p, &p->prefixes, i, "--prefix: ", &g->begun)))
        return false;
    memset(g->results, 0, sizeof *g->results * (size_t)g->places);
    g->settings.prefix_lengths = begins ? &g->begun.n : NULL;
    g->settings.prefixes = g->begun.data;
    if (g->ids.n &&
        tfc_model_generate(p->session, &g->settings, 1, &g->ids.n, g->ids.data, g->results))
        return false;
    for (int32_t k = 0; k < g->places && (k == 0 || g->results[k].n_each); k++) {
        if (g->lists)
            printf("%lld ||| ", (long long)(p->number + i));
        print_ids(&g->results[k]);
        if (g->lists)
            printf(" ||| %.6f", g->results[k].score);
        putchar('\n');
    }
    return true;
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

static void print_results(const Generating *g, int64_t number, const TfcTranslation *list,
                          int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        if (g->lists)
            printf("%lld ||| ", (long long)(number + list[k].line));
        print_one_line(list[k].text, list[k].length);
        if (g->lists)
            printf(" ||| %.6f", list[k].result.score);
        putchar('\n');
    }
}

/* Lines that each hold a record as JSON. */
static bool answer_records(const Program *p, int64_t number, const char *text, int64_t length)
{
    const Generating *g = p->own;
    const TfcTranslation *list;
    int64_t n;
    if (tfc_model_json_translations(p->session, &g->settings, number, text, length, &list, &n))
        return false;
    print_results(g, number, list, n);
    return true;
}

static bool answer_texts(const Program *p, int64_t number, const char *text, int64_t length)
{
    const Generating *g = p->own;
    const TfcTranslation *list;
    const char *answer;
    int64_t n;
    if (!g->lists) {
        if (tfc_model_answer_lines(p->session, &g->settings, number, text, length, &answer, &n))
            return false;
        fwrite(answer, 1, (size_t)n, stdout);
        return true;
    }
    if (tfc_model_line_translations(p->session, &g->settings, number, text, length, &list, &n))
        return false;
    print_results(g, number, list, n);
    return true;
}

/* n lines from the number `first` on, with their ends. */
static const char *some_lines(const ProgramLines *lines, int64_t first, int64_t n, int64_t *length)
{
    const int64_t last = first + n - 1;
    *length = lines->at[last] + lines->length[last] + (int64_t)strlen("\r\n") - lines->at[first];
    return lines->text + lines->at[first];
}

static bool generate_answers(Program *p, int64_t first, int64_t n)
{
    Generating *g = p->own;
    int64_t length;
    if (p->options.ids)
        return answer_ids(p, first);
    if (p->prefixes.text)
        g->settings.prefix_text = some_lines(&p->prefixes, first, n, &g->settings.prefix_length);
    const char *text = some_lines(&p->lines, first, n, &length);
    return (p->model->n_columns ? answer_records : answer_texts)(p, p->number + first, text,
                                                                 length);
}

static int begin_program_generation(Program *p, TfcModelHandle *loaded)
{
    Generating *g = p->own = calloc(1, sizeof *g);
    if (!g)
        return program_complain(p, "cannot begin", strerror(errno));
    if (tfc_model_generation_defaults(loaded, &g->settings))
        return program_complain(p, "cannot begin", tfc_model_error_detail());
    const int status = program_options_set(p, &g->settings);
    if (status)
        return status;
    g->lists = g->settings.nbest > 1 || g->settings.alternatives;
    g->places = g->settings.alternatives ? g->settings.alternatives : g->settings.nbest;
    g->results = calloc((size_t)g->places, sizeof *g->results);
    return g->results ? 0 : program_complain(p, "cannot begin", strerror(errno));
}

static void end_program_generation(Program *p)
{
    Generating *g = p->own;
    if (g) {
        free(g->results);
        free(g->ids.data);
        free(g->begun.data);
    }
    free(g);
}

static unsigned generation_options(const TfcModel *model)
{
    (void)model;
    return OF_DECODING;
}

const ProgramKind program_generates = {
    .options = generation_options,
    .answers = "the answers,\na line each, out. Several results of a "
               "line are a line each:\nNUMBER ||| RESULT ||| SCORE.",
    .begin = begin_program_generation,
    .answer = generate_answers,
    .end = end_program_generation,
};
