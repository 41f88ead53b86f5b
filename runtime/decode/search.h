/* The search for one sentence: its live hypotheses, their continuations, and the results
 * that have ended. decode.c runs many searches at a time. */
#ifndef RUNTIME_DECODE_SEARCH_H
#define RUNTIME_DECODE_SEARCH_H

#include "base/vec.h"
#include "runtime/decode/pick.h"

/* A chosen token. `parent`: the node of the token before it; below 0: none. */
typedef struct SearchNode {
    int32_t token, parent;
    double log_probability; /* of the token alone */
} SearchNode;

typedef struct Live {
    int32_t slot;
    int32_t token;  /* to be fed next */
    int32_t node;   /* last of its history, -1: nothing chosen yet */
    int32_t sample; /* the number of the draw */
    double log_probability;
} Live;

typedef struct Ended {
    int32_t node, length; /* tokens chosen, without eos */
    bool has_eos, is_stuck;
    double end; /* log-probability of eos alone, if it has one */
    double log_probability, score;
} Ended;

typedef struct Search {
    Live *live;
    int32_t n_live, width; /* width: slots it owns, from first_slot */
    int32_t first_slot;
    Tokens prompt, prefix;
    int32_t fed;    /* prompt tokens read: fed, or in live[0].token … */
    int32_t begun;  /* of these before anything was fed */
    int32_t length; /* tokens chosen by each live hypothesis */
    int32_t longest;
    int32_t rank;   /* of the token after the prefix, by probability, from 0; -1: any token */
    int64_t number; /* of the sentence, for random numbers */
    VEC(SearchNode) nodes;
    VEC(Ended) ended;
} Search;

typedef struct SlotCopy {
    int32_t from, to;
} SlotCopy;
typedef VEC(SlotCopy) SlotCopies;

/* Starts a search with one live hypothesis in first_slot, which is to be fed bos, or without a bos
 * the prompt's first token. The caller has set width, first_slot, prompt, prefix, longest, rank and
 * number. The arena may be one that fails: the caller checks arena_failed after each call. */
void search_start(Search *search, const DecodeSettings *settings, Arena *arena);
/* The unread tokens: all but the last of bos and the prompt's tokens. They are fed before the first
 * search_examine, without computing logits. search_unread: how many are left; search_read: how many
 * were fed; search_unread_token: the i-th that is left; search_fed: the next n were fed. */
int32_t search_unread(const Search *search);
int32_t search_read(const Search *search);
int32_t search_unread_token(const Search *search, int32_t i);
void search_fed(Search *search, int32_t n);
/* How many tokens of the prefix follow the one to be fed next; 0 if several samples are drawn. Only
 * while there is one live hypothesis. search_known_token: the i-th of these. */
int32_t search_known(const Search *search, const DecodeSettings *settings);
int32_t search_known_token(const Search *search, int32_t i);
/* Whether the settings change logits before tokens are chosen. */
bool search_changes(const DecodeSettings *settings);
/* Reads a row of logits for search_choose: fills `out` (room for search_candidates entries) and
 * returns how many. If no_repeat_ngram leaves no token: SEARCH_STUCK, or 0 for an alternative whose
 * rank is above 0. `changed`: room for a row if search_changes; `scratch`: room for `vocab`
 * candidates if samples are drawn; else NULL. Several threads may read rows at once, each with
 * memory of its own. */
enum { SEARCH_STUCK = -1 };
int32_t search_candidates(const DecodeSettings *settings);
int32_t search_examine(const Search *search, int32_t live, const DecodeSettings *settings,
                       const float *logits, int32_t vocab, float *changed, Candidate *out,
                       Candidate *scratch);
/* Chooses the next tokens from the candidates of the live hypotheses, counts[i] of hypothesis i,
 * from candidates[i × stride] on. Adds to `copies` the slots that must be copied before the next
 * step. n_live is 0 when the search is over. */
void search_choose(Search *search, const DecodeSettings *settings, const Candidate *candidates,
                   const int32_t *counts, int32_t stride, Arena *arena, SlotCopies *copies);
/* How many results search_results adds. */
int32_t search_count(const Search *search, const DecodeSettings *settings);
/* Adds the results to `out`, which has room for them. false: memory ran out. */
bool search_results(Search *search, const DecodeSettings *settings, Arena *arena, Decoded *out);

#endif
