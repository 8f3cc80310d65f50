# Warnings are errors, and the same list holds for g++ 12 and clang 14.
add_library(quire_warnings INTERFACE)
target_compile_options(quire_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual -Werror
    $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety -Wswitch-enum -Wno-sign-conversion>
    # g++ 12 sees dangling and maybe-uninitialised where std::variant and tl::expected are inlined.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds>)
