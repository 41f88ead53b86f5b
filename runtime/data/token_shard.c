/* Writing and reading token shards. What a file says of itself is checked against its size before
 * a pointer is formed. */
#define _GNU_SOURCE
#include "runtime/data/token_shard.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/xxh64.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Words of 64 bits at the beginning of the file. */
enum {
    WORD_MAGIC,
    WORD_VERSION,
    WORD_KIND,
    WORD_ID_BYTES,
    WORD_ROWS,
    WORD_LINES,
    WORD_EMPTY,
    WORD_LONG,
    WORD_SOURCE_TOKENS,
    WORD_TARGET_TOKENS,
    WORD_SOURCE_LONGEST,
    WORD_TARGET_LONGEST,
    WORD_PARAMETERS,
    WORD_CHECKSUM,
    WORD_SEAL, /* of the words before */
    WORDS,
    HEAD_BYTES = WORDS * 8,
    LENGTH_BYTES = 4,
    VERSION = 1
};
static const char magic[8] = {'t', 'f', 'c', 's', 'h', 'a', 'r', 'd'};

int token_shard_id_bytes(int32_t source_size, int32_t target_size)
{
    return source_size <= 1 << 16 && target_size <= 1 << 16 ? 2 : 4;
}

static bool has_source(const TokenShard *shard) { return shard->kind == CORPUS_PAIRS; }

/* ---- writing ---- */

static TokenSide measure_side(const Rows *rows, int64_t n)
{
    TokenSide side = {.tokens = (int64_t)rows->ids.count};
    for (int64_t i = 0; i < n; i++)
        if (rows_length(rows, i) > side.longest)
            side.longest = rows_length(rows, i);
    return side;
}

static unsigned char *put_lengths(unsigned char *at, const Rows *rows)
{
    for (int64_t i = 0; i < rows->n; i++, at += LENGTH_BYTES) {
        uint32_t length = (uint32_t)rows_length(rows, i);
        memcpy(at, &length, sizeof length);
    }
    return at;
}

static unsigned char *put_ids(unsigned char *at, const Rows *rows, int id_bytes)
{
    for (size_t i = 0; i < rows->ids.count; i++, at += id_bytes) {
        uint32_t id = (uint32_t)rows->ids.data[i];
        uint16_t narrow = (uint16_t)id;
        memcpy(at, id_bytes == 2 ? (void *)&narrow : (void *)&id, (size_t)id_bytes);
    }
    return at;
}

static void make_head(const TokenShard *shard, uint64_t words[WORDS])
{
    memcpy(&words[WORD_MAGIC], magic, sizeof magic);
    words[WORD_VERSION] = VERSION;
    words[WORD_KIND] = shard->kind;
    words[WORD_ID_BYTES] = (uint64_t)shard->id_bytes;
    words[WORD_ROWS] = (uint64_t)shard->rows;
    words[WORD_LINES] = (uint64_t)shard->lines;
    words[WORD_EMPTY] = (uint64_t)shard->empty;
    words[WORD_LONG] = (uint64_t)shard->long_;
    words[WORD_SOURCE_TOKENS] = (uint64_t)shard->source.tokens;
    words[WORD_TARGET_TOKENS] = (uint64_t)shard->target.tokens;
    words[WORD_SOURCE_LONGEST] = (uint64_t)shard->source.longest;
    words[WORD_TARGET_LONGEST] = (uint64_t)shard->target.longest;
    words[WORD_PARAMETERS] = shard->parameters;
    words[WORD_CHECKSUM] = shard->checksum;
    words[WORD_SEAL] = xxh64(words, WORD_SEAL * 8, 0);
}

bool token_shard_write(Diagnostics *diags, const char *path, const Corpus *rows, TokenShard *shard)
{
    shard->path = path;
    shard->kind = rows->options.kind;
    shard->rows = rows->n;
    shard->lines = rows->lines;
    shard->empty = rows->empty;
    shard->long_ = rows->long_;
    shard->source = measure_side(&rows->source, rows->source.n);
    shard->target = measure_side(&rows->target, rows->target.n);
    size_t bytes = (size_t)(rows->source.n + rows->target.n) * LENGTH_BYTES +
                   (rows->source.ids.count + rows->target.ids.count) * (size_t)shard->id_bytes;
    unsigned char *data = malloc(bytes + 1), *at = data;
    FileWriter *file = data ? file_create_own(diags, path) : NULL;
    if (!data)
        diag_errno(diags, "write", path, ENOMEM);
    if (!file) {
        free(data);
        return false;
    }
    at = put_lengths(put_lengths(at, &rows->source), &rows->target);
    at = put_ids(put_ids(at, &rows->source, shard->id_bytes), &rows->target, shard->id_bytes);
    shard->checksum = xxh64(data, bytes, 0);
    uint64_t words[WORDS];
    make_head(shard, words);
    file_write(file, words, sizeof words);
    file_write(file, data, bytes);
    free(data);
    return file_commit(file, diags);
}

/* ---- reading ---- */

static bool refuse(Diagnostics *diags, const char *path, const char *what)
{
    diag_error(diags, (Loc){0}, "%s: %s", path, what);
    return false;
}

int64_t token_shard_length(const TokenSide *side, int64_t i)
{
    uint32_t length;
    memcpy(&length, side->lengths + i * LENGTH_BYTES, sizeof length);
    return length;
}

/* Whether the lengths of the rows are those that the fields tell of. */
static bool check_side(const TokenShard *shard, const TokenSide *side)
{
    int64_t tokens = 0, longest = 0;
    for (int64_t i = 0; side->lengths && i < shard->rows; i++) {
        int64_t length = token_shard_length(side, i);
        tokens += length;
        if (length > longest)
            longest = length;
    }
    return tokens == side->tokens && longest == side->longest;
}

/* The fields; every count is below `most`. */
static bool read_words(const uint64_t words[WORDS], uint64_t most, TokenShard *shard)
{
    for (int i = WORD_ROWS; i <= WORD_TARGET_LONGEST; i++)
        if (words[i] > (i == WORD_LINES || i == WORD_EMPTY || i == WORD_LONG ? INT64_MAX : most))
            return false;
    shard->kind = (CorpusKind)words[WORD_KIND];
    shard->id_bytes = (int)words[WORD_ID_BYTES];
    shard->rows = (int64_t)words[WORD_ROWS];
    shard->lines = (int64_t)words[WORD_LINES];
    shard->empty = (int64_t)words[WORD_EMPTY];
    shard->long_ = (int64_t)words[WORD_LONG];
    shard->source.tokens = (int64_t)words[WORD_SOURCE_TOKENS];
    shard->target.tokens = (int64_t)words[WORD_TARGET_TOKENS];
    shard->source.longest = (int64_t)words[WORD_SOURCE_LONGEST];
    shard->target.longest = (int64_t)words[WORD_TARGET_LONGEST];
    shard->parameters = words[WORD_PARAMETERS];
    shard->checksum = words[WORD_CHECKSUM];
    bool known = words[WORD_KIND] == CORPUS_PAIRS || words[WORD_KIND] == CORPUS_LINES ||
                 words[WORD_KIND] == CORPUS_STREAM;
    return known && (words[WORD_ID_BYTES] == 2 || words[WORD_ID_BYTES] == 4);
}

/* Where the lengths and ids lie, if the file has just as many bytes. */
static bool place_sides(TokenShard *shard)
{
    const uint64_t rows = (uint64_t)shard->rows, id_bytes = (uint64_t)shard->id_bytes;
    const uint64_t source = (uint64_t)shard->source.tokens, target = (uint64_t)shard->target.tokens;
    const uint64_t sides = has_source(shard) ? 2 : 1;
    if (HEAD_BYTES + sides * rows * LENGTH_BYTES + (source + target) * id_bytes != shard->size)
        return false;
    const unsigned char *at = shard->data + HEAD_BYTES;
    if (has_source(shard)) {
        shard->source.lengths = at;
        at += rows * LENGTH_BYTES;
    }
    shard->target.lengths = at;
    shard->source.ids = at + rows * LENGTH_BYTES;
    shard->target.ids = shard->source.ids + source * id_bytes;
    return true;
}

bool token_shard_parse(Diagnostics *diags, const char *path, const void *bytes, size_t size,
                       TokenShard *shard)
{
    uint64_t words[WORDS];
    *shard = (TokenShard){.path = path, .data = bytes, .size = size};
    if (size < HEAD_BYTES)
        return refuse(diags, path, "the file is cut off: it ends within its first fields");
    memcpy(words, bytes, sizeof words);
    if (memcmp(&words[WORD_MAGIC], magic, sizeof magic))
        return refuse(diags, path, "not a shard of tfc prepare");
    if (words[WORD_VERSION] != VERSION)
        return refuse(diags, path, "a shard of another version of tfc prepare");
    if (words[WORD_SEAL] != xxh64(words, WORD_SEAL * 8, 0))
        return refuse(diags, path,
                      "the file is damaged: the checksum of its fields does not match");
    if (!read_words(words, size, shard))
        return refuse(diags, path,
                      "the file is damaged: the fields of its header contradict each other");
    if (!place_sides(shard))
        return refuse(
            diags, path,
            "the file is cut off or damaged: its header names more or fewer bytes than it has");
    if (!check_side(shard, &shard->source) || !check_side(shard, &shard->target))
        return refuse(
            diags, path,
            "the file is damaged: the lengths of its rows are not those that its fields tell of");
    return true;
}

bool token_shard_open(Diagnostics *diags, const char *path, TokenShard *shard)
{
    *shard = (TokenShard){.path = path};
    uint64_t size;
    const void *map = file_map(diags, path, &size);
    if (!map)
        return false;
    if (size)
        madvise((void *)map, size, MADV_WILLNEED);
    if (!token_shard_parse(diags, path, map, size, shard)) {
        file_unmap(map, size);
        return false;
    }
    shard->map = map;
    return true;
}

void token_shard_close(TokenShard *shard)
{
    file_unmap(shard->map, shard->size);
    *shard = (TokenShard){.path = shard->path};
}

/* ---- ids ---- */

static uint32_t id_at(const TokenShard *shard, const TokenSide *side, int64_t i)
{
    uint32_t wide;
    uint16_t narrow;
    if (shard->id_bytes == 2) {
        memcpy(&narrow, side->ids + i * 2, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, side->ids + i * 4, sizeof wide);
    return wide;
}

static bool check_ids(const TokenShard *shard, const TokenSide *side, int32_t size)
{
    uint32_t largest = 0;
    for (int64_t i = 0; i < side->tokens; i++) {
        uint32_t id = id_at(shard, side, i);
        largest = id > largest ? id : largest;
    }
    return !side->tokens || largest < (uint32_t)size;
}

void token_shard_unknown(const TokenShard *shard, const TokenSide *side, int32_t unk,
                         UnknownCount *count)
{
    for (int64_t i = 0; i < side->tokens; i++) {
        int32_t id = (int32_t)id_at(shard, side, i);
        unknown_add(count, &id, 1, unk);
    }
}

bool token_shard_check(Diagnostics *diags, const TokenShard *shard, int32_t source_size,
                       int32_t target_size)
{
    if (xxh64(shard->data + HEAD_BYTES, shard->size - HEAD_BYTES, 0) != shard->checksum)
        return refuse(diags, shard->path, "the file is damaged: its checksum does not match");
    return (check_ids(shard, &shard->source, source_size) &&
            check_ids(shard, &shard->target, target_size)) ||
           refuse(diags, shard->path, "it has ids that the vocabulary has no token for");
}

void token_shard_ids(const TokenShard *shard, const TokenSide *side, int64_t first, int64_t n,
                     Ids *out)
{
    if (out->count + (size_t)n > out->capacity) {
        out->capacity = 2 * out->capacity + (size_t)n;
        out->data = memory_resized(out->data, out->capacity * sizeof *out->data);
    }
    for (int64_t i = 0; i < n; i++)
        out->data[out->count++] = (int32_t)id_at(shard, side, first + i);
}
