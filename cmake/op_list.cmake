# cmake -DTABLE=ops.def -DLIST=op_list.def -P op_list.cmake: writes the part of a table of operations that the public
# headers include: everything except comments, bodies and descriptions. An unchanged list is not rewritten, so a new
# body rebuilds no program.
file(READ ${TABLE} text)
string(REGEX REPLACE "(^|\n)(//[^\n]*\n)+" "\\1" text "${text}")
string(REGEX REPLACE "(SINTER_[A-Z_]*(OP|REDUCTION)\\([a-z0-9_]+, [0-9], [A-Za-z0-9]+(, (Reduces|ShapePreserving))?), [^\n]*" "\\1)"
       text "${text}")
string(REGEX REPLACE "(#define SINTER_[A-Z_]*\\(name, arity, rule(, kind)?), [a-z, ]*\\)" "\\1)" text "${text}")
cmake_path(GET TABLE FILENAME table)
string(PREPEND text "// Generated from ${table}.\n")
set(old "")
if(EXISTS ${LIST})
  file(READ ${LIST} old)
endif()
if(NOT text STREQUAL old)
  file(WRITE ${LIST} "${text}")
endif()
