/* transformers' documentation of GenerationConfig; llama_model_meta_key_str of llama.cpp's
 * llama-model.cpp. */
#include "driver/exchange/published_sampling.h"

#include <stddef.h>

const PublishedSampling published_sampling[] = {
    {"temperature", "general.sampling.temp"},
    {"top_k", "general.sampling.top_k"},
    {"top_p", "general.sampling.top_p"},
    {"repetition_penalty", "general.sampling.penalty_repeat"},
    {NULL, NULL},
};
