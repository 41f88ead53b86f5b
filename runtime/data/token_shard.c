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
    VERSION_TEXT = 1,
    VERSION_COLUMNS = 2
};
/* … and before the rows of a column. */
enum { COLUMN_BYTES, COLUMN_VALUES, COLUMN_LONGEST, COLUMN_WORDS };

static const char magic[8] = {'t', 'f', 'c', 's', 'h', 'a', 'r', 'd'};

int token_shard_id_bytes(int64_t source_size, int64_t target_size)
{
    enum { MOST = 1 << 16 };
    return source_size && source_size <= MOST && target_size && target_size <= MOST ? 2 : 4;
}

/* ---- writing ---- */

static TokenSide measure_side(const Rows *rows, int bytes)
{
    TokenSide side = {.tokens = (int64_t)rows->ids.count, .bytes = bytes};
    for (int64_t i = 0; i < rows->n; i++)
        if (rows_length(rows, i) > side.longest)
            side.longest = rows_length(rows, i);
    return side;
}

static void measure_shard(const Corpus *rows, TokenShard *shard)
{
    int64_t sizes[MOST_VALUES];
    corpus_sizes(&rows->options, rows->vocab, sizes);
    shard->n_columns = rows->options.n_columns;
    for (int k = 0; k < corpus_values(&rows->options); k++)
        shard->sides[k] = measure_side(&rows->values[k],
                                       k < FIRST_COLUMN ? shard->id_bytes
                                                        : token_shard_id_bytes(sizes[k], sizes[k]));
}

static unsigned char *put_lengths(unsigned char *at, const Rows *rows)
{
    for (int64_t i = 0; i < rows->n; i++, at += LENGTH_BYTES) {
        uint32_t length = (uint32_t)rows_length(rows, i);
        memcpy(at, &length, sizeof length);
    }
    return at;
}

/* none: what is added, so that none is below 0. */
static unsigned char *put_ids(unsigned char *at, const Rows *rows, int bytes, int32_t none)
{
    for (size_t i = 0; i < rows->ids.count; i++, at += bytes) {
        uint32_t id = (uint32_t)rows->ids.data[i] + (uint32_t)none;
        uint16_t narrow = (uint16_t)id;
        memcpy(at, bytes == 2 ? (void *)&narrow : (void *)&id, (size_t)bytes);
    }
    return at;
}

static unsigned char *put_word(unsigned char *at, int64_t word)
{
    memcpy(at, &word, sizeof word);
    return at + sizeof word;
}

static unsigned char *put_columns(unsigned char *at, const Corpus *rows, const TokenShard *shard)
{
    if (shard->n_columns)
        at = put_word(at, shard->n_columns);
    for (int c = 0; c < shard->n_columns; c++) {
        const TokenSide *column = &shard->columns[c];
        const int64_t words[COLUMN_WORDS] = {[COLUMN_BYTES] = column->bytes,
                                             [COLUMN_VALUES] = column->tokens,
                                             [COLUMN_LONGEST] = column->longest};
        for (int i = 0; i < COLUMN_WORDS; i++)
            at = put_word(at, words[i]);
        at = put_ids(put_lengths(at, &rows->columns[c]), &rows->columns[c], column->bytes,
                     column_none(&rows->options.columns[c]));
    }
    return at;
}

/* Bytes of lengths and ids, and of what stands before those of columns. */
static size_t count_bytes(const Corpus *rows, const TokenShard *shard)
{
    size_t words = shard->n_columns ? 1 + (size_t)shard->n_columns * COLUMN_WORDS : 0;
    size_t bytes = words * sizeof(int64_t);
    for (int k = 0; k < corpus_values(&rows->options); k++)
        bytes += (size_t)rows->values[k].n * LENGTH_BYTES +
                 (size_t)(shard->sides[k].tokens * shard->sides[k].bytes);
    return bytes;
}

static void make_head(const TokenShard *shard, uint64_t words[WORDS])
{
    memcpy(&words[WORD_MAGIC], magic, sizeof magic);
    words[WORD_VERSION] = shard->n_columns ? VERSION_COLUMNS : VERSION_TEXT;
    words[WORD_KIND] = (uint64_t)corpus_kind_numbers[shard->kind];
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
    measure_shard(rows, shard);
    size_t bytes = count_bytes(rows, shard);
    unsigned char *data = malloc(bytes + 1), *at = data;
    FileWriter *file = data ? file_create_own(diags, path) : NULL;
    if (!data)
        diag_errno(diags, "write", path, ENOMEM);
    if (!file) {
        free(data);
        return false;
    }
    at = put_lengths(put_lengths(at, &rows->source), &rows->target);
    at = put_ids(at, &rows->source, shard->id_bytes, 0);
    at = put_ids(at, &rows->target, shard->id_bytes, 0);
    put_columns(at, rows, shard);
    shard->checksum = xxh64(data, bytes, 0);
    uint64_t words[WORDS];
    make_head(shard, words);
    file_write(file, words, sizeof words);
    file_write(file, data, bytes);
    free(data);
    return file_commit(file, diags);
}

/* ---- reading ---- */

static bool refuse_shard(Diagnostics *diags, const char *path, const char *what)
{
    diag_error(diags, (Loc){0}, "%s: %s", path, what);
    return false;
}

int64_t token_shard_length(const TokenSide *side, int64_t i)
{
    uint32_t length = 0;
    if (side->lengths)
        memcpy(&length, side->lengths + i * LENGTH_BYTES, sizeof length);
    return length;
}

/* Whether the lengths of the rows are those that the fields tell of. */
static bool check_side(const TokenShard *shard, const TokenSide *side)
{
    int64_t tokens = 0, longest = 0;
    for (int64_t i = 0; i < shard->rows; i++) {
        int64_t length = token_shard_length(side, i);
        tokens += length;
        if (length > longest)
            longest = length;
    }
    return tokens == side->tokens && longest == side->longest;
}

/* False: no kind that a shard has is of this number. */
static bool read_kind(uint64_t number, CorpusKind *kind)
{
    static const CorpusKind kinds[] = {CORPUS_PAIRS, CORPUS_LINES, CORPUS_STREAM, CORPUS_RECORDS};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if ((uint64_t)corpus_kind_numbers[ *kind = kinds[i]] == number)
            return true;
    return false;
}

/* The fields; every count is below `most`. */
static bool read_words(const uint64_t words[WORDS], uint64_t most, TokenShard *shard)
{
    for (int i = WORD_ROWS; i <= WORD_TARGET_LONGEST; i++)
        if (words[i] > (i == WORD_LINES || i == WORD_EMPTY || i == WORD_LONG ? INT64_MAX : most))
            return false;
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
    shard->source.bytes = shard->target.bytes = shard->id_bytes;
    return read_kind(words[WORD_KIND], &shard->kind) &&
           (words[WORD_ID_BYTES] == 2 || words[WORD_ID_BYTES] == 4);
}

/* Where the lengths and ids of source and target lie; what follows them, or NULL if the file has
 * fewer bytes. */
static const unsigned char *place_sides(TokenShard *shard)
{
    const uint64_t rows = (uint64_t)shard->rows, id_bytes = (uint64_t)shard->id_bytes;
    const uint64_t source = (uint64_t)shard->source.tokens, target = (uint64_t)shard->target.tokens;
    const uint64_t sides = !!(shard->kind & HAS_SOURCE) + !!(shard->kind & HAS_TARGET);
    if (HEAD_BYTES + sides * rows * LENGTH_BYTES + (source + target) * id_bytes > shard->size)
        return NULL;
    const unsigned char *at = shard->data + HEAD_BYTES;
    if (shard->kind & HAS_SOURCE) {
        shard->source.lengths = at;
        at += rows * LENGTH_BYTES;
    }
    if (shard->kind & HAS_TARGET) {
        shard->target.lengths = at;
        at += rows * LENGTH_BYTES;
    }
    shard->source.ids = at;
    shard->target.ids = at + source * id_bytes;
    return shard->target.ids + target * id_bytes;
}

/* The columns, which the bytes from `at` on must be to the last. */
static bool place_columns(TokenShard *shard, const unsigned char *at)
{
    const unsigned char *end = shard->data + shard->size;
    const uint64_t rows = (uint64_t)shard->rows;
    uint64_t n, words[COLUMN_WORDS];
    if ((size_t)(end - at) < sizeof n)
        return false;
    memcpy(&n, at, sizeof n);
    at += sizeof n;
    if (n > MOST_COLUMNS)
        return false;
    for (; shard->n_columns < (int)n; shard->n_columns++) {
        TokenSide *column = &shard->columns[shard->n_columns];
        if ((size_t)(end - at) < sizeof words)
            return false;
        memcpy(words, at, sizeof words);
        at += sizeof words;
        const uint64_t bytes = words[COLUMN_BYTES], values = words[COLUMN_VALUES];
        if ((bytes != 2 && bytes != 4) || values > shard->size ||
            words[COLUMN_LONGEST] > shard->size ||
            rows * LENGTH_BYTES + values * bytes > (uint64_t)(end - at))
            return false;
        *column = (TokenSide){.tokens = (int64_t)values,
                              .longest = (int64_t)words[COLUMN_LONGEST],
                              .bytes = (int)bytes,
                              .lengths = at,
                              .ids = at + rows * LENGTH_BYTES};
        at = column->ids + values * bytes;
    }
    return at == end;
}

/* Whether the file has just the bytes that its fields tell of. */
static bool place_all(TokenShard *shard, uint64_t version)
{
    const unsigned char *at = place_sides(shard);
    return at && (version == VERSION_COLUMNS ? place_columns(shard, at)
                                             : at == shard->data + shard->size);
}

static bool check_lengths(const TokenShard *shard)
{
    bool ok = true;
    for (int k = 0; k < FIRST_COLUMN + shard->n_columns && ok; k++)
        ok = check_side(shard, &shard->sides[k]);
    return ok;
}

bool token_shard_parse(Diagnostics *diags, const char *path, const void *bytes, size_t size,
                       TokenShard *shard)
{
    uint64_t words[WORDS];
    *shard = (TokenShard){.path = path, .data = bytes, .size = size};
    if (size < HEAD_BYTES)
        return refuse_shard(diags, path, "the file is cut off: it ends within its first fields");
    memcpy(words, bytes, sizeof words);
    if (memcmp(&words[WORD_MAGIC], magic, sizeof magic))
        return refuse_shard(diags, path, "not a shard of tfc prepare");
    if (words[WORD_VERSION] != VERSION_TEXT && words[WORD_VERSION] != VERSION_COLUMNS)
        return refuse_shard(diags, path, "a shard of another version of tfc prepare");
    if (words[WORD_SEAL] != xxh64(words, WORD_SEAL * 8, 0))
        return refuse_shard(diags, path,
                            "the file is damaged: the checksum of its fields does not match");
    if (!read_words(words, size, shard))
        return refuse_shard(diags, path,
                            "the file is damaged: the fields of its header contradict each other");
    if (!place_all(shard, words[WORD_VERSION]))
        return refuse_shard(
            diags, path,
            "the file is cut off or damaged: its header names more or fewer bytes than it has");
    if (!check_lengths(shard))
        return refuse_shard(
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

static uint32_t id_at(const TokenSide *side, int64_t i)
{
    uint32_t wide;
    uint16_t narrow;
    if (side->bytes == 2) {
        memcpy(&narrow, side->ids + i * 2, sizeof narrow);
        return narrow;
    }
    memcpy(&wide, side->ids + i * 4, sizeof wide);
    return wide;
}

static bool check_ids(const TokenSide *side, int64_t size)
{
    uint32_t largest = 0;
    for (int64_t i = 0; i < side->tokens; i++) {
        uint32_t id = id_at(side, i);
        largest = id > largest ? id : largest;
    }
    return !side->tokens || (int64_t)largest < size;
}

void token_shard_unknown(const TokenSide *side, int32_t unk, UnknownCount *count)
{
    for (int64_t i = 0; i < side->tokens; i++) {
        int32_t id = (int32_t)id_at(side, i);
        unknown_add(count, &id, 1, unk);
    }
}

bool token_shard_check(Diagnostics *diags, const TokenShard *shard, const int64_t *sizes)
{
    if (xxh64(shard->data + HEAD_BYTES, shard->size - HEAD_BYTES, 0) != shard->checksum)
        return refuse_shard(diags, shard->path, "the file is damaged: its checksum does not match");
    for (int k = 0; k < FIRST_COLUMN + shard->n_columns; k++)
        if (sizes[k] && !check_ids(&shard->sides[k], sizes[k]))
            return refuse_shard(diags, shard->path,
                                k < FIRST_COLUMN
                                    ? "it has ids that the vocabulary has no token for"
                                    : "a column has values that the model does not take");
    return true;
}

void token_shard_ids(const TokenSide *side, int64_t first, int64_t n, Ids *out)
{
    if (out->count + (size_t)n > out->capacity) {
        out->capacity = 2 * out->capacity + (size_t)n;
        out->data = memory_resized(out->data, out->capacity * sizeof *out->data);
    }
    for (int64_t i = 0; i < n; i++)
        out->data[out->count++] = (int32_t)id_at(side, first + i);
}
