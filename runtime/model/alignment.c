/* What each token of a target was made from: the function alignment of one pair. */
#include "runtime/model/state.h"

#include <string.h>

/* One side of the pair. */
typedef struct Side {
    const char *name, *count; /* of the arguments */
    const char *input;
    const int32_t *ids;
    int32_t n;
} Side;

static int check_side(const TfcModel *model, const Side *side)
{
    int64_t most = tfc_model_longest(model);
    if (side->n < 0 || side->n > most)
        return tfc_model_fail(TFC_ERROR_ARGUMENT, "%s is %d: from 0 to %lld is allowed",
                              side->count, side->n, (long long)most);
    return side->n ? tfc_model_need(side->ids, side->name) : TFC_OK;
}

/* The side whose tokens the dimension counts; NULL: it counts no tokens. */
static const Side *side_of_dim(const TfcProgram *program, int32_t dim, const Side sides[2])
{
    for (int32_t i = 0; i < program->n_inputs; i++)
        for (int k = 0; k < 2; k++)
            if (!strcmp(program->inputs[i].name, sides[k].input) &&
                program->inputs[i].shape.rank > 1 && program->inputs[i].shape.dims[1].dim == dim)
                return &sides[k];
    return NULL;
}

/* Batches of one pair. */
static int run_pair(TfcSession *session, const TfcProgram *program, const Side sides[2],
                    const float **weights)
{
    TfcWord in[MOST_DIMS + MOST_INPUTS] = {{0}}, out = {0};
    int status = words_check_number(program);
    if (status)
        return status;
    for (int32_t d = 0; d < program->n_given; d++) {
        const Side *side = side_of_dim(program, d, sides);
        in[d] = side ? (TfcWord){.data = &side->n} : (TfcWord){.extent = 1};
    }
    for (int32_t i = 0; i < program->n_inputs; i++)
        for (int k = 0; k < 2; k++)
            if (!strcmp(program->inputs[i].name, sides[k].input))
                in[program->n_given + i].data = sides[k].ids;
    status = session_run_function(session, TFC_ALIGNMENT, in, &out);
    *weights = status ? NULL : out.data;
    return status;
}

int tfc_model_alignment(TfcSessionHandle *handle, int32_t n_source, const int32_t *source,
                        int32_t n_target, const int32_t *target, const float **weights)
{
    int status = tfc_model_need(weights, "weights");
    if (status)
        return status;
    *weights = NULL;
    TfcSession *session = session_enter(handle, USE_READ, &status);
    if (!session)
        return status;
    const TfcModel *model = session->loaded->model;
    const TfcProgram *program = session_program(session, TFC_ALIGNMENT);
    const Side sides[] = {{"source", "n_source", model->source, source, n_source},
                          {"target", "n_target", model->target, target, n_target}};
    status = program ? TFC_OK : TFC_ERROR_FUNCTION;
    for (int k = 0; !status && k < 2; k++)
        status = check_side(model, &sides[k]);
    if (!status)
        status = run_pair(session, program, sides, weights);
    return session_leave(session, USE_READ, status);
}
