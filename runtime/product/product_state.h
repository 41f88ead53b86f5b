/* The processor's state that a form's tiles want around a product. */
#ifndef RUNTIME_PRODUCT_PRODUCT_STATE_H
#define RUNTIME_PRODUCT_PRODUCT_STATE_H

#include "runtime/product/form.h"

/* Denormals: zero from now on, if the form says so; what was so far, for what restores it. */
unsigned state_flush_denormals(const TfcFormSizes *f);
void state_restore_denormals(const TfcFormSizes *f, unsigned before);

/* Registers of AMX: set up, each of 16 rows of 64 bytes, and given back. */
void state_open_registers(const TfcFormSizes *f);
void state_close_registers(const TfcFormSizes *f);

#endif
