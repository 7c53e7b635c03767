// Versions of one plugin, which counts: 1 by one, 2 by ten with one field more and another type, 3 has lost a field
// and fails to load behind all that it has done, 4 is another plugin, 5 has a pass that comes behind one that nobody has,
// 6 depends on a plugin that is not there, and 7 on itself.

#include "shoal/plugin/shoal_abi.h"

#include <stdlib.h>
#include <string.h>

static void count(void* context, const shoal_pass* pass, const shoal_batch* batch) {
    const shoal_column* const column = batch->columns[0];
    const float step = *(const float*)context;
    (void)pass;
    if (shoal_is_array(column, sizeof(float))) {
        float* const values = (float*)column->first_written;
        for (uint32_t i = 0; i < batch->num_rows; ++i) values[i] += step;
    } else {
        for (uint32_t i = 0; i < batch->num_rows; ++i) *(float*)shoal_write(column, i) += step;
    }
}

static const shoal_component* declare(const shoal_host* host, shoal_world* world, shoal_error* error) {
    static const float kTwo = 2;
    static const shoal_field fields[] = {
        {sizeof(shoal_field), SHOAL_FLOAT, "value", NULL, NULL, 0, 0, 0, 0, NULL, 0, 0},
#if COUNTER == 3
        {sizeof(shoal_field), SHOAL_FLOAT, "weight", NULL, &kTwo, 0, 0, 0, 0, NULL, 0, 0}};
#elif COUNTER == 2
        {sizeof(shoal_field), SHOAL_FLOAT, "weight", NULL, &kTwo, 0, 0, 0, 0, NULL, 0, 0},
        {sizeof(shoal_field), SHOAL_DOUBLE, "kept", NULL, NULL, 0, 0, 0, 0, NULL, 0, 0}};
#else
        {sizeof(shoal_field), SHOAL_FLOAT, "kept", NULL, NULL, 0, 0, 0, 0, NULL, 0, 0}};
#endif
    static const shoal_schema counter = {sizeof(shoal_schema),
                                         COUNTER == 2 || COUNTER == 3 ? 2 : 1,
                                         "counter",
                                         fields,
                                         sizeof(fields) / sizeof(fields[0]),
                                         0};
    (void)kTwo;
    return host->declare_component(world, &counter, error);
}

static int add_pass(const shoal_host* host, shoal_world* world, void* state, shoal_error* error) {
    static const char* const columns[] = {"counter.value"};
#if COUNTER == 5
    static const char* const nobody[] = {"nobody"};
#endif
    shoal_pass_definition pass = {.size = sizeof(pass), .name = "count", .query = "&counter", .run = count};
    pass.columns = columns, pass.num_columns = 1, pass.context = state;
#if COUNTER == 5
    pass.runs_after = nobody, pass.num_runs_after = 1;
#endif
    return host->add_pass(world, &pass, error);
}

static int load(const shoal_host* host, shoal_world* world, void** state, shoal_error* error) {
    const shoal_component* const counter = declare(host, world, error);
    float* const step = (float*)malloc(sizeof(float));
    if (counter == NULL || step == NULL || !add_pass(host, world, step, error)) return free(step), 0;
    *step = COUNTER == 2 ? 10.0f : 1.0f;
#if COUNTER == 3
    shoal_entity made[5];
    host->create_entities(world, made, 5, NULL);
    host->add_rows(world, counter, made, 5, NULL, 0, NULL);
    (void)state;
    if (error != NULL) strcpy(error->text, "the third one never works");
    free(step);
    return 0;
#else
    *state = step;
    return 1;
#endif
}

static void unload(shoal_world* world, void* state) {
    (void)world;
    free(state);
}

SHOAL_PLUGIN_EXPORT const shoal_plugin* shoal_plugin_entry(void) {
    static const char* const needs[] = {COUNTER == 7 ? "counter" : "flour"};
    static const shoal_plugin plugin = {SHOAL_PLUGIN_HEAD,
                                        COUNTER == 4 ? "other" : "counter",
                                        COUNTER == 2 ? "2.0" : "1.0",
                                        needs,
                                        COUNTER >= 6,
                                        0,
                                        load,
                                        unload};
    return &plugin;
}
