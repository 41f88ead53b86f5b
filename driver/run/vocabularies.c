/* Making the vocabularies of both sides, with the rules of their tokens. */
#include "driver/run/vocabularies.h"

#include "base/file.h"
#include "runtime/data/token_rules.h"

#include <string.h>

bool vocabulary_is_chosen(const VocabularyChoice *choice)
{
    return choice->spec || choice->source || choice->tokens.count || choice->normalize;
}

bool vocabulary_needs_text(const VocabularyChoice *choice)
{
    return (choice->spec && vocab_needs_text(choice->spec)) ||
           (choice->source && vocab_needs_text(choice->source));
}

const char *vocabulary_normalization(const VocabularyChoice *choice, bool pairs)
{
    bool makes = (choice->spec && vocab_spec_is_pieces(choice->spec)) ||
                 (choice->source && vocab_spec_is_pieces(choice->source));
    return !makes ? NULL : choice->normalize ? choice->normalize : pairs ? "nfkc" : "none";
}

bool vocabulary_take_rules(Job *job, VocabularyChoice *choice)
{
    RunRecord record;
    if (!choice->spec || !is_run_folder(choice->spec))
        return true;
    if (!run_record_read(job, choice->spec, &record))
        return false;
    TextList tokens = record.tokens;
    for (size_t i = 0; i < choice->tokens.count; i++)
        vec_push(job->arena, tokens, choice->tokens.data[i]);
    choice->tokens = tokens;
    return true;
}

void vocabulary_note(Job *job, const VocabularyChoice *choice, bool pairs, const char *from)
{
    const char *how = vocabulary_normalization(choice, pairs);
    diag_remark(&job->diags, (Loc){0}, "making the vocabulary %s%s%s", choice->spec, from,
                !how ? ""
                : !strcmp(how, "none")
                    ? ", of the text as it is (--normalize none)"
                    : ", of the text normalized by NFKC, with one blank for tabs and "
                      "runs of blanks (--normalize nfkc)");
}

/* A list of words that came from another program has its special tokens, which are words like any
 * other here. */
static void note_foreign(Job *job, const char *spec, const Vocabulary *vocab)
{
    static const struct {
        const char *token, *name, *what;
    } rows[] = {
        /* clang-format off */
        {"<blank>", "pad",   "padding token"},
        {"<PAD>",   "pad",   "padding token"},
        {"[PAD]",   "pad",   "padding token"},
        {"<UNK>",   "unk",   "unknown token"},
        {"[UNK]",   "unk",   "unknown token"},
        {"UNK",     "unk",   "unknown token"},
        {"<bos>",   "begin", "token that begins a target"},
        {"<BOS>",   "begin", "token that begins a target"},
        {"<eos>",   "end",   "token that ends a target"},
        {"<EOS>",   "end",   "token that ends a target"},
        /* clang-format on */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows && vocab_is_words(vocab); i++)
        if (vocab_find(vocab, rows[i].token) >= 0)
            diag_remark(
                &job->diags, (Loc){0},
                "--vocab %s: '%s' is a word like any other; --token %s='%s' makes it the %s", spec,
                rows[i].token, rows[i].name, rows[i].token, rows[i].what);
}

/* With the rules that the texts say; NULL after an error. */
static Vocabulary *with_rules(Job *job, const char *spec, Vocabulary *vocab, const TextList *tokens)
{
    bool ok = vocab && token_rules_set(vocab, &job->diags, tokens->data, tokens->count);
    if (ok && !tokens->count)
        note_foreign(job, spec, vocab);
    return ok ? vocab : NULL;
}

/* Another vocabulary of the same size would give other words without a word about it. */
static bool check_vocabulary(Job *job, const char *folder, const RunRecord *record,
                             const Vocabulary *vocab)
{
    VocabFile files[2];
    for (int i = 0, n = vocab_files(vocab, files); i < n; i++)
        if (run_record_has_changed(job, record, files[i].name, files[i].bytes, files[i].size))
            return job_error(
                job, "%s is not the vocabulary that the run was trained with: put that back",
                file_in(job->arena, folder, files[i].name));
    return true;
}

static Vocabulary *make_one(Job *job, const char *folder, const char *spec,
                            const Lines *const *texts, int n, unsigned how)
{
    RunRecord record;
    Vocabulary *vocab =
        vocab_make_within(&job->diags, job->arena, job_reach(job, folder), spec, texts, n, how);
    const bool of_run = vocab && is_run_folder(spec);
    return of_run && (!run_record_read(job, spec, &record) ||
                      !check_vocabulary(job, spec, &record, vocab))
               ? NULL
               : vocab;
}

#define PIECES "auto:8000, which trains a SentencePiece model of 8000 pieces"

/* Whether the choice names a vocabulary, and not what one of tfc's own would be made by. */
static bool check_spec(Job *job, const char *spec)
{
    static const struct {
        const char *word, *meant;
    } rows[] = {
        /* clang-format off */
        {"words",          "words:auto, the text's words, or words:FILE, a list"},
        {"word:",          "words:auto, the text's words, or words:FILE, a list"},
        {"chars",          "chars:auto, the text's characters"},
        {"char:",          "chars:auto, the text's characters"},
        {"sentencepiece",  PIECES},
        {"sentencepiece:", PIECES},
        {"bpe",            PIECES},
        {"bpe:",           PIECES},
        {"unigram",        PIECES},
        {"unigram:",       PIECES},
        /* clang-format on */
    };
    if (file_exists(spec))
        return true;
    if (*spec && strspn(spec, "0123456789") == strlen(spec))
        return job_error(
            job,
            "--vocab %s: there is no file of this name; auto:%s trains a vocabulary of %s pieces",
            spec, spec, spec);
    const size_t kind = strcspn(spec, ":") + (strchr(spec, ':') != NULL); /* "bpe:" of "bpe:8000" */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strlen(rows[i].word) == kind && !strncmp(spec, rows[i].word, kind))
            return job_error(job, "--vocab %s: there is no file of this name; meant is perhaps %s",
                             spec, rows[i].meant);
    return true;
}

static Vocabulary *make_sides(Job *job, const VocabularyChoice *choice,
                              const VocabularyTexts *texts)
{
    if (!check_spec(job, choice->spec) || (choice->source && !check_spec(job, choice->source)))
        return NULL;
    const char *normalized = vocabulary_normalization(choice, texts->pairs);
    const unsigned how = (normalized && !strcmp(normalized, "none") ? VOCAB_AS_IS : 0) |
                         (texts->hides ? VOCAB_MASK : 0);
    const int n_source = texts->n_source;
    const char *folder = choice->folder;
    if (!choice->source)
        return make_one(job, folder, choice->spec, texts->texts, texts->n, how);
    Vocabulary *vocab =
        make_one(job, folder, choice->spec, texts->texts + n_source, texts->n - n_source, how);
    Vocabulary *other =
        vocab ? make_one(job, folder, choice->source, texts->texts, n_source, how) : NULL;
    if (other)
        vocab_join(vocab, other);
    return other ? vocab : NULL;
}

Vocabulary *vocabulary_make(Job *job, const VocabularyChoice *choice, const VocabularyTexts *texts)
{
    const VocabularyTexts none = {0};
    return with_rules(job, choice->spec, make_sides(job, choice, texts ? texts : &none),
                      &choice->tokens);
}

Vocabulary *vocabulary_load(Job *job, const VocabularyChoice *choice)
{
    VocabularyChoice rules = *choice;
    return vocabulary_take_rules(job, &rules) ? vocabulary_make(job, &rules, NULL) : NULL;
}

Vocabulary *vocabulary_of_run(Job *job, const char *folder, const RunRecord *record)
{
    Vocabulary *vocab =
        run_record_check_files(job, folder, record)
            ? vocab_load_within(&job->diags, job->arena, job_reach(job, NULL), folder)
            : NULL;
    return vocab && check_vocabulary(job, folder, record, vocab)
               ? with_rules(job, folder, vocab, &record->tokens)
               : NULL;
}
