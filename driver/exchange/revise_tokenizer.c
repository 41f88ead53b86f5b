/* Whether the published tokenizer is the run's vocabulary. */
#include "driver/exchange/import_tokenizer.h"
#include "driver/exchange/revise_parts.h"

#include "base/file.h"

#include <string.h>

static bool is_same(const Vocabulary *a, const Vocabulary *b)
{
    VocabFile ours[2], theirs[2];
    const int n = vocab_files(a, ours);
    bool same = vocab_files(b, theirs) == n;
    for (int i = 0; same && i < n; i++)
        same =
            ours[i].size == theirs[i].size && !memcmp(ours[i].bytes, theirs[i].bytes, ours[i].size);
    return same;
}

/* What else says the tokens of the vocabulary that is replaced. */
static void drop_others(Revise *r, const char *written)
{
    static const char settings[] = "tokenizer_config.json", added[] = "added_tokens_decoder";
    static const char *const files[] = {"tokenizer.json",
                                        "vocab.json",
                                        "merges.txt",
                                        "vocab.txt",
                                        "spiece.model",
                                        "tokenizer.model",
                                        "sentencepiece.bpe.model",
                                        "added_tokens.json"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strcmp(files[i], written) != 0)
            revise_replace(r, files[i], NULL, 0);
    JsonValue *json = revise_read(r, settings, false);
    if (json && json_member(json, added)) {
        json_edit_remove(json, added);
        revise_changed(r, settings);
    }
}

bool revise_tokenizer(Revise *r)
{
    const Vocabulary *published = import_tokenizer(&r->quiet, r->folder, r->folder, &r->config);
    VocabFile files[2];
    if (published && is_same(r->vocab, published))
        return true;
    const int n = vocab_files(r->vocab, files);
    revise_differs(r, "its vocabulary", files[0].name, "another");
    if (n != 1 || vocab_kind(r->vocab) == VOCAB_WORDS)
        return true;
    const bool is_t5 = file_exists(file_in(r->job->arena, r->folder, "spiece.model"));
    const char *name = vocab_kind(r->vocab) == VOCAB_JSON ? "tokenizer.json"
                       : is_t5                            ? "spiece.model"
                                                          : "tokenizer.model";
    revise_replace(r, name, files[0].bytes, files[0].size);
    drop_others(r, name);
    return true;
}
