/* The main function of a model compiled to a program: token ids in, a sentence a
 * line, token ids of the translation out. */
#define _GNU_SOURCE
#include "runtime/model/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tfc_model_main(const TfcModel *model, int argc, char **argv);

typedef struct Ids {
    int32_t *data;
    int32_t n, room;
} Ids;

static int complain(const char *program, const char *what, int status)
{
    fprintf(stderr, "%s: %s: %s\n", program, what, status ? tfc_model_error_detail() : "");
    return 1;
}

/* Whole numbers of the vocabulary, blanks between. */
static bool read_ids(char *line, int64_t vocab, Ids *ids)
{
    ids->n = 0;
    for (char *at = line + strspn(line, " \t\r\n"); *at; at += strspn(at, " \t\r\n")) {
        char *end;
        long long id = strtoll(at, &end, 10);
        if (end == at || id < 0 || (vocab > 0 && id >= vocab) || (*end && !strchr(" \t\r\n", *end)))
            return false;
        if (ids->n == ids->room) {
            ids->room = ids->room ? 2 * ids->room : 64;
            ids->data = realloc(ids->data, sizeof *ids->data * (size_t)ids->room);
            if (!ids->data)
                abort();
        }
        ids->data[ids->n++] = (int32_t)id;
        at = end;
    }
    return true;
}

static void print_ids(const TfcResult *result)
{
    for (int64_t i = 0; i < result->n; i++)
        printf("%s%d", i ? " " : "", result->ids[i]);
    putchar('\n');
    fflush(stdout);
}

static int translate(const TfcModel *model, const char *program, TfcSession *session,
                     const TfcGeneration *settings)
{
    char *line = NULL;
    size_t room = 0;
    Ids ids = {0};
    int failed = 0;
    for (long number = 1; !failed && getline(&line, &room, stdin) >= 0; number++) {
        TfcResult result;
        int status = 0;
        if (!read_ids(line, model->vocab, &ids)) {
            fprintf(stderr, "%s: line %ld: expected token ids\n", program, number);
            failed = 1;
        } else if (!ids.n) {
            putchar('\n');
        } else if ((status = tfc_model_generate(session, settings, 1, &ids.n, ids.data, &result)))
            failed = complain(program, "cannot generate", status);
        else
            print_ids(&result);
    }
    free(line);
    free(ids.data);
    return failed;
}

int tfc_model_main(const TfcModel *model, int argc, char **argv)
{
    const char *weights = NULL;
    int beam = 4, bos = -1, eos = -1;
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (value && !strcmp(argv[i], "--weights"))
            weights = value;
        else if (value && !strcmp(argv[i], "--beam"))
            beam = atoi(value);
        else if (value && !strcmp(argv[i], "--bos"))
            bos = atoi(value);
        else if (value && !strcmp(argv[i], "--eos"))
            eos = atoi(value);
        else if (value && !strcmp(argv[i], "--threads"))
            tfc_model_set_threads(atoi(value));
        else {
            fprintf(stderr,
                    "Usage: %s [--weights FILE] [--beam N] [--bos ID] [--eos ID] [--threads N]\n"
                    "Token ids on standard input, a sentence a line; those of its translation out.\n",
                    argv[0]);
            return 2;
        }
        i++;
    }
    TfcLoaded *loaded;
    TfcSession *session;
    TfcGeneration settings;
    int status = tfc_model_open(model, model->header, weights, &loaded);
    if (status)
        return complain(argv[0], tfc_model_error_text(status), status);
    if ((status = tfc_model_session_new(loaded, &session)))
        return complain(argv[0], tfc_model_error_text(status), status);
    tfc_model_generation_defaults(loaded, &settings);
    settings.beam = beam;
    settings.bos = bos >= 0 ? bos : settings.bos;
    settings.eos = eos >= 0 ? eos : settings.eos;
    status = translate(model, argv[0], session, &settings);
    tfc_model_session_free(session);
    tfc_model_close(loaded);
    return status;
}
