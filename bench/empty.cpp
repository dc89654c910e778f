// A program that does nothing but, when asked, say how much memory that took: what any process costs.
#include "memory.hpp"

int main(int argc, char**) {
  if (argc > 1) std::printf("%ld\n", resident_kib());
}
