# Warnings are errors, and the same list holds for g++ 12 and clang 14.
add_library(quire_warnings INTERFACE)
target_compile_options(quire_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual -Werror
    $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety -Wswitch-enum -Wno-sign-conversion>
    # g++ 12 sees dangling, maybe-uninitialised and a delete of what was not allocated where std::variant and tl::expected
    # are inlined by half.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds
        -Wno-free-nonheap-object>)
# Most rooms are waited for more while they are compiled with sanitizers than while they run: without optimisation that
# takes half the time. Rooms that are HOT (cmake/Room.cmake) stay optimised. Those that are COLD are compiled for a short
# build in every build.
#
# UBSan's checks of each `->` for null and alignment are left out: they take 31 of the 85 seconds of the room crdt/doc. An
# access through a null pointer ends the program under ASan as well, and an object can stand at a wrong address only where
# it is made in raw memory, which the room seq alone does (RAW).
set(no_pointer_checks "")
if(QUIRE_SANITIZE MATCHES "undefined")
    set(no_pointer_checks -fno-sanitize=null,alignment)
endif()
add_library(quire_room_code INTERFACE)
target_compile_options(quire_room_code INTERFACE ${no_pointer_checks})
add_library(quire_cool_code INTERFACE)
add_library(quire_cold_code INTERFACE)
if(QUIRE_SANITIZE)
    target_compile_options(quire_cool_code INTERFACE -O0)
    target_compile_options(quire_cold_code INTERFACE -O0)
elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(quire_cold_code INTERFACE -O1)
endif()
# A test program runs once, so it is compiled for a short build; the code that it tests is compiled as everywhere else. The
# tests of HOT rooms hold templates of these rooms. So they are optimised a little, and have UBSan's checks as the rooms
# have. The others do without both, which saves a third of their time, and a quarter under sanitizers.
add_library(quire_hot_test_code INTERFACE)
add_library(quire_test_code INTERFACE)
if(QUIRE_SANITIZE)
    target_compile_options(quire_hot_test_code INTERFACE -O0 ${no_pointer_checks})
    target_compile_options(quire_test_code INTERFACE -O0)
    if(QUIRE_SANITIZE MATCHES "undefined")
        target_compile_options(quire_test_code INTERFACE -fno-sanitize=undefined)
    endif()
elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(quire_hot_test_code INTERFACE -O1)
    target_compile_options(quire_test_code INTERFACE -O0)
endif()

# A unit build compiles a room as one source, and the tests of a room eight at a time: a third of the time. An unnamed
# namespace of one source is then visible to the others, so its names are unique within the room.
if(CMAKE_UNITY_BUILD)
    target_compile_options(quire_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
