#include "kernels/dispatch.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "exactk/error.hpp"

#ifdef EXACTK_X86_KERNELS
#include <cpuid.h>
#endif

namespace exactk {
namespace {

struct InstructionSet {
  Isa isa;
  std::string_view name;
  const Kernels* kernels;
};

#ifdef EXACTK_X86_KERNELS
struct Features {
  bool avx2 = false;
  bool avx512 = false;
};

// Asks the CPU itself: __builtin_cpu_supports needs a part of the compiler's library that not every
// toolchain links, and says no without it. The system must save the registers, too.
Features features() {
  constexpr unsigned kFma = 1U << 12U;
  constexpr unsigned kOsxsave = 1U << 27U;
  constexpr unsigned kAvx2 = 1U << 5U;
  constexpr unsigned kAvx512 = 1U << 16U | 1U << 17U | 1U << 30U | 1U << 31U;  // F, DQ, BW, VL
  constexpr unsigned kYmm = 0x06U;
  constexpr unsigned kZmm = 0xe6U;
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  const auto has_all = [](unsigned bits, unsigned wanted) { return (bits & wanted) == wanted; };
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || !has_all(c, kFma | kOsxsave)) return {};
  unsigned saved = 0;  // NOLINT(misc-const-correctness): the instruction writes it
  // NOLINTNEXTLINE(portability-no-assembler): of the intrinsic, compilers want a flag for the file
  __asm__("xgetbv" : "=a"(saved), "=d"(d) : "c"(0));
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return {};
  const bool has_avx2 = has_all(b, kAvx2) && has_all(saved, kYmm);
  return {.avx2 = has_avx2, .avx512 = has_avx2 && has_all(b, kAvx512) && has_all(saved, kZmm)};
}
#endif

// Those that this build has kernels for and the CPU supports, the widest last.
std::vector<InstructionSet> supported_sets() {
  std::vector<InstructionSet> sets = {{Isa::scalar, "scalar", &scalar_kernels}};
#ifdef EXACTK_X86_KERNELS
  const Features supported = features();
  if (supported.avx2) sets.push_back({Isa::avx2, "avx2", &avx2_kernels});
  if (supported.avx512) sets.push_back({Isa::avx512, "avx512", &avx512_kernels});
#endif
#ifdef EXACTK_NEON_KERNELS
  sets.push_back({Isa::neon, "neon", &neon_kernels});
#endif
  return sets;
}

const std::vector<InstructionSet>& instruction_sets() {
  static const std::vector<InstructionSet> sets = supported_sets();
  return sets;
}

// Null if there is none.
const InstructionSet* find(Isa isa) {
  const auto set = std::ranges::find(instruction_sets(), isa, &InstructionSet::isa);
  return set == instruction_sets().end() ? nullptr : &*set;
}

[[noreturn]] void refuse(const std::string& found) {
  std::string names;
  for (const InstructionSet& set : instruction_sets()) {
    if (!names.empty()) names += ", ";
    names += set.name;
  }
  throw InputError({.argument = "EXACTK_ISA",
                    .expected = "an instruction set that this CPU supports: " + names,
                    .found = found});
}

}  // namespace

std::string_view name_of(Isa isa) {
  const InstructionSet* const set = find(isa);
  return set == nullptr ? "" : set->name;
}

std::span<const Isa> available_isas() {
  static const std::vector<Isa> isas = [] {
    std::vector<Isa> all;
    for (const InstructionSet& set : instruction_sets()) all.push_back(set.isa);
    return all;
  }();
  return isas;
}

Isa isa_of(std::string_view name) {
  if (name.empty()) return instruction_sets().back().isa;
  const auto set = std::ranges::find(instruction_sets(), name, &InstructionSet::name);
  if (set == instruction_sets().end()) refuse("'" + std::string(name) + "'");
  return set->isa;
}

const Kernels& kernels(Isa isa) {
  const InstructionSet* const set = find(isa);
  if (set == nullptr) refuse("number " + std::to_string(static_cast<int>(isa)));
  return *set->kernels;
}

}  // namespace exactk
