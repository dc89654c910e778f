# sinter_embed(target symbol files...): compiles the files' text, concatenated with an empty line between files and
# without their includes of each other, into
# `target` as `namespace sinter::v1::embedded { extern const std::string_view symbol; }`.
function(sinter_embed target symbol)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.embedded.cpp)
  set(text "")
  foreach(file ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    file(READ ${file} part)
    string(REGEX REPLACE "#(include \"[^\"]*\"|pragma once)\n" "" part "${part}")
    if(text)
      string(APPEND text "\n")
    endif()
    string(APPEND text "${part}")
  endforeach()
  string(LENGTH "${text}" length)
  if(length GREATER 65500)  # compilers need not take more than 65,536 characters
    message(FATAL_ERROR "${symbol} is too long for one string literal")
  endif()
  file(CONFIGURE OUTPUT ${out} CONTENT [[
#include <string_view>
namespace sinter::inline v1::embedded {
extern const std::string_view @symbol@;
const std::string_view @symbol@ = R"~~~(@text@)~~~";
}
]] @ONLY)
  target_sources(${target} PRIVATE ${out})
endfunction()
