// Which instruction sets the kernels come in. The choice changes how long a call takes, and no bit
// of what it returns.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace exactk {

enum class Isa : std::uint8_t { scalar, avx2, avx512 };

[[nodiscard]] std::string_view name_of(Isa isa) noexcept;

// Those that this build holds and this CPU has, the widest last; scalar is always among them.
[[nodiscard]] std::span<const Isa> available_isas() noexcept;

// The one of that name; the widest for an empty name. Throws InputError about EXACTK_ISA, where the
// name comes from, if there is none such or the CPU lacks it.
[[nodiscard]] Isa isa_of(std::string_view name);

}  // namespace exactk
