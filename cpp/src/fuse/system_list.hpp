// The list of one system and user, as the values that count for its items.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/run.hpp"
#include "exactk/fuse.hpp"
#include "kernels/table.hpp"
#include "numeric/rounded_sum.hpp"
#include "rank/scores/score_ranker.hpp"

namespace exactk {

// Whether values are functions of ranks; otherwise, of scores.
[[nodiscard]] bool reads_ranks(const FusionRules& rules) noexcept;
// Whether values depend on how many items a user's lists have in all; they are ranks until that
// is known.
[[nodiscard]] bool reads_union(const FusionRules& rules) noexcept;

class SystemList {
 public:
  // `argument` is the system's name in messages.
  SystemList(const FusedSystem& system, const FusionRules& rules, const Kernels& kernels,
             std::string argument, const Run& run);

  // Reads the user's list, cut at the depth. Throws InputError if its scores cannot be read.
  void read(Count user);

  [[nodiscard]] std::span<const std::int64_t> ids() const noexcept { return ids_; }
  [[nodiscard]] std::span<const double> values() const noexcept { return values_; }
  [[nodiscard]] const FusedSystem& system() const noexcept { return system_; }
  [[nodiscard]] const std::string& argument() const noexcept { return argument_; }

 private:
  void read_ranking(const Lists& lists, Count user);
  template <class Row>
  void read_scores(ScoreRanker<Row>& ranker, Count user);
  template <class Row>
  [[nodiscard]] bool read_in_order(RankableRow<Row>& row);
  void use_scores(Count user);
  void use_ranks();
  void store_values_to(std::size_t rank);
  [[noreturn]] void refuse_nan(Count user) const;
  // Throws InputError about the score of the item at the index.
  [[noreturn]] void refuse(Count user, std::size_t index, std::string expected) const;

  const FusedSystem& system_;
  const FusionRules& rules_;
  const Run& run_;
  std::string argument_;
  std::optional<AnyScoreRanker> ranker_;  // of scores
  std::vector<std::int64_t> ids_;
  std::vector<double> values_;          // parallel to ids
  std::vector<std::uint8_t> ties_;      // parallel to ids: whether the item ties with the next
  std::vector<double> values_by_rank_;  // of rrf and rbc, as far as they were needed
  RoundedSum sum_;
};

}  // namespace exactk
