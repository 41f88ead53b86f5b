/* The list of passes, and what they share; see passes.h. */
#include "codegen/loop/passes/passes.h"

#include "codegen/loop/verify.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

const char *const lo_pass_names[] = {
#define PASS(name, help) #name,
#include "codegen/loop/passes/passes.def"
};
const char *const lo_pass_help[] = {
#define PASS(name, help) help,
#include "codegen/loop/passes/passes.def"
};
static void (*const runs[])(LoModule *module, const CodeTarget *target) = {
#define PASS(name, help) lo_##name,
#include "codegen/loop/passes/passes.def"
};
enum { N_PASSES = sizeof runs / sizeof *runs };
const int lo_n_passes = N_PASSES;

static int find_pass(const char *name)
{
    int i = 0;
    while (i < N_PASSES && strcmp(lo_pass_names[i], name))
        i++;
    return i;
}

/* Debug builds check what every pass leaves. */
static void finish_pass(LoModule *module)
{
    for (size_t i = 0; i < module->functions.count; i++)
        lo_number(module->functions.data[i]);
#ifndef NDEBUG
    Arena *arena = arena_new();
    Diagnostics diags;
    Text text = {0};
    diag_init(&diags, arena);
    if (!lo_verify(module, &diags)) {
        diag_render(&diags, &text);
        fputs(text.data, stderr);
        assert(!"a pass left loop IR that breaks a rule");
    }
    arena_free(arena);
#endif
}

bool lo_run_pass(LoModule *module, const CodeTarget *target, const char *name)
{
    int i = find_pass(name);
    if (i == N_PASSES)
        return false;
    runs[i](module, target);
    finish_pass(module);
    return true;
}

bool lo_run_passes_until(LoModule *module, const CodeTarget *target, const char *last)
{
    bool none = last && !strcmp(last, "built");
    int end = none ? 0 : last ? find_pass(last) + 1 : N_PASSES;
    if (end > N_PASSES)
        return false;
    lo_strip(module, target); /* builders' seams */
    finish_pass(module);
    for (int i = 0; i < end; i++)
        lo_run_pass(module, target, lo_pass_names[i]);
    return true;
}

void lo_run_passes(LoModule *module, const CodeTarget *target)
{
    lo_run_passes_until(module, target, NULL);
}
