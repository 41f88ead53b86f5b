/* Object code: the loaded tables equal the planned ones field by field, object files
 * do not depend on the number of threads, names carry the prefix, other targets. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "codegen/jit.h"
#include "ir/text.h"

#include <elf.h>
#include <omp.h>
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
    Module *module = ir_parse(c->arena, &c->diags, diag_source(c->arena, "t.tir", text, strlen(text)));
    if (!module || !ir_verify(module, &c->diags))
        fail_with(c);
    c->functions[0] = module->functions.data[0];
    c->functions[1] = module->functions.data[1];
}

static void compile(Case *c, int n, const TargetOptions *options, const char *prefix, ObjectSet *out)
{
    if (!object_compile(c->functions, n, options, prefix, c->arena, out, &c->diags))
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

static void same_sizes(const TfcProgram *a, const TfcProgram *b)
{
    assert_true(a->n_sizes > 1 && a->sizes != b->sizes);
    assert_int_equal(a->sizes[TFC_SIZE_ZERO].coefficient, 0);
    for (int s = 0; s < a->n_sizes; s++) {
        const TfcSize *x = &a->sizes[s], *y = &b->sizes[s];
        assert_int_equal(x->coefficient, y->coefficient);
        assert_int_equal(x->n_factors, y->n_factors);
        for (int i = 0; i < x->n_factors; i++) {
            assert_int_equal(x->factors[i].dim, y->factors[i].dim);
            assert_int_equal(x->factors[i].quantity, y->factors[i].quantity);
        }
    }
}

static void same_shape(const TfcShape *a, const TfcShape *b)
{
    assert_int_equal(a->rank, b->rank);
    for (int i = 0; i < a->rank; i++) {
        assert_int_equal(a->dims[i].size, b->dims[i].size);
        assert_int_equal(a->dims[i].dim, b->dims[i].dim);
    }
}

static void same_kernel_step(const TfcKernelStep *a, const TfcKernelStep *b)
{
    assert_int_equal(a->kernel, b->kernel);
    assert_int_equal(a->n_views, b->n_views);
    assert_int_equal(a->n_results, b->n_results);
    assert_int_equal(a->n_dims, b->n_dims);
    assert_int_equal(a->n_ints, b->n_ints);
    for (int i = 0; i < a->n_views; i++) {
        const TfcView *v = &a->views[i], *w = &b->views[i];
        assert_true(v != w);
        assert_int_equal(v->buffer, w->buffer);
        assert_int_equal(v->n_axes, w->n_axes);
        assert_int_equal(v->offset, w->offset);
        for (int j = 0; j < v->n_axes; j++)
            assert_int_equal(v->strides[j], w->strides[j]);
    }
    for (int i = 0; i < a->n_dims; i++)
        assert_int_equal(a->dims[i], b->dims[i]);
    for (int i = 0; i < a->n_ints; i++)
        assert_int_equal(a->ints[i], b->ints[i]);
    assert_int_equal(a->range, b->range);
    assert_int_equal(a->work, b->work);
}

static void same_matrix(const TfcMatrix *a, const TfcMatrix *b, int loops)
{
    assert_int_equal(a->buffer, b->buffer);
    assert_int_equal(a->offset, b->offset);
    for (int i = 0; i < loops; i++)
        assert_int_equal(a->loop_strides[i], b->loop_strides[i]);
    assert_int_equal(a->ragged_dim, b->ragged_dim);
    assert_int_equal(a->ragged_stride, b->ragged_stride);
    assert_int_equal(a->row_stride, b->row_stride);
    assert_int_equal(a->column_stride, b->column_stride);
}

static void same_extent(const TfcExtent *a, const TfcExtent *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->dim, b->dim);
    assert_int_equal(a->size, b->size);
}

static void same_gemm(const TfcGemmStep *a, const TfcGemmStep *b)
{
    assert_int_equal(a->type, b->type);
    assert_int_equal(a->accumulate, b->accumulate);
    assert_int_equal(a->packed, b->packed);
    assert_int_equal(a->n_loops, b->n_loops);
    assert_int_equal(a->batch_loop, b->batch_loop);
    same_matrix(&a->a, &b->a, a->n_loops);
    same_matrix(&a->b, &b->b, a->n_loops);
    same_matrix(&a->c, &b->c, a->n_loops);
    same_extent(&a->m, &b->m);
    same_extent(&a->n, &b->n);
    same_extent(&a->k, &b->k);
    for (int i = 0; i < a->n_loops; i++) {
        assert_int_equal(a->loops[i], b->loops[i]);
        assert_int_equal(a->loop_lengths[i], b->loop_lengths[i]);
    }
}

static void same_steps(const TfcProgram *a, const TfcProgram *b)
{
    int kinds[TFC_STEP_ZERO + 1] = {0};
    for (int i = 0; i < a->n_steps; i++) {
        const TfcStep *x = &a->steps[i], *y = &b->steps[i];
        assert_int_equal(x->kind, y->kind);
        same_text(x->name, y->name);
        kinds[x->kind]++;
        if (x->kind == TFC_STEP_KERNEL)
            same_kernel_step(&x->kernel, &y->kernel);
        else if (x->kind == TFC_STEP_GEMM || x->kind == TFC_STEP_PACK)
            same_gemm(&x->gemm, &y->gemm);
        else {
            assert_int_equal(x->copy.to, y->copy.to);
            assert_int_equal(x->copy.from, y->copy.from);
            assert_int_equal(x->copy.size, y->copy.size);
        }
    }
    for (int i = 0; i <= TFC_STEP_ZERO; i++)
        assert_true(i == TFC_STEP_PACK || kinds[i] > 0); /* the example trains: it has them all but one */
}

static void same_ports(const TfcPort *a, const TfcPort *b, int n)
{
    for (int i = 0; i < n; i++) {
        same_text(a[i].name, b[i].name);
        assert_int_equal(a[i].type, b[i].type);
        assert_int_equal(a[i].buffer, b[i].buffer);
        same_shape(&a[i].shape, &b[i].shape);
    }
}

static void same_tensors(const TfcProgram *a, const TfcProgram *b)
{
    for (int i = 0; i < a->n_tensors; i++) {
        const TfcTensor *x = &a->tensors[i], *y = &b->tensors[i];
        same_text(x->name, y->name);
        same_text(x->file, y->file);
        same_text(x->tensor, y->tensor);
        same_shape(&x->shape, &y->shape);
        assert_int_equal(x->type, y->type);
        assert_int_equal(x->role, y->role);
        assert_int_equal(x->init, y->init);
        assert_int_equal(x->buffer, y->buffer);
        assert_true(x->a == y->a && x->b == y->b);
    }
}

static void same_buffers(const TfcProgram *a, const TfcProgram *b)
{
    for (int i = 0; i < a->n_buffers; i++) {
        const TfcBuffer *x = &a->buffers[i], *y = &b->buffers[i];
        assert_int_equal(x->kind, y->kind);
        assert_int_equal(x->type, y->type);
        assert_int_equal(x->index, y->index);
        assert_int_equal(x->first, y->first);
        assert_int_equal(x->last, y->last);
        assert_int_equal(x->size, y->size);
    }
}

static void same_program(const TfcProgram *a, const TfcProgram *b)
{
    assert_true(a != b);
    same_text(a->name, b->name);
    assert_int_equal(a->n_dims, b->n_dims);
    assert_int_equal(a->n_sizes, b->n_sizes);
    assert_int_equal(a->n_buffers, b->n_buffers);
    assert_int_equal(a->n_steps, b->n_steps);
    assert_int_equal(a->n_kernels, b->n_kernels);
    assert_int_equal(a->n_inputs, b->n_inputs);
    assert_int_equal(a->n_outputs, b->n_outputs);
    assert_int_equal(a->n_tensors, b->n_tensors);
    for (int i = 0; i < a->n_dims; i++) {
        same_text(a->dims[i].name, b->dims[i].name);
        assert_int_equal(a->dims[i].batch, b->dims[i].batch);
    }
    same_sizes(a, b);
    same_buffers(a, b);
    same_steps(a, b);
    for (int i = 0; i < a->n_kernels; i++) {
        same_text(a->kernel_names[i], b->kernel_names[i]);
        assert_null(a->kernels[i]);
        assert_non_null(b->kernels[i]);
    }
    assert_memory_equal(&a->products, &b->products, sizeof a->products);
    same_ports(a->inputs, b->inputs, a->n_inputs);
    same_ports(a->outputs, b->outputs, a->n_outputs);
    same_tensors(a, b);
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
    same_program(set.programs[0], loaded);
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
    int threads = omp_get_max_threads();
    omp_set_num_threads(1);
    compile(&c, 2, NULL, "m_", &one);
    omp_set_num_threads(3);
    compile(&c, 2, NULL, "m_", &three);
    omp_set_num_threads(threads);
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
        TargetOptions options = {.cpu = targets[t].cpu, .opt_level = 2, .triple = targets[t].triple};
        compile(&c, 2, &options, "model_v3_", &set);
        assert_int_equal(set.n_programs, 2);
        assert_string_equal(set.symbols[0], "model_v3_f");
        assert_string_equal(set.symbols[1], "model_v3_g");
        for (int i = 0; i < set.n_files; i++) {
            assert_int_equal(((const Elf64_Ehdr *)set.files[i].bytes)->e_machine, targets[t].machine);
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
        assert_false(object_compile(c.functions, 1, &options, "", c.arena, &set, &c.diags));
        assert_int_equal(c.diags.errors, 1);
        assert_non_null(strstr(c.diags.list.data[0].message, rows[i].message));
        arena_free(c.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_round_trip), cmocka_unit_test(same_on_any_threads),
        cmocka_unit_test(names_carry_the_prefix), cmocka_unit_test(targets_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
