/* Writing the wire format: each field is a tag and a whole number, or a tag, a length and bytes. */
#include "driver/exchange/onnx/wire.h"

#include <string.h>

enum { VARINT = 0, BYTES = 2, FOUR_BYTES = 5 };

static void put_varint(Text *message, uint64_t value)
{
    char bytes[10];
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[n++] = (char)(value | 0x80);
    bytes[n++] = (char)value;
    text_put(message, bytes, n);
}

void wire_int(Text *message, int field, int64_t value)
{
    put_varint(message, (uint64_t)field << 3 | VARINT);
    put_varint(message, (uint64_t)value);
}

void wire_float(Text *message, int field, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_varint(message, (uint64_t)field << 3 | FOUR_BYTES);
    for (int i = 0; i < 4; i++) {
        const char byte = (char)(bits >> 8 * i & 0xFF);
        text_put(message, &byte, 1);
    }
}

void wire_bytes(Text *message, int field, const void *bytes, size_t size)
{
    put_varint(message, (uint64_t)field << 3 | BYTES);
    put_varint(message, size);
    if (size)
        text_put(message, bytes, size);
}

void wire_string(Text *message, int field, const char *string)
{
    wire_bytes(message, field, string, strlen(string));
}

void wire_message(Text *message, int field, Text *part)
{
    wire_bytes(message, field, part->data, part->length);
    text_free(part);
}
