# The cross compiler, if there is one; else the machine's own compiler plays it.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
find_program(SINTER_CROSS_CC NAMES aarch64-linux-gnu-gcc cc)
set(CMAKE_C_COMPILER ${SINTER_CROSS_CC})
