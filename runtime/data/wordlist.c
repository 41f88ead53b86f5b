/* Lists of words or characters: counting, files, encoding, decoding. */
#include "runtime/data/wordlist.h"

#include <stdlib.h>

static const char characters_mark[] = "# characters";
static const char *const special_names[] = {"<pad>", "<unk>", "<s>", "</s>"};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

/* The next token at or after *at into `token`; false at the end. */
static bool next_token(bool characters, const char *text, size_t length, size_t *at, Text *token)
{
    size_t begin = *at;
    if (characters) {
        if (begin >= length)
            return false;
        size_t n = utf8_length(text + begin, length - begin);
        *at = begin + (n ? n : 1);
    } else {
        while (begin < length && is_space(text[begin]))
            begin++;
        if (begin >= length)
            return false;
        *at = begin;
        while (*at < length && !is_space(text[*at]))
            ++*at;
    }
    token->length = 0;
    text_put(token, text + begin, *at - begin);
    return true;
}

static void add_token(WordList *list, const char *token)
{
    const char *copy = arena_strdup(list->arena, token);
    vec_push(list->arena, list->tokens, copy);
    map_set(&list->ids, copy, (void *)(uintptr_t)list->tokens.count);
}

static WordList *new_list(Arena *arena, bool characters)
{
    WordList *list = ARENA_NEW(arena, WordList);
    list->arena = arena;
    list->characters = characters;
    map_init(&list->ids, arena);
    return list;
}

static void find_specials(WordList *list)
{
    int32_t *specials[] = {&list->pad, &list->unk, &list->bos, &list->eos};
    for (int i = 0; i < 4; i++)
        *specials[i] = wordlist_find(list, special_names[i]);
}

int32_t wordlist_find(const WordList *list, const char *token)
{
    return (int32_t)(uintptr_t)map_get(&list->ids, token) - 1;
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
        size_t at = 0;
        while (next_token(characters, lines->at[i].text, lines->at[i].length, &at, &token))
            count_token(counts, token.data);
        if (characters)
            count_token(counts, "\n");
    }
    text_free(&token);
}

WordList *wordlist_count(Arena *arena, const Lines *const *texts, int n, bool characters,
                         int64_t limit)
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

    WordList *list = new_list(arena, characters);
    for (int i = 0; i < 4; i++)
        add_token(list, special_names[i]);
    for (size_t i = 0; i < counts.count; i++)
        if ((limit <= 0 || (int64_t)list->tokens.count < limit) &&
            !map_has(&list->ids, sorted[i].token))
            add_token(list, sorted[i].token);
    find_specials(list);
    arena_free(scratch);
    return list;
}

/* ---- files ---- */

/* The token of a line without the count after it; NULL if it is not one. */
static const char *token_of_line(Arena *arena, const Line *line)
{
    size_t end = line->length;
    while (end && is_space(line->text[end - 1]))
        end--;
    size_t word = 0;
    while (word < end && !is_space(line->text[word]))
        word++;
    size_t number = word;
    while (number < end && is_space(line->text[number]))
        number++;
    for (size_t i = number; i < end; i++)
        if (line->text[i] < '0' || line->text[i] > '9')
            return NULL;
    return word ? arena_strndup(arena, line->text, word) : NULL;
}

static const char escapes[] = "n\nr\rt\t\\\\";

/* One character, an escape, or one of the special names. */
static const char *character_of_line(Arena *arena, const Line *line)
{
    const char *text = line->text;
    size_t n = line->length;
    if (n == 2 && text[0] == '\\')
        for (const char *e = escapes; *e; e += 2)
            if (text[1] == e[0])
                return arena_strndup(arena, e + 1, 1);
    for (int i = 0; i < 4; i++)
        if (n == strlen(special_names[i]) && !memcmp(text, special_names[i], n))
            return special_names[i];
    return n && utf8_length(text, n) == n ? arena_strndup(arena, text, n) : NULL;
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
    if (map_has(&list->ids, token)) {
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
            (line->length == length || is_space(line->text[length])))
            return true;
    }
    return false;
}

WordList *wordlist_parse(Diagnostics *diags, Arena *arena, const Lines *lines)
{
    size_t mark = sizeof characters_mark - 1;
    bool characters = lines->n > 0 && lines->at[0].length == mark &&
                      !memcmp(lines->at[0].text, characters_mark, mark);
    WordList *list = new_list(arena, characters);
    for (int i = 0; i < 4; i++)
        if (!has_token(lines, characters, special_names[i]))
            add_token(list, special_names[i]);
    int errors = 0;
    for (int64_t i = characters; i < lines->n && errors < 5; i++)
        errors += !add_line(diags, list, lines, i);
    if (!errors && list->tokens.count <= 4) {
        diag_error(diags, (Loc){.source = lines->source}, "the list holds no tokens");
        errors++;
    }
    find_specials(list);
    return errors ? NULL : list;
}

void wordlist_print(const WordList *list, Text *out)
{
    if (list->characters)
        text_add(out, "%s\n", characters_mark);
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

/* ---- encoding and decoding ---- */

static bool is_special(const WordList *list, int32_t id)
{
    return id == list->pad || id == list->bos || id == list->eos;
}

void wordlist_encode(const WordList *list, const char *text, size_t length, Ids *ids)
{
    Text token = {0};
    size_t at = 0;
    while (next_token(list->characters, text, length, &at, &token)) {
        int32_t id = wordlist_find(list, token.data);
        ids_push(ids, id < 0 || is_special(list, id) ? list->unk : id);
    }
    text_free(&token);
}

void wordlist_decode(const WordList *list, const int32_t *ids, size_t n, Text *out)
{
    bool joined = true; /* to what came before: no space is due */
    for (size_t i = 0; i < n; i++) {
        if (is_special(list, ids[i]))
            continue;
        const char *token = list->tokens.data[ids[i]];
        size_t length = strlen(token);
        if (list->characters) {
            text_add(out, "%s", ids[i] == list->unk ? "\xEF\xBF\xBD" : token); /* U+FFFD */
            continue;
        }
        if (!joined)
            text_put(out, " ", 1);
        joined = length > 2 && !memcmp(token + length - 2, "@@", 2);
        text_put(out, token, joined ? length - 2 : length);
    }
}
