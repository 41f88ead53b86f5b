/* For panels.sh: a library whose params are inside as panels, beside the same with the params of a
 * file: equal params, generations of equal log probabilities, before and while another session
 * trains.
 *
 * Usage: panels WEIGHTS SAVED_INSIDE SAVED_BESIDE SAVED_FRESH */
#include "multi30k_small.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(int status)
{
    if (!status)
        return;
    fprintf(stderr, "%s (%s)\n", multi30k_small_error_text(status), multi30k_small_error_detail());
    exit(1);
}

static void need(int is_so, const char *what)
{
    if (is_so)
        return;
    fprintf(stderr, "%s\n", what);
    exit(1);
}

typedef struct Side {
    multi30k_small *model;
    multi30k_small_session *trains, *decodes;
} Side;

static Side open_side(const char *weights)
{
    Side side;
    check(multi30k_small_open(weights, &side.model));
    check(multi30k_small_session_new(side.model, &side.trains));
    check(multi30k_small_session_new(side.model, &side.decodes));
    return side;
}

static void close_side(const Side *side)
{
    multi30k_small_session_free(side->trains);
    multi30k_small_session_free(side->decodes);
    multi30k_small_close(side->model);
}

static double generate(const Side *side, multi30k_small_session *session)
{
    static const int32_t ids[] = {5, 6, 7, 8, 9}, n = 5;
    multi30k_small_generation settings;
    multi30k_small_result best;
    check(multi30k_small_generation_defaults(side->model, &settings));
    settings.bos = 1;
    settings.eos = 2;
    settings.length_limit = 8;
    check(multi30k_small_generate(session, &settings, 1, &n, ids, &best));
    return best.log_probability;
}

/* What a session of its own gives. */
static double generate_anew(const Side *side)
{
    multi30k_small_session *session;
    check(multi30k_small_session_new(side->model, &session));
    const double result = generate(side, session);
    multi30k_small_session_free(session);
    return result;
}

static void train(const Side *side)
{
    static const int32_t source[] = {5, 6, 7}, target[] = {1, 10, 11, 12}, next[] = {10, 11, 12, 2};
    static const int32_t n = 3, m = 4;
    multi30k_small_train_step_in in = {.seed = 1,
                                       .B = 1,
                                       .S_lengths = &n,
                                       .T_lengths = &m,
                                       .src = source,
                                       .tgt = target,
                                       .tgt_next = next,
                                       .rate = 0.01};
    multi30k_small_train_step_out out;
    check(multi30k_small_train_step(side->trains, &in, &out));
}

static void compare_params(const Side *a, const Side *b)
{
    const int64_t n = multi30k_small_parameter_count(a->model);
    need(n > 10 && n == multi30k_small_parameter_count(b->model), "other numbers of params");
    for (int64_t i = 0; i < n; i++) {
        multi30k_small_parameter_info x, y;
        check(multi30k_small_parameter(a->model, i, &x));
        check(multi30k_small_parameter_named(b->model, x.name, &y));
        need(x.count == y.count && !memcmp(x.data, y.data, (size_t)x.count * sizeof(float)),
             x.name);
    }
}

int main(int argc, char **argv)
{
    if (argc != 5)
        return 2;
    const Side inside = open_side(NULL), beside = open_side(argv[1]);
    const double first = generate(&inside, inside.decodes);
    need(first == generate(&beside, beside.decodes), "another generation");
    compare_params(&inside, &beside);
    need(first == generate_anew(&inside), "another generation the second time");
    for (int step = 1; step <= 3; step++) {
        train(&inside);
        train(&beside);
        const double now = generate(&inside, inside.decodes);
        need(now != first && now == generate_anew(&inside),
             "a session that decodes does not see what another one trained");
        need(now == generate(&beside, beside.decodes), "another generation after training");
    }
    compare_params(&inside, &beside);
    check(multi30k_small_save(inside.model, argv[2]));
    check(multi30k_small_save(beside.model, argv[3]));
    close_side(&inside);
    close_side(&beside);

    const Side fresh = open_side(NULL); /* saved before anything else was asked */
    check(multi30k_small_save(fresh.model, argv[4]));
    const Side again = open_side(argv[4]);
    compare_params(&fresh, &again);
    close_side(&fresh);
    close_side(&again);
    return 0;
}
