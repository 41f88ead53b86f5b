/* Translates token ids with a model compiled by
 *
 *   tfc compile MODEL.tfg -o libmulti30k_small.so --weights W.safetensors --vocab V
 *   cc translate.c -I. -L. -lmulti30k_small -Wl,-rpath,'$ORIGIN'
 *
 * Usage: a.out BOS EOS BEAM ID ID ID …: prints the ids of the best translation. */
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
    int32_t ids[256], n = 0;
    if (argc < 5 || argc > 256)
        return 2;
    for (int i = 4; i < argc; i++)
        ids[n++] = atoi(argv[i]);

    multi30k_small *model;
    multi30k_small_session *session;
    int status = multi30k_small_open(getenv("WEIGHTS"), &model);
    if (status)
        return complain("cannot open the model", status);
    if ((status = multi30k_small_session_new(model, &session)))
        return complain("no session", status);

    multi30k_small_generation settings;
    multi30k_small_result best;
    multi30k_small_generation_defaults(model, &settings);
    settings.bos = atoi(argv[1]);
    settings.eos = atoi(argv[2]);
    settings.beam = atoi(argv[3]);
    if ((status = multi30k_small_generate(session, &settings, 1, &n, ids, &best)))
        return complain("cannot translate", status);
    for (int64_t i = 0; i < best.n; i++)
        printf("%s%d", i ? " " : "", best.ids[i]);
    printf("\n%.17g\n", best.log_probability);

    multi30k_small_session_free(session);
    multi30k_small_close(model);
    return 0;
}
