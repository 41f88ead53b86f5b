/* Lists of labels: read, counted, looked up. */
#include "runtime/data/labels.h"

#include <stdlib.h>
#include <string.h>

/* With room for n words. */
static Labels *labels_new(Arena *arena, int64_t n)
{
    Labels *labels = ARENA_NEW(arena, Labels);
    labels->arena = arena;
    vec_reserve(arena, labels->words, n);
    map_init(&labels->index, arena);
    return labels;
}

/* The list has the index's copy of a new word. */
static void add_label(Labels *labels, const char *word)
{
    map_set(&labels->index, word, (void *)(labels->words.count + 1));
    vec_push(labels->arena, labels->words, labels->index.entries[labels->index.count - 1].key);
}

/* Of one more label; NULL: none. */
static const char *label_problem(const Labels *labels, const char *word, LabelMarks marks)
{
    if (!*word)
        return "is empty";
    if (map_has(&labels->index, word))
        return "stands twice in the list";
    if (!marks.between || !strchr(word, (char)marks.between))
        return NULL;
    return marks.is_set ? "has the mark in it that stands between labels of a cell"
                        : "has a blank in it, which stands between labels of a text";
}

/* The text as a string, in the memory of `word`. */
static const char *label_key(Text *word, const char *text, size_t length)
{
    word->length = 0;
    text_put(word, text, length);
    return word->data;
}

Labels *labels_parse(Diagnostics *diags, Arena *arena, const Lines *lines, LabelMarks marks)
{
    Labels *labels = labels_new(arena, lines->n);
    Text key = {0};
    bool ok = lines->n > 0;
    if (!ok)
        diag_error(diags, (Loc){.source = lines->source}, "the list has no labels");
    for (int64_t i = 0; ok && i < lines->n; i++) {
        const Line *line = &lines->at[i];
        const char *word = label_key(&key, line->text, line->length);
        const char *problem = label_problem(labels, word, marks);
        ok = !problem;
        if (!ok)
            diag_error(diags, lines_place(lines, i), "the label '%s' %s", word, problem);
        else
            add_label(labels, word);
    }
    text_free(&key);
    return ok ? labels : NULL;
}

/* ---- counting ---- */

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void label_set_init(LabelSet *set, Arena *arena, LabelMarks marks)
{
    *set = (LabelSet){.arena = arena, .marks = marks};
    map_init(&set->seen, arena);
}

void label_set_see(LabelSet *set, const Lines *cells)
{
    Text word = {0};
    Line label;
    for (int64_t i = 0; i < cells->n; i++)
        for (size_t at = 0; cell_next_label(set->marks, &cells->at[i], &at, &label);)
            if (label.length)
                map_set(&set->seen, label_key(&word, label.text, label.length), set);
    text_free(&word);
}

void label_set_join(LabelSet *set, const LabelSet *other)
{
    for (size_t i = 0; i < other->seen.count; i++)
        map_set(&set->seen, other->seen.entries[i].key, set);
}

Labels *label_set_list(const LabelSet *set, Arena *arena)
{
    const size_t n = set->seen.count;
    const char **words = memory_resized(NULL, n * sizeof *words);
    Labels *labels = labels_new(arena, (int64_t)n);
    for (size_t i = 0; i < n; i++)
        words[i] = set->seen.entries[i].key;
    qsort(words, n, sizeof *words, by_bytes);
    for (size_t i = 0; i < n; i++)
        add_label(labels, words[i]);
    free(words);
    return labels;
}

/* ---- looking up ---- */

int32_t labels_find(const Labels *labels, const char *text, size_t length)
{
    enum { SHORT = 256 };
    char key[SHORT];
    Text word = {0};
    if (memchr(text, 0, length))
        return -1;
    if (length < SHORT) {
        memcpy(key, text, length);
        key[length] = 0;
    }
    size_t number =
        (size_t)map_get(&labels->index, length < SHORT ? key : label_key(&word, text, length));
    text_free(&word);
    return (int32_t)number - 1;
}

uint64_t labels_hash(const Labels *labels)
{
    uint64_t hash = HASH_SEED;
    for (size_t i = 0; i < labels->words.count; i++)
        hash = hash_string(hash, labels->words.data[i]);
    return hash;
}

void labels_print(const Labels *labels, Text *out)
{
    for (size_t i = 0; i < labels->words.count; i++)
        text_add(out, "%s\n", labels->words.data[i]);
}
