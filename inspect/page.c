/* The page: its HTML, style and script (inspect/page/, built into the program) with
 * the data of one compilation as JSON. */
#include "inspect/inspect.h"

#include "base/fill.h"

#include "base/json_write.h"
#include "codegen/body.h"
#include "codegen/loop/text/text.h"

/* Made from inspect/page/ by cmake/embed.cmake. */
extern const char page_html[], page_css[], page_js[];

void quote_json(const char *bytes, size_t length, Text *out)
{
    json_quote(out, bytes, length, true);
}

static void write_text(const char *text, Text *out) { quote_json(text, strlen(text), out); }

static void write_files(const PageInput *input, Text *out)
{
    text_add(out, "\"sources\":[");
    for (size_t i = 0; i < input->n_files; i++) {
        text_add(out, "%s{\"path\":", i ? ",\n" : "");
        write_text(input->files[i]->path, out);
        text_add(out, ",\"text\":");
        quote_json(input->files[i]->text, input->files[i]->length, out);
        text_add(out, "}");
    }
    text_add(out, "],\n");
}

static void write_report(const PageInput *input, Text *out)
{
    text_add(out, "\"report\":[");
    for (size_t i = 0; i < input->report->lines.count; i++) {
        const ReportLine *line = &input->report->lines.data[i];
        text_add(out, "%s[", i ? ",\n" : "");
        write_text(line->text, out);
        text_add(out, ",%d,", snapshots_place(input->snapshots, line->loc));
        write_text(line->scope ? line->scope : "", out);
        text_add(out, "]");
    }
    text_add(out, "],\n");
}

/* ---- kernels ---- */

typedef struct PageLines {
    Arena *arena;
    VEC(int) origins;
} PageLines;

static void take_line(void *data, const LoFunction *function, int origin, Text *out)
{
    PageLines *lines = data;
    (void)function, (void)out;
    vec_push(lines->arena, lines->origins, origin);
}

/* The op that a number of a kernel's origins (origin_of, codegen/emit/emit.h) stands for, of one
 * place. */
static const Op *origin_op(const Op *place, const Body *body, int origin)
{
    return origin == LO_ORIGIN_WHOLE ? place : body->ops[origin - LO_ORIGIN_PARTS].op;
}

/* [[op, …], …]: by the number of an origin the ops of all places of the kernel. */
static void write_origins(const PageInput *input, int32_t kernel, int n_origins, Arena *arena,
                          Text *out)
{
    const Measured *m = input->measured;
    VEC(const Op *) places = {0};
    for (int32_t s = 0; s < m->program->n_steps; s++)
        if (m->program->steps[s].kind == TFC_STEP_KERNEL &&
            m->program->steps[s].kernel.kernel == kernel)
            vec_push(arena, places, m->origins[s]);
    Body *bodies = ARENA_ARRAY(arena, Body, places.count + 1);
    for (size_t i = 0; i < places.count; i++)
        bodies[i] = body_of(arena, places.data[i]);
    text_add(out, "[[]");
    for (int origin = LO_ORIGIN_WHOLE; origin < n_origins; origin++) {
        text_add(out, ",[");
        for (size_t i = 0; i < places.count; i++)
            text_add(out, "%s%d", i ? "," : "",
                     snapshots_op(input->snapshots, origin_op(places.data[i], &bodies[i], origin)));
        text_add(out, "]");
    }
    text_add(out, "]");
}

/* "text",[origin, lines, origin, lines, …],[[op, …], …] */
static void write_loops(const PageInput *input, int32_t kernel, Arena *arena, Text *out)
{
    LoFunction *f = lo_find_function(input->loops, input->measured->program->kernel_names[kernel]);
    PageLines lines = {.arena = arena};
    Text text = {0};
    lo_print_function(f, take_line, &lines, &text);
    quote_json(text.data, text.length, out);
    text_add(out, ",[");
    for (size_t i = 0, j; i < lines.origins.count; i = j) {
        for (j = i + 1; j < lines.origins.count && lines.origins.data[j] == lines.origins.data[i];
             j++)
            continue;
        text_add(out, "%s%d,%zu", i ? "," : "", lines.origins.data[i], j - i);
    }
    text_add(out, "],");
    write_origins(input, kernel, f->n_origins, arena, out);
    text_free(&text);
}

/* The text of one function out of LLVM's: from its definition to the brace. */
static void write_llvm(const char *all, const char *name, Arena *arena, Text *out)
{
    const char *at = strstr(all, arena_printf(arena, "@%s(", name));
    while (at && at > all && at[-1] != '\n')
        at--;
    while (at && strncmp(at, "define", 6)) { /* a call comes before the definition */
        at = strstr(strchr(at, '\n'), arena_printf(arena, "@%s(", name));
        while (at && at > all && at[-1] != '\n')
            at--;
    }
    const char *end = at ? strstr(at, "\n}\n") : NULL;
    quote_json(at ? at : "", end ? (size_t)(end + 3 - at) : 0, out);
}

/* Its assembly with the constants before it: from behind the last function's size. */
static void write_assembly(const char *all, const char *name, Arena *arena, Text *out)
{
    const char *end = strstr(all, arena_printf(arena, "\t.size\t%s,", name));
    const char *begin = end && end > all ? end - 1 : end;
    while (begin && begin > all && strncmp(begin - 1, "\n\t.size\t", 8))
        begin--;
    const char *after = begin && begin > all ? strchr(begin, '\n') : begin;
    quote_json(after ? after : "", after ? (size_t)(end - after) : 0, out);
}

static void write_kernels(const PageInput *input, Arena *arena, Text *out)
{
    const TfcProgram *program = input->measured->program;
    text_add(out, "\"kernels\":[");
    for (int32_t k = 0; k < program->n_kernels; k++) {
        const char *name = program->kernel_names[k];
        text_add(out, "%s[\"%s\",", k ? ",\n" : "", name);
        write_loops(input, k, arena, out);
        text_add(out, ",");
        write_llvm(input->llvm, name, arena, out);
        text_add(out, ",");
        write_assembly(input->assembly, name, arena, out);
        text_add(out, "]");
    }
    text_add(out, "],\n");
}

/* [kind, name, op, kernel, flops, bytes, shape] */
static void write_steps(const PageInput *input, Text *out)
{
    const Measured *m = input->measured;
    text_add(out, "\"steps\":[");
    for (int32_t s = 0; s < m->program->n_steps; s++) {
        const TfcStep *step = &m->program->steps[s];
        text_add(out, "%s[\"%s\",", s ? ",\n" : "", step_kind_name(step->kind));
        write_text(step->name ? step->name : "", out);
        text_add(out, ",%d,%d,%.6g,%.6g,", snapshots_op(input->snapshots, m->origins[s]),
                 step->kind == TFC_STEP_KERNEL ? step->kernel.kernel : -1, m->steps[s].flops,
                 m->steps[s].bytes);
        write_text(m->steps[s].shape, out);
        text_add(out, "]");
    }
    text_add(out, "],\n");
}

static void write_slab(const Measured *m, Text *out)
{
    text_add(out, "\"slab\":{\"bytes\":%lld,\"peak\":%lld,\"step\":%d,\"buffers\":[",
             (long long)m->slab_bytes, (long long)m->peak_bytes, m->peak_step);
    for (int32_t i = 0; i < m->n_slab; i++) {
        const SlabBuffer *b = &m->slab[i];
        text_add(out, "%s[", i ? ",\n" : "");
        write_text(slab_buffer_name(m, b), out);
        text_add(out, ",%d,%d,%d,%lld,%lld,%d]", b->first, b->last, b->writer, (long long)b->offset,
                 (long long)b->bytes, b->buffer);
    }
    text_add(out, "]},\n");
}

static void write_data(const PageInput *input, Arena *arena, Text *out)
{
    const Measured *m = input->measured;
    text_add(out, "{\"title\":");
    write_text(input->title, out);
    text_add(out, ",\"function\":");
    write_text(m->program->name, out);
    text_add(out, ",\"dims\":[");
    for (int32_t d = 0; d < m->program->n_dims; d++) {
        text_add(out, "%s[", d ? "," : "");
        write_text(m->program->dims[d].name, out);
        text_add(out, ",%lld]", (long long)m->sizes[d]);
    }
    text_add(out, "],\n");
    write_files(input, out);
    write_report(input, out); /* before the snapshots' tables: it may add places */
    write_kernels(input, arena, out);
    write_steps(input, out);
    write_slab(m, out);
    snapshots_write(input->snapshots, out);
    text_add(out, "\"end\":0}");
}

void page_fill(const PageParts *parts, const Text *data, Text *out)
{
    const FillPart lines[] = {
        {"css", parts->css}, {"js", parts->js}, {"data", data->data ? data->data : ""}};
    fill_template(parts->html, lines, sizeof lines / sizeof lines[0], out);
}

void page_write(const PageInput *input, Arena *arena, Text *out)
{
    Text data = {0};
    write_data(input, arena, &data);
    page_fill(&(PageParts){page_html, page_css, page_js}, &data, out);
    text_free(&data);
}
