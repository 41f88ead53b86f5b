/* One reading of the validation tables, then one of the training table. */
#include "driver/corpus/survey/records.h"

#include "base/map.h"
#include "base/team.h"
#include "driver/corpus/prepare_report.h"
#include "driver/corpus/prepare_tables.h"
#include "driver/corpus/prepare_texts.h"
#include "driver/corpus/survey/digest.h"
#include "driver/corpus/survey/findings.h"
#include "driver/corpus/survey/record_fields.h"
#include "runtime/data/corpus_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* HeldTable: a validation table by hashes of whole records and of their inputs. */
typedef struct HeldTable {
    const char *name;
    LineHashes hashes[2];
    VEC(uint64_t) rows[2];
} HeldTable;

enum { WHOLE, INPUTS };

typedef struct RecordLook {
    Job *job;
    const SurveyOptions *options;
    PrepareModel *model;
    PrepareOptions reading;
    RecordSurvey *out;
    const Vocabulary *vocab; /* NULL: none is given, and tokens are words for what needs some */
    bool has_tokens;         /* as a training has them: all vocabularies are there, or no text is */
    Corpus *corpus;          /* the current record, as a training has it */
    RecordField fields[MOST_COLUMNS + 2];
    int n;
    Digest digest;
    LineHashes seen[2];
    HeldTable *held;
    bool has_label, has_inputs, names_files; /* names_files: there are several */
} RecordLook;

/* ---- fields ---- */

static void add_field(RecordLook *look, const char *input, const char *name, const ColumnSpec *spec)
{
    RecordField *field = &look->fields[look->n++];
    *field = (RecordField){.input = input,
                           .field = name,
                           .kind = spec ? spec->kind : COLUMN_TEXT,
                           .spec = spec,
                           .least = INFINITY,
                           .most = -INFINITY};
    map_init(&field->counts, look->job->arena);
    const bool is_class = spec && spec->kind == COLUMN_INTEGERS && spec->below && spec->width == 1;
    field->has_labels = field->kind == COLUMN_LABELS || is_class;
    field->is_label = field->has_labels && spec->side < 0;
    look->has_label = look->has_label || field->is_label;
    look->has_inputs = look->has_inputs || !field->is_label;
}

static void list_fields(RecordLook *look)
{
    const PrepareModel *m = look->model;
    if (m->fields.source >= 0)
        add_field(look, m->ports.source, m->fields.names[m->fields.source], NULL);
    if (m->fields.target >= 0)
        add_field(look, m->ports.target, m->fields.names[m->fields.target], NULL);
    for (int c = 0; c < m->columns.n; c++)
        add_field(look, m->columns.specs[c].input, m->fields.names[m->fields.columns[c]],
                  &m->columns.specs[c]);
}

/* The cells of a cut. */
static void take_cells(RecordLook *look, const CorpusText *text)
{
    int k = 0;
    if (text->source)
        look->fields[k++].lines = text->source;
    if (text->target)
        look->fields[k++].lines = text->target;
    for (int c = 0; k < look->n; c++)
        look->fields[k++].lines = text->columns[c];
}

/* ---- a record ---- */

/* Where a record is: the cut's cells, and the number among them. */
typedef struct RecordPlace {
    const CorpusText *text;
    int64_t i;
} RecordPlace;

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

__attribute__((format(printf, 4, 5))) static void
find_record(RecordLook *look, RecordKind kind, const RecordPlace *place, const char *note, ...)
{
    SurveyFinding *finding = &look->out->findings[kind];
    Arena *arena = look->job->arena;
    if (finding->lines++ >= look->options->examples)
        return;
    const Lines *lines = corpus_lines(place->text);
    const Line cell = shown_cell(look, place->i);
    const Loc loc = lines->tensor ? (Loc){.line = (int)place->i + 1} : lines_place(lines, place->i);
    SurveyExample example = {.line = loc.line, .sides = {finding_excerpt(arena, &cell, 0)}};
    if (note) {
        va_list args;
        va_start(args, note);
        example.note = arena_vprintf(arena, note, args);
        va_end(args);
    }
    if (look->names_files)
        example.note = arena_printf(arena, "%s%s%s", lines->source->path, note ? ", " : "",
                                    note ? example.note : "");
    vec_push(arena, finding->examples, example);
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

static void count_text(RecordLook *look, RecordField *field, int64_t i)
{
    digest_line(&look->digest, &field->lines->at[i]);
    length_spread_add(&field->characters, look->digest.characters);
    length_spread_add(&field->words, look->digest.words);
}

/* Hashes of the record, and what its texts are like; *is_empty: one has no word. */
static void count_texts(RecordLook *look, int64_t i, bool counts, uint64_t hashes[2],
                        bool *is_empty)
{
    hashes[WHOLE] = hashes[INPUTS] = HASH_SEED;
    *is_empty = false;
    for (int k = 0; k < look->n; k++) {
        RecordField *field = &look->fields[k];
        if (field->kind == COLUMN_TEXT && !field->lines->tensor) {
            if (counts)
                count_text(look, field, i);
            else
                digest_line(&look->digest, &field->lines->at[i]);
            *is_empty = *is_empty || !look->digest.words;
        }
        const uint64_t hash = hash_cell(look, field, i);
        hashes[WHOLE] = hash_u64(hashes[WHOLE], hash);
        if (!field->is_label)
            hashes[INPUTS] = hash_u64(hashes[INPUTS], hash);
    }
}

static CorpusRow encode_record(RecordLook *look, const RecordPlace *place)
{
    Cell cells[MOST_COLUMNS];
    const CorpusText *text = place->text;
    for (int c = 0; c < look->corpus->options.n_columns; c++)
        cells[c] = cell_at(text->columns[c], place->i);
    corpus_clear(look->corpus);
    return corpus_add_record(look->corpus, 0, text->source ? &text->source->at[place->i] : NULL,
                             text->target ? &text->target->at[place->i] : NULL, cells);
}

/* Why a training refuses the record; NULL: it does not. */
static const char *refusal_of(RecordLook *look, const CorpusRow *row, Arena *arena)
{
    if (row->wrong_column >= 0)
        return look->corpus->fault.text;
    if (row->is_uneven && look->has_tokens)
        return corpus_uneven_text(arena, look->corpus, row);
    return row->is_refused ? look->corpus->refusal : NULL;
}

/* Ids of a text, as a row has them; how many are unknown. */
static int64_t count_tokens(RecordField *field, const Vocabulary *vocab, const Rows *rows)
{
    UnknownCount count = {0};
    const int64_t n = rows_length(rows, 0);
    unknown_add(&count, rows->ids.data, (size_t)n, vocab_rules(vocab)->unk);
    length_spread_add(&field->tokens, n);
    field->unknown += count.unknown;
    return count.unknown;
}

/* What a good record's cells hold, which are the corpus's only row; `text`: its target. How many
 * tokens are unknown. */
static int64_t count_row(RecordLook *look, const Line *text)
{
    const Corpus *corpus = look->corpus;
    int64_t unknown = 0;
    int c = 0;
    for (int k = 0; k < look->n; k++) {
        RecordField *field = &look->fields[k];
        const bool is_target = !field->spec && field->input == look->model->ports.target;
        const Rows *rows = field->spec ? &corpus->columns[c++]
                           : is_target ? &corpus->target
                                       : &corpus->source;
        const Vocabulary *vocab = field->spec ? column_vocab(field->spec, corpus->vocab)
                                  : is_target ? corpus->vocab
                                              : vocab_source(corpus->vocab);
        if (field->kind == COLUMN_TEXT) {
            unknown += count_tokens(field, vocab, rows);
            continue;
        }
        if (field->spec && corpus_is_beside_target(corpus, c - 1)) {
            record_field_count_beside(look->job->arena, field, look->corpus, c - 1, text,
                                      look->has_tokens, look->out->records);
            continue;
        }
        for (int64_t i = 0; i < rows_length(rows, 0); i++) {
            record_field_count(field, rows->ids.data[i]);
        }
    }
    return unknown;
}

/* ---- validation tables ---- */

static void hold_record(RecordLook *look, const RecordPlace *place, HeldTable *held)
{
    uint64_t hashes[2];
    bool is_empty;
    Arena *scratch = arena_new();
    count_texts(look, place->i, false, hashes, &is_empty);
    for (int h = 0; h < 2; h++) {
        line_hashes_add(&held->hashes[h], hashes[h], (int64_t)held->rows[h].count + 1);
        vec_push(look->job->arena, held->rows[h], hashes[h]);
    }
    const CorpusRow row = encode_record(look, place);
    const char *why = refusal_of(look, &row, scratch);
    if (why)
        find_record(look, RECORD_valid_refused, place, "%s: %s",
                    held->name ? held->name : "validation", why);
    arena_free(scratch);
}

/* Whether the record, or one with the same inputs, is in a validation table. */
static void find_overlap(RecordLook *look, const RecordPlace *place, const uint64_t hashes[2])
{
    bool is_told[2] = {0};
    for (size_t v = 0; v < look->options->valid.count; v++) {
        HeldTable *held = &look->held[v];
        int64_t line[2];
        for (int h = 0; h < 2; h++)
            line[h] = line_hashes_find(&held->hashes[h], hashes[h], true);
        const int h = line[WHOLE] ? WHOLE : INPUTS;
        if (!line[h] || is_told[h] || (h == INPUTS && !look->has_label))
            continue;
        is_told[h] = true;
        find_record(look, h == WHOLE ? RECORD_overlap : RECORD_overlap_relabelled, place,
                    "%s, record %lld", held->name ? held->name : "validation", (long long)line[h]);
    }
}

/* ---- the training table ---- */

static void find_again(RecordLook *look, const RecordPlace *place, const uint64_t hashes[2])
{
    const int64_t number = look->out->records;
    const int64_t whole = line_hashes_add(&look->seen[WHOLE], hashes[WHOLE], number);
    const int64_t inputs = line_hashes_add(&look->seen[INPUTS], hashes[INPUTS], number);
    if (whole)
        find_record(look, RECORD_duplicate, place, "as record %lld", (long long)whole);
    else if (inputs && look->has_label && look->has_inputs)
        find_record(look, RECORD_relabelled, place, "as record %lld", (long long)inputs);
}

/* Whether the record is refused. */
static bool find_refused(RecordLook *look, const RecordPlace *place, const CorpusRow *row)
{
    Arena *scratch = arena_new();
    const char *why = refusal_of(look, row, scratch);
    if (why)
        find_record(look, RECORD_refused, place, "%s", why);
    arena_free(scratch);
    return why != NULL;
}

static const Line *target_of(const RecordPlace *place)
{
    const Lines *targets = corpus_targets(place->text);
    return targets ? &targets->at[place->i] : NULL;
}

static void look_at_record(RecordLook *look, const RecordPlace *place)
{
    uint64_t hashes[2];
    bool is_empty;
    look->out->records++;
    count_texts(look, place->i, true, hashes, &is_empty);
    const CorpusRow row = encode_record(look, place);
    if (find_refused(look, place, &row))
        return;
    if (row.is_long && look->has_tokens)
        find_record(look, RECORD_over_length, place, "%lld tokens", (long long)row.tokens);
    const int64_t unknown = row.is_kept ? count_row(look, target_of(place)) : 0;
    if (unknown && look->has_tokens)
        find_record(look, RECORD_unknown, place, "%lld unknown", (long long)unknown);
    if (is_empty || row.is_empty) {
        find_record(look, RECORD_empty, place, NULL);
        return;
    }
    find_again(look, place, hashes);
    find_overlap(look, place, hashes);
}

/* ---- reading ---- */

/* Calls look_at_record, or with `held` hold_record, for each record. */
static bool read_part(RecordLook *look, const TextPart *part, HeldTable *held)
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
        for (int64_t i = first; ok && i < first + cut->lines; i++) {
            const RecordPlace place = {&text, i};
            if (held)
                hold_record(look, &place, held);
            else
                look_at_record(look, &place);
        }
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
            look->has_tokens = false;
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
    CorpusOptions options = {.kind = m->kind,
                             .same_lengths = m->same_lengths,
                             .columns = m->columns.specs,
                             .n_columns = m->columns.n,
                             .formulas = m->columns.formulas};
    if (look->has_tokens)
        options.max_length = said ? said : m->max_length;
    look->corpus = corpus_new(
        look->vocab ? look->vocab : vocab_empty(&look->job->diags, look->job->arena), &options);
    return true;
}

static bool read_valid(RecordLook *look)
{
    bool ok = true;
    for (size_t v = 0; v < look->options->valid.count && ok; v++) {
        TextParts parts;
        look->held[v].name = look->options->valid.data[v].name;
        look->reading.texts = look->options->valid.data[v].files;
        ok = prepare_texts(look->job, &look->reading, &parts);
        look->names_files = parts.n > 1;
        for (int i = 0; ok && i < parts.n; i++)
            ok = read_part(look, &parts.data[i], &look->held[v]);
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
        ok = read_part(look, &parts.data[i], NULL);
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
    SurveyColumn column = {.input = field->input,
                           .field = field->field,
                           .kind = field->kind,
                           .has_labels = field->has_labels,
                           .characters = length_spread_of(&field->characters),
                           .words = length_spread_of(&field->words),
                           .tokens = length_spread_of(&field->tokens),
                           .unknown = field->unknown,
                           .numbers = field->numbers,
                           .least = field->least,
                           .most = field->most,
                           .example = field->example};
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
    RecordSurvey *out = look->out;
    const bool valid = look->options->valid.count > 0;
    out->has_tokens = look->has_tokens;
    out->columns = ARENA_ARRAY(look->job->arena, SurveyColumn, look->n + 1);
    for (int k = 0; k < look->n; k++)
        out->columns[out->n_columns++] = column_of(look->job->arena, &look->fields[k]);
    for (int i = 0; i < RECORD_KINDS; i++)
        out->findings[i].is_looked_for = true;
    out->findings[RECORD_valid_refused].is_looked_for = valid;
    out->findings[RECORD_over_length].is_looked_for = look->corpus->options.max_length > 0;
    out->findings[RECORD_unknown].is_looked_for = look->vocab && look->has_tokens;
    out->findings[RECORD_empty].is_looked_for = look->model->has_text;
    out->findings[RECORD_overlap].is_looked_for = valid;
    for (size_t v = 0; v < look->options->valid.count; v++) {
        const HeldTable *held = &look->held[v];
        SurveyTable table = {.name = held->name, .records = (int64_t)held->rows[WHOLE].count};
        for (size_t i = 0; i < held->rows[WHOLE].count; i++) {
            const bool whole =
                line_hashes_is_marked(&held->hashes[WHOLE], held->rows[WHOLE].data[i]);
            table.whole += whole;
            table.inputs +=
                !whole && line_hashes_is_marked(&held->hashes[INPUTS], held->rows[INPUTS].data[i]);
        }
        vec_push(look->job->arena, out->valid, table);
    }
}

static void free_look(RecordLook *look)
{
    corpus_free(look->corpus);
    digest_free(&look->digest);
    for (int h = 0; h < 2; h++) {
        line_hashes_free(&look->seen[h]);
        for (size_t v = 0; v < look->options->valid.count; v++)
            line_hashes_free(&look->held[v].hashes[h]);
    }
    for (int k = 0; k < look->n; k++) {
        length_spread_free(&look->fields[k].characters);
        length_spread_free(&look->fields[k].words);
        length_spread_free(&look->fields[k].tokens);
    }
}

bool survey_records(Job *job, PrepareModel *model, const SurveyOptions *options,
                    RecordSurvey *result)
{
    static const SurveyFinding kinds[] = {
#define FINDING(name_, is_fault_, title_, advice_) \
    {.name = #name_, .is_fault = is_fault_, .title = title_, .advice = advice_},
#include "driver/corpus/survey/records.def"
#undef FINDING
    };
    const char *folder = getenv("TMPDIR");
    Vocabulary *vocab;
    *result = (RecordSurvey){0};
    memcpy(result->findings, kinds, sizeof kinds);
    if (!survey_vocabulary(job, &options->vocab, &vocab))
        return false;
    RecordLook look = {.job = job,
                       .options = options,
                       .model = model,
                       .vocab = vocab,
                       .has_tokens = vocab || !model->has_text,
                       .out = result,
                       .reading = {.table = model,
                                   .line_limit = options->line_limit,
                                   .threads = team_default(),
                                   .folder = folder && *folder ? folder : "/tmp"}};
    look.held = ARENA_ARRAY(job->arena, HeldTable, options->valid.count + 1);
    list_fields(&look);
    const bool ok = read_all(&look);
    if (ok)
        put_results(&look);
    free_look(&look);
    return ok;
}
