/* The processor's state during a product, as a form's tiles need it. */
#ifndef RUNTIME_PRODUCT_PRODUCT_STATE_H
#define RUNTIME_PRODUCT_PRODUCT_STATE_H

#include "runtime/product/form.h"

/* Makes the processor take denormals for zero, if the form asks for it and the processor can
 * (x86-64 and AArch64); returns the state to restore. */
uint64_t state_flush_denormals(const TfcFormSizes *f);
void state_restore_denormals(const TfcFormSizes *f, uint64_t before);

/* Sets up the tile registers of AMX, each of 16 rows of 64 bytes, and gives them back; does nothing
 * if the form uses none. */
void state_open_registers(const TfcFormSizes *f);
void state_close_registers(const TfcFormSizes *f);

#endif
