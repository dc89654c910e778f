# The CUDA toolkit's headers, for the types of the driver and of NVRTC. Both libraries are opened at run time.
add_library(sinter_cuda_headers INTERFACE)
find_path(SINTER_CUDA_INCLUDE cuda.h HINTS $ENV{CUDA_HOME}/include /usr/local/cuda/include)
if(SINTER_CUDA_INCLUDE)
  target_include_directories(sinter_cuda_headers SYSTEM INTERFACE ${SINTER_CUDA_INCLUDE})
  target_compile_definitions(sinter_cuda_headers INTERFACE SINTER_HAVE_CUDA_HEADERS=1)
else()
  message(STATUS "No CUDA headers found (set CUDA_HOME): building for the CPU and virtual GPUs only")
endif()
