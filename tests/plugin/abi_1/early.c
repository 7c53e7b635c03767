// A plugin that was built with the first version of the interface, whose header lies beside it and does not change. It has one of
// each: a type with fields of most kinds, a store, a pass with commands and events, a reaction, a query and a verb.

#include "shoal_abi.h"

#include <stdio.h>
#include <string.h>

typedef struct lamp {
    float watts;
    uint8_t mood;
    shoal_entity socket;
} lamp;

static struct {
    const shoal_host* host;
    shoal_world* world;
    const shoal_component *lamp, *socket;
    shoal_channel* dark;
    uint32_t num_added;
} g;

/* A store of one row. */
static shoal_entity g_owner[16];
static float g_place[32];

static int create(void* context, const shoal_entity* entities, uint32_t count, const void* images, size_t stride,
                  shoal_error* error) {
    (void)context, (void)error;
    for (uint32_t i = 0; i < count; ++i) {
        g_owner[0] = entities[i];
        memcpy(context, (const char*)images + i * stride, sizeof(float));
    }
    return 1;
}
static uint32_t destroy(void* context, const shoal_entity* entities, uint32_t count) {
    uint32_t num_gone = 0;
    (void)context;
    for (uint32_t i = 0; i < count; ++i)
        if (entities[i] == g_owner[0]) g_owner[0] = 0, ++num_gone;
    return num_gone;
}
static void show(void* context, shoal_rows* rows) {
    static void* columns[1];
    columns[0] = context;
    rows->num_rows = g_owner[0] != 0;
    rows->entities = g_owner;
    rows->columns = columns;
}
static uint32_t first(void* context, shoal_entity entity) {
    (void)context;
    return entity != 0 && entity == g_owner[0] ? 0 : SHOAL_NO_ROW;
}

static void dim(void* context, const shoal_pass* pass, const shoal_batch* batch) {
    (void)context;
    for (uint32_t i = 0; i < batch->num_rows; ++i) {
        float* const watts = (float*)shoal_write(batch->columns[0], i);
        if ((*watts -= pass->dt) > 0) continue;
        g.host->write_events(g.world, g.dark, &batch->entities[i], 1);
        g.host->command_remove(pass->commands, batch->entities[i], g.lamp);
    }
}

static void on_add(void* context, const shoal_change* change) { *(uint32_t*)context += change->num_entities; }

static int say(void* context, const shoal_verb_call* call, shoal_error* error) {
    char text[64];
    (void)context, (void)error;
    snprintf(text, sizeof(text), "%u lamps were lit\n", g.num_added);
    call->print(call, text);
    return 1;
}

static int declare(shoal_error* error) {
    static const shoal_enumerator moods[] = {{"warm", 0}, {"cold", 7}};
    static const shoal_field fields[] = {
        {.size = sizeof(shoal_field), .type = SHOAL_FLOAT, .name = "watts"},
        {.size = sizeof(shoal_field),
         .type = SHOAL_ENUM,
         .name = "mood",
         .value_bytes = 1,
         .enumerators = moods,
         .num_enumerators = 2},
        {.size = sizeof(shoal_field), .type = SHOAL_ENTITY, .name = "socket", .flags = SHOAL_RELATION | SHOAL_CLEARED}};
    static const shoal_field arrays[] = {
        {.size = sizeof(shoal_field), .type = SHOAL_BLOB_ARRAY, .name = "notes", .element_type = SHOAL_UINT8}};
    const shoal_schema lamps = {.size = sizeof(lamps), .version = 1, .name = "lamp", .fields = fields, .num_fields = 3};
    const shoal_schema sockets = {
        .size = sizeof(sockets), .version = 1, .name = "socket", .fields = fields, .num_fields = 1};
    const shoal_schema scores = {
        .size = sizeof(scores), .version = 1, .name = "score", .fields = arrays, .num_fields = 1};
    shoal_store store = {.size = sizeof(store), .create = create, .destroy = destroy, .show = show, .first = first};
    store.context = (void*)(((size_t)g_place + 63) / 64 * 64);
    g.lamp = g.host->declare_component(g.world, &lamps, error);
    g.socket = g.host->add_store(g.world, &sockets, &store, error);
    return g.lamp != NULL && g.socket != NULL && g.host->declare_component(g.world, &scores, error) != NULL;
}

static int load(const shoal_host* host, shoal_world* world, void** state, shoal_error* error) {
    static const char* const columns[] = {"lamp.watts"};
    static const char* const channels[] = {"dark"};
    static const shoal_verb verb = {.size = sizeof(verb), .name = "lamps", .run = say};
    shoal_pass_definition pass = {.size = sizeof(pass), .name = "dim", .query = "&lamp", .run = dim};
    (void)state;
    g.host = host, g.world = world;
    pass.columns = columns, pass.num_columns = 1, pass.writes_to = channels, pass.num_writes_to = 1;
    return declare(error) && (g.dark = host->open_channel(world, "dark", sizeof(shoal_entity), error)) != NULL &&
           host->add_pass(world, &pass, error) &&
           host->add_reaction(world, SHOAL_ON_ADD, g.lamp, NULL, on_add, &g.num_added, error) != 0 &&
           host->add_verb(world, &verb, error);
}

SHOAL_PLUGIN_EXPORT const shoal_plugin* shoal_plugin_entry(void) {
    static const shoal_plugin plugin = {SHOAL_PLUGIN_HEAD, "early", "1.0", NULL, 0, 0, load, NULL};
    return &plugin;
}
