/* Looking at a line's characters one by one. */
#include "driver/corpus/survey/encoding.h"

#include "runtime/text/hf/unicode.h"

#include <string.h>

uint32_t encoding_decode(const char *text, size_t length, size_t *size)
{
    if (utf8_length(text, length))
        return uni_decode(text, length, size);
    *size = 1;
    return 0xFFFD;
}

/* C0 but the tab, DEL, C1; ends of lines and paragraphs, byte order marks within a text. */
bool encoding_is_control(uint32_t c)
{
    return (c < 0x20 && c != '\t') || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 ||
           c == 0xFEFF;
}

/* The byte from 80 to BF that a character is in Latin-1 or CP1252; 0: none. */
static unsigned continuation(uint32_t c)
{
    static const uint16_t cp1252[32] = {
        0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
        0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
        0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};
    if (c >= 0x80 && c <= 0xBF)
        return c;
    for (unsigned i = 0; c > 0xBF && i < 32; i++)
        if (cp1252[i] == c)
            return 0x80 + i;
    return 0;
}

/* Whether it may follow a letter in a text: quotes, dashes, dots, signs, blanks; letters. */
static bool is_natural(uint32_t c)
{
    static const uint32_t natural[] = {0xA0,   0xA7,   0xAA,   0xAB,   0xAE,   0xB0,   0xB2,
                                       0xB3,   0xB4,   0xB7,   0xB9,   0xBA,   0xBB,   0x0152,
                                       0x0153, 0x0160, 0x0161, 0x0178, 0x017D, 0x017E, 0x0192,
                                       0x2013, 0x2014, 0x2018, 0x2019, 0x201A, 0x201C, 0x201D,
                                       0x201E, 0x2022, 0x2026, 0x2039, 0x203A, 0x2122};
    for (size_t i = 0; i < sizeof natural / sizeof natural[0]; i++)
        if (natural[i] == c)
            return true;
    return false;
}

static bool is_letter(uint32_t c) { return (c | 32) - 'a' < 26 || (c >= 0xC0 && c <= 0x24F); }

/* Whether mojibake begins here; the character is of C2 … F4. */
static bool is_mojibake(const char *text, size_t length, uint32_t lead, size_t size)
{
    int wanted = lead < 0xE0 ? 1 : lead < 0xF0 ? 2 : 3;
    char bytes[4] = {(char)lead};
    bool natural = true;
    size_t at = size;
    for (int i = 1; i <= wanted; i++) {
        if (at >= length)
            return false;
        uint32_t c = encoding_decode(text + at, length - at, &size);
        unsigned byte = continuation(c);
        if (!byte)
            return false;
        natural &= is_natural(c);
        bytes[i] = (char)byte;
        at += size;
    }
    if (utf8_length(bytes, (size_t)wanted + 1) != (size_t)wanted + 1)
        return false;
    if (!natural)
        return true;
    /* "Ã–sterreich": nobody writes Ã and a sign before a letter */
    return (lead == 0xC2 || lead == 0xC3) && at < length &&
           is_letter(encoding_decode(text + at, length - at, &size));
}

/* "&amp;", "&#39;", "<br>", "</i>". */
static bool is_markup(const char *text, size_t length)
{
    static const char *const entities[] = {"amp;", "quot;", "lt;", "gt;", "apos;", "nbsp;", "#"};
    static const char *const tags[] = {"br",   "b>",  "i>",   "p>", "u>", "em>", "strong>", "a ",
                                       "span", "div", "font", "p ", "td", "tr",  "li>",     "ul>"};
    if (length < 4)
        return false;
    bool entity = *text == '&';
    const char *rest = text + 1 + (!entity && text[1] == '/');
    size_t left = length - (size_t)(rest - text);
    const char *const *names = entity ? entities : tags;
    size_t n = entity ? sizeof entities / sizeof *entities : sizeof tags / sizeof *tags;
    for (size_t i = 0; i < n; i++) {
        size_t size = strlen(names[i]);
        if (left < size || memcmp(rest, names[i], size))
            continue;
        if (names[i][0] == '#') { /* a number and a semicolon */
            size_t k = 1;
            while (k < left && strchr("0123456789abcdefABCDEFx", rest[k]) && rest[k])
                k++;
            return k > 1 && k < left && rest[k] == ';';
        }
        return entity || memchr(rest, '>', left);
    }
    return false;
}

static void note(size_t at[ENCODING_FAULTS], EncodingFault fault, size_t place)
{
    if (at[fault] == ENCODING_NONE)
        at[fault] = place;
}

void encoding_look(const Line *line, size_t at[ENCODING_FAULTS])
{
    for (int i = 0; i < ENCODING_FAULTS; i++)
        at[i] = ENCODING_NONE;
    for (size_t i = 0, size; i < line->length; i += size) {
        const char *text = line->text + i;
        size_t left = line->length - i;
        unsigned char byte = (unsigned char)*text;
        size = 1;
        if (byte >= 0x20 && byte < 0x7F) {
            if ((byte == '&' || byte == '<') && is_markup(text, left))
                note(at, ENCODING_MARKUP, i);
            continue;
        }
        if (!utf8_length(text, left)) {
            note(at, ENCODING_NOT_UTF8, i);
            continue;
        }
        uint32_t c = uni_decode(text, left, &size);
        if (c == 0xFFFD)
            note(at, ENCODING_REPLACEMENT, i);
        else if (encoding_is_control(c))
            note(at, ENCODING_CONTROL, i);
        else if (c >= 0xC2 && c <= 0xF4 && is_mojibake(text, left, c, size))
            note(at, ENCODING_MOJIBAKE, i);
    }
    if (at[ENCODING_MOJIBAKE] != ENCODING_NONE)
        at[ENCODING_CONTROL] =
            ENCODING_NONE; /* Latin-1's bytes from 80 to 9F are control characters */
}

/* The Latin letters that are in one piece with the mark. */
static const char *letters_with(uint32_t mark)
{
    static const struct {
        uint32_t mark;
        const char *letters;
    } rows[] = {
        /* clang-format off */
        {0x300, "AEINOUWYaeinouwy"},
        {0x301, "ACEGIKLMNOPRSUWYZacegiklmnoprsuwyz"},
        {0x302, "ACEGHIJOSUWYZaceghijosuwyz"},
        {0x303, "AEINOUVYaeinouvy"},
        {0x304, "AEGIOUYaegiouy"},
        {0x306, "AEGIOUaegiou"},
        {0x307, "ABCDEFGHIMNOPRSTWXYZabcdefghmnoprstwxyz"},
        {0x308, "AEHIOUWXYaehiotuwxy"},
        {0x30A, "AUauwy"},
        {0x30B, "OUou"},
        {0x30C, "ACDEGHIKLNORSTUZacdeghijklnorstuz"},
        {0x323, "ABDEHIKLMNORSTUVWYZabdehiklmnorstuvwyz"},
        {0x327, "CDEGHKLNRSTcdeghklnrst"},
        {0x328, "AEIOUaeiou"},
        /* clang-format on */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].mark == mark)
            return rows[i].letters;
    return "";
}

/* Latin-1 from À, Latin Extended-A, Latin Extended Additional; × and ÷ are no letters. */
static bool is_composed(uint32_t c)
{
    return (c >= 0xC0 && c <= 0x17F && c != 0xD7 && c != 0xF7) || (c >= 0x1E00 && c <= 0x1EFF);
}

EncodingForms encoding_forms(const Line *line)
{
    EncodingForms forms = {.decomposed = ENCODING_NONE};
    char before = 0;
    for (size_t i = 0, size; i < line->length; i += size) {
        uint32_t c = encoding_decode(line->text + i, line->length - i, &size);
        if (forms.decomposed == ENCODING_NONE && before && strchr(letters_with(c), before))
            forms.decomposed = i - 1;
        forms.composed |= is_composed(c);
        before = c < 0x80 ? (char)c : 0;
    }
    return forms;
}
