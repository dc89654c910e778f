# cmake --install, and the files for find_package(sinter) and pkg-config. Components: library (what programs need at run
# time), development, tool, python, license.
include(CMakePackageConfigHelpers)
set(sinter_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sinter)

install(TARGETS sinter EXPORT sinter
        LIBRARY COMPONENT library NAMELINK_COMPONENT development
        ARCHIVE COMPONENT development
        FILE_SET runtime COMPONENT development
        FILE_SET jit COMPONENT development
        FILE_SET dsl COMPONENT development)
install(EXPORT sinter NAMESPACE sinter:: FILE sinter-targets.cmake DESTINATION ${sinter_config_dir} COMPONENT development)

# sinter::static, of the objects that the shared library is linked from: find_package(sinter COMPONENTS static).
if(SINTER_STATIC_TOO AND BUILD_SHARED_LIBS)
  add_library(sinter_static STATIC)
  foreach(part runtime jit dsl loops_sse4 loops_avx2 loops_avx512)
    target_sources(sinter_static PRIVATE $<TARGET_OBJECTS:sinter_${part}>)
  endforeach()
  set_target_properties(sinter_static PROPERTIES OUTPUT_NAME sinter EXPORT_NAME static LINKER_LANGUAGE CXX)
  target_compile_features(sinter_static PUBLIC cxx_std_20)
  target_include_directories(sinter_static INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(sinter_static PUBLIC Boost::headers PRIVATE ${sinter_libraries})
  install(TARGETS sinter_static EXPORT sinter_static ARCHIVE COMPONENT development)
  install(EXPORT sinter_static NAMESPACE sinter:: FILE sinter-static-targets.cmake DESTINATION ${sinter_config_dir}
          COMPONENT development)
endif()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/sinter-config.cmake.in sinter-config.cmake
                              INSTALL_DESTINATION ${sinter_config_dir}
                              NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(sinter-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sinter-config.cmake ${PROJECT_BINARY_DIR}/sinter-config-version.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindSleef.cmake ${PROJECT_SOURCE_DIR}/cmake/SinterKernels.cmake
        DESTINATION ${sinter_config_dir} COMPONENT development)

# pkg-config finds the prefix from the place of its file, so that the installation can be moved.
file(RELATIVE_PATH sinter_pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
set(sinter_pc_libs "-lfmt -ltbb -lsleef -lboost_context -lz -ldl -lpthread")
set(sinter_pc_public "")
if(NOT BUILD_SHARED_LIBS)
  set(sinter_pc_public " ${sinter_pc_libs}")
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/sinter.pc.in ${PROJECT_BINARY_DIR}/sinter.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/sinter.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/packaging/deb/copyright
        DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT license)
install(FILES ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT development
        FILES_MATCHING PATTERN *.md PATTERN *.png)
