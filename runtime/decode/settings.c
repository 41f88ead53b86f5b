/* The rows of settings.def as tables, and values by row. */
#include "runtime/decode/settings.h"

#include "base/limits.h"

#include <stdio.h>
#include <string.h>

const DecodeSetting setting_rows[SETTINGS] = {
#define SETTING_ROW(kind, name, field, ...) \
    {#name, SETTING_##kind, offsetof(TfcGeneration, field), __VA_ARGS__},
#define SETTING(kind, name, initial, least, most, ...) \
    SETTING_ROW(kind, name, name, false, initial, least, most)
#define LONGEST(kind, name, initial, least, most, ...) \
    SETTING_ROW(kind, name, length_extra, true, initial, least, most)
#include "runtime/decode/settings.def"
};

const DecodeSettingHelp *setting_help(int row)
{
    static const DecodeSettingHelp rows[SETTINGS] = {
#define SETTING(kind, name, initial, least, most, ...) {__VA_ARGS__},
#define LONGEST SETTING
#include "runtime/decode/settings.def"
    };
    return &rows[row];
}

int setting_default_row(const char *name)
{
#define SEARCH(kind, row, ...) \
    if (!strcmp(name, #row))   \
        return SETTING_##row;
#define ANY SEARCH
#include "runtime/decode/settings.def"
    return -1;
}

double setting_get(const DecodeSetting *setting, const TfcGeneration *settings)
{
    const void *at = (const char *)settings + setting->at;
    return setting->kind == SETTING_NUMBER  ? *(const double *)at
           : setting->kind == SETTING_COUNT ? (double)*(const uint64_t *)at
                                            : *(const int32_t *)at;
}

void setting_put(const DecodeSetting *setting, TfcGeneration *settings, int64_t whole,
                 double number)
{
    void *at = (char *)settings + setting->at;
    if (setting->kind == SETTING_NUMBER)
        *(double *)at = number;
    else if (setting->kind == SETTING_COUNT)
        *(uint64_t *)at = (uint64_t)whole;
    else
        *(int32_t *)at = (int32_t)whole;
    if (setting->longest)
        settings->length_factor = 0;
}

void setting_copy(const DecodeSetting *setting, const TfcGeneration *from, TfcGeneration *to)
{
    bool small = setting->kind == SETTING_FLAG || setting->kind == SETTING_WHOLE;
    memcpy((char *)to + setting->at, (const char *)from + setting->at,
           small ? sizeof(int32_t) : sizeof(uint64_t));
    if (setting->longest)
        to->length_factor = 0;
}

bool setting_fits(const DecodeSetting *setting, double value)
{
    return value >= setting->least && value <= setting->most;
}

void setting_range(const DecodeSetting *setting, char *text)
{
    range_text(text, setting->kind != SETTING_NUMBER, setting->least, setting->most);
}

const SettingConflict *settings_conflict(bool sample, int64_t nbest, int64_t best_of,
                                         int64_t alternatives)
{
    enum { DRAWS, FEW, SEARCHED, ONE };
    static const SettingConflict conflicts[] = {
        [DRAWS] = {"--best-of is for --sample", "best_of is for samples"},
        [FEW] = {"--best-of is less than --nbest", "best_of is less than nbest"},
        [SEARCHED] = {"--alternatives are searched for, one each: leave --sample out",
                      "alternatives are searched for, one each: leave sample at 0"},
        [ONE] = {"--alternatives are searched for, one each: leave --nbest out",
                 "alternatives are searched for, one each: leave nbest at 1"},
    };
    if (best_of && (!sample || best_of < nbest))
        return &conflicts[sample ? FEW : DRAWS];
    if (alternatives && (sample || nbest > 1))
        return &conflicts[sample ? SEARCHED : ONE];
    return NULL;
}

bool settings_given_conflict(const bool given[SETTINGS], bool sample, int64_t nbest, int64_t beam,
                             char *text)
{
    static const struct {
        int row;
        bool draws;
    } uses[] = {
#define DRAWS(name) {SETTING_##name, true},
#define SEARCHES(name) {SETTING_##name, false},
#include "runtime/decode/settings.def"
    };
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        if (given[uses[i].row] && uses[i].draws != sample) {
            snprintf(text, SETTINGS_TEXT,
                     sample ? "--%s is for searches: leave --sample out"
                            : "--%s is for --sample: add that, or leave this out",
                     setting_help(uses[i].row)->option);
            return true;
        }
    if (sample || !given[SETTING_beam] || !given[SETTING_nbest] || nbest <= beam)
        return false;
    snprintf(text, SETTINGS_TEXT, "--nbest %lld: a search gives no more than its beam, --beam %lld",
             (long long)nbest, (long long)beam);
    return true;
}

int32_t settings_beam(int32_t initial, int32_t nbest) { return initial > nbest ? initial : nbest; }
