/* One reading of the validation tables, then one of the training table. */
#include "driver/corpus/survey/repeats.h"

#include "base/map.h"
#include "base/team.h"
#include "driver/corpus/prepare_report.h"
#include "driver/corpus/prepare_tables.h"
#include "driver/corpus/prepare_texts.h"
#include "driver/corpus/survey/record_fields.h"
#include "runtime/data/corpus_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WHOLE, INPUTS }; /* keys of Repeats */

typedef struct RecordLook {
    Job *job;
    const SurveyOptions *options;
    PrepareModel *model;
    PrepareOptions reading;
    Survey *out;
    Findings *findings;
    Repeats *repeats;
    const Vocabulary *vocab; /* NULL: none is given, and tokens are words for what needs some */
    Corpus *corpus;          /* the current record, as a training has it */
    RecordField fields[MOST_COLUMNS + 2];
    int n;
    Digest digest;
    bool names_files; /* there are several */
} RecordLook;

/* ---- fields ---- */

static void add_field(RecordLook *look, int value, const char *input, int name,
                      const ColumnSpec *spec)
{
    RecordField *field = &look->fields[look->n++];
    *field = (RecordField){.input = input,
                           .field = look->model->fields.names[name],
                           .value = value,
                           .kind = spec ? spec->kind : COLUMN_TEXT,
                           .spec = spec,
                           .least = INFINITY,
                           .most = -INFINITY};
    map_init(&field->counts, look->job->arena);
    const bool is_class = spec && spec->kind == COLUMN_INTEGERS && spec->below && spec->width == 1;
    field->has_labels = field->kind == COLUMN_LABELS || is_class;
    field->is_label = field->has_labels && spec->side < 0;
}

static void list_fields(RecordLook *look)
{
    const PrepareModel *m = look->model;
    if (m->fields.source >= 0)
        add_field(look, SIDE_SOURCE, m->ports.source, m->fields.source, NULL);
    if (m->fields.target >= 0)
        add_field(look, SIDE_TARGET, m->ports.target, m->fields.target, NULL);
    for (int c = 0; c < m->columns.n; c++)
        add_field(look, FIRST_COLUMN + c, m->columns.specs[c].input, m->fields.columns[c],
                  &m->columns.specs[c]);
    int labels = 0;
    for (int k = 0; k < look->n; k++)
        labels += look->fields[k].is_label;
    if (labels && labels < look->n)
        look->repeats->kinds[look->repeats->n++] =
            (RepeatKind){SURVEY_relabelled, SURVEY_overlap_relabelled};
}

/* The cells of a cut; a target alone is its one text. */
static void take_cells(RecordLook *look, const CorpusText *text)
{
    for (int k = 0; k < look->n; k++)
        look->fields[k].lines = look->fields[k].value == SIDE_TARGET
                                    ? corpus_targets(text)
                                    : text->values[look->fields[k].value];
}

/* ---- a record ---- */

static Cell cell_at(const Lines *lines, int64_t i)
{
    return lines->tensor ? (Cell){.tensor = lines->tensor, .row = i} : (Cell){.text = lines->at[i]};
}

/* The first text of the record, or else its first cell. */
static Line shown_cell(const RecordLook *look, int64_t i)
{
    const Lines *lines = look->fields[0].lines;
    for (int k = look->n; k-- > 0;)
        if (look->fields[k].kind == COLUMN_TEXT)
            lines = look->fields[k].lines;
    return lines->tensor ? (Line){"a tensor's row", 14} : lines->at[i];
}

/* What findings show of a record: its first text. */
static RawPair pair_of(const RecordLook *look, const CorpusText *text, int64_t i)
{
    const Lines *lines = corpus_lines(text);
    const Loc loc = lines->tensor ? (Loc){.line = (int)i + 1} : lines_place(lines, i);
    return (RawPair){.number = loc.line,
                     .file = look->names_files ? lines->source->path : NULL,
                     .sides = {{.line = shown_cell(look, i)}}};
}

static uint64_t hash_cell(RecordLook *look, const RecordField *field, int64_t i)
{
    const Lines *lines = field->lines;
    if (lines->tensor) {
        const size_t bytes = (size_t)lines->tensor->bytes / (size_t)lines->n;
        return hash_bytes(HASH_SEED, (const char *)lines->tensor->data + bytes * (size_t)i, bytes);
    }
    if (field->kind == COLUMN_TEXT)
        return look->digest.hash;
    return hash_bytes(HASH_SEED, lines->at[i].text, lines->at[i].length);
}

/* Hashes of the record, and what its texts are like; *is_empty: one has no word. */
static void count_texts(RecordLook *look, int64_t i, bool counts, uint64_t hashes[REPEAT_KEYS],
                        bool *is_empty)
{
    hashes[WHOLE] = hashes[INPUTS] = HASH_SEED;
    *is_empty = false;
    for (int k = 0; k < look->n; k++) {
        RecordField *field = &look->fields[k];
        if (field->kind == COLUMN_TEXT && !field->lines->tensor) {
            digest_line(&look->digest, &field->lines->at[i]);
            if (counts)
                text_counts_add(&field->text, &look->digest);
            *is_empty = *is_empty || !look->digest.words;
        }
        const uint64_t hash = hash_cell(look, field, i);
        hashes[WHOLE] = hash_u64(hashes[WHOLE], hash);
        if (!field->is_label)
            hashes[INPUTS] = hash_u64(hashes[INPUTS], hash);
    }
}

static CorpusRow encode_record(RecordLook *look, const CorpusText *text, int64_t i)
{
    Cell cells[MOST_COLUMNS];
    for (int c = 0; c < look->corpus->options.n_columns; c++)
        cells[c] = cell_at(text->columns[c], i);
    corpus_clear(look->corpus);
    return corpus_add_record(look->corpus, 0, text->source ? &text->source->at[i] : NULL,
                             text->target ? &text->target->at[i] : NULL, cells);
}

/* Why a training refuses the record; NULL: it does not. */
static const char *refusal_of(RecordLook *look, const CorpusRow *row, Arena *arena)
{
    if (row->wrong_column >= 0)
        return look->corpus->fault.text;
    if (row->is_uneven && look->out->has_tokens)
        return corpus_uneven_text(arena, look->corpus, row);
    return row->is_refused ? look->corpus->refusal : NULL;
}

/* What a good record's cells hold, which are the corpus's only row. How many tokens are unknown. */
static int64_t count_row(RecordLook *look, const CorpusText *text, int64_t record)
{
    const Lines *targets = corpus_targets(text);
    int64_t unknown = 0;
    for (int k = 0; k < look->n; k++) {
        RecordField *field = &look->fields[k];
        const Rows *rows = &look->corpus->values[field->value];
        const int column = field->value - FIRST_COLUMN;
        const int64_t n = rows_length(rows, 0);
        if (field->kind == COLUMN_TEXT)
            unknown += look->out->has_tokens ? text_counts_tokens(&field->text, rows->ids.data, n,
                                                                  &field->lines->at[record])
                                             : 0;
        else if (column >= 0 && corpus_is_beside_target(look->corpus, column))
            record_field_count_beside(look->job->arena, field, look->corpus, column,
                                      targets ? &targets->at[record] : NULL, look->out->has_tokens,
                                      look->out->lines);
        else
            for (int64_t i = 0; i < n; i++)
                if (!field->spec || !field->spec->many)
                    record_field_count(field, rows->ids.data[i]);
                else if (rows->ids.data[i])
                    record_field_count(field, (int32_t)i);
    }
    return unknown;
}

/* ---- records ---- */

/* Adds a finding of the kind if the record just encoded is refused; whether it is. `of`: before the
 * reason. */
static bool find_refused(RecordLook *look, SurveyKind kind, const RawPair *pair,
                         const CorpusRow *row, const char *of)
{
    Arena *scratch = arena_new();
    const char *why = refusal_of(look, row, scratch);
    if (why)
        findings_add(look->findings, kind, pair, everywhere, "%s%s%s", of, *of ? ": " : "", why);
    arena_free(scratch);
    return why != NULL;
}

/* Record i of validation table v. */
static void hold_record(RecordLook *look, const CorpusText *text, int64_t i, size_t v)
{
    const char *name = look->options->valid.data[v].name;
    const RawPair pair = pair_of(look, text, i);
    uint64_t hashes[REPEAT_KEYS];
    bool is_empty;
    count_texts(look, i, false, hashes, &is_empty);
    repeats_hold(look->repeats, v, hashes);
    const CorpusRow row = encode_record(look, text, i);
    find_refused(look, SURVEY_valid_refused, &pair, &row, name ? name : "validation");
}

static void look_at_record(RecordLook *look, const CorpusText *text, int64_t i)
{
    const RawPair pair = pair_of(look, text, i);
    uint64_t hashes[REPEAT_KEYS];
    bool is_empty;
    look->out->lines++;
    count_texts(look, i, true, hashes, &is_empty);
    const CorpusRow row = encode_record(look, text, i);
    if (find_refused(look, SURVEY_refused, &pair, &row, ""))
        return;
    if (row.is_long && look->out->has_tokens)
        findings_add(look->findings, SURVEY_over_length, &pair, everywhere, "%lld tokens",
                     (long long)row.tokens);
    const int64_t unknown = row.is_kept ? count_row(look, text, i) : 0;
    if (unknown)
        findings_add(look->findings, SURVEY_unknown, &pair, everywhere, "%lld unknown",
                     (long long)unknown);
    if (is_empty || row.is_empty)
        findings_add(look->findings, SURVEY_empty, &pair, everywhere, NULL);
    else
        repeats_find(look->repeats, &pair, look->out->lines, hashes);
}

/* ---- reading ---- */

/* The records of the training table, or of validation table `held`; -1: the former. */
static bool read_part(RecordLook *look, const TextPart *part, int held)
{
    for (int64_t k = 0; k < part->n_cuts; k++) {
        const TextCut *cut = &part->cuts[k];
        PrepareReport report;
        CorpusText text;
        int64_t first;
        prepare_report_begin(&report);
        const bool ok =
            table_part_read(&report.diags, report.arena, &look->reading, part, cut, &text, &first);
        if (ok)
            take_cells(look, &text);
        for (int64_t i = first; ok && i < first + cut->lines; i++)
            if (held >= 0)
                hold_record(look, &text, i, (size_t)held);
            else
                look_at_record(look, &text, i);
        if (!prepare_reports_tell(look->job, &report, 1, sizeof report))
            return false;
    }
    return true;
}

/* Vocabularies of their own that a training would make from the texts: tokens are words here. */
static void leave_out_vocabularies(RecordLook *look)
{
    const DataColumns *columns = &look->model->columns;
    for (int c = 0; c < columns->n; c++)
        if (columns->own[c] && vocab_needs_text(columns->own[c])) {
            columns->specs[c].vocab = vocab_empty(&look->job->diags, look->job->arena);
            look->out->has_tokens = false;
        }
}

/* The labels of the training table, and the corpus that records are encoded in. */
static bool open_corpus(RecordLook *look, const TextParts *parts)
{
    const PrepareModel *m = look->model;
    const int64_t said = look->options->max_length;
    leave_out_vocabularies(look);
    if (!table_labels(look->job, &look->reading, parts))
        return false;
    for (int c = 0; c < look->model->columns.n; c++) {
        ColumnSpec *spec = &look->model->columns.specs[c];
        if (spec->many && spec->counts) /* as a training sets it */
            spec->width = spec->below = (int64_t)spec->labels->words.count;
    }
    CorpusOptions options = {.kind = m->kind,
                             .same_lengths = m->same_lengths,
                             .columns = m->columns.specs,
                             .n_columns = m->columns.n,
                             .formulas = m->columns.formulas};
    if (look->out->has_tokens)
        options.max_length = said ? said : m->max_length;
    look->corpus = corpus_new(
        look->vocab ? look->vocab : vocab_empty(&look->job->diags, look->job->arena), &options);
    for (int k = 0; look->out->has_tokens && k < look->n; k++) {
        RecordField *field = &look->fields[k];
        if (field->kind == COLUMN_TEXT)
            text_counts_open(&field->text,
                             corpus_vocab(&options, look->corpus->vocab, field->value));
    }
    return true;
}

static bool read_valid(RecordLook *look)
{
    bool ok = true;
    for (size_t v = 0; v < look->options->valid.count && ok; v++) {
        TextParts parts;
        look->reading.texts = look->options->valid.data[v].files;
        ok = prepare_texts(look->job, &look->reading, &parts);
        look->names_files = parts.n > 1;
        for (int i = 0; ok && i < parts.n; i++)
            ok = read_part(look, &parts.data[i], (int)v);
        prepare_texts_free(&parts);
    }
    return ok;
}

static bool read_all(RecordLook *look)
{
    TextParts parts;
    look->reading.texts = look->options->train.files;
    bool ok = prepare_texts(look->job, &look->reading, &parts) && open_corpus(look, &parts) &&
              read_valid(look);
    look->names_files = parts.n > 1;
    for (int i = 0; ok && i < parts.n; i++) {
        ok = read_part(look, &parts.data[i], -1);
        look->out->file =
            i ? arena_printf(look->job->arena, "%s, %s", look->out->file, parts.data[i].name[0])
              : parts.data[i].name[0];
    }
    prepare_texts_free(&parts);
    return ok;
}

/* ---- results ---- */

static int by_count(const void *a, const void *b)
{
    const SurveyLabel *x = a, *y = b;
    return x->n != y->n ? x->n < y->n ? 1 : -1 : strcmp(x->label, y->label);
}

static SurveyColumn column_of(Arena *arena, const RecordField *field)
{
    SurveyColumn column = {.name = field->input,
                           .field = field->field,
                           .kind = field->kind,
                           .has_labels = field->has_labels,
                           .numbers = field->numbers,
                           .least = field->least,
                           .most = field->most,
                           .example = field->example};
    text_counts_put(&field->text, arena, &column);
    if (field->numbers)
        column.mean = field->sum / (double)field->numbers;
    if (field->has_labels && field->spec->below)
        column.classes = field->spec->below - field->spec->first;
    SurveyLabel *labels = ARENA_ARRAY(arena, SurveyLabel, field->counts.count + 1);
    for (size_t i = 0; i < field->counts.count; i++)
        labels[i] = (SurveyLabel){field->counts.entries[i].key,
                                  (int64_t)(uintptr_t)field->counts.entries[i].value};
    qsort(labels, field->counts.count, sizeof *labels, by_count);
    column.labels = labels;
    column.n_labels = field->counts.count;
    return column;
}

static void put_results(RecordLook *look)
{
    Survey *out = look->out;
    out->columns = ARENA_ARRAY(look->job->arena, SurveyColumn, look->n + 1);
    for (int k = 0; k < look->n; k++)
        out->columns[out->n_columns++] = column_of(look->job->arena, &look->fields[k]);
    out->findings[SURVEY_over_length].is_looked_for = look->corpus->options.max_length > 0;
    out->findings[SURVEY_unknown].is_looked_for = look->vocab && look->out->has_tokens;
    out->findings[SURVEY_empty].is_looked_for = look->model->has_text;
}

bool survey_records(const SurveyOptions *options, const Vocabulary *vocab, PrepareModel *model,
                    Repeats *repeats)
{
    const char *folder = getenv("TMPDIR");
    RecordLook look = {.job = repeats->findings->job,
                       .options = options,
                       .model = model,
                       .vocab = vocab,
                       .out = repeats->findings->out,
                       .findings = repeats->findings,
                       .repeats = repeats,
                       .reading = {.table = model,
                                   .line_limit = options->line_limit,
                                   .threads = team_default(),
                                   .folder = folder && *folder ? folder : "/tmp"}};
    /* as a training has them: all vocabularies are there, or no text is */
    look.out->has_tokens = vocab || !model->has_text;
    list_fields(&look);
    const bool ok = read_all(&look);
    if (ok)
        put_results(&look);
    corpus_free(look.corpus);
    digest_free(&look.digest);
    for (int k = 0; k < look.n; k++)
        text_counts_free(&look.fields[k].text);
    return ok;
}
