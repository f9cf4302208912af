/* The order and names of blocks, from prefixes as real files have them. */
#include "engine/weights/names.h"
#include "engine/weights/schemes.h"
#include "suites.h"

#include <stdio.h>
#include <string.h>

/* Names blocks of these prefixes (up to 8); the result is "prefix=name" in order, '*' marking cross
 * blocks. */
static const char *named(const char *const *prefixes) {
    static char text[1000];
    attn_block blocks[8] = {{0}};
    size_t count = 0, at = 0;
    for (; prefixes[count] != NULL; count++)
        blocks[count].prefix = prefixes[count], blocks[count].prefix_size = strlen(prefixes[count]);
    attn_blocks_name(blocks, count);
    text[0] = '\0';
    for (size_t i = 0; i < count; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s=%s%s", i > 0 ? " " : "", blocks[i].prefix,
                               blocks[i].name, blocks[i].is_cross ? "*" : "");
    return text;
}

#define NAMED(expected, ...) ck_assert_str_eq(named((const char *const[]){__VA_ARGS__, NULL}), expected)

START_TEST(single_stacks) {
    NAMED("=layers.0", "");
    NAMED("encoder.layer.2=layers.0 encoder.layer.10=layers.1", "encoder.layer.10", "encoder.layer.2");
    NAMED("layers.0.self_attn=layers.0 layers.1.self_attn=layers.1", "layers.1.self_attn",
          "layers.0.self_attn");
    NAMED("a=layers.0 b=layers.1", "b", "a");
}
END_TEST

START_TEST(torch_transformer) {
    NAMED("transformer.encoder.layers.0.self_attn=encoder.0.self "
          "transformer.encoder.layers.1.self_attn=encoder.1.self "
          "transformer.decoder.layers.9.self_attn=decoder.0.self "
          "transformer.decoder.layers.9.multihead_attn=decoder.0.cross* "
          "transformer.decoder.layers.10.self_attn=decoder.1.self "
          "transformer.decoder.layers.10.multihead_attn=decoder.1.cross*",
          "transformer.decoder.layers.10.multihead_attn", "transformer.decoder.layers.9.self_attn",
          "transformer.decoder.layers.9.multihead_attn", "transformer.encoder.layers.1.self_attn",
          "transformer.encoder.layers.0.self_attn", "transformer.decoder.layers.10.self_attn");
}
END_TEST

START_TEST(decoders_alone) {
    NAMED("layers.0.self_attn=decoder.0.self layers.0.multihead_attn=decoder.0.cross* "
          "layers.1.self_attn=decoder.1.self "
          "layers.1.multihead_attn=decoder.1.cross*",
          "layers.0.multihead_attn", "layers.0.self_attn", "layers.1.multihead_attn", "layers.1.self_attn");
    NAMED("self_attn=decoder.0.self src_attn=decoder.0.cross*", "src_attn", "self_attn");
    NAMED("layers.0.encoder_attn=decoder.0.cross*", "layers.0.encoder_attn");
    NAMED("decoder.0.x=layers.0 decoder.1.x=layers.1", "decoder.1.x", "decoder.0.x");
}
END_TEST

/* The name alone does not make torch's tutorial attention a cross block. */
START_TEST(multihead_attn_alone_is_self) {
    NAMED("multihead_attn=layers.0", "multihead_attn");
    NAMED("0.multihead_attn=layers.0 1.multihead_attn=layers.1", "1.multihead_attn", "0.multihead_attn");
    NAMED("multihead_attn=layers.0 other=layers.1", "other", "multihead_attn");
}
END_TEST

START_TEST(stacks_without_cross) {
    NAMED("encoder.0=encoder.0.self encoder.1=encoder.1.self decoder.0=decoder.0.self", "decoder.0",
          "encoder.1", "encoder.0");
    NAMED("encoder.0=layers.0 decoder.0=layers.1 other.0=layers.2", "other.0", "decoder.0", "encoder.0");
}
END_TEST

START_TEST(two_of_a_kind_in_a_layer) {
    NAMED("l.0.a=layers.0 l.0.b=layers.1 l.0.cross_attn=layers.2*", "l.0.cross_attn", "l.0.b", "l.0.a");
    NAMED("l.0.a=layers.0 l.0.cross_attn=layers.1* l.0.src_attn=layers.2*", "l.0.src_attn", "l.0.cross_attn",
          "l.0.a");
}
END_TEST

static int compare(const char *a, const char *b) {
    int order = attn_natural_compare(a, strlen(a), b, strlen(b));
    ck_assert_int_eq(order < 0, attn_natural_compare(b, strlen(b), a, strlen(a)) > 0);
    return (order > 0) - (order < 0);
}

START_TEST(natural_order) {
    ck_assert_int_eq(compare("h.9.x", "h.10.x"), -1);
    ck_assert_int_eq(compare("h.10", "h.10"), 0);
    ck_assert_int_eq(compare("h.1", "h.01"), -1);
    ck_assert_int_eq(compare("h.02", "h.1"), 1);
    ck_assert_int_eq(compare("h", "h.1"), -1);
    ck_assert_int_eq(compare("a99999999999999999999999", "a100000000000000000000000"), -1);
    ck_assert_int_eq(compare("", "0"), -1);
    ck_assert_int_eq(compare("a.b", "a.1"), 1);
}
END_TEST

START_TEST(scheme_look_ups) {
    attn_role role;
    size_t prefix;
    const attn_scheme *scheme =
        attn_scheme_match("bert.encoder.layer.3.attention.self.key.bias", &role, &prefix);
    ck_assert_str_eq(scheme->family, "BERT");
    ck_assert_int_eq(role, ATTN_ROLE_K_BIAS);
    ck_assert_uint_eq(prefix, strlen("bert.encoder.layer.3"));
    ck_assert_ptr_nonnull(attn_scheme_match("in_proj_weight", &role, &prefix));
    ck_assert_uint_eq(prefix, 0);
    ck_assert_ptr_null(attn_scheme_match("xin_proj_weight", &role, &prefix));
    ck_assert_ptr_null(attn_scheme_match("crossattention.self.key.bias", &role, &prefix));
    ck_assert_ptr_null(attn_scheme_match("", &role, &prefix));
    ck_assert_ptr_null(attn_scheme_suffix(scheme, ATTN_ROLE_QKV_WEIGHT));
}
END_TEST

/* Every scheme has q, k and v or a packed weight, and what it is called belongs to it alone. */
START_TEST(the_table_is_sound) {
    const attn_scheme *scheme;
    for (size_t i = 0; (scheme = attn_scheme_at(i)) != NULL; i++) {
        ck_assert_ptr_nonnull(attn_scheme_suffix(scheme, ATTN_ROLE_Q_WEIGHT));
        for (size_t r = 0; r < ATTN_ROLE_COUNT; r++) {
            const char *suffix = attn_scheme_suffix(scheme, (attn_role)r);
            attn_role role;
            size_t prefix;
            if (suffix == NULL) continue;
            ck_assert_ptr_eq(attn_scheme_match(suffix, &role, &prefix), scheme);
            ck_assert_uint_eq(role, r);
            ck_assert_uint_eq(prefix, 0);
        }
    }
    ck_assert_uint_gt(strlen(attn_role_text(ATTN_ROLE_UNSUPPORTED)), 0);
}
END_TEST

ATTND_SUITE(names) {
    Suite *suite = suite_create("names");
    TCase *cases = tcase_create("names");
    tcase_add_test(cases, single_stacks);
    tcase_add_test(cases, torch_transformer);
    tcase_add_test(cases, decoders_alone);
    tcase_add_test(cases, multihead_attn_alone_is_self);
    tcase_add_test(cases, stacks_without_cross);
    tcase_add_test(cases, two_of_a_kind_in_a_layer);
    tcase_add_test(cases, natural_order);
    tcase_add_test(cases, scheme_look_ups);
    tcase_add_test(cases, the_table_is_sound);
    suite_add_tcase(suite, cases);
    return suite;
}
