// From an instruction set to its kernels.
#pragma once

#include "kernels/table.hpp"
#include "metrik/isa.hpp"

namespace metrik {

// Throws InputError if the CPU lacks the set.
[[nodiscard]] const Kernels& kernels(Isa isa);

}  // namespace metrik
