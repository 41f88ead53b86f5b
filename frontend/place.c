/* Names of used files, and the paths that a run has for them. */
#include "frontend/place.h"

#include "base/file.h"

#include <string.h>

#define PLACE_USED "used/"

const char *place_name(Arena *arena, const char *from, const char *used)
{
    return *used == '/' || !strchr(from, '/') ? arena_strdup(arena, used)
                                              : file_beside(arena, from, used);
}

/* Whether a part of a path is `up`, or `up` with underscores behind it. */
static bool is_up(const char *part, size_t n)
{
    return n >= 2 && !strncmp(part, "up", 2) && strspn(part + 2, "_") >= n - 2;
}

static bool is_dots(const char *part, size_t n) { return n == 2 && !strncmp(part, "..", n); }

/* Whether the path has a part `..`. */
static bool has_dots(const char *path)
{
    for (size_t n; *path; path += n + (path[n] == '/')) {
        n = strcspn(path, "/");
        if (is_dots(path, n))
            return true;
    }
    return false;
}

/* Appends the parts of a path but `.`; `ups`: `..` as `up`, and `up` with an underscore more. */
static void put_parts(const char *path, bool ups, Text *out)
{
    for (size_t n; *path; path += n + (path[n] == '/')) {
        n = strcspn(path, "/");
        if (!n || (n == 1 && *path == '.'))
            continue;
        text_string(out, out->length ? "/" : "");
        if (is_dots(path, n))
            text_string(out, "up");
        else
            text_add(out, "%.*s%s", (int)n, path, ups && is_up(path, n) ? "_" : "");
    }
}

static bool begins(const char *path, const char *with)
{
    return !strncmp(path, with, strlen(with));
}

const char *place_of(Arena *arena, const char *name)
{
    Text parts = {0};
    const bool leaves = has_dots(name), is_absolute = *name == '/';
    put_parts(name, leaves || is_absolute, &parts);
    const char *path = parts.data ? parts.data : "";
    const bool is_taken =
        !strcmp(path, PLACE_MODEL) || begins(path, PLACE_LIBRARY) || begins(path, PLACE_USED);
    const char *place = is_absolute ? arena_printf(arena, PLACE_USED "root/%s", path)
                        : leaves    ? arena_printf(arena, PLACE_USED "from/%s", path)
                        : is_taken  ? arena_printf(arena, PLACE_USED "here/%s", path)
                                    : arena_strdup(arena, path);
    text_free(&parts);
    return place;
}
