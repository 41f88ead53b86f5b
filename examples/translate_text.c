/* Answers lines of text, here words by their phonemes, with a model compiled by
 *
 *   tfc compile RUN -o libpronounce.so
 *   cc translate_text.c -I. -L. -lpronounce -Wl,-rpath,'$ORIGIN' */
#include "pronounce.h"

#include <stdio.h>
#include <string.h>

int main(void)
{
    pronounce *model;
    pronounce_session *session;
    const char *answer;
    char line[1000];
    int status = pronounce_open(NULL, &model);
    if (!status)
        status = pronounce_session_new(model, &session);
    while (!status && fgets(line, sizeof line, stdin)) {
        status =
            pronounce_translate_text(session, NULL, line, (int64_t)strlen(line), &answer, NULL);
        printf("%s", status ? "" : answer);
    }
    if (status)
        fprintf(stderr, "%s: %s\n", pronounce_error_text(status), pronounce_error_detail());
    return status;
}
