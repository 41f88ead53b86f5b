/* Reading the wire format. */
#include "base/proto.h"

#include <string.h>

Proto proto_message(const void *bytes, size_t size)
{
    const unsigned char *first = bytes;
    return (Proto){.at = first, .end = size ? first + size : first};
}

static bool read_varint(Proto *p, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 70 && p->at < p->end; shift += 7) {
        unsigned char byte = *p->at++;
        if (shift < 64)
            *value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static bool read_fixed(Proto *p, int size, uint64_t *value)
{
    *value = 0;
    if (p->end - p->at < size)
        return false;
    for (int i = 0; i < size; i++)
        *value |= (uint64_t)*p->at++ << 8 * i;
    return true;
}

static bool read_bytes(Proto *p, ProtoField *field)
{
    uint64_t size;
    if (!read_varint(p, &size) || size > (uint64_t)(p->end - p->at))
        return false;
    field->bytes = (const char *)p->at;
    field->size = (size_t)size;
    p->at += size;
    return true;
}

static bool read_field(Proto *p, ProtoField *field)
{
    uint64_t tag;
    if (!read_varint(p, &tag) || tag > UINT32_MAX || tag >> 3 == 0)
        return false;
    *field = (ProtoField){.number = (uint32_t)tag >> 3, .kind = (ProtoKind)(tag & 7)};
    switch (field->kind) {
    case PROTO_VARINT: return read_varint(p, &field->value);
    case PROTO_8: return read_fixed(p, 8, &field->value);
    case PROTO_4: return read_fixed(p, 4, &field->value);
    case PROTO_BYTES: return read_bytes(p, field);
    }
    return false; /* groups, which nobody writes any more */
}

bool proto_next(Proto *proto, ProtoField *field)
{
    if (proto->bad || proto->at == proto->end)
        return false;
    proto->bad = !read_field(proto, field);
    return !proto->bad;
}

bool proto_next_varint(Proto *packed, uint64_t *value)
{
    if (packed->bad || packed->at == packed->end)
        return false;
    packed->bad = !read_varint(packed, value);
    return !packed->bad;
}

float proto_float(const ProtoField *field)
{
    uint32_t bits = (uint32_t)field->value;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
