# Which tests each flavour of the build runs; CONTRIBUTING.md says what each flavour is for. A test runs where it shows
# something, and in one flavour unless another one shows more: most of them in `plain`, and in the others what is listed here.
# An entry is a folder of tests, or one source in it without `_test.cpp`. With SHOAL_TESTS=all a build runs all that it can:
# `./dev test everything` does that.

# g++, optimised: what the compiler or the optimiser decides.
set(SHOAL_TESTS_OF_gcc
    base/floating_point store/manager_oracle database/database_oracle query/query_oracle
    transform/pose_kernels transform/transform_oracle
    determinism structure compile_fail debugger bench samples entity_16)

# Address and undefined-behaviour sanitizers, all checks: hostile input, files, memory that is used after its end or runs out, random
# programs and the random tests of each room, and what only checked builds refuse.
set(SHOAL_TESTS_OF_address
    base/assert base/file base/memory base/page_array base/page_pool base/text
    document/document document/hostile document/json document/sjson
    table/row_links table/table_bulk table/table_opaque table/table_state
    store/manager_memory store/manager_oracle store/owned_rows store/stale_rows
    database/arguments database/database_memory database/database_oracle database/destructors
    query/command_oracle query/query_oracle query/stale_database_rows query/text_query
    components/properties pose/model_pose_oracle
    resource/blob resource/blob_in_use resource/damage resource/migration
    transform/transform transform/transform_calls transform/transform_oracle
    plugin script sql
    world/fields world/out_of_memory save/persist save/recording world/reentry reload/reload save/save save/save_migration
    save/save_zones save/state_log world/world_lifetime save/zone_files
    source/composer source/compiler source/random_composer source/schema_file source/yaml
    rewrite/source_merge rewrite/source_text import/gltf
    inspect/describe_entity inspector cluster determinism
    tool/persisted tool/replay tool/rewrite tool/usage safety programs)

# Thread sanitizer, all checks, 64-bit ids: what runs on several threads, and what packs, saves or prints ids.
set(SHOAL_TESTS_OF_thread
    job entity components/point_mass components/ownership
    table/any_value table/row_index table/table_links
    store/belongings store/manager_death store/manager_oracle store/relation_index
    database/component_slots database/database_oracle database/directory
    query/command_oracle query/query_join query/query_oracle query/row_lock query/text_query
    resource/round_trip resource/spawner resource/spawn_zones
    pose/model_pose transform/transform_frame transform/transform_links
    world/activity world/copy world/events world/misuse save/persist react/observers save/recording react/relations
    world/pose_query world/recent_links save/save save/save_commands world/schedule_groups world/schedule_order
    world/schedule_random world/schedule_rows world/schedule_threads world/stalled_executor save/state_hash world/world_commands
    world/world_query save/zone_files_save
    inspector plugin determinism samples)

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

# Cases that take long under a sanitizer and show it nothing: programs that are killed or told to end, that wait for files to
# change or for a full disk, inputs of a million parts, which other cases have with fewer, and what shows what something costs.
# MPI in the process of the tests keeps memory to the end; the processes with several ranks are told not to look.
set(SHOAL_CASES_NOT_SANITIZED ClusterManual.* SafetyKill.* SafetySignal.* SafetyDisk.* SafetyLongLine.* *Watch.* *million* *is_killed*
    *in_the_time_of* *cost_no_more* *costs_at_most* *count_steps* *ten_thousand_archetypes* *more_than_65536*)
# Hostile input is for the address sanitizer, and so are deaths within deaths. Statistics of random numbers are for neither.
if(SHOAL_SANITIZE MATCHES "thread")
  list(APPEND SHOAL_CASES_NOT_SANITIZED *damaged* *false_state* *made_up* *decompressed* *values_count_as_memory* ManagerDestructors.*
       DestructionCallbackTest.* *some_fish_are_hungry* Save.a_false_zone* Save.a_value_that_no_load* Recording.a_false_record*
       ScheduleRandom.*unrelated* ScheduleRandom.*never_share*)
endif()

# What the others show: how g++ optimises, or what a sanitizer sees of it.
set(SHOAL_TESTS_NOT_IN_plain bench compile_fail debugger determinism entity_16 programs samples)

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
