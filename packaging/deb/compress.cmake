# Debian's packages have compressed man pages, changelogs and long texts. CPack runs this before it makes the packages.
file(GLOB files ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/man/man*/*.[0-9]
                ${CPACK_TEMPORARY_DIRECTORY}/*/usr/share/doc/*/changelog)
foreach(file ${files})
  execute_process(COMMAND gzip --best --no-name ${file} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
