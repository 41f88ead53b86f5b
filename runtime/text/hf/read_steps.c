/* The steps of a tokenizer.json: normalizers, pre-tokenizers and decoders by their type. What is
 * not known is refused with its place. */
#include "runtime/text/hf/hf.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char GPT2_PATTERN[] =
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
/* Words as the regex crate has them, and what is neither word nor blank. */
#define WORD "\\p{L}\\p{M}\\p{Nd}\\p{Nl}\\p{Pc}\\x{200c}\\x{200d}\\x{24b6}-\\x{24e9}"
static const char WHITESPACE_PATTERN[] = "[" WORD "]+|[^\\s" WORD "]+";

/* ---- what all readers share ---- */

bool hf_refuse(HfReading *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!r->problem)
        r->problem = arena_vprintf(r->arena, format, args);
    va_end(args);
    return false;
}

bool hf_no_memory(HfReading *r)
{
    r->no_memory = true;
    return false;
}

bool hf_only(HfReading *r, const char *place, const JsonValue *object, const char *names)
{
    if (object->kind != JV_OBJECT)
        return hf_refuse(r, "%s is not an object", place);
    for (size_t i = 0; i < object->n; i++) {
        const char *key = object->keys[i], *at = names;
        size_t n = strlen(key);
        while (n && (at = strstr(at, key)) &&
               !((at == names || at[-1] == ' ') && (!at[n] || at[n] == ' ')))
            at++;
        if (!n || !at)
            return hf_refuse(r, "%s: the key '%s' is not known here", place, key);
    }
    return true;
}

/* The member, a text, or true or false; NULL: it is missing or null, or of another kind, which is
 * refused. */
static const JsonValue *member_of(HfReading *r, const JsonValue *object, const char *key,
                                  bool is_text)
{
    const JsonValue *value = json_member(object, key);
    if (!value || value->kind == JV_NULL)
        return NULL;
    if (is_text ? value->kind == JV_STRING : value->kind == JV_TRUE || value->kind == JV_FALSE)
        return value;
    hf_refuse(r, "the key '%s' has a value that is no %s", key, is_text ? "text" : "true or false");
    return NULL;
}

const char *hf_string(HfReading *r, const JsonValue *object, const char *key, const char *otherwise)
{
    const JsonValue *value = member_of(r, object, key, true);
    return value ? value->text : otherwise;
}

bool hf_flag(HfReading *r, const JsonValue *object, const char *key, bool otherwise)
{
    const JsonValue *value = member_of(r, object, key, false);
    return value ? value->kind == JV_TRUE : otherwise;
}

int64_t hf_whole(HfReading *r, const JsonValue *object, const char *key, int64_t most,
                 int64_t otherwise)
{
    const JsonValue *value = json_member(object, key);
    if (!value || value->kind == JV_NULL)
        return otherwise;
    if (value->kind == JV_INTEGER && value->integer >= 0 && value->integer <= most)
        return value->integer;
    hf_refuse(r, "the key '%s' has a value that is no whole number from 0 to %lld", key,
              (long long)most);
    return otherwise;
}

static bool append_step(HfReading *r, HfSteps *steps, HfStep step)
{
    if (step.content)
        step.n_content = strlen(step.content);
    if (steps->n == steps->capacity) {
        size_t capacity = steps->capacity ? steps->capacity * 2 : 8;
        HfStep *at = ARENA_ARRAY(r->arena, HfStep, capacity);
        if (!at) {
            pattern_free(&step.pattern);
            return false;
        }
        if (steps->n)
            memcpy(at, steps->at, steps->n * sizeof *at);
        steps->at = at;
        steps->capacity = capacity;
    }
    steps->at[steps->n++] = step;
    return true;
}

static bool compile(HfReading *r, const char *place, const char *regex, HfPattern *pattern)
{
    char *problem;
    size_t bytes;
    pattern->regex = pattern_regex(regex, strlen(regex), &problem, &bytes);
    if (pattern->regex && !arena_charge(r->arena, bytes))
        pattern_free(pattern);
    else if (!pattern->regex && problem)
        hf_refuse(r, "%s: the regular expression '%s' is not read: %s", place, regex, problem);
    else if (!pattern->regex)
        hf_no_memory(r);
    free(problem);
    pattern->shown = regex;
    return pattern->regex;
}

/* {"String": …} or {"Regex": …}. */
static bool read_pattern(HfReading *r, const char *place, const JsonValue *from, HfPattern *pattern)
{
    const JsonValue *value = json_member(from, "pattern");
    const char *literal = hf_string(r, value, "String", NULL),
               *regex = hf_string(r, value, "Regex", NULL);
    if (value && value->kind == JV_OBJECT && value->n == 1 && literal && *literal) {
        *pattern = (HfPattern){.literal = literal, .n_literal = strlen(literal)};
        return true;
    }
    if (!value || value->kind != JV_OBJECT || value->n != 1 || !regex)
        return hf_refuse(r, "%s: 'pattern' is neither a String nor a Regex", place);
    return compile(r, place, regex, pattern);
}

/* A sequence's members in order. */
static bool read_each(HfReading *r, const char *place, const JsonValue *from, const char *key,
                      bool (*read)(HfReading *r, const char *place, const JsonValue *from))
{
    const JsonValue *list = json_member(from, key);
    const char *names = arena_printf(r->arena, "type %s", key);
    if (!names || !hf_only(r, place, from, names))
        return false;
    if (!list || list->kind != JV_LIST)
        return hf_refuse(r, "%s: '%s' is not a list", place, key);
    for (size_t i = 0; i < list->n; i++)
        if (!read(r, arena_printf(r->arena, "%s.%s[%zu]", place, key, i), &list->items[i]))
            return false;
    return true;
}

static bool unknown_type(HfReading *r, const char *place, const char *type)
{
    return hf_refuse(r, *type ? "%s: the type '%s' is not known" : "%s has no type", place, type);
}

/* ---- normalizers ---- */

static int base64_value(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* The bytes that the text stands for; how many; SIZE_MAX: it is no base64. */
static size_t read_base64(const char *text, unsigned char *out)
{
    size_t n = 0;
    uint32_t bits = 0;
    int n_bits = 0;
    for (; *text && *text != '='; text++) {
        int value = base64_value(*text);
        if (value < 0)
            return SIZE_MAX;
        bits = bits << 6 | (uint32_t)value;
        n_bits += 6;
        if (n_bits >= 8)
            out[n++] = (unsigned char)(bits >> (n_bits -= 8));
    }
    return n;
}

static bool read_precompiled(HfReading *r, const char *place, const JsonValue *from)
{
    const char *map = hf_string(r, from, "precompiled_charsmap", NULL);
    if (!hf_only(r, place, from, "type precompiled_charsmap"))
        return false;
    if (!map)
        return append_step(r, &r->hf->normalizers, (HfStep){.kind = HF_PRECOMPILED_ABSENT});
    unsigned char *bytes = arena_alloc(r->arena, strlen(map) + 1);
    if (!bytes)
        return false;
    const size_t n = read_base64(map, bytes);
    HfStep step = {.kind = HF_PRECOMPILED};
    if (n == SIZE_MAX || !char_rules_open(&step.rules, (const char *)bytes, n))
        return hf_refuse(r, "%s: 'precompiled_charsmap' is damaged", place);
    return append_step(r, &r->hf->normalizers, step);
}

static bool read_bert(HfReading *r, const char *place, const JsonValue *from)
{
    bool lower = hf_flag(r, from, "lowercase", true);
    return hf_only(r, place, from,
                   "type clean_text handle_chinese_chars strip_accents lowercase") &&
           append_step(r, &r->hf->normalizers,
                       (HfStep){.kind = HF_BERT,
                                .clean = hf_flag(r, from, "clean_text", true),
                                .ideographs = hf_flag(r, from, "handle_chinese_chars", true),
                                .accents = hf_flag(r, from, "strip_accents", lower),
                                .lower = lower});
}

static bool read_replace(HfReading *r, const char *place, const JsonValue *from, HfSteps *steps)
{
    HfStep step = {.kind = HF_REPLACE, .content = hf_string(r, from, "content", "")};
    return hf_only(r, place, from, "type pattern content") &&
           read_pattern(r, place, from, &step.pattern) && append_step(r, steps, step);
}

bool hf_read_normalizer(HfReading *r, const char *place, const JsonValue *from)
{
    static const char *const forms[] = {"NFC", "NFD", "NFKC", "NFKD"};
    const char *type = hf_string(r, from, "type", "");
    HfSteps *steps = &r->hf->normalizers;
    if (!strcmp(type, "Sequence"))
        return read_each(r, place, from, "normalizers", hf_read_normalizer);
    if (!strcmp(type, "BertNormalizer"))
        return read_bert(r, place, from);
    if (!strcmp(type, "Precompiled"))
        return read_precompiled(r, place, from);
    if (!strcmp(type, "Replace"))
        return read_replace(r, place, from, steps);
    if (!strcmp(type, "Prepend"))
        return hf_only(r, place, from, "type prepend") &&
               append_step(
                   r, steps,
                   (HfStep){.kind = HF_PREPEND, .content = hf_string(r, from, "prepend", "")});
    if (!strcmp(type, "Strip"))
        return hf_only(r, place, from, "type strip_left strip_right") &&
               append_step(r, steps,
                           (HfStep){.kind = HF_STRIP,
                                    .left = hf_flag(r, from, "strip_left", true),
                                    .right = hf_flag(r, from, "strip_right", true)});
    if (!strcmp(type, "Lowercase") || !strcmp(type, "StripAccents"))
        return hf_only(r, place, from, "type") &&
               append_step(r, steps, (HfStep){.kind = *type == 'L' ? HF_LOWER : HF_STRIP_ACCENTS});
    for (int i = 0; i < 4; i++)
        if (!strcmp(type, forms[i]))
            return hf_only(r, place, from, "type") &&
                   append_step(r, steps, (HfStep){.kind = HF_FORM, .form = (UniForm)i});
    return unknown_type(r, place, type);
}

/* ---- pre-tokenizers ---- */

static bool read_behavior(HfReading *r, const char *place, const JsonValue *from,
                          HfBehavior otherwise, HfBehavior *behavior)
{
    static const char *const names[] = {"Removed", "Isolated", "MergedWithPrevious",
                                        "MergedWithNext", "Contiguous"};
    const char *name = hf_string(r, from, "behavior", names[otherwise]);
    for (int i = 0; i < 5; i++)
        if (!strcmp(name, names[i])) {
            *behavior = (HfBehavior)i;
            return true;
        }
    return hf_refuse(r, "%s: the behavior '%s' is not known", place, name);
}

static bool read_metaspace(HfReading *r, const char *place, const JsonValue *from, HfStepKind kind)
{
    const char *mark = hf_string(r, from, "replacement", "\xe2\x96\x81");
    bool legacy = hf_flag(r, from, "add_prefix_space", true);
    const char *scheme = hf_string(r, from, "prepend_scheme", legacy ? "always" : "never");
    bool is_splitter = kind == HF_METASPACE;
    HfStep step = {.kind = kind, .content = mark, .behavior = HF_MERGED_WITH_NEXT};
    if (!hf_only(r, place, from, "type replacement add_prefix_space prepend_scheme split str_rep"))
        return false;
    if (!*mark)
        return hf_refuse(r, "%s: 'replacement' is empty", place);
    if (!strcmp(scheme, "always"))
        step.prepend = HF_ALWAYS;
    else if (!strcmp(scheme, "first"))
        step.prepend = HF_FIRST;
    else if (strcmp(scheme, "never"))
        return hf_refuse(r, "%s: the prepend_scheme '%s' is not known", place, scheme);
    if (is_splitter && hf_flag(r, from, "split", true))
        step.pattern = (HfPattern){.literal = mark, .n_literal = strlen(mark)};
    return append_step(r, is_splitter ? &r->hf->splitters : &r->hf->decoders, step);
}

static bool read_byte_level(HfReading *r, const char *place, const JsonValue *from)
{
    HfSteps *steps = &r->hf->splitters;
    HfStep gpt2 = {.kind = HF_SPLIT, .behavior = HF_ISOLATED};
    if (!hf_only(r, place, from, "type add_prefix_space trim_offsets use_regex"))
        return false;
    if (hf_flag(r, from, "add_prefix_space", true))
        append_step(r, steps, (HfStep){.kind = HF_SPACE_BEFORE});
    if (hf_flag(r, from, "use_regex", true) &&
        (!compile(r, place, GPT2_PATTERN, &gpt2.pattern) || !append_step(r, steps, gpt2)))
        return false;
    return append_step(r, steps, (HfStep){.kind = HF_BYTES});
}

static bool add_split(HfReading *r, UniIs is, HfBehavior behavior)
{
    return append_step(r, &r->hf->splitters,
                       (HfStep){.kind = HF_SPLIT, .pattern = {.is = is}, .behavior = behavior});
}

static bool read_split(HfReading *r, const char *place, const JsonValue *from)
{
    HfStep step = {.kind = HF_SPLIT, .invert = hf_flag(r, from, "invert", false)};
    return hf_only(r, place, from, "type pattern behavior invert") &&
           read_behavior(r, place, from, HF_REMOVED, &step.behavior) &&
           read_pattern(r, place, from, &step.pattern) && append_step(r, &r->hf->splitters, step);
}

static bool read_whitespace(HfReading *r, const char *place, const JsonValue *from)
{
    HfStep step = {.kind = HF_SPLIT, .invert = true, .behavior = HF_REMOVED};
    return hf_only(r, place, from, "type") &&
           compile(r, place, WHITESPACE_PATTERN, &step.pattern) &&
           append_step(r, &r->hf->splitters, step);
}

bool hf_read_splitter(HfReading *r, const char *place, const JsonValue *from)
{
    const char *type = hf_string(r, from, "type", "");
    HfBehavior behavior;
    if (!strcmp(type, "Sequence"))
        return read_each(r, place, from, "pretokenizers", hf_read_splitter);
    if (!strcmp(type, "ByteLevel"))
        return read_byte_level(r, place, from);
    if (!strcmp(type, "Metaspace"))
        return read_metaspace(r, place, from, HF_METASPACE);
    if (!strcmp(type, "Split"))
        return read_split(r, place, from);
    if (!strcmp(type, "Whitespace"))
        return read_whitespace(r, place, from);
    if (!strcmp(type, "WhitespaceSplit"))
        return hf_only(r, place, from, "type") && add_split(r, uni_is_space, HF_REMOVED);
    if (!strcmp(type, "Digits"))
        return hf_only(r, place, from, "type individual_digits") &&
               add_split(r, uni_is_number,
                         hf_flag(r, from, "individual_digits", false) ? HF_ISOLATED
                                                                      : HF_CONTIGUOUS);
    if (!strcmp(type, "Punctuation"))
        return hf_only(r, place, from, "type behavior") &&
               read_behavior(r, place, from, HF_ISOLATED, &behavior) &&
               add_split(r, uni_is_punctuation, behavior);
    if (!strcmp(type, "BertPreTokenizer"))
        return hf_only(r, place, from, "type") && add_split(r, uni_is_space, HF_REMOVED) &&
               add_split(r, uni_is_punctuation, HF_ISOLATED);
    return unknown_type(r, place, type);
}

/* ---- decoders ---- */

bool hf_read_decoder(HfReading *r, const char *place, const JsonValue *from)
{
    const char *type = hf_string(r, from, "type", "");
    HfSteps *steps = &r->hf->decoders;
    if (!strcmp(type, "Sequence"))
        return read_each(r, place, from, "decoders", hf_read_decoder);
    if (!strcmp(type, "ByteLevel"))
        return hf_only(r, place, from, "type add_prefix_space trim_offsets use_regex") &&
               append_step(r, steps, (HfStep){.kind = HF_FROM_BYTES});
    if (!strcmp(type, "Metaspace"))
        return read_metaspace(r, place, from, HF_FROM_METASPACE);
    if (!strcmp(type, "Replace"))
        return read_replace(r, place, from, steps);
    if (!strcmp(type, "ByteFallback") || !strcmp(type, "Fuse"))
        return hf_only(r, place, from, "type") &&
               append_step(r, steps, (HfStep){.kind = *type == 'F' ? HF_FUSE : HF_FROM_FALLBACK});
    if (!strcmp(type, "WordPiece"))
        return hf_only(r, place, from, "type prefix cleanup") &&
               append_step(r, steps,
                           (HfStep){.kind = HF_FROM_WORDPIECE,
                                    .content = hf_string(r, from, "prefix", "##"),
                                    .cleanup = hf_flag(r, from, "cleanup", true)});
    if (!strcmp(type, "BPEDecoder"))
        return hf_only(r, place, from, "type suffix") &&
               append_step(r, steps,
                           (HfStep){.kind = HF_FROM_SUFFIX,
                                    .content = hf_string(r, from, "suffix", "</w>")});
    if (!strcmp(type, "Strip"))
        return hf_only(r, place, from, "type content start stop") &&
               append_step(r, steps,
                           (HfStep){.kind = HF_STRIP_CONTENT,
                                    .content = hf_string(r, from, "content", " "),
                                    .from_start = (int32_t)hf_whole(r, from, "start", 999, 0),
                                    .from_end = (int32_t)hf_whole(r, from, "stop", 999, 0)});
    return unknown_type(r, place, type);
}
