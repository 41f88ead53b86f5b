# cmake --install: the program with its models, documentation, manual page and
# completions; what other builds need to find them (pkg-config, find_package).
include(CMakePackageConfigHelpers)

# The program describes itself (cli/describe.c), whenever it is linked: so whoever has built
# it can install it.
set(DESCRIPTIONS ${CMAKE_BINARY_DIR}/tfc.1 ${CMAKE_BINARY_DIR}/tfc.bash ${CMAKE_BINARY_DIR}/_tfc)
add_custom_command(TARGET tfc POST_BUILD BYPRODUCTS ${DESCRIPTIONS} VERBATIM
  COMMAND tfc help --man > ${CMAKE_BINARY_DIR}/tfc.1
  COMMAND tfc help --bash > ${CMAKE_BINARY_DIR}/tfc.bash
  COMMAND tfc help --zsh > ${CMAKE_BINARY_DIR}/_tfc)

set(TFC_SHARE ${CMAKE_INSTALL_DATADIR}/tfc)
install(TARGETS tfc)
foreach(module tfc-sentencepiece tfc-openmpi tfc-mpich)
  if(TARGET ${module})
    install(TARGETS ${module} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tfc)
  endif()
endforeach()
install(DIRECTORY models DESTINATION ${TFC_SHARE} FILES_MATCHING PATTERN "*.tfg" PATTERN "*.in")
# As they lie in the source, so that links between pages, and those to models, lead somewhere.
install(FILES README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples bench DESTINATION ${CMAKE_INSTALL_DOCDIR})
file(RELATIVE_PATH TFC_MODELS_LINK /p/${CMAKE_INSTALL_DOCDIR} /p/${TFC_SHARE}/models)
install(CODE "file(CREATE_LINK ${TFC_MODELS_LINK}
  \$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}/models SYMBOLIC)")
install(FILES ${CMAKE_BINARY_DIR}/tfc.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${CMAKE_BINARY_DIR}/tfc.bash RENAME tfc
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${CMAKE_BINARY_DIR}/_tfc DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(DIRECTORY editors/vim/ DESTINATION ${CMAKE_INSTALL_DATADIR}/vim/vimfiles)
install(DIRECTORY editors/vscode DESTINATION ${TFC_SHARE})

# What compiled models are linked with, as an archive for this system and as C files for
# others. It has no headers for users: tfc compile writes one beside each model.
install(TARGETS tfc_runtime ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET tfc_runtime_json)
  install(TARGETS tfc_runtime_json ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
set(TFC_LIBS "-L\${libdir} -ltfc_runtime -pthread -lm")
foreach(file IN LISTS RUNTIME_SOURCES)
  get_filename_component(folder ${file} DIRECTORY)
  install(FILES ${file} DESTINATION ${TFC_SHARE}/runtime/${folder})
endforeach()
install(FILES ${CMAKE_BINARY_DIR}/runtime/one_file.parts DESTINATION ${TFC_SHARE}/runtime)

# From the folder of tfc.pc to the prefix, so that an installation may be moved.
file(RELATIVE_PATH TFC_PC_UP /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(cmake/tfc.pc.in ${CMAKE_BINARY_DIR}/tfc.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/tfc.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(TFC_CMAKE ${CMAKE_INSTALL_LIBDIR}/cmake/tfc)
configure_package_config_file(cmake/tfc-config.cmake.in ${CMAKE_BINARY_DIR}/tfc-config.cmake
  INSTALL_DESTINATION ${TFC_CMAKE}
  PATH_VARS CMAKE_INSTALL_BINDIR CMAKE_INSTALL_LIBDIR TFC_SHARE)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/tfc-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/tfc-config.cmake ${CMAKE_BINARY_DIR}/tfc-config-version.cmake
  DESTINATION ${TFC_CMAKE})
