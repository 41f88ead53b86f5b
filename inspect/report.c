/* dump --report: fusions, near misses, kernels, the slab. */
#include "inspect/inspect.h"

#include <stdint.h>
#include <stdlib.h>

/* Lines that say the same of the same source line (one a layer) are one, counted. */
static void report_lines(const Report *report, bool misses, Text *out)
{
    Arena *arena = arena_new();
    Map seen; /* line → how often */
    map_init(&seen, arena);
    VEC(const ReportLine *) shown = {0};
    VEC(const char *) keys = {0};
    for (size_t i = 0; i < report->lines.count; i++) {
        const ReportLine *line = &report->lines.data[i];
        if (report_is_miss(line) != misses)
            continue;
        const char *key = arena_printf(arena, "%p %d %s", (const void *)line->loc.source,
                                       line->loc.line, line->text);
        uintptr_t before = (uintptr_t)map_get(&seen, key);
        map_set(&seen, key, (void *)(before + 1));
        if (before)
            continue;
        vec_push(arena, shown, line);
        vec_push(arena, keys, key);
    }
    for (size_t i = 0; i < shown.count; i++) {
        uintptr_t times = (uintptr_t)map_get(&seen, keys.data[i]);
        text_add(out, "  ");
        report_print(shown.data[i], out);
        if (times > 1)
            text_add(out, " and %zu more", (size_t)times - 1);
        text_add(out, "\n");
    }
    if (!shown.count)
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
    static const char *const kinds[] = {"", "product", "copy", "zeros"};
    const TfcStep *step = &m->program->steps[s];
    const StepCost *cost = &m->steps[s];
    const char *name = step->kind == TFC_STEP_KERNEL ? m->program->kernel_names[step->kernel.kernel]
                                                     : kinds[step->kind];
    int i = 0;
    while (i < *n && (strcmp(sums[i].name, name) || strcmp(sums[i].shape, cost->shape)))
        i++;
    if (i == *n)
        sums[(*n)++] = (KernelSum){name, cost->shape, step->name, 0, 0, 0};
    sums[i].steps++;
    sums[i].flops += cost->flops;
    sums[i].bytes += cost->bytes;
}

static void report_kernels(const Measured *m, Text *out)
{
    KernelSum *sums = calloc((size_t)m->program->n_steps + 1, sizeof *sums);
    int n = 0;
    double flops = 0;
    for (int32_t s = 0; sums && s < m->program->n_steps; s++) {
        sum_step(sums, &n, m, s);
        flops += m->steps[s].flops;
    }
    text_add(out, "\nkernels and products: %d steps, %d kernels, %.4g GFLOP\n", m->program->n_steps,
             m->program->n_kernels, flops / 1e9);
    text_add(out, "  %5s %10s %10s  %-28s %-26s first in\n", "steps", "MFLOP", "MB", "kernel", "shape");
    if (sums)
        qsort(sums, (size_t)n, sizeof *sums, by_bytes);
    for (int i = 0; i < n; i++)
        text_add(out, "  %5d %10.4g %10.4g  %-28s %-26s %s\n", sums[i].steps, sums[i].flops / 1e6,
                 sums[i].bytes / 1e6, sums[i].name, sums[i].shape, sums[i].what ? sums[i].what : "");
    free(sums);
}

static int by_size(const void *a, const void *b)
{
    const SlabBuffer *x = a, *y = b;
    return x->bytes < y->bytes ? 1 : x->bytes > y->bytes ? -1 : x->buffer - y->buffer;
}

static void report_slab(const Measured *m, Text *out)
{
    const char *at = m->peak_step < m->program->n_steps ? m->program->steps[m->peak_step].name : NULL;
    text_add(out, "\nslab: %.4g MB; %.4g MB live at the peak, step %d (%s)\n",
             (double)m->slab_bytes / 1e6, (double)m->peak_bytes / 1e6, m->peak_step, at ? at : "the end");
    SlabBuffer *sorted = malloc(sizeof *sorted * (size_t)(m->n_slab + 1));
    if (!sorted)
        return;
    memcpy(sorted, m->slab, sizeof *sorted * (size_t)m->n_slab);
    qsort(sorted, (size_t)m->n_slab, sizeof *sorted, by_size);
    text_add(out, "  %10s %12s  %-13s held at the peak\n", "MB", "offset", "steps");
    for (int32_t i = 0; i < m->n_slab; i++) {
        const SlabBuffer *b = &sorted[i];
        if (b->first <= m->peak_step && m->peak_step <= b->last && b->bytes)
            text_add(out, "  %10.4g %12lld  %5d to %-5d #%d %s\n", (double)b->bytes / 1e6,
                     (long long)b->offset, b->first, b->last, b->buffer, slab_buffer_name(m, b));
    }
    free(sorted);
}

void inspect_report(const Report *report, const Measured *m, Text *out)
{
    text_add(out, "%s at", m->program->name);
    for (int32_t d = 0; d < m->program->n_dims; d++)
        text_add(out, "%s %s = %lld", d ? "," : "", m->program->dims[d].name, (long long)m->sizes[d]);
    text_add(out, "\n\nfused\n");
    report_lines(report, false, out);
    text_add(out, "\nnear misses\n");
    report_lines(report, true, out);
    report_kernels(m, out);
    report_slab(m, out);
}
