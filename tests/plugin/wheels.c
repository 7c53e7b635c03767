// The plugin that the header of the interface shows.

#include "shoal/plugin/shoal_abi.h"

// [turn]
static void turn(void* context, const shoal_pass* pass, const shoal_batch* batch) {
    (void)context;
    for (uint32_t i = 0; i < batch->num_rows; ++i) {
        float* angle = (float*)shoal_write(batch->columns[0], i);
        *angle += pass->dt * *(const float*)shoal_read(batch->columns[1], i);
    }
}
// [turn]

// [load]
static int load(const shoal_host* host, shoal_world* world, void** state, shoal_error* error) {
    static const shoal_field fields[] = {
        {sizeof(shoal_field), SHOAL_FLOAT, "angle", NULL, NULL, 0, 0, 0, 0, NULL, 0, 0},
        {sizeof(shoal_field), SHOAL_FLOAT, "speed", NULL, NULL, 0, 0, 0, 0, NULL, 0, 0}};
    static const shoal_schema wheel = {sizeof(shoal_schema), 1, "wheel", fields, 2, 0};
    static const char* const columns[] = {"wheel.angle", "wheel.speed"};
    shoal_pass_definition pass = {.size = sizeof(pass), .name = "turn", .query = "&wheel", .run = turn};
    pass.columns = columns, pass.num_columns = 2;
    (void)state;
    return host->declare_component(world, &wheel, error) != NULL && host->add_pass(world, &pass, error);
}
// [load]

// [entry]
SHOAL_PLUGIN_EXPORT const shoal_plugin* shoal_plugin_entry(void) {
    static const shoal_plugin plugin = {SHOAL_PLUGIN_HEAD, "wheels", "1.0", NULL, 0, 0, load, NULL};
    return &plugin;
}
// [entry]
