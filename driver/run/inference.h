/* A model with its params and vocabulary, ready to score and to decode text: from
 * the folder of a run, or from a training that is under way. */
#ifndef DRIVER_RUN_INFERENCE_H
#define DRIVER_RUN_INFERENCE_H

#include "driver/ports/columns.h"
#include "driver/session/session.h"
#include "runtime/data/bleu.h"
#include "runtime/data/measures.h"
#include "runtime/decode/decode.h"
#include "runtime/decode/score.h"
#include "runtime/decode/stepper_exec.h"
#include "runtime/decode/stepper.h"
#include "runtime/decode/workers.h"

/* Inference: a model, or, with members, an ensemble of this model and the members; its
 * probabilities are the mean of all. Members have the same vocabulary. folder.h opens, loads and
 * closes them. */
typedef struct Inference {
    Job *job;
    Session *session;
    Store *store;
    const Vocabulary *vocab;
    ModelPorts ports;
    Feed feed;
    Feed given;       /* of the corpus that is decoded; at first as `feed` */
    ScoreModel score; /* after inference_prepare_score */
    /* after inference_prepare_decode */
    Function *encode;
    StepperPrograms programs;
    Stepper stepper; /* with members, the ensemble's */

    bool has_stepper;
    Workers workers;            /* the first has that stepper */
    struct Inference **members; /* without this one */
    int n_members;
    const Shortlist *shortlist;    /* decoding is over its candidates; NULL: over all tokens */
    const Tokens *prefixes;        /* forced beginnings, by the number of a line; NULL: none */
    const DecodeDefault *defaults; /* of the run's own, n_defaults */
    int64_t n_defaults;
    _Atomic int64_t n_stuck; /* for DecodeSettings.n_stuck */
} Inference;

/* Opens a model. Its const `vocab` becomes the size of the vocabulary, and `source_vocab` the size
 * of the source's own vocabulary, if the two sizes differ; a setting with another size is an error.
 * False after errors: the model cannot be loaded, or model and vocabulary do not fit. */
bool inference_open_model(Session *session, Job *job, SessionOptions *options,
                          const Vocabulary *vocab);
/* Checks that model and vocabulary fit: the number of logits, the rows of the tables of both sides,
 * the special tokens, and, if both sides share a table, that both have the same tokens. False after
 * an error. */
bool inference_check_sizes(Job *job, const Module *module, const Vocabulary *vocab);
void inference_init(Inference *inference, Session *session, Store *store, const Vocabulary *vocab);
void inference_free(Inference *inference);
/* Compiles a function of the session's model and adds its params to the store. NULL after errors,
 * and for function NULL, whose maker has reported the error. */
const TfcProgram *inference_add_program(Inference *inference, Function *function);
/* Compile the programs for scoring or decoding, also those of members, and add their params to the
 * stores. To be called before the stores are filled. `own`: the model's own loss is computed, too,
 * unless this is an ensemble. False after errors. */
bool inference_prepare_score(Inference *inference, bool own);
bool inference_prepare_decode(Inference *inference);
/* The same where decoding is no part of what was asked for: of a model that cannot decode, a note
 * says what is left out, `has_stepper` stays false, and that is no error. `without` and `more`:
 * what the note begins with, and what its parentheses end with. */
bool inference_prepare_decode_or_note(Inference *inference, const char *without, const char *more);

/* Whether each row has an answer that is decoded from its source and columns, rather than texts
 * continuations; false also before inference_prepare_decode. */
bool inference_answers(const Inference *inference);

/* workers_run with the model's steppers and params, after inference_prepare_decode. */
bool inference_run_workers(Inference *inference, int64_t n, WorkerTask *task, void *context);

/* score_corpus (score.h) for the model or the ensemble, after inference_prepare_score. False,
 * without a message: memory ran out. */
bool inference_score(Inference *inference, const Corpus *corpus, int64_t batch_tokens,
                     double *tokens, Scores *out);

/* decode_defaults with the special tokens and lengths of this vocabulary and model. Without a
 * source a target is framed as a language model's text. */
DecodeSettings inference_decode_settings(const Inference *inference);
/* Decodes what every row of a corpus gives the encoder, its source and columns, in batches of about
 * batch_tokens, by workers; results[row] lives in the arena. Empty sources give empty results.
 * False after an error: memory ran out. */
bool inference_decode(Inference *inference, const Corpus *corpus, const DecodeSettings *settings,
                      int64_t batch_tokens, Arena *arena, Decoded *results);
/* False, with an error that names the line, if what inference_decode gave for a source is no number
 * (decoded_has_numbers). */
bool inference_check_numbers(const Inference *inference, const Corpus *corpus,
                             const Decoded *results);
/* The error: `what` ("line 3") gets no numbers of the model. Returns false. */
bool inference_no_numbers(const Inference *inference, const char *what);
/* A hypothesis as text, in the arena. */
const char *inference_text(const Inference *inference, const Hypothesis *hypothesis, Arena *arena);

/* Tokens of the longest sequence that the model and all members take; 0: they state none. */
int64_t inference_said_length(const Inference *inference);
/* inference_said_length, or DECODE_LONGEST if they state none. */
int64_t inference_max_length(const Inference *inference);

/* The tokenisation of BLEU for the vocabulary: BLEU_NONE for a list of words, whose texts were
 * split before, else BLEU_13A. */
BleuTokenize inference_tokenize(const Inference *inference);
/* Judgement: how a model's answers compare with their references.
 *   bleu                0 … 100
 *   exact               share of answers that equal their reference, token for token, 0 … 1
 *   line_error_rate     share of all other answers, 0 … 1
 *   symbol_error_rate   edits from answers to references (edit_distance), divided by the tokens of
 *                       the references; above 1 if there are more edits than tokens
 * The last three are NAN for an empty corpus, symbol_error_rate also if references have no
 * tokens. */
typedef struct Judgement {
    double bleu, exact, line_error_rate, symbol_error_rate;
} Judgement;
/* Judging: what is counted for it, of one corpus or several. Begins as zeros. */
typedef struct Judging {
    Bleu bleu;
    ErrorCounts errors;
} Judging;
/* Compares the results of inference_decode for a corpus of pairs with their references: lines of
 * `target`, which are those behind corpus->before. */
void inference_judge(const Inference *inference, BleuTokenize tokenize, const Corpus *corpus,
                     const Lines *target, const Decoded *results, Judging *judging);
Judgement judging_finish(const Judging *judging);
/* Reference text in the form that decoding gives: joiners undone for word lists. In the arena. */
const char *inference_reference(const Inference *inference, const Line *line, Arena *arena);

#endif
