/* TMX by expat: units one by one, the segments of the two languages. */
#include "runtime/data/tmx.h"

#include "base/map.h"
#include "base/text.h"

#include <expat.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

typedef struct Reading {
    Diagnostics *diags;
    Arena *arena;
    const Source *file;
    const char *languages[2];
    Map others;    /* languages of the file, for the message that none is meant */
    Text sides[2]; /* of the unit */
    bool has[2];
    int side;       /* of the tuv that is open; -1: another language's, or one that came before */
    int in_segment; /* depth of hi, sub and so on within seg, from 1; 0: outside */
    int code;       /* depth of codes within it */
    Text pairs;
    const char *encoding; /* that is not read; NULL: none */
    const char *problem;  /* that ended the reading, where the parser is; NULL: none */
    XML_Parser parser;
    int64_t units, used;
} Reading;

/* Ends the reading with an error at this place. */
static void stop_at(Reading *r, const char *problem)
{
    r->problem = problem;
    XML_StopParser(r->parser, XML_FALSE);
}

bool tmx_is_name(const char *path)
{
    size_t n = strlen(path);
    return n >= 4 && !strcasecmp(path + n - 4, ".tmx");
}

/* "de" is "de", "DE" and "de-AT". */
static bool is_language(const char *wanted, const char *given)
{
    size_t n = strlen(wanted);
    return !strncasecmp(wanted, given, n) && (!given[n] || given[n] == '-' || given[n] == '_');
}

static void open_variant(Reading *r, const XML_Char **attributes)
{
    r->side = -1;
    for (int i = 0; attributes[i]; i += 2) {
        if (strcmp(attributes[i], "xml:lang") && strcmp(attributes[i], "lang"))
            continue;
        map_set(&r->others, attributes[i + 1], r);
        for (int k = 0; k < 2; k++)
            if (!r->has[k] && r->side < 0 && is_language(r->languages[k], attributes[i + 1]))
                r->side = k;
    }
}

static bool is_code(const char *name)
{
    static const char *const codes[] = {"bpt", "ept", "it", "ph", "ut"};
    for (int i = 0; i < 5; i++)
        if (!strcmp(name, codes[i]))
            return true;
    return false;
}

static void on_open(void *user, const XML_Char *name, const XML_Char **attributes)
{
    Reading *r = user;
    if (r->in_segment) {
        r->in_segment++;
        if (r->code || is_code(name))
            r->code++;
    } else if (!strcmp(name, "tu")) {
        r->has[0] = r->has[1] = false;
        r->sides[0].length = r->sides[1].length = 0;
        r->side = -1;
    } else if (!strcmp(name, "tuv")) {
        open_variant(r, attributes);
    } else if (!strcmp(name, "seg")) {
        r->in_segment = 1;
        if (r->side >= 0 && r->has[r->side])
            stop_at(r, "a second <seg> in one <tuv>: each has one");
    }
}

/* An entity that neither the file nor XML defines: expat passes over it where a DTD is named, which
 * it does not read. */
static void on_skipped(void *user, const XML_Char *name, int is_parameter)
{
    Reading *r = user;
    if (!is_parameter)
        stop_at(r, arena_printf(r->arena,
                                "the entity &%.40s; is defined outside of this file: write the "
                                "character itself",
                                name));
}

static void on_text(void *user, const XML_Char *text, int n)
{
    Reading *r = user;
    if (!r->in_segment || r->code || r->side < 0)
        return;
    Text *out = &r->sides[r->side];
    for (int i = 0; i < n; i++) {
        bool blank = strchr(" \t\r\n", text[i]) != NULL;
        if (!blank)
            text_put(out, &text[i], 1);
        else if (out->length && out->data[out->length - 1] != ' ')
            text_put(out, " ", 1);
    }
}

static void close_unit(Reading *r)
{
    r->units++;
    if (!r->has[0] || !r->has[1])
        return;
    r->used++;
    for (int k = 0; k < 2; k++) {
        text_put(&r->pairs, r->sides[k].data ? r->sides[k].data : "", r->sides[k].length);
        text_put(&r->pairs, k ? "\n" : "\t", 1);
    }
}

static void on_close(void *user, const XML_Char *name)
{
    Reading *r = user;
    if (r->in_segment) {
        r->code -= r->code > 0;
        if (--r->in_segment)
            return;
        if (r->side >= 0) {
            Text *side = &r->sides[r->side];
            side->length -= side->length && side->data[side->length - 1] == ' ';
            r->has[r->side] = true;
        }
    } else if (!strcmp(name, "tuv")) {
        r->side = -1;
    } else if (!strcmp(name, "tu")) {
        close_unit(r);
    }
}

static bool split_languages(Reading *r, const char *languages)
{
    const char *comma = languages ? strchr(languages, ',') : NULL;
    if (!comma || comma == languages || !comma[1] || strchr(comma + 1, ',')) {
        diag_error(
            r->diags, (Loc){.source = r->file},
            "a translation memory has several languages: --languages en,de names the sources' "
            "and the targets'");
        return false;
    }
    r->languages[0] = arena_strndup(r->arena, languages, (size_t)(comma - languages));
    r->languages[1] = comma + 1;
    return true;
}

/* Windows-1252 where it is not Latin-1 (0x80 to 0x9f); 0: a byte that has no character. */
static const uint16_t windows_1252[32] = {
    0x20ac, 0,      0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160,
    0x2039, 0x0152, 0,      0x017d, 0,      0,      0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0,      0x017e, 0x0178};

/* Of the encodings that expat lacks; any other is an error, which names iconv. */
static int on_encoding(void *user, const XML_Char *name, XML_Encoding *encoding)
{
    Reading *r = user;
    if (strcasecmp(name, "windows-1252") && strcasecmp(name, "cp1252")) {
        r->encoding = arena_strdup(r->arena, name);
        return XML_STATUS_ERROR;
    }
    *encoding = (XML_Encoding){0};
    for (int i = 0; i < 256; i++) {
        int letter = i >= 0x80 && i < 0xa0 ? windows_1252[i - 0x80] : i;
        encoding->map[i] = letter || !i ? letter : -1;
    }
    return XML_STATUS_OK;
}

static bool parse(Reading *r)
{
    XML_Parser parser = XML_ParserCreate(NULL);
    if (!parser) {
        diag_error(r->diags, (Loc){.source = r->file}, "out of memory");
        return false;
    }
    r->parser = parser;
    XML_SetUserData(parser, r);
    XML_SetSkippedEntityHandler(parser, on_skipped);
    XML_SetElementHandler(parser, on_open, on_close);
    XML_SetCharacterDataHandler(parser, on_text);
    XML_SetUnknownEncodingHandler(parser, on_encoding, r);
    bool ok = true;
    const char *at = r->file->text;
    for (size_t left = r->file->length, n; ok; left -= n, at += n) {
        n = left < INT_MAX / 2 ? left : INT_MAX / 2;
        ok = XML_Parse(parser, at, (int)n, n == left) == XML_STATUS_OK;
        if (n == left)
            break;
    }
    if (!ok && r->encoding)
        diag_error(r->diags, (Loc){.source = r->file},
                   "the encoding '%.40s' is not read: convert the file (iconv -f %.40s "
                   "-t UTF-8), and write encoding=\"UTF-8\" in its first line",
                   r->encoding, r->encoding);
    else if (!ok)
        diag_error(r->diags,
                   (Loc){.source = r->file,
                         .line = (int)XML_GetCurrentLineNumber(parser),
                         .column = (int)XML_GetCurrentColumnNumber(parser) + 1},
                   "%s", r->problem ? r->problem : XML_ErrorString(XML_GetErrorCode(parser)));
    XML_ParserFree(parser);
    return ok;
}

/* What was found of the languages; false: nothing. */
static bool judge(Reading *r)
{
    Loc loc = {.source = r->file};
    if (r->used && r->used < r->units)
        diag_warning(
            r->diags, loc, "%lld of %lld units have no segment in '%s' or '%s' and are left out",
            (long long)(r->units - r->used), (long long)r->units, r->languages[0], r->languages[1]);
    if (r->used)
        return true;
    Text there = {0};
    for (size_t i = 0; i < r->others.count && i < 10; i++)
        text_add(&there, "%s%s", i ? ", " : "", r->others.entries[i].key);
    diag_error(r->diags, loc, "no unit has segments in both '%s' and '%s'; its languages are: %s",
               r->languages[0], r->languages[1], there.data ? there.data : "none");
    text_free(&there);
    return false;
}

const Source *tmx_parse(Diagnostics *diags, Arena *arena, const Source *file, const char *languages)
{
    Reading r = {.diags = diags, .arena = arena, .file = file, .side = -1};
    map_init(&r.others, arena);
    const Source *made = NULL;
    if (split_languages(&r, languages) && parse(&r) && judge(&r))
        made = diag_source(arena, file->path, arena_copy(arena, r.pairs.data, r.pairs.length),
                           r.pairs.length);
    text_free(&r.sides[0]);
    text_free(&r.sides[1]);
    text_free(&r.pairs);
    return made;
}
