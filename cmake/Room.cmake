# room(NAME DEPS room... [TESTS room...] [LINK target...] [SEPARATE] [RAW] [HOT [INLINED] | WARM])
#
# Declares a room of the house: every *.cc below src/NAME, but not below a room inside it, becomes the
# library quire_NAME, and its *_test.cc the program NAME_test; a main.cc is left to its room. The
# *_for_test.cc are fakes that tests share: they become quire_NAME_fakes, which no program links. A room
# may depend only on rooms that are already declared, so a cycle cannot be written;
# scripts/check_layers.py holds the includes to the same list, which is written to build/layers.txt.
#
# TESTS: rooms that only the room's own tests include; any room may be named.
#
# SEPARATE: the room's sources call different things by the same names, as one file per tool does, and are never
# compiled as one (cmake/Warnings.cmake).
#
# RAW: the room makes objects in raw memory, so sanitizers check the address of each.
#
# Most rooms do a little for each call and wait for a disk or another process, so they are compiled for a short build. HOT
# and WARM rooms have loops over texts, documents and trees, and are optimised: HOT ones also under sanitizers, because
# tests spend their time there. INLINED: a call of a few instructions must not cost a call here, so more is inlined.
set_property(GLOBAL PROPERTY QUIRE_ROOMS "")
file(WRITE "${CMAKE_BINARY_DIR}/layers.txt" "")

# Links the fakes of all rooms declared so far to a test: a shared test header may need those of a room below the test's
# own. The program itself never links any.
function(link_fakes target)
    get_property(rooms GLOBAL PROPERTY QUIRE_ROOMS)
    foreach(room IN LISTS rooms)
        string(REPLACE "/" "_" room "${room}")
        if(TARGET quire_${room}_fakes)
            target_link_libraries(${target} PRIVATE quire_${room}_fakes)
        endif()
    endforeach()
endfunction()

function(room name)
    cmake_parse_arguments(ARG "SEPARATE;RAW;HOT;INLINED;WARM" "" "DEPS;TESTS;LINK" ${ARGN})
    string(REPLACE "/" "_" target "${name}")
    get_property(declared GLOBAL PROPERTY QUIRE_ROOMS)
    foreach(dep IN LISTS ARG_DEPS)
        if(NOT dep IN_LIST declared)
            message(FATAL_ERROR "room '${name}' depends on '${dep}', which is not below it")
        endif()
    endforeach()
    set_property(GLOBAL APPEND PROPERTY QUIRE_ROOMS "${name}")
    string(JOIN " " deps ${ARG_DEPS})
    string(JOIN " " test_deps ${ARG_TESTS})
    file(APPEND "${CMAKE_BINARY_DIR}/layers.txt" "${name}: ${deps} | ${test_deps}\n")

    file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cc")
    set(tests ${sources})
    set(fakes ${sources})
    list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cc$")
    list(FILTER tests INCLUDE REGEX "_test\\.cc$")
    list(FILTER tests EXCLUDE REGEX "_for_test\\.cc$")
    list(FILTER fakes INCLUDE REGEX "_for_test\\.cc$")

    set(dep_targets)
    foreach(dep IN LISTS ARG_DEPS)
        string(REPLACE "/" "_" dep_target "${dep}")
        list(APPEND dep_targets quire_${dep_target})
    endforeach()

    if(sources)
        add_library(quire_${target} STATIC ${sources})
        # A unit build compiles a room as one source (cmake/Warnings.cmake).
        set_target_properties(quire_${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 0)
        if(ARG_SEPARATE)
            set_target_properties(quire_${target} PROPERTIES UNITY_BUILD OFF)
        endif()
        if(ARG_WARM)
            compile_as(quire_${target} warm_room)
        elseif(NOT ARG_HOT)
            compile_as(quire_${target} cold_room)
        elseif(ARG_INLINED)
            compile_as(quire_${target} inlined_room)
        elseif(NOT ARG_RAW)
            compile_as(quire_${target} hot_room)
        endif()
        target_include_directories(quire_${target} PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}")
        target_link_libraries(quire_${target} PUBLIC ${dep_targets} ${ARG_LINK} PRIVATE quire_warnings)
    else()
        add_library(quire_${target} INTERFACE)
        target_include_directories(quire_${target} INTERFACE "${CMAKE_CURRENT_SOURCE_DIR}")
        target_link_libraries(quire_${target} INTERFACE ${dep_targets} ${ARG_LINK})
    endif()

    if(fakes)
        add_library(quire_${target}_fakes STATIC EXCLUDE_FROM_ALL ${fakes})
        target_link_libraries(quire_${target}_fakes PUBLIC quire_${target} PRIVATE quire_warnings)
        # A program may take a function of the standard library from here that its rooms have too, and benchmarks link fakes.
        compile_as(quire_${target}_fakes hot_test)
    endif()

    if(QUIRE_TESTS AND tests)
        add_executable(${target}_test ${tests})
        list(TRANSFORM ARG_TESTS REPLACE "/" "_")
        list(TRANSFORM ARG_TESTS PREPEND "quire_")
        if(ARG_HOT)
            compile_as(${target}_test hot_test)
        else()
            compile_as(${target}_test test)
        endif()
        target_link_libraries(${target}_test PRIVATE quire_${target} ${ARG_TESTS} quire_warnings quire_test_paths
            GTest::gtest_main)
        link_fakes(${target}_test)
        add_test(NAME ${target} COMMAND ${target}_test)
        set_tests_properties(${target} PROPERTIES LABELS "room" TIMEOUT 3600)
    endif()
endfunction()
