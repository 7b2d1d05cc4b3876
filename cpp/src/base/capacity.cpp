#include "exactk/capacity.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace exactk {
namespace {

double physical_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_size = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_size <= 0) return std::numeric_limits<double>::infinity();
  return static_cast<double>(pages) * static_cast<double>(page_size);
}

double memory_limit() {
  static const double physical = physical_memory();  // asking takes longer than a small evaluation
  double limit = physical;
  rlimit address_space{};
  if (getrlimit(RLIMIT_AS, &address_space) == 0 && address_space.rlim_cur != RLIM_INFINITY) {
    limit = std::min(limit, static_cast<double>(address_space.rlim_cur));
  }
  return limit;
}

std::string gigabytes(double bytes) { return format_number(std::round(bytes / 1e8) / 10) + " GB"; }

}  // namespace

void require_memory(Count cells, Count bytes_per_cell, Fault fault) {
  const double needed = static_cast<double>(cells) * static_cast<double>(bytes_per_cell);
  const double limit = memory_limit();
  if (needed <= limit) return;
  fault.expected = "at most " + gigabytes(limit) + " of memory";
  fault.found = "a need for " + gigabytes(needed);
  throw CapacityError(std::move(fault));
}

}  // namespace exactk
