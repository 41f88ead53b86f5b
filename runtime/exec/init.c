/* Initial values of params, drawn in double from Philox streams of their own. */
#include "runtime/exec/exec.h"

#include "base/bf16.h"
#include "base/map.h"
#include "base/philox.h"
#include "base/portable_math.h"
#include "base/team.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double TWO_PI = 6.283185307179586476925286766559;

/* The stream of one tensor: a key from seed and name; element i uses counter i. */
typedef struct Stream {
    uint32_t key[2];
} Stream;

static Stream stream_of(uint64_t seed, const char *name)
{
    uint64_t hash = hash_u64(hash_string(HASH_SEED, name), seed);
    return (Stream){{(uint32_t)hash, (uint32_t)(hash >> 32)}};
}

/* Two independent uniforms in [0, 1) with 53 bits. */
static void uniform_pair(const Stream *stream, int64_t i, double out[2])
{
    uint32_t counter[4] = {(uint32_t)i, (uint32_t)((uint64_t)i >> 32), 0, 0}, bits[4];
    philox4x32(counter, stream->key, bits);
    for (int j = 0; j < 2; j++) {
        uint64_t word = (uint64_t)bits[2 * j] << 32 | bits[2 * j + 1];
        out[j] = (double)(word >> 11) * 0x1p-53;
    }
}

static double uniform_at(const Stream *stream, int64_t i)
{
    double u[2];
    uniform_pair(stream, i, u);
    return u[0];
}

static double normal_at(const Stream *stream, int64_t i)
{
    double u[2]; /* Box & Muller 1958 */
    uniform_pair(stream, i, u);
    return sqrt(-2 * portable_log(1 - u[0])) * portable_cos(TWO_PI * u[1]);
}

static void set_element(StoreTensor *tensor, int64_t i, double value)
{
    switch (tensor->type) {
    case TFC_F32: ((float *)tensor->data)[i] = (float)value; break;
    case TFC_F64: ((double *)tensor->data)[i] = value; break;
    case TFC_BF16: ((uint16_t *)tensor->data)[i] = bf16_from_float((float)value); break;
    case TFC_I32: ((int32_t *)tensor->data)[i] = (int32_t)value; break;
    case TFC_BOOL: ((uint8_t *)tensor->data)[i] = value != 0; break;
    }
}

static void fill_tensor(StoreTensor *tensor, double value)
{
    for (int64_t i = 0; i < tensor->count; i++)
        set_element(tensor, i, value);
}

typedef struct Draws {
    StoreTensor *tensor;
    const Stream *stream;
    double (*draw)(const Stream *stream, int64_t i);
    double offset, scale;
} Draws;

enum { DRAWS_A_TASK = 1 << 14 };

static void fill_part(const void *context, int64_t task)
{
    const Draws *d = context;
    int64_t begin = task * DRAWS_A_TASK, end = begin + DRAWS_A_TASK;
    for (int64_t i = begin; i < end && i < d->tensor->count; i++)
        set_element(d->tensor, i, d->offset + d->scale * d->draw(d->stream, i));
}

static void fill_draws(const Draws *draws)
{
    int64_t tasks = (draws->tensor->count + DRAWS_A_TASK - 1) / DRAWS_A_TASK;
    team_each(exec_threads(), (int32_t)tasks, fill_part, draws);
}

static void fill_normal(StoreTensor *tensor, const Stream *stream, double mean, double deviation)
{
    fill_draws(&(Draws){tensor, stream, normal_at, mean, deviation});
}

static void fill_uniform(StoreTensor *tensor, const Stream *stream, double from, double to)
{
    fill_draws(&(Draws){tensor, stream, uniform_at, from, to - from});
}

typedef struct Fans {
    double in, out;
} Fans;

static Fans fans_of(const StoreTensor *tensor)
{
    Fans fans = {1, 1};
    for (int i = 0; i + 1 < tensor->rank; i++)
        fans.in *= (double)tensor->dims[i];
    if (tensor->rank)
        fans.out = (double)tensor->dims[tensor->rank - 1];
    return fans;
}

static double dot(const double *x, const double *y, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* Makes vector `v` orthogonal to the k before it, twice for accuracy, and of length 1. */
static void orthonormalise(double *vectors, int64_t k, int64_t length)
{
    double *v = vectors + k * length;
    for (int again = 0; again < 2; again++)
        for (int64_t j = 0; j < k; j++) {
            const double *u = vectors + j * length;
            double along = dot(u, v, length);
            for (int64_t i = 0; i < length; i++)
                v[i] -= along * u[i];
        }
    double norm = sqrt(dot(v, v, length));
    for (int64_t i = 0; i < length; i++)
        v[i] /= norm;
}

/* [in, out] with orthonormal rows or columns, whichever are fewer (Saxe et al. 2013). */
static bool fill_orthogonal(StoreTensor *tensor, const Stream *stream, double gain)
{
    int64_t rows = (int64_t)fans_of(tensor).in, columns = (int64_t)fans_of(tensor).out;
    bool wide = columns >= rows;
    int64_t n = wide ? rows : columns, length = wide ? columns : rows;
    double *vectors = malloc(sizeof *vectors * (size_t)(n * length + 1));
    if (!vectors)
        return false;
    for (int64_t i = 0; i < n * length; i++)
        vectors[i] = normal_at(stream, i);
    for (int64_t k = 0; k < n; k++)
        orthonormalise(vectors, k, length);
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i < length; i++)
            set_element(tensor, wide ? k * columns + i : i * columns + k,
                        gain * vectors[k * length + i]);
    free(vectors);
    return true;
}

static bool initialise(StoreTensor *tensor, uint64_t seed)
{
    Stream stream = stream_of(seed, tensor->name);
    Fans fans = fans_of(tensor);
    double a = tensor->a, limit;
    switch (tensor->init) {
    case TFC_INIT_ZEROS: fill_tensor(tensor, 0); break;
    case TFC_INIT_ONES: fill_tensor(tensor, 1); break;
    case TFC_INIT_CONSTANT: fill_tensor(tensor, a); break;
    case TFC_INIT_NORMAL: fill_normal(tensor, &stream, a, tensor->b); break;
    case TFC_INIT_UNIFORM: fill_uniform(tensor, &stream, a, tensor->b); break;
    case TFC_INIT_XAVIER_UNIFORM: /* Glorot & Bengio 2010, eq. 16 */
        limit = a * sqrt(6 / (fans.in + fans.out));
        fill_uniform(tensor, &stream, -limit, limit);
        break;
    case TFC_INIT_XAVIER_NORMAL:
        fill_normal(tensor, &stream, 0, a * sqrt(2 / (fans.in + fans.out)));
        break;
    case TFC_INIT_KAIMING_UNIFORM: /* He et al. 2015; the gain of ReLU is √2 */
        limit = a * sqrt(3 / fans.in);
        fill_uniform(tensor, &stream, -limit, limit);
        break;
    case TFC_INIT_KAIMING_NORMAL: fill_normal(tensor, &stream, 0, a / sqrt(fans.in)); break;
    case TFC_INIT_ORTHOGONAL: return fill_orthogonal(tensor, &stream, a);
    case TFC_INIT_FILE: break;
    }
    return true;
}

bool store_initialise(Store *store, uint64_t seed)
{
    bool ok = true;
    for (int64_t i = 0; ok && i < store_count(store); i++)
        if (store_at(store, i)->data)
            ok = initialise(store_at(store, i), seed);
    store_changed(store);
    return ok;
}
