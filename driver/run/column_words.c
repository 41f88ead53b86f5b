/* Lists of labels and vocabularies of columns: made for a training, kept in the folder of its
 * run. */
#define _GNU_SOURCE
#include "driver/run/column_words.h"

#include "base/file.h"
#include "driver/ports/ports.h"
#include "driver/ports/patterns.h"

#include <string.h>

const char *column_words_file(Arena *arena, const ColumnSpec *spec)
{
    return arena_printf(arena, "labels-%s.txt", spec->input);
}

/* `folder`: that names the file; NULL: the user does. */
static const Labels *read_list(Job *job, const ColumnSpec *spec, const char *folder,
                               const char *path, int64_t line_limit)
{
    const LineLimits limits = {.line = line_limit, .reach = job_reach(job, folder)};
    const Lines *lines = lines_read(&job->diags, job->arena, path, &limits);
    return lines ? labels_parse(&job->diags, job->arena, lines, column_marks(spec)) : NULL;
}

/* The path of a file that the model names: beside the file that does. If there is none, and the
 * model is that of the run in `folder`, `kept`, in which the run keeps what it was trained with. */
static const char *beside_model(Arena *arena, const Op *input, const char *folder, const char *path,
                                const char *kept)
{
    const char *model = input->loc.source ? input->loc.source->path : "";
    if (*path != '/' && strchr(model, '/'))
        path = file_in(arena, file_folder(arena, model), path);
    return folder && !file_exists(path) && file_exists(kept) ? kept : path;
}

bool column_words_are_counted(const DataColumns *columns, int c)
{
    return columns->words[c] && !strcmp(columns->words[c], "words");
}

static bool check_cell_labels(Diagnostics *diags, const ColumnSpec *spec, const Lines *cells,
                              int64_t i)
{
    Line label;
    const LabelMarks marks = column_marks(spec);
    for (size_t next = 0; cell_next_label(marks, &cells->at[i], &next, &label);) {
        if (marks.is_set && label.length && memchr(label.text, marks.between, label.length)) {
            diag_error(diags, lines_place(cells, i),
                       "the label '%.*s' of `%s` has the mark '%c' in it, which stands between "
                       "labels: write it otherwise, or choose another mark by many = \"MARK\"",
                       (int)label.length, label.text, spec->input, (int)marks.between);
            return false;
        }
        for (size_t at = 0; at < label.length; at++)
            if (label.text[at] == '\n' || label.text[at] == '\r' || label.text[at] == '\t') {
                const size_t before = (size_t)(label.text - cells->at[i].text);
                diag_error(diags, lines_place_within(cells, i, before + at),
                           "a label of `%s` has a line break or a tab in it", spec->input);
                return false;
            }
    }
    return true;
}

bool column_words_check_cells(Diagnostics *diags, const ColumnSpec *spec, const Lines *cells)
{
    if (cells->tensor)
        diag_error(diags, (Loc){0},
                   "`%s` has a list of words, and a tensor has numbers: declare it int",
                   spec->input);
    for (int64_t i = 0; i < cells->n && !cells->tensor; i++)
        if (!check_cell_labels(diags, spec, cells, i))
            return false;
    return !cells->tensor;
}

/* A label without the blanks around it, in the arena. */
static const char *bare_label(Arena *arena, const char *label)
{
    const char *begin = label + strspn(label, " "), *end = begin + strlen(begin);
    while (end > begin && end[-1] == ' ')
        end--;
    return arena_strndup(arena, begin, (size_t)(end - begin));
}

/* The parts of a label that a mark makes, each without blanks around it, are counted in `parts`;
 * with `counted`, whether one of them was counted at least twice. */
static bool cut_label(Arena *arena, const char *label, char mark, Map *parts, bool counted)
{
    bool found = false;
    for (const char *at = label, *stop; at; at = *stop ? stop + 1 : NULL) {
        stop = strchrnul(at, mark);
        const char *part = bare_label(arena, arena_strndup(arena, at, (size_t)(stop - at)));
        const uintptr_t n = (uintptr_t)map_get(parts, part);
        if (counted)
            found = found || (*part && n > 1);
        else
            map_set(parts, part, (void *)(n + 1));
    }
    return found;
}

/* The first of at least two labels that a mark cuts, most of them into parts that other labels
 * have, too; NULL: there is none. */
static const char *cut_by(const Labels *labels, char mark)
{
    Arena *scratch = arena_new();
    Map parts;
    const char *first = NULL;
    int64_t n = 0, shared = 0;
    map_init(&parts, scratch);
    for (size_t i = 0; i < labels->words.count; i++)
        cut_label(scratch, labels->words.data[i], mark, &parts, false);
    for (size_t i = 0; i < labels->words.count; i++) {
        const char *label = labels->words.data[i];
        if (!strchr(label, mark))
            continue;
        n++;
        shared += cut_label(scratch, label, mark, &parts, true);
        first = first ? first : label;
    }
    arena_free(scratch);
    return n > 1 && shared * 2 > n ? first : NULL;
}

/* Warns of a set whose labels have another mark between them than the column says. */
static void look_for_mark(Job *job, const ColumnSpec *spec, const Op *input)
{
    for (const char *mark = ",;|/"; *mark && spec->many; mark++) {
        const char *label = spec->many == *mark ? NULL : cut_by(spec->labels, *mark);
        if (label)
            diag_warning(&job->diags, input->loc,
                         "'%s' is one label of `%s`, and other labels have parts of it: if '%c' "
                         "stands between labels, write column(\"%s\", many = \"%c\") in place of "
                         "many = \"%c\"",
                         label, spec->input, *mark, ports_field(input), *mark, spec->many);
    }
}

/* Warns of labels that differ by blanks alone. */
static void look_at_labels(Job *job, const ColumnSpec *spec, const Op *input)
{
    Map seen; /* bare label → label */
    look_for_mark(job, spec, input);
    map_init(&seen, job->arena);
    for (size_t i = 0; i < spec->labels->words.count; i++) {
        const char *label = spec->labels->words.data[i], *bare = bare_label(job->arena, label),
                   *before = map_get(&seen, bare);
        if (before)
            diag_warning(
                &job->diags, (Loc){0},
                "the labels '%s' and '%s' of `%s` differ by blanks alone, and are two: write "
                "them alike if one is meant",
                before, label, spec->input);
        else
            map_set(&seen, bare, (void *)label);
    }
}

static const Labels *count_labels(Job *job, const ColumnSpec *spec, const Lines *cells)
{
    if (!cells)
        job_error(
            job,
            "the labels of `%s` are those of its data, which is not here: name the folder of a "
            "run, or write `vocab %s = words(\"FILE\")`",
            spec->input, spec->input);
    LabelSet set;
    if (!cells || !column_words_check_cells(&job->diags, spec, cells))
        return NULL;
    Arena *scratch = arena_scratch(job->arena);
    label_set_init(&set, scratch, column_marks(spec));
    label_set_see(&set, cells);
    const Labels *labels = label_set_list(&set, job->arena);
    arena_free(scratch);
    return labels;
}

static const char words_of_file[] = "words:";

static const Labels *make_list(Job *job, const char *folder, const Op *input,
                               const ColumnSpec *spec, const char *words, const Lines *cells,
                               int64_t line_limit)
{
    const size_t n = sizeof words_of_file - 1;
    if (strncmp(words, words_of_file, n))
        return count_labels(job, spec, cells);
    const char *kept =
        folder ? file_in(job->arena, folder, column_words_file(job->arena, spec)) : NULL;
    return read_list(job, spec, folder, beside_model(job->arena, input, folder, words + n, kept),
                     line_limit);
}

/* What makes a column's vocabulary; a file is beside the model. */
static const char *own_spec(Job *job, const char *folder, const Op *input, const ColumnSpec *column,
                            const char *spec)
{
    if (vocab_needs_text(spec))
        return spec;
    const size_t n =
        strncmp(spec, words_of_file, sizeof words_of_file - 1) ? 0 : sizeof words_of_file - 1;
    const char *kept = folder ? own_vocabulary_path(job, folder, column) : NULL;
    return arena_printf(job->arena, "%.*s%s", (int)n, spec,
                        beside_model(job->arena, input, folder, spec + n, kept));
}

bool column_words_make(Job *job, const char *folder, const ModelPorts *ports,
                       const DataColumns *columns, Lines *const *cells, int64_t line_limit,
                       const char *normalize)
{
    for (int c = 0; c < columns->n; c++) {
        ColumnSpec *spec = &columns->specs[c];
        const Op *input = ports->columns[c];
        const Lines *own = cells ? cells[c] : NULL;
        if (columns->words[c] && !(spec->labels && column_words_are_counted(columns, c)))
            spec->labels = make_list(job, folder, input, spec, columns->words[c], own, line_limit);
        if (spec->labels && column_words_are_counted(columns, c))
            look_at_labels(job, spec, input);
        if (columns->own[c] && !spec->vocab)
            spec->vocab = own_vocabulary_make(job, folder, spec,
                                              own_spec(job, folder, input, spec, columns->own[c]),
                                              own, normalize);
        if ((columns->words[c] && !spec->labels) || (columns->own[c] && !spec->vocab))
            return false;
    }
    return true;
}

/* A list of a folder, if it is the one that was recorded. */
static const Labels *read_recorded(Job *job, const char *folder, const RunRecord *record,
                                   const ColumnSpec *spec)
{
    const char *name = column_words_file(job->arena, spec),
               *path = file_in(job->arena, folder, name);
    const Labels *labels = read_list(job, spec, folder, path, 0);
    Text text = {0};
    if (!labels || !record)
        return labels;
    labels_print(labels, &text);
    if (run_record_has_changed(job, record, name, text.data, text.length)) {
        job_error(job, "%s is not the list that the run was made with: put that back", path);
        labels = NULL;
    }
    text_free(&text);
    return labels;
}

bool column_words_read(Job *job, const char *folder, const RunRecord *record,
                       const DataColumns *columns)
{
    for (int c = 0; c < columns->n; c++) {
        ColumnSpec *spec = &columns->specs[c];
        if (columns->words[c])
            spec->labels = read_recorded(job, folder, record, spec);
        if (columns->own[c])
            spec->vocab = own_vocabulary_read(job, folder, record, spec);
        if ((columns->words[c] && !spec->labels) || (columns->own[c] && !spec->vocab))
            return false;
    }
    return true;
}

/* The first label that the list lacks; NULL: none. */
static const char *other_label(const Labels *labels, const Labels *list)
{
    for (size_t i = 0; i < labels->words.count; i++) {
        const char *word = labels->words.data[i];
        if (labels_find(list, word, strlen(word)) < 0)
            return word;
    }
    return NULL;
}

/* What begins with the params of another list of labels. */
static bool refuse_labels(Job *job, const char *path, const ColumnSpec *spec, const Labels *was,
                          const Module *module, const TextList *head)
{
    const TextList all = patterns_params(job, module);
    const size_t n = spec->labels->words.count;
    const char *begin = "";
    if (head->count)
        begin = arena_printf(
            job->arena, ": %s begins with new ones for the %zu labels of the data%s",
            patterns_options(job->arena, "new", &all, head), n,
            n == was->words.count
                ? ""
                : ", and --set gives the constant that says how many the model tells apart");
    return job_error(
        job, "'%s' is none of the labels of `%s` in %s, for which the params were learned%s",
        other_label(spec->labels, was), spec->input, path, begin);
}

/* The labels of a column of the data, or those of the run in `path`: their order is the run's if
 * they are the same. */
static bool settle_labels(Job *job, const char *path, const Op *input, ColumnSpec *spec,
                          const Labels *was, NewParams *new)
{
    const RowParams head = ports_label_params(new->module, input);
    GrownRows grown = grown_labels(job->arena, was, spec->labels);
    const char *other = other_label(spec->labels, was);
    const bool differ = other || grown.lacks;
    if (other && !patterns_meet_all(new->fresh, &head.names))
        return refuse_labels(job, path, spec, was, new->module, &head.names);
    if (!differ || !patterns_meet_all(new->fresh, &head.names)) {
        spec->labels = was;
        return true;
    }
    grown.input = op_string(input, ATTR_name);
    if (grown.was)
        vec_push(job->arena, new->grown, grown);
    for (size_t i = 0; !grown.was && i < head.names.count; i++)
        vec_push(job->arena, new->anew, head.names.data[i]);
    diag_remark(&job->diags, (Loc){0},
                "the %zu labels of `%s` are those of the data, not the %zu of %s",
                spec->labels->words.count, spec->input, was->words.count, path);
    return true;
}

bool column_words_keep(Job *job, const char *folder, const ModelPorts *ports,
                       const DataColumns *columns, NewParams *new)
{
    RunRecord record;
    if (!run_record_read(job, folder, &record))
        return false;
    for (int c = 0; c < columns->n; c++) {
        ColumnSpec *spec = &columns->specs[c];
        if (spec->vocab && file_exists(own_vocabulary_path(job, folder, spec)) &&
            !(spec->vocab = own_vocabulary_read(job, folder, &record, spec)))
            return false;
        const char *path = file_in(job->arena, folder, column_words_file(job->arena, spec));
        if (!spec->labels || !file_exists(path))
            continue;
        const Labels *was = read_recorded(job, folder, &record, spec);
        if (!was || !settle_labels(job, path, ports->columns[c], spec, was, new))
            return false;
    }
    return true;
}

bool column_words_write(Job *job, const char *folder, const DataColumns *columns, RunRecord *record)
{
    bool ok = true;
    for (int c = 0; c < columns->n && ok; c++) {
        const ColumnSpec *spec = &columns->specs[c];
        Text text = {0};
        ok = !spec->vocab || own_vocabulary_write(job, folder, spec, record);
        if (!ok || !spec->labels)
            continue;
        labels_print(spec->labels, &text);
        const char *name = column_words_file(job->arena, spec);
        if (record)
            run_record_add_file(job, record, name, text.data, text.length);
        ok = file_write_own(&job->diags, file_in(job->arena, folder, name), text.data, text.length);
        text_free(&text);
    }
    return ok;
}

void column_words_set_sizes(Job *job, const DataColumns *columns, SessionOptions *session)
{
    for (int c = 0; c < columns->n; c++) {
        const ColumnSpec *spec = &columns->specs[c];
        if (spec->many && spec->counts && !setting_value(&session->settings, spec->counts))
            session_set_size(job, session, spec->counts, (int64_t)spec->labels->words.count);
        const char *name = arena_printf(job->arena, "%s_vocab", spec->input);
        if (spec->vocab && !setting_value(&session->settings, name))
            session_set_size(job, session, name, vocab_size(spec->vocab));
    }
}

void column_words_pass(const DataColumns *from, const DataColumns *to)
{
    for (int c = 0; c < to->n; c++) {
        to->specs[c].labels = from->specs[c].labels;
        to->specs[c].vocab = from->specs[c].vocab;
    }
}
