/* Making the vocabularies of both sides, with the rules of their tokens. */
#include "driver/vocabularies.h"

#include "runtime/data/token_rules.h"

bool vocabulary_is_chosen(const VocabularyChoice *choice)
{
    return choice->spec || choice->source || choice->tokens.count;
}

bool vocabulary_needs_text(const VocabularyChoice *choice)
{
    return vocab_needs_text(choice->spec) || (choice->source && vocab_needs_text(choice->source));
}

/* With the rules that the texts say; NULL after an error. */
static Vocabulary *with_rules(Job *job, Vocabulary *vocab, const TextList *tokens)
{
    return vocab && token_rules_set(vocab, &job->diags, tokens->data, tokens->count) ? vocab : NULL;
}

/* The side that `text` is of. */
static Vocabulary *make_side(Job *job, const char *spec, const Lines *text)
{
    return vocab_make(&job->diags, job->arena, spec, &text, text ? 1 : 0);
}

static Vocabulary *make_sides(Job *job, const VocabularyChoice *choice, const Lines *source,
                              const Lines *target)
{
    const Lines *both[] = {source, target};
    if (!choice->source)
        return vocab_make(&job->diags, job->arena, choice->spec, both,
                          (source != NULL) + (target != NULL));
    Vocabulary *vocab = make_side(job, choice->spec, target);
    Vocabulary *other = vocab ? make_side(job, choice->source, source) : NULL;
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
