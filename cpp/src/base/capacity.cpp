#include "exactk/capacity.hpp"

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#else
#include <sys/resource.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace exactk {
namespace {

#ifdef _WIN32
double physical_memory() {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof(status);
  if (GlobalMemoryStatusEx(&status) == 0) return std::numeric_limits<double>::infinity();
  return static_cast<double>(status.ullTotalPhys);
}

double limit_of_process() { return std::numeric_limits<double>::infinity(); }
#else
double physical_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_size = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_size <= 0) return std::numeric_limits<double>::infinity();
  return static_cast<double>(pages) * static_cast<double>(page_size);
}

double limit_of_process() {
  rlimit address_space{};
  const bool is_limited =
      getrlimit(RLIMIT_AS, &address_space) == 0 && address_space.rlim_cur != RLIM_INFINITY;
  return is_limited ? static_cast<double>(address_space.rlim_cur)
                    : std::numeric_limits<double>::infinity();
}
#endif

std::string gigabytes(double bytes) { return format_number(std::round(bytes / 1e8) / 10) + " GB"; }

}  // namespace

double memory_limit() {
  static const double physical = physical_memory();  // asking takes longer than a small evaluation
  return std::min(physical, limit_of_process());
}

void require_memory(Count cells, Count bytes_per_cell, Fault fault) {
  const double needed = static_cast<double>(cells) * static_cast<double>(bytes_per_cell);
  const double limit = memory_limit();
  if (needed <= limit) return;
  fault.expected = "at most " + gigabytes(limit) + " of memory";
  fault.found = "a need for " + gigabytes(needed);
  throw CapacityError(std::move(fault));
}

}  // namespace exactk
