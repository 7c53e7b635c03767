// Plugins with one fault each, which a definition of the compiler chooses, and one that has none but depends on another.

#include "shoal/plugin/shoal_abi.h"

static const shoal_host* g_host; /* a test's plugin is loaded into one world */

static void nothing(void* context, const shoal_pass* pass, const shoal_batch* batch) {
    (void)context, (void)pass, (void)batch;
}

static int declare(shoal_world* world, shoal_error* error) {
    static const shoal_field fields[] = {
        {sizeof(shoal_field), SHOAL_VEC3, "place", NULL, NULL, 0, 0, SHOAL_SPLIT, 0, NULL, 0, 0},
#ifdef BAD_TYPE
        {sizeof(shoal_field), 99, "odd", NULL, NULL, 0, 0, 0, 0, NULL, 0, 0}};
#else
        {sizeof(shoal_field), SHOAL_FLOAT, "odd", NULL, NULL, 0, 0, 0, 0, NULL, 0, 0}};
#endif
    static const shoal_schema thing = {sizeof(shoal_schema), 1, "thing", fields, 2, 0};
    return g_host->declare_component(world, &thing, error) != NULL;
}

static int add_pass(shoal_world* world, shoal_error* error) {
    static const char* const whole[] = {"thing.place"};
    static const char* const unknown[] = {"thing.plaice"};
    static const char* const nobody[] = {"nobody"};
    shoal_pass_definition pass = {.size = sizeof(pass), .name = "broken", .query = "&thing", .run = nothing};
    (void)whole, (void)unknown, (void)nobody;
#if defined(NO_FUNCTION)
    pass.run = NULL;
#elif defined(BAD_QUERY)
    pass.query = "&thing, !thong";
#elif defined(BAD_COLUMN)
    pass.columns = unknown, pass.num_columns = 1;
#elif defined(SPLIT_COLUMN)
    pass.columns = whole, pass.num_columns = 1;
#elif defined(TAKEN_PASS)
    pass.name = "turn";
#elif defined(NO_ORDER)
    pass.runs_after = nobody, pass.num_runs_after = 1;
#elif defined(BAD_CHANNEL)
    pass.writes_to = nobody, pass.num_writes_to = 1;
#elif defined(UNKNOWN_READ)
    pass.reads = nobody, pass.num_reads = 1;
#endif
    return g_host->add_pass(world, &pass, error);
}

#ifdef MISSING_SYMBOL
int a_function_that_nobody_has(void);
#endif

static int load(const shoal_host* host, shoal_world* world, void** state, shoal_error* error) {
    shoal_entity made;
    (void)state;
    g_host = host;
#ifdef MISSING_SYMBOL
    if (a_function_that_nobody_has()) return 0;
#endif
    if (!host->create_entities(world, &made, 1, error) || !declare(world, error) || !add_pass(world, error)) return 0;
#ifdef FAILS
    return 0;
#else
    return 1;
#endif
}

#ifndef NO_ENTRY
SHOAL_PLUGIN_EXPORT const shoal_plugin* shoal_plugin_entry(void) {
#ifdef DEPENDS
    static const char* const needs[] = {"wheels"}; /* this one works */
#else
    static const char* const needs[] = {"flour"};
#endif
    static shoal_plugin plugin = {SHOAL_PLUGIN_HEAD, "broken", "1.0", NULL, 0, 0, load, NULL};
    (void)needs;
#if defined(NULL_ENTRY)
    return NULL;
#elif defined(SHORT)
    plugin.size = 2;
#elif defined(OTHER_VERSION)
    plugin.abi_version = 7;
#elif defined(OTHER_ENTITIES)
    plugin.entity_bytes = sizeof(shoal_entity) == 4 ? 8 : 4;
#elif defined(NEWER_HOST)
    plugin.host_bytes = sizeof(shoal_host) + 8;
#elif defined(NO_NAME)
    plugin.name = NULL;
#elif defined(NO_LOAD)
    plugin.load = NULL;
#elif defined(NO_LIST)
    plugin.num_depends_on = 1;
#elif defined(TAKEN)
    plugin.name = "wheels";
#elif defined(NEEDS) || defined(DEPENDS)
    plugin.depends_on = needs, plugin.num_depends_on = 1;
#endif
    return &plugin;
}
#else
const shoal_plugin* nobody_finds_this(void);
const shoal_plugin* nobody_finds_this(void) {
    static const shoal_plugin plugin = {SHOAL_PLUGIN_HEAD, "broken", "1.0", NULL, 0, 0, load, NULL};
    return &plugin;
}
#endif
