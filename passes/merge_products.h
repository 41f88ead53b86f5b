/* What the two halves of merge_products share: products with one operand (merge_products.c), and
 * sums of products (merge_sums.c). */
#ifndef PASSES_MERGE_PRODUCTS_H
#define PASSES_MERGE_PRODUCTS_H

#include "passes/pass.h"

enum { MOST_MERGED = 4 };

/* Whether the ops' scopes have the same block around them. */
bool merge_same_parent(const Op *a, const Op *b);
/* The order of a group's parts: that of scopes (key, query, value), so that all kinds of groups
 * concatenate the same values. */
void merge_sort_by_scope(Op **group, int n);
/* Merges sums of products as long as there are any. */
void merge_sums(Function *function);
/* Reports sums of two products that stayed. */
void report_apart_sums(Function *function, Report *report);

#endif
