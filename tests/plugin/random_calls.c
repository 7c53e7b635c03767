// A plugin that calls what the host gives at random: with what is right, with NULL, with what was destroyed, and with nonsense.
// Its verb "calls COUNT SEED" makes so many calls. Whatever they are given, calls return, and say why they did nothing; memory
// that they are given is as large as they are told.

#include "shoal/plugin/shoal_abi.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))
enum { kEntities = 48, kHandles = 8, kBytes = 4096 };

static struct {
    const shoal_host* host;
    shoal_world* world;
    uint64_t random;
    shoal_entity entities[kEntities];
    const shoal_component* components[kHandles];
    shoal_query* queries[kHandles]; /* some of them were destroyed */
    shoal_channel* channels[kHandles];
    shoal_commands* commands; /* of an earlier call */
    uint32_t observers[kHandles];
    uint32_t num_stores;
    unsigned char bytes[kBytes];
    shoal_error error;
} g;

static uint32_t draw(uint32_t below) {
    g.random = g.random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(g.random >> 33) % below;
}
static int once_in(uint32_t times) { return draw(times) == 0; }

/* --- arguments --- */
static const char* const kNames[] = {
    "ball", "ring",     "rope",     "hook",  "sail",
    "",     "Bad Name", "\xff\xfe", "a.b.c", "mast[3]",
    "grow", "group",    "x",        "?",     "a-very-long-name-that-goes-on-and-on-and-on-and-on"};
static const char* const kQueries[] = {"ball",
                                       "&ball",
                                       "&ball, !ring",
                                       "?ball, ring",
                                       "&ball, &ring",
                                       "",
                                       "ball.x < 2",
                                       "ring.x == 1",
                                       "&nothing",
                                       "ball, , ball",
                                       "ball | ring",
                                       "#tagged, ball",
                                       "!#tagged, &ball",
                                       "^ball",
                                       "$hook, ball",
                                       "ball.x <",
                                       "\xc3"};
static const char* const kPaths[] = {"ball.x", "ball.y", "ring.x", "ring.x[1]", "ball",
                                     "ball.",  ".x",     "",       "rope.x.y",  "hook.x"};

static const char* text_of(const char* const* list, size_t count) {
    return once_in(12) ? NULL : list[draw((uint32_t)count)];
}
static const char* name(void) { return text_of(kNames, COUNT(kNames)); }
static shoal_world* world(void) { return once_in(40) ? NULL : g.world; }
static shoal_error* error(void) { return once_in(4) ? NULL : &g.error; }
static shoal_entity entity(void) {
    if (once_in(10)) return (shoal_entity)(draw(1u << 30) * 5u);
    return g.entities[draw(kEntities)];
}
static const shoal_component* component(void) { return once_in(8) ? NULL : g.components[draw(kHandles)]; }
static shoal_query* query(void) { return g.queries[draw(kHandles)]; }
static shoal_channel* channel(void) { return g.channels[draw(kHandles)]; }

static const shoal_entity* some_entities(uint32_t* count) {
    *count = draw(6);
    if (once_in(20)) return NULL;
    return &g.entities[draw(kEntities - 6)];
}

/* --- functions that are called back --- */
static void call_commands(shoal_commands* commands) {
    switch (draw(9)) {
        case 0: {
            const shoal_entity made =
                once_in(2) ? g.host->command_create(commands) : g.host->command_copy(commands, entity());
            g.host->command_add(commands, made, component(), once_in(3) ? NULL : g.bytes);
            break;
        }
        case 1:
            g.host->command_destroy(commands, entity());
            break;
        case 2:
            g.host->command_add(commands, entity(), component(), once_in(3) ? NULL : g.bytes);
            break;
        case 3:
            g.host->command_remove(commands, entity(), component());
            break;
        case 4:
            g.host->command_tag(commands, entity(), name());
            break;
        case 5:
            g.host->command_untag(commands, entity(), name());
            break;
        case 6:
            g.host->command_name(commands, entity(), name());
            break;
        case 7:
            g.host->command_copy(commands, entity());
            break;
        default:
            g.commands = commands;
    }
}

static void visit(void* context, const shoal_pass* pass, const shoal_batch* batch) {
    uint32_t i, sum = 0;
    (void)context;
    for (i = 0; i < batch->num_rows; ++i)
        if (batch->columns != NULL && shoal_write(batch->columns[0], i) != NULL)
            *(unsigned char*)shoal_write(batch->columns[0], i) ^= 1;
        else if (batch->columns != NULL && shoal_read(batch->columns[0], i) != NULL)
            sum += *(const unsigned char*)shoal_read(batch->columns[0], i);
    (void)sum;
    g.host->random_for_key(pass, 3);
    call_commands(once_in(10) ? g.commands : once_in(10) ? NULL : pass->commands);
}
static void ask(void* context, shoal_commands* commands) { (void)context, call_commands(commands); }
/* For queries whose columns are none. */
static void look(void* context, const shoal_pass* pass, const shoal_batch* batch) {
    (void)context, (void)batch;
    call_commands(once_in(10) ? g.commands : pass->commands);
}
static void observe(void* context, const shoal_change* change) {
    (void)context;
    g.entities[draw(kEntities)] = change->entities[0];
}
static void rows(void* context, uint32_t begin, uint32_t end) { (void)context, (void)begin, (void)end; }
static int refuse_all(void* context, const shoal_compile* compile) { return (void)context, (void)compile, 0; }
static int take_all(void* context, const shoal_spawn* spawn, shoal_error* why) {
    return (void)context, (void)spawn, (void)why, 1;
}

/* A store without rows. */
static int create(void* context, const shoal_entity* of, uint32_t count, const void* images, size_t stride,
                  shoal_error* why) {
    (void)context, (void)of, (void)count, (void)images, (void)stride;
    strcpy(why->text, "it is full");
    return 0;
}
static uint32_t destroy(void* context, const shoal_entity* of, uint32_t count) {
    return (void)context, (void)of, (void)count, 0;
}
static void show(void* context, shoal_rows* shown) {
    static void* columns[70];
    (void)context;
    shown->columns = columns;
}
static uint32_t first(void* context, shoal_entity of) { return (void)context, (void)of, SHOAL_NO_ROW; }

/* --- calls that declare --- */
static void make_fields(shoal_field* fields, uint32_t count) {
    static const shoal_enumerator enumerators[] = {{"one", 1}, {"two", 2}, {NULL, 3}};
    static const char* const names[] = {"x", "y", "z", "box.low", "box.low.", "", "X"};
    uint32_t i;
    memset(fields, 0, count * sizeof(*fields));
    for (i = 0; i < count; ++i) {
        fields[i].size = once_in(30) ? draw(70) : (uint32_t)sizeof(shoal_field);
        fields[i].type = once_in(10) ? draw(40) : SHOAL_INT8 + draw(14);
        fields[i].name = once_in(15) ? NULL : names[i < 3 && !once_in(5) ? i : draw(COUNT(names))];
        fields[i].array_length = once_in(3) ? draw(5) : 0;
        fields[i].value_bytes = once_in(3) ? draw(9) : 0;
        fields[i].flags = once_in(6) ? draw(40) : 0;
        fields[i].element_type = once_in(3) ? draw(30) : 0;
        if (once_in(4)) fields[i].enumerators = enumerators, fields[i].num_enumerators = draw(4);
        if (once_in(4)) fields[i].default_value = g.bytes;
    }
}

static void declare(void) {
    shoal_field fields[4];
    shoal_schema schema = {sizeof(schema), 1, NULL, fields, 0, 0};
    shoal_store store = {.size = sizeof(store), .create = create, .destroy = destroy, .show = show, .first = first};
    const shoal_component* made;
    schema.name = once_in(10) ? name() : kNames[draw(5)];
    schema.num_fields = draw(5);
    if (once_in(10)) schema.fields = NULL;
    if (once_in(10)) schema.size = draw(40);
    if (once_in(4)) schema.flags = draw(20);
    if (once_in(10)) schema.version = draw(3);
    make_fields(fields, schema.num_fields);
    if (once_in(4)) {
        if (once_in(3)) store.show = NULL;
        if (once_in(3)) store.size = draw(200);
        made = g.host->add_store(world(), &schema, once_in(10) ? NULL : &store, error());
    } else {
        made = g.host->declare_component(world(), once_in(30) ? NULL : &schema, error());
    }
    if (made != NULL) g.components[draw(kHandles)] = made;
}

static void define(void) {
    shoal_field fields[2];
    shoal_migration migrations[2];
    shoal_component_definition given = {.size = sizeof(given)};
    uint32_t i;
    make_fields(fields, 2);
    memset(migrations, 0, sizeof(migrations));
    for (i = 0; i < 2; ++i) {
        migrations[i].size = once_in(10) ? draw(50) : (uint32_t)sizeof(shoal_migration);
        migrations[i].from_version = draw(3);
        migrations[i].olds = once_in(5) ? NULL : fields, migrations[i].num_olds = draw(3);
        migrations[i].news = once_in(5) ? NULL : fields, migrations[i].num_news = draw(3);
    }
    if (once_in(2)) given.compile = refuse_all;
    if (once_in(2)) given.spawn = take_all;
    if (once_in(2)) given.migrations = migrations;
    if (once_in(2)) given.num_migrations = draw(3);
    given.spawn_order = (int32_t)draw(3) - 1;
    g.host->define_component(world(), component(), once_in(20) ? NULL : &given, error());
}

static void add_pass(void) {
    static const char* const names[] = {"grow", "shrink", "group", "calls.a", "calls.b", ""};
    static const char* const columns[] = {"ball.x", "ball.nothing", NULL};
    static const char* const others[] = {"grow", "nobody", NULL};
    static const char* const types[] = {"ball", "ring", "nothing"};
    static const char* const from[] = {"sea", "air", "nowhere"};
    shoal_pass_definition pass = {.size = sizeof(pass), .run = look};
    pass.name = text_of(names, COUNT(names));
    pass.query = once_in(3) ? NULL : text_of(kQueries, COUNT(kQueries));
    if (once_in(2)) pass.columns = columns, pass.num_columns = once_in(4) ? 1 + draw(3) : 1, pass.run = visit;
    if (once_in(4)) pass.runs_after = others, pass.num_runs_after = draw(4);
    if (once_in(4)) pass.runs_before = others, pass.num_runs_before = draw(2);
    if (once_in(4)) pass.reads = types, pass.num_reads = draw(4);
    if (once_in(4)) pass.writes = types, pass.num_writes = draw(3);
    if (once_in(4)) pass.reads_from = from, pass.num_reads_from = draw(3);
    if (once_in(20)) pass.writes_to = NULL, pass.num_writes_to = 2;
    if (once_in(20)) pass.run = NULL;
    if (once_in(20)) pass.size = draw(120);
    pass.every_frames = draw(3);
    if (once_in(4)) pass.every_seconds = (float)draw(5) - 1;
    g.host->add_pass(world(), once_in(30) ? NULL : &pass, error());
}

static void add_verb(void) {
    static int (*const run)(void*, const shoal_verb_call*, shoal_error*) = NULL;
    const shoal_verb verb = {.size = once_in(3) ? draw(60) : (uint32_t)sizeof(verb), .name = name(), .run = run};
    g.host->add_verb(world(), once_in(5) ? NULL : &verb, error());
}

/* --- all calls --- */
static void call_about_rows(void) {
    uint32_t count;
    const shoal_entity* const some = some_entities(&count);
    const uint32_t strides[] = {0, 8, 64, 512, 3};
    const size_t num_bytes = draw(20);
    switch (draw(10)) {
        case 0:
            g.host->create_entities(world(), &g.entities[draw(kEntities - 6)], draw(6), error());
            break;
        case 1:
            if (once_in(4)) g.host->destroy_entities(world(), some, count);
            break;
        case 2:
            g.host->is_alive(world(), entity());
            break;
        case 3:
            g.host->add_rows(world(), component(), some, count, once_in(3) ? NULL : g.bytes,
                             strides[draw(COUNT(strides))], error());
            break;
        case 4:
            g.host->remove_rows(world(), component(), some, count, error());
            break;
        case 5:
            g.host->get_field(world(), entity(), text_of(kPaths, COUNT(kPaths)), once_in(20) ? NULL : g.bytes + 64,
                              num_bytes, error());
            break;
        case 6:
            g.host->set_field(world(), entity(), text_of(kPaths, COUNT(kPaths)), once_in(20) ? NULL : g.bytes,
                              num_bytes, error());
            break;
        case 7:
            g.host->get_image(world(), component(), entity(), once_in(20) ? NULL : g.bytes + 64, error());
            break;
        case 8:
            g.host->copy_entity(world(), entity(), once_in(20) ? NULL : &g.entities[draw(kEntities)], error());
            break;
        default:
            g.host->has_component(world(), component(), entity());
            break;
    }
}

static void call_about_queries(void) {
    static const char* const columns[] = {"ball.x", "ring.x", NULL};
    const uint32_t i = draw(kHandles);
    shoal_query* made;
    switch (draw(5)) {
        case 0:
            made = g.host->make_query(world(), text_of(kQueries, COUNT(kQueries)), once_in(3) ? NULL : columns,
                                      once_in(10)  ? 80 + draw(9000)
                                      : once_in(4) ? 3
                                                   : draw(2),
                                      error());
            if (made != NULL && g.queries[i] != NULL) g.host->destroy_query(g.world, g.queries[i], NULL);
            if (made != NULL) g.queries[i] = made;
            break;
        case 1:
            if (once_in(3)) g.host->destroy_query(world(), query(), error());
            break;
        case 2:
            g.host->num_rows(world(), query());
            break;
        default:
            g.host->for_each_batch(world(), query(), 0, once_in(10) ? NULL : look, NULL, error());
            break;
    }
}

static void call_about_events(void) {
    static const char* const names[] = {"sea", "air", "", "fire"};
    const void* events = NULL;
    shoal_channel* made;
    uint32_t count, i = 0;
    switch (draw(6)) {
        case 0:
            made = g.host->open_channel(world(), text_of(names, COUNT(names)), 4 * draw(4), error());
            if (made != NULL) g.channels[draw(kHandles)] = made;
            break;
        case 1:
        case 2:
            g.host->write_events(world(), channel(), once_in(10) ? NULL : g.bytes, draw(5));
            break;
        case 3:
            count = g.host->read_events(world(), channel(), once_in(10) ? NULL : &events);
            goto read;
        case 4:
            count = g.host->read_last_events(world(), channel(), &events);
        read:
            for (; events != NULL && i < count; ++i) g.bytes[100] ^= ((const unsigned char*)events)[i];
            break;
        default:
            g.host->command_tag(g.commands, entity(), "late");
            break;
    }
}

static void call_about_observers(void) {
    const uint32_t i = draw(kHandles);
    static const char* const fields[] = {"x", "y", "nothing"};
    if (g.observers[i] != 0 || once_in(3)) {
        g.host->remove_observer(world(), once_in(5) ? draw(1000) : g.observers[i], error());
        g.observers[i] = 0;
        return;
    }
    if (!once_in(8)) return;
    g.observers[i] = g.host->add_observer(world(), draw(5), component(), once_in(2) ? NULL : fields[draw(3)],
                                          once_in(10) ? NULL : observe, NULL, error());
}

static void call_about_sources(void) {
    shoal_node none, found;
    char text[8];
    memset(&none, 0, sizeof(none));
    found = g.host->node_find(none, name());
    g.host->node_kind(found), g.host->node_count(found), g.host->node_child(found, draw(3));
    g.host->node_key(found, once_in(2) ? NULL : text, draw(8)), g.host->node_text(found, text, draw(8));
    g.host->node_number(found), g.host->node_integer(found), g.host->node_unsigned(found);
    g.host->compile_field(NULL, found), g.host->compile_entity(NULL, draw(9), name());
    g.host->compile_array(NULL, draw(9), g.bytes, draw(9)), g.host->compile_error(NULL, found, name());
    g.host->write_bytes(NULL, g.bytes, draw(9));
}

static void spawn_overridden(void) {
    shoal_override given[2];
    for (uint32_t i = 0; i < 2; ++i) {
        given[i].size = once_in(5) ? draw(40) : (uint32_t)sizeof given[i];
        given[i].num_bytes = draw(20);
        given[i].entity = once_in(5) ? NULL : name();
        given[i].field = once_in(5) ? NULL : text_of(kPaths, COUNT(kPaths));
        given[i].value = once_in(5) ? NULL : g.bytes;
    }
    g.host->spawn_overridden(world(), once_in(5) ? NULL : g.bytes, draw(kBytes), once_in(5) ? NULL : given, draw(3),
                             NULL, error());
}

static void call_others(void) {
    uint64_t id = g.random, generator = g.random;
    uint32_t count = 0;
    char text[16];
    switch (draw(15)) {
        case 0:
            g.host->log(world(), draw(5), name());
            break;
        case 1:
            g.host->find_component(world(), name(), error());
            break;
        case 2:
            g.host->image_bytes(world(), component());
            break;
        case 3:
            g.host->rows_moved(world(), component(), error());
            break;
        case 4:
            g.host->random_next(once_in(5) ? NULL : &generator), g.host->random_unit(&generator);
            break;
        case 5:
            g.host->for_rows(world(), NULL, draw(3000), once_in(10) ? NULL : rows, NULL);
            break;
        case 6:
            g.host->spawn_blob(world(), once_in(5) ? NULL : g.bytes, draw(kBytes), NULL, error());
            break;
        case 7:
            g.host->find_array(world(), once_in(5) ? NULL : g.bytes + 8, draw(30), once_in(5) ? NULL : &count);
            break;
        case 8:
            g.host->string_id(world(), name(), once_in(5) ? NULL : &id, error());
            break;
        case 9:
            g.host->string_text(world(), id, once_in(5) ? NULL : text, draw(16));
            break;
        case 10:
            add_verb();
            break;
        case 11:
            spawn_overridden();
            break;
        case 12:
            g.host->enable_pass(world(), name(), !once_in(4), error());
            break;
        case 13:
            g.host->with_commands(world(), once_in(10) ? NULL : ask, NULL, error());
            break;
        default:
            call_about_sources();
            break;
    }
}

static void call_about_passes(void) {
    if (once_in(4))
        add_pass();
    else
        g.host->remove_pass(world(), name(), error());
}

static void call_once(void) {
    static void (*const calls[])(void) = {call_about_rows,      call_about_rows,    call_about_rows,
                                          call_about_queries,   call_about_queries, call_about_events,
                                          call_about_observers, call_about_passes,  call_others};
    if (once_in(64)) g.bytes[draw(kBytes)] = (unsigned char)draw(256);
    if (once_in(400)) declare();
    if (once_in(400)) define();
    calls[draw(COUNT(calls))]();
}

static int run_calls(void* context, const shoal_verb_call* call, shoal_error* why) {
    long i;
    (void)context, (void)why;
    if (call->num_words != 2) return 0;
    g.random = strtoull(call->words[1], NULL, 10);
    for (i = strtol(call->words[0], NULL, 10); i > 0; --i) call_once();
    return 1;
}

static int load(const shoal_host* host, shoal_world* to, void** state, shoal_error* why) {
    static const shoal_field fields[] = {
        {sizeof(shoal_field), SHOAL_INT32, "x", NULL, NULL, 0, 0, 0, 0, NULL, 0, 0},
        {sizeof(shoal_field), SHOAL_VEC2, "y", NULL, NULL, 0, 0, SHOAL_SPLIT, 0, NULL, 0, 0}};
    static const shoal_schema ball = {sizeof(shoal_schema), 1, "ball", fields, 2, 0};
    static const shoal_schema ring = {sizeof(shoal_schema), 1, "ring", fields, 1, SHOAL_ENABLEABLE};
    static const shoal_verb verb = {.size = sizeof(verb), .name = "calls", .run = run_calls};
    (void)state;
    memset(&g, 0, sizeof(g));
    g.host = host, g.world = to, g.error.size = sizeof(g.error);
    g.components[0] = host->declare_component(to, &ball, why);
    g.components[1] = host->declare_component(to, &ring, why);
    return g.components[0] != NULL && g.components[1] != NULL && host->add_verb(to, &verb, why);
}

SHOAL_PLUGIN_EXPORT const shoal_plugin* shoal_plugin_entry(void) {
    static const shoal_plugin plugin = {SHOAL_PLUGIN_HEAD, "calls", "1.0", NULL, 0, 0, load, NULL};
    return &plugin;
}
