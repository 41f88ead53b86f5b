/* Relocations; see relocation.h. The architectures' own documents give types and forms their
 * names. */
#include "codegen/relocation.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

static uint32_t get32(const unsigned char *at)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

static bool put32(unsigned char *at, uint64_t word)
{
    memcpy(at, &(uint32_t){(uint32_t)word}, sizeof(uint32_t));
    return true;
}

static bool put64(unsigned char *at, uint64_t word)
{
    memcpy(at, &word, sizeof word);
    return true;
}

/* Whether a signed number of so many bits can be this distance. */
static bool fits_bits(uint64_t distance, int bits)
{
    uint64_t half = UINT64_C(1) << (bits - 1);
    return distance + half < 2 * half;
}

/* Forms that all architectures have; CALL_64 is a pair of instructions. */
enum { ABSOLUTE_64, DISTANCE_64, DISTANCE_32, CALL_64, FORMS };

#if defined(__x86_64__)

const int relocation_machine = EM_X86_64;

static const Relocation relocations[] = {
    /* clang-format off */
    {R_X86_64_NONE,          TO_NOTHING, DISTANCE_32},
    {R_X86_64_64,            TO_SYMBOL,  ABSOLUTE_64},
    {R_X86_64_PC64,          TO_SYMBOL,  DISTANCE_64},
    {R_X86_64_PC32,          TO_SYMBOL,  DISTANCE_32},
    {R_X86_64_PLT32,         TO_CALLED,  DISTANCE_32},
    {R_X86_64_GOTPCREL,      TO_SLOT,    DISTANCE_32},
    {R_X86_64_GOTPCRELX,     TO_SLOT,    DISTANCE_32},
    {R_X86_64_REX_GOTPCRELX, TO_SLOT,    DISTANCE_32},
    /* clang-format on */
};

static bool apply_code(int form, unsigned char *at, uint32_t word, uint64_t place, uint64_t to)
{
    return false;
}

bool relocation_stub(unsigned char *at, uint64_t slot)
{
    static const unsigned char jump[] = {0xff, 0x25}; /* jmp *distance(%rip) */
    uint64_t distance = slot - ((uint64_t)(uintptr_t)at + 6);
    memcpy(at, jump, sizeof jump);
    return fits_bits(distance, 32) && put32(at + 2, distance);
}

#elif defined(__aarch64__)

const int relocation_machine = EM_AARCH64;

/* LOW_12 + n: the low 12 bits, as a count of 2^n bytes. */
enum { PAGE_21 = FORMS, BRANCH_26, LOW_12 };

static const Relocation relocations[] = {
    /* clang-format off */
    {R_AARCH64_NONE,                TO_NOTHING, DISTANCE_32},
    {R_AARCH64_ABS64,               TO_SYMBOL,  ABSOLUTE_64},
    {R_AARCH64_PREL64,              TO_SYMBOL,  DISTANCE_64},
    {R_AARCH64_PREL32,              TO_SYMBOL,  DISTANCE_32},
    {R_AARCH64_CALL26,              TO_CALLED,  BRANCH_26},
    {R_AARCH64_JUMP26,              TO_CALLED,  BRANCH_26},
    {R_AARCH64_ADR_PREL_PG_HI21,    TO_SYMBOL,  PAGE_21},
    {R_AARCH64_ADD_ABS_LO12_NC,     TO_SYMBOL,  LOW_12},
    {R_AARCH64_LDST8_ABS_LO12_NC,   TO_SYMBOL,  LOW_12},
    {R_AARCH64_LDST16_ABS_LO12_NC,  TO_SYMBOL,  LOW_12 + 1},
    {R_AARCH64_LDST32_ABS_LO12_NC,  TO_SYMBOL,  LOW_12 + 2},
    {R_AARCH64_LDST64_ABS_LO12_NC,  TO_SYMBOL,  LOW_12 + 3},
    {R_AARCH64_LDST128_ABS_LO12_NC, TO_SYMBOL,  LOW_12 + 4},
    {R_AARCH64_ADR_GOT_PAGE,        TO_SLOT,    PAGE_21},
    {R_AARCH64_LD64_GOT_LO12_NC,    TO_SLOT,    LOW_12 + 3},
    /* clang-format on */
};

static bool apply_code(int form, unsigned char *at, uint32_t word, uint64_t place, uint64_t to)
{
    uint64_t distance = to - place, pages = (to >> 12) - (place >> 12);
    if (form == BRANCH_26)
        return !(distance & 3) && fits_bits(distance, 28) &&
               put32(at, (word & 0xfc000000) | (distance >> 2 & 0x03ffffff));
    if (form == PAGE_21)
        return fits_bits(pages, 21) &&
               put32(at, (word & 0x9f00001f) | (pages & 3) << 29 | (pages >> 2 & 0x7ffff) << 5);
    uint64_t low = to & 0xfff;
    int shift = form - LOW_12;
    return !(low & ((UINT64_C(1) << shift) - 1)) &&
           put32(at, (word & 0xffc003ff) | low >> shift << 10);
}

bool relocation_stub(unsigned char *at, uint64_t slot)
{
    put32(at, 0x90000010);      /* adrp x16, slot */
    put32(at + 4, 0xf9400210);  /* ldr x16, [x16, slot] */
    put32(at + 8, 0xd61f0200);  /* br x16 */
    put32(at + 12, 0xd4200000); /* brk */
    uint64_t place = (uint64_t)(uintptr_t)at;
    return apply_code(PAGE_21, at, get32(at), place, slot) &&
           apply_code(LOW_12 + 3, at + 4, get32(at + 4), place + 4, slot);
}

#elif defined(__riscv) && __riscv_xlen == 64

const int relocation_machine = EM_RISCV;

enum { UPPER_20 = FORMS, LOWER_I, LOWER_S };

static const Relocation relocations[] = {
    /* clang-format off */
    {R_RISCV_NONE,         TO_NOTHING, DISTANCE_32},
    {R_RISCV_64,           TO_SYMBOL,  ABSOLUTE_64},
    {R_RISCV_32_PCREL,     TO_SYMBOL,  DISTANCE_32},
    {R_RISCV_CALL,         TO_CALLED,  CALL_64},
    {R_RISCV_CALL_PLT,     TO_CALLED,  CALL_64},
    {R_RISCV_PCREL_HI20,   TO_SYMBOL,  UPPER_20},
    {R_RISCV_GOT_HI20,     TO_SLOT,    UPPER_20},
    {R_RISCV_PCREL_LO12_I, TO_PAIR,    LOWER_I},
    {R_RISCV_PCREL_LO12_S, TO_PAIR,    LOWER_S},
    /* clang-format on */
};

static bool apply_code(int form, unsigned char *at, uint32_t word, uint64_t place, uint64_t to)
{
    uint64_t distance = to - place, low = distance & 0xfff;
    if (form == LOWER_I)
        return put32(at, (word & 0xfffff) | low << 20);
    if (form == LOWER_S)
        return put32(at, (word & 0x01fff07f) | low >> 5 << 25 | (low & 31) << 7);
    /* the lower part is signed */
    return fits_bits(distance + 0x800, 32) &&
           put32(at, (word & 0xfff) | ((distance + 0x800) & 0xfffff000)) &&
           (form == UPPER_20 || apply_code(LOWER_I, at + 4, get32(at + 4), place, to));
}

bool relocation_stub(unsigned char *at, uint64_t slot)
{
    put32(at, 0x00000317);      /* auipc t1, slot */
    put32(at + 4, 0x00033303);  /* ld t1, slot(t1) */
    put32(at + 8, 0x00030067);  /* jr t1 */
    put32(at + 12, 0x00100073); /* ebreak */
    return apply_code(CALL_64, at, get32(at), (uint64_t)(uintptr_t)at, slot);
}

#else

const int relocation_machine = EM_NONE;

static const Relocation relocations[] = {{0, TO_NOTHING, DISTANCE_32}};
static bool apply_code(int form, unsigned char *at, uint32_t word, uint64_t place, uint64_t to)
{
    return false;
}
bool relocation_stub(unsigned char *at, uint64_t slot) { return false; }

#endif

const Relocation *relocation_find(uint32_t type)
{
    for (size_t i = 0; i < sizeof relocations / sizeof relocations[0]; i++)
        if (relocations[i].type == type)
            return &relocations[i];
    return NULL;
}

int relocation_bytes(const Relocation *relocation)
{
    return relocation->target == TO_NOTHING                               ? 0
           : relocation->form == DISTANCE_32 || relocation->form >= FORMS ? 4
                                                                          : 8;
}

bool relocation_apply(const Relocation *relocation, unsigned char *at, uint64_t place, uint64_t to)
{
    if (relocation->target == TO_NOTHING)
        return true;
    if (relocation->form == ABSOLUTE_64)
        return put64(at, to);
    if (relocation->form == DISTANCE_64)
        return put64(at, to - place);
    if (relocation->form == DISTANCE_32)
        return fits_bits(to - place, 32) && put32(at, to - place);
    return apply_code(relocation->form, at, get32(at), place, to);
}
