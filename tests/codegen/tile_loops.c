/* Loops of tiles in assembly; see tile_loops.h. */
#include "tests/codegen/tile_loops.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* %rbp is a register like others, unless the function makes it its frame's. */
static bool is_on_stack(const char *line, bool framed, bool constants)
{
    const char *at = strstr(line, "(%rsp");
    if (!at && framed)
        at = strstr(line, "(%rbp");
    return at && !(constants && strchr(strchr(at, ')'), ',')); /* the last operand is written */
}

void check_tile_loops(const char *assembly, const char *cpu, const char *instruction, int least,
                      bool constants)
{
    int loops = 0, multiplies = 0;
    bool in_tile = false, framed = false;
    char label[64] = "", line[256], kept[256] = "";
    for (const char *at = assembly; *at;) {
        size_t length = strcspn(at, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, at);
        at += length + (at[length] == '\n');
        if (line[0] != '\t' && line[0] != ' ' && strchr(line, ':')) {
            snprintf(label, sizeof label, "%.*s", (int)strcspn(line, ":"), line);
            if (label[0] != '.') {
                in_tile = strstr(label, ".tile") != NULL;
                framed = false;
            }
            multiplies = 0;
            kept[0] = 0;
        }
        multiplies += strstr(line, instruction) != NULL;
        framed |= strstr(line, "%rsp, %rbp") != NULL;
        if (is_on_stack(line, framed, constants))
            snprintf(kept, sizeof kept, "%s", line);
        if (in_tile && multiplies && line[0] == '\t' && line[1] == 'j' && label[0] == '.' &&
            strstr(line, label)) {
            loops++;
            if (*kept)
                fail_msg("%s: a tile's loop %s keeps values in memory: %s", cpu, label, kept);
        }
    }
    if (loops < least)
        fail_msg("%s: found %d loops of tiles with %s", cpu, loops, instruction);
}
