/* Tokenizers: text to token ids and back, from files in memory, with libc alone.
 *
 *   const char *problem;
 *   Tokenizer *t = tokenizer_sentencepiece(bytes, size, &problem);  // the bytes outlive it
 *   TokenIds ids = {0};
 *   tokenizer_encode(t, text, length, &ids);                        // no bos, no eos
 *   tokenizer_decode(t, ids.data, ids.count, &out);
 *   tokenizer_free(t);
 *
 * A Tokenizer never changes: several threads may use one at once. Nothing here ends the
 * process: what lacks memory says so. */
#ifndef RUNTIME_TEXT_TOKENIZER_H
#define RUNTIME_TEXT_TOKENIZER_H

#include "runtime/text/grow.h"

typedef struct Tokenizer Tokenizer;

/* Of a SentencePiece model (unigram, bpe, char or word), equal to libsentencepiece. The bytes
 * may lie in read-only memory; pieces and rules are read where they lie. NULL: they are no
 * such model, and *problem tells why, or there is no memory, and *problem is NULL. */
Tokenizer *tokenizer_sentencepiece(const void *bytes, size_t size, const char **problem);
/* Of a list of words or characters (word_tokens.h) with the four special tokens, as vocab_save
 * (runtime/data) writes it. The rest as of tokenizer_sentencepiece. Joiners, `@@ ` between words,
 * are undone by decoding. */
Tokenizer *tokenizer_words(const void *bytes, size_t size, const char **problem);
void tokenizer_free(Tokenizer *tokenizer); /* NULL is allowed */

int32_t tokenizer_size(const Tokenizer *tokenizer);
/* Whether it is a tokenizer.json whose tokens are whole words (WordLevel). */
bool tokenizer_is_words(const Tokenizer *tokenizer);
/* Special ids, each -1 where there is none. */
typedef struct TokenizerSpecial {
    int32_t pad, unk, bos, eos;
} TokenizerSpecial;
TokenizerSpecial tokenizer_special(const Tokenizer *tokenizer);
/* The special ids that published models want around a source: before and after its own. */
typedef struct TokenizerFrame {
    const int32_t *before, *after;
    int32_t n_before, n_after;
} TokenizerFrame;
TokenizerFrame tokenizer_frame(const Tokenizer *tokenizer); /* empty for SentencePiece models */
/* Whether special tokens that a text names are read as such, as at first, or as any other text; before
 * several threads use it. SentencePiece models and lists of words have them as text in any case. */
void tokenizer_read_special(Tokenizer *tokenizer, bool reads);
/* The piece of an id, not NUL-terminated, as long as the bytes; "" of length 0 outside. */
const char *tokenizer_piece(const Tokenizer *tokenizer, int32_t id, size_t *length);
/* The id whose piece these bytes are, -1 where there is none. */
int32_t tokenizer_find(const Tokenizer *tokenizer, const char *piece, size_t length);

/* Appends the ids of a text of at most TOKENIZER_MOST bytes; bytes that are no UTF-8 count as
 * U+FFFD each. false, and nothing is appended: see tokenizer_problem. */
enum { TOKENIZER_MOST = 1 << 28 };
bool tokenizer_encode(const Tokenizer *tokenizer, const char *text, size_t length, TokenIds *ids);
/* Why the last call in this thread was false, until the next one; NULL: no memory or too long. */
const char *tokenizer_problem(void);
/* Appends the text of ids; those outside the vocabulary count as absent, control symbols have
 * no text. false: no memory, and nothing is appended. */
bool tokenizer_decode(const Tokenizer *tokenizer, const int32_t *ids, size_t n, TokenText *text);
/* The same for texts that people and C strings take: a NUL, which tokens of single bytes may give, stands
 * as U+FFFD. */
bool tokenizer_decode_text(const Tokenizer *tokenizer, const int32_t *ids, size_t n, TokenText *text);

#endif
