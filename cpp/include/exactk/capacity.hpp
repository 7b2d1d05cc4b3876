// Checks that a request fits into memory before the work starts.
#pragma once

#include "exactk/error.hpp"
#include "exactk/types.hpp"

namespace exactk {

// The bytes of the machine's physical memory or of the limit of the process's address space, the
// lower; infinity if nothing is known.
[[nodiscard]] double memory_limit();

// Throws CapacityError, with the number of bytes in `found`, if they exceed memory_limit(). A
// smaller allocation may still fail with
// std::bad_alloc.
void require_memory(Count cells, Count bytes_per_cell, Fault fault);

}  // namespace exactk
