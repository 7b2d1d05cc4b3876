#include "kernels/dispatch.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string>

#include "exactk/error.hpp"

namespace exactk {
namespace {

struct InstructionSet {
  Isa isa;
  std::string_view name;
  const Kernels* kernels;  // null if this build has none for it
  bool (*is_supported)();  // by the CPU, and by the system, which must save its registers
};

#ifdef EXACTK_X86_KERNELS
const Kernels* const avx2 = &avx2_kernels;
const Kernels* const avx512 = &avx512_kernels;
bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}
#else
const Kernels* const avx2 = nullptr;
const Kernels* const avx512 = nullptr;
bool has_avx2() { return false; }
bool has_avx512() { return false; }
#endif

// In the order of Isa.
const InstructionSet instruction_sets[] = {
    {Isa::scalar, "scalar", &scalar_kernels, [] { return true; }},
    {Isa::avx2, "avx2", avx2, &has_avx2},
    {Isa::avx512, "avx512", avx512, &has_avx512},
};

const InstructionSet& instruction_set_of(Isa isa) {
  return instruction_sets[static_cast<std::size_t>(isa)];
}

}  // namespace

std::string_view name_of(Isa isa) noexcept { return instruction_set_of(isa).name; }

std::span<const Isa> available_isas() noexcept {
  struct Available {
    std::array<Isa, std::size(instruction_sets)> isas{};
    std::size_t count = 0;
  };
  static const Available available = [] {
    Available result;
    for (const InstructionSet& set : instruction_sets) {
      if (set.is_supported()) result.isas[result.count++] = set.isa;
    }
    return result;
  }();
  return std::span(available.isas).first(available.count);
}

namespace {

[[noreturn]] void refuse(const std::string& found) {
  std::string names;
  for (const Isa isa : available_isas()) {
    if (!names.empty()) names += ", ";
    names += name_of(isa);
  }
  throw InputError({.argument = "EXACTK_ISA",
                    .expected = "an instruction set that this CPU supports: " + names,
                    .found = found});
}

}  // namespace

Isa isa_of(std::string_view name) {
  const std::span<const Isa> available = available_isas();
  if (name.empty()) return available.back();
  const auto isa = std::ranges::find(available, name, &name_of);
  if (isa == available.end()) refuse("'" + std::string(name) + "'");
  return *isa;
}

const Kernels& kernels(Isa isa) {
  const std::span<const Isa> available = available_isas();
  if (std::ranges::find(available, isa) == available.end()) {
    refuse("number " + std::to_string(static_cast<int>(isa)));
  }
  return *instruction_set_of(isa).kernels;
}

}  // namespace exactk
