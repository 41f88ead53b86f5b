/* The table of element types: one in each program and library. */
#include "base/element.h"

#include "base/bf16.h"

#include <math.h>

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

bool element_put(unsigned type, void *data, int64_t i, double value)
{
    switch (type) {
    case ELEMENT_F64: ((double *)data)[i] = value; return true;
    case ELEMENT_I32:
        if (!(value >= INT32_MIN && value <= INT32_MAX) || value != trunc(value))
            return false;
        ((int32_t *)data)[i] = (int32_t)value;
        return true;
    case ELEMENT_BOOL: ((uint8_t *)data)[i] = value != 0; return true;
    default: ((float *)data)[i] = (float)value; return true;
    }
}
