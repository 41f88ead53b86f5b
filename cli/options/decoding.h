/* The options that say how results are searched for or drawn (runtime/decode/settings.def), the same in each command
 * that has them. The record of such a command holds a Decoding named `decoding`. Its table of options defines RECORD
 * as the record's type, and the groups that it takes as DECODING_OPTION, and includes the rows. */
#ifndef CLI_OPTIONS_DECODING_H
#define CLI_OPTIONS_DECODING_H

#include "cli/options/common.h"

#define DECODING_TYPE_FLAG bool
#define DECODING_TYPE_WHOLE int64_t
#define DECODING_TYPE_COUNT int64_t
#define DECODING_TYPE_NUMBER double

typedef struct Decoding {
#define SETTING(kind, name, ...) DECODING_TYPE_##kind name;
#define LONGEST SETTING
#include "runtime/decode/settings.def"
} Decoding;

#define DECODING_OPTION(kind, name, initial, least, most, option, value, help)                     \
    {option, value, FIELD(RECORD, decoding.name), least, #initial, help},

/* NULL, or what is wrong with the options: a usage error. */
const char *decoding_mistake(const Decoding *decoding);
/* The settings of a translation; what a command has no option for is as nobody had set it. */
DecodeSettings decoding_settings(const Decoding *decoding, const Inference *inference);
/* Tells of answers that --no-repeat-ngram ended (DecodeSettings.n_stuck), if there are any. */
void decoding_tell_stuck(Job *job, int64_t n);
/* The group ANY alone. */
void decoding_set_draw(const Decoding *decoding, DecodeSettings *settings);

#endif
