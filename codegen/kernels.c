/* Lists of kernels; see kernels.h. */
#include "codegen/kernels.h"

#include "codegen/body.h"

#include <stdio.h>

void kernels_init(KernelSet *set, Arena *arena)
{
    *set = (KernelSet){.arena = arena};
    map_init(&set->by_name, arena);
}

/* Element types that kernels do not have yet are the user's to hear of. */
static bool check_types(const Op *op, Diagnostics *diags)
{
    Arena *arena = arena_new();
    Body body = body_of(arena, op);
    bool bf16 = false;
    for (int i = 0; i < body.n_inputs; i++)
        bf16 |= body.inputs[i]->type.dtype == DT_BF16;
    for (int i = 0; i < body.n_ops; i++)
        bf16 |= body.ops[i].op->results[0].type.dtype == DT_BF16;
    arena_free(arena);
    if (bf16)
        diag_error(diags, op->loc, "kernels do not have bf16 elements yet: use f32");
    return !bf16;
}

int kernels_add(KernelSet *set, const Module *module, const Op *op, const Signature *signature,
                Diagnostics *diags)
{
    const char *kind = op->body || op_is_own_kernel(op) ? op_info[op->kind].name : "row";
    char name[64];
    snprintf(name, sizeof name, "%s.%016llx", kind, (unsigned long long)signature->hash);
    int found = (int)(intptr_t)map_get(&set->by_name, name) - 1;
    if (found >= 0)
        return found;
    if (!check_types(op, diags))
        return -1;
    KernelEntry entry = {arena_strdup(set->arena, name), module, op, *signature};
    vec_push(set->arena, set->list, entry);
    map_set(&set->by_name, entry.name, (void *)(intptr_t)set->list.count);
    return (int)set->list.count - 1;
}
