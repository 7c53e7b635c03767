// The pass "swim" of swim.cpp as a plugin in C, with exactly the same results. It uses only the C interface and field
// names. Run it with `./dev run --plugin build/release/plugins/libreef_swim.so`.

#include "shoal/plugin/shoal_abi.h"

#include <math.h>

static const float kPanic = 2.2f;  // multiple of the preferred speed
static const float kShore = 256;   // metres from the middle of the sea

static float within_sea(float coordinate) {
    return coordinate < -kShore ? -kShore : coordinate > kShore ? kShore : coordinate;
}

static float* written(const shoal_batch* batch, uint32_t column, uint32_t i) {
    return (float*)shoal_write(batch->columns[column], i);
}

static float read(const shoal_batch* batch, uint32_t column, uint32_t i) {
    return *(const float*)shoal_read(batch->columns[column], i);
}

static void swim(void* context, const shoal_pass* pass, const shoal_batch* batch) {
    uint32_t i;
    (void)context;
    for (i = 0; i < batch->num_rows; ++i) {
        float *const x = written(batch, 0, i), *const y = written(batch, 1, i);
        float *const velocity_x = written(batch, 2, i), *const velocity_y = written(batch, 3, i);
        float v_x = *velocity_x + read(batch, 4, i) * pass->dt, v_y = *velocity_y + read(batch, 5, i) * pass->dt;
        const float fastest = read(batch, 6, i) * kPanic, squared = v_x * v_x + v_y * v_y;
        const float slower = squared > fastest * fastest ? fastest / sqrtf(squared) : 1.0f;
        v_x *= slower, v_y *= slower;
        *velocity_x = v_x, *velocity_y = v_y;
        *x = within_sea(*x + v_x * pass->dt), *y = within_sea(*y + v_y * pass->dt);
    }
}

static int load(const shoal_host* host, shoal_world* world, void** state, shoal_error* error) {
    static const char* const columns[] = {"place.position.x", "place.position.y", "swim.velocity.x", "swim.velocity.y",
                                          "swim.urge.x",      "swim.urge.y",      "swim.speed"};
    shoal_pass_definition pass = {.size = sizeof(pass), .name = "swim", .query = "&place, &swim", .run = swim};
    pass.columns = columns, pass.num_columns = sizeof(columns) / sizeof(columns[0]);
    pass.flags = SHOAL_NO_COMMANDS;
    (void)state;
    return host->add_pass(world, &pass, error);
}

SHOAL_PLUGIN_EXPORT const shoal_plugin* shoal_plugin_entry(void) {
    static const shoal_plugin plugin = {SHOAL_PLUGIN_HEAD, "reef_swim", "1.0", NULL, 0, 0, load, NULL};
    return &plugin;
}
