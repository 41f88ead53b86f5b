/* The options that say how results are searched for or drawn, the same in each command that
 * has them. The record of such a command holds a Decoding named `decoding`; its table has the
 * rows of those that it takes. */
#ifndef CLI_OPTIONS_DECODING_H
#define CLI_OPTIONS_DECODING_H

#include "cli/options/common.h"
#include "runtime/decode/options.h"

typedef DecodeOptions Decoding;

#define OPTION_OF_DECODING(record, field, name, value, least, initial, help)                       \
    {name, value, FIELD(record, decoding.field), least, initial, help}

#define OPTIONS_SEARCH(record) DECODE_OPTIONS_SEARCH(OPTION_OF_DECODING, record)
#define OPTIONS_RULES(record) DECODE_OPTIONS_RULES(OPTION_OF_DECODING, record)
#define OPTIONS_SAMPLE(record) DECODE_OPTIONS_SAMPLE(OPTION_OF_DECODING, record)
#define OPTIONS_DRAW(record) DECODE_OPTIONS_DRAW(OPTION_OF_DECODING, record)

/* For `nbest` results a sentence. NULL, or what is wrong with the options: a usage error. */
const char *decoding_mistake(const Decoding *decoding, int64_t nbest);
/* The settings of OPTIONS_SEARCH, OPTIONS_RULES, OPTIONS_SAMPLE and OPTIONS_DRAW. */
DecodeSettings decoding_settings(const Decoding *decoding, int64_t nbest, const Inference *inference);
/* Tells of answers that --no-repeat-ngram ended (DecodeSettings.n_stuck), if there are any. */
void decoding_tell_stuck(Job *job, int64_t n);
/* OPTIONS_RULES and OPTIONS_DRAW alone. */
void decoding_set_draw(const Decoding *decoding, DecodeSettings *settings);

#endif
