# sinter_embed(target symbol [COMPACT] files...): compiles the files' text, concatenated with an empty line between files
# and without their includes of each other, into `target` as
# `namespace sinter::v1::embedded { extern const std::string_view symbol; }`.
# COMPACT leaves out comments, which begin with //, and indentation: nobody reads them.
function(sinter_embed target symbol)
  cmake_parse_arguments(PARSE_ARGV 2 embed "COMPACT" "" "")
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.embedded.cpp)
  set(text "")
  foreach(file ${embed_UNPARSED_ARGUMENTS})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    file(READ ${file} part)
    string(REGEX REPLACE "#(include \"[^\"]*\"|pragma once)\n" "" part "${part}")
    if(embed_COMPACT)
      string(REGEX REPLACE "(^|\n) *//[^\n]*" "" part "${part}")
      string(REGEX REPLACE " +//[^\n]*" "" part "${part}")
      string(REGEX REPLACE "\n +" "\n" part "${part}")
    endif()
    if(text)
      string(APPEND text "\n")
    endif()
    string(APPEND text "${part}")
  endforeach()
  file(CONFIGURE OUTPUT ${out} CONTENT [[
#include <string_view>
#if defined(__clang__)
#pragma clang diagnostic ignored "-Woverlength-strings"  // of more than 65,536 characters
#endif
namespace sinter::inline v1::embedded {
extern const std::string_view @symbol@;
const std::string_view @symbol@ = R"~~~(@text@)~~~";
}
]] @ONLY)
  target_sources(${target} PRIVATE ${out})
endfunction()
