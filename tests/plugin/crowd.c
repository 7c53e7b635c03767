// A plugin that uses every group of the interface. It tries what can be tried at once when it loads, and says which line failed.
//
//     walker    walks at random, until it gets tired: a command, and an event
//     tired     rests for two frames; then a command makes another walker
//     census    one entity counts what events and observers tell

#include "shoal/plugin/shoal_abi.h"

#include <stdio.h>
#include <string.h>

typedef struct walker {
    float x;
    uint32_t steps;
} walker;

static struct {
    const shoal_host* host;
    shoal_world* world;
    const shoal_component *walker, *tired, *census;
    shoal_entity clerk;
    shoal_channel* falls;
} g; /* a test loads it into one world at a time */

static void add_to_census(const char* field, uint64_t count) {
    uint64_t value = 0;
    g.host->get_field(g.world, g.clerk, field, &value, sizeof(value), NULL);
    value += count;
    g.host->set_field(g.world, g.clerk, field, &value, sizeof(value), NULL);
}

/* --- passes --- */
static void walk(void* context, const shoal_pass* pass, const shoal_batch* batch) {
    uint32_t i;
    (void)context;
    for (i = 0; i < batch->num_rows; ++i) {
        float* const x = (float*)shoal_write(batch->columns[0], i);
        uint64_t generator = g.host->random_for_key(pass, batch->entities[i]);
        *x += g.host->random_unit(&generator);
        *(uint32_t*)shoal_write(batch->columns[1], i) += 1;
        if (*x < 3) continue;
        *x = 0;
        g.host->command_add(pass->commands, batch->entities[i], g.tired, &pass->frame);
        g.host->command_tag(pass->commands, batch->entities[i], "weary");
        g.host->write_events(g.world, g.falls, &batch->entities[i], 1);
    }
}

static void rest(void* context, const shoal_pass* pass, const shoal_batch* batch) {
    uint32_t i;
    (void)context;
    for (i = 0; i < batch->num_rows; ++i) {
        const walker child = {0.5f, 0};
        shoal_entity born;
        if (*(const uint64_t*)shoal_read(batch->columns[0], i) + 2 > pass->frame) continue;
        if (batch->entities[i] % 7 == 0) {
            g.host->command_destroy(pass->commands, batch->entities[i]);
            continue;
        }
        g.host->command_remove(pass->commands, batch->entities[i], g.tired);
        g.host->command_untag(pass->commands, batch->entities[i], "weary");
        born = g.host->command_create(pass->commands);
        g.host->command_add(pass->commands, born, g.walker, &child);
    }
}

static void count(void* context, const shoal_pass* pass, const shoal_batch* batch) {
    const void* events = NULL;
    (void)context, (void)pass;
    if (batch->num_rows != 0) return;
    add_to_census("census.events", g.host->read_events(g.world, g.falls, &events));
    add_to_census("census.events_last", g.host->read_last_events(g.world, g.falls, &events));
}

/* --- observers --- */
static void on_tired(void* context, const shoal_change* change) {
    (void)context;
    add_to_census("census.tired", change->num_entities);
}
static void on_rested(void* context, const shoal_change* change) {
    uint32_t i;
    (void)context;
    add_to_census("census.rested", change->num_entities);
    for (i = 0; i < change->num_entities; ++i)
        add_to_census("census.since", ((const uint64_t*)change->values_before)[i]);
}
static void on_step(void* context, const shoal_change* change) {
    (void)context;
    add_to_census("census.steps", change->num_entities);
}

/* --- loading --- */
#define EXPECT(holds)                                                                                         \
    do {                                                                                                      \
        if (!(holds)) {                                                                                       \
            if (error != NULL && error->text[0] == 0) snprintf(error->text, 500, "%d: %s", __LINE__, #holds); \
            return 0;                                                                                         \
        }                                                                                                     \
    } while (0)

static int declare_all(shoal_error* error) {
    static const shoal_field of_walker[] = {
        {sizeof(shoal_field), SHOAL_FLOAT, "x", "m", NULL, 0, 0, 0, 0, NULL, 0, 0},
        {sizeof(shoal_field), SHOAL_UINT32, "steps", NULL, NULL, 0, 0, 0, 0, NULL, 0, 0}};
    static const shoal_field of_tired[] = {
        {sizeof(shoal_field), SHOAL_UINT64, "since", NULL, NULL, 0, 0, 0, 0, NULL, 0, 0}};
    static const shoal_field of_census[] = {
        {sizeof(shoal_field), SHOAL_UINT64, "events", NULL, NULL, 0, 0, 0, 0, NULL, 0, 0},
        {sizeof(shoal_field), SHOAL_UINT64, "events_last", NULL, NULL, 0, 0, 0, 0, NULL, 0, 0},
        {sizeof(shoal_field), SHOAL_UINT64, "tired", NULL, NULL, 0, 0, 0, 0, NULL, 0, 0},
        {sizeof(shoal_field), SHOAL_UINT64, "rested", NULL, NULL, 0, 0, 0, 0, NULL, 0, 0},
        {sizeof(shoal_field), SHOAL_UINT64, "since", NULL, NULL, 0, 0, 0, 0, NULL, 0, 0},
        {sizeof(shoal_field), SHOAL_UINT64, "steps", NULL, NULL, 0, 0, 0, 0, NULL, 0, 0}};
    static const shoal_schema schemas[] = {{sizeof(shoal_schema), 1, "walker", of_walker, 2, 0},
                                           {sizeof(shoal_schema), 1, "tired", of_tired, 1, 0},
                                           {sizeof(shoal_schema), 1, "census", of_census, 6, SHOAL_WHOLE}};
    EXPECT((g.walker = g.host->declare_component(g.world, &schemas[0], error)) != NULL);
    EXPECT((g.tired = g.host->declare_component(g.world, &schemas[1], error)) != NULL);
    EXPECT((g.census = g.host->declare_component(g.world, &schemas[2], error)) != NULL);
    EXPECT(g.host->find_component(g.world, "walker", error) == g.walker);
    EXPECT(g.host->image_bytes(g.world, g.walker) == sizeof(walker));
    return 1;
}

static void sum(void* context, const shoal_pass* pass, const shoal_batch* batch) {
    uint32_t i;
    for (i = 0; i < batch->num_rows; ++i) *(double*)context += *(const float*)shoal_read(batch->columns[0], i);
    g.host->command_create(pass->commands); /* outside of passes, too */
}
static void mark(void* context, uint32_t begin, uint32_t end) {
    while (begin < end) ((unsigned char*)context)[begin++] += 1;
}

static int try_rows(shoal_error* error) {
    const walker images[3] = {{1, 0}, {2, 0}, {4, 0}};
    shoal_entity made[3];
    float x = 8;
    double total = 0;
    static const char* const columns[] = {"walker.x"};
    shoal_query* query;
    EXPECT(g.host->create_entities(g.world, made, 3, error));
    EXPECT(g.host->add_rows(g.world, g.walker, made, 3, images, sizeof(walker), error));
    EXPECT(g.host->has_component(g.world, g.walker, made[2]) && !g.host->has_component(g.world, g.tired, made[2]));
    EXPECT(g.host->get_field(g.world, made[1], "walker.x", &x, sizeof(x), error) && x == 2);
    x = 16;
    EXPECT(g.host->set_field(g.world, made[1], "walker.x", &x, sizeof(x), error));
    EXPECT((query = g.host->make_query(g.world, "walker", columns, 1, error)) != NULL);
    EXPECT(g.host->num_rows(g.world, query) == 3);
    g.host->for_each_batch(g.world, query, 0, sum, &total, error);
    EXPECT(total == 21);
    g.host->destroy_query(g.world, query, error);
    EXPECT(g.host->remove_rows(g.world, g.walker, made, 3, error));
    EXPECT(!g.host->has_component(g.world, g.walker, made[0]));
    EXPECT(g.host->destroy_entities(g.world, made, 3) == 3 && !g.host->is_alive(g.world, made[0]));
    return 1;
}

static int try_others(shoal_error* error) {
    unsigned char marks[5000] = {0};
    uint64_t id = 0, generator = 3, again = 3;
    char text[6];
    uint32_t i;
    EXPECT(g.host->string_id(g.world, "promenade", &id, error));
    EXPECT(g.host->string_text(g.world, id, text, sizeof(text)) == 9 && strcmp(text, "prome") == 0);
    g.host->for_rows(g.world, NULL, sizeof(marks), mark, marks);
    for (i = 0; i < sizeof(marks); ++i) EXPECT(marks[i] == 1);
    EXPECT(g.host->random_next(&generator) == g.host->random_next(&again) && generator == again);
    g.host->log(g.world, SHOAL_LOG_NOTE, "the crowd is there");
    return 1;
}

static int add_passes(shoal_error* error) {
    static const char* const of_walkers[] = {"walker.x", "walker.steps"};
    static const char* const of_tired[] = {"tired.since"};
    static const char* const falls[] = {"falls"};
    static const char* const census[] = {"census"};
    static const char* const walks[] = {"walk"};
    shoal_pass_definition to_walk = {.size = sizeof(to_walk), .name = "walk", .query = "&walker, !tired", .run = walk};
    shoal_pass_definition to_rest = {.size = sizeof(to_rest), .name = "rest", .query = "tired, walker", .run = rest};
    shoal_pass_definition to_count = {.size = sizeof(to_count), .name = "count", .run = count};
    to_walk.columns = of_walkers, to_walk.num_columns = 2;
    to_walk.writes_to = falls, to_walk.num_writes_to = 1;
    to_rest.columns = of_tired, to_rest.num_columns = 1;
    to_rest.runs_before = walks, to_rest.num_runs_before = 1;
    to_count.writes = census, to_count.num_writes = 1;
    to_count.reads_from = falls, to_count.num_reads_from = 1;
    EXPECT((g.falls = g.host->open_channel(g.world, "falls", sizeof(shoal_entity), error)) != NULL);
    EXPECT(g.host->add_pass(g.world, &to_walk, error));
    EXPECT(g.host->add_pass(g.world, &to_rest, error));
    EXPECT(g.host->add_pass(g.world, &to_count, error));
    return 1;
}

static int add_observers(shoal_error* error) {
    uint32_t observer;
    EXPECT(g.host->add_observer(g.world, SHOAL_ON_ADD, g.tired, NULL, on_tired, NULL, error));
    EXPECT(g.host->add_observer(g.world, SHOAL_ON_REMOVE, g.tired, NULL, on_rested, NULL, error));
    EXPECT(g.host->add_observer(g.world, SHOAL_ON_CHANGE, g.walker, "steps", on_step, NULL, error));
    EXPECT((observer = g.host->add_observer(g.world, SHOAL_ON_ADD, g.tired, NULL, on_tired, NULL, error)) != 0);
    g.host->remove_observer(g.world, observer, error);
    return 1;
}

static int load(const shoal_host* host, shoal_world* world, void** state, shoal_error* error) {
    shoal_entity walkers[3000];
    (void)state;
    memset(&g, 0, sizeof(g));
    g.host = host, g.world = world;
    if (!declare_all(error) || !try_rows(error) || !try_others(error)) return 0;
    EXPECT(host->create_entities(world, &g.clerk, 1, error) && host->create_entities(world, walkers, 3000, error));
    EXPECT(host->add_rows(world, g.census, &g.clerk, 1, NULL, 0, error));
    EXPECT(host->add_rows(world, g.walker, walkers, 3000, NULL, 0, error));
    return add_passes(error) && add_observers(error);
}

SHOAL_PLUGIN_EXPORT const shoal_plugin* shoal_plugin_entry(void) {
    static const shoal_plugin plugin = {SHOAL_PLUGIN_HEAD, "crowd", "1.0", NULL, 0, 0, load, NULL};
    return &plugin;
}
