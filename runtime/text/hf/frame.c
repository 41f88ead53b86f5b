/* What a model wants around its sources (post-processors), and which ids are special. */
#include "runtime/text/hf/hf.h"

#include <string.h>

static int32_t id_of(const Hf *hf, const char *text)
{
    for (size_t i = 0; i < hf->n_added; i++)
        if (!strcmp(hf->added[i].text, text))
            return hf->added[i].id;
    return trie_find(&hf->vocabulary, text, strlen(text));
}

/* Whether an id is that of the name, if a token has this name. */
static bool check_named(HfReading *r, const char *place, const char *name, int64_t id)
{
    const int32_t own = id_of(r->hf, name);
    return own < 0 || own == id ||
           hf_refuse(r, "%s: '%s' has the id %lld, and in the vocabulary %d", place, name,
                     (long long)id, (int)own);
}

static void put_frame_id(HfReading *r, const int32_t **ids, int32_t *n, int32_t id)
{
    const bool is_full = !(*n & (*n - 1)); /* room grows by powers of two */
    int32_t *room = is_full ? ARENA_ARRAY(r->arena, int32_t, *n ? 2 * *n : 1) : (int32_t *)*ids;
    if (!room)
        return;
    if (is_full && *n)
        memcpy(room, *ids, (size_t)*n * sizeof *room);
    room[*n] = id;
    *ids = room;
    (*n)++;
}

/* {"SpecialToken": {"id": "</s>", …}}: the ids are those of the list of special tokens. */
static bool put_special(HfReading *r, const char *place, const JsonValue *from,
                        const JsonValue *special, bool before, TokenizerFrame *frame)
{
    const char *name = hf_string(r, from, "id", "");
    const JsonValue *ids = json_member(json_member(special, name), "ids");
    if (!ids || ids->kind != JV_LIST)
        return hf_refuse(r, "%s: the special token '%s' has no ids", place, name);
    for (size_t i = 0; i < ids->n; i++) {
        const JsonValue *id = &ids->items[i];
        if (id->kind != JV_INTEGER || id->integer < 0 || id->integer >= r->hf->n_tokens)
            return hf_refuse(r, "%s: the special token '%s' has an id that the vocabulary lacks",
                             place, name);
        if (ids->n == 1 && !check_named(r, place, name, id->integer))
            return false;
        if (before)
            put_frame_id(r, &frame->before, &frame->n_before, (int32_t)id->integer);
        else
            put_frame_id(r, &frame->after, &frame->n_after, (int32_t)id->integer);
    }
    return true;
}

static bool read_template(HfReading *r, const char *place, const JsonValue *from,
                          TokenizerFrame *frame)
{
    const JsonValue *single = json_member(from, "single"),
                    *special = json_member(from, "special_tokens");
    bool before = true;
    if (!hf_only(r, place, from, "type single pair special_tokens"))
        return false;
    if (!single || single->kind != JV_LIST)
        return hf_refuse(r, "%s: 'single' is not a list", place);
    for (size_t i = 0; i < single->n; i++) {
        const JsonValue *token = json_member(&single->items[i], "SpecialToken"),
                        *text = json_member(&single->items[i], "Sequence");
        if (!token == !text || (text && !before))
            return hf_refuse(r, "%s.single[%zu] is neither a token nor the one sequence", place, i);
        if (text)
            before = false;
        else if (!put_special(r, place, token, special, before, frame))
            return false;
    }
    return true;
}

/* ["[CLS]", 101] */
static bool put_named(HfReading *r, const char *place, const JsonValue *from, const char *key,
                      const int32_t **ids, int32_t *n)
{
    const JsonValue *pair = json_member(from, key);
    bool has = pair && pair->kind == JV_LIST && pair->n == 2 && pair->items[1].kind == JV_INTEGER &&
               pair->items[1].integer >= 0 && pair->items[1].integer < r->hf->n_tokens;
    if (!has)
        return hf_refuse(r, "%s: '%s' is not a token with its id", place, key);
    if (pair->items[0].kind == JV_STRING &&
        !check_named(r, place, pair->items[0].text, pair->items[1].integer))
        return false;
    put_frame_id(r, ids, n, (int32_t)pair->items[1].integer);
    return true;
}

bool hf_read_frame(HfReading *r, const char *place, const JsonValue *from, Tokenizer *tokenizer)
{
    const char *type = hf_string(r, from, "type", "");
    TokenizerFrame *frame = &tokenizer->frame;
    if (!strcmp(type, "TemplateProcessing"))
        return read_template(r, place, from, frame);
    if (!strcmp(type, "ByteLevel"))
        return hf_only(r, place, from, "type add_prefix_space trim_offsets use_regex");
    if (!strcmp(type, "BertProcessing") || !strcmp(type, "RobertaProcessing"))
        return hf_only(r, place, from, "type sep cls trim_offsets add_prefix_space") &&
               put_named(r, place, from, "cls", &frame->before, &frame->n_before) &&
               put_named(r, place, from, "sep", &frame->after, &frame->n_after);
    const JsonValue *list = json_member(from, "processors");
    if (strcmp(type, "Sequence") || !list || list->kind != JV_LIST)
        return hf_refuse(r, "%s: the type '%s' is not known", place, type);
    for (size_t i = 0; i < list->n; i++)
        if (!hf_read_frame(r, arena_printf(r->arena, "%s.processors[%zu]", place, i),
                           &list->items[i], tokenizer))
            return false;
    return true;
}

/* The first of these names that is a token; -1: none is. */
static int32_t first_token_of(const Hf *hf, const char *const *names)
{
    int32_t id = -1;
    for (; id < 0 && *names; names++)
        id = id_of(hf, *names);
    return id;
}

/* A file does not tell what its tokens are for: by the names that published models have. */
TokenizerSpecial hf_special(const Tokenizer *tokenizer)
{
    static const char *const pads[] = {"<pad>", "[PAD]", "<|pad|>", "<|finetune_right_pad_id|>",
                                       NULL};
    static const char *const begins[] = {"<s>",           "[CLS]", "<bos>", "<|begin_of_text|>",
                                         "<|endoftext|>", NULL};
    static const char *const ends[] = {"</s>",          "[SEP]", "<eos>", "<|end_of_text|>",
                                       "<|endoftext|>", NULL};
    const Hf *hf = tokenizer->own;
    const TokenizerFrame *frame = &tokenizer->frame;
    return (TokenizerSpecial){.pad = first_token_of(hf, pads),
                              .unk = hf->unk,
                              .bos = frame->n_before ? frame->before[frame->n_before - 1]
                                                     : first_token_of(hf, begins),
                              .eos = frame->n_after ? frame->after[0] : first_token_of(hf, ends)};
}
