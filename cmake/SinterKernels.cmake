# sinter_add_kernels(target FROM generator
#                    [KERNELS names...] [ARCHS 80 90...] [PTX ON|OFF] [NAME library] [NAMESPACE prefix]
#                    [FORMAT SOURCE|OBJECT|HEADER|FATBIN] [DLPACK] [EXTRA cu|json|hpp|ptx|dot...])
#
# A library of kernels exported by a generator: a C++ source file whose main returns sn::export_main(argc, argv,
# kernels), or a target of such a program. The generator runs during the build and needs NVRTC, but no GPU; the library
# needs neither Sinter nor CUDA. Link with `target`; its headers are library.h and, with EXTRA hpp, library.hpp.
# In a project that is cross-compiled, the generator is a target that another project has built for this machine and
# exported with export(TARGETS).
#
#   KERNELS    names of the generator's kernels to export; all by default
#   ARCHS      GPUs to compile for: 90 is compute capability 9.0; NONE: the kernels run only on the CPU
#   PTX        whether to include PTX, which the driver compiles for newer GPUs; ON by default
#   NAME       name of the files and of the library's own functions; the target's by default
#   NAMESPACE  prefix of all function names: ns gives ns_kernel_launch
#   FORMAT     SOURCE: a static library. OBJECT: an object library. HEADER: an interface library of one header; one
#              source file of its user defines LIBRARY_IMPLEMENTATION before including it. FATBIN: a static library
#              without the binaries, which are in library.fatbin, the target's property SINTER_KERNELS_FATBIN;
#              library_open reads it
#   DLPACK     also functions that take DLPack tensors
#   EXTRA      additional files, in the folder of the target's property SINTER_KERNELS_FOLDER
function(sinter_add_kernels target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "DLPACK" "FROM;PTX;NAME;NAMESPACE;FORMAT" "KERNELS;ARCHS;EXTRA")
  if(NOT arg_FROM)
    message(FATAL_ERROR "sinter_add_kernels(${target}): FROM is missing: a source file, or a program, that exports kernels")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "sinter_add_kernels(${target} FROM ${arg_FROM}): ${arg_UNPARSED_ARGUMENTS} is not understood")
  endif()
  if(NOT arg_FORMAT)
    set(arg_FORMAT SOURCE)
  endif()
  if(NOT arg_FORMAT MATCHES "^(SOURCE|OBJECT|HEADER|FATBIN)$")
    message(FATAL_ERROR "sinter_add_kernels(${target}): FORMAT ${arg_FORMAT} is none of SOURCE, OBJECT, HEADER and FATBIN")
  endif()
  foreach(extension ${arg_EXTRA})
    if(NOT extension MATCHES "^(cu|json|hpp|ptx|dot)$")
      message(FATAL_ERROR "sinter_add_kernels(${target}): EXTRA ${extension} is none of cu, json, hpp, ptx and dot")
    endif()
  endforeach()
  if(NOT arg_NAME)
    set(arg_NAME ${target})
  endif()
  string(TOUPPER "${arg_ARCHS}" arg_ARCHS)
  if("NONE" IN_LIST arg_ARCHS AND NOT arg_ARCHS STREQUAL "NONE")
    message(FATAL_ERROR "sinter_add_kernels(${target} ARCHS ${arg_ARCHS}): NONE stands alone, or name GPUs")
  endif()
  if(arg_ARCHS STREQUAL "NONE" AND arg_FORMAT STREQUAL "FATBIN")
    message(FATAL_ERROR "sinter_add_kernels(${target} ARCHS NONE FORMAT FATBIN): without GPUs there are no binaries to put in a file")
  endif()
  if(arg_FROM MATCHES "::" AND NOT TARGET ${arg_FROM})
    message(FATAL_ERROR "sinter_add_kernels(${target} FROM ${arg_FROM}): there is no target ${arg_FROM}")
  endif()
  set(is_imported OFF)
  if(TARGET ${arg_FROM})
    get_target_property(is_imported ${arg_FROM} IMPORTED)
  endif()
  if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR AND NOT is_imported)
    message(FATAL_ERROR "sinter_add_kernels(${target} FROM ${arg_FROM}): the generator would be compiled for "
                        "${CMAKE_SYSTEM_NAME} on ${CMAKE_SYSTEM_PROCESSOR}, but must run on this machine. Build it in a project for "
                        "this machine, export it there with export(TARGETS ... FILE generators.cmake), include that file here and "
                        "name its target after FROM")
  endif()
  if(TARGET ${arg_FROM})
    set(generator ${arg_FROM})
  else()
    set(generator ${target}_generator)
    add_executable(${generator} ${arg_FROM})
    target_link_libraries(${generator} PRIVATE sinter::sinter)
  endif()

  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.kernels)
  set(format source)
  if(arg_FORMAT MATCHES "^(HEADER|FATBIN)$")
    string(TOLOWER ${arg_FORMAT} format)
  endif()
  set(options -o ${folder} --name ${arg_NAME} --format ${format})
  if(arg_NAMESPACE)
    list(APPEND options --prefix ${arg_NAMESPACE}_)
  endif()
  if(arg_ARCHS STREQUAL "NONE")
    list(APPEND options --archs none)
  elseif(arg_ARCHS)
    list(JOIN arg_ARCHS "," archs)
    list(APPEND options --archs ${archs})
  endif()
  if(DEFINED arg_PTX AND NOT arg_PTX)
    list(APPEND options --ptx off)
  endif()
  if(arg_DLPACK)
    list(APPEND options --dlpack on)
  endif()
  if(arg_KERNELS)
    list(JOIN arg_KERNELS "," kernels)
    list(APPEND options --kernels ${kernels})
  endif()
  if(arg_EXTRA)
    list(JOIN arg_EXTRA "," extra)
    list(APPEND options --extra ${extra})
  endif()

  set(files ${folder}/${arg_NAME}.h)
  if(NOT arg_FORMAT STREQUAL HEADER)
    list(APPEND files ${folder}/${arg_NAME}.c)
  endif()
  if(arg_FORMAT STREQUAL FATBIN)
    list(APPEND files ${folder}/${arg_NAME}.fatbin)
  endif()
  foreach(extension ${arg_EXTRA})
    list(APPEND files ${folder}/${arg_NAME}.${extension})
  endforeach()
  # Files that do not change are not rewritten; the stamp records that they were checked.
  set(stamp ${CMAKE_CURRENT_BINARY_DIR}/${target}.kernels.stamp)
  add_custom_command(OUTPUT ${stamp} BYPRODUCTS ${files} COMMAND ${generator} ${options}
                     COMMAND ${CMAKE_COMMAND} -E touch ${stamp} DEPENDS ${generator} VERBATIM
                     COMMENT "Exporting kernels of ${target}")
  add_custom_target(${target}_files DEPENDS ${stamp})

  if(arg_FORMAT STREQUAL HEADER)
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  else()
    set(kind STATIC)
    if(arg_FORMAT STREQUAL OBJECT)
      set(kind OBJECT)
    endif()
    add_library(${target} ${kind} ${folder}/${arg_NAME}.c)
    set(scope PUBLIC)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
    if(NOT C IN_LIST languages)  # it is valid C++17, too
      set_source_files_properties(${folder}/${arg_NAME}.c PROPERTIES LANGUAGE CXX)
      target_compile_features(${target} PRIVATE cxx_std_17)
    endif()
  endif()
  set_target_properties(${target} PROPERTIES SINTER_KERNELS_FOLDER ${folder})
  if(arg_FORMAT STREQUAL FATBIN)
    set_target_properties(${target} PROPERTIES SINTER_KERNELS_FATBIN ${folder}/${arg_NAME}.fatbin)
  endif()
  add_dependencies(${target} ${target}_files)
  target_include_directories(${target} ${scope} ${folder})
  if(NOT WIN32)
    target_link_libraries(${target} ${scope} m)
  endif()
  if(NOT arg_ARCHS STREQUAL "NONE")
    find_package(Threads REQUIRED)
    target_link_libraries(${target} ${scope} ${CMAKE_DL_LIBS} Threads::Threads)
  endif()
endfunction()
