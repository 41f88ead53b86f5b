/* The table of what published files call tokens: transformers' documentation of PretrainedConfig,
 * GenerationConfig and BartConfig; docs/gguf.md of ggml and llama-vocab.cpp of llama.cpp, which
 * ends at each of three ids; transformers.py of CTranslate2's converters. */
#include "driver/exchange/published_tokens.h"

#include "runtime/text/sentencepiece/fields.h"

#include <string.h>

const PublishedToken published_tokens[] = {
    {.key = "unk_token_id",
     .text = "unk_token",
     .gguf = {"unknown_token_id"},
     .piece_field = SP_TRAINER_unk_id},
    {.key = "bos_token_id",
     .text = "bos_token",
     .frame = "add_bos_token",
     .gguf = {"bos_token_id"},
     .piece_field = SP_TRAINER_bos_id},
    {.key = "eos_token_id",
     .text = "eos_token",
     .frame = "add_eos_token",
     .gguf = {"eos_token_id"},
     .piece_field = SP_TRAINER_eos_id},
    {.key = "pad_token_id",
     .text = "pad_token",
     .gguf = {"padding_token_id"},
     .piece_field = SP_TRAINER_pad_id},
    {.key = "decoder_start_token_id", .is_decoded = true, .text = "decoder_start_token"},
    {.key = "forced_bos_token_id",
     .is_decoded = true,
     .flag = "force_bos_token_to_be_generated",
     .flag_key = "bos_token_id"},
    {.key = NULL},
};

const PublishedToken published_ends = {.key = "eos_token_id",
                                       .is_decoded = true,
                                       .gguf = {"eos_token_id", "eot_token_id", "eom_token_id"}};

const PublishedToken *published_token(const char *key)
{
    const PublishedToken *token = published_tokens;
    while (token->key && strcmp(token->key, key) != 0)
        token++;
    return token->key ? token : NULL;
}

const JsonValue *published_token_said(const PublishedToken *token, const JsonValue *config,
                                      const JsonValue *generation, const char **file)
{
    const JsonValue *trained = config ? json_member(config, token->key) : NULL;
    const JsonValue *decoded = generation ? json_member(generation, token->key) : NULL;
    const JsonValue *said = token->is_decoded && decoded ? decoded : trained ? trained : decoded;
    *file = said && said == decoded ? PUBLISHED_GENERATION : PUBLISHED_CONFIG;
    return said;
}
