// Whether there is memory for what a request needs, asked before the work instead of after it.
#pragma once

#include "exactk/error.hpp"
#include "exactk/types.hpp"

namespace exactk {

// Throws CapacityError, with the bytes as `found`, if they are more than the machine has or
// than the limit of the process's address space. What is less may yet fail, by std::bad_alloc.
void require_memory(Count cells, Count bytes_per_cell, Fault fault);

}  // namespace exactk
