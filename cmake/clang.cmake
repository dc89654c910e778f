# Toolchain of the presets that need clang: the newest installed version.
find_program(CMAKE_CXX_COMPILER NAMES clang++-21 clang++-20 clang++-19 clang++-18 clang++-17 clang++-16 clang++ REQUIRED)
