// Spinning bodies: a component type with a table in the host, a pass over it, and an event for each full turn.
//
//     spin    speed    radians per second
//             angle    0 to 2 pi
//             turns    full ones so far
//
// Other plugins read the channel "spin.turned", whose events are struct spin_turned, in passes after "spin".

#include "shoal/plugin/shoal_abi.h"

#include <stdlib.h>

typedef struct spin {
    float speed, angle;
    uint32_t turns;
} spin;

typedef struct spin_turned {
    shoal_entity entity;
    uint32_t turns;
} spin_turned;

typedef struct spin_state {
    const shoal_host* host;
    shoal_world* world;
    shoal_channel* turned;
} spin_state;

static const float kFullTurn = 6.28318530718f;

static void turn(void* context, const shoal_pass* pass, const shoal_batch* batch) {
    const spin_state* const state = (const spin_state*)context;
    uint32_t i;
    for (i = 0; i < batch->num_rows; ++i) {
        const float speed = *(const float*)shoal_read(batch->columns[0], i);
        float* const angle = (float*)shoal_write(batch->columns[1], i);
        uint32_t* const turns = (uint32_t*)shoal_write(batch->columns[2], i);
        *angle += speed * pass->dt;
        if (*angle < kFullTurn) continue;
        *angle -= kFullTurn;
        *turns += 1;
        {
            const spin_turned event = {batch->entities[i], *turns};
            state->host->write_events(state->world, state->turned, &event, 1);
        }
    }
}

static int add_pass(const shoal_host* host, shoal_world* world, spin_state* state, shoal_error* error) {
    static const char* const columns[] = {"spin.speed", "spin.angle", "spin.turns"};
    static const char* const channels[] = {"spin.turned"};
    shoal_pass_definition pass = {.size = sizeof(pass), .name = "spin", .query = "&spin", .run = turn};
    pass.columns = columns, pass.num_columns = 3;
    pass.writes_to = channels, pass.num_writes_to = 1;
    pass.context = state;
    state->host = host;
    state->world = world;
    state->turned = host->open_channel(world, "spin.turned", sizeof(spin_turned), error);
    return state->turned != NULL && host->add_pass(world, &pass, error);
}

static int load(const shoal_host* host, shoal_world* world, void** state, shoal_error* error) {
    static const float kSlow = 1;
    static const shoal_field fields[] = {
        {sizeof(shoal_field), SHOAL_FLOAT, "speed", "rad/s", &kSlow, 0, 0, 0, 0, NULL, 0, 0},
        {sizeof(shoal_field), SHOAL_FLOAT, "angle", "rad", NULL, 0, 0, 0, 0, NULL, 0, 0},
        {sizeof(shoal_field), SHOAL_UINT32, "turns", NULL, NULL, 0, 0, 0, 0, NULL, 0, 0}};
    static const shoal_schema schema = {sizeof(shoal_schema), 1, "spin", fields, 3, 0};
    spin_state* const made = (spin_state*)calloc(1, sizeof(spin_state));
    if (made != NULL && host->declare_component(world, &schema, error) != NULL && add_pass(host, world, made, error)) {
        *state = made;
        return 1;
    }
    free(made);
    return 0;
}

static void unload(shoal_world* world, void* state) {
    (void)world;
    free(state);
}

SHOAL_PLUGIN_EXPORT const shoal_plugin* shoal_plugin_entry(void) {
    static const shoal_plugin plugin = {SHOAL_PLUGIN_HEAD, "spin", "1.0", NULL, 0, 0, load, unload};
    return &plugin;
}
