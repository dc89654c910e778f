# scripts/coverage includes this into the project: the library alone counts, without optimisation, so that a branch of the
# source is one of the program.
cmake_language(DEFER CALL target_compile_options sinter_hardened INTERFACE --coverage -O0 -U_FORTIFY_SOURCE)
cmake_language(DEFER CALL target_link_options sinter PRIVATE --coverage)
