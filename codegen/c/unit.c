/* Kernels, products and tables as one text; see unit.h. */
#include "codegen/c/unit.h"

#include "base/file.h"
#include "codegen/c/render.h"
#include "codegen/emit/emit.h"
#include "codegen/emit/gemm/gemm.h"
#include "codegen/loop/passes/passes.h"
#include "codegen/plan/plan.h"
#include "codegen/products.h"

/* ---- where a kernel comes from ---- */

enum { MOST_PLACES = 8 };

typedef struct Places {
    Arena *arena;
    Text text;
    Map seen;
    int n;
} Places;

static void add_place(Places *p, const Source *source, int line)
{
    if (!source)
        return;
    const char *place = arena_printf(p->arena, "%s:%d", file_name(source->path), line);
    if (map_has(&p->seen, place))
        return;
    map_set(&p->seen, place, p);
    if (p->n++ < MOST_PLACES)
        text_add(&p->text, "%s%s", p->n > 1 ? ", " : "", place);
}

/* "models/lib/attention.tfg:12, …": the lines of all ops that the kernel is for; in the arena. */
static const char *places_of(const KernelEntry *entry, Arena *arena)
{
    Places p = {.arena = arena};
    map_init(&p.seen, arena);
    for (size_t i = 0; i < entry->places.count; i++) {
        const Loc *loc = &entry->places.data[i]->loc;
        add_place(&p, loc->source, loc->line);
        for (const Trail *trail = loc->trail; trail; trail = trail->up)
            add_place(&p, trail->source, trail->line);
    }
    if (p.n > MOST_PLACES)
        text_add(&p.text, " and %d more", p.n - MOST_PLACES);
    const char *places = text_keep(arena, &p.text);
    return p.n ? places : NULL;
}

void c_note_places(const KernelSet *set, const char *prefix, Map *comments, Arena *arena)
{
    for (size_t k = 0; k < set->list.count; k++) {
        const KernelEntry *entry = &set->list.data[k];
        const char *places = places_of(entry, arena);
        if (places)
            map_set(comments, arena_printf(arena, "%s%s", prefix, entry->name), (void *)places);
    }
}

/* ---- the whole ---- */

/* What the target has that C has no words for is left out, and masks are no instruction of it. */
static CodeTarget in_c(const CodeTarget *target, Arena *arena)
{
    Processor *processor = arena_copy(arena, target->processor, sizeof *processor);
    processor->scales_at_once = processor->masks_are_free = false;
    processor->pairs = TARGET_PAIRS_WIDENED;
    processor->quads = TARGET_QUADS_WIDENED;
    return (CodeTarget){.processor = processor, .emulates_fma = target->emulates_fma};
}

static void emit_products(LoModule *loops, const CodeTarget *target, const ObjectSet *set,
                          GemmChoice gemm, const char *prefix, Arena *arena)
{
    TfcProductType types[TFC_PRODUCT_TYPES];
    int n = products_needed(set->programs, set->n_programs, gemm, types);
    for (int i = 0; i < n; i++)
        emit_gemm(loops, target, types[i],
                  arena_printf(arena, "%s%s", prefix, product_names[types[i]]));
}

bool c_programs(const Function *const *functions, int n, const TargetOptions *options,
                const char *prefix, Arena *arena, ObjectSet *out, Text *text, Diagnostics *diags)
{
    KernelSet set;
    CodeTarget named;
    Map comments;
    if (!codegen_target(options, &named, diags))
        return false;
    const TfcProgram *const *programs = plan_programs(functions, n, options, &set, arena, diags);
    if (!programs)
        return false;
    const char **symbols = ARENA_ARRAY(arena, const char *, n + 1);
    for (int i = 0; i < n; i++)
        symbols[i] = arena_printf(arena, "%s%s", prefix, functions[i]->name);
    *out = (ObjectSet){.n_programs = n,
                       .n_kernels = (int)set.list.count,
                       .programs = programs,
                       .symbols = symbols};
    CodeTarget target = in_c(&named, arena);
    LoModule *loops = lo_module_new(arena);
    map_init(&comments, arena);
    c_note_places(&set, prefix, &comments, arena);
    emit_kernels(loops, &set, 0, (int)set.list.count, prefix, &target);
    emit_products(loops, &target, out, options->gemm, prefix, arena);
    lo_run_passes(loops, &target);
    if (!c_render(loops, &c_gnu, &comments, text, diags))
        return false;
    for (int i = 0; i < n; i++)
        c_tables(programs[i], prefix, options->gemm, text);
    return true;
}
