/* Fine-tunes a compiled model on two made-up pairs and saves it:
 *
 *   tfc compile MODEL.tfg -o libmulti30k_small.so
 *   cc fine_tune.c -I. -L. -lmulti30k_small -Wl,-rpath,'$ORIGIN'
 *
 * Usage: a.out IN.safetensors OUT.safetensors STEPS: prints the loss of each step. */
#include "multi30k_small.h"

#include <stdio.h>
#include <stdlib.h>

static int complain(const char *what, int status)
{
    fprintf(stderr, "%s: %s (%s)\n", what, multi30k_small_error_text(status),
            multi30k_small_error_detail());
    return 1;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    multi30k_small *model;
    multi30k_small_session *session;
    int status = multi30k_small_open(argv[1], &model);
    if (status)
        return complain("cannot open the model", status);
    if ((status = multi30k_small_session_new(model, &session)))
        return complain("no session", status);

    /* Two sentences, one after the other: of 3 and 2 tokens, and of 4 and 3. */
    static const int32_t source_lengths[] = {3, 2}, source[] = {5, 6, 7, 8, 9};
    static const int32_t target_lengths[] = {4, 3}, target[] = {1, 10, 11, 12, 1, 13, 14};
    static const int32_t next[] = {10, 11, 12, 2, 13, 14, 2};
    for (int step = 1; step <= atoi(argv[3]); step++) {
        multi30k_small_train_step_in in = {.seed = 1,
                                           .B = 2,
                                           .S_lengths = source_lengths,
                                           .T_lengths = target_lengths,
                                           .src = source,
                                           .tgt = target,
                                           .tgt_next = next,
                                           .rate = 0.0005};
        multi30k_small_train_step_out out;
        if ((status = multi30k_small_train_step(session, &in, &out)))
            return complain("cannot train", status);
        printf("%d %.9g\n", step, out.loss);
    }
    if ((status = multi30k_small_save(model, argv[2])))
        return complain("cannot save", status);

    multi30k_small_session_free(session);
    multi30k_small_close(model);
    return 0;
}
