/* llama.cpp's names of tensors (gguf-py/gguf/constants.py, convert_hf_to_gguf.py) beside
 * those of Hugging Face's classes. */
#include "driver/formats/gguf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LLAMA_BLOCK "model.layers.*."
#define LLAMA_NAMES(query_rows, key_rows)                                                    \
    {"token_embd.weight", "model.embed_tokens.weight", GGUF_SAME},                           \
        {"output_norm.weight", "model.norm.weight", GGUF_SAME},                              \
        {"output.weight", "lm_head.weight", GGUF_SAME},                                      \
        {"blk.*.attn_norm.weight", LLAMA_BLOCK "input_layernorm.weight", GGUF_SAME},         \
        {"blk.*.attn_q.weight", LLAMA_BLOCK "self_attn.q_proj.weight", query_rows},          \
        {"blk.*.attn_q.bias", LLAMA_BLOCK "self_attn.q_proj.bias", query_rows},              \
        {"blk.*.attn_k.weight", LLAMA_BLOCK "self_attn.k_proj.weight", key_rows},            \
        {"blk.*.attn_k.bias", LLAMA_BLOCK "self_attn.k_proj.bias", key_rows},                \
        {"blk.*.attn_v.weight", LLAMA_BLOCK "self_attn.v_proj.weight", GGUF_SAME},           \
        {"blk.*.attn_v.bias", LLAMA_BLOCK "self_attn.v_proj.bias", GGUF_SAME},               \
        {"blk.*.attn_output.weight", LLAMA_BLOCK "self_attn.o_proj.weight", GGUF_SAME},      \
        {"blk.*.attn_output.bias", LLAMA_BLOCK "self_attn.o_proj.bias", GGUF_SAME},          \
        {"blk.*.ffn_norm.weight", LLAMA_BLOCK "post_attention_layernorm.weight", GGUF_SAME}, \
        {"blk.*.ffn_gate.weight", LLAMA_BLOCK "mlp.gate_proj.weight", GGUF_SAME},            \
        {"blk.*.ffn_up.weight", LLAMA_BLOCK "mlp.up_proj.weight", GGUF_SAME},                \
    {                                                                                        \
        "blk.*.ffn_down.weight", LLAMA_BLOCK "mlp.down_proj.weight", GGUF_SAME               \
    }
#define END {.theirs = NULL}

static const GgufName llama[] = {LLAMA_NAMES(GGUF_ROWS, GGUF_KEY_ROWS), END};
static const GgufName qwen2[] = {LLAMA_NAMES(GGUF_SAME, GGUF_SAME), END};
static const GgufName qwen3[] = {
    LLAMA_NAMES(GGUF_SAME, GGUF_SAME),
    {"blk.*.attn_q_norm.weight", LLAMA_BLOCK "self_attn.q_norm.weight", GGUF_SAME},
    {"blk.*.attn_k_norm.weight", LLAMA_BLOCK "self_attn.k_norm.weight", GGUF_SAME},
    END};
#define GPT2_BLOCK "transformer.h.*."
#define GPT2_LINEAR(theirs, ours)                                            \
    {"blk.*." theirs ".weight", GPT2_BLOCK ours ".weight", GGUF_TRANSPOSED}, \
    {                                                                        \
        "blk.*." theirs ".bias", GPT2_BLOCK ours ".bias", GGUF_SAME          \
    }
#define GPT2_NORM(theirs, ours) \
    {theirs ".weight", ours ".weight", GGUF_SAME}, { theirs ".bias", ours ".bias", GGUF_SAME }
static const GgufName gpt2[] = {{"token_embd.weight", "transformer.wte.weight", GGUF_SAME},
                                {"position_embd.weight", "transformer.wpe.weight", GGUF_SAME},
                                {"output.weight", "lm_head.weight", GGUF_SAME},
                                GPT2_NORM("output_norm", "transformer.ln_f"),
                                GPT2_NORM("blk.*.attn_norm", GPT2_BLOCK "ln_1"),
                                GPT2_NORM("blk.*.ffn_norm", GPT2_BLOCK "ln_2"),
                                GPT2_LINEAR("attn_qkv", "attn.c_attn"),
                                GPT2_LINEAR("attn_output", "attn.c_proj"),
                                GPT2_LINEAR("ffn_up", "mlp.c_fc"),
                                GPT2_LINEAR("ffn_down", "mlp.c_proj"),
                                END};

/* Where a name of either kind stands twice, the first row is what is written. */
static const GgufArchitecture architectures[] = {
    {"llama", "llama", llama}, {"llama", "mistral", llama}, {"qwen2", "qwen2", qwen2},
    {"qwen3", "qwen3", qwen3}, {"gpt2", "gpt2", gpt2},
};
enum { N_ARCHITECTURES = sizeof architectures / sizeof *architectures };

const GgufArchitecture *gguf_architecture(const char *name)
{
    for (int i = 0; i < N_ARCHITECTURES; i++)
        if (!strcmp(architectures[i].name, name))
            return &architectures[i];
    return NULL;
}

const GgufArchitecture *gguf_architecture_of(const char *model_type)
{
    for (int i = 0; i < N_ARCHITECTURES; i++)
        if (!strcmp(architectures[i].model_type, model_type))
            return &architectures[i];
    return NULL;
}

/* Whether a name is the pattern with a number for its "*". */
static bool fits(const char *pattern, const char *name, int64_t *block)
{
    enum { LONGEST = 9 }; /* digits */
    const char *star = strchr(pattern, '*');
    *block = -1;
    if (!star)
        return !strcmp(pattern, name);
    const size_t front = (size_t)(star - pattern);
    if (strncmp(pattern, name, front))
        return false;
    const size_t digits = strspn(name + front, "0123456789");
    if (!digits || digits > LONGEST || strcmp(star + 1, name + front + digits))
        return false;
    *block = strtoll(name + front, NULL, 10);
    return true;
}

const GgufName *gguf_name(const GgufArchitecture *architecture, const char *name, bool published,
                          int64_t *block)
{
    for (const GgufName *row = architecture->names; row->theirs; row++)
        if (fits(published ? row->published : row->theirs, name, block))
            return row;
    return NULL;
}

const char *gguf_name_text(Arena *arena, const char *pattern, int64_t block)
{
    const char *star = strchr(pattern, '*');
    return star ? arena_printf(arena, "%.*s%" PRId64 "%s", (int)(star - pattern), pattern, block,
                               star + 1)
                : pattern;
}
