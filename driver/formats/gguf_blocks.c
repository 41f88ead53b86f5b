/* Blocks of few bits, as ggml's ggml-common.h lays them out and ggml-quants.c computes them. All
 * numbers are little-endian; a scale is an f16. */
#include "driver/formats/gguf_blocks.h"

#include "base/bf16.h"
#include "runtime/product/groups.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* d · q */
static void decode_q8_0(const void *block, float *out)
{
    const uint8_t *at = block;
    const float d = gguf_half_at(at);
    for (int i = 0; i < GGUF_SMALL; i++)
        out[i] = d * (float)(int8_t)at[2 + i];
}

/* A block of nibbles: the lower ones are the first half. */
static void decode_4(const uint8_t *nibbles, float d, float minimum, int less, float *out)
{
    for (int i = 0; i < GGUF_SMALL / 2; i++) {
        out[i] = d * (float)((nibbles[i] & 15) - less) + minimum;
        out[i + GGUF_SMALL / 2] = d * (float)((nibbles[i] >> 4) - less) + minimum;
    }
}

static void decode_q4_0(const void *block, float *out)
{
    const uint8_t *at = block;
    decode_4(at + 2, gguf_half_at(at), 0, 8, out);
}

static void decode_q4_1(const void *block, float *out)
{
    const uint8_t *at = block;
    decode_4(at + 4, gguf_half_at(at), gguf_half_at(at + 2), 0, out);
}

/* As of 4 bits, with the fifth of each in a word of 32. */
static void decode_5(const uint8_t *fifths, float d, float minimum, int less, float *out)
{
    const uint8_t *nibbles = fifths + 4;
    const uint32_t bits = (uint32_t)fifths[0] | (uint32_t)fifths[1] << 8 |
                          (uint32_t)fifths[2] << 16 | (uint32_t)fifths[3] << 24;
    for (int i = 0; i < GGUF_SMALL; i++) {
        const int lower = i < GGUF_SMALL / 2 ? nibbles[i] & 15 : nibbles[i - GGUF_SMALL / 2] >> 4;
        out[i] = d * (float)((lower | (int)(bits >> i & 1) << 4) - less) + minimum;
    }
}

static void decode_q5_0(const void *block, float *out)
{
    const uint8_t *at = block;
    decode_5(at + 2, gguf_half_at(at), 0, 16, out);
}

static void decode_q5_1(const void *block, float *out)
{
    const uint8_t *at = block;
    decode_5(at + 4, gguf_half_at(at), gguf_half_at(at + 2), 0, out);
}

/* Scale and minimum of the j-th of eight parts, of six bits each: the first four in the lower bits
 * of bytes 0 to 7, the others in nibbles of bytes 8 to 11 and the upper bits of 0 to 7. */
static void scales_of(const uint8_t *at, int j, float *scale, float *minimum)
{
    if (j < 4) {
        *scale = (float)(at[j] & 63);
        *minimum = (float)(at[j + 4] & 63);
        return;
    }
    *scale = (float)((at[j + 4] & 15) | at[j - 4] >> 6 << 4);
    *minimum = (float)(at[j + 4] >> 4 | at[j] >> 6 << 4);
}

/* Eight parts of 32: d · scale · q - dmin · minimum. A byte of `nibbles` has an element of part 2k
 * and the same one of part 2k + 1; `fifths`, if any, has bits by part. */
static void decode_parts(const uint8_t *block, const uint8_t *fifths, const uint8_t *nibbles,
                         float *out)
{
    const float d = gguf_half_at(block), dmin = gguf_half_at(block + 2);
    for (int part = 0; part < GGUF_SUPER / GGUF_SMALL; part++) {
        float scale, minimum;
        scales_of(block + 4, part, &scale, &minimum);
        const float step = d * scale, less = dmin * minimum;
        for (int i = 0; i < GGUF_SMALL; i++) {
            int q = nibbles[part / 2 * GGUF_SMALL + i] >> (part % 2 ? 4 : 0) & 15;
            if (fifths)
                q |= (fifths[i] >> part & 1) << 4;
            out[part * GGUF_SMALL + i] = step * (float)q - less;
        }
    }
}

static void decode_q4_k(const void *block, float *out)
{
    const uint8_t *at = block;
    decode_parts(at, NULL, at + 16, out);
}

static void decode_q5_k(const void *block, float *out)
{
    const uint8_t *at = block;
    decode_parts(at, at + 16, at + 48, out);
}

/* Sixteen parts of 16: d · scale · (q - 32). Of each half of the block, 64 bytes have the lower
 * four bits and 32 bytes the upper two of 128 elements. */
static void decode_q6_k(const void *block, float *out)
{
    enum { HALF = GGUF_SUPER / 2, UPPER_AT = 128, SCALES_AT = 192, D_AT = 208 };
    const uint8_t *at = block;
    const float d = gguf_half_at(at + D_AT);
    for (int i = 0; i < GGUF_SUPER; i++) {
        const int half = i / HALF, part = i % HALF / GGUF_SMALL, l = i % GGUF_SMALL;
        const uint8_t low = at[half * 64 + part % 2 * GGUF_SMALL + l];
        const uint8_t high = at[UPPER_AT + half * GGUF_SMALL + l];
        const int q = (part < 2 ? low & 15 : low >> 4) | (high >> 2 * part & 3) << 4;
        out[i] = d * (float)(int8_t)at[SCALES_AT + i / 16] * (float)(q - 32);
    }
}

static const StBlocks q8_0 = {"Q8_0", GGUF_SMALL, 34, decode_q8_0},
                      q4_0 = {"Q4_0", GGUF_SMALL, 18, decode_q4_0},
                      q4_1 = {"Q4_1", GGUF_SMALL, 20, decode_q4_1},
                      q5_0 = {"Q5_0", GGUF_SMALL, 22, decode_q5_0},
                      q5_1 = {"Q5_1", GGUF_SMALL, 24, decode_q5_1},
                      q4_k = {"Q4_K", GGUF_SUPER, 144, decode_q4_k},
                      q5_k = {"Q5_K", GGUF_SUPER, 176, decode_q5_k},
                      q6_k = {"Q6_K", GGUF_SUPER, 210, decode_q6_k};

/* By ggml.h, enum ggml_type. */
static const GgufType types[] = {
    {0, "F32", ST_F32, NULL, NULL},
    {1, "F16", ST_F16, NULL, NULL},
    {2, "Q4_0", ST_F32, &q4_0, "int4"},
    {3, "Q4_1", ST_F32, &q4_1, "q4_1"},
    {6, "Q5_0", ST_F32, &q5_0, "q8_0"},
    {7, "Q5_1", ST_F32, &q5_1, "q8_0"},
    {8, "Q8_0", ST_F32, &q8_0, "q8_0"},
    {12, "Q4_K", ST_F32, &q4_k, "q4_1"},
    {13, "Q5_K", ST_F32, &q5_k, "q8_0"},
    {14, "Q6_K", ST_F32, &q6_k, "q8_0"},
    {24, "I8", ST_I8, NULL, NULL},
    {25, "I16", ST_I16, NULL, NULL},
    {26, "I32", ST_I32, NULL, NULL},
    {27, "I64", ST_I64, NULL, NULL},
    {28, "F64", ST_F64, NULL, NULL},
    {30, "BF16", ST_BF16, NULL, NULL},
    {10, "Q2_K", ST_F32, &gguf_q2_k, "q8_0"},
    {11, "Q3_K", ST_F32, &gguf_q3_k, "q8_0"},
    {20, "IQ4_NL", ST_F32, &gguf_iq4_nl, "q8_0"},
    {21, "IQ3_S", ST_F32, &gguf_iq3_s, "q8_0"},
    {23, "IQ4_XS", ST_F32, &gguf_iq4_xs, "q8_0"},
    {34, "TQ1_0", ST_F32, &gguf_tq1_0, "q8_0"},
    {35, "TQ2_0", ST_F32, &gguf_tq2_0, "q8_0"},
    {9, "Q8_1", ST_COUNT, NULL, NULL},
    {15, "Q8_K", ST_COUNT, NULL, NULL},
    {16, "IQ2_XXS", ST_COUNT, NULL, NULL},
    {17, "IQ2_XS", ST_COUNT, NULL, NULL},
    {18, "IQ3_XXS", ST_COUNT, NULL, NULL},
    {19, "IQ1_S", ST_COUNT, NULL, NULL},
    {22, "IQ2_S", ST_COUNT, NULL, NULL},
    {29, "IQ1_M", ST_COUNT, NULL, NULL},
    {39, "MXFP4", ST_COUNT, NULL, NULL},
};
enum { N_TYPES = sizeof types / sizeof *types };

const GgufType *gguf_type(uint32_t number)
{
    for (int i = 0; i < N_TYPES; i++)
        if (types[i].number == number)
            return &types[i];
    return NULL;
}

const char *gguf_quant(const StBlocks *blocks)
{
    for (int i = 0; blocks && i < N_TYPES; i++)
        if (types[i].blocks == blocks)
            return types[i].quant;
    return NULL;
}

const GgufType *gguf_type_named(const char *name)
{
    for (int i = 0; i < N_TYPES; i++)
        if (!strcasecmp(types[i].name, name))
            return &types[i];
    return NULL;
}

bool gguf_type_is_read(const GgufType *type) { return type && type->type != ST_COUNT; }

uint64_t gguf_bytes(const GgufType *type, int64_t n)
{
    return type->blocks ? (uint64_t)(n / type->blocks->elements) * (uint64_t)type->blocks->bytes
                        : (uint64_t)n * element_info(type->type)->bytes;
}

/* ---- writing ---- */

static uint8_t *put_half(uint8_t *to, uint16_t half)
{
    to[0] = (uint8_t)(half & 255);
    to[1] = (uint8_t)(half >> 8);
    return to + 2;
}

/* A block of 4 or 8 bits, rounded as a group of products is (runtime/product/groups.h). */
static void encode_block(Quant quant, const float *values, uint8_t *to)
{
    int8_t integers[GGUF_SMALL];
    const QuantInfo *q = quant_info(quant);
    const GroupScale of = groups_round(quant, GGUF_SMALL, values, 1, integers);
    const int added = q->has_minimum ? 0 : 8;
    to = put_half(to, of.scale);
    if (q->has_minimum)
        to = put_half(to, of.minimum);
    if (q->bits == 8)
        memcpy(to, integers, sizeof integers);
    else
        for (int i = 0; i < GGUF_SMALL / 2; i++)
            to[i] = (uint8_t)((integers[i] + added) | (integers[i + GGUF_SMALL / 2] + added) << 4);
}

/* Those whose blocks are groups of base/quants.def. */
static bool is_encoded(const GgufType *type)
{
    return type->blocks == &q8_0 || type->blocks == &q4_0 || type->blocks == &q4_1;
}

bool gguf_encode(const GgufType *type, const float *values, int64_t n, void *out)
{
    uint8_t *to = out;
    if (type->blocks) {
        for (int64_t i = 0; is_encoded(type) && i < n / GGUF_SMALL; i++)
            encode_block(quant_of_word(type->quant), values + i * GGUF_SMALL,
                         to + i * type->blocks->bytes);
        return is_encoded(type);
    }
    for (int64_t i = 0; i < n; i++) {
        const uint16_t two =
            type->type == ST_F16 ? half_from_float(values[i]) : bf16_from_float(values[i]);
        if (type->type == ST_F32)
            memcpy(to + i * 4, &values[i], sizeof values[i]);
        else
            memcpy(to + i * 2, &two, sizeof two);
    }
    return type->type == ST_F32 || type->type == ST_F16 || type->type == ST_BF16;
}

float gguf_limit(const GgufType *type)
{
    return is_encoded(type)        ? groups_limit(quant_of_word(type->quant))
           : type->type == ST_F16  ? HALF_LIMIT
           : type->type == ST_BF16 ? BF16_LIMIT
                                   : INFINITY;
}
