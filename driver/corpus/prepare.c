/* Making the shards of prepared data, several at a time. */
#include "driver/corpus/prepare.h"

#include "base/file.h"
#include "base/map.h"
#include "base/team.h"
#include "driver/corpus/prepare_report.h"
#include "driver/corpus/prepare_tables.h"
#include "driver/corpus/prepare_texts.h"
#include "driver/run/column_words.h"
#include "driver/run/lock.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Task: a shard that is to be made.
 *   unknown   unknown tokens of source, target and columns */
typedef struct Task {
    const TextPart *part;
    const TextCut *cut;
    StreamPlace place; /* of a stream */
    bool ends;         /* with its text's last line */
    const char *path;
    TokenShard shard;
    int64_t unknown[MOST_VALUES];
    bool kept;
    PrepareReport report;
} Task;

typedef struct Tasks {
    const PrepareOptions *options;
    const Vocabulary *vocab;
    CorpusOptions rows; /* of a shard; their place apart */
    int id_bytes;
    Task *data;
    int n;
    atomic_bool *failed;
    atomic_int *n_done;
} Tasks;

static CorpusKind kind_of(const PrepareOptions *o)
{
    return o->table               ? o->table->kind
           : !o->texts.text.count ? CORPUS_PAIRS
           : o->lines             ? CORPUS_LINES
                                  : CORPUS_STREAM;
}

static CorpusOptions rows_of(const PrepareOptions *o)
{
    CorpusOptions options = {.kind = kind_of(o)};
    if (options.kind != CORPUS_STREAM)
        options.max_length = o->max_length;
    if (o->table) {
        options.columns = o->table->columns.specs;
        options.n_columns = o->table->columns.n;
        options.formulas = o->table->columns.formulas;
        options.same_lengths = o->table->same_lengths;
    }
    return options;
}

/* ---- a shard ---- */

static uint64_t hash_id_range(uint64_t hash, const IdRange *range)
{
    hash = hash_u64(hash_u64(hash, (uint64_t)range->least), (uint64_t)range->below);
    hash = hash_u64(hash_u64(hash, (uint64_t)range->period), (uint64_t)range->from);
    return hash_u64(hash, (uint64_t)range->to);
}

static uint64_t hash_columns(uint64_t hash, const PrepareModel *model)
{
    Arena *arena = arena_new();
    for (int k = 0; k < model->fields.n; k++)
        hash = hash_string(hash, model->fields.names[k]);
    for (int c = 0; c < model->columns.n; c++) {
        const ColumnSpec *spec = &model->columns.specs[c];
        hash = hash_string(hash_string(hash, spec->input), column_holds(arena, spec));
        hash = hash_u64(hash_u64(hash, (uint64_t)spec->side), (uint64_t)spec->below);
        for (int64_t i = 0; i < spec->ids.n; i++)
            hash = hash_id_range(hash, &spec->ids.at[i]);
    }
    arena_free(arena);
    return hash;
}

/* Of all that decides what the shard's rows are. */
static uint64_t shard_parameters(const Tasks *tasks, const Task *task)
{
    enum { ORDER_OF_ROWS = 1 }; /* another number where the rows of the same lines become others */
    const TextPart *part = task->part;
    uint64_t hash = hash_u64(hash_u64(HASH_SEED, ORDER_OF_ROWS), vocab_hash(tasks->vocab));
    hash = hash_u64(hash_u64(hash, (uint64_t)corpus_kind_numbers[tasks->rows.kind]),
                    (uint64_t)tasks->id_bytes);
    hash = hash_u64(hash, (uint64_t)tasks->options->max_length);
    if (corpus_limit(&tasks->rows) != tasks->rows.max_length)
        hash = hash_u64(hash, (uint64_t)corpus_limit(&tasks->rows));
    if (tasks->options->table)
        hash = hash_columns(hash, tasks->options->table);
    if (vocab_rules(tasks->vocab)->text.newline < 0)
        hash = hash_u64(hash_u64(hash, task->place), task->ends);
    for (int k = 0; k < part->n; k++)
        hash = hash_string(hash, part->text[k].sha256);
    return hash_u64(hash_u64(hash, (uint64_t)task->cut->line), (uint64_t)task->cut->lines);
}

/* Counts the unknown tokens of a shard that is open. */
static void count_all_unknown(const Tasks *tasks, Task *task)
{
    for (int k = 0; k < corpus_values(&tasks->rows); k++) {
        UnknownCount count = {0};
        if (corpus_is_text(&tasks->rows, k))
            token_shard_unknown(&task->shard.sides[k],
                                vocab_rules(corpus_vocab(&tasks->rows, tasks->vocab, k))->unk,
                                &count);
        task->unknown[k] = count.unknown;
    }
}

/* The same of one that has just been written. */
static bool count_written(const Tasks *tasks, Task *task)
{
    const TokenShard figures = task->shard;
    if (!token_shard_open(&task->report.diags, task->path, &task->shard))
        return false;
    count_all_unknown(tasks, task);
    token_shard_close(&task->shard);
    task->shard = figures;
    return true;
}

/* Whether the file is there already, made of the same lines in the same way; then *task has its
 * figures. */
static bool is_there(const Tasks *tasks, Task *task, uint64_t parameters)
{
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    int64_t sizes[MOST_VALUES];
    corpus_sizes(&tasks->rows, tasks->vocab, sizes);
    bool opened = file_exists(task->path) && token_shard_open(&diags, task->path, &task->shard);
    bool ok = opened && task->shard.parameters == parameters &&
              task->shard.kind == tasks->rows.kind && task->shard.id_bytes == tasks->id_bytes &&
              task->shard.n_columns == tasks->rows.n_columns &&
              token_shard_check(&diags, &task->shard, sizes);
    if (ok)
        count_all_unknown(tasks, task);
    const TokenShard shard = task->shard;
    if (opened)
        token_shard_close(&task->shard);
    task->shard = shard; /* its figures */
    arena_free(arena);
    return ok;
}

static bool read_records(const Tasks *tasks, Task *task, Corpus *rows)
{
    CorpusText text;
    int64_t first;
    Diagnostics *diags = &task->report.diags;
    return table_part_read(diags, task->report.arena, tasks->options, task->part, task->cut, &text,
                           &first) &&
           corpus_add_records(diags, rows, &text, first, task->cut->lines, NULL);
}

static bool read_rows(const Tasks *tasks, Task *task, Corpus *rows)
{
    PairReader reader;
    Line sides[2];
    Diagnostics *diags = &task->report.diags;
    bool ok = pair_reader_open(diags, task->part, task->cut, tasks->options->line_limit, &reader);
    for (int64_t i = 0; ok && i < task->cut->lines && !atomic_load(tasks->failed); i++) {
        ok = pair_reader_next(diags, &reader, sides);
        if (ok && tasks->rows.kind == CORPUS_STREAM)
            corpus_add_stream(rows, &sides[0]);
        else if (ok)
            corpus_add(rows, i, &sides[0], tasks->rows.kind == CORPUS_PAIRS ? &sides[1] : NULL);
    }
    if (tasks->rows.kind == CORPUS_STREAM)
        corpus_close_stream(rows, task->ends);
    if (ok && rows->refused) {
        diag_error(diags, (Loc){0}, "%s:%" PRId64 ": %s: shorten the line", task->part->name[0],
                   task->cut->line + rows->refused_line + 1, rows->refusal);
        ok = false;
    }
    pair_reader_close(&reader);
    return ok;
}

static bool make_shard(const Tasks *tasks, Task *task, uint64_t parameters)
{
    CorpusOptions options = tasks->rows;
    options.place = task->place;
    Corpus *rows = corpus_new(tasks->vocab, &options);
    prepare_report_begin(&task->report);
    task->shard = (TokenShard){.id_bytes = tasks->id_bytes, .parameters = parameters};
    bool ok = (tasks->options->table ? read_records : read_rows)(tasks, task, rows);
    ok = ok && !atomic_load(tasks->failed) &&
         token_shard_write(&task->report.diags, task->path, rows, &task->shard) &&
         count_written(tasks, task);
    corpus_free(rows);
    if (ok) /* what has been read of a table, too */
        prepare_report_drop(&task->report);
    return ok;
}

static void run_task(const void *context, int64_t index)
{
    const Tasks *tasks = context;
    Task *task = &tasks->data[index];
    uint64_t parameters = shard_parameters(tasks, task);
    if (atomic_load(tasks->failed))
        return;
    task->kept = is_there(tasks, task, parameters);
    if (!task->kept && !make_shard(tasks, task, parameters))
        atomic_store(tasks->failed, true);
    else if (tasks->options->progress)
        tasks->options->progress(atomic_fetch_add(tasks->n_done, 1) + 1, tasks->n);
}

/* ---- all of them ---- */

static Tasks list_tasks(Job *job, const PrepareOptions *o, const TextParts *parts,
                        const Vocabulary *vocab)
{
    int32_t source_size = vocab_size(vocab_source(vocab)), size = vocab_size(vocab);
    Tasks tasks = {.options = o,
                   .vocab = vocab,
                   .rows = rows_of(o),
                   .id_bytes = token_shard_id_bytes(source_size, size)};
    int64_t n = 0;
    for (int i = 0; i < parts->n; i++)
        n += parts->data[i].n_cuts;
    tasks.data = ARENA_ARRAY(job->arena, Task, n + 1);
    for (int i = 0; i < parts->n; i++)
        for (int64_t k = 0; k < parts->data[i].n_cuts; k++, tasks.n++)
            tasks.data[tasks.n] =
                (Task){.part = &parts->data[i],
                       .cut = &parts->data[i].cuts[k],
                       .place = k   ? STREAM_GOES_ON
                                : i ? STREAM_FOLLOWS
                                    : STREAM_BEGINS,
                       .ends = k + 1 == parts->data[i].n_cuts,
                       .path = prepared_shard_path(job->arena, o->folder, tasks.n)};
    return tasks;
}

static bool make_shards(Job *job, const PrepareOptions *o, Tasks *tasks)
{
    atomic_bool failed = false;
    atomic_int n_done = 0;
    tasks->failed = &failed;
    tasks->n_done = &n_done;
    team_each(o->threads, tasks->n, run_task, tasks);
    return prepare_reports_tell(job, &tasks->data->report, (size_t)tasks->n, sizeof *tasks->data);
}

/* Shards that an earlier call with other options left behind these. */
static void remove_others(Job *job, const PrepareOptions *o, int64_t first)
{
    while (!unlink(prepared_shard_path(job->arena, o->folder, first)))
        first++;
}

static void add_side(PreparedSide *sum, const TokenSide *side, int64_t unknown)
{
    sum->tokens += side->tokens;
    if (sum->unknown >= 0)
        sum->unknown += unknown;
    if (side->longest > sum->longest)
        sum->longest = side->longest;
}

static void add_shards(Job *job, const Tasks *tasks, PrepareResult *result)
{
    Prepared *p = &result->prepared;
    for (int i = 0; i < tasks->n; i++) {
        const TokenShard *shard = &tasks->data[i].shard;
        p->lines += shard->lines;
        p->rows += shard->rows;
        p->empty += shard->empty;
        p->long_ += shard->long_;
        p->parameters = hash_u64(p->parameters, shard->parameters);
        PreparedShard entry = {.rows = shard->rows,
                               .source = shard->source.tokens,
                               .target = shard->target.tokens,
                               .parameters = shard->parameters,
                               .checksum = shard->checksum};
        for (int k = 0; k < FIRST_COLUMN + shard->n_columns; k++) {
            add_side(k == SIDE_SOURCE   ? &p->source
                     : k == SIDE_TARGET ? &p->target
                                        : &p->columns.data[k - FIRST_COLUMN],
                     &shard->sides[k], tasks->data[i].unknown[k]);
            entry.values += k < FIRST_COLUMN ? 0 : shard->sides[k].tokens;
        }
        vec_push(job->arena, p->shards, entry);
        result->kept += tasks->data[i].kept;
    }
}

static bool check_rows(Job *job, const Prepared *p)
{
    bool stream = p->kind == CORPUS_STREAM;
    if (stream ? p->target.tokens >= 2 : p->rows > 0)
        return true;
    return job_error(job,
                     stream ? "the text is too short: it has %" PRId64 " tokens"
                            : "no line of %" PRId64 " can be used",
                     stream ? p->target.tokens : p->lines);
}

/* What the folder holds whole already is not made into something else under a training's feet. */
static bool check_folder(Job *job, const PrepareOptions *o, const Tasks *tasks)
{
    Diagnostics unseen;
    diag_init(&unseen, job->arena);
    const Prepared *was = prepared_open(&unseen, job->arena, job_reach(job, o->folder));
    if (!was) /* or it is damaged */
        return true;
    uint64_t parameters = hash_u64(HASH_SEED, (uint64_t)o->window_rows);
    for (int i = 0; i < tasks->n; i++)
        parameters = hash_u64(parameters, shard_parameters(tasks, &tasks->data[i]));
    return parameters == was->parameters ||
           job_error(job,
                     "%s was prepared from other texts or in another way: take another folder, or "
                     "remove it",
                     o->folder);
}

static void name_side(const PrepareModel *model, const char *input, int field, PreparedSide *side)
{
    side->input = field < 0 ? NULL : input;
    side->field = field < 0 ? NULL : model->fields.names[field];
}

static void name_columns(Job *job, const PrepareModel *model, Prepared *p)
{
    const TableFields *fields = &model->fields;
    name_side(model, model->ports.source, fields->source, &p->source);
    name_side(model, model->ports.target, fields->target, &p->target);
    for (int c = 0; c < model->columns.n; c++) {
        const ColumnSpec *spec = &model->columns.specs[c];
        PreparedSide column = {.unknown = spec->kind == COLUMN_TEXT ? 0 : -1,
                               .holds = column_holds(job->arena, spec)};
        name_side(model, spec->input, fields->columns[c], &column);
        vec_push(job->arena, p->columns, column);
    }
}

static bool make_all(Job *job, const PrepareOptions *o, TextParts *parts, PrepareResult *result)
{
    Prepared *p = &result->prepared;
    TextList tokens = {0};
    if (o->table && !table_labels(job, o, parts))
        return false;
    const Vocabulary *vocab = prepare_vocabulary(job, o, parts, &tokens);
    if (!vocab || (o->table && !prepare_model_fit(job, &o->settings, vocab, o->table)))
        return false;
    Tasks tasks = list_tasks(job, o, parts, vocab);
    if (!check_folder(job, o, &tasks) || !prepare_vocabulary_save(job, o, vocab, &tokens) ||
        (o->table && !column_words_write(job, o->folder, &o->table->columns, NULL)) ||
        !make_shards(job, o, &tasks))
        return false;
    *p = (Prepared){.folder = o->folder,
                    .kind = tasks.rows.kind,
                    .id_bytes = tasks.id_bytes,
                    .max_length = o->max_length,
                    .window_rows = o->window_rows,
                    .parameters = hash_u64(HASH_SEED, (uint64_t)o->window_rows),
                    .vocabulary = prepared_vocabulary(job->arena, vocab)};
    for (size_t i = 0; i < tokens.count; i++)
        vec_push(job->arena, p->tokens, tokens.data[i]);
    for (int i = 0; i < parts->n; i++)
        for (int k = 0; k < parts->data[i].n; k++)
            vec_push(job->arena, p->texts, parts->data[i].text[k]);
    if (o->table)
        name_columns(job, o->table, p);
    add_shards(job, &tasks, result);
    remove_others(job, o, tasks.n);
    prepared_tell_unknown(&job->diags, p);
    return check_rows(job, p) && prepared_write(&job->diags, p);
}

bool prepare(Job *job, const PrepareOptions *o, PrepareResult *result)
{
    RunLock lock = {.fd = -1};
    TextParts parts = {0};
    *result = (PrepareResult){0};
    bool ok = run_lock_take(job, OWN_PREPARED, o->folder, &lock) && prepare_texts(job, o, &parts) &&
              make_all(job, o, &parts, result);
    prepare_texts_free(&parts);
    run_lock_free(&lock);
    return ok;
}
