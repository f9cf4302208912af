/* Numbers against strtod, bit by bit: random ones of every size, those at the middle between two doubles or two float32
 * and a hair beside it, the ends of the range; whole and cut anywhere. */
#include "server/codec/json_number.h"
#include "suites.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 4096 };

static uint64_t state;

static uint64_t random_bits(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void set_up(void) {
    state = 88172645463325252;
    srv_number_prepare();
}

static double from_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double slow(const char *text) {
    srv_number number;
    srv_number_begin(&number);
    const char *at = text;
    while (*at != '\0' && srv_number_take(&number, *at))
        at++;
    if (*at != '\0' || !srv_number_is_whole(&number)) ck_abort_msg("%s is not taken", text);
    return srv_number_value(&number);
}

/* The way for float32, in a block of exactly as many bytes; true where it told. */
static bool check_float(const char *text, const char *behind, float right) {
    float found[2];
    size_t count, size = strlen(text), whole = size + strlen(behind);
    char *block = malloc(whole);
    memcpy(block, text, size);
    memcpy(block + size, behind, whole - size);
    const char *end = srv_number_read_floats(block, block + whole, found, 1, &count);
    if (end - block != (count == 0 ? 0 : (ptrdiff_t)size + 1) ||
        (count == 1 && memcmp(found, &right, sizeof right) != 0))
        ck_abort_msg("%s%s: %zu numbers up to %td, %a, not %a", text, behind, count, end - block,
                     (double)*found, (double)right);
    free(block);
    return count == 1;
}

/* All ways; true where the fast one told. */
static bool check(const char *text) {
    char line[LONGEST];
    double right = strtod(text, NULL), found = slow(text);
    if (memcmp(&found, &right, sizeof right) != 0)
        ck_abort_msg("byte by byte, %s: %a, not %a", text, found, right);
    bool is_told = check_float(text, ",", (float)right);
    ck_assert_int_eq(check_float(text, ",[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", (float)right), is_told);
    size_t size = (size_t)snprintf(line, sizeof line, "%s,", text);
    const char *end = srv_number_read(line, line + size, &found);
    if (end == NULL) return false;
    if (end != line + size - 1 || memcmp(&found, &right, sizeof right) != 0)
        ck_abort_msg("%s: %a, not %a", text, found, right);
    return true;
}

START_TEST(random_numbers) {
    char text[LONGEST];
    size_t fast = 0;
    enum { TIMES = 100000 };
    for (int i = 0; i < TIMES; i++) {
        double value = from_bits(random_bits());
        if (!isfinite(value)) continue;
        snprintf(text, sizeof text, "%.*e", (int)(random_bits() % 25), value);
        fast += check(text);
        snprintf(text, sizeof text, "%.17g", ldexp(value, -ilogb(value)));
        fast += check(text);
        snprintf(text, sizeof text, "%llue%d", (unsigned long long)(random_bits() >> random_bits() % 64),
                 (int)(random_bits() % 700) - 360);
        fast += check(text);
        snprintf(text, sizeof text, "-0.%0*d%llu", (int)(1 + random_bits() % 40), 0,
                 (unsigned long long)random_bits());
        check(text);
    }
    ck_assert_uint_gt(fast, 2 * (size_t)TIMES);
}
END_TEST

/* The decimal of a middle between two doubles is exact in long double; the last digit decides. */
START_TEST(middles) {
    char text[LONGEST];
    for (int i = 0; i < 3000; i++) {
        uint64_t bits = random_bits() & 0x7fffffffffffffff;
        if (i % 3 != 0) bits >>= random_bits() % 60;
        double low = from_bits(bits);
        if (!isfinite(low)) continue;
        double high = from_bits(bits + 1);
        long double middle = ((long double)low + (isfinite(high) ? (long double)high : 0x1p1024L)) / 2;
        snprintf(text, sizeof text, "%.1100Lf", middle);
        check(text);
        text[strlen(text) - 1] = '1';
        check(text);
        snprintf(text, sizeof text, "%.780Le", middle);
        check(text);
        *(strchr(text, 'e') - 1) = '1';
        check(text);
        snprintf(text, sizeof text, "%.19Le", middle);
        check(text);
    }
}
END_TEST

/* The middle of two float32 is a double: 54 digits tell it, and as many as people write are nearest to it, or to the
 * double beside it. Where those are few, the way for float32 tells all the same. */
START_TEST(middles_of_floats) {
    char text[LONGEST];
    size_t told = 0;
    enum { TIMES = 20000 };
    for (int i = 0; i < TIMES; i++) {
        uint32_t bits = 0x3f800000 - (3U << 23) + (uint32_t)(random_bits() % (6U << 23)); /* 1/8 ... 8 */
        float low, high;
        memcpy(&low, &bits, sizeof low);
        bits++;
        memcpy(&high, &bits, sizeof high);
        double middle = ((double)low + (double)high) / (i % 2 == 0 ? 2 : -2);
        for (int digits = 4; digits <= 21; digits++) {
            snprintf(text, sizeof text, "%.*f", digits, middle);
            told += check_float(text, ",0.0000000000000000000000000000000", (float)strtod(text, NULL));
            text[strlen(text) - 1] ^= 1;
            check_float(text, ",0.0000000000000000000000000000000", (float)strtod(text, NULL));
        }
        snprintf(text, sizeof text, "%.17g", nextafter(middle, random_bits() % 2 == 0 ? 0 : 9));
        check(text);
        snprintf(text, sizeof text, "%.52f", middle);
        check(text);
    }
    ck_assert_uint_gt(told, 10 * (size_t)TIMES);
}
END_TEST

static const char *const limits[] = {
    "0",
    "-0",
    "0.0",
    "0e5",
    "-0.0e-5",
    "0e999999999999999999999",
    "1",
    "-1",
    "10",
    "9007199254740992",
    "9007199254740993",
    "9007199254740994",
    "9007199254740993.0000000000000000000000000000000000000000001",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1.7976931348623157e308",
    "1.7976931348623158e308",
    "1.797693134862315807e308",
    "1.797693134862315808e308",
    "1.7976931348623159e308",
    "179769313486231580793e289",
    "1e308",
    "1e309",
    "-1e309",
    "1e400",
    "123456789012345678901234567890e400",
    "1e99999999999999999999999",
    "1e-99999999999999999999999",
    "4.9406564584124654e-324",
    "2.4703282292062327e-324",
    "2.4703282292062328e-324",
    "2.47032822920623272088284396434110686182e-324",
    "2.2250738585072014e-308",
    "2.2250738585072011e-308",
    "2."
    "22507385850720113605740979670913197593481954635164564802342610972482222202107694551652952390813508791414"
    "9158913"
    "03962110687008643869459464552765720740782062174337998814106326732925355228688137214901298112245145188984"
    "90572223"
    "0728525513315575501591439747639798341180199932396254826e-308",
    "1e-342",
    "1e-343",
    "18446744073709551615e-343",
    "99999999999999999999e-344",
    "3.4028235e38",
    "3.40282356779733661637539395458142568447e38",
    "3.40282356779733661637539395458142568448e38",
    "1e23",
    "8.5e22",
    "0.1",
    "0.3",
    "1E5",
    "1e+5",
    "1E-05",
    "0.000000000000000000000000000000000000000000000000000000000000012345678901234567",
};

START_TEST(limits_of_the_range) {
    check(limits[_i]);
}
END_TEST

/* As many zeros as there may be, in front, in the middle and behind. */
START_TEST(very_long_numbers) {
    char text[LONGEST];
    for (int zeros = 1; zeros < 2000; zeros += zeros / 3 + 1) {
        snprintf(text, sizeof text, "0.%0*d17e%d", zeros, 0, zeros);
        check(text);
        snprintf(text, sizeof text, "17%0*d.5e-%d", zeros, 0, zeros);
        check(text);
        snprintf(text, sizeof text, "1.5%0*d", zeros, 0);
        check(text);
        snprintf(text, sizeof text, "9007199254740993.%0*d1", zeros, 0);
        check(text);
    }
}
END_TEST

/* Where the number does not end before the bytes do, the fast way does not tell: more may come. */
START_TEST(cut_numbers_are_not_told) {
    static const char text[] = "-12345678901.25e-12,";
    double value;
    float number;
    size_t count;
    for (size_t size = 1; size < sizeof text - 1; size++) {
        ck_assert_ptr_null(srv_number_read(text, text + size, &value));
        ck_assert_ptr_eq(srv_number_read_floats(text, text + size, &number, 1, &count), text);
        ck_assert_uint_eq(count, 0);
    }
    ck_assert_ptr_eq(srv_number_read(text, text + sizeof text - 1, &value), text + sizeof text - 2);
    ck_assert(value == -12345678901.25e-12);
}
END_TEST

static const char *const wrong[] = {"-",   "-,",   "01",  "-01", "00",  "1.",  "1.,",  "1.e5", "1e",  "1e,",
                                    "1e+", "1e+,", "-.5", "1.x", "1e-", "--1", "-:.5", "-/.5", ":.5", "/.5"};

START_TEST(what_is_no_number) {
    char text[16];
    double value;
    size_t size = (size_t)snprintf(text, sizeof text, "%s ", wrong[_i]);
    ck_assert_ptr_null(srv_number_read(text, text + size, &value));
    ck_assert(!check_float(wrong[_i], " ", 0) &&
              !check_float(wrong[_i], ",0.00000000000000000000000000000000", 0));
    srv_number number;
    srv_number_begin(&number);
    const char *at = wrong[_i];
    while (*at != '\0' && srv_number_take(&number, *at))
        at++;
    bool leading_zero = number.state == SRV_NUMBER_ZERO && *at >= '0' && *at <= '9';
    ck_assert(!srv_number_is_whole(&number) || leading_zero);
}
END_TEST

/* With or without blanks; up to what is no number, or to the end of the room. */
START_TEST(runs_of_floats) {
    static const char text[] = "0.5,-1.25, 0,-0.0,3e2,12345.5,7.00000000000000000,  1";
    static const float right[] = {0.5f, -1.25f, 0, -0.0f, 3e2f, 12345.5f, 7};
    enum { ALL = sizeof right / sizeof *right };
    float found[ALL + 1];
    size_t count;
    const char *end = srv_number_read_floats(text, text + sizeof text - 1, found, ALL + 1, &count);
    ck_assert_uint_eq(count, ALL);
    ck_assert_str_eq(end, " 1");
    ck_assert_mem_eq(found, right, sizeof right);
    end = srv_number_read_floats(text, text + sizeof text - 1, found, 2, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert_mem_eq(end, "0,-0.0", 6);
    static const char last[] = "1.5]";
    end = srv_number_read_floats(last, last + strlen(last), found, 2, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_int_eq(*end, ']');
}
END_TEST

/* A fraction of so many digits ends at any byte that is none, whichever way reads it. */
START_TEST(a_byte_that_is_no_digit_ends_the_number) {
    char text[64];
    float found[2];
    size_t digits = (size_t)_i, count;
    for (size_t place = 0; place < digits; place++)
        for (int byte = 0; byte < 256; byte++) {
            if ((byte >= '0' && byte <= '9') || byte == ',' || byte == 'e' || byte == 'E') continue;
            size_t size = (size_t)snprintf(text, sizeof text, "1.%.*s,0.00000000000000000000000000000000",
                                           (int)digits, "1234567890123456789012");
            text[2 + place] = (char)byte;
            const char *end = srv_number_read_floats(text, text + size, found, 2, &count);
            ck_assert_msg(count == (place > 0) && end == (place > 0 ? text + 2 + place : text),
                          "byte %d at place %zu of %zu: %zu numbers, up to %td", byte, place, digits, count,
                          end - text);
        }
}
END_TEST

ATTND_SUITE(json_number) {
    Suite *suite = suite_create("json_number");
    TCase *tests = tcase_create("json_number");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, random_numbers);
    tcase_add_test(tests, middles);
    tcase_add_test(tests, middles_of_floats);
    tcase_add_loop_test(tests, limits_of_the_range, 0, sizeof limits / sizeof *limits);
    tcase_add_test(tests, very_long_numbers);
    tcase_add_test(tests, cut_numbers_are_not_told);
    tcase_add_loop_test(tests, a_byte_that_is_no_digit_ends_the_number, 1, 20);
    tcase_add_test(tests, runs_of_floats);
    tcase_add_loop_test(tests, what_is_no_number, 0, sizeof wrong / sizeof *wrong);
    suite_add_tcase(suite, tests);
    return suite;
}
