# The installable libraries, with the headers that a program needs and nothing of the rooms above them:
#
#   crdt      libquire-crdt.a: the engine and Loro's formats
#   memory    libquire-memory.a: structured memory in such documents, rights, and rules for tools
#
#   cmake --install build --component crdt --prefix P
#
# installs one with a CMake package (find_package(QuireCrdt), target quire::crdt) and quire-crdt.pc. docs/library.md says
# how a program uses them. Inside this tree the targets have the same names.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

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

# installed_library(NAME PACKAGE package ROOMS room... HEADERS header... [LINK target...] [OBJECTS object...]
#                   [LEAVES_OUT regex] [BESIDE name])
#
# HEADERS are what a program includes; what these include of ours comes along, but for those that the library BESIDE
# it has installed.
function(installed_library name)
    cmake_parse_arguments(ARG "" "PACKAGE;LEAVES_OUT;BESIDE" "ROOMS;HEADERS;LINK;OBJECTS" ${ARGN})
    set(objects ${ARG_OBJECTS})
    foreach(room IN LISTS ARG_ROOMS)
        set(of_room "$<TARGET_OBJECTS:quire_${room}>")
        if(ARG_LEAVES_OUT)
            set(of_room "$<FILTER:${of_room},EXCLUDE,${ARG_LEAVES_OUT}>")
        endif()
        list(APPEND objects "${of_room}")
    endforeach()
    set(target quire_${name}_library)
    add_library(${target} STATIC ${objects})
    add_library(quire::${name} ALIAS ${target})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME quire-${name} EXPORT_NAME ${name} LINKER_LANGUAGE CXX)
    target_compile_features(${target} INTERFACE cxx_std_20)
    target_include_directories(${target} INTERFACE
        "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/quire>")
    target_link_libraries(${target} INTERFACE ${ARG_LINK})

    with_includes("${ARG_HEADERS}" headers)
    if(ARG_BESIDE)
        list(REMOVE_ITEM headers ${quire_${ARG_BESIDE}_headers})
    endif()
    set(quire_${name}_headers ${headers} PARENT_SCOPE)
    foreach(header IN LISTS headers)
        get_filename_component(folder "${header}" DIRECTORY)
        install(FILES "${PROJECT_SOURCE_DIR}/src/${header}" COMPONENT ${name}
            DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/quire/${folder}")
    endforeach()

    set(package "${CMAKE_INSTALL_LIBDIR}/cmake/${ARG_PACKAGE}")
    set(generated "${CMAKE_BINARY_DIR}/generated")
    install(TARGETS ${target} EXPORT ${ARG_PACKAGE}Targets COMPONENT ${name} ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
    install(EXPORT ${ARG_PACKAGE}Targets NAMESPACE quire:: COMPONENT ${name} DESTINATION "${package}")
    configure_package_config_file("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${ARG_PACKAGE}Config.cmake.in"
        "${generated}/${ARG_PACKAGE}Config.cmake" INSTALL_DESTINATION "${package}")
    write_basic_package_version_file("${generated}/${ARG_PACKAGE}ConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
    install(FILES "${generated}/${ARG_PACKAGE}Config.cmake" "${generated}/${ARG_PACKAGE}ConfigVersion.cmake"
        COMPONENT ${name} DESTINATION "${package}")
    configure_file("${CMAKE_CURRENT_FUNCTION_LIST_DIR}/quire-${name}.pc.in" "${generated}/quire-${name}.pc.in" @ONLY)
    # The prefix is known when it is installed.
    install(CODE "
        file(READ \"${generated}/quire-${name}.pc.in\" text)
        string(REPLACE \"{PREFIX}\" \"\${CMAKE_INSTALL_PREFIX}\" text \"\${text}\")
        file(WRITE \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig/quire-${name}.pc\" \"\${text}\")
    " COMPONENT ${name})
endfunction()

installed_library(crdt
    PACKAGE QuireCrdt
    ROOMS base json text seq crdt_ids crdt_history crdt_state crdt_merge crdt_doc crdt_undo codec
    # Searching text and its patterns need RE2, and the engine does not search.
    LEAVES_OUT "/text/(search|ecma_pattern)\\.cc"
    LINK Threads::Threads PkgConfig::XXHASH PkgConfig::LZ4
    HEADERS
    crdt/doc/doc.h crdt/doc/text.h crdt/doc/list.h crdt/doc/map.h crdt/doc/movable_list.h crdt/doc/tree.h crdt/doc/counter.h
    crdt/doc/history.h crdt/doc/apply.h crdt/doc/events.h crdt/doc/cursor.h crdt/doc/inspection.h crdt/doc/shallow.h
    crdt/undo/revert.h crdt/undo/undo_history.h crdt/ids/change.h crdt/ids/container_text.h crdt/ids/diff.h
    codec/cursor.h codec/document.h codec/inspect.h codec/json_updates.h codec/open_snapshot.h codec/shallow_snapshot.h codec/small.h codec/snapshot.h codec/updates.h
    json/json.h)

installed_library(memory
    PACKAGE QuireMemory
    BESIDE crdt
    ROOMS memory policy json_schema
    # Guards against what patterns in schemas accept run them on RE2.
    OBJECTS "$<FILTER:$<TARGET_OBJECTS:quire_text>,INCLUDE,/text/ecma_pattern\\.cc>"
    LINK quire_crdt_library PkgConfig::MD PkgConfig::RE2
    HEADERS
    memory/memory_document.h memory/schema_form.h memory/schema_json.h memory/templates.h memory/render.h memory/plain_text.h
    memory/remember.h memory/convert.h memory/incoming.h memory/revision.h memory/timestamp.h
    policy/attribution.h policy/path_rules.h policy/rule_analysis.h policy/rule_book.h policy/tool_rule.h
    json/schema/operation_filter.h json/schema/schema.h)
