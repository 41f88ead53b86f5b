/* Runs a fuzz target over its seeds without a fuzzer, as an ordinary test: each
 * file of the folders named as it is, cut short, and with bytes changed by a
 * fixed sequence. A target that does not like what it sees aborts. */
#define _POSIX_C_SOURCE 200809L
#include "tests/short.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CHANGES = 100, LARGEST_SEED = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint32_t next_random(uint32_t *state)
{
    return (*state = *state * 1664525u + 1013904223u) >> 8;
}

/* The target gets its own allocation, so that a sanitizer sees reads past the end. */
static void try_input(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    memcpy(copy, data, size);
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void try_changed(const uint8_t *data, size_t size, uint32_t *random)
{
    static const char interesting[] = "\0\xff\"{}[](),:=%~@#-0919ex\n\\";
    uint8_t *copy = malloc(size);
    memcpy(copy, data, size);
    for (uint32_t n = next_random(random) % 4 + 1; n; n--)
        copy[next_random(random) % size] =
            (uint8_t)interesting[next_random(random) % (sizeof interesting - 1)];
    LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void replay_file(const char *path)
{
    static uint8_t data[LARGEST_SEED];
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(data, 1, sizeof data, file) : 0;
    uint32_t random = 1;
    if (file)
        fclose(file);
    try_input(data, size);
    for (int i = 0; size && i < (short_test() ? CHANGES / 5 : CHANGES); i++) {
        try_input(data, next_random(&random) % size);
        try_changed(data, size, &random);
    }
}

/* Folders within folders too; the number of files. */
static int replay(const char *path)
{
    struct stat info;
    if (stat(path, &info))
        return 0;
    if (!S_ISDIR(info.st_mode)) {
        replay_file(path);
        return 1;
    }
    struct dirent **entries;
    int count = 0, n = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char inner[1024];
        int length = snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.' && length < (int)sizeof inner)
            count += replay(inner);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    return count;
}

int main(int argc, char **argv)
{
    int files = 0;
    for (int i = 1; i < argc; i++)
        files += replay(argv[i]);
    printf("%d seeds\n", files);
    return files ? 0 : 1;
}
