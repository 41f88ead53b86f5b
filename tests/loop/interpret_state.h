/* Inside the interpreter of loop IR: a run, and the frame of each call. */
#ifndef TESTS_LOOP_INTERPRET_STATE_H
#define TESTS_LOOP_INTERPRET_STATE_H

#include "codegen/loop/build.h"
#include "tests/loop/interpret.h"

/* The bits of each lane, above which all is 0. */
typedef uint64_t LoLanes[LO_MAX_LANES];

typedef struct LoInterpreter {
    const LoRun *run;
    Diagnostics *diags;
    int64_t steps; /* left */
    int depth;     /* calls around */
    unsigned char tiles[LO_TILES][LO_TILE_ROWS][LO_TILE_BYTES];
} LoInterpreter;

typedef struct LoFrame {
    LoInterpreter *in;
    const LoFunction *function;
    const struct LoFrame *caller; /* NULL: none */
    Arena *arena;
    uint64_t *lanes; /* of all values */
    size_t *first;   /* by id: where a value's lie */
    VEC(LoRange) scratch;
} LoFrame;

/* Reports what the op did; false. */
bool lo_stop(LoFrame *f, const LoOp *op, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void lo_fetch(const LoFrame *f, const LoOp *x, LoLanes out);
uint64_t lo_fetch_scalar(const LoFrame *f, const LoOp *x);

/* Bits of a type's element. */
static inline uint64_t lo_mask_of(LoType type) { return UINT64_MAX >> (64 - lo_bits(type)); }
static inline int64_t lo_signed(LoType type, uint64_t bits)
{
    int unused = 64 - lo_bits(type);
    return (int64_t)(bits << unused) >> unused;
}
static inline float lo_f32_of(uint64_t bits)
{
    float x;
    uint32_t half = (uint32_t)bits;
    memcpy(&x, &half, sizeof x);
    return x;
}
static inline uint64_t lo_bits_of_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline double lo_f64_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static inline uint64_t lo_bits_of_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Bits of a joined with b, as an accumulator joins them. */
uint64_t lo_join_lane(LoType type, LoJoin by, uint64_t a, uint64_t b);
bool lo_compute(LoFrame *f, const LoOp *op, LoLanes out);      /* arithmetic, types, lanes */
bool lo_touch_memory(LoFrame *f, const LoOp *op, LoLanes out); /* memory and tile registers */
/* sum + a·b as bf16's instructions have it: one rounding, denormals are zero. */
float lo_add_pair(float sum, uint32_t a, uint32_t b, bool odd);
float lo_without_denormals(float x);

#endif
