/* The folders of published.c, as Hugging Face's libraries write them. */
#include "tests/reference/published_case.h"

#include <stdlib.h>
#include <string.h>

bool case_is_weight(const StTensor *tensor)
{
    return tensor->name[1] != '.' && strcmp(tensor->name, "logits") &&
           strcmp(tensor->name, "vector") && strcmp(tensor->name, "losses") &&
           strcmp(tensor->name, "long");
}

const char *case_labels(const PublishedCase *c)
{
    return st_find(c->theirs, "0.label")  ? "label"
           : st_find(c->theirs, "0.tags") ? "tags"
           : st_find(c->theirs, "0.tag")  ? "tag"
                                          : NULL;
}

bool case_is_encoder(const PublishedCase *c)
{
    return st_find(c->theirs, "0.labels") || st_find(c->theirs, "0.text") || case_labels(c) ||
           st_find(c->theirs, "vector");
}

/* The token that the template puts before a text, or NULL: <s> for the kin of LLaMA and for BART,
 * the language of NLLB's sources. */
static const char *text_begin(const PublishedCase *c)
{
    if (!strcmp(c->name, "nllb"))
        return "t6";
    if (!strcmp(c->name, "bart"))
        return "<s>";
    return case_is_encoder(c) || st_find(c->theirs, "0.src") || !strcmp(c->name, "gpt2") ? NULL
                                                                                         : "<s>";
}

static void put_template(const char *begin, Text *text)
{
    if (!begin) {
        text_string(text, "null");
        return;
    }
    text_add(text,
             "{\"type\": \"TemplateProcessing\", \"single\": [{\"SpecialToken\": {\"id\": \"%s\", "
             "\"type_id\": 0}}, {\"Sequence\": {\"id\": \"A\", \"type_id\": 0}}], \"pair\": [], "
             "\"special_tokens\": {\"%s\": {\"id\": \"%s\", \"ids\": [%d], \"tokens\": [\"%s\"]}}}",
             begin, begin, begin, *begin == '<' ? 1 : atoi(begin + 1), begin);
}

/* Words t2, t3, … of n tokens, and the special ones that the configs of encoders name. */
static void write_tokenizer(Harness *h, const PublishedCase *c, const char *path, int n)
{
    static const char *const special[40] = {[7] = "[MASK]", [8] = "<mask>", [39] = "<pad>"};
    Text text = {0};
    text_string(&text, "{\"version\": \"1.0\", \"added_tokens\": [");
    for (int i = 0; i < 2; i++)
        text_add(&text,
                 "%s{\"id\": %d, \"content\": \"%s\", \"single_word\": false, \"lstrip\": false, "
                 "\"rstrip\": false, \"normalized\": false, \"special\": true}",
                 i ? ", " : "", i, i ? "<s>" : "</s>");
    text_string(&text, "], \"normalizer\": null, \"pre_tokenizer\": {\"type\": "
                       "\"WhitespaceSplit\"}, \"post_processor\": ");
    put_template(text_begin(c), &text);
    text_string(&text, ", \"decoder\": null, \"model\": {\"type\": \"WordLevel\", \"unk_token\": "
                       "\"t2\", \"vocab\": {\"</s>\": 0, \"<s>\": 1");
    for (int i = 2; i < n; i++)
        if (case_is_encoder(c) && special[i])
            text_add(&text, ", \"%s\": %d", special[i], i);
        else
            text_add(&text, ", \"t%d\": %d", i, i);
    text_string(&text, "}}}\n");
    bool ok = file_write_all(&h->diags, path, text.data, text.length);
    harness_check(h, ok, "no %s", path);
    text_free(&text);
}

void case_write_text(Harness *h, const char *folder, const char *name, const char *text)
{
    const char *path = arena_printf(h->arena, "%s/%s", folder, name);
    bool ok = file_write_all(&h->diags, path, text, strlen(text));
    harness_check(h, ok, "no %s", path);
}

/* The files of sentence-transformers: minilm means and normalises, bge takes the first token. */
static void write_sentences(Harness *h, const PublishedCase *c, const char *folder)
{
    const bool is_mean = !strcmp(c->name, "minilm");
    static const char *const paths[] = {"", "1_Pooling", "2_Normalize"};
    static const char *const types[] = {"Transformer", "Pooling", "Normalize"};
    Text text = {0};
    for (int i = 0; i < (is_mean ? 3 : 2); i++)
        text_add(&text,
                 "%s{\"idx\": %d, \"name\": \"%d\", \"path\": \"%s\", \"type\": "
                 "\"sentence_transformers.models.%s\"}",
                 i ? ", " : "[", i, i, paths[i], types[i]);
    text_string(&text, "]\n");
    case_write_text(h, folder, "modules.json", text.data);
    text_free(&text);
    case_write_text(h, folder, "sentence_bert_config.json",
                    "{\"max_seq_length\": 10, \"do_lower_case\": false}\n");
    const char *pooling = arena_printf(h->arena, "%s/1_Pooling", folder);
    bool ok = file_make_folder(&h->diags, pooling);
    harness_check(h, ok, "no %s", pooling);
    case_write_text(
        h, pooling, "config.json",
        arena_printf(h->arena,
                     "{\"word_embedding_dimension\": 16, \"pooling_mode_cls_token\": %s, "
                     "\"pooling_mode_mean_tokens\": %s, \"pooling_mode_max_tokens\": false}\n",
                     is_mean ? "false" : "true", is_mean ? "true" : "false"));
}

bool case_is_marian(const PublishedCase *c) { return !strncmp(c->name, "marian", 6); }

const char *case_write_folder(Harness *h, const PublishedCase *c)
{
    const char *folder = harness_path(h, arena_printf(h->arena, "%s-published", c->name));
    const char *from = arena_printf(h->arena, "tests/fixtures/published/%s.json", c->name);
    const Source *config = file_read(&h->diags, h->arena, from, 1 << 20);
    bool ok = config && file_make_folder(&h->diags, folder) &&
              file_write_all(&h->diags, arena_printf(h->arena, "%s/config.json", folder),
                             config->text, config->length);
    harness_check(h, ok, "%s: no folder", c->name);
    if (strcmp(c->name, "byt5")) /* whose tokenizer is no file */
        write_tokenizer(h, c, arena_printf(h->arena, "%s/tokenizer.json", folder),
                        strcmp(c->name, "llama") ? 40 : 38);
    StTensor *tensors = ARENA_ARRAY(h->arena, StTensor, c->theirs->n);
    int64_t n = 0;
    for (int64_t i = 0; i < c->theirs->n; i++)
        if (case_is_weight(&c->theirs->tensors[i]))
            tensors[n++] = c->theirs->tensors[i];
    ok = st_write(&h->diags, arena_printf(h->arena, "%s/model.safetensors", folder), tensors, n,
                  NULL, 0);
    harness_check(h, ok, "%s: no weights", c->name);
    if (st_find(c->theirs, "vector"))
        write_sentences(h, c, folder);
    return folder;
}
