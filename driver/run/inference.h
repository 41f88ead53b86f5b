/* A model with its params and vocabulary, ready to score and to decode text: from
 * the folder of a run, or from a training that is under way. */
#ifndef DRIVER_RUN_INFERENCE_H
#define DRIVER_RUN_INFERENCE_H

#include "driver/ports/ports.h"
#include "driver/session/session.h"
#include "runtime/data/bleu.h"
#include "runtime/decode/decode.h"
#include "runtime/decode/score.h"
#include "runtime/decode/stepper_exec.h"
#include "runtime/decode/stepper_mean.h"

/* Inference: with members it is an ensemble of itself and them, whose probabilities are the mean
 * of all. Members have the same vocabulary, and are opened, loaded and closed by whoever joins
 * them (folder.h). */
typedef struct Inference {
    Job *job;
    Session *session;
    Store *store;
    const Vocabulary *vocab;
    ModelPorts ports;
    Feed feed;
    ScoreModel score; /* after inference_prepare_score */
    Stepper stepper;  /* after inference_prepare_decode; of an ensemble: of all of it */
    bool has_stepper;
    struct Inference **members; /* not itself */
    int n_members;
    const Tokens *prefixes; /* forced beginnings, by the number of a line; NULL: none */
    const TfcProgram *encode, *decode_step;
    int64_t n_stuck; /* for DecodeSettings.n_stuck */
} Inference;

/* Opens a model whose const `vocab` becomes the size of the vocabulary, unless --set gave it; and
 * `source_vocab` that of the source side, where it is another.
 * False after errors: the two do not fit. */
bool inference_open_model(Session *session, Job *job, SessionOptions *options,
                          const Vocabulary *vocab);
/* Whether the model's outputs are the vocabulary's tokens, and all of its sources' can be looked
 * up; an error tells if not. */
bool inference_check_sizes(Job *job, const Module *module, const Vocabulary *vocab);
/* The names a batch is fed under. */
Feed feed_of(const Module *module, const ModelPorts *ports);
void inference_init(Inference *inference, Session *session, Store *store, const Vocabulary *vocab);
void inference_free(Inference *inference);
/* Compiles a function of the session's model and adds its params to the store; NULL after errors. */
const TfcProgram *inference_add_program(Inference *inference, Function *function);
/* Compile what scoring or decoding needs, of members too, and add its params to the store; to
 * be called before the store is filled. `own`: the model's own loss, too, unless it is an ensemble. */
bool inference_prepare_score(Inference *inference, bool own);
bool inference_prepare_decode(Inference *inference);

/* score_corpus (score.h) of the model or the ensemble, which needs `forward` of all members. */
bool inference_score(Inference *inference, const Corpus *corpus, int64_t batch_tokens,
                     double *tokens, Scores *out);

/* Settings for this vocabulary and model, everything else as decode_defaults. */
DecodeSettings inference_decode_settings(const Inference *inference);
/* Decodes every row of a corpus (sources, or prompts for a decoder-only model) in
 * batches of about batch_tokens; results[row] lives in the arena. Empty rows give
 * empty results. */
bool inference_decode(Inference *inference, const Corpus *corpus, const DecodeSettings *settings,
                      int64_t batch_tokens, Arena *arena, Decoded *results);
/* A hypothesis as text, in the arena. */
const char *inference_text(const Inference *inference, const Hypothesis *hypothesis, Arena *arena);

/* The longest sequence the model takes, and all members; 0: it does not say. */
int64_t inference_said_length(const Inference *inference);
/* The same, or a length that will do. */
int64_t inference_max_length(const Inference *inference);

/* How BLEU is counted for a vocabulary: text that was split before stays split. */
BleuTokenize inference_tokenize(const Inference *inference);
/* Judgement: answers of a model beside their references.
 *   bleu                0 … 100
 *   exact               share of the answers that are the reference, token for token
 *   line_error_rate     share of the others
 *   symbol_error_rate   edits that make answers references (edit_distance), over the tokens of those */
typedef struct Judgement {
    double bleu, exact, line_error_rate, symbol_error_rate;
} Judgement;
/* Of what inference_decode gave for pairs, whose references are the lines of `target`. */
Judgement inference_judge(const Inference *inference, BleuTokenize tokenize, const Corpus *corpus, const Lines *target,
                          const Decoded *results);
/* Reference text in the form that decoding gives: joiners undone for word lists. */
const char *inference_reference(const Inference *inference, const Line *line, Arena *arena);

#endif
