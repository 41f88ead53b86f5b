/* Protocol buffers: what is written is read again, and what is no message is refused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/proto.h"

#include <string.h>

static const int64_t numbers[] = {0, 1, 127, 128, 300, INT32_MAX, INT64_MAX, -1, INT64_MIN};
enum { N_NUMBERS = sizeof numbers / sizeof *numbers, LARGEST_FIELD = (1 << 29) - 1 };

static void test_written(void **state)
{
    (void)state;
    Text message = {0}, part = {0};
    ProtoField f;
    for (int i = 0; i < N_NUMBERS; i++)
        proto_put_int(&part, (uint32_t)i + 1, numbers[i]);
    proto_put_float(&message, 16, -0.375f);
    proto_put_bytes(&message, 2, "a\0b", 3);
    proto_put_string(&message, LARGEST_FIELD, "");
    proto_put_message(&message, 4, &part);
    assert_null(part.data);
    Proto rest = proto_message(message.data, message.length);
    assert_true(proto_next(&rest, &f) && f.number == 16 && f.kind == PROTO_4);
    assert_true(proto_float(&f) == -0.375f);
    assert_true(proto_next(&rest, &f) && f.number == 2 && f.kind == PROTO_BYTES);
    assert_true(f.size == 3 && !memcmp(f.bytes, "a\0b", 3));
    assert_true(proto_next(&rest, &f) && f.number == LARGEST_FIELD && f.size == 0);
    assert_true(proto_next(&rest, &f) && f.number == 4);
    Proto inner = proto_message(f.bytes, f.size);
    for (int i = 0; i < N_NUMBERS; i++) {
        assert_true(proto_next(&inner, &f) && f.number == (uint32_t)i + 1);
        assert_int_equal(f.kind, PROTO_VARINT);
        assert_true(f.value == (uint64_t)numbers[i]);
    }
    assert_false(proto_next(&inner, &f) || inner.bad);
    assert_false(proto_next(&rest, &f) || rest.bad);
    text_free(&message);
}

/* Every cut within a field is no message. */
static void test_cut(void **state)
{
    (void)state;
    Text message = {0};
    ProtoField f;
    proto_put_int(&message, 1, 300);
    const size_t first = message.length;
    proto_put_string(&message, 2, "text");
    const size_t second = message.length;
    proto_put_float(&message, 3, 1);
    for (size_t n = 0; n <= message.length; n++) {
        Proto rest = proto_message(message.data, n);
        while (proto_next(&rest, &f))
            continue;
        assert_int_equal(rest.bad, n && n != first && n != second && n != message.length);
        assert_false(proto_next(&rest, &f));
    }
    text_free(&message);
}

static void test_bad(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        bool is_bad;
    } rows[] = {
        {"\x08\x05", 2, false},
        {"\x00\x05", 2, true},                                       /* the number 0 */
        {"\x0b\x0c", 2, true},                                       /* a group */
        {"\x0e\x00", 2, true},                                       /* no kind */
        {"\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, true},  /* longer than the message */
        {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, false}, /* ten bytes */
        {"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12, true}, /* eleven */
        {"\x88\x80\x80\x80\x80\x01\x05", 7, true},                      /* a number of 30 bits */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Proto message = proto_message(rows[i].bytes, rows[i].n);
        ProtoField f;
        assert_int_equal(proto_next(&message, &f), !rows[i].is_bad);
        assert_int_equal(message.bad, rows[i].is_bad);
    }
}

static void test_packed(void **state)
{
    (void)state;
    uint64_t value;
    Proto packed = proto_message("\x01\xac\x02\x00", 4);
    assert_true(proto_next_varint(&packed, &value) && value == 1);
    assert_true(proto_next_varint(&packed, &value) && value == 300);
    assert_true(proto_next_varint(&packed, &value) && value == 0);
    assert_false(proto_next_varint(&packed, &value) || packed.bad);
    packed = proto_message("\x01\xac", 2);
    assert_true(proto_next_varint(&packed, &value));
    assert_false(proto_next_varint(&packed, &value));
    assert_true(packed.bad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_written), cmocka_unit_test(test_cut),
                                       cmocka_unit_test(test_bad), cmocka_unit_test(test_packed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
