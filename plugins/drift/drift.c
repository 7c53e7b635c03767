// A plugin that is only data: it declares a component type, and has no pass, no state and nothing to free. Sources, queries,
// the tool and other plugins know the type while it is loaded, and rows stay when it is not.
//
//     drift    velocity    metres per second
//              leeway      the part of it that the wind takes, 0 to 1

#include "shoal/plugin/shoal_abi.h"

static int load(const shoal_host* host, shoal_world* world, void** state, shoal_error* error) {
    static const float kEast[3] = {1, 0, 0};
    static const shoal_field fields[] = {
        {sizeof(shoal_field), SHOAL_VEC3, "velocity", "m/s", kEast, 0, 0, SHOAL_SPLIT, 0, NULL, 0, 0},
        {sizeof(shoal_field), SHOAL_FLOAT, "leeway", NULL, NULL, 0, 0, 0, 0, NULL, 0, 0}};
    static const shoal_schema drift = {sizeof(shoal_schema), 1, "drift", fields, 2, 0};
    (void)state;
    return host->declare_component(world, &drift, error) != NULL;
}

SHOAL_PLUGIN_EXPORT const shoal_plugin* shoal_plugin_entry(void) {
    static const shoal_plugin plugin = {SHOAL_PLUGIN_HEAD, "drift", "1.0", NULL, 0, 0, load, NULL};
    return &plugin;
}
