/* The functions that a compiled library exports. */
#include "driver/compile/artifact.h"

#define SESSION "@_session *session"
#define TEXT_ARGUMENTS                                                           \
    SESSION ", const @_generation *settings, const char *utf8, int64_t length, " \
            "const char **text, int64_t *text_length"
#define TEXT_VALUES "session, settings, utf8, length, text, text_length"

const LibraryExport exports[] = {
    {"error_text", "const char *", "int status", "status", ALWAYS, false,
     "What a status says, in words; any number is allowed."},
    {"error_detail", "const char *", "void", "", ALWAYS, false,
     "More about the last error of this thread: file, tensor, argument. Never NULL; valid until\n"
     " * the next error of this thread."},
    {"open_version", "int", "int64_t header, const char *weights, @ **model",
     "header, weights, model", ALWAYS, true, NULL},
    {"open_new_version", "int", "int64_t header, uint64_t seed, @ **model", "header, seed, model",
     ALWAYS, true, NULL},
    {"open_checkpoint_version", "int", "int64_t header, const char *path, @ **model",
     "header, path, model", TFC_TRAIN_STEP, true, NULL},
    {"close", "void", "@ *model", "model", ALWAYS, false,
     "Frees the model, after its sessions: one that is left can only be freed. NULL and a model\n"
     " * that is closed already are passed over; a call that still runs ends first."},
    {"save", "int", "@ *model, const char *path", "model, path", ALWAYS, false,
     "Writes the parameters, and after training the optimizer's state and the count of steps,\n"
     " * to a safetensors file that @_open and tfc read; beside and renamed, so never half of it.\n"
     " * @_ERROR_FILE: it cannot be written, and what was there is as it was."},
    {"steps", "int64_t", "@ *model", "model", TFC_TRAIN_STEP, false,
     "Training steps done, those of the checkpoint it was opened with included; -1 after an\n"
     " * error."},
    {"parameter_count", "int64_t", "@ *model", "model", ALWAYS, false,
     "How many parameters there are; -1 after an error."},
    {"parameter", "int", "@ *model, int64_t index, @_parameter_info *info", "model, index, info",
     -1, false, "Describes one of them: 0 ≤ index < @_parameter_count."},
    {"parameter_named", "int", "@ *model, const char *name, @_parameter_info *info",
     "model, name, info", ALWAYS, false,
     "The same by name; one that no parameter has is an error."},
    {"set_threads", "int", "int n", "n", ALWAYS, false,
     "Threads of every call from now on, in all models of this library, from 1 to @_MOST_THREADS;\n"
     " * at first OMP_NUM_THREADS or all processors. Where the system makes fewer, a call\n"
     " * has those. Results do not depend on it."},
    {"session_new", "int", "@ *model, @_session **session", "model, session", ALWAYS, false,
     "A session: working memory for one call at a time. Free it before the model."},
    {"session_take", "int", "@ *model, @_session **session", "model, session", ALWAYS, false,
     "Takes a session of the model's pool, for a call or several; @_session_give gives it back. A\n"
     " * session that was taken is as a new one, and no other thread has it. Waits while all are\n"
     " * taken, or one is taken alone; takes that wait are served in the order in which they came.\n"
     " * @_ERROR_BUSY: the thread has a session of the pool already, and would wait for itself.\n"
     " * After an error *session is NULL."},
    {"session_take_alone", "int", "@ *model, @_session **session", "model, session", ALWAYS, false,
     "The same alone: waits until all sessions of the pool are given back, and no other is taken\n"
     " * before this one is given back. For @_train_step, and for @_save between training steps.\n"
     " * Sessions of @_session_new are not the pool's: calls on them are not waited for."},
    {"session_give", "int", SESSION, "session", ALWAYS, false,
     "Gives a session back to the pool, with all that its calls returned; the pointer ends here.\n"
     " * The pool keeps its memory for the next take."},
    {"set_sessions", "int", "@ *model, int n", "model, n", ALWAYS, false,
     "The most sessions of the model's pool, 1 to @_MOST_THREADS; at first as many as processors.\n"
     " * Sessions above that are freed when they are given back."},
    {"session_free", "void", SESSION, "session", ALWAYS, false,
     "NULL and a session that is freed already are passed over; a call that still runs ends first. A\n"
     " * session that was taken from the pool is given back and leaves it."},
    {"forward", "int", SESSION ", const @_forward_in *in, @_forward_out *out", "session, in, out",
     TFC_FORWARD, false,
     "The outputs of the model, dropout off. They belong to the session and are valid until\n"
     " * its next @_forward."},
    {"loss", "int", SESSION ", const @_loss_in *in, @_loss_out *out", "session, in, out", TFC_LOSS,
     false, "The loss, dropout off."},
    {"train_step", "int", SESSION ", const @_train_step_in *in, @_train_step_out *out",
     "session, in, out", TFC_TRAIN_STEP, false,
     "One step of training: forward, loss, backward, clipping, optimizer. It writes the\n"
     " * model's parameters: @_ERROR_BUSY while any other call uses the model, and they get it\n"
     " * meanwhile. After an error the parameters are as they were and the step is not counted."},
    {"predict", "int", SESSION ", const @_predict_in *in, @_predict_out *out", "session, in, out",
     TFC_PREDICT, false,
     "The predictions alone, dropout off, as of @_forward: valid until the session's next\n"
     " * predictions."},
    {"prediction_count", "int64_t", "@ *model", "model", TFC_PREDICT, false,
     "How many predictions the model makes; -1 after an error."},
    {"prediction", "int", "@ *model, int64_t index, @_prediction_info *info", "model, index, info",
     TFC_PREDICT, false,
     "Describes one of them: 0 ≤ index < @_prediction_count. What info points to is the library's."},
    {"predict_text", "int",
     SESSION ", const char *utf8, int64_t length, const @_predicted **list, int64_t *n, "
             "int64_t *cut",
     "session, utf8, length, list, n, cut", PREDICTS_TEXT, false,
     "All predictions of a text of `length` bytes of UTF-8, in the order of @_prediction, as\n"
     " * tfc predict makes them of a line. *list is the session's, valid until its next\n"
     " * predictions, and holds *n; of a text without tokens, and after an error, it is NULL and *n\n"
     " * 0. *cut (it may be NULL) becomes how many tokens at the end of the text were left out since\n"
     " * the model takes no more. An error: bytes that are not valid UTF-8, a NUL among them, more\n"
     " * than 2^28 of them; @_ERROR_NUMBER: a prediction that is not a number."},
    {"predict_texts", "int",
     SESSION ", int64_t n_texts, const char *const *texts, const int64_t *lengths, "
             "const @_predicted **list, int64_t *n, int64_t *cut",
     "session, n_texts, texts, lengths, list, n, cut", PREDICTS_TEXT, false,
     "The same of several texts, which are computed together: those of text i are list[i × n] and the\n"
     " * n - 1 behind it, and have positions 0 if the text has no tokens. lengths NULL: each text ends\n"
     " * with a NUL. cut: n_texts numbers, or NULL. After an error nothing is predicted of any text."},
    {"set_label_search", "int", SESSION ", const @_label_search *search", "session, search",
     SEARCHES_LABELS, false,
     "How the session's later calls with text search labels of CTC, as tfc predict does with --beam,\n"
     " * --top, --lexicon and --separator. NULL: the best path, as at first. The lexicon is copied. After\n"
     " * an error the search is as it was."},
    {"encode", "int",
     SESSION ", int32_t n, const int32_t *lengths, const int32_t *ids, int32_t slots",
     "session, n, lengths, ids, slots", STEPS_ENCODED, false,
     "Begins to decode n sentences: ids are those of all sentences, one after the other.\n"
     " * Hypotheses live in slots 0 … slots - 1, which remember the tokens fed to them.\n"
     " * n and slots are 0 or more; a length is 0 or more, all of them together below 2^31.\n"
     " * After an error nothing is begun."},
    {"encode", "int", SESSION ", const @_encode_in *in, int32_t slots", "session, in, slots",
     STEPS_COLUMNS, false,
     "Begins to decode a text of each row of `in`, which are the `sentence`s of @_decode_step.\n"
     " * Hypotheses live in slots 0 … slots - 1, which remember the tokens fed to them. slots is 0\n"
     " * or more. After an error nothing is begun."},
    {"decode_begin", "int", SESSION ", int32_t slots", "session, slots", DECODES_ALONE, false,
     "Begins to decode: texts live in slots 0 … slots - 1, which remember the tokens fed to\n"
     " * them. slots is 0 or more. After an error nothing is begun."},
    {"decode_step", "int",
     SESSION ", int32_t n, const int32_t *sentence, const int32_t *slot, const int32_t *token, "
             "const float **logits",
     "session, n, sentence, slot, token, logits", STEPS, false,
     "Feeds token[r] to slot[r], a hypothesis of sentence[r], for r < n. *logits becomes\n"
     " * [n, vocabulary], the session's, valid until the next call. Each slot is there and in one\n"
     " * row alone, each sentence is one of those begun with, each token one of the vocabulary.\n"
     " * `sentence` may be NULL where slots and sentences are the same. After an error *logits is\n"
     " * NULL and nothing was fed; of several models decoding has to begin anew. A generation or a training step ends what was begun."},
    {"decode_copy", "int", SESSION ", int32_t from, int32_t to", "session, from, to", STEPS, false,
     "Slot `to` becomes what slot `from` is. Both are there."},
    {"generation_defaults", "int", "@ *model, @_generation *settings", "model, settings",
     TFC_DECODE_STEP, false, "The settings to start from."},
    {"generate", "int",
     SESSION ", const @_generation *settings, const @_encode_in *in, @_result *results",
     "session, settings, in, results", GENERATES_COLUMNS, false,
     "The best texts of the rows of `in`, as ids. A beam of 1 is greedy search. `results` has room\n"
     " * for rows × nbest, a row's best first, and zeros where it has fewer; their ids belong to\n"
     " * the session and are valid until its next generation. With alternatives there are\n"
     " * rows × alternatives, those of a row in the order of their tokens. settings NULL: the\n"
     " * defaults, which are those of tfc translate."},
    {"generate", "int",
     SESSION ", const @_generation *settings, int32_t n, const int32_t *lengths, "
             "const int32_t *ids, @_result *results",
     "session, settings, n, lengths, ids, results", GENERATES, false,
     "The best continuations: ids are those of n source sentences (or, of a model without\n"
     " * an encoder, prompts), one after the other; n, lengths and ids as of @_encode or of\n"
     " * prompts alike. A beam of 1 is greedy search. `results` has room for n × nbest, a\n"
     " * sentence's best first, and zeros where it has fewer; their ids belong to the session and\n"
     " * are valid until its next generation. With alternatives there are n × alternatives, those\n"
     " * of a sentence in the order of their tokens. settings NULL: the defaults."},
    {"alignment", "int",
     SESSION ", int32_t n_source, const int32_t *source, int32_t n_target, "
             "const int32_t *target, const float **weights",
     "session, n_source, source, n_target, target, weights", TFC_ALIGNMENT, false,
     "What each id of a target was made from: the last attention over the source, in the mean of\n"
     " * its heads. source: the ids of one sentence as of @_encode; target: bos and the ids behind it,\n"
     " * as they are fed. *weights becomes [n_target, n_source]: row t is what was looked at to predict\n"
     " * the id behind target[t], eos in the last row, and sums to 1. It is the session's, valid until\n"
     " * its next alignment; after an error NULL."},
    {"translate_text", "int", TEXT_ARGUMENTS, TEXT_VALUES, TRANSLATES_TEXT, false,
     "The best translation of each line of a text of `length` bytes of UTF-8, as @_generate\n"
     " * would have it of its tokens: as many lines, ended as those of the text, empty for empty\n"
     " * ones; \\\\n and \\\\r stand for line breaks within one. *text is the session's, valid until its next text, and ends with a NUL, which\n"
     " * *text_length (it may be NULL) does not count. An error: bytes that are not valid UTF-8, a NUL\n"
     " * among them, more than 2^28 of them, a line of more tokens than the model takes; then\n"
     " * *text is NULL. settings NULL: the defaults, which are those of tfc translate; nbest is 1,\n"
     " * and alternatives are none."},
    {"translations", "int",
     SESSION ", const @_generation *settings, const char *utf8, int64_t length, "
             "const @_translation **list, int64_t *n",
     "session, settings, utf8, length, list, n", TRANSLATES_TEXT, false,
     "The same as a list, with ids and scores: of each line up to nbest results, the best first,\n"
     " * or its alternatives, and an empty one of a line without tokens. *list is the session's,\n"
     " * valid until its next generation or list, and holds *n; after an error NULL and 0."},
    {"translations", "int",
     SESSION ", const @_generation *settings, const @_records *records, "
             "const @_translation **list, int64_t *n",
     "session, settings, records, list, n", TRANSLATES_COLUMNS, false,
     "The texts of records, as tfc translate makes them of the rows of a table: of each up to nbest\n"
     " * results, the best first, or its alternatives, and an empty one of a record with nothing\n"
     " * along a ragged dimension. *list is the session's, valid until its next generation or list,\n"
     " * and holds *n; after an error NULL and 0. An error: bytes that are not valid UTF-8, more\n"
     " * than 2^28 of them, a text of more tokens than the model takes, a label that is none.\n"
     " * settings NULL: the defaults, which are those of tfc translate."},
    {"unknown", "int", SESSION ", int64_t *tokens, int64_t *unknown, const char **note",
     "session, tokens, unknown, note", HAS_TEXT, false,
     "How many tokens the session's last call with text made of its text, and how many of them the\n"
     " * vocabulary does not know: the model reads these as one and the same. *note becomes a sentence\n"
     " * that tells so where they are more than 0.5 %, valid until the next call, else NULL. After\n"
     " * an error all are 0 and NULL. Each pointer may be NULL."},
    {"generate_text", "int", TEXT_ARGUMENTS, TEXT_VALUES, GENERATES_TEXT, false,
     "The text of `length` bytes of UTF-8 and how it goes on: length_factor × its tokens and\n"
     " * length_extra more, unless the model ends it. Of what is longer than the model sees at once\n"
     " * it sees the last half of that, so length_limit does not count. *text is the session's,\n"
     " * valid until its next text, and ends with a NUL, which *text_length (it may be NULL) does\n"
     " * not count. An error: bytes that are not valid UTF-8, a NUL among them, more than 2^28 of them;\n"
     " * then *text is NULL. settings NULL: the defaults, which are those of tfc generate; nbest\n"
     " * is 1."},
};
const int export_count = sizeof exports / sizeof exports[0];

/* Whether CTC makes labels of a prediction. */
static bool artifact_searches(const Artifact *artifact)
{
    for (int i = 0; i < artifact->predictor.n; i++)
        if (artifact->predictor.all[i].is_ctc)
            return true;
    return false;
}

bool artifact_encodes(const Artifact *artifact)
{
    const Function *encode = artifact->functions[TFC_ENCODE];
    for (const Op *op = encode ? encode->body.first : NULL; op; op = op->next)
        if (op->kind == OP_input)
            return true;
    return false;
}

bool artifact_takes_records(const Artifact *artifact)
{
    return artifact->has_text && artifact->read && !artifact->records_lack;
}

bool artifact_has_export(const Artifact *artifact, const LibraryExport *export)
{
    TfcColumn input;
    bool decodes = artifact->names[TFC_DECODE_STEP], encodes = artifact_encodes(artifact),
         reads = artifact->read != NULL;
    switch (export->when) {
    case ALWAYS: return true;
    case DECODES_ALONE: return decodes && !encodes;
    case HAS_TEXT: return artifact->has_text;
    case TRANSLATES_TEXT: return artifact->has_text && encodes && !reads;
    case TRANSLATES_COLUMNS: return artifact_takes_records(artifact);
    case GENERATES_TEXT: return artifact->has_text && decodes && !encodes;
    case PREDICTS_TEXT: return artifact->has_text && compile_text_input(artifact, &input);
    case SEARCHES_LABELS:
        return artifact->has_text && compile_text_input(artifact, &input) &&
               artifact_searches(artifact);
    case STEPS: return decodes && !artifact->shortlist;
    case STEPS_ENCODED: return encodes && !reads && !artifact->shortlist;
    case STEPS_COLUMNS: return reads && !artifact->shortlist;
    case GENERATES: return decodes && !reads;
    case GENERATES_COLUMNS: return reads;
    default: return artifact->names[export->when];
    }
}
