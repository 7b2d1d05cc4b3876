// Selects the kernels of an instruction set.
#pragma once

#include "exactk/isa.hpp"
#include "kernels/table.hpp"

namespace exactk {

// Throws InputError if the CPU lacks the instruction set.
[[nodiscard]] const Kernels& kernels(Isa isa);

}  // namespace exactk
