// A plugin with a store of its own, in versions: 1 has columns, 2 has another version of the fields and loads what 1 has saved,
// 3 keeps them in a form without columns, 4 lets entities have several, 5 has no store any more, 6 cannot load, 7 does not save,
// and 8 does not start.
// What the functions of the store were called for, its verb "tally" prints. Beside the store it has a component type without
// rows, "order": sources say what is ordered, and spawning one adds to the tally.

#include "shoal/plugin/shoal_abi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 4096

typedef struct item {
    float weight;
    uint32_t kind;
    shoal_entity box;
} item;

typedef struct stock {
    uint32_t num_rows;
    shoal_entity* owners;
    void* columns[3]; /* by field */
    void* memory;
    uint32_t num_set, num_parents, num_spawned, num_dead, num_written, num_ordered;
} stock;

static const size_t kBytes[3] = {sizeof(float), sizeof(uint32_t), sizeof(shoal_entity)};

static struct {
    const shoal_host* host;
    shoal_world* world;
    const shoal_component* item;
    stock* stock;
} g;

static char* element(const stock* at, uint32_t column, uint32_t row) {
    return (char*)at->columns[column] + row * kBytes[column];
}

static void put(stock* to, uint32_t row, const void* image) {
    const item* const from = (const item*)image;
    memcpy(element(to, 0, row), &from->weight, kBytes[0]);
    memcpy(element(to, 1, row), &from->kind, kBytes[1]);
    memcpy(element(to, 2, row), &from->box, kBytes[2]);
}

static void take(stock* from, uint32_t row) {
    uint32_t c;
    const uint32_t last = --from->num_rows;
    from->owners[row] = from->owners[last];
    for (c = 0; c < 3; ++c) memmove(element(from, c, row), element(from, c, last), kBytes[c]);
}

/* --- the functions of the store --- */
static uint32_t first_from(const stock* in, shoal_entity entity, uint32_t row) {
    for (; row < in->num_rows; ++row)
        if (in->owners[row] == entity) return row;
    return SHOAL_NO_ROW;
}
static uint32_t first(void* context, shoal_entity entity) { return first_from((const stock*)context, entity, 0); }
static uint32_t next(void* context, uint32_t row) {
    const stock* const in = (const stock*)context;
    return first_from(in, in->owners[row], row + 1);
}

static int create(void* context, const shoal_entity* entities, uint32_t count, const void* images, size_t stride,
                  shoal_error* error) {
    stock* const to = (stock*)context;
    uint32_t i;
    if (to->num_rows + count > MOST) {
        strcpy(error->text, "the stock is full");
        return 0;
    }
    for (i = 0; i < count; ++i) {
        uint32_t row = STOCK == 4 ? SHOAL_NO_ROW : first(to, entities[i]);
        if (row == SHOAL_NO_ROW) row = to->num_rows++;
        to->owners[row] = entities[i];
        put(to, row, (const char*)images + i * stride);
    }
    return 1;
}

static uint32_t destroy(void* context, const shoal_entity* entities, uint32_t count) {
    stock* const from = (stock*)context;
    uint32_t i, row, num_gone = 0;
    for (i = 0; i < count; ++i)
        while ((row = first(from, entities[i])) != SHOAL_NO_ROW) take(from, row), ++num_gone;
    return num_gone;
}

static void show(void* context, shoal_rows* rows) {
    stock* const of = (stock*)context;
    rows->num_rows = of->num_rows;
    rows->entities = of->owners;
    rows->columns = of->columns;
}

static void set_parents(void* context, const shoal_entity* children, const shoal_entity* parents, uint32_t count) {
    uint32_t i;
    /* A copy makes them one behind the other. */
    for (i = 0; i < count; ++i) ((stock*)context)->num_parents += parents[i] != 0 && children[i] == parents[i] + 1;
}

static int after_spawn(void* context, const shoal_entity* entities, uint32_t count, shoal_error* error) {
    stock* const of = (stock*)context;
    uint32_t i;
    of->num_spawned += count;
    for (i = 0; i < count; ++i)
        if (((const float*)of->columns[0])[first(of, entities[i])] < 0) {
            strcpy(error->text, "nothing weighs less than nothing");
            return 0;
        }
    return 1;
}

static void drop_dead(void* context, const shoal_entity* entities, uint32_t count) {
    ((stock*)context)->num_dead += destroy(context, entities, count);
}

static void get(void* context, uint32_t row, uint32_t field, void* value) {
    memcpy(value, element((const stock*)context, field, row), kBytes[field]);
}

static int set(void* context, uint32_t row, uint32_t field, const void* value, shoal_error* error) {
    stock* const of = (stock*)context;
    if (field == 0 && *(const float*)value < 0) {
        strcpy(error->text, "a weight is not negative");
        return 0;
    }
    memcpy(element(of, field, row), value, kBytes[field]);
    ++of->num_set;
    return 1;
}

static void written(void* context, const uint32_t* rows, uint32_t count) {
    (void)rows;
    ((stock*)context)->num_written += count;
}

static void use_of_memory(void* context, shoal_memory* memory) {
    memory->row_bytes = MOST * 16;
    memory->index_bytes = ((const stock*)context)->num_rows;
}

static int save(void* context, shoal_writer* writer, shoal_error* error) {
    const stock* const of = (const stock*)context;
    uint32_t c;
    (void)error;
    g.host->write_bytes(writer, &of->num_rows, sizeof(of->num_rows));
    g.host->write_bytes(writer, of->owners, of->num_rows * sizeof(shoal_entity));
    for (c = 0; c < 3; ++c) g.host->write_bytes(writer, of->columns[c], of->num_rows * kBytes[c]);
    return 1;
}

static int load_rows(void* context, const void* bytes, size_t num_bytes, uint32_t version, shoal_error* error) {
    stock* const to = (stock*)context;
    const char* from = (const char*)bytes;
    uint32_t c, row;
    if (STOCK == 6) {
        strcpy(error->text, "the sixth reads nothing");
        return 0;
    }
    if (num_bytes < sizeof(to->num_rows)) return 0;
    memcpy(&to->num_rows, from, sizeof(to->num_rows));
    from += sizeof(to->num_rows);
    memcpy(to->owners, from, to->num_rows * sizeof(shoal_entity));
    from += to->num_rows * sizeof(shoal_entity);
    for (c = 0; c < 3; from += to->num_rows * kBytes[c], ++c) memcpy(to->columns[c], from, to->num_rows * kBytes[c]);
    if (version == 1 && STOCK == 2) /* which counts in tenths */
        for (row = 0; row < to->num_rows; ++row) ((float*)to->columns[0])[row] *= 10;
    return 1;
}

static void end(void* context) {
    stock* const of = (stock*)context;
    free(of->memory);
    free(of);
    g.stock = NULL;
}

static stock* make_stock(void) {
    stock* const made = (stock*)calloc(1, sizeof(stock));
    size_t at;
    uint32_t c;
    if (made == NULL || (made->memory = calloc(MOST + 64, 4 * sizeof(uint64_t))) == NULL) return free(made), NULL;
    at = ((size_t)made->memory + 63) / 64 * 64;
    for (c = 0; c < 3; ++c, at += MOST * sizeof(uint64_t)) made->columns[c] = (void*)at;
    made->owners = (shoal_entity*)at;
    return made;
}

/* --- the component type without rows --- */
static int compile_order(void* context, const shoal_compile* compile) {
    const shoal_host* const host = g.host;
    const shoal_node count = host->node_find(compile->node, "pieces");
    (void)context;
    if (host->node_kind(count) != SHOAL_NODE_INTEGER || host->node_integer(count) < 1)
        return host->compile_error(compile->compilation, count, "an order needs a number of `pieces`");
    ((uint32_t*)compile->image)[0] = (uint32_t)host->node_integer(count);
    {
        const shoal_node what = host->node_find(compile->node, "what");
        if (host->node_kind(what) != SHOAL_NODE_NONE && !host->compile_field(compile->compilation, what)) return 0;
    }
    return 1;
}

static int spawn_orders(void* context, const shoal_spawn* spawn, shoal_error* error) {
    uint32_t i;
    (void)context;
    for (i = 0; i < spawn->num_components; ++i) {
        const uint32_t count = *(const uint32_t*)((const char*)spawn->images + i * spawn->image_bytes);
        if (count > 1000) {
            strcpy(error->text, "nobody orders more than 1000");
            return 0;
        }
        if (g.stock != NULL) g.stock->num_ordered += count;
    }
    return 1;
}

static void double_all(const void* const* olds, void* const* news, size_t num_rows) {
    size_t i;
    const uint16_t* const pairs = (const uint16_t*)olds[0];
    for (i = 0; i < num_rows; ++i) ((uint32_t*)news[0])[i] = 2 * ((uint32_t)pairs[2 * i] + pairs[2 * i + 1]);
}

static int declare_order(shoal_error* error) {
    static const shoal_enumerator kinds[] = {{"nails", 0}, {"screws", 5}};
    static const shoal_field fields[] = {
        {sizeof(shoal_field), SHOAL_UINT32, "pieces", NULL, NULL, 0, 0, 0, 0, NULL, 0, 0},
        {sizeof(shoal_field), SHOAL_ENUM, "what", NULL, NULL, 0, 1, 0, 0, kinds, 2, 0}};
    static const shoal_field pairs[] = {
        {sizeof(shoal_field), SHOAL_UINT16, "pairs", NULL, NULL, 2, 0, 0, 0, NULL, 0, 0}};
    static const shoal_migration migrations[] = {
        {sizeof(shoal_migration), 1, pairs, fields, 1, 1, double_all}}; /* version 1 had pairs, of two kinds */
    static const shoal_schema order = {sizeof(shoal_schema), 2, "order", fields, 2, SHOAL_WITHOUT_ROWS};
    shoal_component_definition given = {.size = sizeof(given), .spawn_order = 5, .compile = compile_order};
    const shoal_component* const component = g.host->declare_component(g.world, &order, error);
    given.spawn = spawn_orders, given.migrations = migrations, given.num_migrations = 1;
    return component != NULL && g.host->define_component(g.world, component, &given, error);
}

/* --- the plugin --- */
static int tally(void* context, const shoal_verb_call* call, shoal_error* error) {
    char text[200];
    (void)context;
    if (call->num_words > 1) {
        strcpy(error->text, "say for whom, or nobody");
        return 0;
    }
    snprintf(text, sizeof(text), "%s: set %u parents %u spawned %u dead %u written %u ordered %u\n",
             call->num_words == 1 ? call->words[0] : "all", g.stock->num_set, g.stock->num_parents,
             g.stock->num_spawned, g.stock->num_dead, g.stock->num_written, g.stock->num_ordered);
    call->print(call, text);
    return 1;
}

static void grow(void* context, const shoal_pass* pass, const shoal_batch* batch) {
    uint32_t i;
    (void)context, (void)pass;
    for (i = 0; i < batch->num_rows; ++i) *(float*)shoal_write(batch->columns[0], i) += 1;
}

static int add_store(shoal_error* error) {
    static const shoal_field fields[] = {
        {sizeof(shoal_field), SHOAL_FLOAT, "weight", "kg", NULL, 0, 0, 0, 0, NULL, 0, 0},
        {sizeof(shoal_field), SHOAL_UINT32, "kind", NULL, NULL, 0, 0, 0, 0, NULL, 0, 0},
        {sizeof(shoal_field), SHOAL_ENTITY, "box", NULL, NULL, 0, 0, STOCK == 3 || STOCK == 4 ? 0 : SHOAL_RELATION, 0,
         NULL, 0, 0}};
    static const shoal_schema schema = {sizeof(shoal_schema),       STOCK == 2 ? 2 : 1, "item", fields, 3,
                                        STOCK == 4 ? SHOAL_MANY : 0};
    shoal_store store = {.size = sizeof(store), .create = create, .destroy = destroy, .show = show, .first = first};
    store.context = g.stock, store.next = next;
    store.set_parents = set_parents, store.after_spawn = after_spawn, store.drop_dead = drop_dead;
    store.set = set, store.memory = use_of_memory, store.end = end;
    if (STOCK != 7) store.save = save, store.load = load_rows;
    if (STOCK == 3)
        store.get = get;
    else
        store.written = written;
    g.item = g.host->add_store(g.world, &schema, &store, error);
    return g.item != NULL;
}

static int add_pass(shoal_error* error) {
    static const char* const columns[] = {"item.weight"};
    shoal_pass_definition pass = {.size = sizeof(pass), .name = "grow", .query = "&item", .run = grow};
    pass.columns = columns, pass.num_columns = 1;
    return STOCK == 3 || g.host->add_pass(g.world, &pass, error);
}

static int load(const shoal_host* host, shoal_world* world, void** state, shoal_error* error) {
    static const shoal_verb verb = {
        .size = sizeof(verb), .name = "tally", .summary = "say what was done", .operands = "[WHO]", .run = tally};
    (void)state;
    static int num_loads = 0;
    memset(&g, 0, sizeof(g));
    g.host = host, g.world = world;
    if (STOCK == 5 || (STOCK == 9 && num_loads++ > 0)) return 1;
    if (STOCK == 8) return strcpy(error->text, "the eighth does not start"), 0;
    g.stock = make_stock();
    if (g.stock == NULL) return 0;
    if (!add_store(error)) return end(g.stock), 0;
    return declare_order(error) && add_pass(error) && host->add_verb(world, &verb, error);
}

SHOAL_PLUGIN_EXPORT const shoal_plugin* shoal_plugin_entry(void) {
    static const shoal_plugin plugin = {SHOAL_PLUGIN_HEAD, "stock", STOCK == 2 ? "2.0" : "1.0", NULL, 0, 0, load, NULL};
    return &plugin;
}
