/* Lists of kernels; see kernels.h. */
#include "codegen/kernels.h"

#include "codegen/body.h"

#include <stdio.h>

void kernels_init(KernelSet *set, Arena *arena)
{
    *set = (KernelSet){.arena = arena};
    map_init(&set->by_name, arena);
}

int kernels_add(KernelSet *set, const Module *module, const Op *op, const Signature *signature)
{
    const char *kind = op->body || op_is_own_kernel(op) ? op_info[op->kind].name : "row";
    char name[64];
    snprintf(name, sizeof name, "%s.%016llx", kind, (unsigned long long)signature->hash);
    int found = (int)(intptr_t)map_get(&set->by_name, name) - 1;
    if (found >= 0) {
        vec_push(set->arena, set->list.data[found].places, op);
        return found;
    }
    KernelEntry entry = {arena_strdup(set->arena, name), module, op, *signature, {0}};
    vec_push(set->arena, entry.places, op);
    vec_push(set->arena, set->list, entry);
    map_set(&set->by_name, entry.name, (void *)(intptr_t)set->list.count);
    return (int)set->list.count - 1;
}
