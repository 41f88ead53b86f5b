/* Making the vocabularies of both sides, with the rules of their tokens. */
#include "driver/vocabularies.h"

#include "runtime/data/token_rules.h"

bool vocabulary_is_chosen(const VocabularyChoice *choice)
{
    return choice->spec || choice->source || choice->tokens.count || choice->normalize;
}

bool vocabulary_needs_text(const VocabularyChoice *choice)
{
    return vocab_needs_text(choice->spec) || (choice->source && vocab_needs_text(choice->source));
}

const char *vocabulary_normalization(const VocabularyChoice *choice, bool pairs)
{
    bool makes = vocab_spec_is_pieces(choice->spec) || (choice->source && vocab_spec_is_pieces(choice->source));
    return !makes ? NULL : choice->normalize ? choice->normalize : pairs ? "nfkc" : "none";
}

void vocabulary_note(Job *job, const VocabularyChoice *choice, bool pairs, const char *from)
{
    const char *how = vocabulary_normalization(choice, pairs);
    diag_note(&job->diags, (Loc){0}, "making the vocabulary %s%s%s", choice->spec, from,
              !how                 ? ""
              : !strcmp(how, "none") ? ", of the text as it is (--normalize none)"
                                     : ", of the text normalized by NFKC, with one blank for tabs and "
                                       "runs of blanks (--normalize nfkc)");
}

/* With the rules that the texts say; NULL after an error. */
static Vocabulary *with_rules(Job *job, Vocabulary *vocab, const TextList *tokens)
{
    return vocab && token_rules_set(vocab, &job->diags, tokens->data, tokens->count) ? vocab : NULL;
}

/* The side that `text` is of. */
static Vocabulary *make_side(Job *job, const char *spec, const Lines *text, bool as_is)
{
    return vocab_make(&job->diags, job->arena, spec, &text, text ? 1 : 0, as_is);
}

static Vocabulary *make_sides(Job *job, const VocabularyChoice *choice, const Lines *source,
                              const Lines *target)
{
    const Lines *both[] = {source, target};
    const char *how = vocabulary_normalization(choice, target != NULL);
    bool as_is = how && !strcmp(how, "none");
    if (!choice->source)
        return vocab_make(&job->diags, job->arena, choice->spec, both,
                          (source != NULL) + (target != NULL), as_is);
    Vocabulary *vocab = make_side(job, choice->spec, target, as_is);
    Vocabulary *other = vocab ? make_side(job, choice->source, source, as_is) : NULL;
    if (other)
        vocab_join(vocab, other);
    return other ? vocab : NULL;
}

Vocabulary *vocabulary_make(Job *job, const VocabularyChoice *choice, const Lines *source,
                            const Lines *target)
{
    return with_rules(job, make_sides(job, choice, source, target), &choice->tokens);
}

Vocabulary *vocabulary_of_run(Job *job, const char *folder, const RunRecord *record)
{
    return with_rules(job, vocab_load(&job->diags, job->arena, folder), &record->tokens);
}
