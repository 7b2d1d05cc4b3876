// Whether two lists have the items that they share in the same order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <span>
#include <vector>

#include "metrics/list_overlap.hpp"
#include "metrics/metric.hpp"

namespace exactk {

// Counts the pairs that descend, by a merge sort.
class InversionCounter {
 public:
  explicit InversionCounter(const Run& run) noexcept : run_(run) {}

  // Sorts the numbers.
  Count count(std::vector<double>& numbers) {
    const std::size_t size = numbers.size();
    merged_.resize(size);
    Count inversions = 0;
    for (std::size_t width = 1; width < size; width *= 2) {
      for (std::size_t begin = 0; begin < size; begin += 2 * width) {
        const std::size_t middle = std::min(begin + width, size);
        inversions += merge(numbers, begin, middle, std::min(middle + width, size));
      }
      numbers.swap(merged_);
    }
    return inversions;
  }

 private:
  // Merges [begin, middle) and [middle, end). Returns how many pairs of both descend.
  Count merge(const std::vector<double>& numbers, std::size_t begin, std::size_t middle,
              std::size_t end) {
    std::size_t left = begin;
    std::size_t right = middle;
    Count inversions = 0;
    for (std::size_t to = begin; to < end; ++to) {
      const bool takes_right = right < end && (left == middle || numbers[right] < numbers[left]);
      if (takes_right) inversions += static_cast<Count>(middle - left);
      merged_[to] = numbers[takes_right ? right++ : left++];
      if (to % kChunk == kChunk - 1) run_.checkpoint();
    }
    return inversions;
  }

  const Run& run_;
  std::vector<double> merged_;
};

class KendallTau {
 public:
  static constexpr std::string_view kAliases[] = {"tau"};
  static constexpr MetricInfo info{
      .name = "kendall_tau",
      .aliases = kAliases,
      .summary =
          "rank correlation of the items that two lists share: 1 in the same order, -1 in reverse; "
          "0 / 0 for fewer than two",
      .formula = "(pairs of A & B in the same order - those in another) / pairs of A & B",
      .source = "Kendall 1938",
      .direction = Direction::none,
      .unit_range = false,
      .least = -1,
      .greatest = 1,
      .micro = false,
      .uses_gains = true,
      .reads_truth = false,
      .compares_lists = true};

  explicit KendallTau(const Context& context) noexcept
      : judged_items_(context.row.judged_items), inversions_(context.run) {}

  [[nodiscard]] Ratio ratio_at(const CutoffCounts& counts, const Rules&) {
    ranks_.clear();
    for (const JudgedItem& item : judged_items_.first(static_cast<std::size_t>(counts.judged))) {
      if (is_shared(item, counts.cutoff)) ranks_.push_back(item.gain);
    }
    const auto shared = static_cast<Count>(ranks_.size());
    const Count pairs = shared * (shared - 1) / 2;
    return ratio(pairs - 2 * inversions_.count(ranks_), pairs);
  }

 private:
  std::span<const JudgedItem> judged_items_;
  InversionCounter inversions_;
  std::vector<double> ranks_;  // in the one list, by rank in the other
};

}  // namespace exactk
