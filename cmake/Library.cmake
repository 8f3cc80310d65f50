# The installable library: the engine and Loro's formats as one archive, libquire-crdt.a, with the headers that a
# program needs and nothing of the rooms above.
#
#   cmake --install build --component crdt --prefix P
#
# installs it with a CMake package (find_package(QuireCrdt), target quire::crdt) and quire-crdt.pc. docs/library.md says
# how a program uses it. Inside this tree the target has the same name.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# What a program includes. What these include of ours comes along.
set(public_headers
    crdt/doc/doc.h crdt/doc/text.h crdt/doc/list.h crdt/doc/map.h crdt/doc/movable_list.h crdt/doc/tree.h crdt/doc/counter.h
    crdt/doc/history.h crdt/doc/apply.h crdt/doc/events.h crdt/doc/cursor.h crdt/doc/inspection.h
    crdt/undo/revert.h crdt/undo/undo_history.h crdt/ids/change.h crdt/ids/container_text.h crdt/ids/diff.h
    codec/cursor.h codec/document.h codec/inspect.h codec/json_updates.h codec/open_snapshot.h codec/small.h codec/snapshot.h codec/updates.h
    json/json.h)

set(objects)
foreach(room base json text seq crdt_ids crdt_history crdt_state crdt_merge crdt_doc crdt_undo codec)
    # Searching text and its patterns need RE2, and the engine does not search.
    list(APPEND objects "$<FILTER:$<TARGET_OBJECTS:quire_${room}>,EXCLUDE,/text/(search|ecma_pattern)\\.cc>")
endforeach()
add_library(quire_library STATIC ${objects})
add_library(quire::crdt ALIAS quire_library)
set_target_properties(quire_library PROPERTIES OUTPUT_NAME quire-crdt EXPORT_NAME crdt LINKER_LANGUAGE CXX)
target_compile_features(quire_library INTERFACE cxx_std_20)
target_include_directories(quire_library INTERFACE
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/quire>")
target_link_libraries(quire_library INTERFACE Threads::Threads PkgConfig::XXHASH PkgConfig::LZ4)

# `headers` and all that they include, as paths below src/.
function(with_includes headers out)
    set(found)
    while(headers)
        list(POP_FRONT headers header)
        if(header IN_LIST found)
            continue()
        endif()
        list(APPEND found ${header})
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/${header}")
        file(STRINGS "${PROJECT_SOURCE_DIR}/src/${header}" includes REGEX "^#include \"")
        foreach(include IN LISTS includes)
            string(REGEX REPLACE "^#include \"(.*)\".*$" "\\1" include "${include}")
            list(APPEND headers ${include})
        endforeach()
    endwhile()
    set(${out} ${found} PARENT_SCOPE)
endfunction()

with_includes("${public_headers}" installed_headers)
foreach(header IN LISTS installed_headers)
    get_filename_component(folder "${header}" DIRECTORY)
    install(FILES "${PROJECT_SOURCE_DIR}/src/${header}" COMPONENT crdt
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/quire/${folder}")
endforeach()
install(TARGETS quire_library EXPORT QuireCrdtTargets COMPONENT crdt ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
set(package "${CMAKE_INSTALL_LIBDIR}/cmake/QuireCrdt")
install(EXPORT QuireCrdtTargets NAMESPACE quire:: COMPONENT crdt DESTINATION "${package}")
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/QuireCrdtConfig.cmake.in"
    "${CMAKE_BINARY_DIR}/generated/QuireCrdtConfig.cmake" INSTALL_DESTINATION "${package}")
write_basic_package_version_file("${CMAKE_BINARY_DIR}/generated/QuireCrdtConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/generated/QuireCrdtConfig.cmake"
    "${CMAKE_BINARY_DIR}/generated/QuireCrdtConfigVersion.cmake" COMPONENT crdt DESTINATION "${package}")
configure_file("${CMAKE_CURRENT_LIST_DIR}/quire-crdt.pc.in" "${CMAKE_BINARY_DIR}/generated/quire-crdt.pc.in" @ONLY)
# The prefix is known when it is installed.
install(CODE "
    file(READ \"${CMAKE_BINARY_DIR}/generated/quire-crdt.pc.in\" text)
    string(REPLACE \"{PREFIX}\" \"\${CMAKE_INSTALL_PREFIX}\" text \"\${text}\")
    file(WRITE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig/quire-crdt.pc\" \"\${text}\")
" COMPONENT crdt)
