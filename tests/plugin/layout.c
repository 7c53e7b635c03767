// The layout of version 1 of the C interface, for machines with addresses of 8 bytes. What stands here never changes: a
// plugin that was built with the first header must run in every later host. What is appended gets lines of its own.

#include "shoal/plugin/shoal_abi.h"

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
/* An array of -1 elements does not compile. */
#define AT(type, field, offset) typedef char JOIN(at_, __LINE__)[offsetof(type, field) == (offset) ? 1 : -1]
#define AT_LEAST(type, bytes) typedef char JOIN(size_, __LINE__)[sizeof(type) >= (bytes) ? 1 : -1]

typedef char version_is_1[SHOAL_ABI_VERSION == 1u ? 1 : -1];
typedef char types_are_numbered[SHOAL_BOOL == 1 && SHOAL_UINT8 == 6 && SHOAL_FLOAT == 10 && SHOAL_VEC3 == 13 ? 1 : -1];
typedef char later_types_are_numbered[SHOAL_STRING_ID == 18 && SHOAL_ENTITY == 20 && SHOAL_FIXED_STRING == 21 ? 1 : -1];
typedef char flags_are_bits[SHOAL_SPLIT == 1 && SHOAL_WHOLE == 1 && SHOAL_MANY == 4 && SHOAL_SINGLE == 8 ? 1 : -1];
typedef char kinds_are_numbered[SHOAL_ON_ADD == 0 && SHOAL_ON_CHANGE == 2 && SHOAL_LOG_ERROR == 2 ? 1 : -1];
typedef char entities_are_numbers[sizeof(shoal_entity) == 4 || sizeof(shoal_entity) == 8 ? 1 : -1];

AT_LEAST(shoal_error, 512);
AT(shoal_error, size, 0);
AT(shoal_error, text, 4);

AT_LEAST(shoal_field, 48);
AT(shoal_field, size, 0);
AT(shoal_field, type, 4);
AT(shoal_field, name, 8);
AT(shoal_field, unit, 16);
AT(shoal_field, default_value, 24);
AT(shoal_field, array_length, 32);
AT(shoal_field, value_bytes, 36);
AT(shoal_field, flags, 40);

AT_LEAST(shoal_schema, 32);
AT(shoal_schema, size, 0);
AT(shoal_schema, version, 4);
AT(shoal_schema, name, 8);
AT(shoal_schema, fields, 16);
AT(shoal_schema, num_fields, 24);
AT(shoal_schema, flags, 28);

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
AT(shoal_pass_definition, run, 112);
AT(shoal_pass_definition, context, 120);

AT_LEAST(shoal_change, 24);
AT(shoal_change, size, 0);
AT(shoal_change, num_entities, 4);
AT(shoal_change, entities, 8);
AT(shoal_change, values_before, 16);

AT_LEAST(shoal_log_functions, 16);
AT(shoal_log_functions, size, 0);
AT(shoal_log_functions, write, 8);

AT_LEAST(shoal_entity_functions, 32);
AT(shoal_entity_functions, size, 0);
AT(shoal_entity_functions, create, 8);
AT(shoal_entity_functions, destroy, 16);
AT(shoal_entity_functions, alive, 24);

AT_LEAST(shoal_component_functions, 40);
AT(shoal_component_functions, size, 0);
AT(shoal_component_functions, declare, 8);
AT(shoal_component_functions, find, 16);
AT(shoal_component_functions, image_bytes, 24);
AT(shoal_component_functions, has, 32);

AT_LEAST(shoal_row_functions, 40);
AT(shoal_row_functions, size, 0);
AT(shoal_row_functions, add, 8);
AT(shoal_row_functions, remove, 16);
AT(shoal_row_functions, get, 24);
AT(shoal_row_functions, set, 32);

AT_LEAST(shoal_query_functions, 40);
AT(shoal_query_functions, size, 0);
AT(shoal_query_functions, make, 8);
AT(shoal_query_functions, destroy, 16);
AT(shoal_query_functions, num_rows, 24);
AT(shoal_query_functions, for_each_batch, 32);

AT_LEAST(shoal_pass_functions, 24);
AT(shoal_pass_functions, size, 0);
AT(shoal_pass_functions, add, 8);
AT(shoal_pass_functions, remove, 16);

AT_LEAST(shoal_command_functions, 56);
AT(shoal_command_functions, size, 0);
AT(shoal_command_functions, create, 8);
AT(shoal_command_functions, destroy, 16);
AT(shoal_command_functions, add, 24);
AT(shoal_command_functions, remove, 32);
AT(shoal_command_functions, tag, 40);
AT(shoal_command_functions, untag, 48);

AT_LEAST(shoal_event_functions, 40);
AT(shoal_event_functions, size, 0);
AT(shoal_event_functions, open, 8);
AT(shoal_event_functions, write, 16);
AT(shoal_event_functions, read, 24);
AT(shoal_event_functions, read_last, 32);

AT_LEAST(shoal_reaction_functions, 24);
AT(shoal_reaction_functions, size, 0);
AT(shoal_reaction_functions, add, 8);
AT(shoal_reaction_functions, remove, 16);

AT_LEAST(shoal_random_functions, 32);
AT(shoal_random_functions, size, 0);
AT(shoal_random_functions, for_key, 8);
AT(shoal_random_functions, next, 16);
AT(shoal_random_functions, unit, 24);

AT_LEAST(shoal_job_functions, 16);
AT(shoal_job_functions, size, 0);
AT(shoal_job_functions, for_rows, 8);

AT_LEAST(shoal_blob_functions, 16);
AT(shoal_blob_functions, size, 0);
AT(shoal_blob_functions, spawn, 8);

AT_LEAST(shoal_string_functions, 24);
AT(shoal_string_functions, size, 0);
AT(shoal_string_functions, id_of, 8);
AT(shoal_string_functions, text_of, 16);

AT_LEAST(shoal_host, 112);
AT(shoal_host, size, 0);
AT(shoal_host, abi_version, 4);
AT(shoal_host, log, 8);
AT(shoal_host, entities, 16);
AT(shoal_host, components, 24);
AT(shoal_host, rows, 32);
AT(shoal_host, queries, 40);
AT(shoal_host, passes, 48);
AT(shoal_host, commands, 56);
AT(shoal_host, events, 64);
AT(shoal_host, reactions, 72);
AT(shoal_host, random, 80);
AT(shoal_host, jobs, 88);
AT(shoal_host, blobs, 96);
AT(shoal_host, strings, 104);

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
