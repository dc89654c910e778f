# Compile options of all of Sinter's own targets. Users' targets do not get them.
add_library(sinter_options INTERFACE)
target_compile_features(sinter_options INTERFACE cxx_std_20)
# g++ 12 reports members omitted from designated initializers as missing, although they have defaults.
target_compile_options(sinter_options INTERFACE -Wall -Wextra -Wpedantic -Wno-missing-field-initializers)
# In a unity build, one file's locals may shadow another file's globals.
target_compile_options(sinter_options INTERFACE $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False positives in optimized builds: for std::string's operator+, and for code inlined into branches never taken.
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(sinter_options INTERFACE -Wno-restrict
                           "$<$<CONFIG:Release>:-Wno-array-bounds;-Wno-stringop-overflow>")
  else()
    target_compile_options(sinter_options INTERFACE -Wno-array-bounds -Wno-stringop-overflow)
  endif()
endif()
# Warnings are errors only with the compilers that CI has: others have other warnings.
set(tested_compilers GNU-12 Clang-19)
string(REGEX MATCH "^[0-9]+" compiler_major "${CMAKE_CXX_COMPILER_VERSION}")
if(SINTER_WERROR AND "${CMAKE_CXX_COMPILER_ID}-${compiler_major}" IN_LIST tested_compilers)
  target_compile_options(sinter_options INTERFACE -Werror)
elseif(SINTER_WERROR)
  message(STATUS "Warnings are not errors with ${CMAKE_CXX_COMPILER_ID} ${compiler_major}, which CI does not have")
endif()
# a*b+c is rounded twice unless the graph contains an fma, with every compiler and processor.
target_compile_options(sinter_options INTERFACE -ffp-contract=off)

set(sinter_sanitize_flags "")
if(SINTER_SANITIZE)
  set(sinter_sanitize_flags -fsanitize=${SINTER_SANITIZE})
  target_compile_options(sinter_options INTERFACE ${sinter_sanitize_flags} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(sinter_options INTERFACE ${sinter_sanitize_flags})
endif()

# Hardening of what is installed: stack protector, _FORTIFY_SOURCE, full RELRO, a non-executable stack. Not for the
# CPU's loops (jit/cpu/simd), which have no arrays on the stack and do not call the C library.
set(sinter_hardening -fstack-protector-strong)
if(NOT SINTER_SANITIZE)  # which check these calls themselves
  set(optimised $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)  # without it the C library's headers only warn
  list(APPEND sinter_hardening $<${optimised}:-U_FORTIFY_SOURCE> $<${optimised}:-D_FORTIFY_SOURCE=2>)
endif()
set(sinter_hardening_link -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
add_library(sinter_hardened INTERFACE)
target_compile_options(sinter_hardened INTERFACE ${sinter_hardening})
target_link_options(sinter_hardened INTERFACE ${sinter_hardening_link})

# sinter_exports(target map): a shared library or a module exports what the version script lists. Calls of its own
# functions are bound at link time, which saves symbol lookups at process start.
function(sinter_exports target map)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    return()
  endif()
  target_link_options(${target} PRIVATE -Wl,--version-script=${map} -Wl,-Bsymbolic-functions)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
endfunction()

# sinter_layer(name [ON lower layers...] [WITHOUT folder]): an object library of a layer's sources, whose public headers
# are in include/. It sees the headers of these lower layers and no others. The folder's sources are left out.
function(sinter_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 layer "" "WITHOUT" "ON")
  file(GLOB_RECURSE sources RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS *.cpp)
  if(layer_WITHOUT)
    list(FILTER sources EXCLUDE REGEX "^${layer_WITHOUT}/")
  endif()
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS include/*.hpp)
  add_library(sinter_${name} OBJECT ${sources})
  set_target_properties(sinter_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON UNITY_BUILD "${SINTER_UNITY}"
                        UNITY_BUILD_BATCH_SIZE 16)
  target_include_directories(sinter_${name} PUBLIC include PRIVATE .)
  target_link_libraries(sinter_${name} PRIVATE sinter_options sinter_hardened)
  # The standard library takes half of a source's compile time.
  target_precompile_headers(sinter_${name} PRIVATE <fmt/format.h> <algorithm> <array> <atomic> <functional> <memory> <mutex>
                            <optional> <span> <string> <string_view> <unordered_map> <vector>)
  foreach(lower ${layer_ON})
    target_link_libraries(sinter_${name} PUBLIC sinter_${lower})
  endforeach()
  target_sources(sinter PRIVATE $<TARGET_OBJECTS:sinter_${name}>)
  target_sources(sinter PUBLIC FILE_SET ${name} TYPE HEADERS BASE_DIRS include FILES ${headers})
  # Tables (*.def) are not headers: they are not self-contained.
  if(SINTER_INSTALL)
    install(DIRECTORY include/ TYPE INCLUDE COMPONENT development FILES_MATCHING PATTERN *.def)
  endif()
endfunction()
