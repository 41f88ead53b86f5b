/* Writing GGUF of version 3 (docs/gguf.md of ggml): metadata are put key by key, then the file is
 * written with its tensors, which are encoded some rows at a time. */
#ifndef DRIVER_FORMATS_GGUF_WRITE_H
#define DRIVER_FORMATS_GGUF_WRITE_H

#include "driver/formats/gguf.h"

typedef struct GgufWriter {
    Text values; /* private */
    uint64_t n;  /* values */
} GgufWriter;

void gguf_put_text(GgufWriter *writer, const char *key, const char *text);
void gguf_put_size(GgufWriter *writer, const char *key, uint32_t size);
void gguf_put_number(GgufWriter *writer, const char *key, float number);
void gguf_put_bool(GgufWriter *writer, const char *key, bool value);
void gguf_put_texts(GgufWriter *writer, const char *key, const char *const *texts, uint64_t n);
void gguf_put_bytes(GgufWriter *writer, const char *key, const void *bytes, size_t n);
void gguf_put_numbers(GgufWriter *writer, const char *key, const float *numbers, uint64_t n);
void gguf_put_integers(GgufWriter *writer, const char *key, const int32_t *integers, uint64_t n);
/* Writes the file and frees the writer. Tensor i has the elements of tensors[i], whose type is
 * f32, in types[i] (gguf_encode); its rows are of whole blocks. False after an error. */
bool gguf_write(Diagnostics *diags, const char *path, GgufWriter *writer, const StTensor *tensors,
                const GgufType *const *types, int64_t n);

#endif
