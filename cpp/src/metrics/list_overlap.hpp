// How many items two lists share. Metrics that compare two lists read one of them as the truth: the
// gain of an item is its rank there. The other list is the ranking.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "metrics/metric.hpp"

namespace exactk {

// Whether the item is among the first items of both lists.
[[nodiscard]] inline bool is_shared(const JudgedItem& item, Count cutoff) noexcept {
  return item.relevant && item.gain <= static_cast<double>(cutoff);
}

// The numbers of items in both lists down to the cutoff.
struct ListLengths {
  explicit ListLengths(const CutoffCounts& counts) noexcept
      : shorter(std::min(one_length(counts), counts.list_length)),
        longer(std::max(one_length(counts), counts.list_length)) {}

  Count shorter;
  Count longer;

 private:
  static Count one_length(const CutoffCounts& counts) noexcept {
    return std::min(counts.cutoff, counts.relevant);
  }
};

// Counts the items that are among the first of both lists.
class SharedItems {
 public:
  explicit SharedItems(const Context& context) noexcept
      : judged_items_(context.row.judged_items), run_(context.run) {}

  [[nodiscard]] Count count(const CutoffCounts& counts) const {
    const auto top = judged_items_.first(static_cast<std::size_t>(counts.judged));
    Count shared = 0;
    in_chunks(top.size(), run_, [&](std::size_t begin, std::size_t end) {
      shared += std::ranges::count_if(top.subspan(begin, end - begin), [&](const JudgedItem& item) {
        return is_shared(item, counts.cutoff);
      });
    });
    return shared;
  }

 private:
  std::span<const JudgedItem> judged_items_;
  const Run& run_;
};

class Overlap {
 public:
  static constexpr MetricInfo info{
      .name = "overlap",
      .summary = "share of the first k items that two lists have in common",
      .formula = "|A & B| / max(|A|, |B|)",
      .source = "Fagin, Kumar, Sivakumar 2003; Webber, Moffat, Zobel 2010, who call it agreement",
      .direction = Direction::none,
      .micro = false,
      .uses_gains = true,
      .reads_truth = false,
      .compares_lists = true};

  explicit Overlap(const Context& context) noexcept : shared_(context) {}

  [[nodiscard]] Ratio ratio_at(const CutoffCounts& counts, const Rules&) const {
    return ratio(shared_.count(counts), ListLengths(counts).longer);
  }

 private:
  SharedItems shared_;
};

class Jaccard {
 public:
  static constexpr std::string_view kAliases[] = {"jaccard_index"};
  static constexpr MetricInfo info{
      .name = "jaccard",
      .aliases = kAliases,
      .summary = "share of the items in either of two lists that both have",
      .formula = "|A & B| / |A | B|",
      .source = "Jaccard 1901",
      .direction = Direction::none,
      .micro = false,
      .uses_gains = true,
      .reads_truth = false,
      .compares_lists = true};

  explicit Jaccard(const Context& context) noexcept : shared_(context) {}

  [[nodiscard]] Ratio ratio_at(const CutoffCounts& counts, const Rules&) const {
    const ListLengths lengths(counts);
    const Count shared = shared_.count(counts);
    return ratio(shared, lengths.shorter + lengths.longer - shared);
  }

 private:
  SharedItems shared_;
};

}  // namespace exactk
