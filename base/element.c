/* The table of element types: one in each program and library. */
#include "base/element.h"

#include "base/bf16.h"

const ElementInfo element_infos[ELEMENT_TYPES] = {
#define TYPE(NAME, name, T, is_float) {#name, #NAME, #T, sizeof(T), is_float},
#define FILE_TYPE(NAME, name, T, is_float) {#name, #NAME, #T, sizeof(T), is_float},
#include "base/types.def"
};

double element_value(unsigned type, const void *data, int64_t i)
{
    switch (type) {
    case ELEMENT_F32: return (double)((const float *)data)[i];
    case ELEMENT_F64: return ((const double *)data)[i];
    case ELEMENT_BF16: return (double)bf16_to_float(((const uint16_t *)data)[i]);
    case ELEMENT_I32: return ((const int32_t *)data)[i];
    default: return ((const uint8_t *)data)[i]; /* ELEMENT_BOOL */
    }
}
