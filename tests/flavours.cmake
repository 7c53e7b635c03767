# Which tests each flavour of the build runs; CONTRIBUTING.md says what each flavour is for. A test runs where it shows
# something, and in one flavour unless another one shows more: most of them in `plain`, and in the others what is listed here.
# An entry is a folder of tests, or one source in it without `_test.cpp`. With SHOAL_TESTS=all a build runs all that it can:
# `./dev test everything` does that.

# g++, optimised: what the compiler, the optimiser or a measuring program decides.
set(SHOAL_TESTS_OF_release
    base/floating_point store/manager_oracle database/database_oracle query/query_oracle
    transform/pose_kernels transform/transform_oracle
    determinism structure compile_fail debugger bench samples entity_16 script_lua54)

# Address and undefined-behaviour sanitizers, all checks: memory, files, hostile input, and calls that only checked builds refuse.
set(SHOAL_TESTS_OF_address
    base document table resource plugin script
    entity/death_list entity/entity_oracle entity/entity_threads
    store/manager_death store/manager_memory store/manager_oracle store/manager_spawn store/owned_rows store/relation_index
    store/stale_rows
    database/arguments database/database_memory database/database_oracle database/database_spawn database/destructors
    query/command_oracle query/query_oracle query/stale_database_rows query/text_query
    components/data components/ownership components/tag
    pose/model_pose_oracle pose/model_pose_spawn
    transform/transform_calls transform/transform_death transform/transform_links transform/transform_oracle
    transform/transform
    world/copy world/fields world/misuse world/out_of_memory world/persist world/recording world/reentry world/reload
    world/save world/save_commands world/save_migration world/save_zones world/state_log world/world_lifetime
    world/zone_files world/zone_files_save
    source/composer source/compiler source/data_text source/gltf source/random_composer source/schema_file
    source/source_diff source/source_merge source/source_migration source/source_text source/yaml
    inspect/describe inspect/picture
    determinism tool/persisted tool/replay tool/rewrite tool/usage safety programs)

# Thread sanitizer, all checks: what runs on several threads.
set(SHOAL_TESTS_OF_thread
    job components/point_mass entity/entity_threads
    query/command_oracle query/query_oracle query/row_lock
    pose/model_pose transform/transform_frame
    world/activity world/copy world/events world/misuse world/persist world/reactions world/recording world/schedule_groups
    world/schedule_order world/schedule_random world/schedule_rows world/schedule_threads world/stalled_executor
    world/state_hash world/world_commands world/world_query world/zone_files_save
    plugin determinism samples)

# 64-bit ids: what packs, saves or prints ids.
set(SHOAL_TESTS_OF_wide
    entity table/any_value table/row_index table/table_links
    store/belongings store/manager_death store/manager_oracle store/relation_index
    database/component_slots database/database_oracle database/directory
    query/command_oracle query/text_query
    resource/round_trip resource/spawner resource/spawn_zones
    components/ownership transform/transform_links
    world/copy world/relations world/save world/save_commands world/state_hash world/world_commands
    plugin compile_fail)

# What another processor computes.
set(SHOAL_TESTS_OF_processor base/floating_point transform/pose_kernels determinism)

if(NOT SHOAL_TESTS MATCHES "^(all|plain)$" AND NOT DEFINED SHOAL_TESTS_OF_${SHOAL_TESTS})
  message(FATAL_ERROR "SHOAL_TESTS is \"${SHOAL_TESTS}\"; tests/flavours.cmake lists what it can be")
endif()
foreach(entry IN LISTS SHOAL_TESTS_OF_${SHOAL_TESTS})
  if(NOT entry MATCHES "^(entity_16|script_lua54)$" AND NOT IS_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}/${entry}
     AND NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${entry}_test.cpp)
    message(FATAL_ERROR "tests/flavours.cmake names \"${entry}\", which is not there")
  endif()
endforeach()

# What the others show: how g++ optimises, or what a sanitizer sees of it.
set(SHOAL_TESTS_NOT_IN_plain bench compile_fail debugger determinism entity_16 programs samples script_lua54)

# shoal_runs_tests(ENTRY RESULT): whether this flavour runs the tests of a folder, or some of them.
function(shoal_runs_tests entry result)
  set(${result} ON PARENT_SCOPE)
  if(SHOAL_TESTS STREQUAL "plain" AND entry IN_LIST SHOAL_TESTS_NOT_IN_plain)
    set(${result} OFF PARENT_SCOPE)
  elseif(NOT SHOAL_TESTS MATCHES "^(all|plain)$" AND NOT ";${SHOAL_TESTS_OF_${SHOAL_TESTS}}" MATCHES ";${entry}(/|;|$)")
    set(${result} OFF PARENT_SCOPE)
  endif()
endfunction()

# shoal_tests_in(FOLDER RESULT): the sources of a folder of tests that this flavour runs.
function(shoal_tests_in folder result)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${folder}/*_test.cpp)
  if(NOT SHOAL_TESTS MATCHES "^(all|plain)$" AND NOT folder IN_LIST SHOAL_TESTS_OF_${SHOAL_TESTS})
    set(kept "")
    foreach(source IN LISTS sources)
      get_filename_component(name ${source} NAME)
      string(REPLACE "_test.cpp" "" name ${name})
      if("${folder}/${name}" IN_LIST SHOAL_TESTS_OF_${SHOAL_TESTS})
        list(APPEND kept ${source})
      endif()
    endforeach()
    set(sources ${kept})
  endif()
  set(${result} "${sources}" PARENT_SCOPE)
endfunction()
