// The instruction sets that the kernels are compiled for. The choice changes how long a call takes,
// and no bit of its result.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace exactk {

enum class Isa : std::uint8_t { scalar, avx2, avx512, neon };

[[nodiscard]] std::string_view name_of(Isa isa);

// The instruction sets that this build contains and this CPU supports, widest last. Always includes
// scalar.
[[nodiscard]] std::span<const Isa> available_isas();

// Returns the instruction set of that name, or the widest for an empty name. Throws InputError
// about EXACTK_ISA, the source of the name, if it is unknown or unsupported.
[[nodiscard]] Isa isa_of(std::string_view name);

}  // namespace exactk
