/* Records of a program copied field by field: what lies between the fields, which holds
 * anything in the copy's source, stays as it is in `out`. With zeros there the same program
 * gives the same bytes. Pointers are not copied: they become relocations (tables.c). */
#ifndef CODEGEN_RECORDS_H
#define CODEGEN_RECORDS_H

#include "runtime/exec/program.h"

void record_dim(TfcProgramDim *out, const TfcProgramDim *in);
void record_port(TfcPort *out, const TfcPort *in);
void record_tensor(TfcTensor *out, const TfcTensor *in);
void record_buffer(TfcBuffer *out, const TfcBuffer *in);
void record_step(TfcStep *out, const TfcStep *in);
/* The counts alone. */
void record_program(TfcProgram *out, const TfcProgram *in);

#endif
