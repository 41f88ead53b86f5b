/* Scoring and decoding with a compiled model. */
#include "driver/run/inference.h"

#include "base/portable_math.h"

#include "driver/ports/columns.h"
#include "driver/ports/token_ids.h"

#include "passes/clone.h"
#include "runtime/decode/continue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The const of this name is the vocabulary's size. */
static bool set_size(Job *job, SessionOptions *options, const char *name, const Vocabulary *vocab)
{
    int size = (int)vocab_size(vocab);
    const char *given = setting_value(&options->settings, name);
    if (given && strtoll(given, NULL, 10) != size)
        return options->run
                   ? job_error(
                         job,
                         "%s was trained with a vocabulary of %s tokens, as its run.json says "
                         "(%s), but its vocabulary has %d: put back the file that was trained with",
                         options->run, given, name, size)
                   : job_error(job, "--set %s=%s, but the vocabulary has %d tokens: leave it out",
                               name, given, size);
    if (!given)
        session_set_size(job, options, name, size);
    return true;
}

/* Whether an id is the same token on both sides, as it is where they have one vocabulary. */
static bool has_same_tokens(const Vocabulary *vocab)
{
    const Vocabulary *source = vocab_source(vocab);
    bool same = vocab_size(source) == vocab_size(vocab);
    for (int32_t id = 0; same && source != vocab && id < vocab_size(vocab); id++)
        same = !strcmp(vocab_token(source, id), vocab_token(vocab, id));
    return same;
}

bool inference_check_sizes(Job *job, const Module *module, const Vocabulary *vocab)
{
    ModelPorts ports = ports_of(module);
    if (vocab_rules(vocab)->first >= 0 && !(ports.source && ports.target))
        return job_error(job,
                         "--token first: translations begin with it, but the model has no source "
                         "and target");
    const TokenRules *rules = vocab_rules(vocab);
    if (ports.source && (rules->end < 0 || (ports.target && rules->begin < 0)))
        return job_error(
            job,
            "the vocabulary has no token that %s a text, which a model with a source needs: "
            "--token %s=TOKEN names one",
            rules->end < 0 ? "ends" : "begins", rules->end < 0 ? "end" : "begin");
    int size = (int)vocab_size(vocab), source = (int)vocab_size(vocab_source(vocab));
    if (ports.vocab && ports.vocab != size)
        return job_error(job, "the vocabulary has %d tokens, but the model's %s have %d", size,
                         ports.logits, (int)ports.vocab);
    int64_t below = ports_vocabulary(module, &ports, ports.source);
    if (below && source > below)
        return job_error(job, "the sources' vocabulary has %d tokens, but the model's %s takes %d",
                         source, ports.source, (int)below);
    below = ports_vocabulary(module, &ports, ports.target);
    if (below && size > below)
        return job_error(job, "the vocabulary has %d tokens, but the model's %s takes %d", size,
                         ports.target, (int)below);
    return !ports.source || !ports.target || has_same_tokens(vocab) ||
           !token_table_is_shared(module_function(module, "model"),
                                  ports_input(module, ports.source),
                                  ports_input(module, ports.target)) ||
           job_error(
               job,
               "the sources have a vocabulary of their own, but the model looks %s and %s up in one embedding: "
               "`use source_embedding` gives the sources theirs",
               ports.source, ports.target);
}

bool inference_open_model(Session *session, Job *job, SessionOptions *options,
                          const Vocabulary *vocab)
{
    const Vocabulary *source = vocab_source(vocab);
    bool differ = vocab_size(source) != vocab_size(vocab);
    if (!vocab_is_empty(vocab) && (!set_size(job, options, "vocab", vocab) ||
                                   (differ && !set_size(job, options, "source_vocab", source))))
        return false;
    if (!session_open(session, job, options)) {
        if (differ)
            diag_note(&job->diags, (Loc){0},
                      "the sources have a vocabulary of their own, of %d tokens: the model says so "
                      "by `use source_embedding`",
                      (int)vocab_size(source));
        return false;
    }
    if (inference_check_sizes(job, session->model->module, vocab))
        return true;
    session_close(session);
    return false;
}

void inference_init(Inference *inference, Session *session, Store *store, const Vocabulary *vocab)
{
    *inference = (Inference){.job = session->job,
                             .session = session,
                             .store = store,
                             .vocab = vocab,
                             .ports = ports_of(session->model->module)};
    inference->feed = feed_of(session->model->module, &inference->ports);
}

void inference_free(Inference *inference)
{
    if (inference->has_stepper)
        inference->stepper.free(inference->stepper.self);
    inference->has_stepper = false;
    workers_free(&inference->workers);
}

const TfcProgram *inference_add_program(Inference *inference, Function *function)
{
    if (function && !ports_feed(&inference->ports, function, &inference->job->diags))
        return NULL;
    const TfcProgram *program = function ? session_compile(inference->session, function) : NULL;
    if (program && !store_add_program(inference->store, program)) {
        job_no_memory(inference->job);
        return NULL;
    }
    return program;
}

/* The model's own loss beside the logits, by the same program where it draws no random numbers,
 * which logits are without. NULL: the model has none, or one that no column of the data feeds. */
static Function *own_loss(Inference *inference)
{
    Module *module = inference->session->model->module;
    if (!inference->session->model->has_loss)
        return NULL;
    Function *function =
        derive_loss_share(module, !function_has(module_function(module, "model"), OP_random));
    return ports_are_fed(&inference->ports, function) ? function : NULL;
}

static bool prepare_score(Inference *inference, bool own)
{
    ScoreModel *score = &inference->score;
    Session *session = inference->session;
    *score = (ScoreModel){
        .logits = inference->ports.logits, .feed = inference->feed, .store = inference->store};
    bool has_logits = ports_predict(&inference->ports);
    Function *loss = !has_logits ? session_function(session, "loss_share")
                     : own       ? own_loss(inference)
                                 : NULL;
    Function *totals = loss ? derive_totals(session->model->module, false) : NULL;
    bool gives_both = loss && has_logits && find_output(loss, inference->ports.logits);
    if (!has_logits && !loss)
        return false;
    if ((loss && !(score->loss = inference_add_program(inference, loss))) ||
        (totals && !(score->totals = inference_add_program(inference, totals))))
        return false;
    if (gives_both)
        score->forward = score->loss;
    else if (has_logits)
        score->forward = inference_add_program(inference, session_function(session, "forward"));
    return !has_logits || score->forward;
}

/* Of an ensemble's model, whose probabilities are wanted. */
static bool has_probabilities(const Inference *inference)
{
    return inference->score.forward ||
           job_error(inference->job, "%s: the model gives no probabilities of next tokens",
                     inference->session->model->path);
}

bool inference_prepare_score(Inference *inference, bool own)
{
    bool ok = prepare_score(inference, own && !inference->n_members) &&
              (!inference->n_members || has_probabilities(inference));
    for (int i = 0; ok && i < inference->n_members; i++)
        ok =
            prepare_score(inference->members[i], false) && has_probabilities(inference->members[i]);
    return ok;
}

static bool prepare_programs(Inference *inference)
{
    Incremental incremental;
    StepperPrograms *programs = &inference->programs;
    if (!session_incremental(inference->session, &incremental, &programs->target,
                             &programs->logits))
        return false;
    if (inference->shortlist) {
        programs->shortlist = inference->shortlist;
        if (!derive_shortlist(inference->session->model->module, &incremental, programs->logits,
                              inference->session->options.precision == PRODUCTS_BF16,
                              &inference->job->diags))
            return false;
    }
    inference->given = inference->feed;
    programs->feed = &inference->given;
    inference->encode = incremental.encode;
    programs->decode_step = inference_add_program(inference, incremental.decode_step);
    programs->encode = incremental.encode && programs->decode_step
                           ? inference_add_program(inference, incremental.encode)
                           : NULL;
    return programs->decode_step && (programs->encode || !incremental.encode);
}

static bool make_member_stepper(const void *context, int32_t i, Stepper *out)
{
    const Inference *inference = context, *member = i ? inference->members[i - 1] : inference;
    return stepper_exec_new(&member->programs, member->store, out);
}

/* Another stepper of the model or ensemble. False: memory ran out. */
static bool make_stepper(const void *context, Stepper *out)
{
    const Inference *inference = context;
    return stepper_mean_of(inference->n_members + 1, make_member_stepper, inference, out);
}

bool inference_prepare_decode(Inference *inference)
{
    bool ok = prepare_programs(inference);
    for (int32_t i = 0; ok && i < inference->n_members; i++)
        ok = prepare_programs(inference->members[i]);
    if (!ok)
        return false;
    inference->has_stepper = make_stepper(inference, &inference->stepper);
    inference->workers.first = inference->stepper;
    inference->workers.make = make_stepper;
    inference->workers.context = inference;
    return inference->has_stepper || job_no_memory(inference->job);
}

bool inference_prepare_decode_or_note(Inference *inference, const char *without, const char *more)
{
    Diagnostics why;
    if (session_decodes(inference->session, NULL, NULL, &why))
        return inference_prepare_decode(inference);
    diag_remark(&inference->job->diags, (Loc){0},
                "%s: the model cannot go on with a text token by token (tfc check tells why%s)",
                without, more);
    return true;
}

bool inference_answers(const Inference *inference)
{
    return inference->has_stepper && (inference->ports.source || inference->encode);
}

bool inference_run_workers(Inference *inference, int64_t n, WorkerTask *task, void *context)
{
    int64_t version = store_version(inference->store);
    for (int i = 0; i < inference->n_members; i++)
        version += store_version(inference->members[i]->store);
    return workers_run(&inference->workers, version, n, task, context);
}

static int64_t lesser_length(int64_t a, int64_t b) { return a <= 0 || (b > 0 && b < a) ? b : a; }

int64_t inference_said_length(const Inference *inference)
{
    int64_t longest = session_max_length(inference->session);
    for (int i = 0; i < inference->n_members; i++)
        longest = lesser_length(longest, inference_said_length(inference->members[i]));
    return longest;
}

int64_t inference_max_length(const Inference *inference)
{
    int64_t longest = inference_said_length(inference);
    return longest > 0 ? longest : DECODE_LONGEST;
}

/* log (e^a + e^b). */
static double log_sum(double a, double b)
{
    double greatest = a > b ? a : b;
    return isfinite(greatest) ? greatest + portable_log1p(portable_exp((a > b ? b : a) - greatest))
                              : a + b;
}

/* Adds a member's probabilities to those of `sums`. */
static bool add_member(const Inference *member, const Corpus *corpus, int64_t batch_tokens,
                       double *sums)
{
    int64_t n = score_tokens(corpus);
    double *tokens = memory_zeroed((size_t)n, sizeof *tokens);
    Scores scores;
    bool ok = score_corpus(&member->score, corpus, batch_tokens, tokens, NULL, &scores);
    for (int64_t i = 0; ok && i < n; i++)
        sums[i] = log_sum(sums[i], tokens[i]);
    free(tokens);
    return ok;
}

bool inference_score(Inference *inference, const Corpus *corpus, int64_t batch_tokens,
                     double *tokens, Scores *out)
{
    int64_t n = score_tokens(corpus);
    if (!inference->n_members)
        return score_corpus(&inference->score, corpus, batch_tokens, tokens, NULL, out);
    double *means = tokens ? tokens : memory_zeroed((size_t)n, sizeof *means);
    bool ok = score_corpus(&inference->score, corpus, batch_tokens, means, NULL, out);
    for (int i = 0; ok && i < inference->n_members; i++)
        ok = add_member(inference->members[i], corpus, batch_tokens, means);
    out->log_probability = 0;
    for (int64_t i = 0; ok && i < n; i++)
        out->log_probability += means[i] -= portable_log(inference->n_members + 1);
    if (!tokens)
        free(means);
    return ok;
}

static const int32_t most_continued =
#define CONTINUE(kind, name, initial, ...) initial
#include "runtime/decode/settings.def"
    ;

DecodeSettings inference_decode_settings(const Inference *inference)
{
    DecodeSettings settings = decode_defaults();
    const TokenRules *rules = vocab_rules(inference->vocab);
    decode_set_defaults(&settings, inference->defaults, inference->n_defaults);
    settings.bos = rules->begin;
    settings.eos = rules->end;
    settings.first = rules->first;
    settings.length_limit = (int32_t)inference_max_length(inference) - 1;
    settings.stops = rules->text.stops;
    settings.n_stops = rules->text.n_stops;
    const int32_t barred[] = {rules->pad, rules->begin, rules->unk};
    for (size_t i = 0; i < sizeof barred / sizeof *barred; i++)
        settings.forbidden[i] = unless_end(&rules->text, rules->end, barred[i]);
    if (!inference->ports.source) {
        continue_settings(&rules->text, &settings);
        settings.bos = settings.bos < 0 ? rules->text.start : settings.bos;
        settings.open_end = false;
        settings.length_extra = most_continued;
    }
    return settings;
}

const char *inference_text(const Inference *inference, const Hypothesis *hypothesis, Arena *arena)
{
    Text text = {0};
    Tokens shown = hypothesis_text(hypothesis, vocab_rules(inference->vocab)->first);
    vocab_decode(inference->vocab, shown.ids, (size_t)shown.n, &text);
    return text_keep(arena, &text);
}

BleuTokenize inference_tokenize(const Inference *inference)
{
    return vocab_is_words(inference->vocab) ? BLEU_NONE : BLEU_13A;
}

const char *inference_reference(const Inference *inference, const Line *line, Arena *arena)
{
    char *text = arena_strndup(arena, line->text, line->length);
    if (!vocab_is_words(inference->vocab))
        return text;
    char *to = text;
    for (const char *at = text; *at;) {
        if (!strncmp(at, "@@ ", 3))
            at += 3;
        else
            *to++ = *at++;
    }
    *to = 0;
    return text;
}

void inference_judge(const Inference *inference, BleuTokenize tokenize, const Corpus *corpus,
                     const Lines *target, const Decoded *results, Judging *judging)
{
    Arena *arena = arena_new();
    for (int64_t i = 0; i < corpus->n; i++) {
        Hypothesis none = {.ids = NULL}, *best = results[i].n ? results[i].best : &none;
        const Line *line = &target->at[corpus->line[i] - corpus->before];
        const char *reference = inference_reference(inference, line, arena);
        bleu_add(&judging->bleu, tokenize, best->n ? inference_text(inference, best, arena) : "",
                 &reference, 1);
        const int32_t *ids = corpus->target.ids.data + corpus->target.start[i];
        errors_add(&judging->errors, best->ids, best->n, ids, rows_length(&corpus->target, i));
    }
    arena_free(arena);
}

Judgement judging_finish(const Judging *judging)
{
    return (Judgement){.bleu = bleu_score(&judging->bleu),
                       .exact = errors_exact_rate(&judging->errors),
                       .line_error_rate = errors_sequence_rate(&judging->errors),
                       .symbol_error_rate = errors_token_rate(&judging->errors)};
}
