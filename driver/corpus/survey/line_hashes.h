/* Hashes of lines seen: to tell that one was there before, without its text. */
#ifndef DRIVER_CORPUS_SURVEY_LINE_HASHES_H
#define DRIVER_CORPUS_SURVEY_LINE_HASHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct LineHashes {
    uint64_t *keys;  /* 0: free */
    int64_t *lines;  /* the first with that hash, from 1; below 0: it was marked */
    size_t count, capacity;
} LineHashes;

/* Adds it unless it is there; the line where it was first, or 0 if it is new. */
int64_t line_hashes_add(LineHashes *hashes, uint64_t hash, int64_t line);
/* The line where it was first; 0: nowhere. `mark`: it is marked. */
int64_t line_hashes_find(LineHashes *hashes, uint64_t hash, bool mark);
bool line_hashes_is_marked(const LineHashes *hashes, uint64_t hash);
void line_hashes_free(LineHashes *hashes);

#endif
