/* Denormals and the registers of AMX around products. */
#include "runtime/product/product_state.h"

#if defined(__x86_64__)
#include <xmmintrin.h>

uint64_t state_flush_denormals(const TfcFormSizes *f)
{
    enum { ZERO_DENORMALS = 0x8040 };
    unsigned before = f->flush ? _mm_getcsr() : 0;
    if (f->flush)
        _mm_setcsr(before | ZERO_DENORMALS);
    return before;
}

void state_restore_denormals(const TfcFormSizes *f, uint64_t before)
{
    if (f->flush)
        _mm_setcsr((unsigned)before);
}

/* As ldtilecfg reads it. */
typedef struct TileConfig {
    uint8_t palette, start_row, reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
} TileConfig;
_Static_assert(sizeof(TileConfig) == 64, "ldtilecfg reads so many bytes");

void state_open_registers(const TfcFormSizes *f)
{
    enum { REGISTERS = 8, BYTES = 64, ROWS = 16 };
    TileConfig config = {.palette = 1};
    for (int r = 0; r < REGISTERS; r++) {
        config.bytes[r] = BYTES;
        config.rows[r] = ROWS;
    }
    if (f->registers)
        __asm__ volatile("ldtilecfg %0" : : "m"(config));
}

void state_close_registers(const TfcFormSizes *f)
{
    if (f->registers)
        __asm__ volatile("tilerelease");
}
#else
#if defined(__aarch64__)
uint64_t state_flush_denormals(const TfcFormSizes *f)
{
    const uint64_t zero_denormals = UINT64_C(1) << 24;
    uint64_t before = 0;
    if (f->flush) {
        __asm__ volatile("mrs %0, fpcr" : "=r"(before));
        __asm__ volatile("msr fpcr, %0" : : "r"(before | zero_denormals) : "memory");
    }
    return before;
}

void state_restore_denormals(const TfcFormSizes *f, uint64_t before)
{
    if (f->flush)
        __asm__ volatile("msr fpcr, %0" : : "r"(before) : "memory");
}
#else
uint64_t state_flush_denormals(const TfcFormSizes *f) { return (void)f, 0; }
void state_restore_denormals(const TfcFormSizes *f, uint64_t before) { (void)f, (void)before; }
#endif
void state_open_registers(const TfcFormSizes *f) { (void)f; }
void state_close_registers(const TfcFormSizes *f) { (void)f; }
#endif
