/* Dimensions of batches as the oracle takes them. */
#include "tests/graphs/graphs.h"

const OracleDim *batch_dims(Arena *arena, const Batch *batch, int n)
{
    OracleDim *dims = ARENA_ARRAY(arena, OracleDim, n + 1);
    for (int i = 0; i < n; i++)
        dims[i] = (OracleDim){batch->dims[i].extent,
                              batch->dims[i].n >= 0 ? batch->dims[i].lengths : NULL};
    return dims;
}
