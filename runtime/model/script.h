/* A model for scripts, which call one function: JSON in, JSON out (script.c). */
#ifndef RUNTIME_MODEL_SCRIPT_H
#define RUNTIME_MODEL_SCRIPT_H

#include "runtime/model/abi.h"

/* The answer ends with a NUL and is valid until the next call; never NULL. Any request is allowed. */
const char *tfc_model_script(const TfcModel *model, const char *request, int64_t length);

#endif
