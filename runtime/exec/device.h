/* The arguments of kernels that run on a device with memory of its own (OpenCL): the contract
 * between codegen/emit, which writes these kernels, and tests/opencl, which calls them.
 *
 * In place of TfcKernelArgs such a kernel takes a list of words, a list of numbers, and its buffers
 * one by one: kernel(words, unit, numbers, buffers…). A call does one unit. The words of a step
 * follow from the batch's shape alone, except the state of the random generator. Epilogues do whole
 * rows. */
#ifndef RUNTIME_EXEC_DEVICE_H
#define RUNTIME_EXEC_DEVICE_H

#include "runtime/exec/program.h"

/* Parameters of a kernel; buffers follow. */
enum { TFC_DEVICE_WORDS, TFC_DEVICE_UNIT, TFC_DEVICE_NUMBERS, TFC_DEVICE_BUFFERS };

/* Where in the words (i64) of a kernel step each part begins.
 *   offsets  of each buffer: bytes from its memory's beginning to element 0
 *   strides  as TfcKernelArgs has them
 *   dims     TfcDim of each dimension, with the index of a table's first entry in the numbers (i32)
 *            in place of the table's address
 *   ints     as TfcKernelArgs has them
 *   random   the four numbers of TfcKernelArgs.rng, two a word
 *   count    of all words */
typedef struct TfcDeviceWords {
    int64_t offsets, strides, dims, ints, random, count;
} TfcDeviceWords;

enum { TFC_DEVICE_DIM_WORDS = sizeof(TfcDim) / 8 };

static inline TfcDeviceWords tfc_device_words(int64_t n_buffers, int64_t n_dims, int64_t n_ints)
{
    TfcDeviceWords w = {0};
    w.strides = n_buffers;
    w.dims = w.strides + n_buffers * TFC_MAX_AXES;
    w.ints = w.dims + n_dims * TFC_DEVICE_DIM_WORDS;
    w.random = w.ints + n_ints;
    w.count = w.random + 2;
    return w;
}

/* The words of a product step: a TfcDeviceGemm, then a TfcDeviceProduct for each iteration of its
 * loops; those that are summed into the same c follow each other. A unit is a tile of one c:
 * TFC_DEVICE_TILE rows and columns, fewer at the edges of c. Its number is
 * (iteration × tiles of m + down) × tiles of n + across; a unit past its iteration's tiles does
 * nothing. Buffers are a, b, c. Strides and places are in elements.
 *   m, n  the most rows and columns of an iteration
 *   sums  how many products each c is the sum of
 *   a, b, c  where element (0, 0) is in the buffer's memory */
typedef struct TfcDeviceGemm {
    int64_t m, n, sums, a_row, a_column, b_row, b_column, c_row, c_column;
} TfcDeviceGemm;
typedef struct TfcDeviceProduct {
    int64_t m, n, k, a, b, c;
} TfcDeviceProduct;

enum { TFC_DEVICE_TILE = 4 };

static inline int64_t tfc_device_tiles(int64_t count)
{
    return (count + TFC_DEVICE_TILE - 1) / TFC_DEVICE_TILE;
}

/* A program for such a device.
 *   program  its tables; its kernels have no addresses
 *   source   OpenCL C 1.2
 *   entries  the kernel of each step, by its name in the source; NULL: a copy or zeros */
typedef struct TfcDeviceCode {
    const TfcProgram *program;
    const char *source;
    const char *const *entries;
} TfcDeviceCode;

#endif
