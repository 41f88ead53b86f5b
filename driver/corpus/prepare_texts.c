/* Counting, hashing and cutting texts, and reading their lines. */
#define _GNU_SOURCE
#include "driver/corpus/prepare_texts.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/machine.h"
#include "base/sha256.h"
#include "base/team.h"
#include "base/temporary.h"
#include "runtime/data/pairing.h"
#include "runtime/data/tmx.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- which texts ---- */

static const char *real_path(Arena *arena, const char *path)
{
    char *real = realpath(path, NULL);
    const char *copy = arena_strdup(arena, real ? real : path);
    free(real);
    return copy;
}

static TextPart *add_part(Job *job, TextParts *parts, const char *option, const char *path)
{
    TextPart *part = &parts->data[parts->n++];
    *part = (TextPart){.n = 1, .read = {path}};
    part->text[0] = (PreparedText){.option = option, .file = real_path(job->arena, path)};
    return part;
}

static const char *hash_file(Arena *arena, const Source *file)
{
    Sha256 sha;
    char *text = arena_alloc(arena, 2 * SHA256_BYTES + 1);
    sha256_init(&sha);
    sha256_add(&sha, file->text, file->length);
    sha256_finish_text(&sha, text);
    return text;
}

/* A translation memory becomes a file of lines beside the shards, for as long as this process. */
static bool read_memory(Job *job, const PrepareOptions *o, TextPart *part, int number)
{
    const Source *file =
        file_read(&job->diags, job->arena, part->read[0], (size_t)machine_memory_free() / 4);
    const Source *pairs = file ? tmx_parse(&job->diags, job->arena, file, o->languages) : NULL;
    if (!pairs)
        return false;
    part->text[0].bytes = (int64_t)file->length;
    part->text[0].sha256 = hash_file(job->arena, file);
    char *path;
    int fd = temporary_file(AT_FDCWD, arena_printf(job->arena, "%s/memory-%d", o->folder, number),
                            0666, &path);
    if (fd < 0)
        return diag_errno(&job->diags, "write into", o->folder, errno), false;
    close(fd);
    part->is_made = true; /* to be removed, whatever becomes of it */
    part->read[0] = arena_strdup(job->arena, path);
    free(path);
    return file_write_own(&job->diags, part->read[0], pairs->text, pairs->length);
}

static bool name_parts(Job *job, const PrepareOptions *o, TextParts *parts)
{
    const TextFiles *texts = &o->texts;
    size_t n = texts->source.count + texts->data.count + texts->text.count;
    parts->data = ARENA_ARRAY(job->arena, TextPart, n + 1);
    for (size_t i = 0; i < texts->source.count; i++) {
        TextPart *part = add_part(job, parts, "source", texts->source.data[i]);
        part->n = 2;
        part->read[1] = texts->target.data[i];
        part->text[1] = (PreparedText){.option = "target",
                                       .file = real_path(job->arena, texts->target.data[i])};
    }
    for (size_t i = 0; i < texts->data.count; i++) {
        TextPart *part = add_part(job, parts, "data", texts->data.data[i]);
        part->has_columns = true;
        if (tmx_is_name(texts->data.data[i]) && !read_memory(job, o, part, (int)i))
            return false;
    }
    for (size_t i = 0; i < texts->text.count; i++)
        add_part(job, parts, "text", texts->text.data[i]);
    return true;
}

/* ---- scanning ---- */

enum { CHUNK = 1 << 20 };

typedef struct Scan {
    int fd;
    size_t begin, end; /* of what is in the buffer and not yet passed */
    int64_t at;        /* bytes passed */
    Sha256 sha;
    char buffer[CHUNK];
} Scan;

static bool fill(Scan *scan, TextPart *part, int k)
{
    ssize_t n;
    do
        n = read(scan->fd, scan->buffer, CHUNK);
    while (n < 0 && errno == EINTR);
    if (n < 0) {
        part->error = errno;
        part->problem = part->read[k];
    }
    scan->begin = 0;
    scan->end = n > 0 ? (size_t)n : 0;
    sha256_add(&scan->sha, scan->buffer, scan->end);
    return n > 0;
}

/* Passes a byte order mark, which is no line. */
static void pass_mark(Scan *scan, TextPart *part, int k)
{
    if (!fill(scan, part, k) || scan->end < 3 || memcmp(scan->buffer, "\xEF\xBB\xBF", 3))
        return;
    scan->begin = 3;
    scan->at = 3;
}

/* Passes a line of file k with its end; false: there is none any more, or (part->error) it cannot
 * be read. */
static bool pass_line(Scan *scan, TextPart *part, int k)
{
    int64_t start = scan->at;
    for (;;) {
        if (scan->begin == scan->end && !fill(scan, part, k))
            return !part->error && scan->at > start;
        const char *from = scan->buffer + scan->begin;
        const char *newline = memchr(from, '\n', scan->end - scan->begin);
        size_t n = newline ? (size_t)(newline + 1 - from) : scan->end - scan->begin;
        scan->begin += n;
        scan->at += (int64_t)n;
        if (newline)
            return true;
    }
}

static Scan *open_scan(const char *path, int *error)
{
    struct stat info = {0};
    Scan *scan = memory_resized(NULL, sizeof *scan);
    scan->begin = scan->end = 0;
    scan->at = 0;
    sha256_init(&scan->sha);
    scan->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (scan->fd >= 0 && !fstat(scan->fd, &info) && S_ISREG(info.st_mode))
        return scan;
    *error = scan->fd < 0 ? errno : S_ISDIR(info.st_mode) ? EISDIR : ESPIPE;
    if (scan->fd >= 0)
        close(scan->fd);
    free(scan);
    return NULL;
}

static void add_cut(TextPart *part, const TextCut *cut)
{
    if (part->n_cuts == part->room) {
        part->room = 2 * part->room + 16;
        part->cuts = memory_resized(part->cuts, (size_t)part->room * sizeof *part->cuts);
    }
    part->cuts[part->n_cuts++] = *cut;
}

static int64_t passed(const TextPart *part, Scan *const scans[2])
{
    return scans[0]->at + (part->n == 2 ? scans[1]->at : 0);
}

/* Goes through all lines; `lines_a_shard` 0: by bytes. */
static void scan_lines(TextPart *part, Scan *scans[2], int64_t lines_a_shard)
{
    TextCut cut = {0};
    bool more[2] = {true, part->n == 2};
    for (int k = 0; k < part->n; k++)
        pass_mark(scans[k], part, k);
    int64_t bytes = passed(part, scans);
    while (!part->error && (more[0] || more[1])) {
        int64_t before = passed(part, scans);
        for (int k = 0; k < part->n; k++)
            if (more[k] && (more[k] = pass_line(scans[k], part, k)))
                part->text[k].lines++;
        if (!more[0] || (part->n == 2 && !more[1]))
            continue; /* the rest of a longer file is only counted */
        cut.lines++;
        bytes += passed(part, scans) - before;
        if (lines_a_shard ? cut.lines < lines_a_shard : bytes < PREPARE_SHARD_BYTES)
            continue;
        add_cut(part, &cut);
        cut = (TextCut){.line = cut.line + cut.lines,
                        .at = {scans[0]->at, part->n == 2 ? scans[1]->at : 0}};
        bytes = 0;
    }
    if (cut.lines)
        add_cut(part, &cut);
}

typedef struct Scanning {
    TextPart *parts;
    char (*hashes)[2][2 * SHA256_BYTES + 1];
    int64_t lines_a_shard;
} Scanning;

static void scan_part(const void *context, int64_t index)
{
    const Scanning *s = context;
    TextPart *part = &s->parts[index];
    Scan *scans[2] = {0};
    for (int k = 0; k < part->n && !part->error; k++)
        if (!(scans[k] = open_scan(part->read[k], &part->error)))
            part->problem = part->read[k];
    if (!part->error)
        scan_lines(part, scans, s->lines_a_shard);
    for (int k = 0; k < part->n && scans[k]; k++) {
        if (!part->is_made) { /* a memory's are those of its own file */
            sha256_finish_text(&scans[k]->sha, s->hashes[index][k]);
            part->text[k].sha256 = s->hashes[index][k];
            part->text[k].bytes = scans[k]->at;
        }
        close(scans[k]->fd);
        free(scans[k]);
    }
}

/* A text of one line may be many, of another system. */
static bool check_ends(Job *job, const char *path)
{
    const Source *text = text_quoted(job->arena, path);
    if (!text->text || !text_has_cr_lines(text->text, text->length))
        return true;
    diag_error(&job->diags, (Loc){.source = text}, CR_LINES_ADVICE);
    return false;
}

static bool check_part(Job *job, const TextPart *part)
{
    if (part->error == ESPIPE) {
        diag_file(&job->diags, "read", part->problem,
                  "not a regular file; texts are read more than once");
        return false;
    }
    if (part->error) {
        diag_errno(&job->diags, "read", part->problem, part->error);
        return false;
    }
    if (part->n == 2 && part->text[0].lines != part->text[1].lines)
        return job_error(job, "%s",
                         pairing_counts_text(job->arena, part->read[0], part->text[0].lines,
                                             part->read[1], part->text[1].lines));
    bool ok = true;
    for (int k = 0; k < part->n; k++)
        ok = (part->text[k].lines != 1 || check_ends(job, part->read[k])) && ok;
    return ok;
}

bool prepare_texts(Job *job, const PrepareOptions *o, TextParts *parts)
{
    *parts = (TextParts){0};
    if (!name_parts(job, o, parts))
        return false;
    Scanning scanning = {parts->data, NULL, o->rows_per_shard};
    scanning.hashes = arena_array(job->arena, (size_t)parts->n, sizeof *scanning.hashes);
    team_each(o->threads, parts->n, scan_part, &scanning);
    bool ok = true;
    int64_t lines = 0;
    for (int i = 0; i < parts->n; i++) {
        ok = check_part(job, &parts->data[i]) && ok;
        lines += parts->data[i].text[0].lines;
    }
    return ok && (lines || text_files_tell_empty(job, &o->texts));
}

void prepare_texts_free(TextParts *parts)
{
    for (int i = 0; i < parts->n; i++) {
        free(parts->data[i].cuts);
        if (parts->data[i].is_made)
            unlink(parts->data[i].read[0]);
    }
}

/* ---- reading ---- */

bool pair_reader_open(Diagnostics *diags, const TextPart *part, const TextCut *from,
                      int64_t line_limit, PairReader *reader)
{
    *reader = (PairReader){.part = part};
    for (int k = 0; k < part->n; k++) {
        reader->files[k] = line_reader_open(diags, part->read[k], line_limit);
        if (!reader->files[k])
            return false;
        if (!line_reader_seek(reader->files[k], from->at[k], from->line)) {
            diag_errno(diags, "read", part->read[k], errno);
            return false;
        }
    }
    return true;
}

void pair_reader_close(PairReader *reader)
{
    for (int k = 0; k < 2; k++)
        line_reader_close(reader->files[k]);
}

enum { QUOTED_BYTES = 1 << 26 };
const Source *text_quoted(Arena *arena, const char *path)
{
    Diagnostics unseen;
    diag_init(&unseen, arena);
    const Source *whole = file_read(&unseen, arena, path, QUOTED_BYTES);
    Source *bare = ARENA_NEW(arena, Source);
    *bare = (Source){.path = arena_strdup(arena, path)};
    return whole ? whole : bare;
}

/* An error at a line of a file. */
static bool refuse(Diagnostics *diags, const char *path, int64_t line, int column, const char *what)
{
    diag_error(diags,
               (Loc){.source = text_quoted(diags->arena, path),
                     .line = (int)(line < INT32_MAX ? line : INT32_MAX),
                     .column = column},
               "%s", what);
    return false;
}

bool pair_reader_next(Diagnostics *diags, PairReader *reader, Line sides[2])
{
    const TextPart *part = reader->part;
    for (int k = 0; k < part->n; k++) {
        LineResult result = line_reader_next(reader->files[k]);
        if (result.status == LINE_END)
            result.message = "the file has fewer lines than when it was counted";
        if (result.status != LINE_READ)
            return refuse(diags, part->read[k], result.status == LINE_FAILED ? 0 : result.number,
                          result.column, result.message);
        sides[k] = result.line;
        if (!part->has_columns)
            continue;
        if (!line_columns(&result.line, sides))
            return refuse(diags, part->read[k], result.number, 1,
                          "no tab: expected a source, a tab and its target");
    }
    return true;
}
