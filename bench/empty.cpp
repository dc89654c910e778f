// A program that does nothing except, on request, report how much memory that took: the cost of any process.
#include "memory.hpp"

int main(int argc, char**) {
  if (argc > 1) std::printf("%ld\n", resident_kib());
}
