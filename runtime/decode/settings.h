/* The settings of decoding as data: settings.def has the rows. This code is also in compiled
 * models. */
#ifndef RUNTIME_DECODE_SETTINGS_H
#define RUNTIME_DECODE_SETTINGS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum SettingKind { SETTING_FLAG, SETTING_WHOLE, SETTING_COUNT, SETTING_NUMBER } SettingKind;

#define SETTING_TYPE_FLAG int32_t
#define SETTING_TYPE_WHOLE int32_t
#define SETTING_TYPE_COUNT uint64_t
#define SETTING_TYPE_NUMBER double

/* The settings as callers of a compiled model have them: its header declares the same struct. */
typedef struct TfcGeneration {
#define SETTING(kind, name, ...) SETTING_TYPE_##kind name;
#define TOKEN(name, ...) int32_t name;
#define TOKENS(name, n, ...) int32_t name[n];
#define INPUT(type, name, ...) type name;
#include "runtime/decode/settings.def"
} TfcGeneration;

/* DecodeSetting: a row.
 *   at        offset of its field in TfcGeneration, in bytes
 *   longest   the row is only an option: its field is length_extra, and it sets length_factor to
 *             0 */
typedef struct DecodeSetting {
    const char *name;
    SettingKind kind;
    size_t at;
    bool longest;
    double initial, least, most;
} DecodeSetting;

/* DecodeDefault: what a setting of the groups SEARCH, BEAM and ANY, by its name, is for one model
 * where nobody says, in place of its row's own value. */
typedef struct DecodeDefault {
    const char *name;
    double value;
} DecodeDefault;
/* The row that the name stands for; -1: there is none in these groups. */
int setting_default_row(const char *name);

/* The row's option (NULL: none), the word for its value in usage (NULL for a flag, or without an
 * option), its help. */
typedef struct DecodeSettingHelp {
    const char *option, *value, *text;
} DecodeSettingHelp;

enum {
#define SETTING(kind, name, ...) SETTING_##name,
#define LONGEST SETTING
#include "runtime/decode/settings.def"
    SETTINGS
};
extern const DecodeSetting setting_rows[SETTINGS];
const DecodeSettingHelp *setting_help(int row);

double setting_get(const DecodeSetting *setting, const TfcGeneration *settings);
/* Sets the row's field to a value in range: `number` for a NUMBER, else `whole`. For a `longest`
 * row it also sets length_factor to 0. */
void setting_put(const DecodeSetting *setting, TfcGeneration *settings, int64_t whole,
                 double number);
/* Copies the row's field. For a `longest` row it also sets to->length_factor to 0. */
void setting_copy(const DecodeSetting *setting, const TfcGeneration *from, TfcGeneration *to);
/* Whether a value is in the row's range; NaN is not. */
bool setting_fits(const DecodeSetting *setting, double value);
/* Writes the row's range, such as "a whole number from 1 to 1024", into RANGE_TEXT bytes
 * (base/limits.h). */
void setting_range(const DecodeSetting *setting, char *text);

/* Two settings that exclude each other, as options and as fields name them. */
typedef struct SettingConflict {
    const char *options, *fields;
} SettingConflict;
/* The first conflict; NULL: there is none. The caller passes the default, or 0, of a setting that
 * was not given. */
const SettingConflict *settings_conflict(bool sample, int64_t nbest, int64_t best_of,
                                         int64_t alternatives);
/* Whether options were given (a flag for each row) that do not go together: one that has no effect
 * on draws, or none on searches, or an nbest above the beam. Writes the message to `text`, of
 * SETTINGS_TEXT bytes. */
enum { SETTINGS_TEXT = 128 };
bool settings_given_conflict(const bool given[SETTINGS], bool sample, int64_t nbest, int64_t beam,
                             char *text);
/* The beam of a search for which none was given: the default, or nbest if that is more. */
int32_t settings_beam(int32_t initial, int32_t nbest);

#endif
