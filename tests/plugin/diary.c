// Versions of a plugin that says in the log what is done with it: 1 works, 2 fails to load behind all that it has done,
// 3 has a pass that comes behind one that nobody has, 4 loads once and not again, 5 looks at the store of the plugin
// "stock", 6 depends on two others, and 7 saves pages, and no lines. It has two stores without fields, "page" and
// "line", and two verbs.

#include "shoal/plugin/shoal_abi.h"

#include <stdio.h>
#include <string.h>

#define MOST 64

typedef struct list {
    uint32_t num_rows;
    shoal_entity owners[MOST];
} list;

static struct {
    const shoal_host* host;
    list pages, lines;
    int number;
} g;

static uint32_t first(void* context, shoal_entity entity) {
    const list* const in = (const list*)context;
    uint32_t row;
    for (row = 0; row < in->num_rows; ++row)
        if (in->owners[row] == entity) return row;
    return SHOAL_NO_ROW;
}

static int create(void* context, const shoal_entity* entities, uint32_t count, const void* images, size_t stride,
                  shoal_error* error) {
    list* const to = (list*)context;
    uint32_t i;
    (void)images, (void)stride, (void)error;
    for (i = 0; i < count; ++i)
        if (first(to, entities[i]) == SHOAL_NO_ROW) to->owners[to->num_rows++] = entities[i];
    return 1;
}

static uint32_t destroy(void* context, const shoal_entity* entities, uint32_t count) {
    list* const from = (list*)context;
    uint32_t i, row, num_gone = 0;
    for (i = 0; i < count; ++i)
        if ((row = first(from, entities[i])) != SHOAL_NO_ROW)
            from->owners[row] = from->owners[--from->num_rows], ++num_gone;
    return num_gone;
}

static void show(void* context, shoal_rows* rows) {
    rows->num_rows = ((list*)context)->num_rows;
    rows->entities = ((list*)context)->owners;
}

static int save(void* context, shoal_writer* writer, shoal_error* error) {
    if (context == &g.lines) return strcpy(error->text, "lines are not saved"), 0;
    return g.host->write_bytes(writer, context, sizeof(list));
}

static int load_rows(void* context, const void* bytes, size_t num_bytes, uint32_t version, shoal_error* error) {
    (void)version, (void)error;
    if (num_bytes != sizeof(list)) return 0;
    memcpy(context, bytes, num_bytes);
    return 1;
}

static int add_store(shoal_world* world, const char* name, list* rows, shoal_error* error) {
    const shoal_schema schema = {sizeof(schema), 1, name, NULL, 0, 0};
    shoal_store store = {.size = sizeof(store), .create = create, .destroy = destroy, .show = show, .first = first};
    store.context = rows;
    if (DIARY == 7) store.save = save, store.load = load_rows;
    return g.host->add_store(world, &schema, &store, error) != NULL;
}

static void nothing(void* context, const shoal_pass* pass, const shoal_batch* batch) {
    (void)context, (void)pass, (void)batch;
}

static int add_pass(shoal_world* world, shoal_error* error) {
    static const char* const nobody[] = {"nobody"};
    shoal_pass_definition pass = {.size = sizeof(pass), .name = "note", .run = nothing};
    if (DIARY == 3) pass.runs_after = nobody, pass.num_runs_after = 1;
    return g.host->add_pass(world, &pass, error);
}

static int say(void* context, const shoal_verb_call* call, shoal_error* error) {
    (void)error;
    call->print(call, (const char*)context);
    return 1;
}

static int add_verb(shoal_world* world, const char* name, shoal_error* error) {
    shoal_verb verb = {.size = sizeof(verb), .name = name, .run = say};
    verb.context = (void*)name;
    return g.host->add_verb(world, &verb, error);
}

static int load(const shoal_host* host, shoal_world* world, void** state, shoal_error* error) {
    static int num_loads = 0;
    char text[40];
    if (*state != NULL) return strcpy(error->text, "there is the state of a load before"), 0;
    if (DIARY == 4 && num_loads++ > 0) return strcpy(error->text, "the fourth loads once"), 0;
    memset(&g, 0, sizeof(g));
    g.host = host, g.number = DIARY;
    *state = &g.number;
    snprintf(text, sizeof(text), "load of %d", DIARY);
    host->log(world, SHOAL_LOG_NOTE, text);
    if (DIARY == 5) return host->make_query(world, "item", NULL, 0, error) != NULL;
    if (!add_store(world, "page", &g.pages, error) || !add_store(world, "line", &g.lines, error)) return 0;
    if (!add_pass(world, error) || !add_verb(world, "read", error) || !add_verb(world, "tear", error)) return 0;
    return DIARY == 2 ? (strcpy(error->text, "the second never loads"), 0) : 1;
}

static void unload(shoal_world* world, void* state) {
    char text[40];
    snprintf(text, sizeof(text), "unload of %d", state == &g.number ? *(int*)state : -1);
    g.host->log(world, SHOAL_LOG_ERROR + 5, text);
}

SHOAL_PLUGIN_EXPORT const shoal_plugin* shoal_plugin_entry(void) {
    static const char* const needs[] = {"wheels", "flour"};
    static const shoal_plugin plugin = {SHOAL_PLUGIN_HEAD, "diary", "1.0", needs, DIARY == 6 ? 2 : 0, 0, load, unload};
    return &plugin;
}
