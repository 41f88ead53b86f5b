/* Choosing parts of the runtime's one C file, which cmake/one_file.awk put together; see there for
 * the form of the file. */
#include "driver/compile/one_file.h"

#include "base/file.h"
#include "base/map.h"

#include <ctype.h>
#include <string.h>

enum { LARGEST_FILE = 16 << 20 };

typedef struct FilePart {
    const char *needs; /* names of parts, a blank between two */
    const char *text;
    size_t length;
    bool is_wanted;
} FilePart;

typedef struct FileParts {
    Arena *arena;
    VEC(FilePart *) all;
    Map by_name; /* a part's own name, and those that it defines → FilePart */
} FileParts;

/* The next of the words that *at is at, which it goes behind; NULL: there is none. */
static const char *next_word(Arena *arena, const char **at)
{
    *at += strspn(*at, " ");
    size_t n = strcspn(*at, " ");
    const char *word = n ? arena_strndup(arena, *at, n) : NULL;
    *at += n;
    return word;
}

/* The line that *at is at, which it goes behind. */
static const char *next_line(Arena *arena, const char **at)
{
    size_t n = strcspn(*at, "\n");
    const char *line = arena_strndup(arena, *at, n);
    *at += n + ((*at)[n] != 0);
    return line;
}

static void read_parts(FileParts *parts, const char *text)
{
    for (const char *at = text + strcspn(text, "\f"); *at;) {
        FilePart *part = ARENA_NEW(parts->arena, FilePart);
        at++;
        map_set(&parts->by_name, next_line(parts->arena, &at), part);
        const char *names = next_line(parts->arena, &at), *word;
        while ((word = next_word(parts->arena, &names)))
            map_set(&parts->by_name, word, part);
        part->needs = next_line(parts->arena, &at);
        part->text = at;
        part->length = strcspn(at, "\f");
        at += part->length;
        vec_push(parts->arena, parts->all, part);
    }
}

static void want(FileParts *parts, FilePart *part)
{
    if (!part || part->is_wanted)
        return;
    part->is_wanted = true;
    const char *needs = part->needs, *name;
    while ((name = next_word(parts->arena, &needs)))
        want(parts, map_get(&parts->by_name, name));
}

/* After a comment, string or character that begins here; the same place where none does. */
static const char *skip_quoted(const char *p)
{
    if (p[0] == '/' && p[1] == '*') {
        const char *end = strstr(p + 2, "*/");
        return end ? end + 2 : p + strlen(p);
    }
    if (*p != '"' && *p != '\'')
        return p;
    for (char quote = *p++; *p && *p != quote; p++)
        p += *p == '\\' && p[1];
    return *p ? p + 1 : p;
}

static void want_names(FileParts *parts, const char *text)
{
    for (const char *p = text; *p;) {
        const char *after = skip_quoted(p);
        size_t n = 0;
        while (after == p && (isalnum((unsigned char)p[n]) || p[n] == '_'))
            n++;
        if (n)
            want(parts, map_get(&parts->by_name, arena_strndup(parts->arena, p, n)));
        p = after > p ? after : p + n + !n;
    }
}

bool one_file(Job *job, const char *path, const char *seed, Text *out)
{
    const Source *source = file_read(&job->diags, job->arena, path, LARGEST_FILE);
    if (!source)
        return false;
    FileParts parts = {.arena = job->arena};
    map_init(&parts.by_name, job->arena);
    read_parts(&parts, source->text);
    want_names(&parts, seed);
    for (size_t i = 0; i < parts.all.count; i++)
        if (parts.all.data[i]->is_wanted)
            text_put(out, parts.all.data[i]->text, parts.all.data[i]->length);
    return true;
}
