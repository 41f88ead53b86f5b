/* Token shards of arbitrary bytes, as they are and with checksums that fit, so that what lies
 * behind these is reached: whatever is accepted can be read. */
#include "base/xxh64.h"
#include "runtime/data/token_shard.h"
#include "tests/fuzz/budget.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { CHECKSUM_AT = 13 * 8, SEAL_AT = 14 * 8, HEAD_BYTES = 15 * 8, VOCABULARY = 1 << 20 };

static void read_side(const TokenShard *shard, const TokenSide *side, bool is_any)
{
    Ids ids = {0};
    int64_t tokens = 0;
    for (int64_t i = 0; side->lengths && i < shard->rows; i++) {
        token_shard_ids(side, tokens, token_shard_length(side, i), &ids);
        tokens += token_shard_length(side, i);
    }
    if (tokens != side->tokens || (int64_t)ids.count != tokens)
        abort();
    for (size_t i = 0; i < ids.count; i++)
        if (!is_any && (ids.data[i] < 0 || ids.data[i] >= VOCABULARY))
            abort();
    ids_free(&ids);
}

static void try_bytes(const void *bytes, size_t size)
{
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    TokenShard shard;
    int64_t sizes[MOST_VALUES]; /* of every other column any value */
    for (int k = 0; k < MOST_VALUES; k++)
        sizes[k] = k > SIDE_TARGET && k % 2 ? 0 : VOCABULARY;
    bool ok = token_shard_parse(&diags, "fuzz", bytes, size, &shard) &&
              token_shard_check(&diags, &shard, sizes);
    if (ok != !diags.errors)
        abort();
    if (ok) {
        for (int k = 0; k < FIRST_COLUMN + shard.n_columns; k++)
            read_side(&shard, &shard.sides[k], !sizes[k]);
    }
    token_shard_close(&shard);
    need_budget(arena, BUDGET_BINARY, size);
    arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    try_bytes(bytes, size);
    if (size < HEAD_BYTES)
        return 0;
    uint8_t *copy = malloc(size);
    memcpy(copy, bytes, size);
    uint64_t sum = xxh64(copy + HEAD_BYTES, size - HEAD_BYTES, 0);
    memcpy(copy + CHECKSUM_AT, &sum, sizeof sum);
    sum = xxh64(copy, SEAL_AT, 0);
    memcpy(copy + SEAL_AT, &sum, sizeof sum);
    try_bytes(copy, size);
    free(copy);
    return 0;
}
