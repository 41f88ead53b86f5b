/* llama.cpp's names of tensors (gguf-py/gguf/constants.py, convert_hf_to_gguf.py) beside
 * those of Hugging Face's classes. */
#include "driver/formats/gguf.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK "model.layers.*."
#define EMBEDDING                                                  \
    {"token_embd.weight", "model.embed_tokens.weight", GGUF_SAME}, \
    {                                                              \
        "output.weight", "lm_head.weight", GGUF_SAME               \
    }
#define MATRICES(query_rows, key_rows)                                            \
    {"blk.*.attn_q.weight", BLOCK "self_attn.q_proj.weight", query_rows},         \
        {"blk.*.attn_k.weight", BLOCK "self_attn.k_proj.weight", key_rows},       \
        {"blk.*.attn_v.weight", BLOCK "self_attn.v_proj.weight", GGUF_SAME},      \
        {"blk.*.attn_output.weight", BLOCK "self_attn.o_proj.weight", GGUF_SAME}, \
        {"blk.*.ffn_gate.weight", BLOCK "mlp.gate_proj.weight", GGUF_SAME},       \
        {"blk.*.ffn_up.weight", BLOCK "mlp.up_proj.weight", GGUF_SAME},           \
    {                                                                             \
        "blk.*.ffn_down.weight", BLOCK "mlp.down_proj.weight", GGUF_SAME          \
    }
#define BIASES(query_rows, key_rows)                                       \
    {"blk.*.attn_q.bias", BLOCK "self_attn.q_proj.bias", query_rows},      \
        {"blk.*.attn_k.bias", BLOCK "self_attn.k_proj.bias", key_rows},    \
        {"blk.*.attn_v.bias", BLOCK "self_attn.v_proj.bias", GGUF_SAME},   \
    {                                                                      \
        "blk.*.attn_output.bias", BLOCK "self_attn.o_proj.bias", GGUF_SAME \
    }
#define INNER_BIASES                                                 \
    {"blk.*.ffn_gate.bias", BLOCK "mlp.gate_proj.bias", GGUF_SAME},  \
        {"blk.*.ffn_up.bias", BLOCK "mlp.up_proj.bias", GGUF_SAME},  \
    {                                                                \
        "blk.*.ffn_down.bias", BLOCK "mlp.down_proj.bias", GGUF_SAME \
    }
/* Norms in front of both sublayers, and one behind all layers. */
#define NORMS(feed, gain)                                                 \
    {"output_norm.weight", "model.norm.weight", gain},                    \
        {"blk.*.attn_norm.weight", BLOCK "input_layernorm.weight", gain}, \
    {                                                                     \
        "blk.*.ffn_norm.weight", BLOCK feed ".weight", gain               \
    }
#define NORMS_BEHIND(gain)                                                               \
    {"blk.*.post_attention_norm.weight", BLOCK "post_attention_layernorm.weight", gain}, \
    {                                                                                    \
        "blk.*.post_ffw_norm.weight", BLOCK "post_feedforward_layernorm.weight", gain    \
    }
#define QUERY_NORMS(gain)                                                 \
    {"blk.*.attn_q_norm.weight", BLOCK "self_attn.q_norm.weight", gain},  \
    {                                                                     \
        "blk.*.attn_k_norm.weight", BLOCK "self_attn.k_norm.weight", gain \
    }
#define END {.theirs = NULL}

static const GgufName llama[] = {EMBEDDING,
                                 NORMS("post_attention_layernorm", GGUF_SAME),
                                 MATRICES(GGUF_ROWS, GGUF_KEY_ROWS),
                                 BIASES(GGUF_ROWS, GGUF_KEY_ROWS),
                                 INNER_BIASES,
                                 END};
/* Qwen2's and Qwen3's: each has some of these. */
static const GgufName qwen[] = {EMBEDDING,
                                NORMS("post_attention_layernorm", GGUF_SAME),
                                MATRICES(GGUF_SAME, GGUF_SAME),
                                BIASES(GGUF_SAME, GGUF_SAME),
                                QUERY_NORMS(GGUF_SAME),
                                END};
static const GgufName phi3[] = {
    EMBEDDING,
    NORMS("post_attention_layernorm", GGUF_SAME),
    {"blk.*.attn_qkv.weight", BLOCK "self_attn.qkv_proj.weight", GGUF_SAME},
    {"blk.*.attn_output.weight", BLOCK "self_attn.o_proj.weight", GGUF_SAME},
    {"blk.*.ffn_up.weight", BLOCK "mlp.gate_up_proj.weight", GGUF_SAME},
    {"blk.*.ffn_down.weight", BLOCK "mlp.down_proj.weight", GGUF_SAME},
    END};
static const GgufName olmo2[] = {EMBEDDING,
                                 {"output_norm.weight", "model.norm.weight", GGUF_SAME},
                                 NORMS_BEHIND(GGUF_SAME),
                                 QUERY_NORMS(GGUF_SAME),
                                 MATRICES(GGUF_SAME, GGUF_SAME),
                                 END};
static const GgufName gemma[] = {EMBEDDING, NORMS("post_attention_layernorm", GGUF_GAIN),
                                 MATRICES(GGUF_SAME, GGUF_SAME), END};
/* Gemma 2's and 3's, of which the latter alone has norms of queries and keys. */
static const GgufName gemma2[] = {EMBEDDING,
                                  NORMS("pre_feedforward_layernorm", GGUF_GAIN),
                                  NORMS_BEHIND(GGUF_GAIN),
                                  QUERY_NORMS(GGUF_GAIN),
                                  MATRICES(GGUF_SAME, GGUF_SAME),
                                  END};

/* A linear layer or a norm: weight, laid out so, and bias. */
#define WITH_BIAS(theirs, ours, how) \
    {theirs ".weight", ours ".weight", how}, { theirs ".bias", ours ".bias", GGUF_SAME }

#define GPT2_BLOCK "transformer.h.*."
static const GgufName gpt2[] = {
    {"token_embd.weight", "transformer.wte.weight", GGUF_SAME},
    {"position_embd.weight", "transformer.wpe.weight", GGUF_SAME},
    {"output.weight", "lm_head.weight", GGUF_SAME},
    WITH_BIAS("output_norm", "transformer.ln_f", GGUF_SAME),
    WITH_BIAS("blk.*.attn_norm", GPT2_BLOCK "ln_1", GGUF_SAME),
    WITH_BIAS("blk.*.ffn_norm", GPT2_BLOCK "ln_2", GGUF_SAME),
    WITH_BIAS("blk.*.attn_qkv", GPT2_BLOCK "attn.c_attn", GGUF_TRANSPOSED),
    WITH_BIAS("blk.*.attn_output", GPT2_BLOCK "attn.c_proj", GGUF_TRANSPOSED),
    WITH_BIAS("blk.*.ffn_up", GPT2_BLOCK "mlp.c_fc", GGUF_TRANSPOSED),
    WITH_BIAS("blk.*.ffn_down", GPT2_BLOCK "mlp.c_proj", GGUF_TRANSPOSED),
    END};

#define T5_ATTENTION(theirs, ours)                         \
    {theirs "_q.weight", ours ".q.weight", GGUF_SAME},     \
        {theirs "_k.weight", ours ".k.weight", GGUF_SAME}, \
        {theirs "_v.weight", ours ".v.weight", GGUF_SAME}, \
    {                                                      \
        theirs "_o.weight", ours ".o.weight", GGUF_SAME    \
    }
#define T5_SIDE(theirs, ours, feed)                                                                \
    {theirs ".output_norm.weight", ours ".final_layer_norm.weight", GGUF_SAME},                    \
        T5_ATTENTION(theirs ".blk.*.attn", ours ".block.*.layer.0.SelfAttention"),                 \
        {theirs ".blk.*.attn_rel_b.weight",                                                        \
         ours ".block.*.layer.0.SelfAttention.relative_attention_bias.weight", GGUF_SAME},         \
        {theirs ".blk.*.attn_norm.weight", ours ".block.*.layer.0.layer_norm.weight", GGUF_SAME},  \
        {theirs ".blk.*.ffn_norm.weight", ours ".block.*.layer." feed ".layer_norm.weight",        \
         GGUF_SAME},                                                                               \
        {theirs ".blk.*.ffn_gate.weight",                                                          \
         ours ".block.*.layer." feed ".DenseReluDense.wi_0.weight", GGUF_SAME},                    \
        {theirs ".blk.*.ffn_up.weight", ours ".block.*.layer." feed ".DenseReluDense.wi_1.weight", \
         GGUF_SAME},                                                                               \
        {theirs ".blk.*.ffn_up.weight", ours ".block.*.layer." feed ".DenseReluDense.wi.weight",   \
         GGUF_SAME},                                                                               \
    {                                                                                              \
        theirs ".blk.*.ffn_down.weight", ours ".block.*.layer." feed ".DenseReluDense.wo.weight",  \
            GGUF_SAME                                                                              \
    }
static const GgufName t5[] = {
    {"token_embd.weight", "shared.weight", GGUF_SAME},
    {"output.weight", "lm_head.weight", GGUF_SAME},
    T5_SIDE("enc", "encoder", "1"),
    T5_SIDE("dec", "decoder", "2"),
    T5_ATTENTION("dec.blk.*.cross_attn", "decoder.block.*.layer.1.EncDecAttention"),
    {"dec.blk.*.cross_attn_norm.weight", "decoder.block.*.layer.1.layer_norm.weight", GGUF_SAME},
    {"dec.blk.*.cross_attn_rel_b.weight",
     "decoder.block.*.layer.1.EncDecAttention.relative_attention_bias.weight", GGUF_SAME},
    END};

#define BERT_BLOCK "encoder.layer.*."
static const GgufName bert[] = {
    {"token_embd.weight", "embeddings.word_embeddings.weight", GGUF_SAME},
    {"position_embd.weight", "embeddings.position_embeddings.weight", GGUF_UNROUNDED},
    {"token_types.weight", "embeddings.token_type_embeddings.weight", GGUF_UNROUNDED},
    WITH_BIAS("token_embd_norm", "embeddings.LayerNorm", GGUF_SAME),
    WITH_BIAS("blk.*.attn_q", BERT_BLOCK "attention.self.query", GGUF_SAME),
    WITH_BIAS("blk.*.attn_k", BERT_BLOCK "attention.self.key", GGUF_SAME),
    WITH_BIAS("blk.*.attn_v", BERT_BLOCK "attention.self.value", GGUF_SAME),
    WITH_BIAS("blk.*.attn_output", BERT_BLOCK "attention.output.dense", GGUF_SAME),
    WITH_BIAS("blk.*.attn_output_norm", BERT_BLOCK "attention.output.LayerNorm", GGUF_SAME),
    WITH_BIAS("blk.*.ffn_up", BERT_BLOCK "intermediate.dense", GGUF_SAME),
    WITH_BIAS("blk.*.ffn_down", BERT_BLOCK "output.dense", GGUF_SAME),
    WITH_BIAS("blk.*.layer_output_norm", BERT_BLOCK "output.LayerNorm", GGUF_SAME),
    END};

/* Where a name of either kind stands twice, the first row is what is written. */
static const GgufArchitecture architectures[] = {
    {"llama", "mistral", llama, "attention.sliding_window", NULL},
    {"llama", "llama", llama, NULL, NULL},
    {"qwen2", "qwen2", qwen, NULL, NULL},
    {"qwen3", "qwen3", qwen, NULL, NULL},
    {"smollm3", "smollm3", llama, NULL, NULL},
    {"phi3", "phi3", phi3, NULL, NULL},
    {"olmo2", "olmo2", olmo2, NULL, NULL},
    {"gemma", "gemma", gemma, NULL, NULL},
    {"gemma2", "gemma2", gemma2, NULL, NULL},
    {"gemma3", "gemma3_text", gemma2, NULL, NULL},
    {"gpt2", "gpt2", gpt2, NULL, NULL},
    {"t5", "t5", t5, NULL, NULL},
    {"t5", "mt5", t5, NULL, NULL},
    {"bert", "bert", bert, NULL, "bert."},
};
enum { N_ARCHITECTURES = sizeof architectures / sizeof *architectures };

const GgufArchitecture *gguf_architecture(const Gguf *gguf)
{
    for (int i = 0; i < N_ARCHITECTURES; i++)
        if (!strcmp(architectures[i].name, gguf->architecture) &&
            (!architectures[i].key || gguf_own(gguf, architectures[i].key)))
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

const char *gguf_architectures(Arena *arena, bool published)
{
    const char *names = "", *last = "";
    for (int i = 0; i < N_ARCHITECTURES; i++) {
        const char *name = published ? architectures[i].model_type : architectures[i].name;
        if (strcmp(name, last))
            names = arena_printf(arena, "%s%s%s", names,
                                 !*names                    ? ""
                                 : i == N_ARCHITECTURES - 1 ? " and "
                                                            : ", ",
                                 name);
        last = name;
    }
    return names;
}

/* Whether a name is the pattern with a number for its "*". */
static bool fits_gguf_name(const char *pattern, const char *name, int64_t *block)
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
    const char *front = published && architecture->front ? architecture->front : "";
    if (!strncmp(name, front, strlen(front)))
        name += strlen(front);
    for (const GgufName *row = architecture->names; row->theirs; row++)
        if (fits_gguf_name(published ? row->published : row->theirs, name, block))
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
