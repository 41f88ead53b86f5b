/* The pipeline: passes by name, in the order of pipeline.def. */
#define _GNU_SOURCE
#include "ir/text.h"
#include "passes/pass.h"

#include <assert.h>
#include <string.h>

#define PASS(name, at_O0, needs, gives, help) \
    bool pass_##name(Function *function, PassContext *context);
#include "passes/pipeline.def"
#undef PASS

const PassInfo pass_info[] = {
#define PASS(name, at_O0, needs, gives, help) \
    {#name, PASS_NEEDS_##needs, gives, help, pass_##name, at_O0},
#include "passes/pipeline.def"
#undef PASS
};
const int pass_count = sizeof pass_info / sizeof *pass_info;

bool pass_tidy(Function *function, PassContext *context)
{
    return pass_find("simplify")->run(function, context);
}

const PassInfo *pass_find(const char *name)
{
    for (int i = 0; i < pass_count; i++)
        if (!strcmp(pass_info[i].name, name))
            return &pass_info[i];
    return NULL;
}

static const char *const miss_text[] = {
    "",
#define MISS(pass, name, text) text,
#include "passes/misses.def"
};

void report_op(Report *report, const Op *op, const char *format, ...)
{
    if (!report)
        return;
    va_list args;
    va_start(args, format);
    ReportLine line = {arena_vprintf(report->arena, format, args), MISS_NONE, op->loc, op->scope};
    vec_push(report->arena, report->lines, line);
    va_end(args);
}

void report_miss(Report *report, const Op *op, Miss miss, const char *format, ...)
{
    if (!report)
        return;
    va_list args;
    va_start(args, format);
    const char *what = arena_vprintf(report->arena, format, args);
    ReportLine line = {arena_printf(report->arena, "not fused: %s: %s", what, miss_text[miss]),
                       miss, op->loc, op->scope};
    vec_push(report->arena, report->lines, line);
    va_end(args);
}

void report_print(const ReportLine *line, Text *out)
{
    if (line->loc.source)
        text_add(out, "%s:%d: ", line->loc.source->path, line->loc.line);
    text_add(out, "%s", line->text);
    if (line->scope && *line->scope)
        text_add(out, ", in %s", line->scope);
}

typedef enum Listed { NOT_LISTED, LISTED, LEFT_OUT } Listed;

/* How the comma-separated list names the pass: "a", or "-a" to leave it out. */
static Listed listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at && *at;) {
        const char *end = strchrnul(at, ',');
        bool minus = *at == '-';
        const char *word = at + minus;
        if ((size_t)(end - word) == length && !strncmp(word, name, length))
            return minus ? LEFT_OUT : LISTED;
        at = *end ? end + 1 : end;
    }
    return NOT_LISTED;
}

/* Whether a list of passes to run, or to leave out, has one of the kind. */
static bool has_kind(const char *list, bool left_out)
{
    for (const char *at = list; at && *at;) {
        const char *end = strchrnul(at, ',');
        if (end > at && (*at == '-') == left_out)
            return true;
        at = *end ? end + 1 : end;
    }
    return false;
}

bool pipeline_check(const char *list, Diagnostics *diags)
{
    const char *names[sizeof pass_info / sizeof *pass_info];
    for (int i = 0; i < pass_count; i++)
        names[i] = pass_info[i].name;
    for (const char *at = list; at && *at;) {
        const char *end = strchrnul(at, ',');
        const char *word =
            arena_strndup(diags->arena, at + (*at == '-'), (size_t)(end - at - (*at == '-')));
        if (*word && !pass_find(word)) {
            const char *hint = text_suggest(diags->arena, "'", word, names, (size_t)pass_count);
            diag_error(diags, (Loc){0}, "no pass is called '%s'%s", word,
                       *hint ? hint : "; tfc opt --list shows them");
            return false;
        }
        at = *end ? end + 1 : end;
    }
    if (has_kind(list, true) && has_kind(list, false)) {
        diag_error(diags, (Loc){0},
                   "--passes names passes to run or, each with a -, passes to leave out: '%s' has "
                   "both",
                   list);
        return false;
    }
    return true;
}

static bool runs(const PassInfo *pass, const PipelineOptions *options)
{
    Listed how = listed(options->passes, pass->name);
    if (has_kind(options->passes, false))
        return how == LISTED;
    return how != LEFT_OUT && (pass->at_O0 || options->opt_level > 0);
}

/* False after a message: lists of passes may leave out what a later one needs. */
static bool needs_are_met(const PassInfo *pass, const Function *function, Diagnostics *diags)
{
    if (pass->needs == PASS_NEEDS_EXPANDED && !is_expanded(function)) {
        diag_error(diags, (Loc){0}, "the pass '%s' needs what 'expand' makes: name it, too",
                   pass->name);
        return false;
    }
    FOR_OPS (op, &function->body)
        if (op->body && pass->needs == PASS_NEEDS_NO_REGIONS) {
            diag_error(diags, (Loc){0}, "the pass '%s' comes before those that make regions",
                       pass->name);
            return false;
        }
    return true;
}

bool pipeline_run(Function *function, const PipelineOptions *options, Diagnostics *diags)
{
    PassContext context = {diags, options->report, options->precision, options->budget};
    if (listed(options->passes, "precision") == LISTED)
        context.precision = PRODUCTS_BF16;
    if (listed(options->passes, "quantize") == LISTED && !precision_quant(context.precision))
        context.precision = PRODUCTS_INT8;
    if (!pipeline_check(options->passes, diags) || !pipeline_check(options->after, diags))
        return false;
    for (int i = 0; i < pass_count; i++) {
        if (runs(&pass_info[i], options)) {
            if (!needs_are_met(&pass_info[i], function, diags) ||
                !pass_info[i].run(function, &context))
                return false;
            if (options->observe)
                options->observe(options->observer, &pass_info[i], function);
#ifndef NDEBUG
            if (!ir_verify(function->module, diags)) {
                diag_note(diags, (Loc){0}, "after pass %s over %s", pass_info[i].name,
                          function->name);
                return false;
            }
#endif
        }
        if (options->after && !strcmp(options->after, pass_info[i].name))
            break;
    }
    return true;
}
