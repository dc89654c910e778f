# The Debian packages that cpack -G DEB makes: one for each component. scripts/deb runs it with the options that it needs.
set(soversion ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(packaging ${PROJECT_SOURCE_DIR}/packaging/deb)
set(CPACK_PACKAGE_NAME sinter)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "fused tensor expressions for CPUs and CUDA GPUs")
set(CPACK_PACKAGE_VENDOR "The Sinter contributors")
set(CPACK_PACKAGE_CONTACT "The Sinter contributors <maintainers@sinter.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL library development tool)
if(TARGET sinter_python)
  list(APPEND CPACK_COMPONENTS_ALL python)
endif()
set(CPACK_PRE_BUILD_SCRIPTS ${packaging}/compress.cmake)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)

# sinter_package(component name section description): the name, the text below the summary, copyright and changelog. CPack
# has one summary for all packages.
macro(sinter_package component name section description)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${description}")
  install(FILES ${packaging}/copyright ${packaging}/changelog DESTINATION share/doc/${name} COMPONENT ${component} EXCLUDE_FROM_ALL)
endmacro()

sinter_package(library libsinter${soversion} libs
"A C++20 library of tensor expressions. A whole expression becomes one kernel,
which is compiled once, cached, and run on the CPU, on GPUs, or on virtual GPUs
that need no hardware.
.
This package contains the shared library. Matrix products on the CPU use
OpenBLAS, virtual GPUs a C++ compiler, and GPUs the driver and NVRTC. All are
opened when they are first used.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${packaging}/triggers)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS libopenblas0)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SUGGESTS "g++, libcuda1, openmpi-bin")

sinter_package(development libsinter-dev libdevel
"A C++20 library of tensor expressions. A whole expression becomes one kernel,
which is compiled once, cached, and run on the CPU, on GPUs, or on virtual GPUs
that need no hardware.
.
This package contains the headers, the static library, the files for CMake's
find_package and for pkg-config, and the documentation.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "libboost-dev, libboost-context-dev, libfmt-dev, libtbb-dev, libsleef-dev, zlib1g-dev")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "cmake, pkg-config")
set(CPACK_COMPONENT_DEVELOPMENT_DEPENDS library)

sinter_package(tool sinter-tools science
"The command line tool of Sinter, a library of fused tensor expressions. It
evaluates, explains and measures expressions as text, and exports them as C
source that contains the kernels.")
set(CPACK_COMPONENT_TOOL_DEPENDS library)

sinter_package(python python3-sinter-jit python
"The Python package sinter_jit: tensors over the memory of NumPy and other
libraries. A whole expression becomes one kernel, on CPUs and CUDA GPUs.")
set(CPACK_COMPONENT_PYTHON_DEPENDS library)
set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS python3-numpy)
if(TARGET sinter_python)
  math(EXPR next "${SINTER_PYTHON_MINOR} + 1")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.${SINTER_PYTHON_MINOR}), python3 (<< 3.${next})")
endif()
include(CPack)
