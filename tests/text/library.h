/* libsentencepiece as the tests see it (in C++: within extern "C"): models trained with any
 * settings, text encoded and decoded. What runtime/text is compared with. */
#ifndef TESTS_TEXT_LIBRARY_H
#define TESTS_TEXT_LIBRARY_H

#include "runtime/text/grow.h"

typedef struct Library Library;

Library *library_load(const void *bytes, size_t size); /* NULL: no model */
void library_free(Library *library);
/* Appends; what the library refuses adds nothing. */
void library_encode(const Library *library, const char *text, size_t length, TokenIds *ids);
void library_decode(const Library *library, const int32_t *ids, size_t n, TokenText *text);
int library_size(const Library *library);
int library_find(const Library *library, const char *piece);
/* pad, unk, bos, eos. */
void library_special(const Library *library, int32_t ids[4]);

/* A model of these lines by settings "--model_type=bpe --vocab_size=400"; its bytes are
 * appended. false: the library refuses. */
bool library_train(const char *settings, const char *const *lines, const size_t *lengths, size_t n,
                   TokenText *model);
#endif
