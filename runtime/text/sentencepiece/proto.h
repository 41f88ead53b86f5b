/* The wire format of Protocol Buffers, as far as models use it: fields one after another, each with
 * its number and a value: a varint, 4 or 8 bytes, or bytes that may be a message in turn. */
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
    uint64_t value;    /* of all kinds but PROTO_BYTES */
    const char *bytes; /* of PROTO_BYTES, in the message */
    size_t size;
} ProtoField;

/* Reads the next field; false: the end, or `bad` is set. */
bool proto_next(Proto *proto, ProtoField *field);
/* The message in these bytes, which must outlive it. */
Proto proto_message(const void *bytes, size_t size);
float proto_float(const ProtoField *field); /* the value of a PROTO_4 */

#endif
