// The trust boundary of paired sums: checks of all inputs.
#pragma once

#include "exactk/paired_sums.hpp"
#include "kernels/table.hpp"

namespace exactk {

// Throws InputError if the request is malformed.
void validate(const PairedRequest& request, const Kernels& kernels);

}  // namespace exactk
