// The kernels of an instruction set.
#pragma once

#include "kernels/table.hpp"
#include "metrik/isa.hpp"

namespace metrik {

[[nodiscard]] const Kernels& kernels(Isa isa) noexcept;

}  // namespace metrik
