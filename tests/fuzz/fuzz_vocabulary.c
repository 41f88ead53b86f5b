/* Fuzz target: any bytes as a vocabulary's file: after a 'w' as a list of words, after
 * anything else as a SentencePiece model. What is refused is refused with a message; what is
 * accepted encodes a text into ids that it has, and decodes each of its ids; a list that is
 * saved is read as the same list. */
#define _GNU_SOURCE
#include "base/file.h"
#include "base/unpack.h"
#include "runtime/data/vocabulary.h"
#include "tests/fuzz/budget.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_IDS = 100 };
static const char sample[] = "a b  c\t \xc3\xa4\xe2\x82\xac@@ d </s> <unk> zz";

/* Of a file in memory. */
static Vocabulary *load(Diagnostics *diags, Arena *arena, bool words, const uint8_t *data,
                        size_t size)
{
    int fd = memfd_create("vocabulary", 0);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    const char *spec = arena_printf(arena, "%s/proc/self/fd/%d", words ? "words:" : "", fd);
    int before = diags->errors;
    Vocabulary *vocab = vocab_make(diags, arena, spec, NULL, 0, false);
    if (!vocab == (diags->errors == before))
        abort();
    if (!unpack_advice((const char *)data, size)) /* a list that the user names may be packed */
        need_budget(arena, words ? BUDGET_TEXT : BUDGET_BINARY, size);
    close(fd);
    return vocab;
}

static bool has(const Vocabulary *vocab, int32_t id) { return id >= 0 && id < vocab_size(vocab); }

static void try_vocabulary(Arena *arena, const Vocabulary *vocab)
{
    Ids ids = {0};
    Text out = {0};
    vocab_encode(vocab, sample, sizeof sample - 1, &ids);
    for (size_t i = 0; i < ids.count; i++)
        if (!has(vocab, ids.data[i]))
            abort();
    for (int32_t id = 0; id < vocab_size(vocab) && id < MOST_IDS; id++) {
        ids_push(&ids, id);
        if (vocab_find(vocab, vocab_token(vocab, id)) >= vocab_size(vocab))
            abort();
    }
    const TokenRules *rules = vocab_rules(vocab); /* a model of pieces may lack all but unk */
    if (rules->end >= vocab_size(vocab) || rules->begin >= vocab_size(vocab) ||
        !has(vocab, rules->unk) || rules->pad >= vocab_size(vocab))
        abort();
    vocab_decode(vocab, ids.data, ids.count, &out);
    vocab_unknown(vocab, arena, sample, sizeof sample - 1);
    text_free(&out);
    ids_free(&ids);
}

static void save_and_load(Arena *arena, Diagnostics *diags, const Vocabulary *vocab)
{
    const char *folder = arena_printf(arena, "/tmp/fuzz-vocabulary-%ld", (long)getpid());
    if (!file_make_folder(diags, folder) || !vocab_save(vocab, diags, folder))
        abort();
    Vocabulary *again = vocab_load(diags, arena, folder);
    if (!again || vocab_hash(again) != vocab_hash(vocab))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Arena *arena = arena_new();
    Diagnostics diags;
    diag_init(&diags, arena);
    bool words = size && data[0] == 'w';
    Vocabulary *vocab = size ? load(&diags, arena, words, data + 1, size - 1) : NULL;
    if (vocab) {
        try_vocabulary(arena, vocab);
        if (words)
            save_and_load(arena, &diags, vocab);
    }
    arena_free(arena);
    return 0;
}
