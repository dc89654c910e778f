# cmake --install, and the files for find_package(sinter).
include(CMakePackageConfigHelpers)
set(sinter_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sinter)

install(TARGETS sinter EXPORT sinter
        FILE_SET runtime FILE_SET jit FILE_SET dsl)
install(EXPORT sinter NAMESPACE sinter:: FILE sinter-targets.cmake DESTINATION ${sinter_config_dir})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/sinter-config.cmake.in sinter-config.cmake
                              INSTALL_DESTINATION ${sinter_config_dir}
                              NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(sinter-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sinter-config.cmake ${PROJECT_BINARY_DIR}/sinter-config-version.cmake
              ${PROJECT_SOURCE_DIR}/cmake/FindSleef.cmake ${PROJECT_SOURCE_DIR}/cmake/SinterKernels.cmake
        DESTINATION ${sinter_config_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
