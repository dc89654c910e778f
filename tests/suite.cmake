add_custom_target(sinter_suites)  # all of them

# Test files that need a program of their own.
set(sinter_tests_alone jit/hit_test.cpp)  # replaces operator new

# sinter_suite(folder): the program FOLDER_suite of the folder's test files, and a ctest entry for each file. Their names
# are added to `sinter_tests`. Builds for ThreadSanitizer and for machines with a GPU have the files of that kind alone.
function(sinter_suite folder)
  string(REPLACE "/" "_" suite ${folder}_suite)
  set(only "")
  if(SINTER_SANITIZE STREQUAL "thread")
    set(only threads)
  elseif(SINTER_PORTABLE)
    set(only devices)
  endif()
  file(GLOB files CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${folder}/*_test.cpp)
  set(sources "")
  foreach(file ${files})
    sinter_test_kinds(${file} kinds)
    if(only AND NOT only IN_LIST kinds)
      continue()
    endif()
    set(program ${suite})
    if(file IN_LIST sinter_tests_alone)
      string(REPLACE "/" "_" program ${file})
      string(REPLACE "_test.cpp" "_suite" program ${program})
      sinter_test_program(${program} ${folder} ${file})
    else()
      list(APPEND sources ${file})
    endif()
    sinter_test_file(${program} ${file} "${kinds}")
  endforeach()
  set(sinter_tests ${sinter_tests} PARENT_SCOPE)
  if(sources)
    sinter_test_program(${suite} ${folder} ${sources})
  endif()
endfunction()

function(sinter_test_program suite folder)
  add_executable(${suite} main.cpp ${ARGN})
  target_link_libraries(${suite} PRIVATE sinter_test_base)
  add_dependencies(${suite} sinter_fake_cuda sinter_fake_mpich sinter_fake_nvtx sinter_virtual_cuda)
  add_dependencies(sinter_suites ${suite})
  sinter_test_headers(${suite} ${folder})
endfunction()

# The labels of a file's tests: its layer; devices, where real GPUs run them too (SINTER_TEST_GPU); threads, where
# ThreadSanitizer does.
function(sinter_test_kinds file result)
  string(REGEX MATCH "^[a-z]+" kinds ${file})
  file(STRINGS ${file} on_devices REGEX "#include [<\"](.*/)?(gpus|devices|device_arrays|nets)\\.hpp")
  if(on_devices)
    list(APPEND kinds devices)
  endif()
  if(file MATCHES "thread|^jit/kernel_cache_test|^runtime/(pool|buffer|registry|backend|cuda/cuda_gpu)_test")
    list(APPEND kinds threads)
  endif()
  set(${result} ${kinds} PARENT_SCOPE)
endfunction()

# The ctest entry of a file: jit_graph_test, of jit/graph_test.cpp.
function(sinter_test_file suite file kinds)
  string(REGEX REPLACE "\\.cpp$" "" path ${file})
  string(REPLACE "/" "_" name ${path})
  add_test(NAME ${name} COMMAND ${suite} ${path})
  set(tsan_options suppressions=${CMAKE_CURRENT_SOURCE_DIR}/tsan.supp:die_after_fork=0${symbolizer})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600 LABELS "${kinds}"
                       ENVIRONMENT "TSAN_OPTIONS=${tsan_options};SINTER_DUMP_DIR=${kernels}")
  if(name MATCHES "mpi_faults")  # its processes wait for one another, no longer than three seconds
    set_tests_properties(${name} PROPERTIES RUN_SERIAL TRUE)
  endif()
  set_property(GLOBAL PROPERTY sinter_command_${name} ${suite} ${path})
  set(sinter_tests ${sinter_tests} ${name} PARENT_SCOPE)
endfunction()

# Most of a test's compile time is GoogleTest and the library's interface, so these are compiled once; of what is inside
# the library a test sees what it includes. Templates are instantiated once for several files.
function(sinter_test_headers suite folder)
  set_target_properties(${suite} PROPERTIES UNITY_BUILD "${SINTER_UNITY}" UNITY_BUILD_BATCH_SIZE 6)
  set_property(SOURCE main.cpp PROPERTY SKIP_UNITY_BUILD_INCLUSION ON)
  if(folder MATCHES "^(dsl|nn)$")
    target_precompile_headers(${suite} PRIVATE <gmock/gmock.h> <fmt/format.h> <sinter/nn.hpp> <sinter/sinter.hpp>)
  elseif(suite STREQUAL "runtime_suite")
    target_precompile_headers(${suite} PRIVATE <gmock/gmock.h> <fmt/format.h>)
  else()
    target_precompile_headers(${suite} REUSE_FROM runtime_suite)
  endif()
endfunction()

# sinter_rerun_tests(prefix regex [EXCEPT regex] variables...): the tests whose names match, once more, as PREFIX_NAME, with
# these environment variables. The prefix without its number is their label.
function(sinter_rerun_tests prefix regex)
  cmake_parse_arguments(PARSE_ARGV 2 rerun "" EXCEPT "")
  string(REGEX REPLACE "_.*" "" kind ${prefix})
  foreach(name ${sinter_tests})
    if(name MATCHES "${regex}" AND NOT (rerun_EXCEPT AND name MATCHES "${rerun_EXCEPT}"))
      get_property(command GLOBAL PROPERTY sinter_command_${name})
      get_test_property(${name} LABELS labels)
      add_test(NAME ${prefix}_${name} COMMAND ${command})
      set_tests_properties(${prefix}_${name} PROPERTIES TIMEOUT 600 LABELS "${labels};${kind}"
                           ENVIRONMENT "${rerun_UNPARSED_ARGUMENTS}")
    endif()
  endforeach()
endfunction()
