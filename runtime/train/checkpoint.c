/* Saving and loading checkpoints. */
#include "runtime/train/checkpoint.h"

#include "base/json_record.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Gradients are zero between steps. */
static bool is_saved(const StoreTensor *tensor)
{
    return tensor->role != TFC_GRADIENT && tensor->data;
}

static StTensor describe_checkpoint(const StoreTensor *tensor)
{
    StTensor out = {.name = tensor->name,
                    .type = (StType)tensor->type,
                    .rank = tensor->rank,
                    .count = tensor->count,
                    .data = tensor->data,
                    .bytes = (uint64_t)tensor->count * element_info(tensor->type)->bytes};
    memcpy(out.dims, tensor->dims, sizeof out.dims);
    return out;
}

/* ---- values that are no numbers ---- */

/* What training computes: a constant of the model's may be infinite. */
static bool is_computed(const StoreTensor *tensor)
{
    return is_saved(tensor) && tensor->role != TFC_FROZEN;
}

/* By blocks whose counts are as wide as the values, so that a compiler makes vectors of them. */
static int64_t count_bad_f32(const uint32_t *bits, int64_t n, int64_t *first)
{
    enum { BLOCK = 1 << 14 };
    int64_t bad = 0;
    for (int64_t from = 0; from < n; from += BLOCK) {
        int64_t to = n - from < BLOCK ? n : from + BLOCK;
        uint32_t some = 0;
#pragma omp simd reduction(+ : some)
        for (int64_t i = from; i < to; i++)
            some += (bits[i] & 0x7f800000u) == 0x7f800000u;
        bad += some;
    }
    for (int64_t i = n; bad && i-- > 0;)
        if ((bits[i] & 0x7f800000u) == 0x7f800000u)
            *first = i;
    return bad;
}

static int64_t count_bad_f64(const double *values, int64_t n, int64_t *first)
{
    int64_t bad = 0;
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(values[i]) && !bad++)
            *first = i;
    return bad;
}

/* Elements of a tensor from number `from` on, which are here. */
static bool check_values(Diagnostics *diags, const char *what, const StTensor *here, int64_t from,
                         bool whole)
{
    StNotFinite bad = {0};
    if (here->type == (StType)TFC_F32)
        bad.n = count_bad_f32(here->data, here->count, &bad.first);
    else if (here->type == (StType)TFC_F64)
        bad.n = count_bad_f64(here->data, here->count, &bad.first);
    return st_check_finite(diags, what, here, bad, from, !whole);
}

static bool check_store(Diagnostics *diags, const char *what, const StoreTensor *tensor)
{
    StTensor here = describe_checkpoint(tensor);
    return check_values(diags, what, &here, 0, true);
}

static int64_t count_whole(const CheckpointPart *part)
{
    int64_t count = 1;
    for (int i = 0; i < part->rank; i++)
        count *= part->dims[i];
    return count;
}

static bool check_part(Diagnostics *diags, const char *what, const CheckpointPart *part)
{
    StTensor here = {
        .name = part->name, .type = (StType)part->type, .count = part->count, .data = part->data};
    return check_values(diags, what, &here, part->from, part->count == count_whole(part));
}

bool checkpoint_check_tensor(Diagnostics *diags, const char *what, const StoreTensor *tensor)
{
    return !is_computed(tensor) || check_store(diags, what, tensor);
}

bool checkpoint_check(Diagnostics *diags, const char *what, Store *store)
{
    bool ok = true;
    for (int64_t i = 0; ok && i < store_count(store); i++)
        ok = checkpoint_check_tensor(diags, what, store_at(store, i));
    return ok;
}

/* ---- the state of a training ---- */

/* Counts of steps and the like: with these, sums and products stay within 64 bits. */
#define MOST_STEPS (INT64_C(1) << 53)
/* clang-format off */
#define ROW(key, type, use, ...) JSON_FIELD(TrainState, #key, type, key, use, __VA_ARGS__)
#define FROM_0 .most = MOST_STEPS
#define ANY_SIGN .least = -MOST_STEPS, .most = MOST_STEPS
static const JsonField state_fields[] = {
    ROW(step,        INTEGER,  NEEDED,   FROM_0),
    ROW(epoch,       INTEGER,  NEEDED,   FROM_0),
    ROW(batch,       INTEGER,  NEEDED,   FROM_0),
    ROW(seed,        UNSIGNED, NEEDED),
    ROW(best,        EXACT,    NEEDED),
    ROW(best_step,   INTEGER,  NEEDED,   FROM_0),
    ROW(horizon,     INTEGER,  NEEDED,   ANY_SIGN),
    ROW(bad,         INTEGER,  NEEDED,   FROM_0),
    ROW(config,      UNSIGNED, NEEDED),
    ROW(warmup,      INTEGER,  OPTIONAL, ANY_SIGN), /* of a shortened warm-up */
    ROW(window,      INTEGER,  OPTIONAL, FROM_0),   /* of prepared data */
    ROW(thresholds,  TEXT,     OPTIONAL),           /* of sets of labels */
};
/* After a validation. */
static const JsonField judged_fields[] = {
    ROW(judge,       UNSIGNED, WRITTEN),
    ROW(judge_texts, UNSIGNED, WRITTEN),
    ROW(judge_from,  INTEGER,  WRITTEN,  ANY_SIGN),
    ROW(best_loss,   EXACT,    WRITTEN),
};
#undef ROW
/* clang-format on */
static const JsonRecord state_record = JSON_RECORD_OF(TrainState, state_fields),
                        judged_record = JSON_RECORD_OF(TrainState, judged_fields);
enum { N_STATE_META = 17 }; /* the format and both */

/* Adds the members that a writer writes. Out of memory: the arena has failed. */
static void checkpoint_add_meta(Arena *arena, const JsonRecord *kind, const void *record,
                                StMeta *meta, int *n)
{
    char text[JSON_FIELD_TEXT];
    for (int i = 0; i < kind->n; i++) {
        const JsonField *field = &kind->fields[i];
        if (json_field_is_written(field, record))
            meta[(*n)++] =
                (StMeta){field->name, arena_strdup(arena, json_field_text(field, record, text))};
    }
}

static int make_meta(Arena *arena, const TrainState *s, StMeta meta[N_STATE_META])
{
    int n = 0;
    meta[n++] = (StMeta){ST_FORMAT, ST_FORMAT_OWN};
    checkpoint_add_meta(arena, &state_record, s, meta, &n);
    if (s->judge)
        checkpoint_add_meta(arena, &judged_record, s, meta, &n);
    return n;
}

/* Sets the members to what the file says, others to their defaults. False after an error. */
static bool checkpoint_read_meta(const StFile *file, const JsonRecord *kind, void *record,
                                 Diagnostics *diags)
{
    for (int i = 0; i < kind->n; i++) {
        const JsonField *field = &kind->fields[i];
        const char *text = st_meta(file, field->name);
        json_field_clear(field, record);
        if (!text && field->use == JSON_NEEDED) {
            diag_error(diags, (Loc){0},
                       "%s: not a checkpoint of a training: the field '%s' is missing", file->path,
                       field->name);
            return false;
        }
        if (text && !json_field_set(field, text, record)) {
            diag_error(diags, (Loc){0}, "%s: %s: the field '%s'", file->path,
                       field->type == JSON_INTEGER
                           ? "a position in the training that is negative or beyond 2^53"
                           : "not a checkpoint of a training, or damaged",
                       field->name);
            return false;
        }
    }
    return true;
}

static bool read_state(const StFile *file, TrainState *state, Diagnostics *diags)
{
    *state = (TrainState){0};
    if (!checkpoint_read_meta(file, &state_record, state, diags) ||
        !checkpoint_read_meta(file, &judged_record, state, diags))
        return false;
    const bool ok = !isnan(state->best) && state->best_step <= state->step;
    if (!ok)
        diag_error(diags, (Loc){0},
                   "%s: not a checkpoint of a training, or damaged: its best step is %" PRId64
                   " (%g) of %" PRId64,
                   file->path, state->best_step, state->best, state->step);
    return ok;
}

/* ---- writing ---- */

/* Contents: a checkpoint's tensors, and what this process writes of each. */
typedef struct Contents {
    StTensor *tensors;
    StPart *parts;
    int64_t n;
} Contents;

static void describe_own(Contents *contents, const CheckpointPart *part)
{
    uint64_t size = element_info(part->type)->bytes;
    StTensor tensor = {.name = part->name, .type = (StType)part->type, .rank = part->rank};
    memcpy(tensor.dims, part->dims, sizeof part->dims);
    contents->tensors[contents->n] = tensor;
    contents->parts[contents->n++] =
        (StPart){part->data, (uint64_t)part->from * size, (uint64_t)part->count * size};
}

/* A tensor of the store that is no part: all or nothing. */
static void add_rest(Contents *contents, const StoreTensor *tensor, bool is_here)
{
    StTensor out = describe_checkpoint(tensor);
    contents->tensors[contents->n] = out;
    contents->parts[contents->n++] = is_here ? (StPart){out.data, 0, out.bytes} : (StPart){0};
}

/* False after an error. */
static bool add_all(Diagnostics *diags, const char *path, Store *store,
                    const CheckpointParts *parts, const Map *names, Contents *contents)
{
    bool ok = true;
    for (int64_t i = 0; ok && i < parts->n; i++) {
        ok = check_part(diags, path, &parts->list[i]);
        describe_own(contents, &parts->list[i]);
    }
    for (int64_t i = 0; ok && i < store_count(store); i++) {
        const StoreTensor *tensor = store_at(store, i);
        if (!is_saved(tensor) || map_has(names, tensor->name))
            continue;
        ok = !parts->rest || !is_computed(tensor) || check_store(diags, path, tensor);
        add_rest(contents, tensor, parts->rest);
    }
    return ok;
}

StWriter *checkpoint_writer(Diagnostics *diags, Arena *arena, const char *path, Store *store,
                            const CheckpointParts *parts)
{
    int64_t most = parts->n + store_count(store);
    Contents contents = {ARENA_ARRAY(arena, StTensor, most + 1),
                         ARENA_ARRAY(arena, StPart, most + 1), 0};
    Map names;
    map_init(&names, arena);
    for (int64_t i = 0; i < parts->n; i++)
        map_set(&names, parts->list[i].name, (void *)(uintptr_t)&parts->list[i]);
    if (!arena_failed(arena) && !add_all(diags, path, store, parts, &names, &contents))
        return NULL;
    StWriter *writer = arena_failed(arena)
                           ? NULL
                           : st_writer_new(arena, contents.tensors, contents.parts, contents.n);
    if (!writer)
        diag_errno(diags, "write", path, ENOMEM);
    return writer;
}

uint64_t checkpoint_header(StWriter *writer, Arena *arena, const TrainState *state)
{
    StMeta meta[N_STATE_META];
    int n = make_meta(arena, state, meta);
    return arena_failed(arena) ? 0 : st_make_header(writer, meta, n, true);
}

bool checkpoint_save(Diagnostics *diags, Arena *arena, const char *path, bool is_own, Store *store,
                     const TrainState *state)
{
    const CheckpointParts all = {.rest = true};
    StMeta meta[N_STATE_META];
    StWriter *writer = checkpoint_writer(diags, arena, path, store, &all);
    int n = make_meta(arena, state, meta);
    if (writer && arena_failed(arena))
        diag_errno(diags, "write", path, ENOMEM);
    return writer && !arena_failed(arena) && st_write_alone(diags, path, is_own, writer, meta, n);
}

/* ---- reading ---- */

static const char *dims_text(Arena *arena, int rank, const int64_t *dims)
{
    const char *text = "";
    for (int i = 0; text && i < rank; i++)
        text = arena_printf(arena, "%s%s%" PRId64, text, i ? ", " : "", dims[i]);
    text = text ? arena_printf(arena, "[%s]", text) : NULL;
    return text ? text : "[…]";
}

/* The whole tensor of the file; NULL after an error. */
static const StTensor *find_tensor(Diagnostics *diags, Arena *arena, const StFile *file,
                                   const char *name, int32_t rank, const int64_t *dims)
{
    const StTensor *found = st_find(file, name);
    if (!found) {
        diag_error(diags, (Loc){0}, "%s: the tensor '%s' is missing", file->path, name);
        return NULL;
    }
    if (found->rank != rank || memcmp(found->dims, dims, sizeof(int64_t) * (size_t)rank)) {
        diag_error(diags, (Loc){0}, "%s: the tensor '%s' is %s, but the model's is %s", file->path,
                   name, dims_text(arena, found->rank, found->dims), dims_text(arena, rank, dims));
        return NULL;
    }
    return st_check_whole(diags, file, found) ? found : NULL;
}

/* The elements as the type, from the first on. */
static bool read_values(Diagnostics *diags, const StFile *file, const StTensor *from, TfcType type,
                        void *out)
{
    bool ok = false;
    if (from->type == (StType)type) {
        if (from->bytes)
            memcpy(out, from->data, from->bytes);
        ok = true;
    } else if (type == TFC_F32)
        ok = st_to_f32(from, out);
    else if (type == TFC_I32)
        ok = st_to_i32(from, out);
    else if (type == TFC_F64)
        ok = st_to_f64(from, out);
    if (!ok)
        diag_error(diags, (Loc){0},
                   "%s: the tensor '%s' has an element type that the model's cannot "
                   "take",
                   file->path, from->name);
    return ok;
}

static bool load_tensor(Diagnostics *diags, Arena *arena, const StFile *file, StoreTensor *tensor)
{
    const StTensor *found =
        find_tensor(diags, arena, file, tensor->name, tensor->rank, tensor->dims);
    return found && read_values(diags, file, found, tensor->type, tensor->data) &&
           checkpoint_check_tensor(diags, file->path, tensor);
}

static bool load_part(Diagnostics *diags, Arena *arena, const StFile *file,
                      const CheckpointPart *part)
{
    const StTensor *found = find_tensor(diags, arena, file, part->name, part->rank, part->dims);
    if (!found)
        return false;
    const size_t size = element_info(found->type)->bytes;
    StTensor slice = *found;
    slice.first = part->from;
    if (!found->scales.data)
        slice.data = (const char *)found->data + (size_t)part->from * size;
    slice.count = part->count;
    slice.bytes = (uint64_t)part->count * size;
    return read_values(diags, file, &slice, part->type, part->data) &&
           check_part(diags, file->path, part);
}

/* Whether the file lacks a slot that it need not have. */
static bool is_fresh(Arena *arena, const StFile *file, const char *name, CheckpointSlots *slots)
{
    if (!slots || st_find(file, name))
        return false;
    if (!slots->fresh++)
        slots->first_fresh = arena_strdup(arena, name);
    return true;
}

static void count_dropped(Arena *arena, const StFile *file, Store *store,
                          const CheckpointParts *parts, CheckpointSlots *slots)
{
    for (int64_t i = 0; i < file->n; i++) {
        const char *name = file->tensors[i].name;
        bool wanted = file->tensors[i].is_scale || store_find(store, name) != NULL;
        for (int64_t p = 0; !wanted && parts && p < parts->n; p++)
            wanted = !strcmp(parts->list[p].name, name);
        if (!wanted && !slots->dropped++)
            slots->first_dropped = arena_strdup(arena, name);
    }
}

/* With slots, those that are not there are no error. */
static bool load_store(Diagnostics *diags, Arena *arena, const char *path, Store *store,
                       bool wanted(const StoreTensor *), const CheckpointParts *parts,
                       TrainState *state, CheckpointSlots *slots)
{
    StFile *file = st_open(diags, arena, path);
    if (!file)
        return false;
    bool ok = st_check_whole(diags, file, NULL) && (!state || read_state(file, state, diags));
    int missing = 0;
    for (int64_t i = 0; ok && i < store_count(store) && missing < 5; i++) {
        StoreTensor *tensor = store_at(store, i);
        bool is_slot = tensor->role == TFC_SLOT;
        if (wanted(tensor) && !(is_slot && is_fresh(arena, file, tensor->name, slots)))
            missing += !load_tensor(diags, arena, file, tensor);
    }
    for (int64_t i = 0; ok && parts && i < parts->n && missing < 5; i++) {
        /* those that are not in the store are slots */
        const CheckpointPart *part = &parts->list[i];
        if (!store_find(store, part->name) && !is_fresh(arena, file, part->name, slots))
            missing += !load_part(diags, arena, file, part);
    }
    if (slots)
        count_dropped(arena, file, store, parts, slots);
    st_close(file);
    store_changed(store);
    return ok && !missing;
}

bool checkpoint_load(Diagnostics *diags, Arena *arena, const char *path, Store *store,
                     const CheckpointParts *parts, TrainState *state, CheckpointSlots *slots)
{
    return load_store(diags, arena, path, store, is_saved, parts, state, slots);
}

bool checkpoint_load_params(Diagnostics *diags, Arena *arena, const char *path, Store *store,
                            TrainState *state)
{
    return load_store(diags, arena, path, store, store_is_param, NULL, state, NULL);
}

/* ---- averaging ---- */

/* Adds one checkpoint's tensor. */
static bool add_checkpoint_tensor(const StFile *file, const StoreTensor *tensor, double *sum)
{
    const StTensor *found = st_find(file, tensor->name);
    if (!found || found->count != tensor->count || !st_is_whole(file, found))
        return false;
    for (int64_t i = 0; i < found->count; i++)
        sum[i] += st_value(found, i);
    return true;
}

static bool is_averaged(const StoreTensor *tensor)
{
    return store_is_param(tensor) && (tensor->type == TFC_F32 || tensor->type == TFC_F64);
}

/* Fills tensors[] with the means; the files are open. */
static bool average_tensors(Diagnostics *diags, Arena *arena, StFile **files, int n, Store *store,
                            StTensor *tensors, int64_t *n_tensors)
{
    for (int64_t i = 0; i < store_count(store); i++) {
        StoreTensor *tensor = store_at(store, i);
        if (!is_saved(tensor))
            continue;
        StTensor out = describe_checkpoint(tensor);
        const StTensor *last = st_find(files[n - 1], tensor->name);
        bool ok = last && last->count == tensor->count && last->type == out.type &&
                  st_is_whole(files[n - 1], last);
        if (ok && is_averaged(tensor)) {
            double *sum = ARENA_ARRAY(arena, double, tensor->count);
            for (int k = 0; k < n; k++)
                ok = ok && add_checkpoint_tensor(files[k], tensor, sum);
            if (tensor->type == TFC_F32) /* in place: the narrow mean never passes the sum */
                for (int64_t j = 0; j < tensor->count; j++)
                    ((float *)sum)[j] = (float)(sum[j] / n);
            else
                for (int64_t j = 0; j < tensor->count; j++)
                    sum[j] /= n;
            out.data = sum;
        } else if (ok)
            out.data = last->data;
        if (!ok) {
            diag_error(diags, (Loc){0},
                       "cannot average up to %s: the tensor '%s' is damaged, or not the model's",
                       files[n - 1]->path, tensor->name);
            return false;
        }
        tensors[(*n_tensors)++] = out;
    }
    return true;
}

/* The store's params become the means. */
static void take_average(const StTensor *tensors, int64_t n, Store *store)
{
    for (int64_t i = 0; i < n; i++) {
        StoreTensor *tensor = store_find(store, tensors[i].name);
        if (is_averaged(tensor) && tensors[i].bytes)
            memcpy(tensor->data, tensors[i].data, tensors[i].bytes);
    }
    store_changed(store);
}

/* clang-format off */
#define ROW(key, type, member, use) JSON_FIELD(CheckpointAverage, "average_" key, type, member, use)
static const JsonField average_fields[] = {
    ROW("of",     INTEGER, of,     WRITTEN),
    ROW("first",  INTEGER, first,  WRITTEN),
};
/* Of a mean that was compared. */
static const JsonField compared_fields[] = {
    ROW("by",     TEXT,    by,     WRITTEN),
    ROW("figure", EXACT,   figure, WRITTEN),
    ROW("best",   EXACT,   best,   WRITTEN),
    ROW("better", BOOL,    better, WRITTEN),
};
#undef ROW
/* clang-format on */
static const JsonRecord average_record = JSON_RECORD_OF(CheckpointAverage, average_fields),
                        compared_record = JSON_RECORD_OF(CheckpointAverage, compared_fields);
enum { N_AVERAGE_META = 6 };

CheckpointAverage checkpoint_average_of(const StFile *file)
{
    const JsonRecord *const parts[] = {&average_record, &compared_record};
    CheckpointAverage average = {0};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        for (int i = 0; i < parts[k]->n; i++) {
            const JsonField *field = &parts[k]->fields[i];
            const char *text = st_meta(file, field->name);
            if (!text || !json_field_set(field, text, &average))
                json_field_clear(field, &average);
        }
    return average;
}

bool checkpoint_average(Diagnostics *diags, Arena *arena, const char *path,
                        const char *const *paths, int n, Store *store, CheckpointJudge *judge,
                        void *user)
{
    Arena *scratch = arena_new();
    StFile **files = ARENA_ARRAY(scratch, StFile *, n);
    bool ok = n > 0;
    for (int i = 0; i < n && ok; i++)
        ok = (files[i] = st_open(diags, scratch, paths[i])) != NULL &&
             st_check_whole(diags, files[i], NULL);
    TrainState first, state;
    ok = ok && read_state(files[0], &first, diags) && read_state(files[n - 1], &state, diags);
    int64_t n_tensors = 0;
    StTensor *tensors = ARENA_ARRAY(scratch, StTensor, store_count(store) + 1);
    ok = ok && average_tensors(diags, scratch, files, n, store, tensors, &n_tensors);
    CheckpointAverage average = {.of = n, .figure = NAN, .best = NAN};
    if (ok && judge) {
        take_average(tensors, n_tensors, store);
        ok = judge(user, &average);
        if (average.thresholds)
            state.thresholds = average.thresholds;
    }
    if (ok) {
        StMeta meta[N_STATE_META + N_AVERAGE_META];
        int n_meta = make_meta(scratch, &state, meta);
        average.first = first.step;
        if (n > 1 || judge) /* a copy of one is as it was */
            checkpoint_add_meta(scratch, &average_record, &average, meta, &n_meta);
        if (average.by)
            checkpoint_add_meta(scratch, &compared_record, &average, meta, &n_meta);
        ok = st_write_checked(diags, path, tensors, n_tensors, meta, n_meta);
    }
    for (int i = 0; i < n; i++)
        if (files[i])
            st_close(files[i]);
    arena_free(scratch);
    return ok;
}
