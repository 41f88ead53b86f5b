/* Texts of records by a compiled library: a line each, as tfc translate prints them; arguments that
 * are not allowed, after each of which the session gives what it gave before.
 *
 * cc -DHEADER='"X.h"' -DNAME=X -DX …  with X a model of tests/fixtures/columns: captions,
 * multi_source or mixed. Usage: a.out [together] <TABLE, lines of the fields that the model reads,
 * with tabs between */
#include <math.h>
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
#define WORKS(call) ((call) ? FAIL("%s: %s\n", #call, N(error_detail)()) : 0)
#define REFUSES(detail, call) refuses(__LINE__, call, detail)

static void refuses(int line, int status, const char *detail)
{
    if (status != N(ERROR_ARGUMENT) || !strstr(N(error_detail)(), detail))
        wrong++, fprintf(stderr, "line %d: status %d, %s\n", line, status, N(error_detail)());
}

/* ---- records from lines ---- */

enum { MOST = 200, LONG = 4000 };
static char lines[MOST][LONG];
static const char *fields[8][MOST]; /* of each column */
static int64_t n;

static void read_lines(void)
{
    while (n < MOST && fgets(lines[n], LONG, stdin)) {
        lines[n][strcspn(lines[n], "\n")] = 0;
        char *at = lines[n];
        for (int c = 0; c < 8 && at; c++) {
            fields[c][n] = at;
            at = strchr(at, '\t');
            if (at)
                *at++ = 0;
        }
        n++;
    }
}

/* The numbers of a cell; how many. */
static int numbers(const char *cell, float *out)
{
    int count = 0;
    for (const char *at = cell; *at;) {
        char *end;
        float number = strtof(at, &end);
        if (end != at)
            out[count++] = number;
        at = end != at ? end : at + 1;
    }
    return count;
}

static float floats[MOST * 100];
static float weights[MOST];
static int32_t integers[MOST], counts[MOST];

/* Records `first` to first + count - 1 of the table. */
static N(records) take(int64_t first, int64_t count)
{
    N(records) in = {.B = count};
    int at = 0;
    for (int64_t i = 0; i < count; i++) {
        const int values = numbers(fields[0][first + i], floats + at);
        at += values;
        counts[i] = values / 2;
#ifdef captions
        integers[i] = atoi(fields[1][first + i]);
#endif
#ifdef mixed
        weights[i] = strtof(fields[4][first + i], NULL);
#endif
    }
#ifdef captions
    in.image = floats;
    in.place = integers;
#endif
#ifdef multi_source
    in.src = fields[0] + first;
    in.src2 = fields[1] + first;
#endif
#ifdef mixed
    in.F_lengths = counts;
    in.frames = floats;
    in.src = fields[1] + first;
    in.kind = fields[2] + first;
    in.mark = fields[3] + first;
    in.weight = weights;
#endif
    return in;
}

/* ---- answers ---- */

static void print_answers(const N(records) * in)
{
    const N(translation) * list;
    int64_t found;
    if (WORKS(N(translations)(session, NULL, in, &list, &found)))
        return;
    if (found != in->B)
        FAIL("%lld answers to %lld records\n", (long long)found, (long long)in->B);
    for (int64_t i = 0; i < found; i++) {
        if (list[i].line != i || list[i].n_source || strlen(list[i].text) != (size_t)list[i].length)
            FAIL("answer %lld\n", (long long)i);
        puts(list[i].text);
    }
}

static double digest(void)
{
    const N(translation) * list;
    N(records) in = take(0, 2);
    int64_t found;
    double sum = 0;
    if (!WORKS(N(translations)(session, NULL, &in, &list, &found)))
        for (int64_t i = 0; i < found; i++)
            sum += list[i].result.score + (double)list[i].length;
    return sum;
}

static void use_wrong(void)
{
    const N(translation) * list, *kept;
    int64_t found;
    N(records) in = take(0, 2);
    N(generation) settings;
    WORKS(N(generation_defaults)(model, &settings));
    REFUSES("records is NULL", N(translations)(session, NULL, NULL, &list, &found));
    REFUSES("list is NULL", N(translations)(session, NULL, &in, NULL, &found));
    REFUSES("n is NULL", N(translations)(session, NULL, &in, &list, NULL));
    REFUSES("session is NULL", N(translations)(NULL, NULL, &in, &list, &found));
    in.B = -1;
    REFUSES("the dimension B is -1", N(translations)(session, NULL, &in, &list, &found));
    in.B = INT64_MAX;
    REFUSES("the dimension B is 9223372036854775807",
            N(translations)(session, NULL, &in, &list, &found));
    in.B = 0;
    WORKS(N(translations)(session, NULL, &in, &list, &found));
    if (found)
        FAIL("%lld answers to no records\n", (long long)found);
    in = (N(records)){0};
    WORKS(N(translations)(session, NULL, &in, &list, &found));
    in = (N(records)){.B = 2};
    if (!N(translations)(session, NULL, &in, &list, &found) || list || found)
        FAIL("NULL in place of columns is taken\n");
    in = take(0, 2);
    settings.nbest = 2;
    settings.beam = 3;
    settings.prefix_text = "a\n";
    settings.prefix_length = 2;
    REFUSES("prefix_text has 1 lines, but the number of records is 2",
            N(translations)(session, &settings, &in, &list, &found));
    settings.prefix_text = NULL;
    WORKS(N(translations)(session, &settings, &in, &kept, &found));
    if (found != 4 || kept[1].line != 0 || kept[2].line != 1)
        FAIL("%lld results with nbest 2\n", (long long)found);
    settings.bos = -1;
    REFUSES("bos is -1", N(translations)(session, &settings, &in, &list, &found));
#ifdef captions
    in.place = (int32_t[]){0, 3};
    REFUSES("place", N(translations)(session, NULL, &in, &list, &found));
    in.place = (int32_t[]){-1, 0};
    REFUSES("place", N(translations)(session, NULL, &in, &list, &found));
    in.place = NULL;
    REFUSES("'place' is NULL", N(translations)(session, NULL, &in, &list, &found));
    in = take(0, 2);
    floats[3] = NAN;
    if (N(translations)(session, NULL, &in, &list, &found) != N(ERROR_NUMBER) ||
        !strstr(N(error_detail)(), "record 0: the model gives no numbers"))
        FAIL("NaN: %s\n", N(error_detail)());
    floats[3] = INFINITY;
    (void)N(translations)(session, NULL, &in, &list, &found);
#else
    const char *texts[] = {"ein", NULL};
    in.src = texts;
    REFUSES("record 1: `src` is NULL", N(translations)(session, NULL, &in, &list, &found));
    texts[1] = "a\377";
    REFUSES("record 1: `src`: byte 1 is 0xff", N(translations)(session, NULL, &in, &list, &found));
    char *endless = malloc((1 << 28) + 2); /* bytes of a text: at most 2^28 */
    memset(endless, 'a', (1 << 28) + 1);
    endless[(1 << 28) + 1] = 0;
    texts[1] = endless;
    REFUSES("record 1: `src` has 268435457 bytes: from 0 to 268435456 are allowed",
            N(translations)(session, NULL, &in, &list, &found));
    free(endless);
    in.src = NULL;
    REFUSES("'src' is NULL", N(translations)(session, NULL, &in, &list, &found));
    texts[1] = "";
    in.src = texts;
    WORKS(N(translations)(session, NULL, &in, &list, &found));
    if (found != 2 || list[1].length)
        FAIL("an empty text has an answer\n");
#endif
#ifdef mixed
    in = take(0, 2);
    in.kind = texts;
    texts[0] = "no such";
    REFUSES("record 0: 'no such' is none of the 3 labels of `kind`",
            N(translations)(session, NULL, &in, &list, &found));
    in = take(0, 2);
    in.F_lengths = (int32_t[]){1, -1};
    REFUSES("F_lengths[1] is -1", N(translations)(session, NULL, &in, &list, &found));
    in.F_lengths = (int32_t[]){INT32_MAX, INT32_MAX};
    REFUSES("F_lengths[1]", N(translations)(session, NULL, &in, &list, &found));
    in.F_lengths = NULL;
    REFUSES("F_lengths is NULL", N(translations)(session, NULL, &in, &list, &found));
#endif
}

/* Ids in and out: the same results as of records, in one call and step by step. */
static void use_tensors(void)
{
#ifdef captions
    const N(translation) * list;
    const N(records) records = take(0, 2);
    const N(encode_in) in = {.B = 2, .image = records.image, .place = records.place};
    N(result) results[2];
    const float *logits;
    int64_t found;
    if (WORKS(N(generate)(session, NULL, &in, results)))
        return;
    const double score = results[0].score;
    const int64_t length = results[1].n;
    if (WORKS(N(translations)(session, NULL, &records, &list, &found)))
        return;
    if (list[0].result.score != score || list[1].result.n != length)
        FAIL("generate gives other results\n");
    REFUSES("in is NULL", N(generate)(session, NULL, NULL, results));
    REFUSES("results is NULL", N(generate)(session, NULL, &in, NULL));
    REFUSES("in is NULL", N(encode)(session, NULL, 1));
    REFUSES("slots is -1", N(encode)(session, &in, -1));
    WORKS(N(encode)(session, &in, 2));
    N(generation) settings;
    WORKS(N(generation_defaults)(model, &settings));
    const int32_t first[] = {settings.bos, settings.bos}, slots[] = {0, 1}, none[] = {0, 2};
    REFUSES("sentence[1] is 2: sentences go from 0, and the session has 2",
            N(decode_step)(session, 2, none, slots, first, &logits));
    WORKS(N(decode_step)(session, 2, NULL, slots, first, &logits));
    int best = 0;
    for (int i = 0; i < N(VOCABULARY); i++)
        best = logits[i] > logits[best] ? i : best;
    if (best != list[0].result.ids[0])
        FAIL("the first step prefers %d\n", best);
#endif
}

int main(int argc, char **argv)
{
    (void)argv;
    read_lines();
    if (WORKS(N(open)(NULL, &model)) || WORKS(N(session_new)(model, &session)))
        return 1;
    const double before = digest();
    use_tensors();
    use_wrong();
    if (digest() != before)
        FAIL("answers change after what is not allowed\n");
    for (int64_t i = 0; argc < 2 && i < n; i++) {
        const N(records) one = take(i, 1);
        const N(translation) * list;
        int64_t found;
        if (!WORKS(N(translations)(session, NULL, &one, &list, &found)))
            puts(list[0].text);
    }
    if (argc > 1) {
        const N(records) all = take(0, n);
        print_answers(&all);
    }
    N(session_free)(session);
    N(close)(model);
    return wrong > 0;
}
