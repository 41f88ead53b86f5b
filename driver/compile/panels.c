/* Params that are put inside as panels, in the order in which decoding reads them, so that a
 * program maps them and packs nothing (runtime/exec/panels.h). A param that a function reads
 * otherwise, too, is inside as it is; as panels besides, if the file is not larger than with params
 * alone: where panels are of bf16 or integers. train_step does not count in f32: it makes its
 * params of the panels. */
#include "driver/compile/artifact.h"

#include "runtime/exec/lent.h"
#include "runtime/exec/slab.h"

#include <string.h>

typedef struct PanelSearch {
    Artifact *a;
    TfcForm forms[TFC_PRODUCT_TYPES]; /* sizes alone */
} PanelSearch;

/* False after errors. */
static bool find_form(PanelSearch *search, TfcProductType type)
{
    Artifact *a = search->a;
    for (int c = 0; c < a->n_cpus; c++) {
        const TargetOptions target = artifact_target(a, c);
        TfcFormSizes sizes, *common = &search->forms[type].sizes;
        if (!codegen_panels(&target, type, a->job->arena, &sizes, &a->job->diags))
            return false;
        if (c && memcmp(&sizes, common, sizeof sizes))
            sizes = (TfcFormSizes){0}; /* the file's processors have none in common */
        *common = sizes;
    }
    return true;
}

/* Adds the panels to the artifact's, unless they are there. */
static const void *take_panels(void *context, const TfcPanels *wanted)
{
    PanelSearch *search = context;
    Artifact *a = search->a;
    for (size_t i = 0; i < a->panels.count; i++)
        if (panels_agree(&a->panels.data[i], wanted))
            return search;
    vec_push(a->job->arena, a->panels, *wanted);
    return search;
}

/* Marks params that the program reads otherwise. */
static void search_program(PanelSearch *search, const TfcProgram *planned)
{
    Artifact *a = search->a;
    TfcProgram program = *planned;
    for (int type = 0; type < TFC_PRODUCT_TYPES; type++)
        program.products.native[type] =
            a->gemm != GEMM_BLAS && search->forms[type].sizes.columns ? &search->forms[type] : NULL;
    memset(program.products.blas, 0, sizeof program.products.blas);
    bool *read = ARENA_ARRAY(a->job->arena, bool, program.n_buffers + 1);
    Lent lent = {.panels = ARENA_ARRAY(a->job->arena, const void *, program.n_buffers + 1),
                 .left = ARENA_ARRAY(a->job->arena, bool, program.n_prepared + 1),
                 .absent = ARENA_ARRAY(a->job->arena, bool, program.n_buffers + 1)};
    slab_mark_read(&program, read);
    lent_find(&lent, &program, read, take_panels, search);
    for (int32_t b = 0; b < program.n_buffers; b++)
        if (program.buffers[b].kind == TFC_BUFFER_TENSOR && lent_uses(&lent, &program, read, b))
            map_set(&a->read_as_is, program.tensors[program.buffers[b].index].name, a);
}

bool artifact_as_panels(const Artifact *a, const StoreTensor *tensor)
{
    for (size_t i = 0; i < a->panels.count; i++)
        if (!strcmp(a->panels.data[i].name, tensor->name))
            return !map_has(&a->read_as_is, tensor->name);
    return false;
}

/* The bytes of all params as they are, and of what is inside. */
static int64_t bytes_as_is(const Artifact *a)
{
    int64_t bytes = 0;
    for (int64_t i = 0; i < store_count(a->weights); i++)
        if (store_is_param(store_at(a->weights, i)))
            bytes += store_at(a->weights, i)->count * (int64_t)sizeof(float);
    return bytes;
}

static int64_t bytes_inside(const Artifact *a)
{
    int64_t bytes = 0;
    for (int64_t i = 0; i < store_count(a->weights); i++)
        if (store_is_param(store_at(a->weights, i)) &&
            !artifact_as_panels(a, store_at(a->weights, i)))
            bytes += store_at(a->weights, i)->count * (int64_t)sizeof(float);
    for (size_t i = 0; i < a->panels.count; i++)
        bytes += panels_bytes(&a->panels.data[i]);
    return bytes;
}

static void keep_panels(Artifact *a, bool doubles)
{
    size_t n = 0;
    for (size_t i = 0; i < a->panels.count; i++)
        if (doubles || !map_has(&a->read_as_is, a->panels.data[i].name))
            a->panels.data[n++] = a->panels.data[i];
    a->panels.count = n;
}

/* The file is hardly larger than with all params as they are. */
static void limit_size(Artifact *a)
{
    enum { MORE = 20 /* a part of them */ };
    const int64_t all = bytes_as_is(a);
    keep_panels(a, bytes_inside(a) <= all);
    if (bytes_inside(a) > all + all / MORE)
        a->panels.count = 0;
}

bool compile_choose_panels(Artifact *a)
{
    PanelSearch search = {.a = a};
    map_init(&a->read_as_is, a->job->arena);
    if (!a->weights || artifact_is_c(a)) /* codegen_panels does not tell of C's products */
        return true;
    for (int type = 0; type < TFC_PRODUCT_TYPES; type++)
        if (type != TFC_PRODUCT_F64 &&
            !find_form(&search, (TfcProductType)type)) /* params are f32 */
            return false;
    const bool rounds = a->session.options.precision == PRODUCTS_BF16;
    for (int f = 0; f < TFC_N_FUNCTIONS; f++)
        if (a->programs[f] && (f != TFC_TRAIN_STEP || rounds))
            search_program(&search, a->programs[f]);
    limit_size(a);
    return true;
}
