/* Names and sizes of element types, by the number that a type has in DType, TfcType and StType. */
#ifndef BASE_ELEMENT_H
#define BASE_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Without pointers, which a library would relocate when it is loaded. */
typedef struct ElementInfo {
    char name[8];   /* f32 */
    char stored[8]; /* in safetensors: F32 */
    char c[12];     /* float */
    uint8_t bytes;
    bool is_float;
} ElementInfo;

enum {
#define TYPE(NAME, ...) ELEMENT_##NAME,
#define FILE_TYPE(NAME, ...) ELEMENT_##NAME,
#include "base/types.def"
    ELEMENT_TYPES
};
extern const ElementInfo element_infos[ELEMENT_TYPES]; /* (element.c) */

/* Element i of data of a type that programs have, as a number. */
double element_value(unsigned type, const void *data, int64_t i);
/* Sets element i, of a type but bf16; a float is rounded. False: the value is no whole number that
 * the type can hold. */
bool element_put(unsigned type, void *data, int64_t i, double value);
/* type: a DType, TfcType or StType. */
static inline const ElementInfo *element_info(unsigned type) { return &element_infos[type]; }

#endif
