#pragma once
// The C interface between shoal and plugins, which are shared libraries that are loaded, unloaded and replaced while a
// world runs. It is C99, and has the same layout with every compiler. docs/guide/plugins.md shows a complete plugin,
// and lists everything that is removed when a plugin is unloaded.
//
// Each struct begins with its size, which is set by the side that fills in the struct. Later versions append fields and
// functions and never change existing ones, so a plugin built with this header runs in later hosts. A host checks the
// size to find out which fields a plugin has.
// Calls that can fail return 1 or a pointer on success. On failure, they return 0 or NULL, change nothing, and write
// the reason to `error`, which may be NULL, or to the log. They fail if a world, a component, a string or a function is
// NULL. Strings are NUL-terminated and are copied.
// Thread: the structural thread of the world. The function of a pass runs on all workers at the same time. It may only
// call functions marked [passes]; other calls end the program. Calls do not throw.

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define SHOAL_PLUGIN_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define SHOAL_PLUGIN_EXPORT __attribute__((visibility("default")))
#endif

#define SHOAL_ABI_VERSION 1u
#define SHOAL_NO_ROW 0xFFFFFFFFu
#if defined(SHOAL_WIDE_IDS) && SHOAL_WIDE_IDS
typedef uint64_t shoal_entity; /* 0: none */
#else
typedef uint32_t shoal_entity;
#endif
typedef struct shoal_world shoal_world;             /* a plugin's view of a world; valid until the plugin is unloaded */
typedef struct shoal_component shoal_component;     /* a component type; valid while the program has plugins */
typedef struct shoal_query shoal_query;             /* a text query; valid until it or the plugin is removed */
typedef struct shoal_channel shoal_channel;         /* an event channel; valid until the plugin is unloaded */
typedef struct shoal_commands shoal_commands;       /* the commands of a call; valid on its thread during the call */
typedef struct shoal_compilation shoal_compilation; /* one component's compilation; valid during the call */
typedef struct shoal_writer shoal_writer;           /* a writer of bytes; valid during the call */
typedef struct shoal_error {
    uint32_t size;
    char text[508]; /* the problem, its place and what to do; truncated if too long */
} shoal_error;

/* --- component types --- */
enum { SHOAL_BOOL = 1, SHOAL_INT8 = 2, SHOAL_INT16 = 3, SHOAL_INT32 = 4, SHOAL_INT64 = 5 }; /* field types */
enum { SHOAL_UINT8 = 6, SHOAL_UINT16 = 7, SHOAL_UINT32 = 8, SHOAL_UINT64 = 9, SHOAL_FLOAT = 10, SHOAL_DOUBLE = 11 };
enum { SHOAL_VEC2 = 12, SHOAL_VEC3 = 13, SHOAL_VEC4 = 14, SHOAL_QUATERNION = 15, SHOAL_MATRIX3X4 = 16 }; /* floats */
enum { SHOAL_ENUM = 17, SHOAL_STRING_ID = 18, SHOAL_RESOURCE_ID = 19, SHOAL_ENTITY = 20, SHOAL_FIXED_STRING = 21 };
enum { SHOAL_BLOB_ARRAY = 22 };                                                      /* 24 bytes, for find_array */
enum { SHOAL_SPLIT = 1, SHOAL_RELATION = 2, SHOAL_CLEARED = 4, SHOAL_DIES_TOO = 8 }; /* field flags */
enum { SHOAL_WHOLE = 1, SHOAL_ENABLEABLE = 2, SHOAL_MANY = 4, SHOAL_SINGLETON = 8, SHOAL_WITHOUT_ROWS = 16 };
typedef struct shoal_enumerator {
    const char* name;
    int64_t value;
} shoal_enumerator;
typedef struct shoal_field {
    uint32_t size, type;       /* SHOAL_FLOAT, ... */
    const char *name, *unit;   /* name: "box.low" for a field in a struct; unit: NULL for none */
    const void* default_value; /* max(array_length, 1) values; NULL: zeros */
    uint32_t array_length;     /* 0: one value */
    uint32_t value_bytes;      /* size of a fixed string or an enum (1, 2, 4, 8); otherwise 0 */
    uint32_t flags;            /* SHOAL_SPLIT or, for an entity, the kind of relation */
    uint32_t element_type;     /* type of the values of a blob array, which are read-only */
    const shoal_enumerator* enumerators;
    uint32_t num_enumerators, reserved;
} shoal_field;
typedef struct shoal_schema { /* the image of a component is a C struct with these fields, in this order */
    uint32_t size, version;   /* version: 1 or more */
    const char* name;
    const shoal_field* fields;  /* all have the size of the first */
    uint32_t num_fields, flags; /* flags: as in schema files; WITHOUT_ROWS: a spawn function receives the components */
} shoal_schema;
typedef struct shoal_node { /* a value of a source, or none; valid during the call */
    const void* data[2];
} shoal_node;
enum { SHOAL_NODE_NONE = 0, SHOAL_NODE_NULL = 1, SHOAL_NODE_BOOL = 2, SHOAL_NODE_INTEGER = 3 };
enum { SHOAL_NODE_NUMBER = 4, SHOAL_NODE_STRING = 5, SHOAL_NODE_LIST = 6, SHOAL_NODE_MAPPING = 7 };
typedef struct shoal_compile {
    uint32_t size, image_bytes;
    shoal_compilation* compilation;
    shoal_node node; /* the component's mapping, merged from prefabs and the entity */
    void* image;     /* initially the defaults; compile_entity() and compile_array() set entities and arrays */
} shoal_compile;
typedef struct shoal_spawn { /* the new components of one type, in all entities that were spawned or copied */
    uint32_t size, num_components;
    const shoal_entity *owners, *parents; /* num_components each; a root has parent 0; parents NULL: all are roots */
    const void* images;                   /* image_bytes each; their entity fields refer to the new entities */
    size_t image_bytes;
} shoal_spawn;
typedef struct shoal_migration { /* converts num_rows values of each field; a name may be in both lists */
    uint32_t size, from_version; /* converts to the next version */
    const shoal_field *olds, *news;
    uint32_t num_olds, num_news;
    void (*migrate)(const void* const* olds, void* const* news, size_t num_rows); /* NULL: one field is renamed */
} shoal_migration;
typedef struct shoal_component_definition { /* functions for the plugin's component type; * may be NULL */
    uint32_t size;
    int32_t spawn_order; /* lower numbers are spawned first */
    void* context;
    /* * fills in the image; if there is an error, reports it and returns 0. Thread: any, but one call at a time */
    int (*compile)(void* context, const shoal_compile*);
    int (*spawn)(void* context, const shoal_spawn*, shoal_error*); /* * NULL: a store keeps the components */
    const shoal_migration* migrations;                             /* all have the size of the first */
    uint32_t num_migrations, reserved;
} shoal_component_definition;

/* --- stores: one component type in a form of its own --- */
typedef struct shoal_rows {
    uint32_t size, num_rows;
    shoal_entity* entities; /* the owner of each row */
    void* const* columns;   /* arrays: one per field, one per x, y, ... of a split field, or one of images (WHOLE); */
} shoal_rows;               /* the memory of each begins and ends at multiples of 64 bytes */
typedef struct shoal_memory {
    uint32_t size, reserved;
    uint64_t row_bytes, index_bytes;
} shoal_memory;
/* Functions marked with * may be NULL. If a function that returns an int fails, it fills in the error, returns 0 and
 * changes nothing. If an entity already has a row, `create` sets its values, unless the MANY flag is set. Rows may move
 * only during these calls, or before a call to rows_moved. If `get` is set, queries show only entities. */
typedef struct shoal_store {
    uint32_t size, reserved;
    void* context; /* the first argument of each function */
    int (*create)(void*, const shoal_entity*, uint32_t count, const void* images, size_t stride, shoal_error*);
    uint32_t (*destroy)(void*, const shoal_entity*, uint32_t count); /* returns the number of entities with rows */
    void (*show)(void*, shoal_rows*);                                /* fills in the current rows */
    uint32_t (*first)(void*, shoal_entity);                          /* the row of an entity, or SHOAL_NO_ROW */
    uint32_t (*next)(void*, uint32_t row);                           /* * for SHOAL_MANY: the next row of the entity */
    int (*spawn)(void*, const shoal_spawn*, shoal_error*);           /* * NULL: create is called */
    void (*set_parents)(void*, const shoal_entity* children, const shoal_entity* parents, uint32_t count); /* * */
    int (*after_spawn)(void*, const shoal_entity*, uint32_t count, shoal_error*);     /* * after all types of a blob */
    void (*drop_dead)(void*, const shoal_entity*, uint32_t count);                    /* * NULL: destroy is called */
    void (*get)(void*, uint32_t row, uint32_t field, void* value);                    /* * NULL: read columns */
    int (*set)(void*, uint32_t row, uint32_t field, const void* value, shoal_error*); /* * NULL: write columns */
    void (*written)(void*, const uint32_t* rows, uint32_t count);                     /* * after a query has written */
    void (*memory)(void*, shoal_memory*);                                             /* * memory use, for reports */
    int (*save)(void*, shoal_writer*, shoal_error*); /* * NULL: the data is lost when the plugin is replaced */
    int (*load)(void*, const void* bytes, size_t num_bytes, uint32_t version, shoal_error*); /* * schema version */
    void (*end)(void*);                                                                      /* * the last call */
} shoal_store;

/* --- passes --- */
typedef struct shoal_column { /* a field, or a part of a field, in the rows of a batch */
    uint32_t size, stride;    /* bytes from one row to the next; 0: one value for all rows */
    const void* first;        /* NULL: no row of the batch has the component */
    void* first_written;      /* the same address if the query writes the component (&name), or NULL */
    const uint32_t* rows;     /* index of each row's value, or SHOAL_NO_ROW; NULL: values are in row order */
} shoal_column;
static inline const void* shoal_read(const shoal_column* column, uint32_t i) {
    const uint32_t row = column->rows == NULL ? i : column->rows[i];
    if (column->first == NULL || row == SHOAL_NO_ROW) return NULL;
    return (const char*)column->first + (size_t)row * column->stride;
}
static inline void* shoal_write(const shoal_column* column, uint32_t i) {
    return column->first_written == NULL ? NULL : (void*)shoal_read(column, i);
}
/* Whether the batch's values are an array without gaps at `first`, so that loops over them can be vectorized. */
static inline int shoal_is_array(const shoal_column* column, size_t value_bytes) {
    return column->first != NULL && column->rows == NULL && column->stride == value_bytes;
}
typedef struct shoal_batch {
    uint32_t size, num_rows;
    const shoal_entity* entities;       /* num_rows */
    const shoal_column* const* columns; /* in the requested order */
} shoal_batch;
typedef struct shoal_pass {
    uint32_t size;
    float dt; /* seconds since the last run of the pass */
    uint64_t frame, random_seed;
    shoal_commands* commands; /* valid during this call; NULL for a pass without commands */
} shoal_pass;
/* Called for ranges of rows on all workers at the same time. Without a query, called once with an empty batch. */
typedef void (*shoal_pass_function)(void* context, const shoal_pass* pass, const shoal_batch* batch);
typedef struct shoal_pass_definition {
    uint32_t size, every_frames;                        /* 0 or 1: runs in every frame */
    const char* name;                                   /* unique among the passes and groups of the world */
    const char* query;                                  /* "&wheel, !broken": see text_query.h; NULL: called once */
    const char* const* columns;                         /* "wheel.speed"; "body.position.x": a part of a split field */
    const char *const *reads, *const *writes;           /* component types that are not in the query */
    const char *const *reads_from, *const *writes_to;   /* event channels */
    const char *const *runs_after, *const *runs_before; /* names of passes */
    uint32_t num_columns, num_reads, num_writes, num_reads_from, num_writes_to, num_runs_after, num_runs_before;
    uint32_t flags; /* SHOAL_NO_COMMANDS: the pass records no commands, which makes calls faster */
    shoal_pass_function run;
    void* context;
    float every_seconds; /* 0: use every_frames; otherwise, run when the time passes a multiple of this */
    uint32_t reserved;
} shoal_pass_definition;
enum { SHOAL_NO_COMMANDS = 1, SHOAL_ON_ADD = 0, SHOAL_ON_REMOVE = 1, SHOAL_ON_CHANGE = 2 };
typedef struct shoal_change {
    uint32_t size, num_entities;
    const shoal_entity* entities;
    const void* values_before; /* for removals and changes, the previous images (image_bytes each); else NULL */
} shoal_change;
typedef void (*shoal_observer_function)(void* context, const shoal_change* change);
typedef void (*shoal_commands_function)(void* context, shoal_commands* commands);
typedef void (*shoal_rows_function)(void* context, uint32_t begin, uint32_t end);
typedef struct shoal_verb_call {
    uint32_t size, num_words;
    const char* const* words; /* the words after the verb */
    void (*print)(const struct shoal_verb_call*, const char* text);
} shoal_verb_call;
typedef struct shoal_verb { /* a verb of the tool: shoal --plugin FILE NAME WORDS */
    uint32_t size, reserved;
    const char *name, *summary, *operands; /* "grid", "draw a grid", "SOURCE [WIDTH]" */
    int (*run)(void* context, const shoal_verb_call*, shoal_error*);
    void* context;
} shoal_verb;

/* --- what the host provides --- */
enum { SHOAL_LOG_NOTE = 0, SHOAL_LOG_WARNING = 1, SHOAL_LOG_ERROR = 2 };
/* A value that overrides a field of an entity in a resource when the resource is spawned. Overrides are an array of
 * structs of the same size. */
typedef struct shoal_override {
    uint32_t size, num_bytes;   /* num_bytes: size of the value */
    const char *entity, *field; /* entity: a GUID path or a name in the resource; field: a path as for set_field() */
    const void* value;          /* has the type of the field */
} shoal_override;

typedef struct shoal_host {
    uint32_t size, abi_version;
    void (*log)(shoal_world*, uint32_t level, const char* text); /* [passes] */
    int (*create_entities)(shoal_world*, shoal_entity* entities, uint32_t count, shoal_error*);
    uint32_t (*destroy_entities)(shoal_world*, const shoal_entity* entities, uint32_t count); /* how many were alive */
    int (*is_alive)(const shoal_world*, shoal_entity);                                        /* [passes] */
    /* Makes the table of a component type, or changes the fields of an existing type. Rows keep the values that match
     * by name and type. */
    const shoal_component* (*declare_component)(shoal_world*, const shoal_schema*, shoal_error*);
    int (*define_component)(shoal_world*, const shoal_component*, const shoal_component_definition*, shoal_error*);
    const shoal_component* (*find_component)(shoal_world*, const char* name, shoal_error*);
    uint32_t (*image_bytes)(const shoal_world*, const shoal_component*);            /* 0: no store has it; [passes] */
    int (*has_component)(const shoal_world*, const shoal_component*, shoal_entity); /* [passes] */
    /* Images are `stride` bytes apart; if `stride` is 0, all entities get the same one. If `images` is NULL, they get
       defaults. Existing components are overwritten. */
    int (*add_rows)(shoal_world*, const shoal_component*, const shoal_entity*, uint32_t count, const void* images,
                    size_t stride, shoal_error*);
    int (*remove_rows)(shoal_world*, const shoal_component*, const shoal_entity*, uint32_t count, shoal_error*);
    /* [passes] Copy a field, such as "wheel.angle", or a part of a field. `num_bytes` is its size. A pass must declare
     * the access. */
    int (*get_field)(const shoal_world*, shoal_entity, const char* path, void* value, size_t num_bytes, shoal_error*);
    int (*set_field)(shoal_world*, shoal_entity, const char* path, const void* value, size_t num_bytes, shoal_error*);
    /* Adds a store for a component type that no other store has, and loads the data that the store had before the
     * plugin was replaced. */
    const shoal_component* (*add_store)(shoal_world*, const shoal_schema*, const shoal_store*, shoal_error*);
    int (*rows_moved)(shoal_world*, const shoal_component*, shoal_error*);  /* own stores only; marks all as written */
    int (*write_bytes)(shoal_writer*, const void* bytes, size_t num_bytes); /* only in save() */
    shoal_query* (*make_query)(shoal_world*, const char* text, const char* const* columns, uint32_t, shoal_error*);
    int (*destroy_query)(shoal_world*, shoal_query*, shoal_error*);
    uint64_t (*num_rows)(const shoal_world*, const shoal_query*); /* an upper bound for the number of rows in a loop */
    /* Calls run(context, pass, batch). `dt` is 0, and the commands are carried out at the next settle. */
    int (*for_each_batch)(shoal_world*, const shoal_query*, int all_workers, shoal_pass_function, void*, shoal_error*);
    int (*add_pass)(shoal_world*, const shoal_pass_definition*, shoal_error*);
    int (*remove_pass)(shoal_world*, const char* name, shoal_error*); /* only the plugin's own passes */
    /* [passes] `create` returns an id that is valid only in commands and images of the same call. `add` adds a
     * component or, if there is one, sets its values. */
    shoal_entity (*command_create)(shoal_commands*);
    int (*command_destroy)(shoal_commands*, shoal_entity);
    int (*command_add)(shoal_commands*, shoal_entity, const shoal_component*, const void* image); /* NULL: defaults */
    int (*command_remove)(shoal_commands*, shoal_entity, const shoal_component*);
    int (*command_tag)(shoal_commands*, shoal_entity, const char* tag);
    int (*command_untag)(shoal_commands*, shoal_entity, const char* tag);
    shoal_channel* (*open_channel)(shoal_world*, const char* name, uint32_t event_bytes, shoal_error*);
    /* [passes] A pass must declare the channel. Plugins that open the same name share a channel. read_events gives
     * the events of this frame so far, and read_last_events gives those of the last frame. The order of the events does
     * not depend on the number of workers. */
    int (*write_events)(shoal_world*, shoal_channel*, const void* events, uint32_t count);
    uint32_t (*read_events)(const shoal_world*, const shoal_channel*, const void** events);
    uint32_t (*read_last_events)(const shoal_world*, const shoal_channel*, const void** events);
    /* `kind` is SHOAL_ON_ADD, ...; `field` is the observed field for changes, or NULL for any. Returns the observer's
     * number. */
    uint32_t (*add_observer)(shoal_world*, uint32_t kind, const shoal_component*, const char* field,
                             shoal_observer_function run, void* context, shoal_error*);
    int (*remove_observer)(shoal_world*, uint32_t observer, shoal_error*);
    uint64_t (*random_for_key)(const shoal_pass*, uint64_t key); /* [passes] returns a generator */
    uint64_t (*random_next)(uint64_t* generator);
    float (*random_unit)(uint64_t* generator); /* in [0, 1) */
    /* [passes] Calls run(context, begin, end) on all workers for ranges of the rows below num_rows. `pass` is the
     * calling pass, or NULL. */
    int (*for_rows)(shoal_world*, const shoal_pass*, uint32_t num_rows, shoal_rows_function run, void* context);
    /* Checks a compiled resource and spawns it. Returns the number of entities, or 0 if there is an error. Sets
     * `first`, which may be NULL, to the first entity. */
    uint32_t (*spawn_blob)(shoal_world*, const void* bytes, size_t num_bytes, shoal_entity* first, shoal_error*);
    /* [passes] */
    const void* (*find_array)(const shoal_world*, const void* blob_array, uint32_t type, uint32_t* count);
    int (*string_id)(shoal_world*, const char* text, uint64_t* id,
                     shoal_error*); /* the string is kept until the world ends */
    uint32_t (*string_text)(const shoal_world*, uint64_t id, char* text, uint32_t capacity); /* [passes] its length */
    int (*add_verb)(shoal_world*, const shoal_verb*, shoal_error*);
    /* For compile functions. If there is an error, the compile_...() functions report it and return 0. A node of the
     * wrong kind has no children, no text and the number 0. */
    uint32_t (*node_kind)(shoal_node); /* SHOAL_NODE_LIST, ... */
    uint32_t (*node_count)(shoal_node);
    shoal_node (*node_child)(shoal_node, uint32_t i);
    shoal_node (*node_find)(shoal_node, const char* key);
    uint32_t (*node_key)(shoal_node child, char* text, uint32_t capacity); /* its length */
    uint32_t (*node_text)(shoal_node, char* text, uint32_t capacity);
    double (*node_number)(shoal_node);   /* integers beyond 2^53 are rounded; the next functions are exact */
    int64_t (*node_integer)(shoal_node); /* 0 if it has a fraction or is 2^63 or more; see node_unsigned() */
    int (*compile_field)(shoal_compilation*, shoal_node child); /* sets the field named by the key, with all checks */
    int (*compile_entity)(shoal_compilation*, uint32_t offset_bytes, const char* reference); /* must exist */
    int (*compile_array)(shoal_compilation*, uint32_t offset_bytes, const void* values, uint32_t count);
    int (*compile_error)(shoal_compilation*, shoal_node at, const char* message); /* always returns 0 */
    /* Like spawn_blob(), but with values that override those in the resource. They are checked before anything is
     * spawned. */
    uint32_t (*spawn_overridden)(shoal_world*, const void* bytes, size_t num_bytes, const shoal_override* overrides,
                                 uint32_t num_overrides, shoal_entity* first, shoal_error*);
    uint64_t (*node_unsigned)(shoal_node); /* for compile functions; 0 if it has a fraction or is negative */
    /* [passes] Enables or disables any pass of a plugin, a script or the program from the next frame on. */
    int (*enable_pass)(shoal_world*, const char* name, int is_on, shoal_error*);
    /* Copies an entity with its components, its descendants in the transform tree, and the entities that it owns. */
    int (*copy_entity)(shoal_world*, shoal_entity, shoal_entity* copy, shoal_error*);
    shoal_entity (*command_copy)(shoal_commands*, shoal_entity);          /* [passes] see command_create */
    int (*command_name)(shoal_commands*, shoal_entity, const char* name); /* [passes] */
    /* Calls run(context, commands) once, with commands that are carried out at the next settle. */
    int (*with_commands)(shoal_world*, shoal_commands_function run, void* context, shoal_error*);
    /* [passes] Copies the image of a component, which has image_bytes() bytes. A pass must declare that it reads the
     * component. */
    int (*get_image)(const shoal_world*, const shoal_component*, shoal_entity, void* image, shoal_error*);
} shoal_host;

/* --- what a plugin provides --- */
typedef struct shoal_plugin {
    uint32_t size, abi_version, host_bytes, entity_bytes; /* SHOAL_PLUGIN_HEAD; a host with fewer bytes is too old */
    const char *name, *version;
    const char* const* depends_on;     /* names of plugins that must be loaded first */
    uint32_t num_depends_on, reserved; /* 0 */
    /* If load() fails, it must free its memory. Everything that it has made in the world is removed. */
    int (*load)(const shoal_host* host, shoal_world* world, void** state, shoal_error* error);
    void (*unload)(shoal_world* world, void* state); /* frees memory outside of the world; may be NULL */
} shoal_plugin;
#define SHOAL_PLUGIN_HEAD sizeof(shoal_plugin), SHOAL_ABI_VERSION, sizeof(shoal_host), sizeof(shoal_entity)
/* The function that a plugin exports: `SHOAL_PLUGIN_EXPORT const shoal_plugin* shoal_plugin_entry(void)`. */
typedef const shoal_plugin* (*shoal_plugin_entry_function)(void);

#ifdef __cplusplus
}
#endif
