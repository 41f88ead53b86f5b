/* The tables of GGUF's metadata (docs/gguf.md of ggml; llama.cpp's llama-vocab.cpp and the
 * tokenizer.json of each model). */
#include "driver/exchange/gguf_keys.h"

#include <stddef.h>

const GgufKey gguf_keys[] = {
    {"", "embedding_length", "hidden_size", 0},
    {"", "block_count", "num_hidden_layers", 0},
    {"", "feed_forward_length", "intermediate_size", 0},
    {"", "attention.head_count", "num_attention_heads", 0},
    {"", "attention.head_count_kv", "num_key_value_heads", 0},
    {"", "attention.key_length", "head_dim", 0},
    {"", "context_length", "max_position_embeddings", 0},
    {"", "attention.layer_norm_rms_epsilon", "rms_norm_eps", 0},
    {"", "rope.freq_base", "rope_theta", 10000},
    {"gpt2", "embedding_length", "n_embd", 0},
    {"gpt2", "block_count", "n_layer", 0},
    {"gpt2", "attention.head_count", "n_head", 0},
    {"gpt2", "context_length", "n_positions", 0},
    {"gpt2", "feed_forward_length", "n_inner", 0},
    {"gpt2", "attention.layer_norm_epsilon", "layer_norm_epsilon", 0},
    {"", NULL, NULL, 0},
};

const char *const gguf_head_widths[] = {"rope.dimension_count", "attention.value_length", NULL};

const GgufCut gguf_cuts[] = {
    {"gpt-2", NULL},
    {"default", NULL},
    {"llama-bpe", "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| "
                  "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},
    {"qwen2", "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| "
              "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"},
    {NULL, NULL},
};

/* Fields by sentencepiece_model.proto. */
const GgufToken gguf_tokens[] = {
    {"unknown_token_id", "unk_token_id", 40},
    {"bos_token_id", "bos_token_id", 41},
    {"eos_token_id", "eos_token_id", 42},
    {"padding_token_id", "pad_token_id", 43},
    {NULL, NULL, 0},
};
