/* Writing the wire format: each field is a tag and a whole number, or a tag, a length and bytes. */
#include "base/proto.h"

#include <string.h>

static void put_varint(Text *message, uint64_t value)
{
    char bytes[10];
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[n++] = (char)(value | 0x80);
    bytes[n++] = (char)value;
    text_put(message, bytes, n);
}

static void put_tag(Text *message, uint32_t field, ProtoKind kind)
{
    put_varint(message, (uint64_t)field << 3 | kind);
}

void proto_put_int(Text *message, uint32_t field, int64_t value)
{
    put_tag(message, field, PROTO_VARINT);
    put_varint(message, (uint64_t)value);
}

void proto_put_float(Text *message, uint32_t field, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_tag(message, field, PROTO_4);
    for (int i = 0; i < 4; i++) {
        const char byte = (char)(bits >> 8 * i & 0xFF);
        text_put(message, &byte, 1);
    }
}

void proto_put_bytes(Text *message, uint32_t field, const void *bytes, size_t size)
{
    put_tag(message, field, PROTO_BYTES);
    put_varint(message, size);
    if (size)
        text_put(message, bytes, size);
}

void proto_put_string(Text *message, uint32_t field, const char *string)
{
    proto_put_bytes(message, field, string, strlen(string));
}

void proto_put_message(Text *message, uint32_t field, Text *part)
{
    proto_put_bytes(message, field, part->data, part->length);
    text_free(part);
}
