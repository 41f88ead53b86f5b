/* Vocabularies of single columns: made, read, written. */
#include "driver/run/column_words.h"

#include "base/file.h"
#include "driver/run/vocabularies.h"

#include <string.h>

/* "vocab-title.txt", where that of the run would be "vocab.txt". */
static const char *name_of(Arena *arena, VocabKind kind, const ColumnSpec *column)
{
    const char *file = vocab_kind_file(kind);
    const size_t stem = strcspn(file, ".");
    return arena_printf(arena, "%.*s-%s%s", (int)stem, file, column->input, file + stem);
}

Vocabulary *own_vocabulary_make(Job *job, const char *folder, const ColumnSpec *column,
                                const char *spec, const Lines *cells, const char *normalize)
{
    const VocabularyChoice choice = {.spec = spec, .normalize = normalize, .folder = folder};
    const bool needs_text = vocabulary_needs_text(&choice);
    const VocabularyTexts texts = {
        .texts = &cells, .n = cells && !cells->tensor, .hides = column->hide.rate > 0};
    if (needs_text && !cells) {
        job_error(
            job,
            "the vocabulary of `%s`, %s, is made from its texts, which tfc train alone has all "
            "at hand: name the folder of a run, or a file of it: `vocab %s = own(\"FILE\")`",
            column->input, spec, column->input);
        return NULL;
    }
    if (needs_text)
        vocabulary_note(job, &choice, false, arena_printf(job->arena, " of `%s`", column->input));
    return vocabulary_make(job, &choice, &texts);
}

const char *own_vocabulary_path(Job *job, const char *folder, const ColumnSpec *column)
{
    const char *path = NULL;
    for (VocabKind kind = 0; kind < VOCAB_KINDS && (!path || !file_exists(path)); kind++)
        path = file_in(job->arena, folder, name_of(job->arena, kind, column));
    return path;
}

Vocabulary *own_vocabulary_read(Job *job, const char *folder, const RunRecord *record,
                                const ColumnSpec *column)
{
    const char *path = own_vocabulary_path(job, folder, column);
    Vocabulary *vocab = vocab_load_within(&job->diags, job->arena, job_reach(job, folder), path);
    size_t size;
    const char *bytes = vocab ? vocab_bytes(vocab, &size) : NULL;
    if (!vocab || !record || !run_record_has_changed(job, record, file_name(path), bytes, size))
        return vocab;
    job_error(job, "%s is not the vocabulary that the run was trained with: put that back", path);
    return NULL;
}

bool own_vocabulary_write(Job *job, const char *folder, const ColumnSpec *column, RunRecord *record)
{
    size_t size;
    const char *bytes = vocab_bytes(column->vocab, &size),
               *name = name_of(job->arena, vocab_kind(column->vocab), column);
    if (record)
        run_record_add_file(job, record, name, bytes, size);
    return file_write_own(&job->diags, file_in(job->arena, folder, name), bytes, size);
}
