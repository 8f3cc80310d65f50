# Warnings are errors, and the same list holds for g++ 12 and clang 14.
add_library(quire_warnings INTERFACE)
target_compile_options(quire_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual -Werror
    $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety -Wswitch-enum -Wno-sign-conversion>
    # g++ 12 sees dangling and maybe-uninitialised where std::variant and tl::expected are inlined.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds>)
if(QUIRE_SANITIZE STREQUAL "thread")
    # And here the end of a long list of strings as a delete of what was not allocated.
    target_compile_options(quire_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-free-nonheap-object>)
endif()
# Most rooms are waited for more while they are compiled with sanitizers than while they run: without optimisation that
# takes half the time. They also do without UBSan's checks of each `->` for null and alignment, which take 37 of the 87
# seconds of the room kernel/core: an access through a null pointer ends the program under ASan as well, and only HOT rooms
# read numbers from bytes. Rooms that are HOT (cmake/Room.cmake) stay optimised and have every check. Those that are COLD
# are compiled for a short build in every build.
add_library(quire_cool_code INTERFACE)
add_library(quire_cold_code INTERFACE)
if(QUIRE_SANITIZE)
    set(short_build -O0)
    if(QUIRE_SANITIZE MATCHES "undefined")
        list(APPEND short_build -fno-sanitize=null,alignment)
    endif()
    target_compile_options(quire_cool_code INTERFACE ${short_build})
    target_compile_options(quire_cold_code INTERFACE ${short_build})
elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
    # At -O1 g++ 12 sees a delete of what was not allocated where it inlines half of a std::unique_ptr in tl::expected.
    target_compile_options(quire_cold_code INTERFACE -O1 $<$<CXX_COMPILER_ID:GNU>:-Wno-free-nonheap-object>)
endif()
# A test program runs once, so it is compiled for a short build. The code that it tests is compiled as everywhere else.
add_library(quire_test_code INTERFACE)
if(QUIRE_SANITIZE)
    target_compile_options(quire_test_code INTERFACE ${short_build})
elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(quire_test_code INTERFACE -O1)
endif()

# A unit build compiles a room as one source, and the tests of a room eight at a time: a third of the time. An unnamed
# namespace of one source is then visible to the others, so its names are unique within the room.
if(CMAKE_UNITY_BUILD)
    target_compile_options(quire_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endif()
