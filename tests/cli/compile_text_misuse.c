/* A model's text functions with arguments that are not allowed; each call gives a status and
 * says what is wrong, and afterwards the session answers what it answered before.
 *
 * cc -DHEADER='"X.h"' -DNAME=X -DTEXT=X_translate_text -DTRANSLATES …, or with X_generate_text
 * and without TRANSLATES. Usage: a.out TEXT   (one that is right) */
#include <stdint.h>
#define PASTE_(a, b) a##_##b
#define PASTE(a, b) PASTE_(a, b)
#define N(name) PASTE(NAME, name)
#include HEADER

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong;
static N(session) * session;

/* The call gives the status and these words; no text. */
static void refuses(int line, int want, const char *words, const N(generation) * settings,
                    const char *utf8, int64_t length)
{
    const char *text = "old";
    int64_t n = -5;
    int status = TEXT(session, settings, utf8, length, &text, &n);
    if (status == want && strstr(N(error_detail)(), words) && !text && n == 0)
        return;
    fprintf(stderr, "line %d: %d (%s)\n", line, status, N(error_detail)());
    wrong++;
}
#define REFUSES(...) refuses(__LINE__, N(ERROR_ARGUMENT), __VA_ARGS__)

static char *answer(const char *utf8)
{
    const char *text;
    int64_t n;
    int status = TEXT(session, NULL, utf8, (int64_t)strlen(utf8), &text, &n);
    if (status || strlen(text) != (size_t)n) {
        fprintf(stderr, "'%s': %d (%s)\n", utf8, status, N(error_detail)());
        exit(1);
    }
    return strdup(text);
}

#ifdef TRANSLATES
static void refuses_list(int line, N(session) * of, const char *utf8, int64_t length,
                         const N(translation) * *list, int64_t *n)
{
    static const N(translation) old;
    if (list)
        *list = &old;
    if (N(translations)(of, NULL, utf8, length, list, n) != N(ERROR_ARGUMENT) ||
        (list && n && (*list || *n)))
        wrong++, fprintf(stderr, "line %d: %s\n", line, N(error_detail)());
}

static void lists_wrong(void)
{
    const N(translation) * list;
    int64_t n;
    refuses_list(__LINE__, NULL, "a", 1, &list, &n);
    refuses_list(__LINE__, session, "a", 1, NULL, &n);
    refuses_list(__LINE__, session, "a", 1, &list, NULL);
    refuses_list(__LINE__, session, NULL, 1, &list, &n);
    refuses_list(__LINE__, session, "a", -1, &list, &n);
    refuses_list(__LINE__, session, "\xff", 1, &list, &n);
    if (N(translations)(session, NULL, NULL, 0, &list, &n) || n)
        wrong++, fprintf(stderr, "no text: %s\n", N(error_detail)());
}
#endif

int main(int argc, char **argv)
{
    NAME *model;
    N(generation) s;
    const char *text;
    if (argc != 2 || N(open)(NULL, &model) || N(session_new)(model, &session))
        return 2;
    char *before = answer(argv[1]);
    REFUSES("utf8 is NULL", NULL, NULL, 3);
    REFUSES("length is -1", NULL, "a", -1);
    REFUSES("length is 9223372036854775807", NULL, "a", INT64_MAX);
    REFUSES("byte 2 of utf8 is 0xff: that is not UTF-8", NULL, "a \xff", 3);
    REFUSES("byte 1 of utf8 is 0xc3", NULL, "a\xc3\xa9", 2); /* half a character */
    REFUSES("byte 0 of utf8 is 0xed", NULL, "\xed\xa0\x80", 3);
    REFUSES("byte 1 of utf8 is 0x00: a text has no NUL", NULL, "a\0b", 3);
    N(generation_defaults)(model, &s);
    s.nbest = 0;
    REFUSES("nbest is 0", &s, "a", 1);
    s.nbest = 2;
    REFUSES("nbest is 2", &s, "a", 1);
    s.nbest = 1;
    s.temperature = -1;
    REFUSES("temperature is -1", &s, "a", 1);
    N(generation_defaults)(model, &s);
    s.first = 1 << 20;
    REFUSES("first is 1048576; expected an id from -1 to ", &s, "a", 1);
    if (N(set_threads)(0) != N(ERROR_ARGUMENT) ||
        !strstr(N(error_detail)(), "0 threads: from 1 to "))
        wrong++, fprintf(stderr, "no threads: %s\n", N(error_detail)());
    if (TEXT(session, NULL, "a", 1, NULL, NULL) != N(ERROR_ARGUMENT))
        wrong++, fprintf(stderr, "text NULL: %s\n", N(error_detail)());
    if (TEXT(NULL, NULL, "a", 1, &text, NULL) != N(ERROR_ARGUMENT) || text)
        wrong++, fprintf(stderr, "session NULL: %s\n", N(error_detail)());
    if (TEXT(session, NULL, "a", 1, &text, NULL)) /* the length may stay untold */
        wrong++, fprintf(stderr, "length NULL: %s\n", N(error_detail)());
    const int32_t none = 0;
    N(generation_defaults)(model, &s);
    s.prefix_lengths = &none;
    REFUSES("prefixes are for ids", &s, "a", 1);
    N(generation_defaults)(model, &s);
    s.prefix_text = "a\xff";
#ifdef TRANSLATES
    s.prefix_length = -1;
    REFUSES("prefix_length is -1", &s, "a", 1);
    s.prefix_length = INT64_MAX;
    REFUSES("prefix_length is 9223372036854775807", &s, "a", 1);
    s.prefix_length = 2;
    REFUSES("byte 1 of prefix_text is 0xff", &s, "a", 1);
    s.prefix_length = 1;
    REFUSES("prefix_text has 1 lines, but the text 2", &s, "a\nb", 3);
    lists_wrong();
#else
    REFUSES("prefix_text is for translations", &s, "a", 1);
#endif
    N(generation_defaults)(model, &s);
    s.sample = 0;
    s.alternatives = 3;
    REFUSES("alternatives is 3: a text is answered by one", &s, "a", 1);
#ifdef TRANSLATES
    if (TEXT(session, NULL, NULL, 0, &text, NULL) || *text)
        wrong++, fprintf(stderr, "no text: %s\n", N(error_detail)());
    char *many = malloc(3003);
    strcpy(many, "a\n");
    memset(many + 2, 0, 3000);
    for (int i = 0; i < 1000; i++)
        strcat(many, "ab ");
    REFUSES("line 2 has ", NULL, many, 3002);
    free(many);
#endif
    int64_t tokens = -5, unknown = -5;
    if (N(unknown)(NULL, &tokens, &unknown, &text) != N(ERROR_ARGUMENT) || tokens || unknown ||
        text)
        wrong++, fprintf(stderr, "unknown, session NULL: %s\n", N(error_detail)());
    if (N(unknown)(session, NULL, NULL, NULL))
        wrong++, fprintf(stderr, "unknown, nothing asked: %s\n", N(error_detail)());
    /* An answer may be the next question. */
    if (TEXT(session, NULL, argv[1], (int64_t)strlen(argv[1]), &text, NULL))
        wrong++;
    char *copy = strdup(text), *twice = answer(copy);
    if (TEXT(session, NULL, argv[1], (int64_t)strlen(argv[1]), &text, NULL) ||
        TEXT(session, NULL, text, (int64_t)strlen(text), &text, NULL) || strcmp(text, twice))
        wrong++, fprintf(stderr, "an answer as a question: '%s', not '%s'\n", text, twice);
    free(twice);
    free(copy);
    char *after = answer(argv[1]);
    if (strcmp(before, after))
        wrong++, fprintf(stderr, "'%s' became '%s'\n", before, after);
    free(before);
    free(after);
    N(session_free)(session);
    if (TEXT(session, NULL, "a", 1, &text, NULL) != N(ERROR_ARGUMENT))
        wrong++, fprintf(stderr, "freed: %s\n", N(error_detail)());
    N(close)(model);
    return wrong != 0;
}
