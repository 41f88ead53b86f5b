/* Object code: the loaded tables equal the planned ones field by field, object files
 * do not depend on the number of threads, names carry the prefix, other targets. */
#define _POSIX_C_SOURCE 200809L
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "codegen/jit.h"
#include "ir/text.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* Kernel, product, copy and zero steps; ragged dimensions; params of several kinds. */
static const char text[] =
    "module \"test\"\n"
    "dim B\ndim S ragged B\ndim N\n"
    "param \"w\" : f32[24, 24] {role = trained, init = normal(0, 0.5), decay = true}\n"
    "param \"table\" : f32[10, 24] {role = frozen, init = file(\"t.safetensors\", \"x\"), decay = false}\n"
    "param \"seen\" : f32[24] {role = state, init = zeros, decay = false}\n"
    "func f {\n"
    "  %0 = input {name = \"x\"} : f32[B, S~, 24]\n"
    "  %1 = param {name = \"w\"} : f32[24, 24]\n"
    "  %2 = dot %0, %1 {contract_a = [2], contract_b = [0], batch_a = [], batch_b = []} : f32[B, S~, 24]\n"
    "  %3 = relu %2 : f32[B, S~, 24] @ encoder.layer.0\n"
    "  %4 = reduce_sum %3 {axes = [2]} : f32[B, S~, 1]\n"
    "  output %3 {name = \"y\"}\n"
    "  output %4 {name = \"sum\"}\n"
    "  %5 = param {name = \"table\"} : f32[10, 24]\n"
    "  output %5 {name = \"table\"}\n"
    "  %6 = param {name = \"seen\"} : f32[24]\n"
    "  %7 = const {value = 0} : f32[24]\n"
    "  assign %6, %7\n"
    "}\n"
    "func g {\n"
    "  %0 = input {name = \"x\"} : f32[B, S~, 24]\n"
    "  %1 = relu %0 : f32[B, S~, 24]\n"
    "  output %1 {name = \"y\"}\n"
    "}\n";

typedef struct Case {
    Arena *arena;
    Diagnostics diags;
    const Function *functions[2];
} Case;

static void fail_with(Case *c)
{
    Text message = {0};
    diag_render(&c->diags, &message);
    fail_msg("%s", message.data ? message.data : "failed without a message");
}

static void open_case(Case *c)
{
    *c = (Case){.arena = arena_new()};
    diag_init(&c->diags, c->arena);
    Module *module =
        ir_parse(c->arena, &c->diags, diag_source(c->arena, "t.tir", text, strlen(text)));
    if (!module || !ir_verify(module, &c->diags))
        fail_with(c);
    c->functions[0] = module->functions.data[0];
    c->functions[1] = module->functions.data[1];
}

static void compile(Case *c, int n, const TargetOptions *options, const char *prefix,
                    ObjectSet *out)
{
    if (!object_compile(c->functions, n, options, prefix, NULL, NULL, c->arena, out, &c->diags))
        fail_with(c);
}

/* ---- tables, field by field ---- */

static void same_text(const char *a, const char *b)
{
    assert_int_equal(a != NULL, b != NULL);
    if (a)
        assert_string_equal(a, b);
    assert_true(!a || a != b); /* of its own, not the plan's */
}

/* same_T for each record: what they point to is compared, too, and is not the same memory. */
#define RECORD(T)                                \
    static void same_##T(const T *a, const T *b) \
    {                                            \
        assert_true(a != b);
#define END(T) }
#define VALUE(type, name) assert_true(a->name == b->name);
#define VALUES(type, name, n) assert_memory_equal(a->name, b->name, sizeof a->name);
#define PART(T, name) same_##T(&a->name, &b->name);
#define PARTS(T, name, n)         \
    for (int i = 0; i < (n); i++) \
        same_##T(&a->name[i], &b->name[i]);
#define TEXT(name) same_text(a->name, b->name);
#define NUMBERS(type, name, count)     \
    for (int i = 0; i < a->count; i++) \
        assert_int_equal(a->name[i], b->name[i]);
#define RECORDS(T, name, count)        \
    for (int i = 0; i < a->count; i++) \
        same_##T(&a->name[i], &b->name[i]);
#define TEXTS(name, count)             \
    for (int i = 0; i < a->count; i++) \
        same_text(a->name[i], b->name[i]);
#define FUNCTIONS(type, name, count)     \
    for (int i = 0; i < a->count; i++) { \
        assert_null(a->name[i]);         \
        assert_non_null(b->name[i]);     \
    }
#define PRODUCTS(type, name) assert_memory_equal(&a->name, &b->name, sizeof a->name);
#define ONE_OF(kind) switch (a->kind) {
#define CASE(T, name, cases) cases PART(T, name) break;
#define END_ONE_OF(kind) }
#include "runtime/exec/records.def"

/* The example trains: it has steps of all kinds but one. */
static void has_all_kinds(const TfcProgram *program)
{
    int kinds[TFC_STEP_ZERO + 1] = {0};
    for (int i = 0; i < program->n_steps; i++)
        kinds[program->steps[i].kind]++;
    for (int i = 0; i <= TFC_STEP_ZERO; i++)
        assert_true(i == TFC_STEP_PACK || kinds[i] > 0);
}

static void tables_round_trip(void **state)
{
    (void)state;
    Case c;
    ObjectSet set;
    open_case(&c);
    compile(&c, 1, NULL, "", &set);
    Jit *jit = jit_new(NULL, &c.diags);
    const TfcProgram *loaded = jit ? jit_load(jit, &set, &c.diags) : NULL;
    if (!loaded)
        fail_with(&c);
    has_all_kinds(set.programs[0]);
    same_TfcProgram(set.programs[0], loaded);
    jit_free(jit);
    arena_free(c.arena);
}

/* ---- object files ---- */

static void same_on_any_threads(void **state)
{
    (void)state;
    Case c;
    ObjectSet one, three;
    open_case(&c);
    setenv("OMP_NUM_THREADS", "1", 1);
    compile(&c, 2, NULL, "m_", &one);
    setenv("OMP_NUM_THREADS", "3", 1);
    compile(&c, 2, NULL, "m_", &three);
    unsetenv("OMP_NUM_THREADS");
    assert_int_equal(one.n_files, three.n_files);
    for (int i = 0; i < one.n_files; i++) {
        assert_int_equal(one.files[i].size, three.files[i].size);
        assert_memory_equal(one.files[i].bytes, three.files[i].bytes, one.files[i].size);
    }
    arena_free(c.arena);
}

typedef struct Symbols {
    int n, kernels, programs;
} Symbols;

/* Global names of an object file: defined ones must begin with the prefix. */
static void read_symbols(const ObjectFile *file, const char *prefix, Symbols *out)
{
    const char *bytes = file->bytes;
    const Elf64_Ehdr *elf = file->bytes;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(bytes + elf->e_shoff);
    for (int s = 0; s < elf->e_shnum; s++) {
        if (sections[s].sh_type != SHT_SYMTAB)
            continue;
        const char *names = bytes + sections[sections[s].sh_link].sh_offset;
        const Elf64_Sym *symbols = (const Elf64_Sym *)(bytes + sections[s].sh_offset);
        for (size_t i = 0; i < sections[s].sh_size / sizeof *symbols; i++) {
            const Elf64_Sym *symbol = &symbols[i];
            if (ELF64_ST_BIND(symbol->st_info) != STB_GLOBAL || symbol->st_shndx == SHN_UNDEF)
                continue;
            assert_memory_equal(names + symbol->st_name, prefix, strlen(prefix));
            bool program = ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT;
            assert_int_equal(ELF64_ST_VISIBILITY(symbol->st_other),
                             program ? STV_DEFAULT : STV_HIDDEN);
            *(program ? &out->programs : &out->kernels) += 1;
        }
    }
}

static void names_carry_the_prefix(void **state)
{
    (void)state;
    static const struct {
        const char *triple, *cpu;
        int machine;
    } targets[] = {{NULL, "x86-64-v3", EM_X86_64},
                   {"aarch64-linux-gnu", NULL, EM_AARCH64},
                   {"aarch64-linux-gnu", "neoverse-n1", EM_AARCH64},
                   {"riscv64-linux-gnu", NULL, EM_RISCV}};
    for (size_t t = 0; t < sizeof targets / sizeof targets[0]; t++) {
        Case c;
        ObjectSet set;
        Symbols symbols = {0};
        open_case(&c);
        TargetOptions options = {
            .cpu = targets[t].cpu, .opt_level = 2, .triple = targets[t].triple};
        compile(&c, 2, &options, "model_v3_", &set);
        assert_int_equal(set.n_programs, 2);
        assert_string_equal(set.symbols[0], "model_v3_f");
        assert_string_equal(set.symbols[1], "model_v3_g");
        for (int i = 0; i < set.n_files; i++) {
            assert_int_equal(((const Elf64_Ehdr *)set.files[i].bytes)->e_machine,
                             targets[t].machine);
            read_symbols(&set.files[i], "model_v3_", &symbols);
        }
        assert_int_equal(symbols.programs, 2);
        assert_int_equal(symbols.kernels, set.n_kernels);
        arena_free(c.arena);
    }
}

static void targets_are_checked(void **state)
{
    (void)state;
    static const struct {
        const char *triple, *cpu, *message;
    } rows[] = {{"pdp11-dec-unix", NULL, "there is no code generator for"},
                {"wasm64-wasi", NULL, "there is no code generator for"},
                {"aarch64-linux-gnu", "x86-64-v3", "no CPU is called"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        Case c;
        ObjectSet set;
        open_case(&c);
        TargetOptions options = {.cpu = rows[i].cpu, .opt_level = 2, .triple = rows[i].triple};
        assert_false(
            object_compile(c.functions, 1, &options, "", NULL, NULL, c.arena, &set, &c.diags));
        assert_int_equal(c.diags.errors, 1);
        assert_non_null(strstr(c.diags.list.data[0].message, rows[i].message));
        arena_free(c.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_round_trip),
        cmocka_unit_test(same_on_any_threads),
        cmocka_unit_test(names_carry_the_prefix),
        cmocka_unit_test(targets_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
