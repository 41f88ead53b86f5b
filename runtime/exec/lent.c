/* Which steps are left out; see lent.h. */
#include "runtime/exec/lent.h"

#include "runtime/exec/slab.h"

#include <string.h>

/* The panels that a pack step makes for the program's products; false: of no param, or for no
 * product of the program's own code. */
static bool describe(const TfcProgram *program, const TfcStep *step, TfcPanels *out)
{
    const TfcGemmStep *gemm = &step->gemm;
    const TfcForm *form =
        step->kind == TFC_STEP_PACK ? program->products.native[gemm->product] : NULL;
    if (!form || !gemm->param)
        return false;
    *out = (TfcPanels){.name = program->tensors[gemm->param - 1].name,
                       .product = (int64_t)gemm->product,
                       .matrices = gemm->n_loops ? program->sizes[gemm->loops[0]].coefficient : 1,
                       .k = program->sizes[gemm->k.size].coefficient,
                       .n = program->sizes[gemm->n.size].coefficient,
                       .is_transposed = program->sizes[gemm->b.column_stride].coefficient != 1,
                       .layout = panel_layout(&form->sizes)};
    return true;
}

/* Steps before `first` are not asked. */
static bool is_used(const Lent *lent, const TfcProgram *program, const bool *read, int32_t first,
                    int32_t b)
{
    if ((read[b] || slab_stays(program, read, b)) && !lent->panels[b])
        return true;
    for (int32_t s = first; s < program->n_prepared; s++)
        if (!lent->left[s] && slab_uses(program, &program->steps[s], b))
            return true;
    return false;
}

bool lent_uses(const Lent *lent, const TfcProgram *program, const bool *read, int32_t buffer)
{
    return is_used(lent, program, read, 0, buffer);
}

/* Whether anything later uses what the step makes, or makes it of. */
static bool makes_used(const Lent *lent, const TfcProgram *program, const bool *read, int32_t s)
{
    for (int32_t i = 0, b; (b = slab_buffer_of(program, &program->steps[s], i)) >= 0; i++)
        if (program->buffers[b].kind != TFC_BUFFER_TENSOR && is_used(lent, program, read, s + 1, b))
            return true;
    return false;
}

static bool find_lent_panels(Lent *lent, const TfcProgram *program, LendPanels *lend, void *context)
{
    bool any = false;
    memset(lent->panels, 0, sizeof *lent->panels * (size_t)program->n_buffers);
    for (int32_t s = 0; s < program->n_prepared; s++) {
        TfcPanels wanted;
        const TfcStep *step = &program->steps[s];
        const void *panels = describe(program, step, &wanted) ? lend(context, &wanted) : NULL;
        lent->left[s] = panels != NULL;
        if (panels)
            lent->panels[step->gemm.panels - 1] = panels;
        any |= panels != NULL;
    }
    return any;
}

bool lent_find(Lent *lent, const TfcProgram *program, const bool *read, LendPanels *lend,
               void *context)
{
    const bool lent_before = lent->any;
    bool changed = false;
    lent->any = find_lent_panels(lent, program, lend, context);
    if (!lent->any && !lent_before)
        return false;
    for (int32_t s = program->n_prepared - 1; lent->any && s >= 0; s--)
        lent->left[s] = lent->left[s] || !makes_used(lent, program, read, s);
    for (int32_t b = 0; b < program->n_buffers; b++) {
        const bool was_absent = lent->absent[b];
        lent->absent[b] =
            program->buffers[b].kind == TFC_BUFFER_KEPT && !lent_uses(lent, program, read, b);
        changed |= lent->absent[b] != was_absent;
    }
    return changed;
}
