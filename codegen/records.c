/* Records field by field; see records.h. A record that grows fails an assertion here. */
#include "codegen/records.h"

#include <assert.h>
#include <string.h>

/* Arrays, and records without anything between their fields, as they are. */
#define COPY(field) memcpy(&out->field, &in->field, sizeof out->field)

static_assert(sizeof(TfcProgramDim) == 16, "record_dim copies every field");
void record_dim(TfcProgramDim *out, const TfcProgramDim *in) { out->batch = in->batch; }

static_assert(sizeof(TfcShape) == 8 + TFC_MAX_AXES * 16, "record_shape copies every field");
static void record_shape(TfcShape *out, const TfcShape *in)
{
    out->rank = in->rank;
    for (int i = 0; i < TFC_MAX_AXES; i++) {
        out->dims[i].size = in->dims[i].size;
        out->dims[i].dim = in->dims[i].dim;
    }
}

static_assert(sizeof(TfcPort) == 24 + sizeof(TfcShape), "record_port copies every field");
void record_port(TfcPort *out, const TfcPort *in)
{
    out->type = in->type;
    record_shape(&out->shape, &in->shape);
    out->buffer = in->buffer;
}

static_assert(sizeof(TfcTensor) == 64 + sizeof(TfcShape), "record_tensor copies every field");
void record_tensor(TfcTensor *out, const TfcTensor *in)
{
    out->type = in->type;
    record_shape(&out->shape, &in->shape);
    out->role = in->role;
    out->init = in->init;
    out->a = in->a;
    out->b = in->b;
    out->buffer = in->buffer;
}

static_assert(sizeof(TfcBuffer) == 28, "record_buffer copies every field");
void record_buffer(TfcBuffer *out, const TfcBuffer *in)
{
    out->kind = in->kind;
    out->type = in->type;
    out->size = in->size;
    out->index = in->index;
    out->first = in->first;
    out->last = in->last;
    out->loop = in->loop;
}

/* ---- steps ---- */

static_assert(sizeof(TfcKernelStep) == 56, "record_kernel copies every field");
static void record_kernel(TfcKernelStep *out, const TfcKernelStep *in)
{
    out->kernel = in->kernel;
    out->n_views = in->n_views;
    out->n_results = in->n_results;
    out->n_dims = in->n_dims;
    out->n_ints = in->n_ints;
    out->range = in->range;
    out->work = in->work;
    out->along = in->along;
    out->epilogue = in->epilogue;
}

static_assert(sizeof(TfcExtent) == 12, "record_extent copies every field");
static void record_extent(TfcExtent *out, const TfcExtent *in)
{
    out->kind = in->kind;
    out->size = in->size;
    out->dim = in->dim;
}

static_assert(sizeof(TfcMatrix) == 40, "record_matrix copies every field");
static void record_matrix(TfcMatrix *out, const TfcMatrix *in)
{
    out->offset = in->offset;
    out->buffer = in->buffer;
    out->ragged_dim = in->ragged_dim;
    COPY(loop_strides);
    out->ragged_stride = in->ragged_stride;
    out->row_stride = in->row_stride;
    out->column_stride = in->column_stride;
}

static_assert(sizeof(TfcGemmStep) == 224, "record_gemm copies every field");
static void record_gemm(TfcGemmStep *out, const TfcGemmStep *in)
{
    out->type = in->type;
    out->result = in->result;
    out->accumulate = in->accumulate;
    record_matrix(&out->a, &in->a);
    record_matrix(&out->b, &in->b);
    record_matrix(&out->c, &in->c);
    record_extent(&out->m, &in->m);
    record_extent(&out->n, &in->n);
    record_extent(&out->k, &in->k);
    out->packed = in->packed;
    out->n_loops = in->n_loops;
    out->batch_loop = in->batch_loop;
    COPY(loops);
    COPY(loop_lengths);
}

void record_step(TfcStep *out, const TfcStep *in)
{
    out->kind = in->kind;
    out->rows = in->rows;
    switch (in->kind) {
    case TFC_STEP_KERNEL: record_kernel(&out->kernel, &in->kernel); break;
    case TFC_STEP_GEMM:
    case TFC_STEP_PACK: record_gemm(&out->gemm, &in->gemm); break;
    case TFC_STEP_COPY:
    case TFC_STEP_ZERO:
        out->copy.to = in->copy.to;
        out->copy.from = in->copy.from;
        out->copy.size = in->copy.size;
        break;
    }
}

/* ---- the program ---- */

static_assert(sizeof(TfcProgram) == 176, "record_program copies every count");
void record_program(TfcProgram *out, const TfcProgram *in)
{
    out->n_dims = in->n_dims;
    out->n_sizes = in->n_sizes;
    out->n_buffers = in->n_buffers;
    out->n_steps = in->n_steps;
    out->n_loops = in->n_loops;
    out->n_kernels = in->n_kernels;
    out->n_inputs = in->n_inputs;
    out->n_outputs = in->n_outputs;
    out->n_tensors = in->n_tensors;
    out->n_prepared = in->n_prepared;
    out->trains = in->trains;
}
