/* What tests of ByteSource and RecordCutter share: the same bytes as each kind of source. */
#ifndef TESTS_BASE_SOURCES_H
#define TESTS_BASE_SOURCES_H

#include "base/byte_source.h"
#include "tests/packing.h"

#include <sys/mman.h>
#include <unistd.h>

/* SourceKind: from SOURCE_GZIP on, files of packs[kind - SOURCE_GZIP]. A pipe holds what is written
 * into it without a reader. */
typedef enum SourceKind {
    SOURCE_MEMORY,
    SOURCE_FILE,
    SOURCE_PIPE,
    SOURCE_GZIP,
    SOURCE_XZ,
    SOURCE_ZSTD,
    N_SOURCES
} SourceKind;

typedef struct Sourced {
    ByteSource source;
    Text bytes; /* as they are stored */
} Sourced;

static inline void source_bytes(Text *out, SourceKind kind, const char *text, size_t n)
{
    if (kind >= SOURCE_GZIP)
        packs[kind - SOURCE_GZIP].pack(out, text, n);
    else
        text_put(out, text, n);
}

static inline void source_open(Sourced *s, SourceKind kind, const char *text, size_t n)
{
    *s = (Sourced){.bytes = {0}};
    source_bytes(&s->bytes, kind, text, n);
    int ends[2] = {-1, -1};
    if (kind == SOURCE_MEMORY) {
        byte_source_memory(&s->source, text, n);
        return;
    }
    if (kind == SOURCE_PIPE)
        packing_needs(!pipe(ends));
    else
        ends[0] = ends[1] = memfd_create("source", MFD_CLOEXEC);
    packing_needs(write(ends[1], s->bytes.data, s->bytes.length) == (ssize_t)s->bytes.length);
    if (kind == SOURCE_PIPE)
        close(ends[1]);
    else
        packing_needs(lseek(ends[0], 0, SEEK_SET) == 0);
    byte_source_of(&s->source, ends[0]);
    byte_source_unpack(&s->source);
}

static inline void source_close(Sourced *s)
{
    byte_source_close(&s->source);
    text_free(&s->bytes);
}

#endif
