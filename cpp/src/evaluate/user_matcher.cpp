#include "evaluate/user_matcher.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>
#include <variant>

#include "evaluate/open_score_row.hpp"
#include "evaluate/tied_repeats.hpp"

namespace exactk {
namespace {

// Whether to count the items that beat each item of a truth that is far shorter than the list down
// to the last cutoff, of which most time is spent on sorting. A metric that reads the list needs it
// anyway, and of a much longer row group maxima rule out the most.
template <class Row>
bool prefers_counting(const Plan& plan, ScoreRanker<Row>& ranker, std::size_t truth_size) {
  constexpr Count kDeep = 48;
  constexpr Count kRanksPerItem = 8;  // from 6 on, counting was measured to be faster
  const bool is_deep =
      plan.depth >= std::max(kDeep, kRanksPerItem * static_cast<Count>(truth_size));
  const bool is_long = static_cast<Count>(ranker.row().size()) / Count{2 * kGroups} >= plan.depth;
  return is_deep && !is_long && !ranker.row().has_nan() && !plan.reads_any_lists();
}

// Whether the user's list costs less than the ranks of the truth.
template <class Row>
bool prefers_list(const Plan& plan, ScoreRanker<Row>& ranker, std::size_t truth_size, Ties ties) {
  const auto items = static_cast<Count>(ranker.row().size());
  if (!is_strict(ties) || !is_shallow(plan, items)) return false;
  if (prefers_counting(plan, ranker, truth_size)) return false;
  // One rank deeper, to detect a tie with the last item.
  return !ranker.has_truth_ranks() || ranker.has_best(plan.depth + 1, ties);
}

// Whether the user's list, and the tie that the last cutoff may split, cost less than the ranks of
// the whole truth.
template <class Row>
bool prefers_best(const Plan& plan, ScoreRanker<Row>& ranker, std::size_t truth_size, Ties ties) {
  const auto items = static_cast<Count>(ranker.row().size());
  return !is_strict(ties) && is_shallow(plan, items) && !ranker.has_truth_ranks() &&
         !prefers_counting(plan, ranker, truth_size);
}

bool needs_entries(const Job& job) {
  return !job.request.grades.empty() || job.plan.reads_values || job.plan.ranks_all ||
         job.plan.item_groups > 0 || has_candidates(job.request.predictions);
}

}  // namespace

UserMatcher::UserMatcher(const Job& job)
    : job_(job), list_matcher_(job.id_bits, needs_entries(job), job.run) {
  if (job.plan.reads_any_lists()) keep_removed_positions();
  const bool has_lists = std::holds_alternative<Lists>(job.request.predictions);
  if (job.plan.collapses_repeats && has_lists) list_matcher_.collapse_repeats();
  std::visit(
      [&]<class Source>(const Source& source) {
        if constexpr (!std::is_same_v<Source, Lists>) {
          ranker_.emplace(make_score_ranker(source, job.kernels, job.run));
        }
      },
      job.request.predictions);
  const ScreeningRequest request = screening_request(job);
  if (request.is_empty()) return;
  screening_.emplace(std::get<Embeddings>(job.request.predictions), job.norms, request, job.kernels,
                     job.run);
}

void UserMatcher::prepare(std::span<const Count> users) {
  if (screening_) screening_->screen(users, job_.request.exclude);
}

bool UserMatcher::open(Count user) {
  user_ = user;
  if (!ranker_) return false;
  return std::visit(
      [&](auto& ranker) {
        std::vector<std::int64_t>* const repeats =
            job_.plan.collapses_repeats ? &lower_repeats_ : nullptr;
        item_positions_ =
            open_score_row(ranker, list_matcher_, user, truth(), excluded_items(), repeats);
        if (screening_) ranker.use_screening(screening_->result_of(user));
        return ranker.row().has_nan();
      },
      *ranker_);
}

std::span<const double> UserMatcher::grades() const {
  if (job_.request.grades.empty()) return {};
  return row_slice(job_.request.grades, job_.request.truth, user_);
}

std::span<const double> UserMatcher::values() {
  values_.clear();
  if (!job_.plan.reads_values || !job_.request.items) return values_;
  const auto items = truth();
  const std::span<const double> values = job_.request.items->values;
  grow(values_, items.size(), std::numeric_limits<double>::quiet_NaN(), job_.run);
  in_chunks(items.size(), job_.run, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const ItemNumber number = job_.catalogue.find(static_cast<std::uint64_t>(items[i]));
      if (number < values.size()) values_[i] = values[number];
    }
  });
  return values_;
}

std::span<const std::uint64_t> UserMatcher::item_groups() {
  item_groups_.clear();
  if (job_.plan.item_groups == 0) return item_groups_;
  const auto items = truth();
  grow(item_groups_, items.size(), std::uint64_t{0}, job_.run);
  in_chunks(items.size(), job_.run, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      item_groups_[i] = job_.item_groups.find(job_.catalogue, static_cast<std::uint64_t>(items[i]));
    }
  });
  return item_groups_;
}

std::span<const std::int64_t> UserMatcher::excluded_items() const {
  if (!job_.request.exclude) return {};
  return int64_row_items(*job_.request.exclude, user_);
}

// Returns the positions of the truth in the open row of scores.
TruthPositions UserMatcher::truth_positions() const {
  if (item_positions_ == nullptr) return {.positions = truth()};
  return {.positions = item_positions_->truth, .entries = item_positions_->entries};
}

const Matches& UserMatcher::match_list() {
  const auto& lists = std::get<Lists>(job_.request.predictions);
  return std::visit(
      [&](const auto& items) -> const Matches& {
        const std::span<const Count> ranks =
            lists.ranks.empty() ? lists.ranks : row_slice(lists.ranks, lists, user_);
        return list_matcher_.match(truth(), row_slice(items, lists, user_), ranks,
                                   excluded_items());
      },
      lists.items);
}

const Matches& UserMatcher::match_scores(AnyScoreRanker& any_ranker, Ties ties) {
  const TruthPositions positions = truth_positions();
  const bool is_located = item_positions_ != nullptr;
  const RankedList ranked = std::visit(
      [&](auto& ranker) {
        const std::size_t truth_size = positions.positions.size();
        if (prefers_best(job_.plan, ranker, truth_size, ties)) {
          return ranker.ranks_of_best(job_.plan.depth, positions);
        }
        if (!prefers_list(job_.plan, ranker, truth_size, ties)) {
          return ranker.ranks_of(positions, ties);
        }
        const Count depth = job_.plan.depth + 1;
        return is_located ? ranker.best_entries(depth, ties, positions) : ranker.best(depth, ties);
      },
      any_ranker);
  return is_located ? list_matcher_.match_located(ranked)
                    : list_matcher_.match(positions.positions, ranked, excluded_items());
}

const Matches& UserMatcher::match(Ties ties) {
  return ranker_ ? match_scores(*ranker_, ties) : match_list();
}

const Matches& UserMatcher::match() {
  const std::vector<Ties>& ties = job_.plan.ties;
  const bool has_expected_ties = std::ranges::find(ties, Ties::expected) != ties.end();
  return match(has_expected_ties ? Ties::expected : ties.front());
}

void UserMatcher::read_list(const Matches& matches, Ties ties, std::span<std::int64_t> items) {
  fill(items, std::int64_t{-1}, job_.run);
  if (ranker_) {
    read_scored_list(*ranker_, ties, items);
    return;
  }
  const auto& lists = std::get<Lists>(job_.request.predictions);
  const bool has_ranks = !lists.ranks.empty();
  const std::span<const Count> ranks =
      has_ranks ? row_slice(lists.ranks, lists, user_) : lists.ranks;
  const auto write = [&](const auto& row) {
    if (!has_ranks && matches.removed_positions.empty()) {
      const std::size_t size = std::min(row.size(), items.size());
      in_chunks(size, job_.run, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) items[i] = static_cast<std::int64_t>(row[i]);
      });
      return;
    }
    std::size_t removed = 0;
    for (std::size_t position = 0; position < row.size(); ++position) {
      if (position % kChunk == kChunk - 1) job_.run.checkpoint();
      if (removed < matches.removed_positions.size() &&
          matches.removed_positions[removed] == position) {
        ++removed;
        continue;
      }
      const Count given = has_ranks ? ranks[position] : static_cast<Count>(position) + 1;
      const auto rank = static_cast<std::size_t>(given) - removed;
      if (rank > items.size()) break;
      items[rank - 1] = static_cast<std::int64_t>(row[position]);
    }
  };
  std::visit([&](const auto& ids) { write(row_slice(ids, lists, user_)); }, lists.items);
}

void UserMatcher::read_judged(const Matches& condensed, std::span<std::int64_t> items) {
  fill(items, std::int64_t{-1}, job_.run);
  const auto ids = truth();
  const std::size_t size = std::min(condensed.hits.size(), items.size());
  in_chunks(size, job_.run, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      items[i] = ids[static_cast<std::size_t>(condensed.hits[i].entry)];
    }
  });
}

// Ties that the convention leaves open are ordered by id. One rank deeper, to detect a tie with the
// last item.
void UserMatcher::read_scored_list(AnyScoreRanker& any_ranker, Ties ties,
                                   std::span<std::int64_t> items) {
  const Ties order = is_strict(ties) ? ties : Ties::lowest_id;
  std::visit(
      [&](auto& ranker) {
        const auto depth = static_cast<Count>(items.size());
        const RankedList ranked = ranker.best(depth + 1, order);
        const bool is_sparse = ranker.row().is_sparse();
        const std::size_t size = std::min(ranked.offsets.size(), items.size());
        in_chunks(size, job_.run, [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) {
            const auto offset = static_cast<std::size_t>(ranked.offsets[i]);
            items[i] = is_sparse ? ranker.row().ids()[offset] : ranked.offsets[i];
          }
        });
      },
      any_ranker);
}

Count UserMatcher::count_nan(Offset& first) {
  if (!ranker_) return 0;
  return std::visit([&](auto& ranker) { return ranker.row().count_nan(first); }, *ranker_);
}

bool UserMatcher::may_depend_on_ties(Ties ties) {
  if (!ranker_ || !is_strict(ties)) return false;
  return std::visit([&](auto& ranker) { return ranker.may_tie(truth_positions().positions); },
                    *ranker_);
}

std::span<const Offset> UserMatcher::find_tied_repeats() {
  tied_repeats_.clear();
  if (!job_.plan.refuses_tied_repeats || !ranker_ || item_positions_ == nullptr) {
    return tied_repeats_;
  }
  std::visit(
      [&](auto& ranker) {
        exactk::find_tied_repeats(ranker.row(), *item_positions_, tied_repeats_);
      },
      *ranker_);
  return tied_repeats_;
}

Count UserMatcher::first_tie_of_list() {
  if (!ranker_) return 0;
  const auto find = [&](auto& ranker) {
    const auto size = static_cast<Count>(ranker.row().size());
    const Count depth = std::min(job_.plan.tie_free_list_depth, size);
    static_cast<void>(ranker.best(depth + 1, Ties::lowest_id));
    const Count first = ranker.first_tied_rank();
    return first <= depth ? first : 0;
  };
  return std::visit(find, *ranker_);
}

std::span<const Count> UserMatcher::find_masked_entries() {
  masked_entries_.clear();
  if (!ranker_) return masked_entries_;
  const auto find = [&](auto& ranker) {
    auto& row = ranker.row();
    if (!row.may_mask()) return;
    const TruthPositions positions = truth_positions();
    entry_scores_.clear();
    grow(entry_scores_, truth().size(), EntryScore::none, job_.run);
    in_chunks(positions.positions.size(), job_.run, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const std::int64_t position = positions.positions[i];
        const bool is_masked = std::cmp_less(position, row.size()) &&
                               row.is_masked(static_cast<std::size_t>(position));
        EntryScore& score = entry_scores_[static_cast<std::size_t>(positions.entry_at(i))];
        score = std::max(score, is_masked ? EntryScore::masked : EntryScore::other);
      }
    });
    in_chunks(entry_scores_.size(), job_.run, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        if (entry_scores_[i] == EntryScore::masked) {
          masked_entries_.push_back(static_cast<Count>(i));
        }
      }
    });
  };
  std::visit(find, *ranker_);
  return masked_entries_;
}

std::optional<Count> UserMatcher::candidate_count() {
  if (!ranker_ || item_positions_ == nullptr) return std::nullopt;
  return std::visit([](auto& ranker) { return ranker.row().candidate_count(); }, *ranker_);
}

}  // namespace exactk
