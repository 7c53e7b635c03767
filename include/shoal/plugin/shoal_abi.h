#pragma once
// The C interface between shoal and plugins: shared libraries that are loaded, unloaded and exchanged while a world runs.
// C99, and the same for every compiler. A whole plugin, whose component lies in a table of the host and outlives it:
//
//     static void turn(void* context, const shoal_pass* pass, const shoal_batch* batch) {
//         (void)context;
//         for (uint32_t i = 0; i < batch->num_rows; ++i) {
//             float* angle = (float*)shoal_write(batch->columns[0], i);
//             *angle += pass->dt * *(const float*)shoal_read(batch->columns[1], i);
//         }
//     }
//
//     static int load(const shoal_host* host, shoal_world* world, void** state, shoal_error* error) {
//         static const shoal_field fields[] = {{sizeof(shoal_field), SHOAL_FLOAT, "angle", NULL, NULL, 0, 0, 0},
//                                              {sizeof(shoal_field), SHOAL_FLOAT, "speed", NULL, NULL, 0, 0, 0}};
//         static const shoal_schema wheel = {sizeof(shoal_schema), 1, "wheel", fields, 2, 0};
//         static const char* const columns[] = {"wheel.angle", "wheel.speed"};
//         shoal_pass_definition pass = {.size = sizeof(pass), .name = "turn", .query = "&wheel", .run = turn};
//         pass.columns = columns, pass.num_columns = 2;
//         (void)state;
//         return host->components->declare(world, &wheel, error) != NULL && host->passes->add(world, &pass, error);
//     }
//
//     SHOAL_PLUGIN_EXPORT const shoal_plugin* shoal_plugin_entry(void) {
//         static const shoal_plugin plugin = {SHOAL_PLUGIN_HEAD, "wheels", "1.0", NULL, 0, 0, load, NULL};
//         return &plugin;
//     }
//
// Sizes. Every struct begins with its size, set by whoever fills it. Later versions append fields and functions, and never
// change what is there: a plugin built with this header runs in later hosts, and a host tells by the sizes what a plugin lacks.
// Calls that can fail return 1, or else 0 or NULL, and say why in `error`, which may be NULL; nothing has changed then.
// Texts that are given end with NUL and are copied, unless it says otherwise. A plugin throws nothing through a call.
// Lifetime. What a plugin has made with `world` (passes, queries, reactions, channels) is removed when it is unloaded, passes
// and reactions first. Entities, component types and rows stay: they are the world's.
// Thread: load, unload and reactions run on the structural thread. A function of a pass runs on all workers at once, and calls
// only what says so below. What stands under "while no passes run" ends the program when a pass calls it.

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SHOAL_ABI_VERSION 1u
#if defined(SHOAL_WIDE_IDS) && SHOAL_WIDE_IDS
typedef uint64_t shoal_entity; /* 0: none */
#else
typedef uint32_t shoal_entity;
#endif

#if defined(__cplusplus)
#define SHOAL_PLUGIN_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define SHOAL_PLUGIN_EXPORT __attribute__((visibility("default")))
#endif

typedef struct shoal_world shoal_world;         /* a world as one plugin sees it; until that is unloaded */
typedef struct shoal_component shoal_component; /* a component type, as long as a program has plugins */
typedef struct shoal_query shoal_query;         /* what a text asks for; until destroyed or unloaded */
typedef struct shoal_commands shoal_commands;   /* changes that a pass asks for; during the call of its function */
typedef struct shoal_channel shoal_channel;     /* of events; until unloaded */

typedef struct shoal_error {
    uint32_t size;
    char text[508]; /* what, where, what to do; cut if it is longer */
} shoal_error;

/* --- component types --- */
enum { SHOAL_BOOL = 1, SHOAL_INT8 = 2, SHOAL_INT16 = 3, SHOAL_INT32 = 4, SHOAL_INT64 = 5 }; /* types of fields */
enum { SHOAL_UINT8 = 6, SHOAL_UINT16 = 7, SHOAL_UINT32 = 8, SHOAL_UINT64 = 9, SHOAL_FLOAT = 10, SHOAL_DOUBLE = 11 };
enum { SHOAL_VEC2 = 12, SHOAL_VEC3 = 13, SHOAL_VEC4 = 14, SHOAL_QUATERNION = 15, SHOAL_MATRIX3X4 = 16 }; /* floats */
enum { SHOAL_STRING_ID = 18, SHOAL_RESOURCE_ID = 19, SHOAL_ENTITY = 20, SHOAL_FIXED_STRING = 21 };

enum { SHOAL_SPLIT = 1 };                                                      /* flags of a field */
enum { SHOAL_WHOLE = 1, SHOAL_TOGGLED = 2, SHOAL_MANY = 4, SHOAL_SINGLE = 8 }; /* flags of a schema: see schema files */

typedef struct shoal_field {
    uint32_t size;
    uint32_t type;             /* SHOAL_FLOAT, ... */
    const char* name;          /* of a field within a struct: "box.low" */
    const char* unit;          /* NULL: none */
    const void* default_value; /* max(array_length, 1) values; NULL: zero */
    uint32_t array_length;     /* 0: one value */
    uint32_t value_bytes;      /* of a fixed string; else 0 */
    uint32_t flags;
} shoal_field;

/* The image of a component is a C struct with these fields, in this order. */
typedef struct shoal_schema {
    uint32_t size;
    uint32_t version; /* 1 or more */
    const char* name;
    const shoal_field* fields; /* all with the size of the first */
    uint32_t num_fields;
    uint32_t flags;
} shoal_schema;

/* --- passes --- */
/* One field, or a part of one, of the rows of a batch. */
typedef struct shoal_column {
    uint32_t size;
    uint32_t stride;      /* bytes from one row to the next; 0: all rows have the same */
    const void* first;    /* NULL: no row of the batch has the component */
    void* first_written;  /* the same if the query writes it (&name), else NULL */
    const uint32_t* rows; /* by row: where it lies; 0xFFFFFFFF: the entity lacks it; NULL: in order */
} shoal_column;

static inline const void* shoal_read(const shoal_column* column, uint32_t i) {
    const uint32_t row = column->rows == NULL ? i : column->rows[i];
    if (column->first == NULL || row == 0xFFFFFFFFu) return NULL;
    return (const char*)column->first + (size_t)row * column->stride;
}
static inline void* shoal_write(const shoal_column* column, uint32_t i) {
    return column->first_written == NULL ? NULL : (void*)shoal_read(column, i);
}
/* Whether `first` is an array of the batch's values: loops over that are vectorised. */
static inline int shoal_is_array(const shoal_column* column, size_t value_bytes) {
    return column->first != NULL && column->rows == NULL && column->stride == value_bytes;
}

typedef struct shoal_batch {
    uint32_t size;
    uint32_t num_rows;
    const shoal_entity* entities;       /* num_rows */
    const shoal_column* const* columns; /* as they were asked for */
} shoal_batch;

typedef struct shoal_pass {
    uint32_t size;
    float dt; /* seconds since the pass ran last */
    uint64_t frame;
    uint64_t random_seed;
    shoal_commands* commands; /* of this call */
} shoal_pass;

/* Called for runs of rows, on all workers at once; once, with an empty batch, for a pass without a query. */
typedef void (*shoal_pass_function)(void* context, const shoal_pass* pass, const shoal_batch* batch);

typedef struct shoal_pass_definition {
    uint32_t size;
    uint32_t every_frames;          /* 0 or 1: in every frame */
    const char* name;               /* no other pass of the world has it */
    const char* query;              /* "&wheel, !broken": see text_query.h; NULL: called once */
    const char* const* columns;     /* "component.field", or a part such as "body.position.x" of a split one */
    const char* const* reads;       /* component types that it touches beside the query */
    const char* const* writes;      /* the same; all workers may write them at once */
    const char* const* reads_from;  /* channels of events */
    const char* const* writes_to;   /* the same */
    const char* const* runs_after;  /* names of passes */
    const char* const* runs_before; /* the same */
    uint32_t num_columns, num_reads, num_writes, num_reads_from, num_writes_to, num_runs_after, num_runs_before;
    shoal_pass_function run;
    void* context;
} shoal_pass_definition;

enum { SHOAL_ON_ADD = 0, SHOAL_ON_REMOVE = 1, SHOAL_ON_CHANGE = 2 };

typedef struct shoal_change {
    uint32_t size;
    uint32_t num_entities;
    const shoal_entity* entities;
    const void* values_before; /* removed or changed: images of what was there, image_bytes each; else NULL */
} shoal_change;

typedef void (*shoal_reaction_function)(void* context, const shoal_change* change);
typedef void (*shoal_rows_function)(void* context, uint32_t begin, uint32_t end);

/* --- what the host gives --- */
enum { SHOAL_LOG_NOTE = 0, SHOAL_LOG_WARNING = 1, SHOAL_LOG_ERROR = 2 };
typedef struct shoal_log_functions {
    uint32_t size;
    void (*write)(shoal_world*, uint32_t level, const char* text); /* any thread */
} shoal_log_functions;
typedef struct shoal_entity_functions { /* while no passes run, but for alive */
    uint32_t size;
    int (*create)(shoal_world*, shoal_entity* entities, uint32_t count, shoal_error*);
    uint32_t (*destroy)(shoal_world*, const shoal_entity* entities, uint32_t count); /* how many lived */
    int (*alive)(const shoal_world*, shoal_entity entity);                           /* any thread */
} shoal_entity_functions;
typedef struct shoal_component_functions {
    uint32_t size;
    /* Makes its table, or gives that other fields: rows keep what fits by name and type. While no passes run. */
    const shoal_component* (*declare)(shoal_world*, const shoal_schema* schema, shoal_error*);
    const shoal_component* (*find)(shoal_world*, const char* name, shoal_error*);
    uint32_t (*image_bytes)(const shoal_world*, const shoal_component*);         /* 0: no store keeps it now */
    int (*has)(const shoal_world*, const shoal_component*, shoal_entity entity); /* any thread */
} shoal_component_functions;
typedef struct shoal_row_functions {
    uint32_t size;
    /* These two while no passes run. Images lie `stride` bytes apart, 0: one for all; NULL: defaults. */
    int (*add)(shoal_world*, const shoal_component*, const shoal_entity* entities, uint32_t count, const void* images,
               size_t stride, shoal_error*);
    int (*remove)(shoal_world*, const shoal_component*, const shoal_entity* entities, uint32_t count, shoal_error*);
    /* Copy a field, such as "wheel.angle", or a part of one; num_bytes is its size. A pass declares what it reads and writes. */
    int (*get)(const shoal_world*, shoal_entity entity, const char* path, void* value, size_t num_bytes, shoal_error*);
    int (*set)(shoal_world*, shoal_entity entity, const char* path, const void* value, size_t num_bytes, shoal_error*);
} shoal_row_functions;
typedef struct shoal_query_functions { /* make and destroy while no passes run; columns as in a pass */
    uint32_t size;
    shoal_query* (*make)(shoal_world*, const char* text, const char* const* columns, uint32_t num_columns,
                         shoal_error*);
    void (*destroy)(shoal_world*, shoal_query*);
    uint64_t (*num_rows)(const shoal_query*); /* that a loop may visit, at most */
    /* Calls run(context, pass, batch) with dt 0, and commands that are carried out when the world settles next. */
    void (*for_each_batch)(const shoal_query*, int on_all_workers, shoal_pass_function run, void* context);
} shoal_query_functions;
typedef struct shoal_pass_functions { /* while no passes run */
    uint32_t size;
    int (*add)(shoal_world*, const shoal_pass_definition* pass, shoal_error*);
    int (*remove)(shoal_world*, const char* name, shoal_error*); /* its own only */
} shoal_pass_functions;
typedef struct shoal_command_functions { /* in functions of passes; carried out when the world settles */
    uint32_t size;
    shoal_entity (*create)(shoal_commands*); /* usable in commands of this call, and in their images, only */
    void (*destroy)(shoal_commands*, shoal_entity entity);
    /* Adds the component, or sets it. image NULL: defaults. Returns 0 if no store keeps it, or not as bytes. */
    int (*add)(shoal_commands*, shoal_entity entity, const shoal_component*, const void* image);
    int (*remove)(shoal_commands*, shoal_entity entity, const shoal_component*);
    void (*tag)(shoal_commands*, shoal_entity entity, const char* tag);
    void (*untag)(shoal_commands*, shoal_entity entity, const char* tag);
} shoal_command_functions;
typedef struct shoal_event_functions {
    uint32_t size;
    /* All plugins that open a name share the channel. While no passes run. */
    shoal_channel* (*open)(shoal_world*, const char* name, uint32_t event_bytes, shoal_error*);
    /* A pass declares that it reads or writes a channel. Events are in one order for any number of workers. */
    void (*write)(shoal_channel*, const void* events, uint32_t count);
    uint32_t (*read)(const shoal_channel*, const void** events);      /* of this frame so far */
    uint32_t (*read_last)(const shoal_channel*, const void** events); /* of the frame before */
} shoal_event_functions;
typedef struct shoal_reaction_functions { /* while no passes run; told when the world settles */
    uint32_t size;
    /* `kind` SHOAL_ON_ADD ... of a component type, or, for changes, of one of its fields; field NULL: any. Returns a number. */
    uint32_t (*add)(shoal_world*, uint32_t kind, const shoal_component*, const char* field, shoal_reaction_function run,
                    void* context, shoal_error*);
    void (*remove)(shoal_world*, uint32_t reaction);
} shoal_reaction_functions;
typedef struct shoal_random_functions { /* any thread; the same numbers on every machine, for any number of workers */
    uint32_t size;
    uint64_t (*for_key)(const shoal_pass* pass, uint64_t key); /* a generator for an entity, a cell, ... in this run */
    uint64_t (*next)(uint64_t* generator);
    float (*unit)(uint64_t* generator); /* in [0, 1) */
} shoal_random_functions;
typedef struct shoal_job_functions {
    uint32_t size;
    /* Calls run(context, begin, end) for runs of 0 to num_rows - 1 on all workers. In a pass, `pass` is what it was given. */
    void (*for_rows)(shoal_world*, const shoal_pass* pass, uint32_t num_rows, shoal_rows_function run, void* context);
} shoal_job_functions;
typedef struct shoal_blob_functions { /* while no passes run */
    uint32_t size;
    /* Checks a compiled resource and spawns it. Returns how many entities, and the first, which may be NULL; 0: an error. */
    uint32_t (*spawn)(shoal_world*, const void* bytes, size_t num_bytes, shoal_entity* first, shoal_error*);
} shoal_blob_functions;
typedef struct shoal_string_functions {
    uint32_t size;
    int (*id_of)(shoal_world*, const char* text, uint64_t* id, shoal_error*);            /* while no passes run */
    uint32_t (*text_of)(const shoal_world*, uint64_t id, char* text, uint32_t capacity); /* length */
} shoal_string_functions;
typedef struct shoal_host {
    uint32_t size, abi_version;
    const shoal_log_functions* log;
    const shoal_entity_functions* entities;
    const shoal_component_functions* components;
    const shoal_row_functions* rows;
    const shoal_query_functions* queries;
    const shoal_pass_functions* passes;
    const shoal_command_functions* commands;
    const shoal_event_functions* events;
    const shoal_reaction_functions* reactions;
    const shoal_random_functions* random;
    const shoal_job_functions* jobs;
    const shoal_blob_functions* blobs;
    const shoal_string_functions* strings;
} shoal_host;

/* --- what a plugin gives --- */
typedef struct shoal_plugin {
    uint32_t size;
    uint32_t abi_version;  /* SHOAL_ABI_VERSION */
    uint32_t host_bytes;   /* sizeof(shoal_host): a host with less is too old */
    uint32_t entity_bytes; /* sizeof(shoal_entity) */
    const char* name;
    const char* version;
    const char* const* depends_on; /* names of plugins that are loaded before */
    uint32_t num_depends_on;
    uint32_t reserved; /* 0 */
    /* What has failed has freed what it allocated; all that it has made in the world is removed. */
    int (*load)(const shoal_host* host, shoal_world* world, void** state, shoal_error* error);
    void (*unload)(shoal_world* world, void* state); /* frees what is not the world's; may be NULL */
} shoal_plugin;

#define SHOAL_PLUGIN_HEAD sizeof(shoal_plugin), SHOAL_ABI_VERSION, sizeof(shoal_host), sizeof(shoal_entity)

/* What a plugin exports: `SHOAL_PLUGIN_EXPORT const shoal_plugin* shoal_plugin_entry(void)`. */
typedef const shoal_plugin* (*shoal_plugin_entry_function)(void);

#ifdef __cplusplus
}
#endif
