/* Golden tests of the passes: each tests/golden/passes/NAME.tir names in its first
 * line what is done ("# passes: simplify,expand" or "# derive: gradient"), perhaps in
 * the second how many bytes there are ("# memory: 20000", for 8 rows of 8), and NAME.out
 * holds the functions and the report that must come out of it. TFC_UPDATE=1 rewrites the
 * .out files. Together they show each pass at work, each derivation and each reason why
 * something is not fused. */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/map.h"
#include "ir/text.h"
#include "passes/pass.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static const char folder[] = "tests/golden/passes";

static int is_tir(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && !strcmp(dot, ".tir");
}

/* What stands behind "# KEY: " in the first or second line, or NULL. */
static const char *directive(Arena *arena, const Source *source, const char *key)
{
    const char *prefix = arena_printf(arena, "# %s: ", key), *begin = source->text;
    for (int line = 0; strncmp(begin, prefix, strlen(prefix)); line++) {
        begin = strchr(begin, '\n');
        if (line || !begin++)
            return NULL;
    }
    begin += strlen(prefix);
    return arena_strndup(arena, begin, strcspn(begin, "\n"));
}

/* What the files showed. */
typedef struct Shown {
    bool passes[32], misses[MISS_COUNT];
    Map derivations;
} Shown;

static const OptimizerSpec sgd = {.kind = OPTIMIZER_SGD};
static const OptimizerSpec momentum = {
    .kind = OPTIMIZER_SGD, .momentum = 0.9, .weight_decay = 0.01};
static const OptimizerSpec adam = {
    .kind = OPTIMIZER_ADAM, .beta1 = 0.9, .beta2 = 0.98, .eps = 1e-9, .clip_norm = 1};
static const OptimizerSpec adamw = {
    .kind = OPTIMIZER_ADAMW, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .weight_decay = 0.01};

/* Every function that passes/pass.h derives, a train step for each optimizer. */
typedef struct Derivation {
    const char *name;
    Function *(*plain)(Module *module);
    Function *(*optimized)(Module *module, const OptimizerSpec *optimizer);
    const OptimizerSpec *optimizer;
} Derivation;
static Function *derive_trained_gradient(Module *module) { return derive_gradient(module, true); }
static Function *derive_trained_totals(Module *module) { return derive_totals(module, true); }
static Function *derive_own_loss(Module *module) { return derive_loss_share(module, true); }
static const Derivation derivations[] = {
    {"forward", derive_forward, NULL, NULL},
    {"loss", derive_loss, NULL, NULL},
    {"gradient", derive_trained_gradient, NULL, NULL},
    {"train_step sgd", NULL, derive_train_step, &sgd},
    {"train_step momentum", NULL, derive_train_step, &momentum},
    {"train_step adam", NULL, derive_train_step, &adam},
    {"train_step adamw", NULL, derive_train_step, &adamw},
    {"accumulate", derive_accumulate, NULL, NULL},
    {"accumulate rows", derive_accumulate_rows, NULL, NULL},
    {"totals", derive_trained_totals, NULL, NULL},
    {"loss_share", derive_own_loss, NULL, NULL},
    {"states", derive_states, NULL, NULL},
    {"update", NULL, derive_update, &adam},
    {"incremental", NULL, NULL, NULL},
};
enum { N_DERIVATIONS = sizeof derivations / sizeof *derivations };

static void derive(Module *module, const char *what, Shown *shown, Diagnostics *diags)
{
    for (int i = 0; i < N_DERIVATIONS; i++) {
        const Derivation *d = &derivations[i];
        if (strcmp(d->name, what))
            continue;
        Incremental incremental;
        if (d->plain)
            d->plain(module);
        else if (d->optimized)
            d->optimized(module, d->optimizer);
        else if (!derive_incremental(module, "tokens", "logits", &incremental, diags))
            return; /* what may not be derived is no example of it */
        map_set(&shown->derivations, d->name, (void *)d);
        return;
    }
    fail_msg("no such derivation: %s", what);
}

/* Follows the passes over one function: which of them changed it. */
typedef struct Watch {
    Shown *shown;
    Text before;
} Watch;

static void watch_pass(void *observer, const PassInfo *pass, Function *function)
{
    Watch *watch = observer;
    Text after = {0};
    ir_print_function(function, &after);
    if (strcmp(watch->before.data, after.data))
        watch->shown->passes[pass - pass_info] = true;
    text_free(&watch->before);
    watch->before = after;
}

static void run_passes(Function *function, const char *passes, const char *memory, Report *report,
                       Shown *shown, Diagnostics *diags)
{
    static const DimSize dims[] = {{"B", 8, 8}, {"T", 8, 64}};
    MemoryBudget budget = {memory ? atoll(memory) : 0, dims, 2};
    Watch watch = {.shown = shown};
    ir_print_function(function, &watch.before);
    PipelineOptions options = {.passes = passes,
                               .budget = memory ? &budget : NULL,
                               .report = report,
                               .observe = watch_pass,
                               .observer = &watch};
    pipeline_run(function, &options, diags);
    text_free(&watch.before);
}

static void process(Arena *arena, const Source *source, Shown *shown, Text *out)
{
    Diagnostics diags;
    diag_init(&diags, arena);
    Module *module = ir_parse(arena, &diags, source);
    if (!module || !ir_verify(module, &diags)) {
        diag_render(&diags, out);
        fail_msg("%s: %s", source->path, out->data);
        return;
    }
    const char *passes = directive(arena, source, "passes"),
               *what = directive(arena, source, "derive");
    const char *memory = directive(arena, source, "memory");
    Report report = {.arena = arena};
    size_t before = module->functions.count;
    if (what) {
        derive(module, what, shown, &diags);
        for (size_t i = before; i < module->functions.count; i++) {
            PipelineOptions options = {.passes = "simplify"};
            pipeline_run(module->functions.data[i], &options, &diags);
            ir_print_function(module->functions.data[i], out);
        }
    } else {
        assert_non_null(passes);
        for (size_t i = 0; i < before; i++) {
            run_passes(module->functions.data[i], passes, memory, &report, shown, &diags);
            ir_print_function(module->functions.data[i], out);
        }
    }
    ir_verify(module, &diags);
    for (size_t i = 0; i < report.lines.count; i++) {
        text_add(out, "# ");
        report_print(&report.lines.data[i], out);
        shown->misses[report.lines.data[i].miss] = true;
        text_add(out, "\n");
    }
    diag_render(&diags, out);
}

static void check_file(const char *path, Shown *shown)
{
    Arena *arena = arena_new();
    Diagnostics diags;
    Text out = {0};
    diag_init(&diags, arena);
    const Source *source = file_read(&diags, arena, path, 1 << 20);
    assert_non_null(source);
    process(arena, source, shown, &out);
    const char *expected_path = arena_printf(arena, "%.*s.out", (int)strlen(path) - 4, path);
    if (getenv("TFC_UPDATE"))
        assert_true(file_write_all(&diags, expected_path, out.data, out.length));
    const Source *expected = file_read(&diags, arena, expected_path, 1 << 20);
    if (!expected || strcmp(expected->text, out.data)) {
        print_error("%s\n---- expected\n%s\n---- got\n%s\n", path,
                    expected ? expected->text : "no file", out.data);
        fail();
    }
    text_free(&out);
    arena_free(arena);
}

static void check_complete(const Shown *shown)
{
    static const char *const misses[] = {
        "",
#define MISS(pass, name, text) #pass ": " text,
#include "passes/misses.def"
    };
    int lacking = 0;
    for (int i = 0; i < pass_count; i++)
        if (!shown->passes[i])
            lacking++,
                print_error("no file of %s shows the pass %s at work\n", folder, pass_info[i].name);
    for (int i = MISS_NONE + 1; i < MISS_COUNT; i++)
        if (!shown->misses[i])
            lacking++, print_error("no file of %s shows the near miss of %s\n", folder, misses[i]);
    for (int i = 0; i < N_DERIVATIONS; i++)
        if (!map_has(&shown->derivations, derivations[i].name))
            lacking++, print_error("no file of %s derives %s\n", folder, derivations[i].name);
    assert_int_equal(lacking, 0);
}

static void test_golden_files(void **state)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, is_tir, alphasort);
    assert_true(n > 0);
    Arena *arena = arena_new();
    Shown shown = {0};
    assert_true(pass_count <= (int)(sizeof shown.passes / sizeof *shown.passes));
    map_init(&shown.derivations, arena);
    for (int i = 0; i < n; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        check_file(path, &shown);
        free(entries[i]);
    }
    free(entries);
    check_complete(&shown);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_golden_files)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
