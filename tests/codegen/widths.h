/* Running the body of a case in all types and widths, in memory that is not contiguous, and on
 * batches at the edges. */
#ifndef TESTS_CODEGEN_WIDTHS_H
#define TESTS_CODEGEN_WIDTHS_H

#include "tests/codegen/kernels.h"

#define DIMS(...) \
    (int)(sizeof((Dim[]){__VA_ARGS__}) / sizeof(Dim)), (Dim[]) { __VA_ARGS__ }
#define VALUES(...) \
    (int)(sizeof((Value *[]){__VA_ARGS__}) / sizeof(Value *)), (Value *[]) { __VA_ARGS__ }

static const int64_t odd_columns[] = {1, 3, 15, 17, 64, 100};
enum { N_COLUMNS = sizeof odd_columns / sizeof odd_columns[0] };

static inline Dim n_of(int64_t n) { return dim_const(n); }
static inline Value *last_sum(Case *c, OpKind kind, Value *x)
{
    return build_reduce(&c->b, kind, x, 1, (int[]){x->type.rank - 1});
}

/* Runs a case in all types; `n`: a constant for it. */
typedef void (*CaseBody)(Case *c, int64_t n);
static inline void in_type(DType real, CaseBody body, int64_t n)
{
    Case c;
    case_open(&c, real);
    c.reference_too = n == 3;
    body(&c, n);
    case_close(&c);
}
static inline void in_all_types(CaseBody body, int64_t n)
{
    for (DType real = DT_F32; real <= DT_BF16; real++)
        in_type(real, body, n);
}
/* In f32, whose vectors are the longest, on each side of every width; in the others on some. */
static inline void in_all_widths(CaseBody body)
{
    for (int i = 0; i < N_COLUMNS; i++)
        if (i % 2 && !short_test())
            in_all_types(body, odd_columns[i]);
        else if (i % 2 || !i || !short_test())
            in_type(short_test() && i > 1 ? DT_BF16 : DT_F32, body, odd_columns[i]);
}

static inline void with_form(CaseBody body, BufferForm form, int64_t gap, int64_t stride)
{
    for (DType real = DT_F32; real <= DT_BF16; real++) {
        Case c;
        case_open(&c, real);
        c.form = form;
        c.gap = gap;
        c.column_stride = stride;
        body(&c, 17);
        case_close(&c);
    }
}

static inline void in_strides(const CaseBody *bodies, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        with_form(bodies[i], FORM_ROWS, 5, 1);
        with_form(bodies[i], FORM_STRIDED, 5, 3);
    }
}

static inline void with_lengths(CaseBody body, int n, const int32_t *s, const int32_t *t)
{
    for (DType real = DT_F32; real <= DT_BF16; real++) {
        Case c;
        case_open(&c, real);
        case_lengths(&c, c.S, n, s);
        case_lengths(&c, c.T, n, t);
        body(&c, 17);
        case_close(&c);
    }
}

static inline void in_edge_batches(const CaseBody *bodies, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        with_lengths(bodies[i], 1, (int32_t[]){1}, (int32_t[]){1});
        with_lengths(bodies[i], 2, (int32_t[]){0, 0}, (int32_t[]){0, 0});
        with_lengths(bodies[i], 3, (int32_t[]){33, 1, 0}, (int32_t[]){16, 40, 1});
    }
}

#define IN_WIDTHS(body)                   \
    static void test_##body(void **state) \
    {                                     \
        (void)state;                      \
        in_all_widths(body);              \
    }
#define ONCE(body)                        \
    static void test_##body(void **state) \
    {                                     \
        (void)state;                      \
        in_all_types(body, 3);            \
    }

#endif
