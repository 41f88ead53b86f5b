/* transformers' documentation of GenerationConfig; llama_model_meta_key_str of llama.cpp's
 * llama-model.cpp. */
#include "driver/exchange/published_sampling.h"

#include <stddef.h>

const PublishedSampling published_sampling[] = {
    {"temperature", "temperature", "general.sampling.temp", WHEN_SAMPLES},
    {"top_k", "top_k", "general.sampling.top_k", WHEN_SAMPLES},
    {"top_p", "top_p", "general.sampling.top_p", WHEN_SAMPLES},
    {"repetition_penalty", "repetition_penalty", "general.sampling.penalty_repeat", WHEN_SAMPLES},
    {"no_repeat_ngram_size", "no_repeat_ngram", NULL, WHEN_ANY},
    {"num_beams", "beam", NULL, WHEN_TRANSLATES},
    {"length_penalty", "length_penalty", NULL, WHEN_TRANSLATES},
    {NULL, NULL, NULL, WHEN_ANY},
};
