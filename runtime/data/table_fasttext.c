/* Records of fastText's training files (Joulin et al. 2016): a line has its labels first, each a
 * word __label__NAME, and then its text. */
#include "runtime/data/table_reader.h"
#include "runtime/rows/record_json.h"

#include <string.h>

enum { FASTTEXT_LABELS, FASTTEXT_TEXT, FASTTEXT_FIELDS };
static const char label_mark[] = TABLE_FASTTEXT_MARK;
static const size_t label_mark_size = sizeof label_mark - 1;

/* -1: there is no such field. */
static int fasttext_field(const char *name)
{
    static const char *const names[][3] = {
        [FASTTEXT_LABELS] = {"label", "labels", "1"}, [FASTTEXT_TEXT] = {"text", "text", "2"}};
    for (int field = 0; field < FASTTEXT_FIELDS; field++)
        for (int i = 0; i < 3; i++)
            if (!strcmp(names[field][i], name))
                return field;
    return -1;
}

bool table_find_fasttext(TableReader *r, TableHead *head)
{
    head->width = FASTTEXT_FIELDS;
    for (size_t k = 0; k < head->n_fields; k++) {
        const int field = fasttext_field(head->fields[k].text);
        if (field < 0) {
            diag_error(r->diags, lines_place(r->lines, 0),
                       "lines that begin with " TABLE_FASTTEXT_MARK
                       " have the fields 'label' and 'text', "
                       "and not '%s': --column INPUT=label takes them for an input",
                       head->fields[k].text);
            return false;
        }
        head->index[k] = (size_t)field;
    }
    return true;
}

/* Whether the labels of a line may be several: they are a list, or nobody wants them. */
static bool takes_several(const TableHead *head)
{
    bool takes = true;
    for (size_t k = 0; k < head->n_fields; k++)
        if (head->index[k] == FASTTEXT_LABELS)
            takes = head->takes && (head->takes[k] & FIELD_TEXTS);
    return takes;
}

static bool is_label(const char *at, const char *end)
{
    return (size_t)(end - at) >= label_mark_size && !memcmp(at, label_mark, label_mark_size);
}

/* The end of the word at `at`. */
static const char *word_end(const char *at, const char *end)
{
    while (at < end && *at != ' ' && *at != '\t')
        at++;
    return at;
}

static const char *pass_gap(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return at;
}

int64_t table_next_fasttext(TableReader *r, Line *cells, size_t room)
{
    const int64_t number = r->line++;
    const Line *line = &r->lines->at[number];
    const char *end = line->text + line->length, *at = pass_gap(line->text, end), *stop;
    if (room < FASTTEXT_FIELDS)
        return FASTTEXT_FIELDS;
    char *labels = arena_alloc(r->arena, line->length + 1), *last = labels;
    int64_t n = 0;
    for (; is_label(at, end); at = pass_gap(stop, end), n++) {
        stop = word_end(at, end);
        for (const char *c = at + label_mark_size; c < stop; c++)
            *last++ = *c;
        *last++ = '\n';
    }
    if (!n && !takes_several(r->head))
        return table_fault(r, number, line->text,
                           "the line has no label, and the model takes one: give it one "
                           "(" TABLE_FASTTEXT_MARK "NAME), or leave it out, as fastText does");
    if (n > 1 && !takes_several(r->head))
        return table_fault(r, number, line->text,
                           "the line has %lld labels, and the model takes one: "
                           "`column(\"label\", many = \" \")` takes a set",
                           (long long)n);
    cells[FASTTEXT_LABELS] =
        (Line){labels, (size_t)(last - labels) - (n && !takes_several(r->head))};
    cells[FASTTEXT_TEXT] = (Line){at, (size_t)(end - at)};
    for (; at < end; at = pass_gap(stop, end)) {
        stop = word_end(at, end);
        if (is_label(at, stop))
            return table_fault(r, number, at,
                               "a label behind the text: a line has its labels first");
    }
    return FASTTEXT_FIELDS;
}
