#include "fuse/system_list.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <variant>

#include "exactk/error.hpp"
#include "fuse/score_norms.hpp"
#include "rank/ranked_list.hpp"

namespace exactk {

bool reads_ranks(const FusionRules& rules) noexcept {
  return rules.method == FusionMethod::rrf || rules.method == FusionMethod::rbc ||
         rules.norm == ScoreNorm::rank || reads_union(rules);
}

bool reads_union(const FusionRules& rules) noexcept {
  return rules.method == FusionMethod::borda || rules.norm == ScoreNorm::borda;
}

SystemList::SystemList(const FusedSystem& system, const FusionRules& rules, const Kernels& kernels,
                       std::string argument, const Run& run)
    : system_(system), rules_(rules), run_(run), argument_(std::move(argument)) {
  if (const auto* scores = std::get_if<SparseScores>(&system.lists)) {
    ranker_.emplace(make_score_ranker(*scores, kernels, run));
  }
}

void SystemList::read(Count user) {
  ids_.clear();
  values_.clear();
  ties_.clear();
  if (ranker_) {
    std::visit([&](auto& ranker) { read_scores(ranker, user); }, *ranker_);
  } else {
    read_ranking(std::get<Lists>(system_.lists), user);
  }
  if (reads_ranks(rules_)) {
    use_ranks();
  } else {
    use_scores(user);
  }
  if (system_.weight == 1 || reads_union(rules_)) return;
  for (double& value : values_) value *= system_.weight;
}

void SystemList::read_ranking(const Lists& lists, Count user) {
  const Count size = std::min(lists.length(user), rules_.depth);
  std::visit(
      [&](const auto& items) {
        const auto row = row_slice(items, lists, user).first(static_cast<std::size_t>(size));
        ids_.resize(row.size());
        in_chunks(row.size(), run_, [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) ids_[i] = static_cast<std::int64_t>(row[i]);
        });
      },
      lists.items);
}

template <class Row>
void SystemList::read_scores(ScoreRanker<Row>& ranker, Count user) {
  ranker.select_user(user);
  if (read_in_order(ranker.row())) return;
  ranker.load_scores({});
  RankableRow<Row>& row = ranker.row();
  if (row.has_nan() && (!reads_ranks(rules_) || rules_.nan == NanScores::raise)) refuse_nan(user);
  const Count depth = std::min(rules_.depth, static_cast<Count>(row.size()));
  const RankedList ranked =
      ranker.best(depth, is_strict(rules_.ties) ? rules_.ties : Ties::lowest_id);
  const std::size_t size = ranked.offsets.size();
  ids_.resize(size);
  values_.resize(size);
  ties_.resize(size);
  in_chunks(size, run_, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      ids_[i] = row.ids()[static_cast<std::size_t>(ranked.offsets[i])];
      values_[i] = static_cast<double>(ranker.score_at(i));
      ties_[i] = i + 1 < size && ranker.ties_with_next(i) ? 1 : 0;
    }
  });
}

// Reads scores whose order is known, as they descend like those of runs mostly do, or is of no
// use, and returns whether they are such.
template <class Row>
bool SystemList::read_in_order(RankableRow<Row>& row) {
  if (row.has_min_score()) return false;
  values_.resize(row.size());
  const bool are_all_read = static_cast<Count>(row.size()) <= rules_.depth;
  const bool needs_order = reads_ranks(rules_) || !are_all_read;
  std::size_t ascents = 0;  // or ties, or NaN; without branches
  row.for_each_chunk([&](const auto* keys, std::size_t begin, std::size_t size) {
    if (needs_order && ascents > 0) return;
    for (std::size_t i = 0; i < size; ++i) values_[begin + i] = static_cast<double>(keys[i]);
    for (std::size_t i = 1; i < size; ++i) ascents += keys[i - 1] > keys[i] ? 0U : 1U;
    if (begin > 0 && !(values_[begin - 1] > values_[begin])) ++ascents;
  });
  const bool has_nan = row.size() == 1 && std::isnan(values_[0]);
  if (needs_order && (ascents > 0 || has_nan)) return false;
  const std::size_t size = are_all_read ? row.size() : static_cast<std::size_t>(rules_.depth);
  values_.resize(size);
  ids_.assign(row.ids().begin(), row.ids().begin() + static_cast<std::ptrdiff_t>(size));
  return true;
}

void SystemList::use_scores(Count user) {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (std::isnan(values_[i])) refuse_nan(user);
    if (!(std::abs(values_[i]) <= kMaxScore)) refuse(user, i, "scores from -2^500 to 2^500");
    if (rules_.norm == ScoreNorm::theoretical_min_max && values_[i] < system_.low) {
      refuse(user, i, "no score below its low, " + format_number(system_.low));
    }
  }
  if (rules_.norm == ScoreNorm::max && !values_.empty()) {
    const auto greatest = std::ranges::max_element(values_);
    if (*greatest < 1 / kMaxScore) {
      refuse(user, static_cast<std::size_t>(greatest - values_.begin()),
             "a score above 2^-500, as norm='max' divides by the greatest");
    }
  }
  normalise(values_, rules_.norm, system_.low, sum_);
}

// Replaces scores by the values of ranks.
void SystemList::use_ranks() {
  const std::size_t size = ids_.size();
  store_values_to(size);
  values_.assign(values_by_rank_.begin(),
                 values_by_rank_.begin() + static_cast<std::ptrdiff_t>(size));
  const bool has_means = rules_.ties == Ties::expected || rules_.norm == ScoreNorm::rank;
  const bool has_ties = (has_means || rules_.ties == Ties::shared) && !ties_.empty();
  for (std::size_t begin = 0; has_ties && begin < size;) {
    std::size_t end = begin + 1;
    while (ties_[end - 1] != 0) ++end;
    const auto tied = std::span(values_).subspan(begin, end - begin);
    const double mean = rounded_sum(tied, sum_) / static_cast<double>(tied.size());
    std::ranges::fill(tied, has_means ? mean : tied.back());
    begin = end;
  }
  if (rules_.norm != ScoreNorm::rank) return;
  for (double& rank : values_) rank = 1 - (rank - 1) / static_cast<double>(size);
}

// Stores the values of the ranks to this one: the ranks themselves, where the values depend on
// more.
void SystemList::store_values_to(std::size_t rank) {
  while (values_by_rank_.size() < rank) {
    const auto next = static_cast<double>(values_by_rank_.size() + 1);
    switch (rules_.method) {
      case FusionMethod::rrf:
        values_by_rank_.push_back(1 / (rules_.rank_constant + next));
        break;
      case FusionMethod::rbc:
        values_by_rank_.push_back(values_by_rank_.empty()
                                      ? 1 - rules_.persistence
                                      : values_by_rank_.back() * rules_.persistence);
        break;
      default:
        values_by_rank_.push_back(next);
    }
  }
}

void SystemList::refuse_nan(Count user) const {
  Fault fault{.argument = argument_, .expected = "scores without NaN", .found = "NaN", .row = user};
  if (reads_ranks(rules_)) {
    fault.change = Change{"nan", "last", true};
    fault.hint = "ranks them last";
  }
  throw InputError(std::move(fault));
}

void SystemList::refuse(Count user, std::size_t index, std::string expected) const {
  throw InputError({.argument = argument_,
                    .expected = std::move(expected),
                    .found = format_number(values_[index]),
                    .item = ids_[index],
                    .row = user});
}

}  // namespace exactk
