/* Vocabularies: text to token ids and back, over SentencePiece models, over tokenizers of the
 * Hugging Face kind, and over lists of words or characters (wordlist.h).
 *
 *   Vocabulary *v = vocab_make(diags, arena, "auto:8000", texts, 2);
 *   vocab_encode(v, line, length, &ids);       // without begin and end
 *   vocab_decode(v, ids.data, ids.count, &text);
 *   vocab_save(v, diags, RUN);                 // RUN/vocab.model, tokenizer.json or vocab.txt
 *
 * A vocabulary lives as long as its arena. Encoding and decoding may run in several threads at
 * once. */
#ifndef RUNTIME_DATA_VOCABULARY_H
#define RUNTIME_DATA_VOCABULARY_H

#include "runtime/data/ids.h"
#include "runtime/data/lines.h"
#include "runtime/text/text_rule.h"
#include "runtime/text/tokenizer.h"

typedef struct Vocabulary Vocabulary;

/* What `--vocab` says:
 *   FILE           a SentencePiece model; a tokenizer.json if it ends in .json, or a word list
 *                  if it ends in .txt; or a folder (vocab_load)
 *   auto[:N]       a SentencePiece unigram model of N pieces (8000), trained on the texts;
 *                  fewer, with a warning, where they do not support so many
 *   words:FILE     a word list
 *   words:auto[:N] the words of the texts; with N, N tokens: the special ones and the most
 *                  frequent words
 *   chars:auto     the characters of the texts, the newline among them
 * Only the auto kinds look at the texts, and heed `how`, the sum of
 *   VOCAB_AS_IS   the pieces of auto:N keep tabs, runs of blanks and all characters; else they are
 *                 of text normalized by NFKC, with one blank for each run
 *   VOCAB_MASK    the tokens of auto:N and words:auto have MASK_TOKEN among them
 * NULL after an error. */
enum { VOCAB_AS_IS = 1, VOCAB_MASK = 2 };
#define MASK_TOKEN "<mask>"
Vocabulary *vocab_make(Diagnostics *diags, Arena *arena, const char *spec,
                       const Lines *const *texts, int n_texts, unsigned how);
/* The same of a spec whose file is within reach. */
Vocabulary *vocab_make_within(Diagnostics *diags, Arena *arena, FileReach reach, const char *spec,
                              const Lines *const *texts, int n_texts, unsigned how);
/* Whether the spec is auto or auto:N, to which VOCAB_AS_IS applies. */
bool vocab_spec_is_pieces(const char *spec);
/* The vocabulary of a model that reads no text: special tokens alone. NULL after an error. The
 * second function says whether a vocabulary is one. */
Vocabulary *vocab_empty(Diagnostics *diags, Arena *arena);
bool vocab_is_empty(const Vocabulary *vocab);
/* Whether vocab_make would look at the texts. */
bool vocab_needs_text(const char *spec);
/* The N of auto:N and words:auto:N, 8000 for auto; 0: the spec does not say. */
int32_t vocab_spec_size(const char *spec);
/* About how many bytes of memory a training takes for a byte of its texts: the text, its ids,
 * and, if `made`, what making such a vocabulary from it takes. */
double vocab_spec_memory(const char *spec, bool made);
/* Reads FILE.txt as a word list, FILE.json as a tokenizer.json, any other file as a SentencePiece
 * model. Of a folder it reads vocab.txt, tokenizer.json or vocab.model and, if there is one, the
 * same for the source side (source-vocab.txt, source-tokenizer.json or source-vocab.model); or the
 * files of Marian's kind (marian_vocab.h). NULL after an error. */
Vocabulary *vocab_load(Diagnostics *diags, Arena *arena, const char *path);
/* The same of a file or folder within reach. The files of a folder that the user names lie in it:
 * of `reach` then only `outside` counts. */
Vocabulary *vocab_load_within(Diagnostics *diags, Arena *arena, FileReach reach, const char *path);
/* VocabFile: a file that vocab_load reads in a folder; the vocabulary owns name and bytes. */
typedef struct VocabFile {
    const char *name;
    const void *bytes;
    size_t size;
} VocabFile;
/* Lists the files of the vocabulary: its own, then that of a source side. They do not hold its
 * rules. Returns how many: 1 or 2. */
int vocab_files(const Vocabulary *vocab, VocabFile files[2]);
/* Writes them into the folder; false after an error. */
bool vocab_save(const Vocabulary *vocab, Diagnostics *diags, const char *folder);

/* Sides: a Vocabulary serves the targets; the sources share it, or have one of their own. The
 * functions below are about one side, except vocab_read_special and vocab_hash. */
const Vocabulary *vocab_source(const Vocabulary *vocab); /* itself where both share it */
/* Whether both sides have the same tokens by the same ids: one file, or Marian's list of both. */
bool vocab_sides_agree(const Vocabulary *vocab);
/* Gives `vocab` a source side, and its rules the source_end of that side; both are of one arena, or
 * `source` is of one that lives longer. */
void vocab_join(Vocabulary *vocab, Vocabulary *source);

int32_t vocab_size(const Vocabulary *vocab); /* its tokens, or TokenRules.size if that is more */
/* TokenRules: ids of the special tokens, and what stands around the tokens of a text. -1: none.
 * At first a vocabulary has the rules of its file: without a bos, `begin` is its eos; `mask` is its
 * MASK_TOKEN or "[MASK]". The parts of `text` that are not in `said` follow from the other rules
 * (vocab_set_stream). */
typedef enum RuleSaid {
    SAID_BEGIN = 1,
    SAID_END = 2,
    SAID_NEWLINE = 4,
    SAID_STOPS = 8,
    SAID_MASK = 16
} RuleSaid;
typedef struct TokenRules {
    int32_t pad, unk; /* packed batches need no pad; a vocabulary with byte tokens needs no unk */

    /* a target is fed as begin y1…yn, and predicted as y1…yn end */
    int32_t begin, end;
    int32_t source_begin, source_end; /* a source is source_begin x1…xm source_end */

    /* ids that the model has; those without a token have no text */
    int32_t size;
    int32_t first; /* y1 of every translation; it has no text */
    int32_t mask;  /* stands for tokens that are hidden (hiding.h) */
    TextRule text; /* of a language model */
    unsigned said; /* RuleSaid: parts of `text`, and `mask`, that were chosen (--token) */
} TokenRules;
const TokenRules *vocab_rules(const Vocabulary *vocab);
void vocab_set_rules(Vocabulary *vocab, const TokenRules *rules);
/* Sets the parts of rules->text that were not chosen (TokenRules.said). is_stream: the texts of a
 * language model are one stream, in which each line is followed by a break (the newline token of
 * characters, else the end); a text stands between two breaks, and no token stops a generation.
 * Otherwise, and before the first call, each line is a text between begin and end. */
void vocab_set_stream(Vocabulary *vocab, bool is_stream);
/* The special tokens that the tokenizer's own template puts around a text. */
TokenizerFrame vocab_frame(const Vocabulary *vocab);
/* The kind of one side's file, and its bytes as vocab_save writes them. */
typedef enum VocabKind { VOCAB_WORDS, VOCAB_JSON, VOCAB_SENTENCEPIECE, VOCAB_KINDS } VocabKind;
VocabKind vocab_kind(const Vocabulary *vocab);
const char *vocab_kind_file(VocabKind kind); /* its name in a folder: "vocab.txt" */
const char *vocab_bytes(const Vocabulary *vocab, size_t *size);
/* Whether tokens are single characters: lines then end with a newline token, not with eos. */
bool vocab_is_characters(const Vocabulary *vocab);
/* Whether it is a list of words: its texts were split before, perhaps with `@@ ` joiners. */
bool vocab_is_words(const Vocabulary *vocab);

const Tokenizer *vocab_tokenizer(const Vocabulary *vocab);
/* Appends the ids of the text, which is valid UTF-8 (lines.h). False: the tokenizer cannot take
 * this text; tokenizer_problem has the reason, and nothing is appended. */
bool vocab_encode(const Vocabulary *vocab, const char *text, size_t length, Ids *ids);
/* As tokenizer_read_special. */
void vocab_read_special(Vocabulary *vocab, bool reads);
/* Words of the text (if tokens are whole words), or characters, that the vocabulary has no token
 * for: a list of the first few, quoted, in the arena; NULL: there is none. */
const char *vocab_unknown(const Vocabulary *vocab, Arena *arena, const char *text, size_t length);
/* Appends the text of ids below vocab_size; special ones are left out. If the tokenizer fails
 * (tokenizer_problem), appends U+FFFD. */
void vocab_decode(const Vocabulary *vocab, const int32_t *ids, size_t n, Text *out);
/* As token_words (runtime/text): the word of each of the text's n ids, and how many words there
 * are. */
int64_t vocab_token_words(const Vocabulary *vocab, const Line *line, const int32_t *ids, int64_t n,
                          int64_t *word);
const char *vocab_token(const Vocabulary *vocab, int32_t id);   /* "": the id has no token */
int32_t vocab_find(const Vocabulary *vocab, const char *token); /* -1 where absent */
/* The piece of a SentencePiece model that is a blank alone; -1: there is none. In front of a mask
 * token it is left out, for words that are hidden have their blank within. */
int32_t vocab_blank(const Vocabulary *vocab);
/* Whether an id is a special token: one of the rules, or one that has no text. */
bool vocab_is_special(const Vocabulary *vocab, int32_t id);
/* Whether a word begins with `id` where `before` stands before it: the two decode to a text with a
 * blank between them. */
bool vocab_begins_word(const Vocabulary *vocab, int32_t before, int32_t id);
/* Equal for vocabularies of equal files whose rules were set by the same calls of vocab_set_rules:
 * kept in checkpoints to tell when they disagree. */
uint64_t vocab_hash(const Vocabulary *vocab);

#endif
