# CPack runs this on the installed files before it makes the packages. Each Debian package has its license and changelog;
# man pages and changelogs are compressed.
foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} upper)
  set(share ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr/share)
  set(doc ${share}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  file(COPY ${CMAKE_CURRENT_LIST_DIR}/copyright ${CMAKE_CURRENT_LIST_DIR}/changelog DESTINATION ${doc})
  file(GLOB manuals ${share}/man/man*/*.[0-9])
  foreach(file ${doc}/changelog ${manuals})
    execute_process(COMMAND gzip --best --no-name ${file} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endforeach()
