/* POST /v1/attention answered with pictures and tables: read back, they hold the weights of the JSON answer. */
#include "api.h"

#include "server/picture/color.h"
#include "server/picture/raster.h"
#include "tests/support/fixtures.h"
#include "tests/support/process.h"
#include "tests/support/temporary.h"

#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

static http_answer ask_at(const char *url, const char *type, const char *query, const char *body,
                          long status) {
    char accept[64], path[512];
    snprintf(accept, sizeof accept, "Accept: %s", type);
    snprintf(path, sizeof path, "/v1/attention%s", query);
    const char *const headers[] = {"Content-Type: application/json", accept, NULL};
    http_answer answer = http_send("POST", url, path, headers, body, strlen(body));
    ck_assert_msg(answer.status == status, "%s %s: status %ld: %.300s", type, query, answer.status,
                  answer.status == 200 ? "" : answer.body);
    return answer;
}

static http_answer ask_as(const char *type, const char *query, const char *body, long status) {
    return ask_at(api_daemon.url, type, query, body, status);
}

/* An RGB picture. */
typedef struct pixels {
    unsigned char *rgb;
    size_t width, height;
} pixels;

static pixels read_png(const char *bytes, size_t size) {
    png_image image = {.version = PNG_IMAGE_VERSION};
    ck_assert(png_image_begin_read_from_memory(&image, bytes, size));
    image.format = PNG_FORMAT_RGB;
    pixels out = {malloc(PNG_IMAGE_SIZE(image)), image.width, image.height};
    ck_assert(png_image_finish_read(&image, NULL, out.rgb, 0, NULL));
    return out;
}

static srv_rgb pixel(const pixels *p, size_t x, size_t y) {
    ck_assert_msg(x < p->width && y < p->height, "no pixel %zu, %zu", x, y);
    const unsigned char *at = p->rgb + 3 * (y * p->width + x);
    return (srv_rgb){at[0], at[1], at[2]};
}

static bool is_color(srv_rgb a, srv_rgb b) {
    return a.r == b.r && a.g == b.g && a.b == b.b;
}

/* Which level a colour is; −1: none, so no weight. */
static int level_of(srv_color_map map, srv_rgb color) {
    for (size_t level = 0; level < SRV_LEVELS; level++)
        if (is_color(srv_color_on_white(map, level), color)) return (int)level;
    return -1;
}

/* Where the panels are: the SVG of the same request has an image in the place of each. */
static size_t find_panels(const char *svg, srv_box *out, size_t most) {
    size_t count = 0;
    for (const char *at = svg; count < most && (at = strstr(at, "<image ")); at++) {
        srv_box *box = &out[count++];
        ck_assert_int_eq(sscanf(at, "<image x=\"%zu\" y=\"%zu\" width=\"%zu\" height=\"%zu\"", &box->x,
                                &box->y, &box->width, &box->height),
                         4);
    }
    return count;
}

/* One cell's middle, and its hatch where it is masked: over a whole cell there is more than one colour. */
static void check_cell(const pixels *p, size_t x, size_t y, size_t cell, const srv_picture_options *o,
                       double max, double weight, bool visible) {
    int level = level_of(o->map, pixel(p, x + cell / 2, y + cell / 2));
    if (!visible) {
        size_t hatched = 0;
        for (size_t i = 0; i < cell; i++)
            hatched += is_color(pixel(p, x + i, y + cell / 2), srv_raster_color(o->map, SRV_INDEX_HATCH));
        ck_assert_msg(level < 0 && hatched > 0 && hatched < cell, "a masked cell at %zu, %zu has level %d", x,
                      y, level);
        return;
    }
    ck_assert_msg(level >= 0, "the cell at %zu, %zu has no colour of a weight", x, y);
    double step = 0.51 / (SRV_LEVELS - 1), share = (double)level / (SRV_LEVELS - 1);
    double low = srv_color_weight(o->scale, fmax(share - step, 0), (float)max),
           high = srv_color_weight(o->scale, fmin(share + step, 1), (float)max);
    ck_assert_msg(weight <= high * (1 + 1e-6) && (weight >= low || level == 0),
                  "level %d is %.6g … %.6g, the weight %.6g", level, low, high, weight);
}

static double number_at(const json_t *map, size_t row, size_t column) {
    return json_number_value(json_array_get(json_array_get(map, row), column));
}

/* The largest weight of all panels. */
static double largest(const json_t *maps) {
    double max = 0;
    for (size_t h = 0; h < json_array_size(maps); h++)
        for (size_t i = 0; i < json_array_size(json_array_get(maps, h)); i++)
            for (size_t j = 0; j < json_array_size(json_array_get(json_array_get(maps, h), i)); j++)
                max = fmax(max, number_at(json_array_get(maps, h), i, j));
    return max;
}

#define FIVE "[[1,0,0,0.5],[0,2,0,0],[0,0,1,1],[3,0,1,0],[0.5,0.5,0,2]]"

/* Requests, and which cells of theirs are masked: "row by row, . seen, x masked". */
static const struct {
    const char *body, *masked;
} drawn[] = {
    {"{\"inputs\":" FIVE ",\"causal\":true}", ".xxxx..xxx...xx....x....."},
    {"{\"inputs\":" FIVE ",\"key_padding_mask\":[true,false,false,true,false]}", "x..x.x..x.x..x.x..x.x..x."},
    {"{\"inputs\":" FIVE ",\"window\":2}", "..xxx...xxx...xxx...xxx.."},
    {"{\"inputs\":" FIVE ",\"attention_mask\":[[1,1,0,0,1],[0,0,0,0,0],[1,1,1,1,1],[0,1,1,0,1],[1,1,1,1,1]]}",
     "..xx.xxxxx.....x..x......"},
    {"{\"inputs\":" FIVE ",\"context\":[[1,0,0,0],[0,1,2,0],[0,0,0,1]]}", "..............."},
    {"{\"inputs\":" FIVE ",\"causal\":true,\"return\":{\"heads\":[1],\"queries\":[4,0]}}", "......xxxx"},
};

static const struct {
    const char *query;
    srv_color_scale scale;
    srv_color_map map;
} looks[] = {
    {"", SRV_SCALE_LINEAR, SRV_CIVIDIS},
    {"?color_scale=sqrt&color_map=viridis&cell=7", SRV_SCALE_SQRT, SRV_VIRIDIS},
    {"?color_scale=log&color_map=magma", SRV_SCALE_LOG, SRV_MAGMA},
    {"?color_map=grey&title=T&caption=C", SRV_SCALE_LINEAR, SRV_GREY},
};

static void check_panel(const pixels *p, const srv_box *box, const json_t *map, const char *masked,
                        const srv_picture_options *o, double max) {
    size_t rows = json_array_size(map), columns = json_array_size(json_array_get(map, 0)),
           cell = box->height / rows;
    for (size_t i = 0; i < rows; i++) {
        size_t seen = 0;
        for (size_t j = 0; j < columns; j++) {
            bool visible = masked[i * columns + j] == '.';
            seen += visible;
            check_cell(p, box->x + j * cell, box->y + i * cell, cell, o, max, number_at(map, i, j), visible);
        }
        srv_rgb beside = pixel(p, box->x + columns * cell + 3, box->y + i * cell + cell / 2);
        ck_assert(is_color(beside, srv_raster_color(o->map, SRV_INDEX_KEYLESS)) == (seen == 0));
    }
}

START_TEST(cells_hold_the_weights) {
    const char *body = drawn[_i].body;
    json_t *answer = api_post("/v1/attention", body, 200), *maps = json_at(answer, "/attention");
    for (size_t look = 0; look < sizeof looks / sizeof *looks; look++) {
        srv_picture_options o = {.scale = looks[look].scale, .map = looks[look].map};
        http_answer png = ask_as("image/png", looks[look].query, body, 200),
                    svg = ask_as("image/svg+xml", looks[look].query, body, 200);
        pixels p = read_png(png.body, png.size);
        srv_box boxes[2];
        ck_assert_uint_eq(find_panels(svg.body, boxes, json_array_size(maps)), json_array_size(maps));
        for (size_t h = 0; h < json_array_size(maps); h++)
            check_panel(&p, &boxes[h], json_array_get(maps, h), drawn[_i].masked, &o, largest(maps));
        free(p.rgb);
        http_done(&png);
        http_done(&svg);
    }
    json_decref(answer);
}
END_TEST

/* A number stands where the bar has its colour, a quarter of the bar from the next. */
static void check_number(const char *svg, const pixels *p, const srv_box *bar, int quarter,
                         const srv_picture_options *o, double max) {
    char place[80], *end;
    double share = quarter / 4.0;
    size_t y = bar->y + (size_t)lrint((1 - share) * (double)(bar->height - 1));
    snprintf(place, sizeof place, "<text x=\"%zu.0\" y=\"%zu.0\" font-size=\"11\">", bar->x + bar->width + 8,
             y + 4);
    const char *at = strstr(svg, place);
    ck_assert_msg(at != NULL, "no %s", place);
    double number = strtod(at + strlen(place), &end),
           want = quarter == 0 ? 0 : srv_color_weight(o->scale, share, (float)max);
    ck_assert_msg(*end == '<' && fabs(number - want) <= 0.005 * want, "%g instead of %g", number, want);
    int level = level_of(o->map, pixel(p, bar->x + bar->width / 2, y));
    ck_assert_msg(abs(level - (int)lrint(share * (SRV_LEVELS - 1))) <= 2, "level %d at %g", level, share);
}

START_TEST(numbers_stand_beside_their_colours) {
    const char *body = drawn[0].body;
    json_t *answer = api_post("/v1/attention", body, 200), *maps = json_at(answer, "/attention");
    const char *const query = looks[_i].query;
    srv_picture_options o = {.scale = looks[_i].scale, .map = looks[_i].map};
    http_answer png = ask_as("image/png", query, body, 200), svg = ask_as("image/svg+xml", query, body, 200);
    pixels p = read_png(png.body, png.size);
    srv_box images[3]; /* two panels, the bar */
    ck_assert_uint_eq(find_panels(svg.body, images, 3), 3);
    for (int quarter = 0; quarter <= 4; quarter++)
        check_number(svg.body, &p, &images[2], quarter, &o, largest(maps));
    free(p.rgb);
    json_decref(answer);
    http_done(&png);
    http_done(&svg);
}
END_TEST

/* 900 keys leave a pixel to two of them; three chosen queries have a row each, high enough for its label. */
START_TEST(few_queries_stay_apart) {
    char body[8192] = "{\"model\":\"plain\",\"return\":{\"queries\":[1,899,0]},\"inputs\":[[1]";
    for (int i = 1; i < 900; i++)
        strcat(body, ",[1]");
    strcat(body, "],\"causal\":true}");
    http_answer svg = ask_as("image/svg+xml", "", body, 200), png = ask_as("image/png", "", body, 200);
    ck_assert_ptr_nonnull(strstr(svg.body, "One cell is the largest of 1×2 weights."));
    ck_assert(strstr(svg.body, ">1</text>") && strstr(svg.body, ">899</text>"));
    srv_box box;
    find_panels(svg.body, &box, 1);
    ck_assert_uint_eq(box.height, 3 * 13);
    pixels p = read_png(png.body, png.size);
    static const float first[] = {0.5f, 1 / 900.0f, 1};
    for (size_t row = 0; row < 3; row++)
        for (size_t y = 13 * row; y < 13 * (row + 1); y++)
            ck_assert_int_eq(level_of(SRV_CIVIDIS, pixel(&p, box.x, box.y + y)),
                             srv_color_level(SRV_SCALE_LINEAR, first[row], 1));
    free(p.rgb);
    http_done(&svg);
    http_done(&png);
}
END_TEST

START_TEST(own_keys_stand_apart) {
    static const char body[] = "{\"inputs\":[[1],[-1],[2]],\"causal\":true}";
    char *folder = temporary_folder(), *path = temporary_path(folder, "own.safetensors"), option[300];
    fixture_own_keys(path);
    test_daemon daemon;
    snprintf(option, sizeof option, "own=%s", path);
    daemon_start(&daemon, (const char *const[]){"--model", option, NULL}, NULL);
    http_answer json = ask_at(daemon.url, "application/json", "", body, 200),
                png = ask_at(daemon.url, "image/png", "", body, 200),
                svg = ask_at(daemon.url, "image/svg+xml", "", body, 200);
    json_t *answer = http_json(&json), *maps = json_at(answer, "/attention");
    pixels p = read_png(png.body, png.size);
    srv_picture_options o = {.scale = SRV_SCALE_LINEAR, .map = SRV_CIVIDIS};
    srv_box box;
    find_panels(svg.body, &box, 1);
    size_t cell = box.height / 3;
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 5; j++)
            check_cell(&p, box.x + j * cell + (j < 3 ? 0 : 6), box.y + i * cell, cell, &o, largest(maps),
                       number_at(json_at(answer, "/attention/0"), i, j), j <= i || j >= 3);
        ck_assert(is_color(pixel(&p, box.x + 3 * cell + 3, box.y + i * cell), (srv_rgb){255, 255, 255}));
    }
    ck_assert(strstr(svg.body, ">+0</text>") && strstr(svg.body, ">+1</text>"));
    ck_assert_ptr_nonnull(strstr(svg.body, ">+ the layer's own</text>"));
    free(p.rgb);
    json_decref(answer);
    http_done(&json);
    http_done(&png);
    http_done(&svg);
    daemon_stop(&daemon);
    free(path);
    temporary_remove(folder);
}
END_TEST

/* A mean has one panel; a batch's pictures are of one sequence. */
START_TEST(means_and_sequences) {
    static const char body[] = "{\"inputs\":[[[1,0,0,0]],[[1,0,0,0],[0,1,0,0],[0,0,3,0]]]}";
    json_t *answer = api_post("/v1/attention?average_heads=1", body, 200);
    http_answer svg = ask_as("image/svg+xml", "?average_heads=1&sequence=1", body, 200),
                png = ask_as("image/png", "?average_heads=1&sequence=1", body, 200);
    json_t *map = json_at(answer, "/attention/1"), *maps = json_pack("[O]", map);
    pixels p = read_png(png.body, png.size);
    srv_picture_options o = {.scale = SRV_SCALE_LINEAR, .map = SRV_CIVIDIS};
    srv_box box;
    find_panels(svg.body, &box, 1);
    check_panel(&p, &box, map, ".........", &o, largest(maps));
    ck_assert_ptr_nonnull(strstr(svg.body, "mean of 2 heads"));
    ck_assert_ptr_nonnull(strstr(svg.body, ", sequence 1: attention"));
    free(p.rgb);
    json_decref(maps);
    json_decref(answer);
    http_done(&svg);
    http_done(&png);
}
END_TEST

/* 900 equal vectors: what is too long for a pixel a weight is pooled, not cut. */
START_TEST(long_maps_are_pooled) {
    char body[8192] = "{\"model\":\"plain\",\"inputs\":[[1]";
    for (int i = 1; i < 900; i++)
        strcat(body, ",[1]");
    strcat(body, "],\"causal\":true}");
    http_answer svg = ask_as("image/svg+xml", "", body, 200), png = ask_as("image/png", "", body, 200);
    ck_assert_ptr_nonnull(strstr(svg.body, "One pixel is the largest of 2×2 weights."));
    ck_assert(strstr(svg.body, ">850</text>") && !strstr(svg.body, ">851</text>")); /* as many as have room */
    srv_box box;
    find_panels(svg.body, &box, 1);
    ck_assert_uint_eq(box.height, 450);
    pixels p = read_png(png.body, png.size);
    /* The pool of rows 2i and 2i + 1 holds 1/(2i + 1); its diagonal's cell likewise, what lies above is masked. */
    for (size_t i = 0; i < 450; i += 50) {
        srv_picture_options o = {.scale = SRV_SCALE_LINEAR, .map = SRV_CIVIDIS};
        check_cell(&p, box.x, box.y + i, 1, &o, 1, 1.0 / (2.0 * (double)i + 1), true);
        check_cell(&p, box.x + i, box.y + i, 1, &o, 1, 1.0 / (2.0 * (double)i + 1), true);
        if (i > 0) ck_assert_int_lt(level_of(SRV_CIVIDIS, pixel(&p, box.x + i, box.y + i - 1)), 0);
    }
    free(p.rgb);
    http_done(&svg);
    http_done(&png);
    http_answer text = ask_as("text/plain", "?columns=50", body, 200);
    ck_assert_ptr_nonnull(strstr(text.body, "One cell is the largest of 22×22 weights."));
    http_done(&text);
    http_answer large = ask_as("image/png", "?cell=6", body, 413);
    api_check_problem(&large, 413, "picture_too_large");
    ck_assert_ptr_nonnull(strstr(large.body, "a smaller 'cell', fewer 'heads'"));
    http_done(&large);
}
END_TEST

START_TEST(same_bytes_every_time) {
    static const char *const types[] = {"image/png", "image/svg+xml", "text/plain", "text/csv"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const char *query = i < 3 ? "?title=%E7%8C%AB" : "?sequence=0"; /* CSV has no title */
        http_answer first = ask_as(types[i], query, drawn[0].body, 200),
                    second = ask_as(types[i], query, drawn[0].body, 200);
        ck_assert_uint_eq(first.size, second.size);
        ck_assert_mem_eq(first.body, second.body, first.size);
        http_done(&first);
        http_done(&second);
    }
}
END_TEST

/* Labels of every kind. U+0000 to U+001F, markup, directions, joined and wide characters, 10 kB. */
static char *hostile_body(void) {
    static const char *const labels[] = {
        "<script>alert(1)</script>", "]]>&amp;\\\"'", "\\u0000\\u001b[31m\\n\\t\\r",
        "القطة \\u202e \\u2066x",    "猫猫",          "e\\u0301\\u0301👩\\u200d👧",
        "\\ufffe\\uffff\\ufdd0",     " the",          ""};
    char *body = malloc(32768);
    char *at = body + sprintf(body, "{\"model\":\"plain\",\"causal\":true,\"inputs\":[[1]");
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        at += sprintf(at, ",[%zu]", i);
    at += sprintf(at, "],\"tokens\":[\"");
    memset(at, 'x', 10000);
    at += sprintf(at + 10000, "\"") + 10000;
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        at += sprintf(at, ",\"%s\"", labels[i]);
    sprintf(at, "]}");
    return body;
}

/* What an XML parser makes of it: the texts, one a line. */
static char *texts_of(const char *svg, size_t size) {
    static const char *const parse[] = {
        "/usr/bin/python3", "-c",
        "import sys, xml.etree.ElementTree as tree\n"
        "root = tree.fromstring(sys.stdin.buffer.read())\n"
        "assert root.tag == '{http://www.w3.org/2000/svg}svg', root.tag\n"
        "names = {element.tag.split('}')[1] for element in root.iter()}\n"
        "assert names == {'svg', 'title', 'rect', 'path', 'image', 'text'}, names\n"
        "sys.stdout.buffer.write('\\n'.join(e.text or '' for e in root.iter() if "
        "e.tag.endswith('}text')).encode())\n",
        NULL};
    process_result result = process_run(parse, NULL, svg, size);
    ck_assert_msg(result.code == 0, "not the SVG that it should be: %s", result.errors);
    char *texts = strdup(result.output);
    process_result_done(&result);
    return texts;
}

START_TEST(no_label_breaks_a_picture) {
    char *body = hostile_body();
    http_answer svg = ask_as("image/svg+xml", "?title=%3Cb%3E%26%00&caption=%3C!--", body, 422);
    http_done(&svg); /* %00 stands in no query */
    svg = ask_as("image/svg+xml", "?title=%3Cb%3E%26%1b&caption=%3C!--", body, 200);
    char *texts = texts_of(svg.body, svg.size);
    static const char *const shown[] = {"\n<script>alert(1)</s…\n",
                                        "\n]]>&amp;\"'\n",
                                        "\n\xef\xbf\xbd\xef\xbf\xbd[31m⏎⇥⏎\n",
                                        "\n猫猫\n",
                                        "\n␣the\n",
                                        "\n<!--",
                                        "<b>&\xef\xbf\xbd\n",
                                        "…\n"};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        ck_assert_msg(strstr(texts, shown[i]) || (strncmp(texts, shown[i] + 1, strlen(shown[i]) - 1) == 0),
                      "%s is not among the texts:\n%s", shown[i], texts);
    free(texts);
    http_done(&svg);
    http_answer png = ask_as("image/png", "", body, 200);
    pixels p = read_png(png.body, png.size);
    ck_assert(p.width < 1200 && p.height < 900);
    free(p.rgb);
    http_done(&png);
    http_answer text = ask_as("text/plain", "?columns=40", body, 200);
    for (size_t i = 0; i < text.size; i++)
        ck_assert_msg((unsigned char)text.body[i] >= ' ' || text.body[i] == '\n', "control character %d",
                      text.body[i]);
    ck_assert_ptr_null(strstr(text.body, "\xe2\x80\xae"));
    http_done(&text);
    free(body);
}
END_TEST

/* No line is wider than asked for, colour or not, and colour alone has escape codes. */
START_TEST(characters_fit_the_terminal) {
    for (int columns = 20; columns <= 120; columns += 25) {
        char query[64];
        snprintf(query, sizeof query, "?columns=%d&caption=stats", columns);
        http_answer text = ask_as("text/plain", query, drawn[0].body, 200);
        for (char *rest = text.body, *line; (line = strsep(&rest, "\n"));)
            ck_assert_msg(srv_label_columns(line) <= (size_t)columns, "%d: %s", columns, line);
        http_done(&text);
    }
    http_answer colored = ask_as("text/plain", "?color=1", drawn[0].body, 200);
    /* The legend's ends are those of a PNG: from white to dark. */
    char ends[2][40];
    for (size_t i = 0; i < 2; i++) {
        srv_rgb c = srv_color_on_white(SRV_CIVIDIS, i * (SRV_LEVELS - 1));
        snprintf(ends[i], sizeof ends[i], i == 0 ? "\n0 [\x1b[48;2;%d;%d;%dm" : "\x1b[48;2;%d;%d;%dm", c.r,
                 c.g, c.b);
        ck_assert_ptr_nonnull(strstr(colored.body, ends[i]));
    }
    api_check_header(&colored, "Content-Type", "text/plain; charset=utf-8");
    http_done(&colored);
}
END_TEST

START_TEST(characters_hold_the_weights) {
    http_answer text = ask_as("text/plain", "?title=T",
                              "{\"model\":\"plain\",\"inputs\":[[30,0],[0,30],[0,0]],\"causal\":true,"
                              "\"tokens\":[\"a\",\"b\",\"c\"]}",
                              200);
    static const char want[] = "T\n\nhead 0\n     0  keys\n0 a |@@////|\n1 b |  @@//|\n2 c |------|\n\n"
                               "0 [ .:-=+*#%@] 1\n/ masked\nWeights after the softmax, linear from 0 to 1.\n";
    ck_assert_str_eq(text.body, want);
    http_done(&text);
    text = ask_as("text/plain", "?title=T",
                  "{\"model\":\"plain\",\"inputs\":[[1],[1]],\"attention_mask\":[[0,0],[1,0]]}", 200);
    ck_assert_ptr_nonnull(strstr(text.body, "0 |////| ∅\n1 |@@//|\n"));
    ck_assert_ptr_nonnull(strstr(text.body, "1 query sees no key."));
    http_done(&text);
}
END_TEST

START_TEST(tables_hold_the_weights) {
    http_answer csv = ask_as(
        "text/csv", "?heads=1&precision=3",
        "{\"inputs\":[[1,0,0,0],[0,1,0,0]],\"causal\":true,\"tokens\":[\"a,\\\"b\\\"\",\"<x>\"]}", 200);
    ck_assert_str_eq(csv.body, "sequence,head,query,key,query_token,key_token,weight\r\n"
                               "0,1,0,0,\"a,\"\"b\"\"\",\"a,\"\"b\"\"\",1\r\n"
                               "0,1,0,1,\"a,\"\"b\"\"\",<x>,0\r\n"
                               "0,1,1,0,<x>,\"a,\"\"b\"\"\",0.511\r\n"
                               "0,1,1,1,<x>,<x>,0.489\r\n");
    api_check_header(&csv, "Content-Type", "text/csv; charset=utf-8");
    http_done(&csv);
    csv = ask_as("text/csv", "?average_heads=1&queries=1&sequence=1&precision=3",
                 "{\"inputs\":[[[1,0,0,0],[1,0,0,0]],[[1,0,0,0],[1,0,0,0]]]}", 200);
    ck_assert_str_eq(strchr(csv.body, '\n') + 1, "1,,1,0,,,0.5\r\n1,,1,1,,,0.5\r\n");
    http_done(&csv);
    csv = ask_as("text/csv", "?model=plain",
                 "{\"inputs\":[[1],[1]],\"tokens\":[\"a\\nb\",\"a\\rb\"],\"causal\":true}", 200);
    ck_assert_str_eq(strchr(csv.body, '\n') + 1,
                     "0,0,0,0,\"a\nb\",\"a\nb\",1\r\n0,0,0,1,\"a\nb\",\"a\rb\",0\r\n"
                     "0,0,1,0,\"a\rb\",\"a\nb\",0.5\r\n0,0,1,1,\"a\rb\",\"a\rb\",0.5\r\n");
    http_done(&csv);
}
END_TEST

START_TEST(captions_carry_statistics) {
    http_answer svg =
        ask_as("image/svg+xml", "?caption=stats",
               "{\"model\":\"plain\",\"inputs\":[[1],[1]],\"causal\":true,\"tokens\":[\"a\",\"a\"]}", 200);
    static const char *const said[] = {">head 0: entropy 0.347, confidence 0.75, distance 0.25, sink 0.75,<",
                                       ">previous 0.5, current 0.75, induction 0.25<",
                                       ">Attention is not an explanation by itself.<"};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        ck_assert_msg(strstr(svg.body, said[i]) != NULL, "no %s", said[i]);
    http_done(&svg);
}
END_TEST

/* Accept, query, status, code, and where. */
static const struct {
    const char *type, *query;
    long status;
    const char *code, *parameter;
} refused[] = {
    {"application/json", "?cell=3", 422, "bad_parameter", "cell"},
    {"application/json", "?sequence=0", 422, "bad_parameter", "sequence"},
    {"image/png", "?cell=0", 422, "out_of_range", "cell"},
    {"image/png", "?cell=x", 422, "out_of_range", "cell"},
    {"image/png", "?sequence=1", 422, "out_of_range", "sequence"},
    {"image/svg+xml", "?color_map=jet", 422, "out_of_range", "color_map"},
    {"image/svg+xml", "?color_scale=Log", 422, "out_of_range", "color_scale"},
    {"text/plain", "?columns=19", 422, "out_of_range", "columns"},
    {"text/plain", "?color=yes", 422, "out_of_range", "color"},
    {"text/csv", "?attention=0", 422, "conflict", "attention"},
    {"image/png", "?top_k=1", 422, "conflict", "top_k"},
    {"image/png", "?sise=1", 422, "unknown_field", "sise"},
};

/* What has no effect on an answer is refused, with the types of those on which it has one. */
static const struct {
    const char *type, *query, *detail;
} ineffective[] = {
    {"application/json", "?color_scale=log",
     "'color_scale' has no effect on this answer, application/json: send Accept: image/png, image/svg+xml or "
     "text/plain"},
    {"application/json", "?sequence=0",
     "'sequence' has no effect on this answer, application/json: send Accept: image/png, image/svg+xml, "
     "text/plain or "
     "text/csv"},
    {"application/x-npy", "?caption=x",
     "'caption' has no effect on this answer, application/x-npy: send Accept: image/png, image/svg+xml or "
     "text/plain"},
    {"image/png", "?columns=60",
     "'columns' has no effect on this answer, image/png: send Accept: text/plain"},
    {"image/svg+xml", "?color=1",
     "'color' has no effect on this answer, image/svg+xml: send Accept: text/plain"},
    {"text/plain", "?cell=3",
     "'cell' has no effect on this answer, text/plain: send Accept: image/png or image/svg+xml"},
    {"text/csv", "?color_map=grey",
     "'color_map' has no effect on this answer, text/csv: send Accept: image/png, image/svg+xml or "
     "text/plain"},
    {"text/csv", "?title=x",
     "'title' has no effect on this answer, text/csv: send Accept: image/png, image/svg+xml or text/plain"},
    {"image/png", "?tensor=outputs",
     "'tensor' has no effect on this answer, image/png: send Accept: application/x-npy"},
};

START_TEST(ineffective_parameters_are_refused) {
    http_answer answer = ask_as(ineffective[_i].type, ineffective[_i].query, drawn[0].body, 422);
    api_check_problem(&answer, 422, "bad_parameter");
    json_t *problem = http_json(&answer);
    ck_assert_str_eq(json_string_value(json_object_get(problem, "detail")), ineffective[_i].detail);
    json_decref(problem);
    http_done(&answer);
}
END_TEST

START_TEST(refusals) {
    http_answer answer = ask_as(refused[_i].type, refused[_i].query, drawn[0].body, refused[_i].status);
    api_check_problem(&answer, refused[_i].status, refused[_i].code);
    json_t *problem = http_json(&answer);
    ck_assert_str_eq(json_string_value(json_object_get(problem, "parameter")), refused[_i].parameter);
    json_decref(problem);
    http_done(&answer);
}
END_TEST

START_TEST(accept_chooses) {
    static const struct {
        const char *accept, *type;
    } choices[] = {
        {"*/*", "application/json"},
        {"image/*", "image/png"},
        {"text/*;q=0.5, image/svg+xml;q=0.7", "image/svg+xml"},
        {"application/json;q=0.1, text/csv", "text/csv; charset=utf-8"},
    };
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        http_answer answer = ask_as(choices[i].accept, "", drawn[0].body, 200);
        api_check_header(&answer, "Content-Type", choices[i].type);
        http_done(&answer);
    }
}
END_TEST

ATTND_SUITE(pictures) {
    Suite *suite = suite_create("pictures");
    TCase *tests = api_case(suite, "pictures");
    tcase_add_loop_test(tests, cells_hold_the_weights, 0, sizeof drawn / sizeof *drawn);
    tcase_add_loop_test(tests, numbers_stand_beside_their_colours, 0, sizeof looks / sizeof *looks);
    tcase_add_test(tests, few_queries_stay_apart);
    tcase_add_test(tests, own_keys_stand_apart);
    tcase_add_test(tests, means_and_sequences);
    tcase_add_test(tests, long_maps_are_pooled);
    tcase_add_test(tests, same_bytes_every_time);
    tcase_add_test(tests, no_label_breaks_a_picture);
    tcase_add_test(tests, characters_fit_the_terminal);
    tcase_add_test(tests, characters_hold_the_weights);
    tcase_add_test(tests, tables_hold_the_weights);
    tcase_add_test(tests, captions_carry_statistics);
    tcase_add_loop_test(tests, refusals, 0, sizeof refused / sizeof *refused);
    tcase_add_loop_test(tests, ineffective_parameters_are_refused, 0,
                        (int)(sizeof ineffective / sizeof *ineffective));
    tcase_add_test(tests, accept_chooses);
    suite_add_tcase(suite, tests);
    return suite;
}
