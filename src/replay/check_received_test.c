/* When a replay complains of what it received, and in which words. */
#include "replay/check_received.h"

#include "replay/message_ids.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static char text[200];

/* What is said of so many bytes with the message's own stamp, or with another one, where `recorded`
 * bytes were received from the source; "": nothing. */
static const char *judge(int64_t source, int64_t recorded, int64_t bytes, bool same)
{
    const struct rfn_volume volume = {.source = source, .received_bytes = recorded};
    const uint64_t stamp = UINT64_C(0x1122334455667788);
    unsigned char buffer[32] = {0};
    rpl_message_id_put(same ? stamp : ~stamp, buffer, bytes);
    text[0] = '\0';
    bool wrong = rpl_check_received(&volume, bytes, &stamp, buffer, text, sizeof text);
    assert_int_equal(wrong, text[0] != '\0');
    return text;
}

static void test_as_recorded(void **state)
{
    (void)state;
    for (int64_t bytes = 0; bytes < 20; bytes++)
        assert_string_equal(judge(3, bytes, bytes, true), "");
}

static void test_size(void **state)
{
    (void)state;
    assert_string_equal(judge(3, 20, 16, true),
                        "received 16 bytes from rank 3, where 20 were recorded");
    assert_string_equal(judge(0, 16, 17, true),
                        "received 17 bytes from rank 0, where 16 were recorded");
    assert_string_equal(judge(0, 1, 0, true),
                        "received 0 bytes from rank 0, where 1 were recorded");
    assert_string_equal(judge(0, 8, -1, true),
                        "received -1 bytes from rank 0, where 8 were recorded");
}

/* A message without bytes carries nothing. */
static void test_another(void **state)
{
    (void)state;
    assert_string_equal(judge(5, 16, 16, false),
                        "received another message of 16 bytes from rank 5 than was recorded");
    assert_string_equal(judge(5, 1, 1, false),
                        "received another message of 1 bytes from rank 5 than was recorded");
    assert_string_equal(judge(5, 0, 0, false), "");
}

/* Of receives from no one MPI says nothing, and of calls that receive nothing there is nothing to
 * say. */
static void test_not_judged(void **state)
{
    (void)state;
    assert_string_equal(judge(RFN_PROC_NULL, 0, 16, false), "");
    assert_string_equal(judge(3, -1, 16, false), "");
}

/* Where it is not known what it is to carry, only the size counts. */
static void test_without_stamp(void **state)
{
    (void)state;
    const struct rfn_volume volume = {.source = 2, .received_bytes = 8};
    const unsigned char buffer[8] = {1};
    assert_false(rpl_check_received(&volume, 8, NULL, buffer, text, sizeof text));
    assert_true(rpl_check_received(&volume, 7, NULL, buffer, text, sizeof text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_recorded),   cmocka_unit_test(test_size),
        cmocka_unit_test(test_another),       cmocka_unit_test(test_not_judged),
        cmocka_unit_test(test_without_stamp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
