/* Protocol buffers' wire format, as far as models have it: fields one after another, each with
 * a number and a whole number, 4 or 8 bytes, or bytes that may be a message in turn. */
#ifndef RUNTIME_TEXT_SENTENCEPIECE_PROTO_H
#define RUNTIME_TEXT_SENTENCEPIECE_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Proto {
    const unsigned char *at, *end;
    bool bad; /* the bytes are no message */
} Proto;

typedef enum ProtoKind { PROTO_VARINT = 0, PROTO_8 = 1, PROTO_BYTES = 2, PROTO_4 = 5 } ProtoKind;

typedef struct ProtoField {
    uint32_t number;
    ProtoKind kind;
    uint64_t value;    /* of all but bytes */
    const char *bytes; /* of bytes, where they lie */
    size_t size;
} ProtoField;

/* The next field; false: the end, or the message is bad. */
bool proto_next(Proto *proto, ProtoField *field);
/* Of a field of bytes. */
Proto proto_message(const void *bytes, size_t size);
float proto_float(const ProtoField *field); /* of one of 4 bytes */

#endif
