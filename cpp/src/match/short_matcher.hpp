// Matches short lists with short truths, and ranks them by short rows of scores, by kernels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "base/hash.hpp"
#include "exactk/types.hpp"
#include "kernels/table.hpp"
#include "match/hit_bits.hpp"

namespace exactk {

class ShortMatcher {
 public:
  explicit ShortMatcher(const Kernels& kernels)
      : kernels_(kernels),
        factors_{static_cast<std::uint32_t>(process_secrets().first),
                 static_cast<std::uint32_t>(process_secrets().second)},
        slots_(kShortSlots) {}

  // Finds the ranks of the hits. Returns false if the list or the truth is not short, if an item
  // repeats, or if the kernel cannot tell.
  template <class Id>
  bool match(std::span<const std::int64_t> truth, std::span<const Id> list, HitBits& hits) {
    if (skipped_ > 0) {
      --skipped_;
      return false;
    }
    if (list.empty() || list.size() > kShortList || truth.size() > kShortTruth) return false;
    bool is_certain = false;
    const PositionBits positions = kernel<Id>().match(
        truth.data(), truth.size(), list.data(), list.size(), factors_, slots_.data(), &is_certain);
    hits = {positions.low, positions.high};
    failures_ = is_certain ? 0 : failures_ + 1;
    if (failures_ > kUsualFailures) skipped_ = std::min(failures_ - kUsualFailures, kMostSkipped);
    return is_certain;
  }

  // Finds the ranks of the items at the positions of the hits. Returns false if a score is NaN or
  // below `least`, or if the item of a hit ties with another.
  template <class Score>
  bool rank(std::span<const Score> scores, Score least, HitBits& hits) const {
    bool is_certain = false;
    const ShortScoreKernels<Score>& row_kernels = [&]() -> const ShortScoreKernels<Score>& {
      if constexpr (std::is_same_v<Score, float>) {
        return kernels_.float32_rows;
      } else {
        return kernels_.float64_rows;
      }
    }();
    const PositionBits ranks =
        row_kernels.rank(scores.data(), scores.size(), least, {hits.low, hits.high}, &is_certain);
    hits = {ranks.low, ranks.high};
    return is_certain;
  }

 private:
  template <class Id>
  [[nodiscard]] const ShortListKernels<Id>& kernel() const noexcept {
    if constexpr (std::is_same_v<Id, std::int32_t>) {
      return kernels_.int32_lists;
    } else if constexpr (std::is_same_v<Id, std::int64_t>) {
      return kernels_.int64_lists;
    } else if constexpr (std::is_same_v<Id, std::uint32_t>) {
      return kernels_.uint32_lists;
    } else {
      return kernels_.uint64_lists;
    }
  }

  // Where most lists have repeated items, most are left to others at once.
  static constexpr std::size_t kUsualFailures = 3;  // in a row
  static constexpr std::size_t kMostSkipped = 64;

  const Kernels& kernels_;
  ShortFactors factors_;
  std::vector<std::uint8_t> slots_;
  std::size_t failures_ = 0;  // since the last success
  std::size_t skipped_ = 0;   // lists still to be skipped
};

}  // namespace exactk
