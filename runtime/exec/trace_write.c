/* A trace as Chrome's JSON (the "JSON Array with metadata" form: complete events,
 * times in microseconds), and its sums by kernel. */
#include "runtime/exec/trace_state.h"

#include "base/file.h"
#include "base/json_write.h"
#include "base/map.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const TfcStep *step_of(const TraceStep *record)
{
    return &record->program->steps[record->step];
}

/* A kernel's name, or what else the step is. */
static const char *kernel_name(const TraceStep *record)
{
    const TfcStep *step = step_of(record);
    const char *const *names = record->program->kernel_names;
    return step->kind == TFC_STEP_KERNEL && names ? names[step->kernel.kernel]
                                                  : step_kind_name(step->kind);
}

static void put_trace_shape(const TraceStep *record, Text *out)
{
    const int64_t *s = record->shape;
    switch (step_of(record)->kind) {
    case TFC_STEP_GEMM:
        text_add(out, "%" PRId64 " x %" PRId64 " x %" PRId64, s[0], s[1], s[2]);
        if (s[3] != 1)
            text_add(out, ", %" PRId64 " times", s[3]);
        break;
    case TFC_STEP_KERNEL: text_add(out, "%" PRId64 " x %" PRId64, s[0], s[1]); break;
    case TFC_STEP_PACK:
    case TFC_STEP_COPY:
    case TFC_STEP_ZERO: text_add(out, "%" PRId64 " bytes", s[0]); break;
    }
}

/* Events: those of a process, on their way to a file. */
typedef struct Events {
    const Trace *trace;
    int process;
    JsonWriter json;
    Text text;
    TraceSink sink;
} Events;

static void flush(Events *e)
{
    if (e->text.length)
        e->sink.put(e->sink.context, e->text.data, e->text.length);
    e->text.length = 0;
}

static void add_event(Events *e, int32_t thread, int64_t begin, int64_t end)
{
    JsonWriter *json = &e->json;
    json_put_text(json, "ph", "X");
    json_put_integer(json, "pid", e->process);
    json_put_integer(json, "tid", thread);
    json_put_fixed(json, "ts", (double)begin / 1e3, 3);
    json_put_fixed(json, "dur", (double)(end - begin) / 1e3, 3);
}

/* FLOPs and bytes are those of the whole step, whichever threads shared it. */
static void add_slice(Events *e, int32_t thread, const TraceSlice *slice)
{
    JsonWriter *json = &e->json;
    const TraceStep *record = &e->trace->steps[slice->step];
    const TfcStep *step = step_of(record);
    Text name = {0}, shape = {0};
    text_add(&name, "%s", step->name ? step->name : step_kind_name(step->kind));
    if (step->kind == TFC_STEP_KERNEL)
        text_add(&name, " [%s]", kernel_name(record));
    put_trace_shape(record, &shape);
    json_line(json, "");
    json_open(json, NULL, '{');
    json_put_text(json, "name", name.data);
    json_put_text(json, "cat", step_kind_name(step->kind));
    add_event(e, thread, slice->begin, slice->end);
    json_open(json, "args", '{');
    json_put_text(json, "function", record->program->name);
    json_put_integer(json, "step", record->step);
    json_put_text(json, "kernel", kernel_name(record));
    json_put_text(json, "shape", shape.data);
    json_put_integer(json, "tasks", slice->tasks);
    if (record->flops > 0)
        json_put_fixed(json, "flops", record->flops, 0);
    json_put_fixed(json, "bytes", record->bytes, 0);
    json_close(json, '}');
    json_close(json, '}');
    text_free(&name);
    text_free(&shape);
    flush(e);
}

/* "process_name" or "thread_name". */
static void add_name(Events *e, const char *of, int32_t thread, const char *name)
{
    JsonWriter *json = &e->json;
    json_line(json, "");
    json_open(json, NULL, '{');
    json_put_text(json, "name", of);
    json_put_text(json, "ph", "M");
    json_put_integer(json, "pid", e->process);
    if (thread >= 0)
        json_put_integer(json, "tid", thread);
    json_open(json, "args", '{');
    json_put_text(json, "name", name);
    json_close(json, '}');
    json_close(json, '}');
}

static void add_thread(Events *e, int32_t thread)
{
    char name[32];
    snprintf(name, sizeof name, "thread %d", thread);
    add_name(e, "thread_name", thread, name);
    for (int32_t i = 0; i < e->trace->threads[thread].n; i++)
        add_slice(e, thread, &e->trace->threads[thread].slices[i]);
}

static void add_span(Events *e, const TraceSpan *span)
{
    json_line(&e->json, "");
    json_open(&e->json, NULL, '{');
    json_put_text(&e->json, "name", span->name);
    json_put_text(&e->json, "cat", "span");
    add_event(e, span->thread, span->begin, span->end);
    json_close(&e->json, '}');
    flush(e);
}

void trace_put_events(const Trace *trace, int process, const char *name, TraceSink sink)
{
    Events e = {.trace = trace, .process = process, .sink = sink, .json.follows = process > 1};
    e.json.out = &e.text;
    add_name(&e, "process_name", -1, name);
    int32_t spans = trace_filled(atomic_load(&trace->used_spans), TRACE_SPANS);
    for (int32_t i = 0; i < spans; i++)
        add_span(&e, &trace->spans[i]);
    int32_t threads = trace_filled(atomic_load(&trace->used_threads), trace->n_threads);
    for (int32_t t = 0; t < threads; t++)
        add_thread(&e, t);
    flush(&e);
    text_free(&e.text);
}

static void put_in_file(void *context, const char *text, size_t bytes)
{
    file_write(context, text, bytes);
}

bool trace_write(const Trace *trace, Diagnostics *diags, const char *path,
                 const TraceOthers *others)
{
    FileWriter *file = file_create(diags, path);
    TraceSink sink = {file, put_in_file};
    if (!file)
        return false;
    Text out = {0};
    JsonWriter json = {.out = &out};
    json_open(&json, NULL, '{');
    json_put_text(&json, "displayTimeUnit", "ms");
    json_open(&json, "otherData", '{');
    json_put_integer(&json, "dropped", trace_dropped(trace));
    json_close(&json, '}');
    json_open(&json, "traceEvents", '[');
    file_write(file, out.data, out.length);
    out.length = 0;
    trace_put_events(trace, 1, others ? others->name : "tfc", sink);
    if (others)
        others->put(others->context, sink);
    text_string(&out, "\n");
    json_close(&json, ']');
    json_close(&json, '}');
    text_string(&out, "\n");
    file_write(file, out.data, out.length);
    text_free(&out);
    return file_commit(file, diags);
}

/* ---- sums ---- */

static int compare_totals(const void *a, const void *b)
{
    const TraceTotal *x = a, *y = b;
    if (x->seconds != y->seconds)
        return x->seconds < y->seconds ? 1 : -1;
    return strcmp(x->kernel, y->kernel);
}

static TraceTotal *total_of(Map *map, const TraceStep *record)
{
    Text key = {0}, shape = {0};
    if (step_of(record)->kind == TFC_STEP_GEMM)
        put_trace_shape(record, &shape);
    text_add(&key, "%s %s", kernel_name(record), shape.data ? shape.data : "");
    TraceTotal *total = map_get(map, key.data);
    if (!total) {
        total = ARENA_NEW(map->arena, TraceTotal);
        const TfcStep *step = step_of(record);
        *total = (TraceTotal){.kind = step->kind,
                              .kernel = kernel_name(record),
                              .shape = arena_strdup(map->arena, shape.data ? shape.data : ""),
                              .name = step->name ? step->name : ""};
        map_set(map, key.data, total);
    }
    text_free(&key);
    text_free(&shape);
    return total;
}

TraceTotal *trace_totals(const Trace *trace, Arena *arena, int *n)
{
    Map map;
    map_init(&map, arena);
    int32_t steps = trace_filled(atomic_load(&trace->used_steps), trace->capacity);
    for (int32_t i = 0; i < steps; i++) {
        const TraceStep *record = &trace->steps[i];
        TraceTotal *total = total_of(&map, record);
        total->calls++;
        total->seconds += 1e-9 * (double)(record->end - record->begin);
        total->flops += record->flops;
        total->bytes += record->bytes;
    }
    TraceTotal *totals = ARENA_ARRAY(arena, TraceTotal, map.count + 1);
    for (size_t i = 0; i < map.count; i++)
        totals[i] = *(const TraceTotal *)map.entries[i].value;
    qsort(totals, map.count, sizeof *totals, compare_totals);
    *n = (int)map.count;
    return totals;
}
