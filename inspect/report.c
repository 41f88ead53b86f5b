/* dump --report: fusions, near misses, kernels, the slab. */
#include "inspect/inspect.h"

#include <ctype.h>
#include <stdlib.h>

/* The text with the numbers of layers as stars: "encoder.layer.*.self". */
static const char *any_layer(Arena *arena, const char *text)
{
    char *copy = arena_strdup(arena, text), *to = copy;
    for (const char *at = text; *at;) {
        *to++ = *at;
        if (*at++ != '.' || !isdigit((unsigned char)*at))
            continue;
        const char *end = at + strspn(at, "0123456789");
        if (*end && !strchr(". :", *end))
            continue;
        *to++ = '*';
        at = end;
    }
    *to = '\0';
    return copy;
}

/* Lines that say the same of the same source line (one a layer, mostly). */
typedef struct Told {
    const ReportLine *line;
    const char *text;
    int times;
    VEC(const char *) scopes; /* each once */
} Told;

static void add_scope(Arena *arena, Told *told, const char *scope)
{
    const char *any = any_layer(arena, scope ? scope : "");
    for (size_t i = 0; i < told->scopes.count; i++)
        if (!strcmp(told->scopes.data[i], any))
            return;
    if (*any)
        vec_push(arena, told->scopes, any);
}

static void print_told(const Told *told, Text *out)
{
    enum { SHOWN = 4 };
    const Loc *loc = &told->line->loc;
    text_add(out, "  ");
    if (loc->source)
        text_add(out, "%s:%d: ", loc->source->path, loc->line);
    text_add(out, "%s", told->text);
    if (told->times > 1)
        text_add(out, "; %d times", told->times);
    for (size_t i = 0; i < told->scopes.count && i < SHOWN; i++)
        text_add(out, "%s%s", i ? ", " : ", in ", told->scopes.data[i]);
    text_add(out, "%s\n", told->scopes.count > SHOWN ? ", …" : "");
}

static void report_lines(const Report *report, bool misses, Text *out)
{
    Arena *arena = arena_new();
    Map seen; /* place and text → Told */
    map_init(&seen, arena);
    for (size_t i = 0; i < report->lines.count; i++) {
        const ReportLine *line = &report->lines.data[i];
        if (report_is_miss(line) != misses)
            continue;
        const char *text = any_layer(arena, line->text);
        const char *key =
            arena_printf(arena, "%p %d %s", (const void *)line->loc.source, line->loc.line, text);
        Told *told = map_get(&seen, key);
        if (!told) {
            told = ARENA_NEW(arena, Told);
            *told = (Told){.line = line, .text = text};
            map_set(&seen, key, told);
        }
        told->times++;
        add_scope(arena, told, line->scope);
    }
    for (size_t i = 0; i < seen.count; i++)
        print_told(seen.entries[i].value, out);
    if (!seen.count)
        text_add(out, "  none\n");
    arena_free(arena);
}

typedef struct KernelSum {
    const char *name, *shape, *what;
    int steps;
    double flops, bytes;
} KernelSum;

static int by_bytes(const void *a, const void *b)
{
    const KernelSum *x = a, *y = b;
    double p = x->flops + x->bytes, q = y->flops + y->bytes;
    return p < q ? 1 : p > q ? -1 : strcmp(x->shape, y->shape);
}

static void sum_step(KernelSum *sums, int *n, const Measured *m, int32_t s)
{
    const TfcStep *step = &m->program->steps[s];
    const StepCost *cost = &m->steps[s];
    const char *name = step->kind == TFC_STEP_KERNEL ? m->program->kernel_names[step->kernel.kernel]
                                                     : step_kind_name(step->kind);
    int i = 0;
    while (i < *n && (strcmp(sums[i].name, name) || strcmp(sums[i].shape, cost->shape)))
        i++;
    if (i == *n)
        sums[(*n)++] = (KernelSum){name, cost->shape, step->name, 0, 0, 0};
    sums[i].steps++;
    sums[i].flops += cost->flops;
    sums[i].bytes += cost->bytes;
}

/* Bytes that the text has beyond its characters: printf's widths count bytes. */
static int extra_bytes(const char *text)
{
    int extra = 0;
    for (; *text; text++)
        extra += ((unsigned char)*text & 0xc0) == 0x80;
    return extra;
}

static void report_kernels(const Measured *m, Text *out)
{
    KernelSum *sums = memory_zeroed((size_t)m->program->n_steps + 1, sizeof *sums);
    int n = 0;
    double flops = 0;
    for (int32_t s = 0; s < m->program->n_steps; s++) {
        sum_step(sums, &n, m, s);
        flops += m->steps[s].flops;
    }
    text_add(out, "\nkernels and products: %d steps, %d kernels, %.4g GFLOP\n", m->program->n_steps,
             m->program->n_kernels, flops / 1e9);
    text_add(out, "  %5s %10s %10s  %-28s %-26s first in\n", "steps", "MFLOP", "MB", "kernel",
             "shape");
    if (sums)
        qsort(sums, (size_t)n, sizeof *sums, by_bytes);
    for (int i = 0; i < n; i++)
        text_add(out, "  %5d %10.4g %10.4g  %-28s %-*s %s\n", sums[i].steps, sums[i].flops / 1e6,
                 sums[i].bytes / 1e6, sums[i].name, 26 + extra_bytes(sums[i].shape), sums[i].shape,
                 sums[i].what ? sums[i].what : "");
    free(sums);
}

/* Buffers of one size that the same op of each layer writes. */
typedef struct HeldSum {
    const char *name;
    int64_t bytes; /* of one */
    int count, first, last;
} HeldSum;

static int by_total(const void *a, const void *b)
{
    const HeldSum *x = a, *y = b;
    int64_t p = x->bytes * x->count, q = y->bytes * y->count;
    return p < q ? 1 : p > q ? -1 : strcmp(x->name, y->name);
}

static void sum_held(Arena *arena, HeldSum *sums, int *n, const Measured *m, const SlabBuffer *b)
{
    const char *name = any_layer(arena, slab_buffer_name(m, b));
    int i = 0;
    while (i < *n && (sums[i].bytes != b->bytes || strcmp(sums[i].name, name)))
        i++;
    if (i == *n)
        sums[(*n)++] = (HeldSum){name, b->bytes, 0, b->first, b->last};
    sums[i].count++;
    if (b->first < sums[i].first)
        sums[i].first = b->first;
    if (b->last > sums[i].last)
        sums[i].last = b->last;
}

static void report_slab(const Measured *m, Text *out)
{
    const char *at =
        m->peak_step < m->program->n_steps ? m->program->steps[m->peak_step].name : NULL;
    text_add(out, "\nslab: %.4g MB; %.4g MB live at the peak, step %d (%s)\n",
             (double)m->slab_bytes / 1e6, (double)m->peak_bytes / 1e6, m->peak_step,
             at ? at : "the end");
    Arena *arena = arena_new();
    HeldSum *sums = ARENA_ARRAY(arena, HeldSum, m->n_slab + 1);
    int n = 0;
    for (int32_t i = 0; i < m->n_slab; i++) {
        const SlabBuffer *b = &m->slab[i];
        if (b->first <= m->peak_step && m->peak_step <= b->last && b->bytes)
            sum_held(arena, sums, &n, m, b);
    }
    qsort(sums, (size_t)n, sizeof *sums, by_total);
    text_add(out, "  %10s %8s %10s  %-13s held at the peak\n", "MB", "buffers", "MB each", "steps");
    for (int i = 0; i < n; i++)
        text_add(out, "  %10.4g %8d %10.4g  %5d to %-5d %s\n",
                 (double)sums[i].bytes * sums[i].count / 1e6, sums[i].count,
                 (double)sums[i].bytes / 1e6, sums[i].first, sums[i].last, sums[i].name);
    arena_free(arena);
}

void inspect_report(const Report *report, const Measured *m, Text *out)
{
    text_add(out, "%s at", m->program->name);
    for (int32_t d = 0; d < m->program->n_dims; d++)
        text_add(out, "%s %s = %lld", d ? "," : "", m->program->dims[d].name,
                 (long long)m->sizes[d]);
    text_add(out, "\n\nfused\n");
    report_lines(report, false, out);
    text_add(out, "\nnear misses\n");
    report_lines(report, true, out);
    report_kernels(m, out);
    report_slab(m, out);
}
