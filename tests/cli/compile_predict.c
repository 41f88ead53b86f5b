/* Predictions of lines by a compiled library, printed as tfc predict --json --top 1000 prints them;
 * arguments that are not allowed, after each of which the session predicts what it predicted
 * before.
 *
 * cc -DHEADER='"X.h"' -DNAME=X …  Usage: a.out [together] <LINES */
#include <stdint.h>
#define PASTE_(a, b) a##_##b
#define PASTE(a, b) PASTE_(a, b)
#define N(name) PASTE(NAME, name)
#include HEADER

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static NAME *model;
static N(session) * session;
static int wrong;

#define FAIL(...) (wrong++, fprintf(stderr, "line %d: ", __LINE__), fprintf(stderr, __VA_ARGS__))

/* ---- printing ---- */

static void print_quoted(const char *text)
{
    putchar('"');
    for (; *text; text++)
        printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    putchar('"');
}

static const float *compared;

static int by_probability(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    const float p = compared[x], q = compared[y];
    return p == q ? (x > y) - (x < y) : (p < q) - (p > q);
}

static void print_classes(const N(prediction_info) * info, const float *values)
{
    int64_t *order = malloc(sizeof *order * (size_t)info->classes);
    for (int64_t i = 0; i < info->classes; i++)
        order[i] = i;
    compared = values;
    qsort(order, (size_t)info->classes, sizeof *order, by_probability);
    printf("[");
    for (int64_t i = 0; i < info->classes; i++) {
        printf(i ? ", [" : "[");
        if (info->labels)
            print_quoted(info->labels[order[i]]);
        else
            printf("%lld", (long long)order[i]);
        printf(", %.9g]", (double)values[order[i]]);
    }
    printf("]");
    free(order);
}

static void print_values(const N(prediction_info) * info, const float *values)
{
    if (info->classes) {
        print_classes(info, values);
        return;
    }
    printf(info->width > 1 ? "[" : "");
    for (int64_t i = 0; i < info->width; i++)
        printf("%s%.9g", i ? ", " : "", (double)values[i]);
    printf(info->width > 1 ? "]" : "");
}

static void print_path(const N(prediction_info) * info, const N(predicted) * found)
{
    printf("[");
    for (int64_t r = 0; r < found->n_results; r++) {
        char labels[1000] = "";
        for (int64_t i = 0; i < found->results[r].n; i++)
            strcat(strcat(labels, i ? " " : ""), info->labels[found->results[r].classes[i]]);
        printf(r ? ", [" : "[");
        print_quoted(labels);
        printf(", %.9g]", found->results[r].log_probability);
    }
    printf("]");
}

static void print_list(const N(prediction_info) * info, const N(predicted) * found)
{
    const int64_t n = found->positions * info->width,
                  step = info->classes ? info->classes : info->width;
    const int has_list = info->positions || step < info->width;
    printf(has_list ? "[" : "");
    for (int64_t i = 0; i < n; i += step) {
        printf(i ? ", " : "");
        print_values(info, found->values + i);
    }
    printf(has_list ? "]" : "");
}

static void print_predicted(const N(predicted) * list, int64_t n, int64_t line)
{
    printf("{\"line\": %lld", (long long)line);
    for (int64_t i = 0; i < n; i++) {
        N(prediction_info) info;
        if (N(prediction)(model, i, &info))
            FAIL("%s\n", N(error_detail)());
        printf(", \"%s\": ", info.name);
        (info.ctc ? print_path : print_list)(&info, &list[i]);
        if (!info.ctc != !list[i].results || !info.positions != !list[i].ids ||
            (!info.positions && list[i].positions != 1))
            FAIL("%s: %lld positions\n", info.name, (long long)list[i].positions);
        if (info.ctc)
            for (int64_t k = 0; k < list[i].positions * info.width; k++)
                if (!(list[i].values[k] >= 0 && list[i].values[k] <= 1))
                    FAIL("%s: %g\n", info.name, (double)list[i].values[k]);
    }
    printf("}\n");
}

/* ---- what is not allowed ---- */

static const N(predicted) old[1];

static void refuses(int line, N(session) * of, const char *words, const char *utf8, int64_t length)
{
    const N(predicted) *list = old;
    int64_t n = -5, cut = -5;
    int status = N(predict_text)(of, utf8, length, &list, &n, &cut);
    if (status == N(ERROR_ARGUMENT) && strstr(N(error_detail)(), words) && !list && !n && !cut)
        return;
    wrong++;
    fprintf(stderr, "line %d: %d (%s), not %s\n", line, status, N(error_detail)(), words);
}
#define REFUSES(...) refuses(__LINE__, __VA_ARGS__)

static void wrong_texts(void)
{
    const N(predicted) *list = old;
    int64_t n = -5;
    REFUSES(NULL, "session", "a", 1);
    REFUSES((N(session) *)model, "session", "a", 1);
    REFUSES(session, "utf8 is NULL", NULL, 3);
    REFUSES(session, "length is -1", "a", -1);
    REFUSES(session, "length is 9223372036854775807", "a", INT64_MAX);
    REFUSES(session, "byte 1 of utf8 is 0xff", "a\xff", 2);
    REFUSES(session, "byte 1 of utf8 is 0x00", "a\0b", 3);
    REFUSES(session, "byte 0 of utf8 is 0xc3", "\xc3\xa9", 1);
    if (N(predict_text)(session, "a", 1, NULL, &n, NULL) != N(ERROR_ARGUMENT) || n)
        FAIL("list is NULL: %s\n", N(error_detail)());
    if (N(predict_text)(session, "a", 1, &list, NULL, NULL) != N(ERROR_ARGUMENT) || list)
        FAIL("n is NULL: %s\n", N(error_detail)());
}

static void wrong_predictions(void)
{
    N(prediction_info) info;
    N(predict_in) in = {.B = -1};
    N(predict_out) out;
    const int64_t n = N(prediction_count)(model), numbers[] = {-1, n, INT64_MAX, INT64_MIN};
    if (n < 1 || N(prediction_count)(NULL) != -1 || N(prediction_count)((NAME *)session) != -1)
        FAIL("prediction_count\n");
    for (int i = 0; i < 4; i++)
        if (N(prediction)(model, numbers[i], &info) != N(ERROR_ARGUMENT))
            FAIL("prediction %lld\n", (long long)numbers[i]);
    if (N(prediction)(model, 0, NULL) != N(ERROR_ARGUMENT) ||
        N(prediction)(NULL, 0, &info) != N(ERROR_ARGUMENT))
        FAIL("prediction with NULL\n");
    if (N(predict)(session, &in, &out) != N(ERROR_ARGUMENT) ||
        N(predict)(session, NULL, &out) != N(ERROR_ARGUMENT) ||
        N(predict)(session, &in, NULL) != N(ERROR_ARGUMENT) ||
        N(predict)(NULL, &in, &out) != N(ERROR_ARGUMENT))
        FAIL("predict\n");
    in = (N(predict_in)){.B = 3}; /* no lengths, no ids */
    if (N(predict)(session, &in, &out) != N(ERROR_ARGUMENT) ||
        !strstr(N(error_detail)(), "is NULL"))
        FAIL("predict: %s\n", N(error_detail)());
}

/* The texts of all lines at once, as one by one: printed to be compared by the caller. */
static void together(int printing)
{
    static char lines[1 << 16][64];
    static const char *texts[1 << 16];
    static int64_t cut[1 << 16];
    const N(predicted) * list;
    int64_t n, count = 0;
    while (count < 1 << 16 && fgets(lines[count], sizeof *lines, stdin)) {
        lines[count][strcspn(lines[count], "\n")] = 0;
        texts[count] = lines[count];
        count++;
    }
    if (N(predict_texts)(session, count, texts, NULL, &list, &n, cut))
        FAIL("%s\n", N(error_detail)());
    for (int64_t i = 0; printing && i < count; i++) {
        if (cut[i])
            fprintf(stderr, "line %lld: %lld tokens are left out\n", (long long)i + 1,
                    (long long)cut[i]);
        print_predicted(list + i * n, list[i * n].positions ? n : 0, i);
    }
    if (N(predict_texts)(session, 0, NULL, NULL, &list, &n, NULL) || n < 1)
        FAIL("no texts: %s\n", N(error_detail)());
    if (N(predict_texts)(session, -1, texts, NULL, &list, &n, NULL) != N(ERROR_ARGUMENT) || list ||
        N(predict_texts)(session, 2, NULL, NULL, &list, &n, NULL) != N(ERROR_ARGUMENT) ||
        N(predict_texts)(session, 2, (const char *const[]){"a", NULL}, NULL, &list, &n, cut) !=
            N(ERROR_ARGUMENT) ||
        !strstr(N(error_detail)(), "texts[1] is NULL") ||
        N(predict_texts)(session, 2, (const char *const[]){"a", "b"}, (const int64_t[]){1, -1},
                         &list, &n, cut) != N(ERROR_ARGUMENT) ||
        N(predict_texts)(NULL, 0, NULL, NULL, &list, &n, NULL) != N(ERROR_ARGUMENT) ||
        N(predict_texts)(session, INT64_MAX, texts, NULL, &list, &n, NULL) != N(ERROR_MEMORY))
        FAIL("predict_texts: %s\n", N(error_detail)());
}

#ifdef SEARCHES
static void search_refuses(int line, const N(label_search) * search, const char *words)
{
    if (N(set_label_search)(session, search) == N(ERROR_ARGUMENT) &&
        strstr(N(error_detail)(), words))
        return;
    wrong++;
    fprintf(stderr, "line %d: %s, not %s\n", line, N(error_detail)(), words);
}
#define SEARCH_REFUSES(words, ...) search_refuses(__LINE__, &(N(label_search)){__VA_ARGS__}, words)

/* BEAM, NBEST and LEXICON of the environment; before that what is refused. */
static void set_search(void)
{
    const char *beam = getenv("BEAM"), *nbest = getenv("NBEST"), *lexicon = getenv("LEXICON");
    SEARCH_REFUSES("beam is -1: it is from 1 to 65536", .beam = -1);
    SEARCH_REFUSES("beam is 65537", .beam = 65537);
    SEARCH_REFUSES("nbest is 9223372036854775807", .nbest = INT64_MAX);
    SEARCH_REFUSES("separator is between words", .separator = "LOW");
    SEARCH_REFUSES("line 2 of lexicon: 'HIGH' is no label of tag", .lexicon = "LOW\nLOW HIGH\n",
                   .lexicon_length = 13);
    SEARCH_REFUSES("line 1 of lexicon: a word has labels, and neither the blank nor the separator",
                   .lexicon = "\n", .lexicon_length = 1);
    SEARCH_REFUSES("separator: 'HIGH' is no label", .lexicon = "LOW", .lexicon_length = 3,
                   .separator = "HIGH");
    SEARCH_REFUSES("lexicon_length is -1: from 0 to", .lexicon = "LOW", .lexicon_length = -1);
    SEARCH_REFUSES("of lexicon is 0xff", .lexicon = "\xff", .lexicon_length = 1);
    if (N(set_label_search)(NULL, NULL) != N(ERROR_ARGUMENT))
        FAIL("a search of no session\n");
    N(label_search)
    search = {.beam = beam ? atoi(beam) : 0,
              .nbest = nbest ? atoi(nbest) : 0,
              .lexicon = lexicon,
              .lexicon_length = lexicon ? (int64_t)strlen(lexicon) : 0,
              .separator = getenv("SEPARATOR")};
    if (N(set_label_search)(session, beam || nbest || lexicon ? &search : NULL))
        FAIL("%s\n", N(error_detail)());
}
#else
static void set_search(void) {}
#endif

int main(int argc, char **argv)
{
    static char line[1 << 16];
    const N(predicted) * list;
    int64_t n, cut, number = 0;
    if (N(open)(NULL, &model) || N(session_new)(model, &session))
        return fprintf(stderr, "%s\n", N(error_detail)()), 2;
    wrong_texts();
    wrong_predictions();
    set_search();
    if (argc > 1) {
        together(1);
        N(close)(model);
        return wrong != 0;
    }
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        if (N(predict_text)(session, line, (int64_t)strlen(line), &list, &n, &cut))
            return fprintf(stderr, "%s\n", N(error_detail)()), 1;
        if (n != N(prediction_count)(model) && (n || list || *line))
            FAIL("%lld predictions\n", (long long)n);
        if (cut)
            fprintf(stderr, "line %lld: %lld tokens are left out\n", (long long)number + 1,
                    (long long)cut);
        print_predicted(list, n, number++);
    }
    N(close)(model);
    if (N(predict_text)(session, "a", 1, &list, &n, &cut) != N(ERROR_ARGUMENT) ||
        !strstr(N(error_detail)(), "closed"))
        FAIL("a closed model: %s\n", N(error_detail)());
    N(session_free)(session);
    return wrong != 0;
}
