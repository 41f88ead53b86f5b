/* The machine of pickles: a stack, marks on it, and a memo of values by number. */
#include "driver/formats/pickle.h"

#include <string.h>

typedef struct Machine {
    PickleReader reader;
    const unsigned char *at, *end;
    uint64_t size;
    VEC(const Pickled *) stack;
    VEC(size_t) marks; /* heights of the stack */
    VEC(const Pickled *) memo;
} Machine;

const Pickled *pickle_problem(PickleReader *reader, const char *problem)
{
    if (!reader->problem)
        reader->problem = problem;
    return NULL;
}

Pickled *pickle_value(PickleReader *reader, PickledKind kind)
{
    Pickled *value = ARENA_NEW(reader->arena, Pickled);
    if (value)
        value->kind = kind;
    return value;
}

const Pickled *pickle_member(const Pickled *dict, const char *key)
{
    for (size_t i = 0; dict->kind == PICKLED_DICT && i + 1 < dict->items.count; i += 2)
        if (dict->items.data[i]->kind == PICKLED_TEXT && !strcmp(dict->items.data[i]->text, key))
            return dict->items.data[i + 1];
    return NULL;
}

static bool wrong(Machine *m, const char *problem)
{
    pickle_problem(&m->reader, problem);
    return false;
}

/* ---- bytes ---- */

/* The next n bytes; NULL after an error. */
static const unsigned char *take_pickled(Machine *m, uint64_t n)
{
    if ((uint64_t)(m->end - m->at) < n) {
        wrong(m, "the pickle is cut off" FETCH_AGAIN);
        return NULL;
    }
    m->at += n;
    return m->at - n;
}

/* A little-endian number of at most 8 bytes. */
static bool take_number(Machine *m, int bytes, uint64_t *number)
{
    const unsigned char *from = take_pickled(m, (uint64_t)bytes);
    *number = 0;
    for (int i = 0; from && i < bytes; i++)
        *number |= (uint64_t)from[i] << (8 * i);
    return from;
}

/* Up to the end of the line. */
static const char *take_line(Machine *m)
{
    const unsigned char *end = memchr(m->at, '\n', (size_t)(m->end - m->at));
    if (!end) {
        wrong(m, "the pickle is cut off" FETCH_AGAIN);
        return NULL;
    }
    const char *line = arena_strndup(m->reader.arena, (const char *)m->at, (size_t)(end - m->at));
    m->at = end + 1;
    return line;
}

/* ---- the stack ---- */

static bool push(Machine *m, const Pickled *value)
{
    if (value)
        vec_push(m->reader.arena, m->stack, value);
    return value;
}

/* Values that are made often, and that nothing changes. */
static const Pickled none = {.kind = PICKLED_NONE}, real = {.kind = PICKLED_NUMBER},
                     truth[] = {{.kind = PICKLED_BOOL, .integer = 0},
                                {.kind = PICKLED_BOOL, .integer = 1}},
                     nothing = {.kind = PICKLED_TUPLE};

static bool push_integer(Machine *m, PickledKind kind, int64_t integer)
{
    Pickled *value = pickle_value(&m->reader, kind);
    if (value)
        value->integer = integer;
    return push(m, value);
}

/* The lowest place that may be taken from. */
static size_t bottom(const Machine *m) { return m->marks.count ? vec_last(m->marks) : 0; }

static bool lacks_values(Machine *m)
{
    return wrong(m, PICKLE_DAMAGED("it pops more values than it pushed"));
}

static const Pickled *pop(Machine *m)
{
    if (m->stack.count <= bottom(m)) {
        lacks_values(m);
        return NULL;
    }
    return m->stack.data[--m->stack.count];
}

static const Pickled *top(Machine *m)
{
    const Pickled *value = pop(m);
    if (value)
        m->stack.count++;
    return value;
}

/* The number of values above the last mark, which is removed; -1 after an error. */
static int64_t above_mark(Machine *m)
{
    if (!m->marks.count) {
        lacks_values(m);
        return -1;
    }
    return (int64_t)(m->stack.count - m->marks.data[--m->marks.count]);
}

/* Appends the last n values to the one below them, which is of the kind, and leaves that. */
static bool append(Machine *m, PickledKind kind, int64_t n)
{
    if (n < 0)
        return false;
    const size_t from = m->stack.count - (size_t)n;
    if ((size_t)n > m->stack.count || from <= bottom(m) || m->stack.data[from - 1]->kind != kind ||
        (kind == PICKLED_DICT && n % 2))
        return wrong(m, PICKLE_DAMAGED("it adds to a value that is not a list or dict"));
    Pickled *to = (Pickled *)m->stack.data[from - 1]; /* it is of this machine */
    for (size_t i = from; i < m->stack.count; i++)
        vec_push(m->reader.arena, to->items, m->stack.data[i]);
    m->stack.count = from;
    return true;
}

/* The last n values as one of the kind. */
static bool gather(Machine *m, PickledKind kind, int64_t n)
{
    if (n < 0 || m->stack.count - bottom(m) < (size_t)n)
        return lacks_values(m);
    Pickled *value = pickle_value(&m->reader, kind);
    if (value && n)
        vec_reserve(m->reader.arena, value->items, n);
    for (size_t i = m->stack.count - (size_t)n; value && i < m->stack.count; i++)
        vec_push(m->reader.arena, value->items, m->stack.data[i]);
    m->stack.count -= (size_t)n;
    return push(m, value);
}

/* ---- the memo ---- */

/* Python counts from 0: a number far from that would take memory for nothing. */
static bool memo_put(Machine *m, uint64_t number)
{
    const Pickled *value = top(m);
    if (!value || number >= m->size)
        return wrong(m, PICKLE_DAMAGED("a number of its memo is too large"));
    while (m->memo.count <= number && !arena_failed(m->reader.arena))
        vec_push(m->reader.arena, m->memo, NULL);
    if (number < m->memo.count)
        m->memo.data[number] = value;
    return number < m->memo.count;
}

static bool memo_get(Machine *m, uint64_t number)
{
    if (number >= m->memo.count || !m->memo.data[number])
        return wrong(m, PICKLE_DAMAGED("it refers to a memo entry that it never stored"));
    return push(m, m->memo.data[number]);
}

/* ---- values ---- */

static bool push_text(Machine *m, int length_bytes)
{
    uint64_t length;
    const unsigned char *from =
        take_number(m, length_bytes, &length) ? take_pickled(m, length) : NULL;
    if (!from)
        return false;
    Pickled *value = pickle_value(&m->reader, PICKLED_TEXT);
    const char *text = arena_strndup(m->reader.arena, (const char *)from, (size_t)length);
    if (!value || !text)
        return false;
    value->text = text;
    value->length = (size_t)length;
    return push(m, value);
}

/* An integer in two's complement, little-endian, of a length that precedes it. */
static bool push_long(Machine *m, int length_bytes)
{
    uint64_t length, number = 0;
    const unsigned char *from =
        take_number(m, length_bytes, &length) ? take_pickled(m, length) : NULL;
    if (!from)
        return false;
    if (length > 8) /* no size */
        return push(m, &real);
    const int shift = length ? 64 - 8 * (int)length : 0;
    for (uint64_t i = 0; i < length; i++)
        number |= (uint64_t)from[i] << (8 * i);
    return push_integer(m, PICKLED_INTEGER, (int64_t)(number << shift) >> shift);
}

static bool push_fixed(Machine *m, int bytes, bool is_signed)
{
    uint64_t number;
    return take_number(m, bytes, &number) &&
           push_integer(m, PICKLED_INTEGER, is_signed ? (int32_t)number : (int64_t)number);
}

/* ---- names and calls ---- */

static bool push_global(Machine *m, const char *module, const char *name)
{
    if (!module || !name)
        return false;
    const char *both = arena_printf(m->reader.arena, "%s %s", module, name);
    const PickleRules *rules = m->reader.rules;
    for (int i = 0; both && i < rules->n_globals; i++)
        if (!strcmp(rules->globals[i], both))
            return push_integer(m, PICKLED_GLOBAL, i);
    return wrong(
        m,
        arena_printf(
            m->reader.arena,
            "it names %s.%s: only tensors and containers are read, and nothing is called" SAVE_STATE,
            text_visible_name(m->reader.arena, module), text_visible_name(m->reader.arena, name)));
}

static bool push_line_global(Machine *m)
{
    const char *module = take_line(m), *name = module ? take_line(m) : NULL;
    return push_global(m, module, name);
}

static bool push_stack_global(Machine *m)
{
    const Pickled *name = pop(m), *module = name ? pop(m) : NULL;
    if (!module)
        return false;
    if (name->kind != PICKLED_TEXT || module->kind != PICKLED_TEXT)
        return wrong(m, PICKLE_DAMAGED("it names a class by something that is not a text"));
    return push_global(m, module->text, name->text);
}

static bool call(Machine *m)
{
    const Pickled *arguments = pop(m), *what = arguments ? pop(m) : NULL;
    if (!what)
        return false;
    if (what->kind != PICKLED_GLOBAL || arguments->kind != PICKLED_TUPLE)
        return wrong(m, PICKLE_DAMAGED("it calls a value that is not a function"));
    return push(m, m->reader.rules->make(&m->reader, (int)what->integer, arguments));
}

static bool load_persistent(Machine *m)
{
    const Pickled *id = pop(m);
    if (!id)
        return false;
    if (!m->reader.rules->load)
        return wrong(m, "the pickle has persistent ids, which are not read here" SAVE_STATE);
    return push(m, m->reader.rules->load(&m->reader, id));
}

/* The attributes of an object, such as the versions of modules: nothing is made of them. */
static bool drop_state(Machine *m) { return pop(m) && top(m); }

/* ---- opcodes ---- */

enum {
    PROTO = 0x80,
    NEWOBJ = 0x81,
    TUPLE1 = 0x85,
    TUPLE2 = 0x86,
    TUPLE3 = 0x87,
    NEWTRUE = 0x88,
    NEWFALSE = 0x89,
    LONG1 = 0x8a,
    LONG4 = 0x8b,
    SHORT_BINUNICODE = 0x8c,
    BINUNICODE8 = 0x8d,
    BINBYTES8 = 0x8e,
    EMPTY_SET = 0x8f,
    ADDITEMS = 0x90,
    FROZENSET = 0x91,
    STACK_GLOBAL = 0x93,
    MEMOIZE = 0x94,
    FRAME = 0x95,
};

static bool refuse_opcode(Machine *m, unsigned char opcode)
{
    const struct {
        unsigned char opcode;
        const char *name;
    } names[] = {{'i', "INST"},        {'o', "OBJ"},         {0x92, "NEWOBJ_EX"}, {0x82, "EXT1"},
                 {0x83, "EXT2"},       {0x84, "EXT4"},       {'P', "PERSID"},     {'I', "INT"},
                 {'L', "LONG"},        {'F', "FLOAT"},       {'S', "STRING"},     {'V', "UNICODE"},
                 {'g', "GET"},         {'p', "PUT"},         {'d', "DICT"},       {'l', "LIST"},
                 {0x96, "BYTEARRAY8"}, {0x97, "NEXT_BUFFER"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].opcode == opcode)
            return wrong(m,
                         arena_printf(m->reader.arena,
                                      "the pickle has the opcode %s, which is not read" SAVE_STATE,
                                      names[i].name));
    return wrong(m,
                 arena_printf(m->reader.arena, PICKLE_DAMAGED("the byte 0x%02x is not an opcode"),
                              (unsigned)opcode));
}

static bool skip(Machine *m, uint64_t n) { return take_pickled(m, n); }

static bool put_numbered(Machine *m, int bytes, bool (*act)(Machine *m, uint64_t number))
{
    uint64_t number;
    return take_number(m, bytes, &number) && act(m, number);
}

static bool set_mark(Machine *m)
{
    vec_push(m->reader.arena, m->marks, m->stack.count);
    return true;
}

static bool drop_to_mark(Machine *m)
{
    const int64_t n = above_mark(m);
    m->stack.count -= n < 0 ? 0 : (size_t)n;
    return n >= 0;
}

static bool step(Machine *m, unsigned char opcode)
{
    switch (opcode) {
    case PROTO: return skip(m, 1);
    case FRAME: return skip(m, 8);
    case 'N': return push(m, &none);
    case NEWTRUE: return push(m, &truth[1]);
    case NEWFALSE: return push(m, &truth[0]);
    case 'K': return push_fixed(m, 1, false);
    case 'M': return push_fixed(m, 2, false);
    case 'J': return push_fixed(m, 4, true);
    case LONG1: return push_long(m, 1);
    case LONG4: return push_long(m, 4);
    case 'G': return skip(m, 8) && push(m, &real);
    case 'C':
    case 'U':
    case SHORT_BINUNICODE: return push_text(m, 1);
    case 'X':
    case 'B':
    case 'T': return push_text(m, 4);
    case BINUNICODE8:
    case BINBYTES8: return push_text(m, 8);
    case '(': return set_mark(m);
    case ')': return push(m, &nothing);
    case TUPLE1: return gather(m, PICKLED_TUPLE, 1);
    case TUPLE2: return gather(m, PICKLED_TUPLE, 2);
    case TUPLE3: return gather(m, PICKLED_TUPLE, 3);
    case 't':
    case FROZENSET: return gather(m, PICKLED_TUPLE, above_mark(m));
    case ']':
    case EMPTY_SET: return gather(m, PICKLED_LIST, 0);
    case '}': return gather(m, PICKLED_DICT, 0);
    case 'a': return append(m, PICKLED_LIST, 1);
    case 'e':
    case ADDITEMS: return append(m, PICKLED_LIST, above_mark(m));
    case 's': return append(m, PICKLED_DICT, 2);
    case 'u': return append(m, PICKLED_DICT, above_mark(m));
    case 'q': return put_numbered(m, 1, memo_put);
    case 'r': return put_numbered(m, 4, memo_put);
    case MEMOIZE: return memo_put(m, m->memo.count);
    case 'h': return put_numbered(m, 1, memo_get);
    case 'j': return put_numbered(m, 4, memo_get);
    case '0': return pop(m);
    case '1': return drop_to_mark(m);
    case '2': return push(m, top(m));
    case 'c': return push_line_global(m);
    case STACK_GLOBAL: return push_stack_global(m);
    case 'R':
    case NEWOBJ: return call(m);
    case 'b': return drop_state(m);
    case 'Q': return load_persistent(m);
    default: return refuse_opcode(m, opcode);
    }
}

const Pickled *pickle_read(Arena *arena, const PickleRules *rules, const void *bytes, uint64_t size,
                           uint64_t *used, const char **problem)
{
    Machine m = {.reader = {.arena = arena, .rules = rules}, .at = bytes};
    m.size = size < PICKLE_MAX_BYTES ? size : PICKLE_MAX_BYTES;
    m.end = m.at + m.size;
    const Pickled *value = NULL;
    while (!value && !m.reader.problem && !arena_failed(arena)) {
        const unsigned char *opcode = take_pickled(&m, 1);
        if (opcode && *opcode == '.')
            value = pop(&m);
        else if (opcode)
            step(&m, *opcode);
    }
    *used = (uint64_t)(m.at - (const unsigned char *)bytes);
    *problem = m.reader.problem;
    return arena_failed(arena) ? NULL : value;
}
