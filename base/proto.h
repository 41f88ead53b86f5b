/* The wire format of Protocol Buffers, as far as models use it: fields one after another, each with
 * its number and a value: a varint, 4 or 8 bytes, or bytes that may be a message in turn. Limits: a
 * field's number has 29 bits, a varint 64 (ten bytes; bits above are dropped), and bytes end within
 * their message. Groups are not read.
 *
 * Compiled libraries have proto_read.c alone. Field numbers: of SentencePiece's models
 * runtime/text/sentencepiece/fields.h, of ONNX driver/formats/onnx_fields.h. */
#ifndef BASE_PROTO_H
#define BASE_PROTO_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The kinds of values, by their numbers in the format. */
typedef enum ProtoKind { PROTO_VARINT = 0, PROTO_8 = 1, PROTO_BYTES = 2, PROTO_4 = 5 } ProtoKind;

/* ---- reading ---- */

/* Proto: what is left of a message. */
typedef struct Proto {
    const unsigned char *at, *end;
    bool bad; /* the bytes are no message */
} Proto;

typedef struct ProtoField {
    uint32_t number;
    ProtoKind kind;
    uint64_t value;    /* of all kinds but PROTO_BYTES */
    const char *bytes; /* of PROTO_BYTES, in the message */
    size_t size;
} ProtoField;

/* The message in these bytes, which must outlive it. */
Proto proto_message(const void *bytes, size_t size);
/* Reads the next field; false: the end, or `bad` is set. */
bool proto_next(Proto *proto, ProtoField *field);
/* The same of a packed field's bytes, which are varints one after another. */
bool proto_next_varint(Proto *packed, uint64_t *value);
float proto_float(const ProtoField *field); /* the value of a PROTO_4 */

/* ---- writing: each appends a field to a message ---- */

void proto_put_int(Text *message, uint32_t field, int64_t value);
void proto_put_float(Text *message, uint32_t field, float value);
void proto_put_bytes(Text *message, uint32_t field, const void *bytes, size_t size);
void proto_put_string(Text *message, uint32_t field, const char *string);
/* A message as a field: the part's bytes are copied, and the part is freed. */
void proto_put_message(Text *message, uint32_t field, Text *part);

#endif
