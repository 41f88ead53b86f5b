/* targets.def: what rows say of x86 processors is what LLVM's code for them uses. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "codegen/llvm/target.h"

#include <llvm-c/IRReader.h>
#include <stdio.h>
#include <string.h>

/* More vectors at once than 16 registers hold; whole numbers; a load under a mask; bf16. */
static const char body[] =
    "define void @whole(ptr %p) {\n"
    "  %x = load <16 x i32>, ptr %p\n  %y = add <16 x i32> %x, %x\n"
    "  store <16 x i32> %y, ptr %p\n  ret void\n}\n"
    "define <16 x float> @masked(ptr %p, <16 x i32> %x) {\n"
    "  %m = icmp sgt <16 x i32> %x, zeroinitializer\n"
    "  %y = call <16 x float> @llvm.masked.load.v16f32.p0(ptr %p, i32 4, <16 x i1> %m, "
    "<16 x float> zeroinitializer)\n  ret <16 x float> %y\n}\n"
    "declare <16 x float> @llvm.masked.load.v16f32.p0(ptr, i32, <16 x i1>, <16 x float>)\n"
    "define <16 x bfloat> @rounded(<16 x float> %x) {\n"
    "  %y = fptrunc <16 x float> %x to <16 x bfloat>\n  ret <16 x bfloat> %y\n}\n";

static char *assembly_of(const LlvmTarget *target, Arena *arena, Diagnostics *diags)
{
    Text text = {0};
    text_add(&text, "%s", body);
    text_add(&text, "define void @many(ptr %%p) {\n");
    for (int i = 0; i < 20; i++)
        text_add(&text, "  %%x%d = load volatile <4 x float>, ptr %%p\n", i);
    for (int i = 0; i < 20; i++)
        text_add(&text, "  store volatile <4 x float> %%x%d, ptr %%p\n", i);
    text_add(&text, "  ret void\n}\n");
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module;
    char *message = NULL;
    if (LLVMParseIRInContext(
            context, LLVMCreateMemoryBufferWithMemoryRangeCopy(text.data, text.length, "test"),
            &module, &message))
        fail_msg("%s", message);
    LLVMModuleRef like = target_new_module(target, context, "like");
    LLVMSetTarget(module, LLVMGetTarget(like));
    LLVMSetModuleDataLayout(module, LLVMGetModuleDataLayout(like));
    LLVMMemoryBufferRef code = target_emit(target, module, true, diags);
    assert_non_null(code);
    char *copy =
        arena_printf(arena, "%.*s", (int)LLVMGetBufferSize(code), LLVMGetBufferStart(code));
    LLVMDisposeMemoryBuffer(code);
    LLVMDisposeModule(like);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    text_free(&text);
    return copy;
}

static void check(const char *triple, const char *cpu, const char *row, bool scalar)
{
    Arena *arena = arena_new();
    Diagnostics diags;
    LlvmTarget target;
    diag_init(&diags, arena);
    TargetOptions options = {.cpu = cpu, .triple = triple, .opt_level = 2, .scalar = scalar};
    assert_true(target_init(&target, &options, true, &diags));
    const Processor *p = target.code.processor;
    assert_string_equal(p->name, row);
    if (!strncmp(triple, "x86_64", 6) && !scalar) {
        const char *code = assembly_of(&target, arena, &diags);
        int bits = strstr(code, "%zmm") ? 512 : strstr(code, "%ymm") ? 256 : 128;
        assert_int_equal(bits, p->vector_bits);
        assert_int_equal(strstr(code, "mm19") ? 32 : 16, p->registers);
        assert_int_equal(strstr(code, "{%k") != NULL, p->masks_are_free);
        assert_int_equal(bits == 512, p->scales_at_once); /* in AVX-512F */
        assert_int_equal(strstr(code, "vcvtneps2bf16") != NULL, p->pairs != TARGET_PAIRS_WIDENED);
    }
    target_dispose(&target);
    arena_free(arena);
}

static void test_x86(void **state)
{
    (void)state;
    const char *triple = "x86_64-linux-gnu";
    check(triple, "x86-64", "sse", false);
    check(triple, "x86-64-v2", "sse", false);
    check(triple, "x86-64-v3", "avx2", false);
    check(triple, "x86-64-v4", "avx512", false);
    check(triple, "znver3", "avx2", false);
    check(triple, "znver4", "avx512_bf16", false);
    check(triple, "icelake-server", "avx512_vnni", false);
    check(triple, "alderlake", "avx2_vnni", false);
    check(triple, "sapphirerapids", "amx", false);
    check(triple, "x86-64-v4", "scalar", true);
}

static void test_others(void **state)
{
    (void)state;
    check("aarch64-linux-gnu", "cortex-a76", "neon_dots", false);
    check("aarch64-linux-gnu", NULL, "neon", false);
    check("aarch64-linux-gnu", "neoverse-v1", "sve256", false);
    check("riscv64-linux-gnu", NULL, "rv64", false);
    check("riscv64-linux-gnu", "sifive-p670", "rvv128", false);
    check("riscv64-linux-gnu", "sifive-x280", "rvv512", false);
    check("riscv64-linux-gnu", "spacemit-x60", "rvv256", false);
    check("wasm32-wasi", NULL, "wasm_simd", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_x86), cmocka_unit_test(test_others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
