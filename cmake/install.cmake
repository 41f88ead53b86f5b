# cmake --install: the program with its models, documentation, manual page and
# completions; what other builds need to find them (pkg-config, find_package).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The program describes itself: cli/describe.c.
set(DESCRIPTIONS)
foreach(form man:tfc.1 bash:tfc.bash zsh:_tfc)
  string(REPLACE ":" ";" form ${form})
  list(GET form 0 word)
  list(GET form 1 file)
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/${file} DEPENDS tfc
    COMMAND tfc help --${word} > ${CMAKE_BINARY_DIR}/${file} VERBATIM)
  list(APPEND DESCRIPTIONS ${CMAKE_BINARY_DIR}/${file})
endforeach()
add_custom_target(descriptions ALL DEPENDS ${DESCRIPTIONS})

# OpenBLAS of the OpenMP flavour lies in a folder of its own.
set_target_properties(tfc PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
set(TFC_SHARE ${CMAKE_INSTALL_DATADIR}/tfc)
install(TARGETS tfc)
install(DIRECTORY models DESTINATION ${TFC_SHARE} FILES_MATCHING PATTERN "*.tfg")
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${CMAKE_BINARY_DIR}/tfc.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${CMAKE_BINARY_DIR}/tfc.bash RENAME tfc
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${CMAKE_BINARY_DIR}/_tfc DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(DIRECTORY editors/vim/ DESTINATION ${CMAKE_INSTALL_DATADIR}/vim/vimfiles)
install(DIRECTORY editors/vscode DESTINATION ${TFC_SHARE})

# What compiled models are linked with, where this build makes it.
set(TFC_LIBS)
file(GLOB TFC_HEADERS CONFIGURE_DEPENDS include/tfc/*.h)
install(FILES ${TFC_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tfc)
if(TARGET tfc_runtime)
  install(TARGETS tfc_runtime ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  set(TFC_LIBS "-L\${libdir} -ltfc_runtime ${OpenMP_C_FLAGS} -lm")
endif()

foreach(file IN LISTS RUNTIME_SOURCES)
  get_filename_component(folder ${file} DIRECTORY)
  install(FILES ${file} DESTINATION ${TFC_SHARE}/runtime/${folder})
endforeach()

# From the folder of tfc.pc to the prefix, so that an installation may be moved.
file(RELATIVE_PATH TFC_PC_UP /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(cmake/tfc.pc.in ${CMAKE_BINARY_DIR}/tfc.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/tfc.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
set(TFC_CMAKE ${CMAKE_INSTALL_LIBDIR}/cmake/tfc)
configure_package_config_file(cmake/tfc-config.cmake.in ${CMAKE_BINARY_DIR}/tfc-config.cmake
  INSTALL_DESTINATION ${TFC_CMAKE}
  PATH_VARS CMAKE_INSTALL_BINDIR CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR TFC_SHARE)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/tfc-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/tfc-config.cmake ${CMAKE_BINARY_DIR}/tfc-config-version.cmake
  DESTINATION ${TFC_CMAKE})
