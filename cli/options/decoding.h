/* Decoding: the options for beam search and sampling (runtime/decode/settings.def), the same in
 * each command that has them. The record of such a command has a Decoding named `decoding`. Its
 * table of options defines RECORD as the record's type, defines the groups that it takes as
 * DECODING_OPTION, and includes the rows. */
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
    bool given[SETTINGS]; /* decoding_note_given */
} Decoding;

#define DECODING_OPTION(kind, name, initial, least, most, option, value, help) \
    {option, value, FIELD(RECORD, decoding.name), least, #initial, help},

/* Notes which of the settings' options were given: the others leave the run's own defaults. */
void decoding_note_given(Decoding *decoding, const Arguments *arguments);
/* What is wrong with the options, after decoding_note_given, as the text of a usage error; NULL:
 * nothing. */
const char *decoding_mistake(Arena *arena, const Decoding *decoding);
/* The settings of a translation; a setting without an option in the command has its default. */
DecodeSettings decoding_settings(const Decoding *decoding, const Inference *inference);
/* Adds a note about answers that --no-repeat-ngram ended (DecodeSettings.n_stuck), if there are
 * any. */
void decoding_tell_stuck(Job *job, int64_t n);
/* Sets only the settings of the group ANY, of those only what was given. */
void decoding_set_draw(const Decoding *decoding, DecodeSettings *settings);

#endif
