/* The interpreter of loop IR: functions of an array of eight numbers at %0 and a number %1, what
 * the array holds afterwards, or what the error says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "codegen/loop/text/text.h"
#include "codegen/loop/verify.h"
#include "tests/loop/interpret.h"

#include <math.h>

enum { N = 8 };

typedef enum Kind { I32, I64, F32, F64 } Kind;

typedef struct Case {
    const char *name, *text; /* the ops of kernel @f(ptr %0, i64 %1) */
    Kind kind;               /* of the array */
    int64_t number;
    double before[N], after[N];
    const char *error;
    bool fused;
} Case;

static const Case cases[] = {
    {"integers wrap",
     "i32 %2 = load %0\n i32 %3 = add %2, i32 1\n store %3, %0\n i32 %4 = mul %2, i32 2\n"
     "ptr %5 = at i32 %0, i64 1\n store %4, %5",
     I32,
     0,
     {2147483647},
     .after = {-2147483648.0, -2}},
    {"division",
     "i64x4 %2 = load %0 align 8\n i64x4 %3 = div %2, i64x4 -2\n"
     "i64x4 %4 = rem %2, i64x4 -2\n store %3, %0 align 8\n ptr %5 = at i64 %0, i64 4\n store %4, %5 align 8",
     I64,
     0,
     {7, -7, 8, 1},
     .after = {-3, 3, -4, 0, 1, -1, 0, 1}},
    {"unsigned",
     "i32x4 %2 = load %0\n i32x4 %3 = udiv %2, i32x4 2\n i32x4 %4 = urem %2, i32x4 10\n"
     "store %3, %0\n ptr %5 = at i32 %0, i64 4\n store %4, %5",
     I32,
     0,
     {-1, 9, 0, 10},
     .after = {2147483647, 4, 0, 5, 5, 9, 0, 0}},
    {"bits",
     "i32x4 %2 = load %0\n i32x4 %3 = shl %2, i32x4 4\n i32x4 %4 = lshr %2, i32x4 28\n"
     "i32x4 %5 = ashr %2, i32x4 1\n i32x4 %6 = xor %3, %4\n i32x4 %7 = or %6, i32x4 1\n"
     "store %7, %0\n ptr %8 = at i32 %0, i64 4\n i32x4 %9 = and %5, i32x4 -2\n store %9, %8",
     I32,
     0,
     {-16, 5},
     .after = {-241, 81, 1, 1, -8, 2}},
    {"comparisons",
     "f32x4 %2 = load %0\n i1x4 %3 = lt %2, f32x4 1\n i1x4 %4 = ne %2, f32x4 1\n"
     "i1x4 %5 = unordered %2, %2\n i1x4 %6 = ge %2, f32x4 1\n f32x4 %7 = select %3, f32x4 1, f32x4 0\n"
     "f32x4 %8 = select %4, f32x4 2, f32x4 0\n f32x4 %9 = select %5, f32x4 4, f32x4 0\n"
     "f32x4 %10 = select %6, f32x4 8, f32x4 0\n f32x4 %11 = add %7, %8\n f32x4 %12 = add %9, %10\n"
     "f32x4 %13 = add %11, %12\n store %13, %0",
     F32,
     0,
     {0.5, 1, 2, NAN},
     .after = {3, 8, 10, 6}},
    {"unsigned order",
     "i32x4 %2 = load %0\n i1x4 %3 = ult %2, i32x4 5\n i1x4 %4 = uge %2, i32x4 5\n"
     "i1x4 %5 = gt %2, i32x4 5\n i32x4 %6 = zext %3\n i32x4 %7 = sext %4\n i32x4 %8 = zext %5\n"
     "i32x4 %9 = mul %8, i32x4 10\n i32x4 %10 = add %6, %7\n i32x4 %11 = add %10, %9\n store %11, %0",
     I32,
     0,
     {-1, 5, 4, 6},
     .after = {-1, -1, 1, 9}},
    {"f32 is rounded",
     "f32 %2 = load %0\n f32 %3 = add %2, f32 1\n store %3, %0",
     F32,
     0,
     {16777216},
     .after = {16777216}},
    {"muladd rounds twice",
     "f32 %2 = load %0\n f32 %3 = neg %2\n f32 %4 = mul %2, %2\n f32 %5 = neg %4\n"
     "f32 %6 = muladd %2, %2, %5\n store %6, %0",
     F32,
     0,
     {1.0000001192092896},
     .after = {0}},
    {"muladd rounds once",
     "f32 %2 = load %0\n f32 %4 = mul %2, %2\n f32 %5 = neg %4\n"
     "f32 %6 = muladd %2, %2, %5\n store %6, %0",
     F32,
     0,
     {1.0000001192092896},
     .after = {1.4210854715202004e-14},
     .fused = true},
    {"functions of floats",
     "f64 %2 = load %0\n f64 %3 = sqrt %2\n f64 %4 = floor %3\n f64 %5 = copysign %4, f64 -0\n"
     "f64 %6 = abs %5\n f64 %7 = math \"pow\" %6, f64 3\n f64 %8 = scale2 %7, f64 -1\n f64x4 %9 = splat %8\n"
     "store %9, %0 align 8",
     F64,
     0,
     {6.25},
     .after = {4, 4, 4, 4}},
    {"scale2 rounds once",
     "f32x4 %2 = load %0\n f32x4 %3 = scale2 %2, f32x4 -149\n f32x4 %4 = scale2 %3, f32x4 149\n store %4, %0",
     F32,
     0,
     {1.5, 0.5, 2.5, 3},
     .after = {2, 0, 2, 3}},
    {"math of f32",
     "f32 %2 = load %0\n f32 %3 = math \"exp\" %2\n store %3, %0",
     F32,
     0,
     {1},
     .after = {2.7182817459106445}},
    {"casts",
     "f64 %2 = load %0\n i32 %3 = to_int %2\n f32 %4 = from_int %3\n f64 %5 = fcast %4\n store %5, %0\n"
     "i8 %6 = trunc %3\n f64 %7 = from_uint %6\n ptr %8 = at f64 %0, i64 1\n store %7, %8",
     F64,
     0,
     {-16777217.9},
     .after = {-16777216, 255}},
    {"to_int keeps within",
     "f64x4 %2 = load %0 align 8\n i32x4 %3 = to_int %2\n f64x4 %4 = from_int %3\n store %4, %0 align 8",
     F64,
     0,
     {1e10, -1e10, NAN, -1.9},
     .after = {2147483647, -2147483648.0, 0, -1}},
    {"bitcast",
     "f32x2 %2 = load %0\n i64 %3 = bitcast %2\n i64 %4 = lshr %3, i64 32\n i32 %5 = trunc %4\n"
     "f32 %6 = bitcast %5\n store %6, %0",
     F32,
     0,
     {1, 7},
     .after = {7, 7}},
    {"bitcast of a mask",
     "i32x8 %2 = load %0 align 4\n i1x8 %3 = gt %2, i32x8 0\n i8 %4 = bitcast %3\n i32 %5 = zext %4\n store %5, %0",
     I32,
     0,
     {1, 0, 0, 1, 0, 0, 0, 1},
     .after = {137, 0, 0, 1, 0, 0, 0, 1}},
    {"lanes",
     "f32x4 %2 = load %0\n f32x4 %3 = add %2, f32x4 10\n f32x8 %4 = shuffle %2, %3 [7, 0, 6, 1, 5, 2, 4, 3]\n"
     "store %4, %0 align 4\n f32 %5 = extract %3 [2]\n store %5, %0",
     F32,
     0,
     {0, 1, 2, 3},
     .after = {12, 0, 12, 1, 11, 2, 10, 3}},
    {"masked lanes touch nothing",
     "i1x16 %2 = lt i32x16 iota, i32x16 8\n f32x16 %3 = load %0, %2 align 4\n"
     "f32x16 %4 = add %3, f32x16 1\n store %4, %0, %2 align 4",
     F32,
     0,
     {1, 2, 3, 4, 5, 6, 7, 8},
     .after = {2, 3, 4, 5, 6, 7, 8, 9}},
    {"gather and scatter",
     "i64x4 %2 = mul i64x4 iota, i64x4 2\n ptrx4 %3 = at i32 %0, %2\n i32x4 %4 = load %3 align 4\n"
     "i64x4 %5 = add %2, i64x4 1\n ptrx4 %6 = at i32 %0, %5\n i1x4 %7 = ne %4, i32x4 3\n store %4, %6, %7 align 4",
     I32,
     0,
     {1, 0, 2, 0, 3, 0, 4, 0},
     .after = {1, 1, 2, 2, 3, 0, 4, 4}},
    {"for",
     "for i64 %2 = i64 1 to %1 step 3 {\n ptr %3 = at i64 %0, %2\n store %2, %3\n}",
     I64,
     8,
     {0},
     .after = {0, 1, 0, 0, 4, 0, 0, 7}},
    {"while",
     "i64 %2 = carry i64 0\n i64 %3 = carry i64 1\n i64 %4 = carry %1\n while %4 >= i64 2 over %2, %3, %4 {\n"
     "i64 %5 = add %2, %3\n i64 %6 = sub %4, i64 1\n next %3, %5, %6\n}\n store %2, %0\n ptr %7 = at i64 %0, i64 1\n store %4, %7",
     I64,
     11,
     {0},
     .after = {55, 1}},
    {"a loop starts anew",
     "for i64 %2 = i64 0 to i64 2 step 1 {\n i64 %3 = carry %1\n while %3 >= i64 1 over %3 {\n"
     "i64 %4 = sub %3, i64 1\n i64 %5 = load %0\n i64 %6 = add %5, i64 1\n store %6, %0\n next %4\n}\n}",
     I64,
     3,
     {0},
     .after = {6}},
    {"if and return",
     "i1 %2 = gt %1, i64 0\n if %2 {\n store %1, %0\n return\n} else {\n store i64 -1, %0\n}\n"
     "ptr %3 = at i64 %0, i64 1\n store i64 9, %3",
     I64,
     5,
     {0},
     .after = {5}},
    {"else",
     "i1 %2 = gt %1, i64 0\n if %2 {\n store %1, %0\n return\n} else {\n store i64 -1, %0\n}\n"
     "ptr %3 = at i64 %0, i64 1\n store i64 9, %3",
     I64,
     0,
     {0},
     .after = {-1, 9}},
    {"call",
     "ptr %2 = at i64 %0, %1\n call @g(%2, %0)\n}\nfunction @g(ptr %0, ptr %1) {\n store i64 3, %0\n i64 %2 = load %1\n"
     "i64 %3 = add %2, i64 1\n store %3, %1",
     I64,
     2,
     {7},
     .after = {8, 0, 3}},
    {"scratch",
     "ptr %2 = scratch f32x4 %1 align 64\n f32x4 %3 = load %0\n ptr %4 = at f32x4 %2, i64 1\n store %3, %4\n"
     "f32 %5 = load %2\n f32 %6 = sub %5, %5\n i1 %7 = unordered %6, %6\n if %7 {\n f32x4 %8 = load %4\n"
     "f32x4 %9 = add %8, %8\n store %9, %0\n}",
     F32,
     2,
     {1, 2, 3, 4},
     .after = {2, 4, 6, 8}},
    {"vectors of a caller",
     "f32x4 %2 = load %0\n call @g(%0, %2, i64 4)\n}\n"
     "function @g(ptr %0, f32x4 %1, i64 %2) {\n ptr %3 = at f32 %0, %2\n store %1, %3",
     F32,
     0,
     {1, 2, 3, 4},
     .after = {1, 2, 3, 4, 1, 2, 3, 4}},
    {"scratch of a caller",
     "ptr %2 = scratch i64 i64 1\n call @g(%2)\n i64 %3 = load %2\n store %3, %0\n}\n"
     "function @g(ptr %0) {\n store i64 4, %0",
     I64,
     0,
     {0},
     .after = {4}},
    /* 1·3 + 2·5 of lanes 0x40003f80 (2, 1) and 0x40a04040 (5, 3); denormals are zero */
    {"pairs",
     "f32x2 %2 = load %0\n i32x2 %3 = add i32x2 1073758080, i32x2 0\n i32x2 %4 = add i32x2 1084244032, i32x2 0\n"
     "f32x2 %5 = pair_dot %2, %3, %4\n store %5, %0\n f32x2 %6 = pair_dot f32x2 1e-40, i32x2 1, i32x2 16256\n"
     "ptr %7 = at f32 %0, i64 2\n store %6, %7",
     F32,
     0,
     {0.5, 16777216},
     .after = {13.5, 16777228, 0, 0}},
    /* 10 + 3·5 - 2·7; 1 + 0·-1 + 1·-2 + 2·3 + 255·-128; the same with -1 in
     * place of 255; (1 + 3·2 - 200·2) · 65536 + 5 + 1·10 - 2·1, rounded */
    {"integers",
     "i32x2 %2 = word_dot i32x2 10, i32x2 -131069, i32x2 458757\n f32x2 %3 = from_int %2\n store %3, %0\n"
     "i32x2 %4 = byte_dot i32x2 1, i32x2 -16645888, i32x2 -2147221761\n f32x2 %5 = from_int %4\n"
     "ptr %6 = at f32 %0, i64 2\n store %5, %6\n"
     "i32x2 %7 = signed_dot i32x2 1, i32x2 -16645888, i32x2 -2147221761\n f32x2 %8 = from_int %7\n"
     "ptr %9 = at f32 %0, i64 4\n store %8, %9\n"
     "i32 %10 = byte_pairs i32 65541, i32 -939326975, i32 -33358070\n f32 %11 = from_int %10\n"
     "ptr %12 = at f32 %0, i64 6\n store %11, %12",
     F32,
     0,
     {0},
     .after = {11, 11, -32635, -32635, 133, 133, -25755636}},
    {"tiles",
     "ptr %2 = scratch i32 i64 256\n for i64 %3 = i64 0 to i64 256 step 1 {\n ptr %4 = at i32 %2, %3\n"
     "store i32 1073758080, %4\n}\n tile_zero i8 0\n tile_load i8 1, %2, i64 64\n tile_stream i8 2, %2, i64 64\n"
     "tile_dot i8 0, i8 1, i8 2\n tile_dot i8 0, i8 1, i8 2\n tile_store i8 0, %2, i64 64\n"
     "ptr %5 = at f32 %2, i64 248\n f32x8 %6 = load %5 align 4\n store %6, %0 align 4",
     F32,
     0,
     {0},
     .after = {160, 160, 160, 160, 160, 160, 160, 160}},
    {"prefetch does no harm", "prefetch ptr 0\n prefetch_write ptr 0", I32, 0, {1}, .after = {1}},

    {"reads outside",
     "ptr %2 = at f32 %0, %1\n f32 %3 = load %2\n store %3, %0",
     F32,
     8,
     {0},
     .error = "reads 4 bytes at"},
    {"writes outside",
     "ptr %2 = at f32 %0, i64 5\n store f32x4 0, %2 align 4",
     F32,
     0,
     {0},
     .error = "writes 4 bytes at"},
    {"before",
     "ptr %2 = at i8 %0, i64 -1\n i8 %3 = load %2\n store %3, %0",
     I32,
     0,
     {0},
     .error = "which are not its own"},
    {"a lane outside",
     "i1x16 %2 = le i32x16 iota, i32x16 8\n store f32x16 0, %0, %2 align 4",
     F32,
     0,
     {0},
     .error = "store f32x16 0"},
    {"past scratch",
     "ptr %2 = scratch f32 i64 4\n ptr %3 = at f32 %2, i64 4\n store f32 0, %3",
     F32,
     0,
     {0},
     .error = "@f: store f32 0, %3"},
    {"scratch that is gone",
     "call @g(%0)\n ptr %2 = load %0\n store i64 1, %2\n}\nfunction @g(ptr %0) {\n"
     "ptr %1 = scratch i64 i64 1\n store %1, %0",
     I64,
     0,
     {0},
     .error = "writes 8 bytes at"},
    {"unaligned",
     "ptr %2 = at f32 %0, i64 1\n store f32x4 0, %2",
     F32,
     0,
     {0},
     .error = "is no multiple of 16"},
    {"unaligned, as said",
     "ptr %2 = at f32 %0, i64 1\n store f32 0, %2 align 8",
     F32,
     0,
     {0},
     .error = "is no multiple of 8"},
    {"by zero", "i64 %2 = div i64 1, %1\n store %2, %0", I64, 0, {0}, .error = "it divides by 0"},
    {"least by -1",
     "i64 %2 = div i64 -9223372036854775808, %1\n store %2, %0",
     I64,
     -1,
     {0},
     .error = "does not fit"},
    {"shifts too far",
     "i64 %2 = shl i64 1, %1\n store %2, %0",
     I64,
     64,
     {0},
     .error = "it shifts by 64"},
    {"index overflows",
     "i64 %2 = imul %1, %1\n store %2, %0",
     I64,
     INT64_C(1) << 32,
     {0},
     .error = "overflow"},
    {"no end",
     "i64 %2 = carry i64 1\n while %2 >= i64 1 over %2 {\n next %2\n}",
     I64,
     0,
     {0},
     .error = "more steps"},
    {"calls without end", "call @f(%0, %1)", I64, 0, {0}, .error = "more than 64 deep"},
    {"scratch too large",
     "ptr %2 = scratch i64 %1\n store i64 1, %2",
     I64,
     -1,
     {0},
     .error = "cannot hold -1 elements"},
};

static size_t bytes_of(Kind kind) { return kind == I32 || kind == F32 ? 4 : 8; }

static void put(Kind kind, unsigned char *memory, int i, double x)
{
    memory += (size_t)i * bytes_of(kind);
    switch (kind) {
    case I32: memcpy(memory, &(int32_t){(int32_t)x}, 4); break;
    case I64: memcpy(memory, &(int64_t){(int64_t)x}, 8); break;
    case F32: memcpy(memory, &(float){(float)x}, 4); break;
    case F64: memcpy(memory, &x, 8); break;
    }
}

static LoModule *read_case(const Case *c, Arena *arena, Diagnostics *diags)
{
    const char *text = arena_printf(arena, "kernel @f(ptr %%0, i64 %%1) {\n%s\n}\n", c->text);
    LoModule *module = lo_parse(arena, diags, diag_source(arena, c->name, text, strlen(text)));
    if (module && lo_verify(module, diags))
        return module;
    Text told = {0};
    diag_render(diags, &told);
    print_error("%s", told.data);
    text_free(&told);
    fail_msg("%s is not accepted", c->name);
    return NULL;
}

static void run_case(const Case *c)
{
    _Alignas(64) unsigned char memory[N * 8], expected[N * 8];
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    LoModule *module = read_case(c, arena, &diags);
    for (int i = 0; i < N; i++) {
        put(c->kind, memory, i, c->before[i]);
        put(c->kind, expected, i, c->after[i]);
    }
    LoRange range = {memory, N * bytes_of(c->kind), true};
    LoRun run = {&range, 1, 10000, c->fused};
    bool ran = lo_interpret(module->functions.data[0],
                            (uint64_t[]){lo_address(memory), (uint64_t)c->number}, &run, &diags);
    if (ran != !c->error)
        fail_msg("%s: %s", c->name, ran ? "no error" : diags.list.data[0].message);
    if (c->error && !strstr(diags.list.data[0].message, c->error))
        fail_msg("%s: \"%s\" does not say \"%s\"", c->name, diags.list.data[0].message, c->error);
    if (!c->error && memcmp(memory, expected, range.bytes)) {
        for (int i = 0; i < N; i++)
            print_error("%d: %g for %g\n", i,
                        c->kind == F32   ? (double)((float *)memory)[i]
                        : c->kind == F64 ? ((double *)memory)[i]
                        : c->kind == I32 ? (double)((int32_t *)memory)[i]
                                         : (double)((int64_t *)memory)[i],
                        c->after[i]);
        fail_msg("%s: other numbers", c->name);
    }
    arena_free(arena);
}

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        run_case(&cases[i]);
}

/* Memory that is only read. */
static void test_read_only(void **state)
{
    (void)state;
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    static const Case c = {"read only", "i64 %2 = load %0\n store %2, %0", I64, 0, .after = {0}};
    int64_t memory = 0;
    LoRun run = {&(LoRange){&memory, sizeof memory, false}, 1, 0, false};
    assert_false(lo_interpret(read_case(&c, arena, &diags)->functions.data[0],
                              (uint64_t[]){lo_address(&memory), 0}, &run, &diags));
    assert_non_null(strstr(diags.list.data[0].message, "writes 8 bytes"));
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases),
                                       cmocka_unit_test(test_read_only)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
