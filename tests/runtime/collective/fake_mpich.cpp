// What is found where an MPI has MPICH's binary interface: the functions, and no objects of Open MPI's.
#include <cstring>

extern "C" int MPI_Get_library_version(char* text, int* length) {
  std::strcpy(
      text,
      "MPICH Version:      4.0.2\nMPICH Release date: Thu Apr  7 12:34:45 CDT 2022\nMPICH ABI:          14:2:2\n");
  *length = static_cast<int>(std::strlen(text));
  return 0;
}
extern "C" int MPI_Init_thread(int*, char***, int, int*) { return 1; }
