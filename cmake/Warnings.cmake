# Warnings are errors, and the same list holds for g++ 12 and clang 14.
add_library(quire_warnings INTERFACE)
target_compile_options(quire_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual -Werror
    $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety -Wswitch-enum -Wno-sign-conversion>
    # g++ 12 sees dangling, maybe-uninitialised and a delete of what was not allocated where std::variant and tl::expected
    # are inlined by half.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds
        -Wno-free-nonheap-object>)
# How code is compiled, by what it is: compile_as(TARGET hot_room | inlined_room | warm_room | cold_room | test | hot_test) gives a target
# the options of one of these.
#
# Rooms are HOT, WARM or neither (cmake/Room.cmake). The last are optimised little: -O3 would take half as long again to
# compile and makes no benchmark faster. With sanitizers, WARM and cold rooms are waited for more while they are compiled
# than while they run, so they are not optimised at all.
#
# A test program runs once, so it is compiled for a short build; the code that it tests is compiled as everywhere else. The
# tests of HOT rooms hold templates of these rooms. So they are optimised a little, and have UBSan's checks as the rooms
# have. The others do without both, which saves a third of their time, and a quarter under sanitizers.
#
# UBSan's checks of each `->` for null and alignment are left out: they take 31 of the 85 seconds of the room crdt/doc. An
# access through a null pointer ends the program under ASan as well, and an object can stand at a wrong address only where
# it is made in raw memory, which the room seq alone does (RAW). WARM and cold rooms do without those of object sizes,
# pointer sums and casts to derived classes, too, which ASan finds where they do harm: a twelfth of their time. A test names the line that fails, so test programs have no line numbers for the debugger: a tenth of theirs.
#
# What is not optimised calls std::move() and its like as functions, unless g++ is told that they are casts: that takes a
# sixth of the time of the room tools.
set(not_optimised -O0)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND not_optimised -ffold-simple-inlines)
endif()
set(no_pointer_checks "")
set(few_pointer_checks "")
set(no_ub_checks "")
if(QUIRE_SANITIZE MATCHES "undefined")
    set(no_pointer_checks -fno-sanitize=null,alignment)
    set(few_pointer_checks -fno-sanitize=null,alignment,object-size,pointer-overflow,vptr)
    set(no_ub_checks -fno-sanitize=undefined)
endif()
if(QUIRE_SANITIZE)
    set(hot_room_options ${no_pointer_checks})
    set(inlined_room_options ${no_pointer_checks})
    set(warm_room_options ${few_pointer_checks} ${not_optimised})
    set(cold_room_options ${few_pointer_checks} ${not_optimised})
    set(test_options ${no_ub_checks} ${not_optimised} -g0)
    set(hot_test_options ${few_pointer_checks} ${not_optimised} -g0)
elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
    set(hot_room_options "")
    # g++ stops inlining once a unit has grown by 40 %. A whole room is one unit, so the calls that an edit makes would not
    # be inlined: a commit for each edit took a sixth longer. It costs a third as much code again, which counts in the
    # memory of a kernel, so few rooms ask for it.
    set(inlined_room_options "")
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        set(inlined_room_options --param=inline-unit-growth=95)
    endif()
    set(warm_room_options "")
    set(cold_room_options -O1)
    set(test_options ${not_optimised})
    set(hot_test_options -O1)
endif()

# The headers of the standard library are read once for each set of options, and not once for each source. Builds that
# compile one source at a time (edit, clang) do not do so: there a source has to include what it uses.
function(compile_as target set)
    target_compile_options(${target} PRIVATE ${${set}_options})
    if(NOT CMAKE_UNITY_BUILD OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        return()
    endif()
    set(header standard.h)
    set(linked "")
    # Fakes are declared without tests too, for the benchmarks.
    if(set MATCHES "test" AND TARGET GTest::gtest)
        set(header testing.h)
        set(linked GTest::gtest)
    endif()
    target_link_libraries(${target} PRIVATE ${linked})
    # Headers are shared by sources with the same options alone. So programs are compiled as libraries are, all with the
    # option that some libraries ask for, and two sets with the same options have the same headers.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC -pthread)
    list(JOIN ${set}_options "" provider)
    string(MAKE_C_IDENTIFIER "quire_precompiled_${header}${provider}" provider)
    if(NOT TARGET ${provider})
        file(WRITE "${PROJECT_BINARY_DIR}/precompiled/${provider}.cc" "")
        add_library(${provider} OBJECT EXCLUDE_FROM_ALL "${PROJECT_BINARY_DIR}/precompiled/${provider}.cc")
        target_compile_options(${provider} PRIVATE ${${set}_options} -pthread)
        target_link_libraries(${provider} PRIVATE quire_warnings ${linked})
        target_precompile_headers(${provider} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/precompiled/${header}")
    endif()
    target_precompile_headers(${target} REUSE_FROM ${provider})
endfunction()

# A unit build compiles a room as one source, and the tests of a room eight at a time: a third of the time. An unnamed
# namespace of one source is then visible to the others, so its names are unique within the room.
if(CMAKE_UNITY_BUILD)
    target_compile_options(quire_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
