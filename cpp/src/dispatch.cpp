#include "dispatch.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "metrik/error.hpp"

namespace metrik {
namespace {

struct Set {
  Isa isa;
  std::string_view name;
  const Kernels* kernels;  // none if this build has none for it
  bool (*has)();           // whether the CPU has it, and the system keeps its registers
};

#ifdef __x86_64__
const Kernels* const avx2 = &avx2_kernels;
const Kernels* const avx512 = &avx512_kernels;
bool has_avx2() { return __builtin_cpu_supports("avx2"); }
bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}
#else
const Kernels* const avx2 = nullptr;
const Kernels* const avx512 = nullptr;
bool has_avx2() { return false; }
bool has_avx512() { return false; }
#endif

// By Isa.
const Set sets[] = {
    {Isa::scalar, "scalar", &scalar_kernels, [] { return true; }},
    {Isa::avx2, "avx2", avx2, &has_avx2},
    {Isa::avx512, "avx512", avx512, &has_avx512},
};

const Set& set_of(Isa isa) { return sets[static_cast<std::size_t>(isa)]; }

}  // namespace

std::string_view name_of(Isa isa) noexcept { return set_of(isa).name; }

std::span<const Isa> available_isas() noexcept {
  static const auto available = [] {
    std::vector<Isa> isas;
    for (const Set& set : sets) {
      if (set.has()) isas.push_back(set.isa);
    }
    return isas;
  }();
  return available;
}

Isa isa_of(std::string_view name) {
  const std::span<const Isa> available = available_isas();
  if (name.empty()) return available.back();
  const auto found = std::ranges::find_if(available, [&](Isa isa) { return name_of(isa) == name; });
  if (found != available.end()) return *found;
  std::string names;
  for (const Isa isa : available) {
    if (!names.empty()) names += ", ";
    names += name_of(isa);
  }
  throw InputError({.argument = "METRIK_ISA",
                    .expected = "an instruction set that this CPU has: " + names,
                    .found = "'" + std::string(name) + "'"});
}

const Kernels& kernels(Isa isa) noexcept { return *set_of(isa).kernels; }

}  // namespace metrik
