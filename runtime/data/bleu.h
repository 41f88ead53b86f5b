/* BLEU (Papineni et al. 2002) of outputs against references, for a corpus, as sacrebleu (Post 2018)
 * computes it: n-grams up to 4, exponential smoothing, brevity penalty against the closest
 * reference. Other measures are in measures.h. */
#ifndef RUNTIME_DATA_BLEU_H
#define RUNTIME_DATA_BLEU_H

#include "base/diag.h"

#include <stdint.h>

enum { BLEU_ORDER = 4 };

/* BLEU_13A: the tokenisation of WMT's mteval-v13a. BLEU_NONE: text that is already split. */
typedef enum BleuTokenize { BLEU_13A, BLEU_NONE } BleuTokenize;

/* Bleu: counts of n-grams and lengths, summed over sentences. */
typedef struct Bleu {
    int64_t correct[BLEU_ORDER], total[BLEU_ORDER];
    int64_t output_length, reference_length;
} Bleu;

/* `name`: "13a" or "none"; false: it is another. */
bool bleu_parse_tokenize(const char *name, BleuTokenize *tokenize);
/* Appends the tokens of a line, one space between them. */
void bleu_tokenize(BleuTokenize tokenize, const char *line, size_t length, Text *out);
/* Adds a sentence and its references (at least one), UTF-8, NUL-terminated. */
void bleu_add(Bleu *bleu, BleuTokenize tokenize, const char *output, const char *const *references,
              int n_references);
double bleu_score(const Bleu *bleu); /* 0 … 100 */
double bleu_brevity_penalty(const Bleu *bleu);
/* "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:tfc.0.1.0" */
const char *bleu_signature(Arena *arena, BleuTokenize tokenize, int n_references,
                           const char *version);

#endif
