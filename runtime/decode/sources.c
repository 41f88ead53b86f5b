/* Setting dimensions and inputs from what sentences are decoded from. */
#include "runtime/decode/sources.h"

Feed feed_of_source(const TfcProgram *program)
{
    Feed feed = {0};
    for (int i = 0; i < program->n_inputs; i++) {
        const TfcPort *port = &program->inputs[i];
        const int batch = port->shape.rank == 2 ? port->shape.dims[0].dim : -1,
                  side = port->shape.rank == 2 ? port->shape.dims[1].dim : -1;
        if (port->type != TFC_I32 || batch < 0 || side < 0)
            continue;
        feed.source = port->name;
        feed.batch = program->dims[batch].name;
        feed.dims[SIDE_SOURCE] = program->dims[side].name;
    }
    return feed;
}

void feed_sources(Exec *exec, const Feed *feed, const Sources *sources)
{
    const int batch = feed->batch ? exec_dim(exec, feed->batch) : -1;
    if (batch >= 0)
        exec_set_dim(exec, batch, sources->n);
    for (int side = 0; side < MOST_SIDES; side++) {
        const int dim = feed->dims[side] ? exec_dim(exec, feed->dims[side]) : -1;
        if (dim >= 0)
            exec_set_ragged(exec, dim, sources->n, sources->lengths[side], NULL);
    }
    if (feed->source)
        exec_input(exec, feed->source, sources->tokens);
    for (int c = 0; c < feed->n_columns; c++)
        exec_input(exec, feed->columns[c], sources->columns[c]);
}

int32_t sources_longest(const Sources *sources, int32_t i)
{
    int32_t longest = 0;
    for (int side = 0; side < MOST_SIDES; side++)
        if (sources->lengths[side] && sources->lengths[side][i] > longest)
            longest = sources->lengths[side][i];
    return longest;
}
