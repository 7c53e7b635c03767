// The layout of version 1 of the C interface, for machines with addresses of 8 bytes. What stands here never changes: a
// plugin that was built with the first header must run in every later host. What is appended gets lines of its own.

#ifndef SHOAL_ABI_HEADER
#define SHOAL_ABI_HEADER "shoal/plugin/shoal_abi.h" /* the other one is that of the first version, which is kept */
#define HAS_WHAT_WAS_APPENDED
#endif
#include SHOAL_ABI_HEADER
#ifndef HAS_WHAT_WAS_APPENDED
#define SHOAL_SINGLETON SHOAL_SINGLE /* the old word, in the first version */
#include "new_names.h"
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
/* An array of -1 elements does not compile. */
#define AT(type, field, offset) typedef char JOIN(at_, __LINE__)[offsetof(type, field) == (offset) ? 1 : -1]
#define AT_LEAST(type, bytes) typedef char JOIN(size_, __LINE__)[sizeof(type) >= (bytes) ? 1 : -1]

typedef char version_is_1[SHOAL_ABI_VERSION == 1u ? 1 : -1];
typedef char types_are_numbered[SHOAL_BOOL == 1 && SHOAL_UINT8 == 6 && SHOAL_FLOAT == 10 && SHOAL_VEC3 == 13 ? 1 : -1];
typedef char later_types_are_numbered[SHOAL_ENUM == 17 && SHOAL_ENTITY == 20 && SHOAL_BLOB_ARRAY == 22 ? 1 : -1];
typedef char
    flags_are_bits[SHOAL_SPLIT == 1 && SHOAL_RELATION == 2 && SHOAL_CLEARED == 4 && SHOAL_DIES_TOO == 8 ? 1 : -1];
typedef char
    schemas_have_bits[SHOAL_WHOLE == 1 && SHOAL_MANY == 4 && SHOAL_SINGLETON == 8 && SHOAL_WITHOUT_ROWS == 16 ? 1 : -1];
typedef char kinds_are_numbered
    [SHOAL_ON_ADD == 0 && SHOAL_ON_CHANGE == 2 && SHOAL_LOG_ERROR == 2 && SHOAL_NO_COMMANDS == 1 ? 1 : -1];
typedef char nodes_are_numbered[SHOAL_NODE_NONE == 0 && SHOAL_NODE_STRING == 5 && SHOAL_NODE_MAPPING == 7 ? 1 : -1];
typedef char entities_are_numbers[sizeof(shoal_entity) == 4 || sizeof(shoal_entity) == 8 ? 1 : -1];

AT_LEAST(shoal_error, 512);
AT(shoal_error, size, 0);
AT(shoal_error, text, 4);

AT_LEAST(shoal_enumerator, 16);
AT(shoal_enumerator, name, 0);
AT(shoal_enumerator, value, 8);

AT_LEAST(shoal_field, 64);
AT(shoal_field, size, 0);
AT(shoal_field, type, 4);
AT(shoal_field, name, 8);
AT(shoal_field, unit, 16);
AT(shoal_field, default_value, 24);
AT(shoal_field, array_length, 32);
AT(shoal_field, value_bytes, 36);
AT(shoal_field, flags, 40);
AT(shoal_field, element_type, 44);
AT(shoal_field, enumerators, 48);
AT(shoal_field, num_enumerators, 56);
AT(shoal_field, reserved, 60);

AT_LEAST(shoal_schema, 32);
AT(shoal_schema, size, 0);
AT(shoal_schema, version, 4);
AT(shoal_schema, name, 8);
AT(shoal_schema, fields, 16);
AT(shoal_schema, num_fields, 24);
AT(shoal_schema, flags, 28);

AT_LEAST(shoal_node, 16);
AT(shoal_node, data, 0);

AT_LEAST(shoal_compile, 40);
AT(shoal_compile, size, 0);
AT(shoal_compile, image_bytes, 4);
AT(shoal_compile, compilation, 8);
AT(shoal_compile, node, 16);
AT(shoal_compile, image, 32);

AT_LEAST(shoal_spawn, 40);
AT(shoal_spawn, size, 0);
AT(shoal_spawn, num_components, 4);
AT(shoal_spawn, owners, 8);
AT(shoal_spawn, parents, 16);
AT(shoal_spawn, images, 24);
AT(shoal_spawn, image_bytes, 32);

AT_LEAST(shoal_migration, 40);
AT(shoal_migration, size, 0);
AT(shoal_migration, from_version, 4);
AT(shoal_migration, olds, 8);
AT(shoal_migration, news, 16);
AT(shoal_migration, num_olds, 24);
AT(shoal_migration, num_news, 28);
AT(shoal_migration, migrate, 32);

AT_LEAST(shoal_component_definition, 48);
AT(shoal_component_definition, size, 0);
AT(shoal_component_definition, spawn_order, 4);
AT(shoal_component_definition, context, 8);
AT(shoal_component_definition, compile, 16);
AT(shoal_component_definition, spawn, 24);
AT(shoal_component_definition, migrations, 32);
AT(shoal_component_definition, num_migrations, 40);
AT(shoal_component_definition, reserved, 44);

AT_LEAST(shoal_rows, 24);
AT(shoal_rows, size, 0);
AT(shoal_rows, num_rows, 4);
AT(shoal_rows, entities, 8);
AT(shoal_rows, columns, 16);

AT_LEAST(shoal_memory, 24);
AT(shoal_memory, size, 0);
AT(shoal_memory, reserved, 4);
AT(shoal_memory, row_bytes, 8);
AT(shoal_memory, index_bytes, 16);

AT_LEAST(shoal_store, 144);
AT(shoal_store, size, 0);
AT(shoal_store, reserved, 4);
AT(shoal_store, context, 8);
AT(shoal_store, create, 16);
AT(shoal_store, destroy, 24);
AT(shoal_store, show, 32);
AT(shoal_store, first, 40);
AT(shoal_store, next, 48);
AT(shoal_store, spawn, 56);
AT(shoal_store, set_parents, 64);
AT(shoal_store, after_spawn, 72);
AT(shoal_store, drop_dead, 80);
AT(shoal_store, get, 88);
AT(shoal_store, set, 96);
AT(shoal_store, written, 104);
AT(shoal_store, memory, 112);
AT(shoal_store, save, 120);
AT(shoal_store, load, 128);
AT(shoal_store, end, 136);

AT_LEAST(shoal_column, 32);
AT(shoal_column, size, 0);
AT(shoal_column, stride, 4);
AT(shoal_column, first, 8);
AT(shoal_column, first_written, 16);
AT(shoal_column, rows, 24);

AT_LEAST(shoal_batch, 24);
AT(shoal_batch, size, 0);
AT(shoal_batch, num_rows, 4);
AT(shoal_batch, entities, 8);
AT(shoal_batch, columns, 16);

AT_LEAST(shoal_pass, 32);
AT(shoal_pass, size, 0);
AT(shoal_pass, dt, 4);
AT(shoal_pass, frame, 8);
AT(shoal_pass, random_seed, 16);
AT(shoal_pass, commands, 24);

AT_LEAST(shoal_pass_definition, 128);
AT(shoal_pass_definition, size, 0);
AT(shoal_pass_definition, every_frames, 4);
AT(shoal_pass_definition, name, 8);
AT(shoal_pass_definition, query, 16);
AT(shoal_pass_definition, columns, 24);
AT(shoal_pass_definition, reads, 32);
AT(shoal_pass_definition, writes, 40);
AT(shoal_pass_definition, reads_from, 48);
AT(shoal_pass_definition, writes_to, 56);
AT(shoal_pass_definition, runs_after, 64);
AT(shoal_pass_definition, runs_before, 72);
AT(shoal_pass_definition, num_columns, 80);
AT(shoal_pass_definition, num_reads, 84);
AT(shoal_pass_definition, num_writes, 88);
AT(shoal_pass_definition, num_reads_from, 92);
AT(shoal_pass_definition, num_writes_to, 96);
AT(shoal_pass_definition, num_runs_after, 100);
AT(shoal_pass_definition, num_runs_before, 104);
AT(shoal_pass_definition, flags, 108);
AT(shoal_pass_definition, run, 112);
AT(shoal_pass_definition, context, 120);

AT_LEAST(shoal_change, 24);
AT(shoal_change, size, 0);
AT(shoal_change, num_entities, 4);
AT(shoal_change, entities, 8);
AT(shoal_change, values_before, 16);

AT_LEAST(shoal_verb_call, 24);
AT(shoal_verb_call, size, 0);
AT(shoal_verb_call, num_words, 4);
AT(shoal_verb_call, words, 8);
AT(shoal_verb_call, print, 16);

AT_LEAST(shoal_verb, 48);
AT(shoal_verb, size, 0);
AT(shoal_verb, reserved, 4);
AT(shoal_verb, name, 8);
AT(shoal_verb, summary, 16);
AT(shoal_verb, operands, 24);
AT(shoal_verb, run, 32);
AT(shoal_verb, context, 40);

AT_LEAST(shoal_host, 448);
AT(shoal_host, size, 0);
AT(shoal_host, abi_version, 4);
AT(shoal_host, log, 8);
AT(shoal_host, create_entities, 16);
AT(shoal_host, destroy_entities, 24);
AT(shoal_host, is_alive, 32);
AT(shoal_host, declare_component, 40);
AT(shoal_host, define_component, 48);
AT(shoal_host, find_component, 56);
AT(shoal_host, image_bytes, 64);
AT(shoal_host, has_component, 72);
AT(shoal_host, add_rows, 80);
AT(shoal_host, remove_rows, 88);
AT(shoal_host, get_field, 96);
AT(shoal_host, set_field, 104);
AT(shoal_host, add_store, 112);
AT(shoal_host, rows_moved, 120);
AT(shoal_host, write_bytes, 128);
AT(shoal_host, make_query, 136);
AT(shoal_host, destroy_query, 144);
AT(shoal_host, num_rows, 152);
AT(shoal_host, for_each_batch, 160);
AT(shoal_host, add_pass, 168);
AT(shoal_host, remove_pass, 176);
AT(shoal_host, command_create, 184);
AT(shoal_host, command_destroy, 192);
AT(shoal_host, command_add, 200);
AT(shoal_host, command_remove, 208);
AT(shoal_host, command_tag, 216);
AT(shoal_host, command_untag, 224);
AT(shoal_host, open_channel, 232);
AT(shoal_host, write_events, 240);
AT(shoal_host, read_events, 248);
AT(shoal_host, read_last_events, 256);
AT(shoal_host, add_observer, 264);
AT(shoal_host, remove_observer, 272);
AT(shoal_host, random_for_key, 280);
AT(shoal_host, random_next, 288);
AT(shoal_host, random_unit, 296);
AT(shoal_host, for_rows, 304);
AT(shoal_host, spawn_blob, 312);
AT(shoal_host, find_array, 320);
AT(shoal_host, string_id, 328);
AT(shoal_host, string_text, 336);
AT(shoal_host, add_verb, 344);
AT(shoal_host, node_kind, 352);
AT(shoal_host, node_count, 360);
AT(shoal_host, node_child, 368);
AT(shoal_host, node_find, 376);
AT(shoal_host, node_key, 384);
AT(shoal_host, node_text, 392);
AT(shoal_host, node_number, 400);
AT(shoal_host, node_integer, 408);
AT(shoal_host, compile_field, 416);
AT(shoal_host, compile_entity, 424);
AT(shoal_host, compile_array, 432);
AT(shoal_host, compile_error, 440);

AT_LEAST(shoal_plugin, 64);
AT(shoal_plugin, size, 0);
AT(shoal_plugin, abi_version, 4);
AT(shoal_plugin, host_bytes, 8);
AT(shoal_plugin, entity_bytes, 12);
AT(shoal_plugin, name, 16);
AT(shoal_plugin, version, 24);
AT(shoal_plugin, depends_on, 32);
AT(shoal_plugin, num_depends_on, 40);
AT(shoal_plugin, reserved, 44);
AT(shoal_plugin, load, 48);
AT(shoal_plugin, unload, 56);

#ifdef HAS_WHAT_WAS_APPENDED
AT_LEAST(shoal_override, 32);
AT(shoal_override, size, 0);
AT(shoal_override, num_bytes, 4);
AT(shoal_override, entity, 8);
AT(shoal_override, field, 16);
AT(shoal_override, value, 24);
AT(shoal_host, spawn_overridden, 448);
AT(shoal_host, node_unsigned, 456);
AT(shoal_pass_definition, every_seconds, 128);
AT(shoal_host, enable_pass, 464);
AT(shoal_host, copy_entity, 472);
AT(shoal_host, command_copy, 480);
AT(shoal_host, command_name, 488);
AT(shoal_host, with_commands, 496);
AT(shoal_host, get_image, 504);
#endif
