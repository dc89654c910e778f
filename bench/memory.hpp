// Peak memory of this process, in KiB.
#pragma once
#include <cstdio>
#include <cstring>

inline long resident_kib() {
  long kib = 0;
  if (std::FILE* status = std::fopen("/proc/self/status", "r")) {
    for (char line[256]; std::fgets(line, sizeof line, status);)
      if (std::strncmp(line, "VmHWM:", 6) == 0) std::sscanf(line + 6, "%ld", &kib);
    std::fclose(status);
  }
  return kib;
}
