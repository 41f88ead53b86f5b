/* Blocks of few bits that are only read (ggml-common.h, ggml-quants.c). Each is a formula of an
 * element's number i: ggml's own loops lay elements out in the same order. */
#include "driver/formats/gguf_blocks.h"

enum { HALF = GGUF_SUPER / 2, PART = 32 };

/* Two bits of element i: of each half of the block, a byte has the same element of four parts. */
static int two_bits(const uint8_t *at, int i)
{
    return at[i / HALF * PART + i % PART] >> 2 * (i % HALF / PART) & 3;
}

/* d · scale · q - dmin · minimum, of four bits each for sixteen elements. */
static void decode_q2_k(const void *block, float *out)
{
    enum { QUANTS_AT = 16, D_AT = 80, MINIMUM_AT = 82 };
    const uint8_t *at = block;
    const float d = gguf_half_at(at + D_AT), dmin = gguf_half_at(at + MINIMUM_AT);
    for (int i = 0; i < GGUF_SUPER; i++) {
        const int of = at[i / 16];
        const float step = d * (float)(of & 15), less = dmin * (float)(of >> 4);
        out[i] = step * (float)two_bits(at + QUANTS_AT, i) - less;
    }
}

/* The k-th of sixteen scales of six bits: nibbles of the first eight bytes, then pairs of bits. */
static int q3_scale(const uint8_t *at, int k)
{
    const int lower = k < 8 ? at[k] & 15 : at[k - 8] >> 4;
    return lower | (at[8 + k % 4] >> 2 * (k / 4) & 3) << 4;
}

/* d · (scale - 32) · (q - 4), where a mask has the third bit of each q, by parts of 32. */
static void decode_q3_k(const void *block, float *out)
{
    enum { QUANTS_AT = 32, SCALES_AT = 96, D_AT = 108 };
    const uint8_t *at = block;
    const float d = gguf_half_at(at + D_AT);
    for (int i = 0; i < GGUF_SUPER; i++) {
        const float step = d * (float)(q3_scale(at + SCALES_AT, i / 16) - 32);
        const int third = at[i % PART] >> i / PART & 1;
        out[i] = step * (float)((two_bits(at + QUANTS_AT, i) | third << 2) - 4);
    }
}

/* The sixteen values of four bits (kvalues_iq4nl). */
static const int8_t uneven[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                  1,    13,   25,  38,  53,  69,  89,  113};

static void decode_uneven(const uint8_t *nibbles, float d, float *out)
{
    for (int i = 0; i < PART / 2; i++) {
        out[i] = d * (float)uneven[nibbles[i] & 15];
        out[i + PART / 2] = d * (float)uneven[nibbles[i] >> 4];
    }
}

static void decode_iq4_nl(const void *block, float *out)
{
    const uint8_t *at = block;
    decode_uneven(at + 2, gguf_half_at(at), out);
}

/* Eight parts with scales of six bits: the upper two in a word, the lower four in nibbles. */
static void decode_iq4_xs(const void *block, float *out)
{
    enum { UPPER_AT = 2, LOWER_AT = 4, QUANTS_AT = 8 };
    const uint8_t *at = block;
    const float d = gguf_half_at(at);
    const int upper = at[UPPER_AT] | at[UPPER_AT + 1] << 8;
    for (int part = 0; part < GGUF_SUPER / PART; part++) {
        const int lower = at[LOWER_AT + part / 2] >> 4 * (part % 2) & 15;
        const int scale = (lower | (upper >> 2 * part & 3) << 4) - 32;
        decode_uneven(at + QUANTS_AT + part * PART / 2, d * (float)scale, out + part * PART);
    }
}

/* Four values a row, odd ones from 1 to 15: half of each, rounded down, as an octal digit, the
 * first in the lowest (iq3s_grid). */
static const uint16_t grid[512] = {
    /* clang-format off */
    00000, 00001, 00002, 00005, 00007, 00010, 00011, 00012, 00014, 00016, 00020, 00021, 00025, 00033,
    00040, 00042, 00045, 00047, 00051, 00053, 00060, 00062, 00071, 00074, 00077, 00100, 00101, 00102,
    00104, 00110, 00111, 00115, 00120, 00123, 00127, 00131, 00135, 00144, 00161, 00165, 00172, 00200,
    00201, 00205, 00207, 00210, 00213, 00216, 00221, 00225, 00230, 00234, 00242, 00245, 00247, 00251,
    00253, 00270, 00273, 00303, 00311, 00315, 00320, 00322, 00331, 00333, 00336, 00344, 00350, 00352,
    00367, 00371, 00375, 00400, 00413, 00417, 00421, 00424, 00432, 00440, 00443, 00451, 00470, 00502,
    00504, 00520, 00522, 00526, 00533, 00541, 00545, 00547, 00566, 00573, 00606, 00611, 00613, 00631,
    00652, 00671, 00700, 00702, 00704, 00720, 00722, 00726, 00733, 00750, 00754, 01000, 01001, 01002,
    01004, 01010, 01011, 01013, 01015, 01017, 01020, 01022, 01031, 01034, 01036, 01054, 01056, 01061,
    01072, 01100, 01101, 01103, 01106, 01110, 01114, 01121, 01130, 01133, 01141, 01150, 01152, 01170,
    01176, 01200, 01212, 01215, 01217, 01220, 01224, 01232, 01240, 01243, 01255, 01260, 01272, 01301,
    01304, 01307, 01310, 01313, 01321, 01327, 01330, 01334, 01341, 01362, 01370, 01403, 01405, 01412,
    01414, 01431, 01433, 01442, 01446, 01450, 01454, 01501, 01510, 01513, 01521, 01530, 01532, 01551,
    01620, 01624, 01627, 01644, 01646, 01701, 01703, 01710, 01712, 01721, 01735, 01741, 01762, 01770,
    02000, 02001, 02003, 02005, 02007, 02010, 02012, 02014, 02016, 02021, 02023, 02027, 02030, 02032,
    02041, 02043, 02045, 02050, 02052, 02067, 02070, 02073, 02075, 02100, 02102, 02110, 02113, 02117,
    02122, 02125, 02131, 02134, 02142, 02151, 02201, 02204, 02207, 02221, 02223, 02230, 02237, 02241,
    02253, 02257, 02271, 02274, 02300, 02302, 02305, 02311, 02322, 02324, 02331, 02333, 02342, 02350,
    02366, 02401, 02407, 02420, 02423, 02432, 02435, 02441, 02472, 02475, 02504, 02511, 02522, 02537,
    02540, 02553, 02570, 02600, 02602, 02607, 02621, 02655, 02661, 02705, 02711, 02726, 02730, 02743,
    02750, 03002, 03011, 03013, 03015, 03017, 03022, 03031, 03033, 03035, 03042, 03044, 03047, 03051,
    03063, 03071, 03101, 03103, 03105, 03114, 03121, 03123, 03140, 03160, 03172, 03176, 03200, 03212,
    03220, 03232, 03234, 03250, 03301, 03310, 03314, 03321, 03323, 03327, 03330, 03341, 03343, 03347,
    03355, 03373, 03403, 03411, 03416, 03422, 03431, 03452, 03460, 03464, 03501, 03510, 03512, 03525,
    03532, 03544, 03556, 03573, 03616, 03641, 03701, 03703, 03720, 03722, 03735, 04000, 04004, 04012,
    04020, 04024, 04027, 04032, 04041, 04050, 04070, 04102, 04107, 04111, 04113, 04122, 04130, 04135,
    04143, 04151, 04155, 04201, 04203, 04210, 04215, 04221, 04233, 04240, 04257, 04262, 04270, 04304,
    04311, 04313, 04320, 04322, 04331, 04335, 04400, 04402, 04424, 04437, 04440, 04471, 04505, 04507,
    04521, 04562, 04613, 04634, 04660, 04710, 04715, 04730, 04743, 04751, 05002, 05010, 05014, 05022,
    05040, 05044, 05047, 05052, 05066, 05074, 05101, 05103, 05105, 05112, 05121, 05132, 05172, 05200,
    05211, 05223, 05230, 05236, 05253, 05302, 05307, 05310, 05327, 05344, 05351, 05365, 05373, 05401,
    05404, 05420, 05432, 05446, 05512, 05526, 05551, 05553, 05642, 05702, 05704, 05722, 06011, 06013,
    06015, 06031, 06033, 06060, 06100, 06120, 06127, 06164, 06212, 06234, 06242, 06255, 06262, 06270,
    06300, 06314, 06321, 06340, 06425, 06443, 06462, 06500, 06503, 06534, 06560, 06605, 06640, 06711,
    06713, 07000, 07004, 07007, 07020, 07022, 07036, 07040, 07054, 07062, 07102, 07111, 07124, 07143,
    07145, 07201, 07204, 07210, 07216, 07221, 07230, 07251, 07302, 07332, 07335, 07353, 07401, 07405,
    07413, 07420, 07450, 07522, 07542, 07602, 07631, 07700,
    /* clang-format on */
};

/* d · (1 + 2 scale) · ± value, of four elements by a row of nine bits, whose ninth lies apart. */
static void decode_iq3_s(const void *block, float *out)
{
    enum { ROWS_AT = 2, NINTH_AT = 66, SIGNS_AT = 74, SCALES_AT = 106 };
    const uint8_t *at = block;
    const float d = gguf_half_at(at);
    for (int i = 0; i < GGUF_SUPER; i++) {
        const int four = i / 4, scale = at[SCALES_AT + i / 64] >> 4 * (i / PART % 2) & 15;
        const int row = at[ROWS_AT + four] | (at[NINTH_AT + four / 8] >> four % 8 & 1) << 8;
        const int value = 2 * (grid[row] >> 3 * (i % 4) & 7) + 1;
        const float step = d * (float)(1 + 2 * scale);
        out[i] = step * (float)(at[SIGNS_AT + i / 8] >> i % 8 & 1 ? -value : value);
    }
}

/* A digit to base 3 of a byte, which is a fraction of 256: the n-th behind the point, less 1. */
static float third_at(uint8_t byte, int n)
{
    static const uint8_t power[] = {1, 3, 9, 27, 81};
    const uint8_t rest = (uint8_t)(byte * power[n]);
    return (float)((rest * 3 >> 8) - 1);
}

/* d · -1, 0 or 1: of 32 bytes five digits each, of 16 the same, and of four the last sixteen. */
static void decode_tq1_0(const void *block, float *out)
{
    enum { FIRST = 160, SECOND = 240, LAST_AT = 48, D_AT = 52 };
    const uint8_t *at = block;
    const float d = gguf_half_at(at + D_AT);
    for (int i = 0; i < GGUF_SUPER; i++) {
        const int k = i < FIRST ? i : i < SECOND ? i - FIRST : i - SECOND;
        const int n = i < FIRST ? 32 : i < SECOND ? 16 : 4;
        const int from = i < FIRST ? 0 : i < SECOND ? 32 : LAST_AT;
        out[i] = third_at(at[from + k % n], k / n) * d;
    }
}

/* d · (q - 1), where q has two bits: TQ2_0, values of -1, 0 or 1. */
static void decode_tq2_0(const void *block, float *out)
{
    enum { D_AT = 64 };
    const uint8_t *at = block;
    const float d = gguf_half_at(at + D_AT);
    for (int i = 0; i < GGUF_SUPER; i++)
        out[i] = (float)(two_bits(at, i) - 1) * d;
}

const StBlocks gguf_q2_k = {"Q2_K", GGUF_SUPER, 84, decode_q2_k},
               gguf_q3_k = {"Q3_K", GGUF_SUPER, 110, decode_q3_k},
               gguf_iq4_nl = {"IQ4_NL", GGUF_SMALL, 18, decode_iq4_nl},
               gguf_iq4_xs = {"IQ4_XS", GGUF_SUPER, 136, decode_iq4_xs},
               gguf_iq3_s = {"IQ3_S", GGUF_SUPER, 110, decode_iq3_s},
               gguf_tq1_0 = {"TQ1_0", GGUF_SUPER, 54, decode_tq1_0},
               gguf_tq2_0 = {"TQ2_0", GGUF_SUPER, 66, decode_tq2_0};
