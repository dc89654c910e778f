# Faster builds if the tools are present. Nothing here changes what is built.
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

find_program(SINTER_CCACHE ccache)
if(SINTER_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # ccache caches precompiled headers only if it may trust their time stamps. All clones share its objects, so that debug
  # information may name another clone's folder.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_NOHASHDIR=1
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} ${SINTER_CCACHE})
  add_compile_options(-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)  # GoogleTest's macros contain the name of their file
endif()

include(CheckLinkerFlag)
foreach(linker mold lld)
  check_linker_flag(CXX -fuse-ld=${linker} SINTER_LINKS_WITH_${linker})
  if(SINTER_LINKS_WITH_${linker})
    add_link_options(-fuse-ld=${linker})
    break()
  endif()
endforeach()
