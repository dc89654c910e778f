# cmake -DTABLE=ops.def -DLIST=op_list.def -P op_list.cmake: what users' programs compile of a table of operations, which is
# everything but comments, bodies and sentences. A list that stays as it is keeps its time, so that nothing is rebuilt
# for a body.
file(READ ${TABLE} text)
string(REGEX REPLACE "(^|\n)(//[^\n]*\n)+" "\\1" text "${text}")
string(REGEX REPLACE "(SINTER_[A-Z_]*(OP|REDUCTION)\\([a-z0-9_]+, [0-9], [A-Za-z0-9]+(, (Reduces|Spreads))?), [^\n]*" "\\1)"
       text "${text}")
string(REGEX REPLACE "(#define SINTER_[A-Z_]*\\(name, arity, rule(, kind)?), [a-z, ]*\\)" "\\1)" text "${text}")
cmake_path(GET TABLE FILENAME table)
string(PREPEND text "// Made of ${table} by the build.\n")
set(old "")
if(EXISTS ${LIST})
  file(READ ${LIST} old)
endif()
if(NOT text STREQUAL old)
  file(WRITE ${LIST} "${text}")
endif()
