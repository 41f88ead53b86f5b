/* Budgets: how much memory reading a file may take, so that no file takes more than its size
 * explains (SECURITY.md). A reader allocates from an arena whose limit is the budget, or takes
 * memory by rules that keep it, as json_read does. Its fuzz target asserts the budget
 * (tests/fuzz/budget.h).
 *
 *   BudgetScope scope;
 *   Arena *own = budget_begin(&scope, BUDGET_BINARY, diags, arena, path, size);
 *   Thing *thing = own ? read(diags, own, path, bytes, size) : NULL;   // checks each allocation
 *   return budget_end(&scope) ? thing : NULL; */
#ifndef BASE_BUDGET_H
#define BASE_BUDGET_H

#include "base/diag.h"

/* Budget: of a kind of file.
 *   BUDGET_BINARY   4 times its size and 16 MB: files of weights, SentencePiece models
 *   BUDGET_TEXT     40 times its size and 1 MB: JSON, YAML, lists of words, where two bytes may be
 *                   a value */
typedef enum Budget { BUDGET_BINARY, BUDGET_TEXT } Budget;

/* The bytes that reading a file of that size may take. */
size_t budget_bytes(Budget budget, uint64_t size);
/* Said of a file that would take more, behind its name and a colon. */
#define BUDGET_PROBLEM \
    "reading it takes more memory than its size explains: it is damaged, or made to use up memory"

/* BudgetScope: one reading of a file. */
typedef struct BudgetScope {
    Diagnostics *diags;
    Arena *owner, *arena;
    const char *path;
    size_t n_before;
    int errors_before;
} BudgetScope;
/* Makes the arena of a reading, which the owner has from budget_end on; NULL: no memory. */
Arena *budget_begin(BudgetScope *scope, Budget budget, Diagnostics *diags, Arena *owner,
                    const char *path, uint64_t size);
/* False: the arena has failed, and is freed; one error replaces those that the reader added. */
bool budget_end(BudgetScope *scope);

#endif
