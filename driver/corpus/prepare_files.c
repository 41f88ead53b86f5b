/* Opening the files of texts, and making temporary ones of what cannot be read in pieces. */
#define _GNU_SOURCE
#include "driver/corpus/prepare_parts.h"

#include "base/byte_source.h"
#include "base/file.h"
#include "base/machine.h"
#include "base/sha256.h"
#include "base/temporary.h"
#include "driver/corpus/table_stream.h"
#include "runtime/data/tmx.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 1 << 20 };

/* ---- temporary files ---- */

/* Makes file k of a part a temporary one beside the shards, for as long as this process. Open for
 * writing; -1 after an error. */
static int make_file(Job *job, const PrepareOptions *o, TextPart *part, int k)
{
    char *path;
    int fd = temporary_file(AT_FDCWD, arena_printf(job->arena, "%s/text", o->folder), 0666, &path);
    if (fd < 0)
        return diag_errno(&job->diags, "write into", o->folder, errno), -1;
    part->is_made[k] = true; /* to be removed, whatever becomes of it */
    part->read[k] = arena_strdup(job->arena, path);
    free(path);
    return fd;
}

bool prepare_file_from_memory(Job *job, const PrepareOptions *o, TextPart *part)
{
    const Source *file =
        file_read(&job->diags, job->arena, part->read[0], (size_t)machine_memory_free() / 4);
    const Source *pairs = file ? tmx_parse(&job->diags, job->arena, file, o->languages) : NULL;
    if (!pairs)
        return false;
    part->text[0].bytes = (int64_t)file->length;
    part->text[0].sha256 = sha256_text(job->arena, file->text, file->length);
    int fd = make_file(job, o, part, 0);
    if (fd < 0)
        return false;
    close(fd);
    return file_write_own(&job->diags, part->read[0], pairs->text, pairs->length);
}

/* Writes the rows of a table as lines; false after an error. */
static bool write_rows(Job *job, const PrepareOptions *o, TextPart *part, TableStream *stream,
                       int to)
{
    Sha256 sha;
    Text rows = {0};
    CorpusText text;
    int64_t n;
    bool ok = true, more = true;
    sha256_init(&sha);
    while (ok && more) {
        ok = table_stream_next(stream, &text, &n);
        more = ok && n;
        rows.length = 0;
        for (int64_t i = 0; more && i < n; i++)
            pair_put_row(&rows, &text.source->at[i], &text.target->at[i]);
        sha256_add(&sha, rows.data, rows.length);
        part->text[0].bytes += (int64_t)rows.length;
        if (ok && rows.length && !file_put(to, rows.data, rows.length)) {
            diag_errno(&job->diags, "write into", o->folder, errno);
            ok = false;
        }
    }
    text_free(&rows);
    char *hash = arena_alloc(job->arena, 2 * SHA256_BYTES + 1);
    sha256_finish_text(&sha, hash);
    part->text[0].sha256 = hash;
    return ok;
}

bool prepare_file_from_table(Job *job, const PrepareOptions *o, TextPart *part,
                             const PairFields *fields)
{
    const TableStreamOptions options = {.line_limit = o->line_limit};
    const TextList path = {.data = &part->name[0], .count = 1};
    const TableFields columns = pair_table_fields(fields);
    const int errors = job->diags.errors;
    TableStream *stream = table_stream_open(job, &path, &columns, &options);
    const int to = stream ? make_file(job, o, part, 0) : -1;
    const bool ok = to >= 0 && write_rows(job, o, part, stream, to);
    table_stream_close(stream);
    if (to >= 0)
        close(to);
    if (!ok && job->diags.errors > errors && stream && !o->texts.columns.count)
        field_pair_advise(job, &pair_sides, diag_source(job->arena, part->name[0], "", 0));
    return ok;
}

/* ---- compressed files ---- */

int prepare_file_open(const char *path, int *error)
{
    struct stat info = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && !fstat(fd, &info) && S_ISREG(info.st_mode))
        return fd;
    *error = fd < 0 || !info.st_mode ? errno : S_ISDIR(info.st_mode) ? EISDIR : ESPIPE;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* PackedHash: the hash and length of a compressed file as it is. */
typedef struct PackedHash {
    Sha256 sha;
    int64_t bytes;
} PackedHash;

static void hash_packed(void *context, const void *bytes, size_t n)
{
    PackedHash *hash = context;
    sha256_add(&hash->sha, bytes, n);
    hash->bytes += (int64_t)n;
}

/* Writes what a compressed file holds; false after an error. */
static bool write_unpacked(Job *job, const PrepareOptions *o, const char *name, ByteSource *from,
                           int to)
{
    int64_t bytes = 0;
    bool ok = true;
    while (ok && (from->length || byte_source_more(from, CHUNK))) {
        ok = file_put(to, from->data, from->length);
        bytes += (int64_t)from->length;
        byte_source_pass(from, from->length);
    }
    if (!ok)
        diag_errno(&job->diags, "write into", o->folder, errno);
    if (!ok || !byte_source_check(from, &job->diags, name))
        return false;
    Text size = {0};
    text_bytes(&size, bytes);
    diag_remark(&job->diags, (Loc){0},
                "%s is unpacked into %s, where its text takes %s as long as this runs", name,
                o->folder, size.data);
    text_free(&size);
    return true;
}

bool prepare_file_unpack(Job *job, const PrepareOptions *o, TextPart *part, int k)
{
    ByteSource source = {.fd = -1};
    PackedHash hash = {.bytes = 0};
    int error, fd = part->is_made[k] ? -1 : prepare_file_open(part->read[k], &error);
    bool ok = true;
    if (fd < 0)
        return true;
    sha256_init(&hash.sha);
    byte_source_of(&source, fd);
    byte_source_unpack(&source);
    source.observe = hash_packed;
    source.context = &hash;
    byte_source_look(&source, 1);
    if (source.is_packed) {
        const int to = make_file(job, o, part, k);
        ok = to >= 0 && write_unpacked(job, o, part->name[k], &source, to);
        if (to >= 0)
            close(to);
        char *text = arena_alloc(job->arena, 2 * SHA256_BYTES + 1);
        sha256_finish_text(&hash.sha, text);
        part->text[k].sha256 = text;
        part->text[k].bytes = hash.bytes;
    }
    byte_source_close(&source);
    return ok;
}
