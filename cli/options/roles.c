/* What options are for: whether a run records them, whether ranks share them, whether they name a
 * file. */
#define _GNU_SOURCE
#include "cli/options/options.h"

#include <inttypes.h>
#include <string.h>

bool option_is_recorded(const Option *option)
{
    return option->kind != OPTION_OUTPUT && option->role != ROLE_CALL;
}

bool option_is_shared(const Option *option)
{
    return option->kind != OPTION_OUTPUT && option->role != ROLE_MACHINE;
}

/* ---- values as texts ---- */

static const char NOT_GIVEN[] = "not given";

static const char *list_text(Arena *arena, const TextList *list, bool of_paths)
{
    if (list->count && of_paths)
        return arena_printf(arena, "given %zu time%s", list->count,
                            text_plural((int64_t)list->count, "", "s"));
    const char *text = list->count ? list->data[0] : NOT_GIVEN;
    for (size_t i = 1; i < list->count; i++)
        text = arena_printf(arena, "%s %s", text, list->data[i]);
    return text;
}

const char *option_value_text(Arena *arena, const Option *option, const void *record)
{
    const void *field = (const char *)record + option->at;
    const bool is_path = option_names_path(option);
    int64_t whole;
    double number;
    const char *text;
    switch (option->kind) {
    case OPTION_FLAG: return *(const bool *)field ? "given" : NOT_GIVEN;
    case OPTION_INT: /* a value that cannot be given says that the option is not */
        whole = *(const int64_t *)field;
        return (double)whole < option->least ? NOT_GIVEN : arena_printf(arena, "%" PRId64, whole);
    case OPTION_NUMBER:
        number = *(const double *)field;
        return number < option->least ? NOT_GIVEN : arena_printf(arena, "%.17g", number);
    case OPTION_LIST: return list_text(arena, field, is_path);
    case OPTION_OUTPUT:
    case OPTION_TEXT: break;
    }
    text = *(const char *const *)field;
    return !text ? NOT_GIVEN : is_path ? "given" : text;
}

/* ---- paths ---- */

bool option_names_path(const Option *option)
{
    static const char *const words[] = {"FILE", "RUN", "FOLDER", "PAGE"};
    const char *value = option->value;
    bool names = value && !strcmp(value, "V");
    for (size_t i = 0; value && i < sizeof words / sizeof *words; i++)
        names = names || strstr(value, words[i]);
    return names;
}

/* Whether the path stands in a value such as FILE, NAME=FILE, words:FILE, FILE:WEIGHT or FILE,FILE;
 * or is the value's in the folder of a run. */
static bool value_names(const char *value, const char *path)
{
    static const char marks[] = "=:,";
    const size_t n = strlen(path), length = strlen(value);
    for (const char *at = value; (at = strstr(at, path)); at++)
        if ((at == value || strchr(marks, at[-1])) && strchr(marks, at[n])) /* its NUL counts */
            return true;
    return n > length && path[n - length - 1] == '/' && !strcmp(path + n - length, value);
}

const char *option_of_file(const void *with, Arena *arena, const char *path)
{
    const Arguments *arguments = with;
    for (size_t i = 0; *path && i < arguments->given.count; i++) {
        const Option *option = arguments->given.data[i].option;
        const char *value = arguments->given.data[i].value;
        if (value && option_names_path(option) && value_names(value, path))
            return arena_printf(arena, " (%s)", option_typed(arena, option));
    }
    return "";
}
