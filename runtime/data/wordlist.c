/* Lists of words or characters: counting, files. */
#include "runtime/data/wordlist.h"

#include "runtime/text/words/word_tokens.h"

#include <stdlib.h>

/* `token` lives as long as the list. */
static void add_token(WordList *list, const char *token)
{
    vec_push(list->arena, list->tokens, token);
    map_set(&list->seen, token, list);
}

/* `scratch`: for what is needed while the list is made. */
static WordList *new_list(Arena *arena, Arena *scratch, bool characters)
{
    WordList *list = ARENA_NEW(arena, WordList);
    list->arena = arena;
    list->characters = characters;
    map_init(&list->seen, scratch);
    return list;
}

/* ---- counting ---- */

typedef struct Count {
    const char *token;
    int64_t times;
} Count;

static int by_frequency(const void *a, const void *b)
{
    const Count *x = a, *y = b;
    if (x->times != y->times)
        return x->times > y->times ? -1 : 1;
    return strcmp(x->token, y->token);
}

static void count_token(Map *counts, const char *token)
{
    map_set(counts, token, (void *)((uintptr_t)map_get(counts, token) + 1));
}

static void count_lines(Map *counts, const Lines *lines, bool characters)
{
    Text token = {0};
    for (int64_t i = 0; i < lines->n; i++) {
        const Line *line = &lines->at[i];
        for (size_t at = 0, begin; words_next(characters, line->text, line->length, &at, &begin);) {
            token.length = 0;
            text_put(&token, line->text + begin, at - begin);
            count_token(counts, token.data);
        }
        if (characters)
            count_token(counts, "\n");
    }
    text_free(&token);
}

WordList *wordlist_count(Arena *arena, const Lines *const *texts, int n, const char *further,
                         bool characters, int64_t limit)
{
    Arena *scratch = arena_new();
    Map counts;
    map_init(&counts, scratch);
    for (int i = 0; i < n; i++)
        count_lines(&counts, texts[i], characters);
    Count *sorted = ARENA_ARRAY(scratch, Count, counts.count + 1);
    for (size_t i = 0; i < counts.count; i++)
        sorted[i] = (Count){counts.entries[i].key, (int64_t)(uintptr_t)counts.entries[i].value};
    qsort(sorted, counts.count, sizeof *sorted, by_frequency);

    WordList *list = new_list(arena, scratch, characters);
    for (int i = 0; i < WORDS_SPECIALS; i++)
        add_token(list, words_specials[i]);
    if (further)
        add_token(list, arena_strdup(arena, further));
    for (size_t i = 0; i < counts.count; i++)
        if ((limit <= 0 || (int64_t)list->tokens.count < limit) &&
            !map_has(&list->seen, sorted[i].token))
            add_token(list, arena_strdup(arena, sorted[i].token));
    arena_free(scratch);
    return list;
}

/* ---- files ---- */

/* The token of a line without the count after it; NULL if it is not one. */
static const char *token_of_line(Arena *arena, const Line *line)
{
    size_t end = line->length;
    while (end && words_is_space(line->text[end - 1]))
        end--;
    size_t word = 0;
    while (word < end && !words_is_space(line->text[word]))
        word++;
    size_t number = word;
    while (number < end && words_is_space(line->text[number]))
        number++;
    for (size_t i = number; i < end; i++)
        if (line->text[i] < '0' || line->text[i] > '9')
            return NULL;
    return word ? arena_strndup(arena, line->text, word) : NULL;
}

static const char escapes[] = WORDS_ESCAPES;

/* One character, an escape, or one of the special names. */
static const char *character_of_line(Arena *arena, const Line *line)
{
    const char *text = line->text;
    size_t n = line->length;
    if (n == 2 && text[0] == '\\')
        for (const char *e = escapes; *e; e += 2)
            if (text[1] == e[0])
                return arena_strndup(arena, e + 1, 1);
    for (int i = 0; i < WORDS_SPECIALS; i++)
        if (n == strlen(words_specials[i]) && !memcmp(text, words_specials[i], n))
            return words_specials[i];
    return n && utf8_length(text, n) == n ? arena_strndup(arena, text, n) : NULL;
}

/* Whether the file is a text: every one of its first lines has several words. */
static bool are_sentences(WordList *list, const Lines *lines)
{
    enum { LEAST = 3, LOOKED_AT = 8 };
    bool prose = !list->characters && lines->n >= LEAST;
    for (int64_t i = 0; prose && i < lines->n && i < LOOKED_AT; i++)
        prose = !token_of_line(list->arena, &lines->at[i]) && lines->at[i].length;
    return prose;
}

static bool add_line(Diagnostics *diags, WordList *list, const Lines *lines, int64_t i)
{
    const char *token = list->characters ? character_of_line(list->arena, &lines->at[i])
                                         : token_of_line(list->arena, &lines->at[i]);
    if (!token) {
        diag_error(diags, lines_place(lines, i),
                   list->characters ? "expected one character" : "expected one token");
        return false;
    }
    if (map_has(&list->seen, token)) {
        diag_error(diags, lines_place(lines, i), "token %s is in the list twice", token);
        return false;
    }
    add_token(list, token);
    return true;
}

static bool has_token(const Lines *lines, int64_t first, const char *name)
{
    size_t length = strlen(name);
    for (int64_t i = first; i < lines->n; i++) {
        const Line *line = &lines->at[i];
        if (line->length >= length && !memcmp(line->text, name, length) &&
            (line->length == length || words_is_space(line->text[length])))
            return true;
    }
    return false;
}

static WordList *parse_list(Diagnostics *diags, Arena *arena, Arena *scratch, const Lines *lines)
{
    size_t mark = sizeof WORDS_CHARACTERS - 1;
    bool characters = lines->n > 0 && lines->at[0].length == mark &&
                      !memcmp(lines->at[0].text, WORDS_CHARACTERS, mark);
    WordList *list = new_list(arena, scratch, characters);
    vec_reserve(arena, list->tokens, lines->n + WORDS_SPECIALS);
    if (are_sentences(list, lines)) {
        diag_error(
            diags, (Loc){.source = lines->source},
            "a vocabulary has a token a line, and this is text: words:auto or auto:N learns one");
        return NULL;
    }
    for (int i = 0; i < WORDS_SPECIALS; i++)
        if (!has_token(lines, characters, words_specials[i]))
            add_token(list, words_specials[i]);
    int errors = 0;
    for (int64_t i = characters; i < lines->n && errors < 5; i++)
        errors += !add_line(diags, list, lines, i);
    bool is_empty = list->tokens.count <= WORDS_SPECIALS &&
                    lines->n - characters < WORDS_SPECIALS; /* not vocab_empty's own list */
    if (!errors && is_empty) {
        diag_error(diags, (Loc){.source = lines->source}, "the list holds no tokens");
        errors++;
    }
    return errors ? NULL : list;
}

WordList *wordlist_parse(Diagnostics *diags, Arena *arena, const Lines *lines)
{
    Arena *scratch = arena_scratch(arena);
    WordList *list = parse_list(diags, arena, scratch, lines);
    arena_free(scratch);
    return list;
}

void wordlist_print(const WordList *list, Text *out)
{
    if (list->characters)
        text_add(out, "%s\n", WORDS_CHARACTERS);
    for (size_t i = 0; i < list->tokens.count; i++) {
        const char *token = list->tokens.data[i];
        const char *escape = NULL;
        for (const char *e = escapes; *e; e += 2)
            if (list->characters && token[0] == e[1])
                escape = e;
        if (escape)
            text_add(out, "\\%c\n", *escape);
        else
            text_add(out, "%s\n", token);
    }
}
