# Tests that stand outside the rooms, below tests/. Each is a ctest; scripts/run_tests.py runs them all
# and counts the cases inside.

# suite(NAME ROOMS room... [LINK target...] [TIMEOUT seconds] [HOT] [NEEDS_PROGRAM])
#
# Every *_test.cc below tests/NAME becomes the program NAME_suite; the other *.cc there are linked to
# it as the library quire_tests_NAME, which another suite or a room's test may LINK. HOT: as in
# cmake/Room.cmake. With NEEDS_PROGRAM the program `quire` is built first and its path is in $QUIRE. A suite
# without a test yet is not there.
function(suite name)
    cmake_parse_arguments(ARG "HOT;NEEDS_PROGRAM" "TIMEOUT" "ROOMS;LINK" ${ARGN})
    file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cc")
    set(tests ${sources})
    list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
    list(FILTER tests INCLUDE REGEX "_test\\.cc$")

    set(rooms)
    foreach(room IN LISTS ARG_ROOMS)
        string(REPLACE "/" "_" room_target "${room}")
        list(APPEND rooms quire_${room_target})
    endforeach()

    if(sources)
        add_library(quire_tests_${name} STATIC ${sources})
        target_include_directories(quire_tests_${name} PUBLIC "${PROJECT_SOURCE_DIR}")
        target_link_libraries(quire_tests_${name} PUBLIC ${rooms} ${ARG_LINK} PRIVATE quire_warnings)
        compile_as(quire_tests_${name} hot_room)
        list(APPEND ARG_LINK quire_tests_${name})
    endif()
    if(NOT tests)
        return()
    endif()
    add_executable(${name}_suite ${tests})
    target_include_directories(${name}_suite PRIVATE "${PROJECT_SOURCE_DIR}")
    if(ARG_HOT)
        compile_as(${name}_suite hot_test)
    else()
        compile_as(${name}_suite test)
    endif()
    target_link_libraries(${name}_suite PRIVATE ${rooms} ${ARG_LINK} quire_warnings quire_test_paths
        GTest::gtest_main)
    link_fakes(${name}_suite)
    add_test(NAME ${name} COMMAND ${name}_suite WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}/${name}")
    if(NOT ARG_TIMEOUT)
        set(ARG_TIMEOUT 600)
    endif()
    set_tests_properties(${name} PROPERTIES LABELS "suite" TIMEOUT ${ARG_TIMEOUT})
    if(ARG_NEEDS_PROGRAM AND TARGET quire)
        add_dependencies(${name}_suite quire)
        set_tests_properties(${name} PROPERTIES ENVIRONMENT "QUIRE=$<TARGET_FILE:quire>")
    endif()
endfunction()

# node_test(FILE [TIMEOUT seconds])
#
# tests/node/FILE, a program of node's own test runner, against the built `quire`. Where the node
# packages are not installed it is skipped, with that as the reason.
function(node_test file)
    cmake_parse_arguments(ARG "" "TIMEOUT" "" ${ARGN})
    string(REGEX REPLACE "[.]test[.]mjs$" "" name "${file}")
    if(NOT ARG_TIMEOUT)
        set(ARG_TIMEOUT 600)
    endif()
    add_test(NAME node/${name} COMMAND "${PROJECT_SOURCE_DIR}/scripts/node.sh" --test-file "${file}"
        WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}/tests/node")
    # As kRoundsShare (src/base/share_for_test.h).
    set(rounds_share 1)
    if(QUIRE_SANITIZE)
        set(rounds_share 4)
    endif()
    set_tests_properties(node/${name} PROPERTIES LABELS "node" TIMEOUT ${ARG_TIMEOUT} SKIP_RETURN_CODE 77
        ENVIRONMENT "QUIRE=${PROJECT_BINARY_DIR}/quire;QUIRE_ROUNDS_SHARE=${rounds_share}")
endfunction()

# script_test(NAME SCRIPT args...): a check in Python, held to by its exit status (77: skipped).
function(script_test name)
    add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} ${ARGN} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(${name} PROPERTIES LABELS "check" TIMEOUT 120 SKIP_RETURN_CODE 77)
endfunction()
