/* Judging the beginning of pairs. */
#define _GNU_SOURCE
#include "driver/corpus/text_files.h"

#include "driver/corpus/pair_files.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

enum {
    MOST_FIELDS = 16,   /* of a record, among which other fields are looked for */
    TELLING_PAIRS = 10, /* from so many on a share means something */
    NUMBERS_SHARE = 90, /* percent of a side's lines that are numbers */
    EQUAL_SHARE = 50,   /* percent of pairs whose sides are the same */
    PHRASES_SHARE = 90  /* percent of pairs with a side of several words: no list of words */
};

/* Words of headers: languages by their codes and names, and what programs call the sides. */
static const char *const header_words[] = {
#define WORDS(...) __VA_ARGS__,
#include "driver/corpus/header_words.def"
#undef WORDS
};

static const char *const side_names[2] = {"sources", "targets"};

/* PairLook: the beginning of pairs.
 *   fields   of a file; NULL: two files with a side each
 *   must_say a first line that looks like a header is an error
 *   first    1: the first line is taken for a header; else 0
 *   all      of TSV and CSV without names all n_all fields of the records; n_all 0: they are not
 *            known */
typedef struct PairLook {
    Job *job;
    const Lines *sides[2];
    int64_t n, first;
    const PairFields *fields;
    Lines *const *all;
    size_t n_all;
    bool must_say;
} PairLook;

/* ---- cells ---- */

static bool has_only(const Line *cell, const char *bytes)
{
    for (size_t i = 0; i < cell->length; i++)
        if (!cell->text[i] || !strchr(bytes, cell->text[i]))
            return false;
    return cell->length > 0;
}

static bool is_figure(const Line *cell)
{
    return has_only(cell, "0123456789.,:;-+/%_") && cell->text[strcspn(cell->text, "0123456789")];
}

static bool is_phrase(const Line *cell) { return memchr(cell->text, ' ', cell->length) != NULL; }

/* Whether a cell may be a field's name: one word of letters. */
static bool is_name(const Line *cell)
{
    for (size_t i = 0; i < cell->length; i++) {
        const char c = cell->text[i], low = (char)(c | 0x20);
        if (!(low >= 'a' && low <= 'z') && c != '_' && c != '-' && !(i && c >= '0' && c <= '9'))
            return false;
    }
    return cell->length > 0;
}

/* "en", "English", "en-US": whether a header of pairs has such a name. */
static bool is_header_word(const Line *cell)
{
    size_t n = 0;
    while (n < cell->length && cell->text[n] != '-' && cell->text[n] != '_')
        n++;
    for (size_t i = 0; i < sizeof header_words / sizeof *header_words; i++)
        if (strlen(header_words[i]) == n && !strncasecmp(header_words[i], cell->text, n))
            return true;
    return false;
}

/* Whether a word stands in the line between other bytes than letters. */
static bool has_word(const Line *line, const Line *word)
{
    static const Line none = {"", 0};
    const char *end = line->text + line->length, *at = line->text;
    while ((at = memmem(at, (size_t)(end - at), word->text, word->length))) {
        const Line before = at > line->text ? (Line){at - 1, 1} : none,
                   behind = at + word->length < end ? (Line){at + word->length, 1} : none;
        if (!is_name(&before) && !is_name(&behind))
            return true;
        at++;
    }
    return false;
}

/* ---- the first line ---- */

/* Whether two words of the first line stand nowhere else, among pairs of phrases. */
static bool is_alone(const PairLook *look)
{
    int64_t phrases = 0;
    for (int64_t i = 1; i < look->n; i++) {
        const Line *sides[2] = {&look->sides[0]->at[i], &look->sides[1]->at[i]};
        phrases += is_phrase(sides[0]) || is_phrase(sides[1]);
        for (int k = 0; k < 2; k++)
            if (has_word(sides[k], &look->sides[k]->at[0]))
                return false;
    }
    return look->n > TELLING_PAIRS && phrases * 100 >= (look->n - 1) * PHRASES_SHARE;
}

static bool begins_with_header(const PairLook *look)
{
    const Line *first[2] = {&look->sides[0]->at[0], &look->sides[1]->at[0]};
    return is_name(first[0]) && is_name(first[1]) && look->n > 1 &&
           ((is_header_word(first[0]) && is_header_word(first[1])) || is_alone(look));
}

/* ---- other fields ---- */

/* How many cells are numbers, from one on. */
static int64_t count_figures(const Lines *lines, int64_t first, int64_t n)
{
    int64_t figures = 0;
    for (int64_t i = first; i < n; i++)
        figures += is_figure(&lines->at[i]);
    return figures;
}

static bool is_numeric(const PairLook *look, const Lines *lines)
{
    return count_figures(lines, look->first, look->n) * 100 >=
           (look->n - look->first) * NUMBERS_SHARE;
}

/* All fields of TSV or CSV whose fields have numbers. */
static void find_all(PairLook *look, const Source *begin)
{
    Diagnostics unseen;
    Arena *arena = look->job->arena;
    const char *numbers[MOST_FIELDS];
    const TableFormat format = look->fields->format;
    diag_init(&unseen, arena);
    const int64_t width = table_is_json(format) || table_is_conll(format) ||
                                  !field_pair_is_numbered(look->fields->fields)
                              ? 0
                              : table_width(&unseen, arena, begin, format);
    for (int64_t k = 0; k < width && k < MOST_FIELDS; k++)
        numbers[k] = arena_printf(arena, "%" PRId64, k + 1);
    const Table *table =
        width < 2 || width > MOST_FIELDS
            ? NULL
            : table_parse(&unseen, arena, begin, format, numbers, (size_t)width, NULL);
    if (!table || table->n != look->n)
        return;
    look->all = table->columns;
    look->n_all = (size_t)width;
}

/* Whether the first line is a header: it is taken for one, or stands above a field of numbers. */
static bool has_header(const PairLook *look)
{
    PairLook rest = *look;
    rest.first = 1;
    bool above = look->first;
    for (size_t c = 0; c < look->n_all && look->n > 1; c++)
        above = above || (is_numeric(&rest, look->all[c]) && look->all[c]->at[0].length &&
                          !is_figure(&look->all[c]->at[0]));
    return above;
}

/* What to do: the --column that reads the first two fields of text, by the names that a header has
 * for them; or what it is for. */
static const char *column_advice(const PairLook *look, const char *does)
{
    Arena *arena = look->job->arena;
    const bool headed = has_header(look);
    PairLook rest = *look;
    const char *given = "";
    int n = 0;
    rest.first = headed && look->n > 1;
    for (size_t c = 0; c < look->n_all && n < 2; c++) {
        const Line *name = &look->all[c]->at[0];
        if (is_numeric(&rest, look->all[c]))
            continue;
        const char *quote = headed && !is_name(name) ? "'" : "",
                   *field = headed ? arena_strndup(arena, name->text, name->length)
                                   : arena_printf(arena, "%zu", c + 1);
        given = arena_printf(arena, "%s%s--column %s=%s%s%s", given, n ? " " : "",
                             pair_sides.names[n], quote, field, quote);
        n++;
    }
    return n == 2 ? arena_printf(arena, "%s %s", given, does)
                  : arena_printf(arena, "--column %s=FIELD --column %s=FIELD choose the fields",
                                 pair_sides.names[0], pair_sides.names[1]);
}

/* ---- warnings ---- */

static void warn_of_header(const PairLook *look)
{
    const Loc place = lines_place(look->sides[0], 0);
    const char *advice = column_advice(look, "read the fields by these names");
    if (look->must_say)
        diag_error(&look->job->diags, place,
                   "this line looks like a header: %s; --column source=1 --column target=2 read it "
                   "as a pair",
                   advice);
    else
        diag_warning(&look->job->diags, place, "this line is read as a pair: if it is a header, %s",
                     advice);
}

static void warn_of_numbers(const PairLook *look, int k)
{
    const int64_t n = look->n - look->first,
                  figures = count_figures(look->sides[k], look->first, look->n);
    if (n < TELLING_PAIRS || figures * 100 < n * NUMBERS_SHARE)
        return;
    diag_warning(&look->job->diags, lines_place(look->sides[k], look->first),
                 "the %s are numbers, in %" PRId64 " of the first %" PRId64 " pairs: %s",
                 side_names[k], figures, n,
                 look->fields ? column_advice(look, "read the texts")
                              : "if this is not meant, give the file of the texts");
}

static bool is_same(const Line *a, const Line *b)
{
    return a->length && a->length == b->length && !memcmp(a->text, b->text, a->length);
}

static void warn_of_equal(const PairLook *look)
{
    const int64_t n = look->n - look->first;
    int64_t same = 0, first = 0;
    for (int64_t i = look->n; i-- > look->first;)
        if (is_same(&look->sides[0]->at[i], &look->sides[1]->at[i])) {
            first = i;
            same++;
        }
    if (n < TELLING_PAIRS || same * 100 <= n * EQUAL_SHARE)
        return;
    diag_warning(&look->job->diags, lines_place(look->sides[0], first),
                 "source and target are the same in %" PRId64 " of the first %" PRId64
                 " pairs, here first: a model would learn to copy; if this is not meant, %s",
                 same, n,
                 look->fields
                     ? "--column source=FIELD and --column target=FIELD choose other fields"
                     : "one of the files is the wrong one");
}

static void judge_pairs(PairLook *look, const TextList *columns)
{
    if (look->fields && !columns->count && field_pair_is_numbered(look->fields->fields) &&
        begins_with_header(look)) {
        look->first = 1;
        warn_of_header(look);
    }
    for (int k = 0; k < 2; k++)
        warn_of_numbers(look, k);
    warn_of_equal(look);
}

/* ---- texts ---- */

/* The sides of the beginning of a file. */
static bool cut_sides(PairLook *look, const Source *begin)
{
    Diagnostics unseen;
    Arena *arena = look->job->arena;
    diag_init(&unseen, arena);
    if (look->fields->is_table) {
        const Table *table =
            table_parse(&unseen, arena, begin, look->fields->format, look->fields->fields, 2, NULL);
        for (int k = 0; table && k < 2; k++)
            look->sides[k] = table->columns[k];
        look->n = table ? table->n : 0;
        return look->n > 0;
    }
    Lines *targets = NULL;
    const Lines *lines = lines_parse(&unseen, arena, begin, 0);
    look->sides[0] = lines ? lines_columns(&unseen, arena, lines, &targets) : NULL;
    look->sides[1] = targets;
    look->n = look->sides[0] ? look->sides[0]->n : 0;
    return look->n > 0;
}

void pair_look_at_file(Job *job, const char *path, const TextList *columns, bool must_say)
{
    PairFields fields;
    PairLook look = {.job = job, .fields = &fields, .must_say = must_say};
    const Source *begin = pair_file_beginning(job, path, columns, &fields);
    if (!begin || !cut_sides(&look, begin))
        return;
    find_all(&look, begin);
    judge_pairs(&look, columns);
}

void pair_look_at_sides(Job *job, const char *source, const char *target)
{
    static const TextList no_columns = {0};
    const char *const paths[2] = {source, target};
    Diagnostics unseen;
    PairFields fields;
    PairLook look = {.job = job, .n = INT64_MAX};
    diag_init(&unseen, job->arena);
    for (int k = 0; k < 2; k++) {
        const Source *begin = pair_file_beginning(job, paths[k], &no_columns, &fields);
        look.sides[k] = begin ? lines_parse(&unseen, job->arena, begin, 0) : NULL;
        if (!look.sides[k])
            return;
        look.n = look.sides[k]->n < look.n ? look.sides[k]->n : look.n;
    }
    judge_pairs(&look, &no_columns);
}
