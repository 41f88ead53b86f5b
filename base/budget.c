/* The budgets of SECURITY.md, and the arenas that keep them. */
#include "base/budget.h"

#include <errno.h>

static const struct {
    size_t times, more;
} budgets[] = {
    [BUDGET_BINARY] = {4, 16 << 20},
    [BUDGET_TEXT] = {40, 1 << 20},
};

size_t budget_bytes(Budget budget, uint64_t size)
{
    size_t bytes;
    return __builtin_mul_overflow(size, budgets[budget].times, &bytes) ||
                   __builtin_add_overflow(bytes, budgets[budget].more, &bytes)
               ? SIZE_MAX
               : bytes;
}

Arena *budget_begin(BudgetScope *scope, Budget budget, Diagnostics *diags, Arena *owner,
                    const char *path, uint64_t size)
{
    *scope = (BudgetScope){.diags = diags,
                           .owner = owner,
                           .arena = arena_within(owner, budget_bytes(budget, size)),
                           .path = path,
                           .n_before = diags->list.count,
                           .errors_before = diags->errors};
    return scope->arena;
}

static void release_arena(void *arena) { arena_free(arena); }

bool budget_end(BudgetScope *scope)
{
    Arena *arena = scope->arena;
    if (arena && !arena_failed(arena)) /* messages may point into it, too */
        return arena_own(scope->owner, arena, release_arena);
    scope->diags->list.count = scope->n_before;
    scope->diags->errors = scope->errors_before;
    if (arena && arena_is_over(arena))
        diag_about(scope->diags, DIAG_ERROR, scope->path, ": " BUDGET_PROBLEM);
    else
        diag_errno(scope->diags, "read", scope->path, ENOMEM);
    arena_free(arena);
    return false;
}
