/* Names and sizes of element types, by the number that a type has in DType, TfcType and StType. */
#ifndef BASE_ELEMENT_H
#define BASE_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ElementInfo {
    const char *name;   /* f32 */
    const char *stored; /* in safetensors: F32 */
    const char *c;      /* float */
    uint8_t bytes;
    bool is_float;
} ElementInfo;

/* type: a DType, TfcType or StType. */
static inline const ElementInfo *element_info(unsigned type)
{
    static const ElementInfo infos[] = {
#define TYPE(NAME, name, T, is_float) {#name, #NAME, #T, sizeof(T), is_float},
#define FILE_TYPE(NAME, name, T, is_float) {#name, #NAME, #T, sizeof(T), is_float},
#include "base/types.def"
    };
    return &infos[type];
}

#endif
