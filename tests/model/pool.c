/* The pool of sessions of a compiled translator: threads that take sessions get their own answers,
 * beside training steps and saves that change nothing; what take, give and close allow; how much
 * faster two threads are.
 *
 * Usage: pool rules | pool answers CALLS | pool speed CALLS
 * Lines of text come from standard input; CALLS are those of each thread. */
#define _POSIX_C_SOURCE 200809L
#include "translator.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 8, MOST_LINES = 32, MOST_BYTES = 400, STEPS = 12, SAVES = 12 };
#define N(name) translator_##name

static translator *model;
static N(generation) settings;

typedef struct Line {
    char text[MOST_BYTES], answer[MOST_BYTES];
    int64_t tokens, unknown;
} Line;
static Line lines[MOST_LINES];
static int n_lines;
static atomic_int wrong;

static void report(const char *what, const char *want, const char *got)
{
    fprintf(stderr, "%s: '%s', not '%s' (%s)\n", what, got, want, N(error_detail)());
    wrong++;
}

static void need(int status, const char *what)
{
    if (!status)
        return;
    fprintf(stderr, "%s: %s (%s)\n", what, N(error_text)(status), N(error_detail)());
    exit(1);
}

/* ---- answers ---- */

static void read_lines(void)
{
    while (n_lines < MOST_LINES && fgets(lines[n_lines].text, MOST_BYTES, stdin)) {
        lines[n_lines].text[strcspn(lines[n_lines].text, "\n")] = 0;
        n_lines++;
    }
}

/* The line's answer in a session that is taken for it, and the tokens that the call counted. */
static int answer_line(const Line *line, char answer[MOST_BYTES], int64_t *tokens, int64_t *unknown)
{
    N(session) * session;
    const char *text;
    int64_t length;
    int status = N(session_take)(model, &session);
    if (status)
        return status;
    status = N(translate_text)(session, &settings, line->text, (int64_t)strlen(line->text), &text,
                               &length);
    if (!status) {
        snprintf(answer, MOST_BYTES, "%s", text);
        status = N(unknown)(session, tokens, unknown, NULL);
    }
    int given = N(session_give)(session);
    return status ? status : given;
}

static void ask_alone(void)
{
    for (int i = 0; i < n_lines; i++)
        need(answer_line(&lines[i], lines[i].answer, &lines[i].tokens, &lines[i].unknown),
             "a call");
    if (n_lines < MOST_LINES || !strcmp(lines[0].answer, lines[1].answer))
        report("lines", "other answers", lines[1].answer);
}

typedef struct Caller {
    pthread_t thread;
    int first, calls;
} Caller;

static void *ask_again_and_again(void *argument)
{
    const Caller *caller = argument;
    char answer[MOST_BYTES];
    for (int i = 0; i < caller->calls; i++) {
        const Line *line = &lines[(caller->first + i) % n_lines];
        int64_t tokens, unknown;
        need(answer_line(line, answer, &tokens, &unknown), "a call of a thread");
        if (strcmp(answer, line->answer))
            report(line->text, line->answer, answer);
        if (tokens != line->tokens || unknown != line->unknown)
            report(line->text, "its own count of tokens", "another's");
    }
    return NULL;
}

static void *train_again_and_again(void *argument)
{
    static const int32_t lengths[] = {2, 1}, ids[] = {4, 5, 6};
    N(train_step_in)
    in = {.seed = 1,
          .B = 2,
          .S_lengths = lengths,
          .T_lengths = lengths,
          .src = ids,
          .tgt = ids,
          .rate = 0};
    for (int i = 0; i < STEPS; i++) {
        N(session) * session;
        N(train_step_out) out;
        need(N(session_take_alone)(model, &session), "session_take_alone");
        need(N(train_step)(session, &in, &out), "train_step");
        need(N(session_give)(session), "session_give");
    }
    return argument;
}

static void *save_again_and_again(void *argument)
{
    for (int i = 0; i < SAVES; i++) {
        N(session) * session;
        need(N(session_take_alone)(model, &session), "session_take_alone");
        need(N(save)(model, "saved.safetensors"), "save");
        need(N(session_give)(session), "session_give");
    }
    return argument;
}

static void start_thread(pthread_t *thread, void *(*body)(void *), void *argument)
{
    if (pthread_create(thread, NULL, body, argument))
        exit(3);
}

/* Threads of n callers, and what runs beside them or not. */
static void run_callers(int n, int calls, int beside)
{
    Caller callers[THREADS];
    pthread_t trainer, saver;
    for (int i = 0; i < n; i++) {
        callers[i] = (Caller){.first = i * 5, .calls = calls};
        start_thread(&callers[i].thread, ask_again_and_again, &callers[i]);
    }
    if (beside) {
        start_thread(&trainer, train_again_and_again, NULL);
        start_thread(&saver, save_again_and_again, NULL);
        pthread_join(trainer, NULL);
        pthread_join(saver, NULL);
    }
    for (int i = 0; i < n; i++)
        pthread_join(callers[i].thread, NULL);
}

static void check_answers(int calls)
{
    ask_alone();
    for (int most = 1; most <= THREADS; most *= 8) { /* one session for all, and one each */
        need(N(set_sessions)(model, most), "set_sessions");
        run_callers(THREADS, most == 1 ? calls / 10 : calls, 1);
    }
    if (N(steps)(model) != 2 * STEPS)
        report("training", "24 steps", "others");
}

/* ---- rules ---- */

#define REFUSES(words, call)                                                              \
    do {                                                                                  \
        int got_ = (call);                                                                \
        if (!got_ || !strstr(N(error_detail)(), (words)))                                 \
            report(#call, (words), got_ ? N(error_detail)() : "nothing, and it is done"); \
    } while (0)

static void check_arguments(void)
{
    N(session) * session, *own, *second = (void *)&wrong;
    REFUSES("the model is NULL", N(session_take)(NULL, &session));
    REFUSES("session is NULL", N(session_take)(model, NULL));
    REFUSES("session is NULL", N(session_take_alone)(model, NULL));
    REFUSES("the session is NULL", N(session_give)(NULL));
    REFUSES("0 sessions: from 1 to", N(set_sessions)(model, 0));
    REFUSES("100000 sessions: from 1 to", N(set_sessions)(model, 100000));
    need(N(session_new)(model, &own), "session_new");
    REFUSES("was not taken from the pool", N(session_give)(own));
    N(session_free)(own);

    /* A thread that would wait for itself. */
    need(N(set_sessions)(model, 1), "set_sessions");
    need(N(session_take)(model, &session), "session_take");
    REFUSES("give it back first", N(session_take)(model, &second));
    if (second)
        report("session_take", "no session after an error", "one");
    REFUSES("give it back first", N(session_take_alone)(model, &second));
    need(N(session_give)(session), "session_give");
    need(N(session_take_alone)(model, &session), "session_take_alone");
    REFUSES("give it back first", N(session_take)(model, &second));
    need(N(session_give)(session), "session_give");
    need(N(set_sessions)(model, 2), "set_sessions");
    need(N(session_take)(model, &session), "session_take");
    need(N(session_take)(model, &second), "a second session");
    need(N(session_give)(second), "session_give");
    N(session_free)(session); /* leaves the pool */
    need(N(session_take_alone)(model, &session), "session_take_alone");
    need(N(session_give)(session), "session_give");
}

/* What one caller leaves behind is not there for the next. */
static void check_new(void)
{
    static const int32_t length = 2, ids[] = {4, 5}, slot = 0, token = N(BOS);
    N(session) * session, *next;
    const float *logits;
    int64_t tokens = 1;
    need(N(set_sessions)(model, 1), "set_sessions");
    need(N(session_take)(model, &session), "session_take");
    need(N(encode)(session, 1, &length, ids, 1), "encode");
    need(N(session_give)(session), "session_give");
    REFUSES("the session is closed", N(session_give)(session));
    REFUSES("the session is closed", N(decode_step)(session, 1, NULL, &slot, &token, &logits));
    need(N(session_take)(model, &next), "session_take");
    REFUSES("no decoding is in progress", N(decode_step)(next, 1, NULL, &slot, &token, &logits));
    need(N(unknown)(next, &tokens, NULL, NULL), "unknown");
    if (tokens || next == session)
        report("a session that is taken", "a new one", "what is left of the last");
    need(N(session_give)(next), "session_give");
}

static void *wait_for_session(void *out)
{
    N(session) * session;
    *(int *)out = N(session_take)(model, &session);
    if (*(int *)out && !strstr(N(error_detail)(), "closed"))
        report("a take that waits", "the model is closed", N(error_detail)());
    return NULL;
}

/* A model that is closed while one thread has its session and another waits for it. */
static void check_closed(void)
{
    N(session) * session;
    const char *text;
    pthread_t thread;
    int status = 0;
    need(N(set_sessions)(model, 1), "set_sessions");
    need(N(session_take)(model, &session), "session_take");
    need(N(translate_text)(session, &settings, lines[0].text, (int64_t)strlen(lines[0].text), &text,
                           NULL),
         "a call");
    start_thread(&thread, wait_for_session, &status);
    nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000},
              NULL); /* a late thread finds the model closed, too */
    N(close)(model);
    pthread_join(thread, NULL);
    if (!status)
        report("a take of a closed model", "an error", "a session");
    if (strcmp(text, lines[0].answer))
        report("an answer of a closed model", lines[0].answer, text);
    REFUSES("the session's model is closed", N(unknown)(session, NULL, NULL, NULL));
    need(N(session_give)(session), "session_give");
    REFUSES("the model is closed", N(session_take)(model, &session));
}

/* ---- speed ---- */

static double seconds_since(const struct timespec *from)
{
    struct timespec to;
    clock_gettime(CLOCK_MONOTONIC, &to);
    return (double)(to.tv_sec - from->tv_sec) + 1e-9 * (double)(to.tv_nsec - from->tv_nsec);
}

static double seconds_of(int n, int calls)
{
    struct timespec from;
    clock_gettime(CLOCK_MONOTONIC, &from);
    run_callers(n, calls, 0);
    return seconds_since(&from);
}

/* One thread in each of two processes, which share nothing: what the machine has for two. */
static double seconds_of_processes(int calls)
{
    struct timespec from;
    int status = 0;
    clock_gettime(CLOCK_MONOTONIC, &from);
    const pid_t child = fork();
    if (child < 0)
        exit(3);
    run_callers(1, calls, 0);
    if (!child)
        _exit(wrong != 0);
    waitpid(child, &status, 0);
    wrong += status != 0;
    return seconds_since(&from);
}

/* Calls a second of one thread, of two and of two processes, each in sessions of one thread: the
 * best of five. */
static void measure(int calls)
{
    double best[3] = {1e9, 1e9, 1e9};
    need(N(set_threads)(1), "set_threads");
    ask_alone();
    for (int round = 0; round < 5; round++)
        for (int n = 0; n < 3; n++) {
            const double seconds = n < 2 ? seconds_of(n + 1, calls) : seconds_of_processes(calls);
            best[n] = seconds < best[n] ? seconds : best[n];
        }
    printf(
        "one thread %.0f calls/s, two threads %.0f: %.2f times as many; two processes %.0f: %.2f\n",
        calls / best[0], 2 * calls / best[1], 2 * best[0] / best[1], 2 * calls / best[2],
        2 * best[0] / best[2]);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    need(N(open)(NULL, &model), "open");
    need(N(generation_defaults)(model, &settings), "generation_defaults");
    settings.beam = 1;
    read_lines();
    const int calls = argc > 2 ? atoi(argv[2]) : 0;
    if (!strcmp(argv[1], "speed"))
        measure(calls);
    else if (!strcmp(argv[1], "answers"))
        check_answers(calls);
    else {
        ask_alone();
        check_arguments();
        check_new();
        check_closed();
    }
    N(close)(model);
    return wrong != 0;
}
