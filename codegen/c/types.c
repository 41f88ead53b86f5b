/* C types of loop IR and small helpers, each written when it is first needed. */
#include "codegen/c/render_state.h"

#include <assert.h>
#include <string.h>

bool c_is_mask(LoType type) { return lo_is_vector(type) && lo_element_kind(type) == LO_I1; }

/* Whether this is the first time. */
static bool is_new(CRender *r, const char *name)
{
    if (map_has(&r->seen, name))
        return false;
    map_set(&r->seen, name, r);
    return true;
}

/* ---- types ---- */

static const char *scalar_name(LoType element)
{
    switch (lo_element_kind(element)) {
    case LO_I1: return "bool";
    case LO_PTR: return "char *";
    default: return lo_element_name(lo_element_kind(element));
    }
}

static int bytes_of(LoType element) { return lo_bits(element) < 8 ? 1 : lo_bits(element) / 8; }

static const char *vector_of(CRender *r, const char *element, int bytes, int lanes)
{
    const char *name = arena_printf(r->arena, "%sx%d", element, lanes);
    if (is_new(r, name))
        text_add(&r->types, "typedef %s %s __attribute__((vector_size(%d)));\n", element, name,
                 bytes * lanes);
    return name;
}

const char *c_type(CRender *r, LoType type)
{
    LoType element = lo_element(type);
    if (!lo_is_vector(type))
        return scalar_name(type);
    assert(element != lo_i1 && "masks have a width of their own");
    return vector_of(r, element == lo_ptr ? "i64" : scalar_name(element), bytes_of(element),
                     lo_lanes(type));
}

const char *c_integers(CRender *r, LoType type, bool is_signed)
{
    int bits = lo_bits(lo_element(type));
    const char *element = arena_printf(r->arena, "%c%d", is_signed ? 'i' : 'u', bits);
    return lo_is_vector(type) ? vector_of(r, element, bits / 8, lo_lanes(type)) : element;
}

const char *c_mask_type(CRender *r, int bits, int lanes)
{
    return vector_of(r, arena_printf(r->arena, "i%d", bits), bits / 8, lanes);
}

const char *c_memory_type(CRender *r, LoType type, int align)
{
    LoType element = lo_element(type);
    int bytes = bytes_of(element);
    bool loose = align && align < bytes;
    const char *plain = element == lo_ptr ? "ptr" : c_type(r, type);
    const char *name = loose ? arena_printf(r->arena, "%s_at%d", plain, align)
                             : arena_printf(r->arena, "%s_at", plain);
    if (r->dialect->device && loose)
        diag_error(r->diags, (Loc){0}, "OpenCL C has no %s at a multiple of %d bytes", plain,
                   align);
    if (r->dialect->device || !is_new(r, name))
        return name;
    if (element == lo_ptr)
        text_add(&r->types, "typedef char *ptr_at __attribute__((may_alias));\n");
    else if (lo_is_vector(type))
        text_add(&r->types,
                 "typedef %s %s __attribute__((vector_size(%d), aligned(%d), may_alias));\n",
                 scalar_name(element), name, bytes * lo_lanes(type), loose ? align : bytes);
    else
        text_add(&r->types, "typedef %s %s __attribute__((aligned(%d), may_alias));\n", plain, name,
                 loose ? align : bytes);
    return name;
}

/* ---- helpers of vectors ----
 *
 * Macros, not functions: vectors that are passed to functions have an ABI that depends on the
 * processor. */

const char *c_splat(CRender *r, LoType type)
{
    const char *vector = c_type(r, type);
    /* vectors of pointers are vectors of integers */
    const bool is_ptr = lo_element(type) == lo_ptr;
    const char *name = arena_printf(r->arena, "splat_%s%s", is_ptr ? "ptr_" : "", vector);
    if (!is_new(r, name))
        return name;
    text_add(&r->types, "#define %s(x) __extension__({ %s s_ = (x); (%s){", name,
             c_type(r, lo_element(type)), vector);
    for (int i = 0; i < lo_lanes(type); i++)
        text_add(&r->types, "%s%ss_", i ? ", " : "", is_ptr ? "(i64)(intptr_t)" : "");
    text_add(&r->types, "}; })\n");
    return name;
}

/* In parentheses: a macro that takes it would read each comma of the braces as its own. */
const char *c_iota(CRender *r, LoType type)
{
    const char *vector = c_type(r, type);
    const char *name = arena_printf(r->arena, "iota_%s", vector);
    if (!is_new(r, name))
        return name;
    text_add(&r->types, "#define %s ((%s){", name, vector);
    for (int i = 0; i < lo_lanes(type); i++)
        text_add(&r->types, "%s%d", i ? ", " : "", i);
    text_add(&r->types, "})\n");
    return name;
}

const char *c_select(CRender *r, LoType type)
{
    const char *vector = c_type(r, type), *words = c_integers(r, type, true);
    const char *name = arena_printf(r->arena, "select_%s", vector);
    if (is_new(r, name))
        text_add(&r->types,
                 "#define %s(mask, a, b) \\\n"
                 "    __extension__({ %s m_ = (mask); (%s)((m_ & (%s)(a)) | (~m_ & (%s)(b))); })\n",
                 name, words, vector, words, words);
    return name;
}

static bool has_x86_masked(LoType type)
{
    int bits = lo_bits(lo_element(type)), total = bits * lo_lanes(type);
    return bits >= 8 && (total == 128 || total == 256 || total == 512);
}

/* By an instruction under a mask: of AVX-512, and for what fits AVX2 by the sign of each lane. */
static void add_x86_masked(CRender *r, const char *name, LoType type, bool stores)
{
    int bits = lo_bits(lo_element(type)), total = bits * lo_lanes(type);
    const char *vector = c_type(r, type), *word = bits == 64 ? "long long" : "int";
    const char *mm = total == 128 ? "_mm" : arena_printf(r->arena, "_mm%d", total);
    const char *mask = arena_printf(r->arena, "(__m%di)(mask)", total);
    const char *bit = arena_printf(r->arena, "%s_movepi%d_mask(%s)", mm, bits, mask);
    text_add(&r->types,
             "#if defined(__AVX512DQ__) && defined(__AVX512BW__) && defined(__AVX512VL__)\n");
    if (stores)
        text_add(&r->types, "#define %s(x, p, mask) %s_mask_storeu_epi%d(p, %s, (__m%di)(x))\n",
                 name, mm, bits, bit, total);
    else
        text_add(&r->types, "#define %s(p, mask) ((%s)%s_maskz_loadu_epi%d(%s, p))\n", name, vector,
                 mm, bits, bit);
    bool by_sign = total <= 256 && bits >= 32;
    if (by_sign)
        text_add(&r->types, "#elif defined(__AVX2__)\n");
    if (by_sign && stores)
        text_add(&r->types,
                 "#define %s(x, p, mask) %s_maskstore_epi%d((%s *)(void *)(p), %s, (__m%di)(x))\n",
                 name, mm, bits, word, mask, total);
    else if (by_sign)
        text_add(&r->types, "#define %s(p, mask) ((%s)%s_maskload_epi%d((%s *)(void *)(p), %s))\n",
                 name, vector, mm, bits, word, mask);
    text_add(&r->types, "#else\n");
}

/* Lane by lane; `place` is where lane l_ lies. */
static void add_by_lanes(CRender *r, const char *name, LoType type, bool stores,
                         const char *address, const char *declare, const char *place)
{
    const char *vector = c_type(r, type), *words = c_integers(r, type, true);
    const char *element = c_memory_type(r, lo_element(type), 0);
    if (stores)
        text_add(
            &r->types,
            "#define %s(x, %s, mask) \\\n"
            "    __extension__({ %s x_ = (x); %s; %s m_ = (mask); \\\n"
            "        for (int l_ = 0; l_ < %d; l_++) { if (m_[l_]) *(%s *)(%s) = x_[l_]; } })\n",
            name, address, vector, declare, words, lo_lanes(type), element, place);
    else
        text_add(
            &r->types,
            "#define %s(%s, mask) \\\n"
            "    __extension__({ %s x_ = {0}; %s; %s m_ = (mask); \\\n"
            "        for (int l_ = 0; l_ < %d; l_++) { if (m_[l_]) x_[l_] = *(%s *)(%s); } \\\n"
            "        x_; })\n",
            name, address, vector, declare, words, lo_lanes(type), element, place);
}

const char *c_masked(CRender *r, LoType type, bool stores)
{
    const char *name =
        arena_printf(r->arena, "%s_%s", stores ? "store_some" : "load_some", c_type(r, type));
    if (!is_new(r, name))
        return name;
    const char *place = arena_printf(r->arena, "p_ + %d * l_", lo_bits(lo_element(type)) / 8);
    c_integers(r, type, true);
    c_memory_type(r, lo_element(type), 0);
    if (has_x86_masked(type))
        add_x86_masked(r, name, type, stores);
    add_by_lanes(r, name, type, stores, "p", "char *p_ = (p)", place);
    if (has_x86_masked(type))
        text_add(&r->types, "#endif\n");
    return name;
}

const char *c_gathered(CRender *r, LoType type, bool stores)
{
    const char *name =
        arena_printf(r->arena, "%s_%s", stores ? "scatter" : "gather", c_type(r, type));
    if (!is_new(r, name))
        return name;
    const char *addresses = c_type(r, lo_like(type, lo_i64));
    c_integers(r, type, true);
    c_memory_type(r, lo_element(type), 0);
    add_by_lanes(r, name, type, stores, "addresses",
                 arena_printf(r->arena, "%s a_ = (addresses)", addresses), "(intptr_t)a_[l_]");
    return name;
}

const char *c_lanes(CRender *r, LoType type, LoType from, const char *function, int n_args)
{
    const char *name = arena_printf(r->arena, "%s_%s", function, c_type(r, type));
    if (!is_new(r, name))
        return name;
    const char *a = c_type(r, from);
    if (n_args == 2)
        text_add(&r->types,
                 "#define %s(x, y) \\\n"
                 "    __extension__({ %s a_ = (x), b_ = (y); \\\n"
                 "        for (int l_ = 0; l_ < %d; l_++) { a_[l_] = %s(a_[l_], b_[l_]); } \\\n"
                 "        a_; })\n",
                 name, a, lo_lanes(type), function);
    else
        text_add(&r->types,
                 "#define %s(x) \\\n"
                 "    __extension__({ %s a_ = (x); %s r_ = {0}; \\\n"
                 "        for (int l_ = 0; l_ < %d; l_++) { r_[l_] = %s(a_[l_]); } \\\n"
                 "        r_; })\n",
                 name, a, c_type(r, type), lo_lanes(type), function);
    return name;
}

/* Fused multiply-adds of vectors of 16, 32 and 64 bytes: names of the compilers' functions for f32
 * and f64. */
static const struct {
    int bytes;
    const char *condition, *names[2], *order;
} fused[] = {{64, "__AVX512F__", {"_mm512_fmadd_ps", "_mm512_fmadd_pd"}, "a, b, c"},
             {32, "__FMA__", {"_mm256_fmadd_ps", "_mm256_fmadd_pd"}, "a, b, c"},
             {16, "__FMA__", {"_mm_fmadd_ps", "_mm_fmadd_pd"}, "a, b, c"},
             {16, "__aarch64__", {"vfmaq_f32", "vfmaq_f64"}, "c, a, b"}};

const char *c_muladd(CRender *r, LoType type)
{
    const char *c = c_type(r, type), *name = arena_printf(r->arena, "muladd_%s", c);
    int bytes = bytes_of(lo_element(type)) * lo_lanes(type), n = 0;
    if (r->dialect->device)
        return "fma";
    if (!lo_is_vector(type) || !is_new(r, name)) /* numbers have fixed helpers */
        return name;
    for (size_t i = 0; i < sizeof fused / sizeof *fused; i++)
        if (fused[i].bytes == bytes)
            text_add(&r->types, "#%s defined(%s)\n#define %s(a, b, c) ((%s)%s(%s))\n",
                     n++ ? "elif" : "if", fused[i].condition, name, c,
                     fused[i].names[lo_element(type) == lo_f64], fused[i].order);
    text_add(
        &r->types,
        "#%s defined(MULADD_IS_FUSED)\n"
        "#define %s(a, b, c) \\\n"
        "    __extension__({ %s a_ = (a), b_ = (b), c_ = (c); \\\n"
        "        for (int l_ = 0; l_ < %d; l_++) { c_[l_] = muladd_%s(a_[l_], b_[l_], c_[l_]); "
        "} \\\n"
        "        c_; })\n"
        "#else\n#define %s(a, b, c) ((a) * (b) + (c))\n#endif\n",
        n ? "elif" : "if", name, c, lo_lanes(type), c_type(r, lo_element(type)), name);
    return name;
}

/* ---- helpers of numbers ---- */

const char *c_to_int(CRender *r, LoType type, LoType from)
{
    LoType to = lo_element(type), real = lo_element(from);
    int bits = lo_bits(to);
    const char *name = arena_printf(r->arena, "%s_to_%s", c_type(r, real), c_type(r, to));
    if (is_new(r, name))
        text_add(&r->types,
                 "/* Toward zero; NaN: 0; too large: the nearest there is. */\n"
                 "static inline %s %s(%s x)\n{\n"
                 "    return x != x ? 0 : x >= 0x1p%d%s ? INT%d_MAX : x < -0x1p%d%s ? INT%d_MIN : "
                 "(%s)x;\n}\n",
                 c_type(r, to), name, c_type(r, real), bits - 1, real == lo_f32 ? "f" : "", bits,
                 bits - 1, real == lo_f32 ? "f" : "", bits, c_type(r, to));
    return lo_is_vector(type) ? c_lanes(r, type, from, name, 1) : name;
}
