/* Which native products programs need. */
#ifndef CODEGEN_PRODUCTS_H
#define CODEGEN_PRODUCTS_H

#include "codegen/codegen.h"
#include "runtime/exec/program.h"

/* Names of the products. */
extern const char *const product_names[TFC_PRODUCT_TYPES];
/* Whether the program has a product of this type that `gemm` makes native. */
bool program_has_product(const TfcProgram *program, TfcProductType type, GemmChoice gemm);
/* Writes the types of all native products that the programs need, in ascending order, and returns
 * how many. */
int products_needed(const TfcProgram *const *programs, int n, GemmChoice gemm,
                    TfcProductType types[TFC_PRODUCT_TYPES]);

#endif
