/* What C and OpenCL C say differently; see CDialect. */
#include "codegen/c/render_state.h"

const CDialect c_gnu = {.pointers = {"char *", "char *"},
                        .places = {"AT", "AT"},
                        .suffix = "f",
                        .unordered = "__builtin_isunordered",
                        .nan = {"__builtin_nanf(\"\")", "__builtin_nan(\"\")"},
                        .inf = {"__builtin_inff()", "__builtin_inf()"}};

const CDialect c_opencl = {.pointers = {"global char *", "char *"},
                           .places = {"AT", "OWN"},
                           .suffix = "",
                           .unordered = "isunordered",
                           .nan = {"NAN", "(double)NAN"},
                           .inf = {"INFINITY", "(double)INFINITY"},
                           .device = true};

static const char *const gnu_helpers =
    "#if defined(__x86_64__)\n"
    "#include <immintrin.h>\n"
    "#elif defined(__aarch64__)\n"
    "#include <arm_neon.h>\n"
    "#endif\n"
    "\n"
    "/* A product and a sum are rounded each by itself; `muladd` alone is fused. */\n"
    "#if defined(__clang__)\n"
    "#pragma STDC FP_CONTRACT OFF\n"
    "#else\n"
    "#pragma GCC optimize(\"fp-contract=off\")\n"
    "#endif\n"
    "\n"
    "typedef int8_t i8;\ntypedef int16_t i16;\ntypedef int32_t i32;\ntypedef int64_t i64;\n"
    "typedef uint8_t u8;\ntypedef uint16_t u16;\ntypedef uint32_t u32;\ntypedef uint64_t u64;\n"
    "typedef float f32;\ntypedef double f64;\n"
    "\n"
    "/* What lies at an address. Types T_at may be read through any pointer. */\n"
    "#define AT(T, p) (*(T##_at *)(p))\n"
    "/* a * b + c, fused where the processor can. */\n"
    "#if defined(__FP_FAST_FMA) || defined(__FMA__) || defined(__aarch64__) || defined(__riscv_d)\n"
    "#define MULADD_IS_FUSED\n"
    "#define muladd_f32(a, b, c) __builtin_fmaf(a, b, c)\n"
    "#define muladd_f64(a, b, c) __builtin_fma(a, b, c)\n"
    "#else\n"
    "#define muladd_f32(a, b, c) ((a) * (b) + (c))\n"
    "#define muladd_f64(a, b, c) ((a) * (b) + (c))\n"
    "#endif\n"
    "/* The same bits as another type. */\n"
    "#define BITS(T, x) __extension__({ union { __typeof__(x) from; T to; } b_ = {(x)}; b_.to; })\n";

static const char *const opencl_helpers =
    "#pragma OPENCL FP_CONTRACT OFF\n"
    "\n"
    "typedef char i8;\ntypedef short i16;\ntypedef int i32;\ntypedef long i64;\n"
    "typedef uchar u8;\ntypedef ushort u16;\ntypedef uint u32;\ntypedef ulong u64;\n"
    "typedef float f32;\n"
    "#ifdef cl_khr_fp64\n"
    "typedef double f64;\n"
    "#endif\n"
    "\n"
    "/* What lies at an address of the device's memory, and of this unit's own. */\n"
    "#define AT(T, p) (*(global T *)(p))\n"
    "#define OWN(T, p) (*(T *)(p))\n"
    "/* The same bits as another type. */\n"
    "#define BITS(T, x) BITS_##T(x)\n"
    "#define BITS_i16 as_short\n#define BITS_i32 as_int\n#define BITS_i64 as_long\n"
    "#define BITS_f32 as_float\n#define BITS_f64 as_double\n"
    "#define INT64_C(n) n##L\n"
    "#define INT32_MIN INT_MIN\n#define INT32_MAX INT_MAX\n"
    "#define INT64_MIN LONG_MIN\n#define INT64_MAX LONG_MAX\n";

void c_write_fixed_helpers(const CDialect *dialect, Text *out)
{
    text_string(out, dialect->device ? opencl_helpers : gnu_helpers);
}
