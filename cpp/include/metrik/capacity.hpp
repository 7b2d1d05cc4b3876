// Whether there is memory for what a request needs, asked before the work instead of after it.
#pragma once

#include "metrik/error.hpp"
#include "metrik/types.hpp"

namespace metrik {

// Throws CapacityError, with the bytes as what was found, unless the machine has so many and the
// process may have them.
void require_memory(Count cells, Count bytes_per_cell, Fault fault);

}  // namespace metrik
