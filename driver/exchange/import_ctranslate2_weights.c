/* From CTranslate2's variables to the tensors of Hugging Face's Marian, BART, mBART and M2M-100
 * classes, which share the names of their layers. */
#include "base/file.h"
#include "driver/exchange/import_ctranslate2_model.h"

#include <inttypes.h>
#include <string.h>

typedef struct SpecWeights {
    SpecImport *m;
    VEC(StTensor) tensors;
    int64_t elements; /* of them all */
} SpecWeights;

/* SpecPart: a layer of the specification, and the published one: part `part` of `parts` equal ones
 * along the first axis of its variables. */
typedef struct SpecPart {
    const char *theirs, *published;
    int part, parts;
    bool is_norm;
} SpecPart;
static const SpecPart of_self[] = {
    {"self_attention/linear_0", "self_attn.q_proj", 0, 3, false},
    {"self_attention/linear_0", "self_attn.k_proj", 1, 3, false},
    {"self_attention/linear_0", "self_attn.v_proj", 2, 3, false},
    {"self_attention/linear_1", "self_attn.out_proj", 0, 1, false},
    {"self_attention/layer_norm", "self_attn_layer_norm", 0, 1, true},
    {"ffn/linear_0", "fc1", 0, 1, false},
    {"ffn/linear_1", "fc2", 0, 1, false},
    {"ffn/layer_norm", "final_layer_norm", 0, 1, true},
};
static const SpecPart of_cross[] = {
    {"attention/linear_0", "encoder_attn.q_proj", 0, 1, false},
    {"attention/linear_1", "encoder_attn.k_proj", 0, 2, false},
    {"attention/linear_1", "encoder_attn.v_proj", 1, 2, false},
    {"attention/linear_2", "encoder_attn.out_proj", 0, 1, false},
    {"attention/layer_norm", "encoder_attn_layer_norm", 0, 1, true},
};
static const SpecPart last_norm[] = {{"layer_norm", "layer_norm", 0, 1, true}};
static const SpecPart embedding_norm[] = {
    {"layernorm_embedding", "layernorm_embedding", 0, 1, true}};
#define COUNT(list) ((int)(sizeof(list) / sizeof *(list)))

/* ---- tensors ---- */

static int float_bytes(const StTensor *tensor)
{
    return tensor->type == ST_F32 ? 4 : tensor->type == ST_F16 || tensor->type == ST_BF16 ? 2 : 0;
}

/* Elements of the tensor from the i-th on, after and before rows of zeros, of so many elements. In
 * place where there are none; integers become f32. NULL: there is no memory. */
static const void *elements(const SpecWeights *w, const StTensor *from, int64_t first, int64_t n,
                            int64_t before, int64_t behind)
{
    const int64_t bytes = float_bytes(from), each = bytes ? bytes : (int64_t)sizeof(float);
    const char *data = bytes ? (const char *)from->data + first * bytes : NULL;
    if (data && !before && !behind)
        return data;
    char *made = arena_array(w->m->job->arena, (size_t)(before + n + behind) + 1, (size_t)each);
    if (!made)
        return NULL;
    memset(made, 0, (size_t)(before * each));
    char *at = made + before * each;
    if (data)
        memcpy(at, data, (size_t)(n * each));
    else if (!st_floats(from, first, n, (float *)(void *)at))
        for (int64_t i = 0; i < n; i++)
            ((float *)(void *)at)[i] = (float)st_value(from, first + i);
    memset(at + n * each, 0, (size_t)(behind * each));
    return made;
}

/* A tensor `name` of the rank: part `part` of `parts` equal ones along the variable's first axis.
 * `before` and `behind`: how many rows of zeros are put in front of it and after it. */
static bool put(SpecWeights *w, const char *name, const char *variable, int rank, int part,
                int parts, int64_t before, int64_t behind)
{
    SpecImport *m = w->m;
    const StTensor *from = spec_need(m, variable);
    if (!from)
        return false;
    if (from->rank != rank || from->dims[0] % parts)
        return job_error(
            m->job, "%s: the variable '%s' has the shape %s; expected %s of a multiple of %d %s",
            m->file->path, variable, text_list(m->job->arena, from->dims, from->rank),
            rank == 2 ? "a matrix" : "a vector", parts, rank == 2 ? "rows" : "elements");
    const int64_t n = from->count / parts, width = rank == 2 ? from->dims[1] : 1;
    w->elements += n;
    if (w->elements > (int64_t)m->file->map_bytes)
        return job_error(m->job,
                         "%s: variables with several names make the model larger than its file",
                         m->file->path);
    StTensor tensor = {.name = name, .type = float_bytes(from) ? from->type : ST_F32, .rank = rank};
    memcpy(tensor.dims, from->dims, sizeof from->dims);
    tensor.dims[0] = before + from->dims[0] / parts + behind;
    tensor.data = elements(w, from, n * part, n, before * width, behind * width);
    if (!tensor.data)
        return job_no_memory(m->job);
    vec_push(m->job->arena, w->tensors, tensor);
    return true;
}

/* The parts of what is called `theirs` there and `published` here. */
static bool put_parts(SpecWeights *w, const char *theirs, const char *published,
                      const SpecPart *parts, int n)
{
    static const char *const linear[] = {"weight", "bias"}, *const norm[] = {"gamma", "beta"};
    Arena *arena = w->m->job->arena;
    bool ok = true;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 2; k++)
            ok = put(w, arena_printf(arena, "%s.%s.%s", published, parts[i].published, linear[k]),
                     arena_printf(arena, "%s/%s/%s", theirs, parts[i].theirs,
                                  (parts[i].is_norm ? norm : linear)[k]),
                     k || parts[i].is_norm ? 1 : 2, parts[i].part, parts[i].parts, 0, 0) &&
                 ok;
    return ok;
}

static bool put_side(SpecWeights *w, int side)
{
    SpecImport *m = w->m;
    const char *name = spec_side(side);
    const char *published = arena_printf(m->job->arena, "model.%s", name);
    bool ok = (!m->family->pre_norm || put_parts(w, name, published, last_norm, 1)) &&
              (!m->family->embedding_norm || put_parts(w, name, published, embedding_norm, 1));
    if (m->family->positions == POSITIONS_LEARNED)
        ok = ok && put(w, arena_printf(m->job->arena, "%s.embed_positions.weight", published),
                       arena_printf(m->job->arena, "%s/position_encodings/encodings", name), 2, 0,
                       1, ROWS_BEFORE, 0);
    for (int64_t i = 0; ok && i < m->layers[side]; i++) {
        const char *theirs = arena_printf(m->job->arena, "%s/layer_%" PRId64, name, i);
        const char *ours = arena_printf(m->job->arena, "%s.layers.%" PRId64, published, i);
        ok = put_parts(w, theirs, ours, of_self, COUNT(of_self)) &&
             (!side || put_parts(w, theirs, ours, of_cross, COUNT(of_cross)));
    }
    return ok;
}

/* ---- the table ---- */

static bool is_same(const StTensor *a, const StTensor *b)
{
    const StScales *x = &a->scales, *y = &b->scales;
    const size_t factors = a->type == ST_I8 ? (size_t)a->dims[0] : 1;
    return a->type == b->type && a->bytes == b->bytes && a->rank == b->rank &&
           !memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) && !x->data == !y->data &&
           (!x->data || !memcmp(x->data, y->data, factors * sizeof(float))) &&
           (a->data == b->data || !memcmp(a->data, b->data, a->bytes));
}

/* One table is embedding of both sides and output. */
static bool check_tied(SpecImport *m)
{
    static const char *const others[] = {"encoder/embeddings_0/weight",
                                         "decoder/projection/weight"};
    const StTensor *table = spec_need(m, "decoder/embeddings/weight");
    for (int i = 0; table && i < 2; i++) {
        const StTensor *other = spec_need(m, others[i]);
        if (!other)
            return false;
        if (!is_same(other, table))
            return job_error(m->job, "%s: '%s' is another table than '%s': %s has one for both",
                             m->file->path, others[i], table->name, m->family->model);
    }
    return table != NULL;
}

/* The bias of the logits is left out where it is zeros. */
static bool put_bias(SpecWeights *w, int64_t behind)
{
    static const char variable[] = "decoder/projection/bias";
    SpecImport *m = w->m;
    if (!m->family->has_bias)
        return true;
    if (spec_find(m, variable)) {
        if (!put(w, "final_logits_bias", variable, 1, 0, 1, 0, behind))
            return false;
    } else {
        const int64_t n = (int64_t)m->tokens.count + behind;
        float *zeros = arena_array(m->job->arena, (size_t)n, sizeof *zeros);
        if (!zeros)
            return job_no_memory(m->job);
        memset(zeros, 0, (size_t)n * sizeof *zeros);
        vec_push(m->job->arena, w->tensors,
                 ((StTensor){.name = "final_logits_bias",
                             .type = ST_F32,
                             .rank = 1,
                             .dims = {n},
                             .data = zeros}));
    }
    StTensor *bias = &vec_last(w->tensors); /* published with an axis more */
    bias->rank = 2;
    bias->dims[1] = bias->dims[0];
    bias->dims[0] = 1;
    return true;
}

/* What nobody here knows may change what the model computes. */
static bool check_unused(const SpecImport *m)
{
    bool ok = true;
    for (int64_t i = 0; ok && i < m->file->n; i++) {
        const char *name = m->file->tensors[i].name;
        if (!map_has(&m->used, name) && !text_ends(name, "/keep_in_float32"))
            ok = job_error(m->job, "%s: %s has nothing like the variable '%s'", m->file->path,
                           m->family->model, text_visible_name(m->job->arena, name));
    }
    return ok;
}

bool spec_write_weights(SpecImport *m)
{
    SpecWeights w = {.m = m};
    const int64_t behind = m->family->from_zeros; /* <pad> */
    return check_tied(m) &&
           put(&w, "model.shared.weight", "decoder/embeddings/weight", 2, 0, 1, 0, behind) &&
           put_bias(&w, behind) && put_side(&w, 0) && put_side(&w, 1) && check_unused(m) &&
           st_write(&m->job->diags, file_in(m->job->arena, m->to, "model.safetensors"),
                    w.tensors.data, (int64_t)w.tensors.count, NULL, 0);
}
