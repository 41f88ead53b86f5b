/* A program of a compiled language model, greedy: PROMPT, TOKENS and, third, that prompts which are
 * too long are refused. -DMODEL=NAME -DHEADER='"NAME.h"' */
#include HEADER

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOIN(model, part) model##_##part
#define OF(model, part) JOIN(model, part)
#define MODELS(part) OF(MODEL, part)

int main(int argc, char **argv)
{
    MODEL *model = NULL;
    MODELS(session) *session = NULL;
    MODELS(generation) settings;
    const char *text = "";
    int status = argc < 3 || MODELS(open)(NULL, &model);
    if (!status)
        status = MODELS(session_new)(model, &session);
    if (!status)
        status = MODELS(generation_defaults)(model, &settings);
    settings.temperature = 0;
    settings.length_extra = atoi(argv[2]);
    settings.refuse_long = argc > 3;
    if (!status)
        status = MODELS(generate_text)(session, &settings, argv[1], (int64_t)strlen(argv[1]), &text,
                                       NULL);
    puts(status ? MODELS(error_detail)() : text);
    MODELS(session_free)(session);
    MODELS(close)(model);
    return status;
}
