/* Vocabularies made: from a spec, from texts, from files and folders; and written to a folder. */
#include "runtime/data/vocabulary_of.h"

#include "base/file.h"
#include "runtime/data/marian_vocab.h"
#include "runtime/data/sentencepiece.h"

#include <stdlib.h>

enum { DEFAULT_PIECES = 8000, MAX_PIECES = 1000000, MAX_MODEL_BYTES = 256 << 20 };

/* ---- from texts ---- */

/* All lines of the texts in one array; *n is their number. */
static const Line *join_texts(Arena *arena, const Lines *const *texts, int n_texts, int64_t *n)
{
    *n = 0;
    for (int i = 0; i < n_texts; i++)
        *n += texts[i]->n;
    Line *lines = ARENA_ARRAY(arena, Line, *n + 1);
    int64_t at = 0;
    for (int i = 0; i < n_texts; i++)
        for (int64_t j = 0; j < texts[i]->n; j++)
            lines[at++] = texts[i]->at[j];
    return lines;
}

/* Trains with exactly so many pieces, or with as many as the text supports. */
static Vocabulary *train_pieces(Diagnostics *diags, Arena *arena, int pieces,
                                const Lines *const *texts, int n_texts, unsigned how)
{
    const SpTexts spec = {.as_is = how & VOCAB_AS_IS,
                          .symbol = how & VOCAB_MASK ? MASK_TOKEN : NULL};
    if (!sp_load(diags))
        return NULL;
    Arena *scratch = arena_new();
    int64_t n;
    const Line *lines = join_texts(scratch, texts, n_texts, &n);
    char *bytes = NULL, *error = NULL, *again = NULL;
    size_t size = 0;
    int least = 0;
    bool exact = sp_train(lines, n, pieces, &spec, true, &bytes, &size, &least, &error);
    bool trained = exact || (!least && sp_train(lines, n, pieces, &spec, false, &bytes, &size,
                                                &least, &again));
    arena_free(scratch);
    Vocabulary *vocab = NULL;
    if (trained) {
        vocab = vocab_of_model(diags, arena, "<trained vocabulary>", arena_copy(arena, bytes, size),
                               size, false);
        if (vocab && !exact)
            diag_warning(diags, (Loc){0}, "the text supports only %d pieces instead of %d",
                         vocab_size(vocab), pieces);
    } else if (least) {
        diag_error(diags, (Loc){0},
                   "--vocab auto:%d: the text has so many different characters that %d pieces are "
                   "the least",
                   pieces, least);
    } else {
        diag_error(diags, (Loc){0}, "cannot train a vocabulary of %d pieces: %s", pieces,
                   *again ? again : "the text has nothing but blanks");
    }
    free(bytes);
    free(error);
    free(again);
    return vocab;
}

/* The N of auto:N; 0 if it is no such number. */
static int parse_pieces(const char *text)
{
    int64_t value;
    return text_whole(text, &value) && value >= 1 && value <= MAX_PIECES ? (int)value : 0;
}

/* What follows the prefix, or NULL. */
static const char *after(const char *spec, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(spec, prefix, n) ? NULL : spec + n;
}

bool vocab_spec_is_pieces(const char *spec)
{
    return !strcmp(spec, "auto") || after(spec, "auto:");
}

bool vocab_needs_text(const char *spec)
{
    return vocab_spec_is_pieces(spec) || !strcmp(spec, "words:auto") ||
           after(spec, "words:auto:") || !strcmp(spec, "chars:auto");
}

int32_t vocab_spec_size(const char *spec)
{
    const char *number = after(spec, "auto:");
    if (!number)
        number = after(spec, "words:auto:");
    return number ? parse_pieces(number) : !strcmp(spec, "auto") ? DEFAULT_PIECES : 0;
}

/* Measured on English text: a byte is a quarter of a piece, a sixth of a word. */
double vocab_spec_memory(const char *spec, bool made)
{
    if (made && vocab_spec_is_pieces(spec))
        return 20;
    return after(spec, "chars:") ? 5 : 2;
}

static Vocabulary *make_from_text(Diagnostics *diags, Arena *arena, const char *spec,
                                  const Lines *const *texts, int n_texts, unsigned how)
{
    bool pieces = vocab_spec_is_pieces(spec), characters = !strncmp(spec, "chars", 5);
    const char *number = pieces ? after(spec, "auto:") : after(spec, "words:auto:");
    int limit = number ? parse_pieces(number) : pieces ? DEFAULT_PIECES : 0;
    if (number && limit <= 4) {
        diag_error(diags, (Loc){0}, "--vocab %s: expected a number of tokens from 5 to %d", spec,
                   MAX_PIECES);
        return NULL;
    }
    bool empty = true;
    for (int i = 0; i < n_texts && empty; i++)
        for (int64_t j = 0; j < texts[i]->n && empty; j++)
            empty = texts[i]->at[j].length == 0;
    if (empty) {
        diag_error(diags, (Loc){0}, "--vocab %s: there is no text to make a vocabulary from", spec);
        return NULL;
    }
    if (pieces)
        return train_pieces(diags, arena, limit, texts, n_texts, how);
    const char *mask = how & VOCAB_MASK && !characters ? MASK_TOKEN : NULL;
    return vocab_of_words(diags, arena,
                          wordlist_count(arena, texts, n_texts, mask, characters, limit));
}

Vocabulary *vocab_empty(Diagnostics *diags, Arena *arena)
{
    return vocab_of_words(diags, arena, wordlist_count(arena, NULL, 0, NULL, false, 0));
}

/* ---- files ---- */

static Vocabulary *load_words(Diagnostics *diags, Arena *arena, FileReach reach, const char *path)
{
    const LineLimits limits = {.reach = reach};
    const Lines *lines = lines_read(diags, arena, path, &limits);
    WordList *words = lines ? wordlist_parse(diags, arena, lines) : NULL;
    return words ? vocab_of_words(diags, arena, words) : NULL;
}

/* The side of a pair of Marian's kind. */
static Vocabulary *load_marian_side(Diagnostics *diags, Arena *arena, FileReach reach,
                                    const char *path, const Source *list)
{
    const Source *pieces = file_read_within(diags, arena, reach, path, MAX_MODEL_BYTES);
    size_t n;
    const char *bytes = pieces ? marian_model(diags, arena, pieces, list, false, &n) : NULL;
    return bytes ? vocab_of_model(diags, arena, path, bytes, n, false) : NULL;
}

static Vocabulary *load_marian(Diagnostics *diags, Arena *arena, FileReach reach,
                               const char *folder)
{
    static const char *const names[] = {"target.spm", "source.spm"};
    const Source *list = file_read_within(diags, arena, reach, file_in(arena, folder, "vocab.json"),
                                          MAX_MODEL_BYTES);
    Vocabulary *sides[2] = {NULL};
    for (int i = 0; list && i < 2; i++)
        if (!(sides[i] =
                  load_marian_side(diags, arena, reach, file_in(arena, folder, names[i]), list)))
            return NULL;
    if (list)
        vocab_join(sides[0], sides[1]);
    return sides[0];
}

static Vocabulary *load_file(Diagnostics *diags, Arena *arena, FileReach reach, const char *path)
{
    if (text_ends(path, ".txt"))
        return load_words(diags, arena, reach, path);
    const Source *source = file_read_within(diags, arena, reach, path, MAX_MODEL_BYTES);
    bool is_json = text_ends(path, ".json");
    return source ? vocab_of_model(diags, arena, path, source->text, source->length, is_json)
                  : NULL;
}

/* The file of each kind in a folder, of a source of its own and of a target or both; the last one
 * is meant where none is there. */
static const char *const folder_files[][2] = {
    [VOCAB_WORDS] = {"vocab.txt", "source-vocab.txt"},
    [VOCAB_JSON] = {"tokenizer.json", "source-tokenizer.json"},
    [VOCAB_SENTENCEPIECE] = {"vocab.model", "source-vocab.model"}};
const char *vocab_kind_file(VocabKind kind) { return folder_files[kind][0]; }

static const char *side_path(Arena *arena, const char *folder, bool of_source)
{
    const char *path = NULL;
    for (int i = 0; i < VOCAB_KINDS && (!path || !file_exists(path)); i++)
        path = file_in(arena, folder, folder_files[i][of_source]);
    return path;
}

Vocabulary *vocab_load_within(Diagnostics *diags, Arena *arena, FileReach reach, const char *path)
{
    if (!file_is_folder(path))
        return load_file(diags, arena, reach, path);
    if (!reach.folder)
        reach.folder = path;
    if (file_exists(file_in(arena, path, "source.spm")))
        return load_marian(diags, arena, reach, path);
    const char *of_source = side_path(arena, path, true);
    Vocabulary *vocab = load_file(diags, arena, reach, side_path(arena, path, false));
    if (!vocab || !file_exists(of_source))
        return vocab;
    Vocabulary *source = load_file(diags, arena, reach, of_source);
    if (source)
        vocab_join(vocab, source);
    return source ? vocab : NULL;
}

Vocabulary *vocab_load(Diagnostics *diags, Arena *arena, const char *path)
{
    return vocab_load_within(diags, arena, FILE_ANYWHERE, path);
}

Vocabulary *vocab_make_within(Diagnostics *diags, Arena *arena, FileReach reach, const char *spec,
                              const Lines *const *texts, int n_texts, unsigned how)
{
    if (vocab_needs_text(spec))
        return make_from_text(diags, arena, spec, texts, n_texts, how);
    const char *list = after(spec, "words:");
    return list ? load_words(diags, arena, reach, list)
                : vocab_load_within(diags, arena, reach, spec);
}

Vocabulary *vocab_make(Diagnostics *diags, Arena *arena, const char *spec,
                       const Lines *const *texts, int n_texts, unsigned how)
{
    return vocab_make_within(diags, arena, FILE_ANYWHERE, spec, texts, n_texts, how);
}

int vocab_files(const Vocabulary *vocab, VocabFile files[2])
{
    const Vocabulary *sides[] = {vocab, vocab_source(vocab)};
    int n = sides[1] == vocab ? 1 : 2;
    for (int i = 0; i < n; i++) {
        files[i].name = folder_files[vocab_kind(sides[i])][i];
        files[i].bytes = vocab_bytes(sides[i], &files[i].size);
    }
    return n;
}

bool vocab_save(const Vocabulary *vocab, Diagnostics *diags, const char *folder)
{
    VocabFile files[2];
    bool ok = true;
    for (int i = 0, n = vocab_files(vocab, files); ok && i < n; i++)
        ok = file_write_own(diags, file_in(diags->arena, folder, files[i].name), files[i].bytes,
                            files[i].size);
    return ok;
}
