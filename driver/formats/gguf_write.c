/* The bytes of a GGUF, front to back. */
#include "driver/formats/gguf_write.h"

#include "base/file.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 32, VERSION = 3, AT_ONCE = 1 << 16 };

static void put_bytes(Text *out, uint64_t value, int bytes)
{
    char text[8];
    for (int i = 0; i < bytes; i++)
        text[i] = (char)(value >> 8 * i & 0xFF);
    text_put(out, text, (size_t)bytes);
}

static void put_string(Text *out, const char *text)
{
    put_bytes(out, strlen(text), 8);
    text_string(out, text);
}

static void put_float(Text *out, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_bytes(out, bits, 4);
}

/* The key and the kind; of a list its kind and length, too. */
static void put_key(GgufWriter *writer, const char *key, GgufKind kind)
{
    put_string(&writer->values, key);
    put_bytes(&writer->values, kind, 4);
    writer->n++;
}

static void put_list(GgufWriter *writer, const char *key, GgufKind kind, uint64_t n)
{
    put_key(writer, key, GGUF_ARRAY);
    put_bytes(&writer->values, kind, 4);
    put_bytes(&writer->values, n, 8);
}

void gguf_put_text(GgufWriter *writer, const char *key, const char *text)
{
    put_key(writer, key, GGUF_STRING);
    put_string(&writer->values, text);
}

void gguf_put_size(GgufWriter *writer, const char *key, uint32_t size)
{
    put_key(writer, key, GGUF_U32);
    put_bytes(&writer->values, size, 4);
}

void gguf_put_number(GgufWriter *writer, const char *key, float number)
{
    put_key(writer, key, GGUF_F32);
    put_float(&writer->values, number);
}

void gguf_put_bool(GgufWriter *writer, const char *key, bool value)
{
    put_key(writer, key, GGUF_BOOL);
    put_bytes(&writer->values, value, 1);
}

void gguf_put_texts(GgufWriter *writer, const char *key, const char *const *texts, uint64_t n)
{
    put_list(writer, key, GGUF_STRING, n);
    for (uint64_t i = 0; i < n; i++)
        put_string(&writer->values, texts[i]);
}

void gguf_put_bytes(GgufWriter *writer, const char *key, const void *bytes, size_t n)
{
    put_list(writer, key, GGUF_U8, n);
    text_put(&writer->values, bytes, n);
}

void gguf_put_numbers(GgufWriter *writer, const char *key, const float *numbers, uint64_t n)
{
    put_list(writer, key, GGUF_F32, n);
    for (uint64_t i = 0; i < n; i++)
        put_float(&writer->values, numbers[i]);
}

void gguf_put_integers(GgufWriter *writer, const char *key, const int32_t *integers, uint64_t n)
{
    put_list(writer, key, GGUF_I32, n);
    for (uint64_t i = 0; i < n; i++)
        put_bytes(&writer->values, (uint32_t)integers[i], 4);
}

static void put_padding(FileWriter *file, uint64_t size)
{
    static const char zeros[ALIGNMENT];
    file_write(file, zeros, (size_t)((ALIGNMENT - size % ALIGNMENT) % ALIGNMENT));
}

static void put_head(GgufWriter *writer, const StTensor *tensors, const GgufType *const *types,
                     int64_t n, Text *head)
{
    uint64_t at = 0;
    text_string(head, "GGUF");
    put_bytes(head, VERSION, 4);
    put_bytes(head, (uint64_t)n, 8);
    put_bytes(head, writer->n, 8);
    text_put(head, writer->values.data, writer->values.length);
    for (int64_t i = 0; i < n; i++) {
        put_string(head, tensors[i].name);
        put_bytes(head, (uint64_t)tensors[i].rank, 4);
        for (int d = tensors[i].rank; d-- > 0;)
            put_bytes(head, (uint64_t)tensors[i].dims[d], 8);
        put_bytes(head, types[i]->number, 4);
        put_bytes(head, at, 8);
        at += gguf_bytes(types[i], tensors[i].count);
        at += (ALIGNMENT - at % ALIGNMENT) % ALIGNMENT;
    }
}

/* AT_ONCE elements are of whole blocks of any type. */
static void put_tensor(FileWriter *file, const StTensor *tensor, const GgufType *type)
{
    float *values = memory_resized(NULL, AT_ONCE * sizeof *values);
    void *encoded = memory_resized(NULL, AT_ONCE * sizeof *values);
    for (int64_t i = 0; i < tensor->count; i += AT_ONCE) {
        const int64_t left = tensor->count - i, n = left < AT_ONCE ? left : AT_ONCE;
        st_floats(tensor, i, n, values);
        gguf_encode(type, values, n, encoded);
        file_write(file, encoded, (size_t)gguf_bytes(type, n));
    }
    put_padding(file, gguf_bytes(type, tensor->count));
    free(values);
    free(encoded);
}

bool gguf_write(Diagnostics *diags, const char *path, GgufWriter *writer, const StTensor *tensors,
                const GgufType *const *types, int64_t n)
{
    Text head = {0};
    put_head(writer, tensors, types, n, &head);
    FileWriter *file = file_create(diags, path);
    if (file) {
        file_write(file, head.data, head.length);
        put_padding(file, head.length);
    }
    for (int64_t i = 0; file && i < n; i++)
        put_tensor(file, &tensors[i], types[i]);
    text_free(&head);
    text_free(&writer->values);
    return file && file_commit(file, diags);
}
