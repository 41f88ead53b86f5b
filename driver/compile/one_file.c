/* Files of the runtime put together; see one_file.h. The runtime's files are read line by line: what a
 * file declares for all begins in the first column, as clang-format has it. */
#include "driver/compile/one_file.h"

#include "base/file.h"
#include "base/map.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_FILE = 16 << 20, LONGEST_NAME = 128 };

typedef struct RuntimeFile {
    const char *path, *text;
    bool needed;
} RuntimeFile;

typedef struct OneFile {
    Job *job;
    const char *folder;
    RuntimeFile *files;
    size_t n_files;
    Map owners;          /* a public name → 1 + the file that defines it */
    VEC(size_t) waiting; /* files that are needed, whose own needs are not looked at yet */
    Map headers;         /* that were written, by path */
    Map scanned;         /* … whose inline functions were looked at */
    Text *system, *out;
    Map system_headers;
} OneFile;

static const char *read_text(OneFile *o, const char *path)
{
    const Source *source = file_read(&o->job->diags, o->job->arena, path, LARGEST_FILE);
    return source ? source->text : NULL;
}

static const char *path_of(const OneFile *o, const char *name)
{
    return file_in(o->job->arena, o->folder, name);
}

/* ---- words ---- */

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static size_t word_length(const char *text)
{
    size_t n = 0;
    while (is_word(text[n]))
        n++;
    return n;
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

static bool starts_with(const char *text, const char *word)
{
    size_t n = strlen(word);
    return !strncmp(text, word, n) && !is_word(text[n]);
}

static const char *next_line(const char *line)
{
    const char *end = strchr(line, '\n');
    return end ? end + 1 : line + strlen(line);
}

/* ---- which files ---- */

/* The name that a line in the first column declares for all files: what stands before its first
 * bracket, or in the brackets of a macro that defines it. 0: none; else its length. */
static size_t public_name(const char *line, const char **name)
{
    static const char *const own[] = {"static", "typedef", "enum", "struct", "union", "extern", "static_assert"};
    if (!isalpha((unsigned char)*line))
        return 0;
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (starts_with(line, own[i]))
            return 0;
    size_t n = strcspn(line, "([\n=;"), first = word_length(line);
    if (line[n] != '(' && line[n] != '[')
        return 0;
    if (n == first) {
        *name = line + n + 1;
        return word_length(*name);
    }
    *name = line + n;
    while (is_word((*name)[-1]))
        --*name;
    return word_length(*name);
}

static void note_definitions(OneFile *o, size_t file)
{
    const char *name;
    for (const char *line = o->files[file].text; *line; line = next_line(line)) {
        size_t n = public_name(line, &name);
        if (n > 0 && n < LONGEST_NAME)
            map_set(&o->owners, arena_strndup(o->job->arena, name, n), (void *)(file + 1));
    }
}

static void need_word(OneFile *o, const char *word, size_t n)
{
    char name[LONGEST_NAME];
    if (n >= LONGEST_NAME)
        return;
    memcpy(name, word, n);
    name[n] = 0;
    size_t file = (size_t)map_get(&o->owners, name);
    if (!file || o->files[file - 1].needed)
        return;
    o->files[file - 1].needed = true;
    vec_push(o->job->arena, o->waiting, file - 1);
}

/* Every name in the text; of a header those within braces: the others are declared, not called. */
static void need_names(OneFile *o, const char *text, bool within_braces)
{
    int depth = 0;
    for (const char *p = text; *p;) {
        const char *after = skip_quoted(p);
        size_t n = after == p ? word_length(p) : 0;
        depth += *p == '{' ? 1 : *p == '}' ? -1 : 0;
        if (n > 0 && (depth > 0 || !within_braces))
            need_word(o, p, n);
        p = after > p ? after : n > 0 ? p + n : p + 1;
    }
}

/* The path in the quotes of an #include; NULL: the line is none, or of a system header. */
static const char *included(const OneFile *o, const char *line)
{
    static const char start[] = "#include \"";
    if (strncmp(line, start, sizeof start - 1))
        return NULL;
    const char *name = line + sizeof start - 1;
    return arena_strndup(o->job->arena, name, strcspn(name, "\"\n"));
}

static bool need_headers(OneFile *o, const char *text)
{
    for (const char *line = text; *line; line = next_line(line)) {
        const char *name = included(o, line);
        if (!name || map_has(&o->scanned, name))
            continue;
        map_set(&o->scanned, name, o);
        const char *header = read_text(o, path_of(o, name));
        if (!header || !need_headers(o, header))
            return false;
        need_names(o, header, true);
    }
    return true;
}

static bool choose_files(OneFile *o, const char *seed)
{
    for (size_t i = 0; i < o->n_files; i++)
        note_definitions(o, i);
    need_names(o, seed, false);
    for (size_t at = 0; at < o->waiting.count; at++) {
        const char *text = o->files[o->waiting.data[at]].text;
        if (!need_headers(o, text))
            return false;
        need_names(o, text, false);
    }
    return true;
}

/* ---- writing ---- */

typedef enum FileKind { SOURCE_FILE, HEADER_FILE, TABLE_FILE } FileKind;

/* One file being written. */
typedef struct Writing {
    FileKind kind;
    int depth;         /* of #if */
    bool guarded;      /* by #ifndef NAME_H, which is not written */
    VEC(const char *) macros; /* that it defines */
} Writing;

static bool write_file(OneFile *o, const char *text, FileKind kind);

/* Of a header that stands for the system's and has it included: by its name. */
static void put_next_include(OneFile *o, const char *line)
{
    const char *bracket = strchr(line, '<');
    text_string(o->out, "#include ");
    text_put(o->out, bracket, (size_t)(next_line(bracket) - bracket));
}

static void put_line(OneFile *o, const char *line) { text_put(o->out, line, (size_t)(next_line(line) - line)); }

/* What stands for it where a system has no such header: a file of runtime/wasi. */
static bool put_system_header(OneFile *o, const char *name)
{
    const char *own = path_of(o, arena_printf(o->job->arena, "runtime/wasi/%s", name));
    if (map_has(&o->system_headers, name))
        return true;
    map_set(&o->system_headers, name, o);
    if (!file_exists(own)) {
        text_add(o->system, "#include <%s>\n", name);
        return true;
    }
    const char *text = read_text(o, own);
    Text *whole = o->out, own_text = {0};
    o->out = &own_text;
    bool ok = text && write_file(o, text, HEADER_FILE);
    o->out = whole;
    text_add(o->system, "#if defined(__wasi__)\n%s#else\n#include <%s>\n#endif\n",
             own_text.data ? own_text.data : "", name);
    text_free(&own_text);
    return ok;
}

static bool put_include(OneFile *o, const Writing *w, const char *line)
{
    const char *name = included(o, line), *bracket = strchr(line, '<');
    if (!name && (w->depth > 0 || !bracket)) {
        put_line(o, line);
        return true;
    }
    if (!name)
        return put_system_header(o, arena_strndup(o->job->arena, bracket + 1, strcspn(bracket + 1, ">\n")));
    bool is_header = text_ends(name, ".h");
    if (is_header && map_has(&o->headers, name))
        return true;
    map_set(&o->headers, name, o);
    const char *text = read_text(o, path_of(o, name));
    return text && write_file(o, text, is_header ? HEADER_FILE : TABLE_FILE);
}

/* A guard's lines, and those that choose what system headers show, which the whole file does. */
static bool is_left_out(Writing *w, const char *line)
{
    static const char *const features[] = {"#define _GNU_SOURCE", "#define _POSIX_C_SOURCE", "#define _DEFAULT_SOURCE"};
    for (size_t i = 0; i < sizeof features / sizeof *features; i++)
        if (starts_with(line, features[i]))
            return true;
    if (w->kind != HEADER_FILE)
        return false;
    if (starts_with(line, "#ifndef") && !w->guarded && w->depth == 0) {
        size_t n = strcspn(line, "\n");
        w->guarded = n > 2 && !strncmp(line + n - 2, "_H", 2);
        return w->guarded;
    }
    bool guard = starts_with(line, "#define") && !strncmp(line + strcspn(line, "\n") - 2, "_H", 2);
    return guard || (w->guarded && w->depth == 0 && starts_with(line, "#endif"));
}

static void note_macro(OneFile *o, Writing *w, const char *line)
{
    const char *name = line + strlen("#define ");
    name = arena_strndup(o->job->arena, name, word_length(name));
    for (size_t i = 0; i < w->macros.count; i++)
        if (!strcmp(w->macros.data[i], name))
            return;
    vec_push(o->job->arena, w->macros, name);
}

static void forget_macro(Writing *w, const char *line)
{
    const char *name = line + strlen("#undef ");
    for (size_t i = 0; i < w->macros.count; i++)
        if (starts_with(name, w->macros.data[i]))
            w->macros.data[i--] = w->macros.data[--w->macros.count];
}

static bool put_directive(OneFile *o, Writing *w, const char *line)
{
    if (is_left_out(w, line))
        return true;
    if (starts_with(line, "#include"))
        return put_include(o, w, line);
    if (starts_with(line, "#include_next")) {
        put_next_include(o, line);
        return true;
    }
    if (starts_with(line, "#define") && w->kind == SOURCE_FILE)
        note_macro(o, w, line);
    if (starts_with(line, "#undef") && w->kind == SOURCE_FILE)
        forget_macro(w, line);
    put_line(o, line);
    w->depth += !strncmp(line, "#if", 3) ? 1 : starts_with(line, "#endif") ? -1 : 0;
    return true;
}

/* A declaration of a header is of this file alone, and so is a constant that all may see. */
static void put_declaration(OneFile *o, const Writing *w, const char *line)
{
    const char *name;
    size_t n = public_name(line, &name);
    bool constant = w->kind == SOURCE_FILE && starts_with(line, "const") && n > 0 && name[n] == '[';
    bool function = w->kind == HEADER_FILE && n > 0 && name > line + word_length(line);
    if (w->kind == HEADER_FILE && starts_with(line, "extern") && !strchr("\"", line[strlen("extern ")])) {
        text_string(o->out, "static");
        line += strlen("extern");
    } else if (constant || function) {
        text_string(o->out, "static ");
    }
    put_line(o, line);
}

static bool write_file(OneFile *o, const char *text, FileKind kind)
{
    Writing w = {.kind = kind};
    bool ok = true;
    for (const char *line = text; ok && *line; line = next_line(line)) {
        if (*line == '#')
            ok = put_directive(o, &w, line);
        else
            put_declaration(o, &w, line);
    }
    for (size_t i = 0; i < w.macros.count; i++)
        text_add(o->out, "#undef %s\n", w.macros.data[i]);
    return ok;
}

/* ---- the whole ---- */

static bool write_files(OneFile *o)
{
    for (size_t i = 0; i < o->n_files; i++) {
        const RuntimeFile *file = &o->files[i];
        if (!file->needed)
            continue;
        text_add(o->out, "\n/* ======== %s ======== */\n\n", file->path + strlen(o->folder) + 1);
        if (!write_file(o, file->text, SOURCE_FILE))
            return false;
    }
    return true;
}

bool one_file(Job *job, const char *folder, const TextList *files, const char *seed, Text *system, Text *out)
{
    OneFile o = {.job = job, .folder = folder, .n_files = files->count, .system = system, .out = out};
    Map *maps[] = {&o.owners, &o.headers, &o.scanned, &o.system_headers};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        map_init(maps[i], job->arena);
    o.files = ARENA_ARRAY(job->arena, RuntimeFile, files->count + 1);
    for (size_t i = 0; i < files->count; i++) {
        o.files[i] = (RuntimeFile){.path = files->data[i], .text = read_text(&o, files->data[i])};
        if (!o.files[i].text)
            return false;
    }
    return choose_files(&o, seed) && write_files(&o);
}
