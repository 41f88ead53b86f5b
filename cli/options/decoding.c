/* From the options of decoding to its settings. */
#include "cli/options/decoding.h"

const char *decoding_mistake(const Decoding *decoding, int64_t nbest)
{
    if (decoding->best_of && !decoding->sample)
        return "--best-of is for --sample";
    if (decoding->best_of && decoding->best_of < nbest)
        return "--best-of is less than --nbest";
    return NULL;
}

void decoding_set_draw(const Decoding *decoding, DecodeSettings *settings)
{
    settings->no_repeat_ngram = (int32_t)decoding->no_repeat_ngram;
    settings->repetition_penalty = decoding->repetition_penalty;
    settings->temperature = decoding->temperature;
    settings->top_k = (int32_t)decoding->top_k;
    settings->top_p = decoding->top_p;
    settings->seed = (uint64_t)decoding->seed;
}

void decoding_tell_stuck(Job *job, int64_t n)
{
    if (n)
        diag_note(&job->diags, (Loc){0},
                  "%lld answer%s early: --no-repeat-ngram left no token to go on with", (long long)n,
                  n > 1 ? "s end" : " ends");
}

DecodeSettings decoding_settings(const Decoding *decoding, int64_t nbest, const Inference *inference)
{
    DecodeSettings s = inference_decode_settings(inference);
    s.nbest = (int32_t)nbest;
    s.beam = (int32_t)(decoding->beam > nbest ? decoding->beam : nbest);
    s.length_penalty = decoding->length_penalty;
    if (decoding->max_tokens) {
        s.length_factor = 0;
        s.length_extra = (int32_t)decoding->max_tokens;
    }
    s.sample = decoding->sample;
    s.best_of = (int32_t)decoding->best_of;
    decoding_set_draw(decoding, &s);
    return s;
}
