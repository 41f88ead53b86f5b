/* Tokenizers: text to token ids and back, from files in memory. These functions need libc alone;
 * tokenizers of a tokenizer.json (hf/tokenizer_json.h) need more.
 *
 *   const char *problem;
 *   Tokenizer *t = tokenizer_sentencepiece(bytes, size, &problem);  // the bytes outlive it
 *   TokenIds ids = {0}; TokenText out = {0};                        // token_ids_free, …
 *   tokenizer_encode(t, text, length, &ids);                        // no bos, no eos
 *   tokenizer_decode(t, ids.data, ids.count, &out);
 *   tokenizer_free(t);
 *
 * Only tokenizer_read_special changes a Tokenizer: several threads may use one at once. If memory
 * runs out, a function returns NULL or false. */
#ifndef RUNTIME_TEXT_TOKENIZER_H
#define RUNTIME_TEXT_TOKENIZER_H

#include "runtime/text/grow.h"

typedef struct Tokenizer Tokenizer;

/* The tokenizer of a SentencePiece model (unigram, bpe, char or word); gives the same ids as
 * libsentencepiece. The bytes are not copied and may be in read-only memory: they must live as long
 * as the tokenizer. NULL: the bytes are no such model, and *problem is the reason, a constant; or
 * memory ran out, and *problem is NULL. `problem` may be NULL. */
Tokenizer *tokenizer_sentencepiece(const void *bytes, size_t size, const char **problem);
/* The tokenizer of a list of words or characters (word_tokens.h) with the four special tokens, as
 * vocab_save (runtime/data) writes it. Bytes and errors as above. Decoding removes the joiner `@@`
 * at a word's end with the space after it. */
Tokenizer *tokenizer_words(const void *bytes, size_t size, const char **problem);
void tokenizer_free(Tokenizer *tokenizer); /* NULL is allowed */

int32_t tokenizer_size(const Tokenizer *tokenizer);
/* Whether the tokenizer was made from a tokenizer.json whose tokens are whole words (WordLevel). */
bool tokenizer_is_words(const Tokenizer *tokenizer);
/* Special ids; -1: there is no such token. */
typedef struct TokenizerSpecial {
    int32_t pad, unk, bos, eos;
} TokenizerSpecial;
TokenizerSpecial tokenizer_special(const Tokenizer *tokenizer);
/* The special ids that a published model expects before and after the tokens of a source. */
typedef struct TokenizerFrame {
    const int32_t *before, *after;
    int32_t n_before, n_after;
} TokenizerFrame;
TokenizerFrame tokenizer_frame(const Tokenizer *tokenizer); /* empty if no tokenizer.json has it */
/* Sets whether a special token's name in a text is read as that token (the default) or as any other
 * text. To be called before several threads use the tokenizer. SentencePiece models and lists of
 * words always read it as text. */
void tokenizer_read_special(Tokenizer *tokenizer, bool reads);
/* The piece of an id, not NUL-terminated; it lives as long as the tokenizer and its bytes. An id
 * outside the vocabulary has the piece "", of length 0. */
const char *tokenizer_piece(const Tokenizer *tokenizer, int32_t id, size_t *length);
/* The id whose piece these bytes are; -1: there is none. */
int32_t tokenizer_find(const Tokenizer *tokenizer, const char *piece, size_t length);

/* Appends the ids of a text of at most TOKENIZER_MOST bytes. Each byte that is not valid UTF-8
 * counts as U+FFFD, but lists of words take it as it is. false: nothing is appended, and
 * tokenizer_problem has the reason. */
enum { TOKENIZER_MOST = 1 << 28 };
bool tokenizer_encode(const Tokenizer *tokenizer, const char *text, size_t length, TokenIds *ids);
/* Why the last call of tokenizer_encode or a tokenizer_decode… in this thread returned false, until
 * the next call; NULL: memory ran out, the text is too long, or an argument is NULL. */
const char *tokenizer_problem(void);
/* Appends the text of ids; ids outside the vocabulary are skipped, control symbols have no text.
 * false: nothing is appended, and tokenizer_problem has the reason. */
bool tokenizer_decode(const Tokenizer *tokenizer, const int32_t *ids, size_t n, TokenText *text);
/* The same for texts that are shown or become C strings: U+FFFD stands for a NUL, which tokens of
 * single bytes can give. */
bool tokenizer_decode_text(const Tokenizer *tokenizer, const int32_t *ids, size_t n,
                           TokenText *text);

#endif
