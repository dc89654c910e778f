# Included into the project by scripts/coverage: instruments only the library, without optimization, so that branches of
# the source are branches of the program.
cmake_language(DEFER CALL target_compile_options sinter_hardened INTERFACE --coverage -O0 -U_FORTIFY_SOURCE)
cmake_language(DEFER CALL target_link_options sinter PRIVATE --coverage)
