# The installed program, and the Debian package of it.
#
#   cmake --build build --target quire_installed
#   cmake --install build --component quire --prefix P     (make install)
#   cpack --config build/CPackConfig.cmake -B FOLDER       (make deb)
#
# Beside the program go what other programs look for in fixed places, the shells' completions and the manual page, both
# printed by the program itself, and the documents. The library is a component of its own (cmake/Library.cmake).
include(GNUInstallDirs)

set(generated "${CMAKE_BINARY_DIR}/generated")
set(completions)
foreach(shell bash zsh fish)
    add_custom_command(OUTPUT "${generated}/completion.${shell}" VERBATIM
        COMMAND sh -c "\"$1\" completion \"$2\" > \"$3\"" sh $<TARGET_FILE:quire> ${shell} "${generated}/completion.${shell}"
        DEPENDS quire COMMENT "")
    list(APPEND completions "${generated}/completion.${shell}")
endforeach()
set(man_page "${PROJECT_SOURCE_DIR}/scripts/man_page.sh")
add_custom_command(OUTPUT "${generated}/quire.1.gz" VERBATIM
    COMMAND sh -c "\"$1\" \"$2\" > \"$3\" && gzip -9nf \"$3\"" sh "${man_page}" $<TARGET_FILE:quire> "${generated}/quire.1"
    DEPENDS quire "${man_page}" COMMENT "")
# All that the component installs. A build of the program alone does without, and so does one that is never installed.
set(with_the_tests)
if(QUIRE_TESTS AND NOT QUIRE_SANITIZE)
    set(with_the_tests ALL)
endif()
add_custom_target(quire_installed ${with_the_tests} DEPENDS quire ${completions} "${generated}/quire.1.gz")

install(TARGETS quire COMPONENT quire RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
set(share "${CMAKE_INSTALL_DATADIR}")
install(FILES "${generated}/completion.bash" COMPONENT quire DESTINATION "${share}/bash-completion/completions" RENAME quire)
install(FILES "${generated}/completion.fish" COMPONENT quire DESTINATION "${share}/fish/vendor_completions.d" RENAME quire.fish)
# Debian's zsh looks for those of packages elsewhere than for those that people install.
install(CODE "set(zsh_folder \"${share}/zsh/site-functions\")
    if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
        set(zsh_folder \"${share}/zsh/vendor-completions\")
    endif()
    file(INSTALL DESTINATION \"\${CMAKE_INSTALL_PREFIX}/\${zsh_folder}\" TYPE FILE RENAME _quire
        FILES \"${generated}/completion.zsh\")" COMPONENT quire)
install(FILES "${generated}/quire.1.gz" COMPONENT quire DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
set(documents "${CMAKE_INSTALL_DOCDIR}")
install(FILES README.md CHANGELOG.md COMPONENT quire DESTINATION "${documents}")
# The licence under the name that Debian demands.
install(FILES LICENSE COMPONENT quire DESTINATION "${documents}" RENAME copyright)
install(DIRECTORY docs COMPONENT quire DESTINATION "${documents}" FILES_MATCHING PATTERN "*.md")
install(PROGRAMS examples/agent.py COMPONENT quire DESTINATION "${documents}/examples")

# The Debian package: what the program is linked to becomes its dependencies (dpkg-shlibdeps).
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME quire)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_CONTACT "The Quire authors <quire@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "workspace that AI agents and people edit at once")
set(CPACK_PACKAGE_DESCRIPTION "Files, conversations and structured memory as live, versioned documents that many actors
edit at once. Agents reach them over MCP, people use a command line. Every change has an author and can be undone.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL quire)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEBIAN_QUIRE_PACKAGE_NAME quire)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_OUTPUT_CONFIG_FILE "${CMAKE_BINARY_DIR}/CPackConfig.cmake")
include(CPack)
