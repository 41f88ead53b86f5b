/* Memory and tile registers of the interpreter; see interpret.h. */
#include "tests/loop/interpret_state.h"

#include <inttypes.h>

/* ---- what may be touched ---- */

static bool holds(const LoRange *range, uint64_t at, size_t bytes, bool writes)
{
    uint64_t start = lo_address(range->start);
    return at >= start && bytes <= range->bytes && at - start <= range->bytes - bytes &&
           (range->written || !writes);
}

/* Memory of the run, or scratch of this call or one around it. */
static bool may_touch(const LoFrame *f, uint64_t at, size_t bytes, bool writes)
{
    const LoRun *run = f->in->run;
    if (!run->ranges)
        return true;
    for (size_t i = 0; i < run->n_ranges; i++)
        if (holds(&run->ranges[i], at, bytes, writes))
            return true;
    for (; f; f = f->caller)
        for (size_t i = 0; i < f->scratch.count; i++)
            if (holds(&f->scratch.data[i], at, bytes, writes))
                return true;
    return false;
}

/* The memory; NULL, where it may not be touched, which is reported. */
static unsigned char *memory_at(LoFrame *f, const LoOp *op, uint64_t at, size_t bytes, bool writes)
{
    if (may_touch(f, at, bytes, writes))
        return (unsigned char *)(uintptr_t)at;
    lo_stop(f, op, "%s %zu bytes at 0x%" PRIx64 ", which are not its own",
            writes ? "writes" : "reads", bytes, at);
    return NULL;
}

static size_t bytes_of(LoType type) { return (size_t)(lo_bits(type) * lo_lanes(type) + 7) / 8; }

/* What the type's own alignment is. */
static uint64_t natural_alignment(LoType type)
{
    uint64_t align = 1;
    while (align < bytes_of(type))
        align *= 2;
    return align;
}

static bool check_alignment(LoFrame *f, const LoOp *op, LoType type, uint64_t at)
{
    uint64_t align = op->align ? op->align : natural_alignment(type);
    return at % align == 0 || lo_stop(f, op, "0x%" PRIx64 " is no multiple of %" PRIu64, at, align);
}

/* ---- load and store ---- */

/* Addresses of a value's lanes, and which are touched. */
typedef struct Access {
    LoLanes at, on;
} Access;

static bool find_lanes(LoFrame *f, const LoOp *op, LoType type, int pointer, Access *a)
{
    const LoOp *p = op->args[pointer];
    bool each = lo_is_vector(p->type), any = false;
    size_t bytes = bytes_of(lo_element(type));
    lo_fetch(f, p, a->at);
    if (op->n_args > pointer + 1)
        lo_fetch(f, op->args[pointer + 1], a->on);
    for (int i = 0; i < lo_lanes(type); i++) {
        if (op->n_args == pointer + 1)
            a->on[i] = 1;
        if (!each && i)
            a->at[i] = a->at[0] + (uint64_t)i * bytes;
        any |= a->on[i] != 0;
        if (each && a->on[i] && !check_alignment(f, op, lo_element(type), a->at[i]))
            return false;
    }
    return each || !any || check_alignment(f, op, type, a->at[0]);
}

static bool run_load(LoFrame *f, const LoOp *op, LoLanes out)
{
    Access a = {0};
    size_t bytes = bytes_of(lo_element(op->type));
    if (!find_lanes(f, op, op->type, 0, &a))
        return false;
    for (int i = 0; i < lo_lanes(op->type); i++) {
        const unsigned char *from = a.on[i] ? memory_at(f, op, a.at[i], bytes, false) : NULL;
        if (a.on[i] && !from)
            return false;
        out[i] = 0;
        if (from)
            memcpy(&out[i], from, bytes);
    }
    return true;
}

static bool run_store(LoFrame *f, const LoOp *op)
{
    Access a = {0};
    LoLanes value;
    LoType type = op->args[0]->type;
    size_t bytes = bytes_of(lo_element(type));
    if (!find_lanes(f, op, type, 1, &a))
        return false;
    lo_fetch(f, op->args[0], value);
    for (int i = 0; i < lo_lanes(type); i++) {
        unsigned char *to = a.on[i] ? memory_at(f, op, a.at[i], bytes, true) : NULL;
        if (a.on[i] && !to)
            return false;
        if (to)
            memcpy(to, &value[i], bytes);
    }
    return true;
}

/* What is read before it is written is NaN, or -1. */
static bool run_scratch(LoFrame *f, const LoOp *op, LoLanes out)
{
    enum { MOST = 1 << 30, CACHE_LINE = 64 };
    int64_t n = (int64_t)lo_fetch_scalar(f, op->args[0]);
    size_t each = bytes_of(op->element);
    size_t align = op->align > CACHE_LINE ? op->align : CACHE_LINE;
    if (n < 0 || (uint64_t)n > MOST / each)
        return lo_stop(f, op, "it cannot hold %" PRId64 " elements", n);
    LoRange range = {.bytes = (size_t)n * each, .written = true};
    unsigned char *memory = arena_alloc(f->arena, range.bytes + align);
    range.start = memory + (align - (uintptr_t)memory % align) % align;
    memset(range.start, 0xff, range.bytes);
    vec_push(f->arena, f->scratch, range);
    out[0] = lo_address(range.start);
    return true;
}

/* ---- tile registers ---- */

static uint64_t tile_of(const LoFrame *f, const LoOp *op, int i)
{
    return lo_fetch_scalar(f, op->args[i]) % LO_TILES;
}

static bool move_tile(LoFrame *f, const LoOp *op, bool stores)
{
    uint64_t at = lo_fetch_scalar(f, op->args[1]), pitch = lo_fetch_scalar(f, op->args[2]);
    for (int row = 0; row < LO_TILE_ROWS; row++, at += pitch) {
        unsigned char *memory = memory_at(f, op, at, LO_TILE_BYTES, stores);
        unsigned char *tile = f->in->tiles[tile_of(f, op, 0)][row];
        if (!memory)
            return false;
        memcpy(stores ? memory : tile, stores ? tile : memory, LO_TILE_BYTES);
    }
    return true;
}

static uint32_t word_of(const unsigned char *row, int i)
{
    uint32_t word;
    memcpy(&word, row + i * (int)sizeof word, sizeof word);
    return word;
}

/* Even terms and odd ones apart, from zero; the sum of both is added to what was there. */
static void dot_tiles(LoFrame *f, const LoOp *op)
{
    unsigned char(*c)[LO_TILE_BYTES] = f->in->tiles[tile_of(f, op, 0)];
    unsigned char(*a)[LO_TILE_BYTES] = f->in->tiles[tile_of(f, op, 1)];
    unsigned char(*b)[LO_TILE_BYTES] = f->in->tiles[tile_of(f, op, 2)];
    for (int m = 0; m < LO_TILE_ROWS; m++)
        for (int n = 0; n < LO_TILE_BYTES / 4; n++) {
            float even = 0, odd = 0, sum = lo_without_denormals(lo_f32_of(word_of(c[m], n)));
            for (int k = 0; k < LO_TILE_ROWS; k++) {
                even = lo_add_pair(even, word_of(a[m], k), word_of(b[k], n), false);
                odd = lo_add_pair(odd, word_of(a[m], k), word_of(b[k], n), true);
            }
            float both = lo_without_denormals(even + odd);
            sum = lo_without_denormals(sum + both);
            memcpy(c[m] + n * (int)sizeof sum, &sum, sizeof sum);
        }
}

bool lo_touch_memory(LoFrame *f, const LoOp *op, LoLanes out)
{
    switch (op->kind) {
    case LO_scratch: return run_scratch(f, op, out);
    case LO_load: return run_load(f, op, out);
    case LO_store: return run_store(f, op);
    case LO_tile_zero:
        memset(f->in->tiles[tile_of(f, op, 0)], 0, sizeof f->in->tiles[0]);
        return true;
    case LO_tile_load:
    case LO_tile_stream: return move_tile(f, op, false);
    case LO_tile_store: return move_tile(f, op, true);
    case LO_tile_dot: dot_tiles(f, op); return true;
    default: return true; /* prefetch */
    }
}
