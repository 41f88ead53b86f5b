/* The table of element types: one in each program and library. */
#include "base/element.h"

const ElementInfo element_infos[ELEMENT_TYPES] = {
#define TYPE(NAME, name, T, is_float) {#name, #NAME, #T, sizeof(T), is_float},
#define FILE_TYPE(NAME, name, T, is_float) {#name, #NAME, #T, sizeof(T), is_float},
#include "base/types.def"
};
