// From an instruction set to its kernels.
#pragma once

#include "exactk/isa.hpp"
#include "kernels/table.hpp"

namespace exactk {

// Throws InputError if the CPU lacks the set.
[[nodiscard]] const Kernels& kernels(Isa isa);

}  // namespace exactk
