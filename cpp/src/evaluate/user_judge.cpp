#include "evaluate/user_judge.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <iterator>
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

template <class Cell>
void fill(std::span<Cell> cells, Cell value, const Run& run) {
  in_chunks(cells.size(), run, [&](std::size_t begin, std::size_t end) {
    std::ranges::fill(cells.subspan(begin, end - begin), value);
  });
}

// Whether some value or item tally has `raise` as its choice of the field.
template <class Choice>
bool raises(const Plan& plan, Choice HitFields::* field) {
  const auto raises_for = [&](const Rules& rules) { return rules.*field == Choice::raise; };
  return std::ranges::any_of(plan.passes, raises_for, &Pass::rules) ||
         std::ranges::any_of(plan.list_counts, [&](const ListCount& list_count) {
           return raises_for(*list_count.rules);
         });
}

}  // namespace

UserJudge::UserJudge(const Job& job)
    : job_(job),
      matcher_(job.id_bits,
               !job.request.grades.empty() || job.plan.reads_values ||
                   has_candidates(job.request.predictions),
               job.run),
      base_matcher_(job.id_bits, true, job.run),
      judge_(job.run),
      extreme_rules_{job.plan.judging_rules, job.plan.judging_rules} {
  for (JudgingRules& rules : extreme_rules_.front()) rules.ties = Ties::optimistic;
  for (JudgingRules& rules : extreme_rules_.back()) rules.ties = Ties::pessimistic;
  for (std::size_t index = 0; index < job.plan.judging_rules.size(); ++index) {
    if (job.plan.reads_lists(index)) matcher_.keep_excluded_positions();
  }
  std::visit(
      [&]<class Source>(const Source& source) {
        if constexpr (!std::is_same_v<Source, Lists>) {
          score_ranker_.emplace(make_score_ranker(source, job.kernels, job.run));
        }
      },
      job.request.predictions);
  const ScreeningRequest request = screening_request(job);
  if (request.is_empty()) return;
  screening_.emplace(std::get<Embeddings>(job.request.predictions), job.norms, request, job.kernels,
                     job.run);
}

void UserJudge::prepare(std::span<const Count> users) {
  if (screening_) screening_->screen(users, job_.request.exclude);
}

std::span<const double> UserJudge::grades_of(Count user) const {
  if (job_.request.grades.empty()) return {};
  return row_slice(job_.request.grades, job_.request.truth, user);
}

// Returns the values of the items of the user's truth, NaN for none, if a metric reads them. Valid
// until the next call.
std::span<const double> UserJudge::values_of(Count user) {
  truth_values_.clear();
  if (!job_.plan.reads_values || !job_.request.items) return truth_values_;
  const auto items = int64_row_items(job_.request.truth, user);
  const std::span<const double> values = job_.request.items->values;
  grow(truth_values_, items.size(), std::numeric_limits<double>::quiet_NaN(), job_.run);
  in_chunks(items.size(), job_.run, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const ItemNumber number = job_.catalogue.find(static_cast<std::uint64_t>(items[i]));
      if (number < values.size()) truth_values_[i] = values[number];
    }
  });
  return truth_values_;
}

std::span<const std::int64_t> UserJudge::excluded_items(Count user) const {
  if (!job_.request.exclude) return {};
  return int64_row_items(*job_.request.exclude, user);
}

// Returns the positions of the truth in the open row of scores.
TruthPositions UserJudge::truth_positions(Count user) const {
  if (item_positions_ == nullptr) {
    return {.positions = int64_row_items(job_.request.truth, user)};
  }
  return {.positions = item_positions_->truth, .entries = item_positions_->entries};
}

// Reads the user's scores, if there are any. Returns whether one is NaN.
bool UserJudge::open_scores(Count user) {
  if (!score_ranker_) return false;
  return std::visit(
      [&](auto& ranker) {
        item_positions_ =
            open_score_row(ranker, matcher_, user, int64_row_items(job_.request.truth, user),
                           excluded_items(user));
        if (screening_) ranker.use_screening(screening_->result_of(user));
        return ranker.row().has_nan();
      },
      *score_ranker_);
}

const Matches& UserJudge::match_list(Count user) {
  const auto& lists = std::get<Lists>(job_.request.predictions);
  return std::visit(
      [&](const auto& items) -> const Matches& {
        const std::span<const Count> ranks =
            lists.ranks.empty() ? lists.ranks : row_slice(lists.ranks, lists, user);
        return matcher_.match(int64_row_items(job_.request.truth, user),
                              row_slice(items, lists, user), ranks, excluded_items(user));
      },
      lists.items);
}

// Matches the open row.
const Matches& UserJudge::match_scores(AnyScoreRanker& any_ranker, Count user, Ties ties) {
  const TruthPositions truth = truth_positions(user);
  const bool is_located = item_positions_ != nullptr;
  const RankedList ranked = std::visit(
      [&](auto& ranker) {
        const std::size_t truth_size = truth.positions.size();
        if (prefers_best(job_.plan, ranker, truth_size, ties)) {
          return ranker.ranks_of_best(job_.plan.depth, truth);
        }
        if (!prefers_list(job_.plan, ranker, truth_size, ties)) {
          return ranker.ranks_of(truth, ties);
        }
        const Count depth = job_.plan.depth + 1;
        return is_located ? ranker.best_entries(depth, ties, truth) : ranker.best(depth, ties);
      },
      any_ranker);
  return is_located ? matcher_.match_located(ranked)
                    : matcher_.match(truth.positions, ranked, excluded_items(user));
}

const Matches& UserJudge::match(Count user, Ties ties) {
  return score_ranker_ ? match_scores(*score_ranker_, user, ties) : match_list(user);
}

const Matches& UserJudge::match(Count user) {
  open_scores(user);
  const std::vector<Ties>& ties = job_.plan.ties;
  const bool has_expected_ties = std::ranges::find(ties, Ties::expected) != ties.end();
  return match(user, has_expected_ties ? Ties::expected : ties.front());
}

Count UserJudge::count_nan(Count user, Offset& first) {
  if (!open_scores(user) || !score_ranker_) return 0;
  return std::visit([&](auto& ranker) { return ranker.row().count_nan(first); }, *score_ranker_);
}

std::optional<Tie> UserJudge::first_forbidden_tie(const Matches& matches) const {
  for (const Tie& tie : matches.ties) {
    if (tie.first > job_.plan.tie_free_depth) break;
    if (tie.size() > 1) return tie;
  }
  return std::nullopt;
}

std::span<const Offset> UserJudge::find_tied_repeats() {
  tied_repeats_.clear();
  if (!job_.plan.refuses_tied_repeats || !score_ranker_ || item_positions_ == nullptr) {
    return tied_repeats_;
  }
  std::visit(
      [&](auto& ranker) {
        exactk::find_tied_repeats(ranker.row(), *item_positions_, tied_repeats_);
      },
      *score_ranker_);
  return tied_repeats_;
}

// Returns the rule that the user matched last breaks, if any.
Violation UserJudge::check_matches(const Matches& matches, Ties ties) {
  if (matches.truth_duplicates > 0 && raises(job_.plan, &Rules::duplicate_truth)) {
    return Violation::duplicate_truth;
  }
  if (matches.list_duplicates > 0 && raises(job_.plan, &Rules::duplicate_items)) {
    return Violation::duplicate_items;
  }
  if (ties == Ties::expected && !find_tied_repeats().empty()) {
    return Violation::tied_repeat;
  }
  return first_forbidden_tie(matches) ? Violation::tied_score : Violation::none;
}

Violation UserJudge::judge(Count user, JudgedBatch& batch, Tally& tally) {
  const Plan& plan = job_.plan;
  if (open_scores(user) && raises(plan, &Rules::nan)) return Violation::nan_score;
  const std::span<const double> values = values_of(user);
  bool may_depend = false;
  foreign_items_.clear();
  unseen_items_.clear();
  base_repeats_ = false;
  for (const Ties ties : plan.ties) {
    const Matches& matches = match(user, ties);
    may_depend = may_depend || may_depend_on_ties(user, ties);
    const Violation violation = check_matches(matches, ties);
    if (violation != Violation::none) return violation;
    for (std::size_t index = 0; index < plan.judging_rules.size(); ++index) {
      const JudgingRules& rules = plan.judging_rules[index];
      if (ranking_ties(rules.ties) != ties) continue;
      const HitRow& row =
          judge_.judge(rules, matches, grades_of(user), batch.hit_rows[index], values);
      if (index == plan.tally_rules_index) add_to_tally(user, matches, row, tally);
      if (!plan.reads_lists(index)) continue;
      add_list(user, matches, index, row, batch.list_rows[index]);
    }
  }
  if (base_repeats_ && raises(plan, &Rules::duplicate_items)) {
    return Violation::duplicate_base_items;
  }
  if (!foreign_items_.empty()) tally.foreign_recommended += count_distinct(foreign_items_);
  if (!unseen_items_.empty()) tally.unseen_recommended += count_distinct(unseen_items_);
  if (may_depend) judge_extremes(user, values, batch);
  batch.users.push_back(user);
  return Violation::none;
}

Violation UserJudge::judge_list(Count user, const JudgedLists& judged) {
  const Plan& plan = job_.plan;
  if (open_scores(user) && raises(plan, &Rules::nan)) return Violation::nan_score;
  const Ties ties = plan.ties.front();
  matcher_.keep_excluded_positions();
  const Matches& matches = match(user, ties);
  const Violation violation = check_matches(matches, ties);
  if (violation != Violation::none) return violation;
  const JudgingRules& rules = plan.judging_rules.front();
  list_rows_.clear();
  const HitRow& row = judge_.judge(rules, matches, grades_of(user), list_rows_, values_of(user));
  const auto index = static_cast<std::size_t>(user - judged.first_user);
  judged.relevant[index] = row.relevant;
  judged.lengths[index] = row.length_at(plan.depth);
  const auto cells = [&](auto columns) {
    const auto k = static_cast<std::size_t>(plan.depth);
    return columns.subspan(index * k, k);
  };
  const auto grades = cells(judged.grades);
  const auto hits = cells(judged.hits);
  fill(grades, std::numeric_limits<double>::quiet_NaN(), job_.run);
  fill(hits, std::uint8_t{0}, job_.run);
  judge_.for_each_judged(rules, matches, [&](std::size_t i, const Judge::Entry& entry) {
    const Count rank = matches.hits[i].rank;
    if (rank > plan.depth) return;
    grades[static_cast<std::size_t>(rank - 1)] = entry.grade;
    hits[static_cast<std::size_t>(rank - 1)] = entry.relevant ? 1 : 0;
  });
  read_list(user, matches, ties, cells(judged.items));
  return Violation::none;
}

// Writes the item of each rank, for the user matched last, and -1 where there is none.
void UserJudge::read_list(Count user, const Matches& matches, Ties ties,
                          std::span<std::int64_t> items) {
  fill(items, std::int64_t{-1}, job_.run);
  if (score_ranker_) {
    read_scored_list(*score_ranker_, ties, items);
    return;
  }
  const auto& lists = std::get<Lists>(job_.request.predictions);
  const bool has_ranks = !lists.ranks.empty();
  const std::span<const Count> ranks =
      has_ranks ? row_slice(lists.ranks, lists, user) : lists.ranks;
  const auto write = [&](const auto& row) {
    if (!has_ranks && matches.excluded_positions.empty()) {
      in_chunks(std::min(row.size(), items.size()), job_.run,
                [&](std::size_t begin, std::size_t end) {
                  for (std::size_t i = begin; i < end; ++i)
                    items[i] = static_cast<std::int64_t>(row[i]);
                });
      return;
    }
    std::size_t excluded = 0;
    for (std::size_t position = 0; position < row.size(); ++position) {
      if (position % kChunk == kChunk - 1) job_.run.checkpoint();
      if (excluded < matches.excluded_positions.size() &&
          matches.excluded_positions[excluded] == position) {
        ++excluded;
        continue;
      }
      const Count given = has_ranks ? ranks[position] : static_cast<Count>(position) + 1;
      const auto rank = static_cast<std::size_t>(given) - excluded;
      if (rank > items.size()) break;
      items[rank - 1] = static_cast<std::int64_t>(row[position]);
    }
  };
  std::visit([&](const auto& ids) { write(row_slice(ids, lists, user)); }, lists.items);
}

// Ties that the convention leaves open are ordered by id. One rank deeper, to detect a tie with the
// last item.
void UserJudge::read_scored_list(AnyScoreRanker& any_ranker, Ties ties,
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

// Leaves out the items of the list read last that occur higher in it. The cells are parallel to its
// first items.
template <class Cell>
void UserJudge::leave_out_repeats(std::span<Cell> cells, Cell left_out) {
  const std::span<const std::int64_t> items = list_items_;
  list_index_.build(items, job_.run);
  in_chunks(cells.size(), job_.run, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Offset first = list_index_.find(items, static_cast<std::uint64_t>(items[i]));
      if (std::cmp_less(first, i)) cells[i] = left_out;
    }
  });
}

// Adds the user's list, down to the last rank that a metric reads.
void UserJudge::add_list(Count user, const Matches& matches, std::size_t rules_index,
                         const HitRow& row, ListRows& rows) {
  const JudgingRules& rules = job_.plan.judging_rules[rules_index];
  const Count list_depth = std::min(job_.plan.list_depths[rules_index], row.depth());
  const Count base_depth = std::min(job_.plan.base_depths[rules_index], row.depth());
  const bool has_repeats =
      matches.list_duplicates > 0 && rules.duplicate_items == Duplicates::first;
  list_items_.clear();
  grow(list_items_, static_cast<std::size_t>(std::max(list_depth, base_depth)), std::int64_t{-1},
       job_.run);
  read_list(user, matches, rules.ties, list_items_);
  const std::span<const std::int64_t> items = list_items_;
  add_numbers(items.first(static_cast<std::size_t>(list_depth)), has_repeats, rows);
  note_ties(items.size(), rows);
  if (job_.request.histories) rows.set_history(job_.request.histories->of_user(user));
  if (job_.plan.reads_relevant[rules_index]) note_relevant(user, matches, rules, rows);
  if (job_.plan.base_depths[rules_index] == 0) return;
  add_base_ranks(user, items.first(static_cast<std::size_t>(base_depth)), has_repeats, rows);
}

// Adds a row with the items' numbers in the catalogue.
void UserJudge::add_numbers(std::span<const std::int64_t> items, bool has_repeats, ListRows& rows) {
  const std::span<ItemNumber> numbers = rows.add(items.size(), job_.run);
  const ItemNumber foreign = job_.catalogue.foreign();
  in_chunks(numbers.size(), job_.run, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      numbers[i] = items[i] < 0 ? foreign + 1
                                : job_.catalogue.find_marked(static_cast<std::uint64_t>(items[i]));
    }
  });
  if (has_repeats) leave_out_repeats(numbers, foreign + 1);
  note_unusual_items(numbers, rows);
}

// Notes the relevant items of the catalogue, in the last row.
void UserJudge::note_relevant(Count user, const Matches& matches, const JudgingRules& rules,
                              ListRows& rows) {
  relevant_.clear();
  const Lists& truth = job_.request.truth;
  const auto note = [&](const auto& items) {
    judge_.for_each_relevant(rules, matches, [&](std::size_t entry) {
      const auto item = static_cast<std::int64_t>(items[entry]);
      const ItemNumber number = job_.catalogue.find(static_cast<std::uint64_t>(item));
      if (number < job_.catalogue.foreign()) relevant_.push_back(number);
    });
  };
  std::visit([&](const auto& ids) { note(row_slice(ids, truth, user)); }, truth.items);
  sort(std::span(relevant_), std::less<>(), job_.run);
  rows.set_relevant(relevant_);
}

// Notes which items of the list read last tie with the next one, in the last row.
void UserJudge::note_ties(std::size_t size, ListRows& rows) {
  if (!score_ranker_) return;
  const auto note = [&](const auto& ranker) {
    in_chunks(size, job_.run, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        if (ranker.ties_with_next(i)) rows.add_tied_rank(static_cast<Count>(i) + 1);
      }
    });
  };
  std::visit(note, *score_ranker_);
}

Count UserJudge::first_tie_of_list() {
  if (!score_ranker_) return 0;
  const auto find = [&](auto& ranker) {
    const auto size = static_cast<Count>(ranker.row().size());
    const Count depth = std::min(job_.plan.tie_free_list_depth, size);
    static_cast<void>(ranker.best(depth + 1, Ties::lowest_id));
    const Count first = ranker.first_tied_rank();
    return first <= depth ? first : 0;
  };
  return std::visit(find, *score_ranker_);
}

// Adds the items' ranks in the base list to the row added last.
void UserJudge::add_base_ranks(Count user, std::span<const std::int64_t> items, bool has_repeats,
                               ListRows& rows) {
  const std::span<Count> ranks = rows.add_base_ranks(items.size(), job_.run);
  const Matches& matches = match_base(user);
  base_repeats_ = base_repeats_ || matches.list_duplicates > 0;
  base_ranks_.clear();
  grow(base_ranks_, listed_items_.size(), ListRow::kNotInBase, job_.run);
  for (std::size_t i = 0; i < matches.hits.size(); ++i) {
    if (i % kChunk == kChunk - 1) job_.run.checkpoint();
    Count& rank = base_ranks_[static_cast<std::size_t>(matches.hits[i].entry)];
    if (rank == ListRow::kNotInBase) rank = matches.hits[i].rank;
  }
  std::size_t entry = 0;
  in_chunks(ranks.size(), job_.run, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      ranks[i] = ListRow::kNotCounted;
      if (items[i] < 0) continue;
      const std::size_t first = matches.first_entry.empty()
                                    ? entry
                                    : static_cast<std::size_t>(matches.first_entry[entry]);
      ranks[i] = base_ranks_[first];
      ++entry;
    }
  });
  if (has_repeats) leave_out_repeats(ranks, ListRow::kNotCounted);
}

const Matches& UserJudge::match_base(Count user) {
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): a metric reads it, so it was validated
  const Lists& base = *job_.request.base;
  listed_items_.clear();
  std::ranges::copy_if(list_items_, std::back_inserter(listed_items_),
                       [](std::int64_t item) { return item >= 0; });
  const std::span<const Count> ranks =
      base.ranks.empty() ? base.ranks : row_slice(base.ranks, base, user);
  return std::visit(
      [&](const auto& ids) -> const Matches& {
        return base_matcher_.match(listed_items_, row_slice(ids, base, user), ranks,
                                   excluded_items(user));
      },
      base.items);
}

// Notes which items of the list read last are outside the catalogue, or not in train: for the user,
// and in the last row. Takes the marks off the numbers.
void UserJudge::note_unusual_items(std::span<ItemNumber> numbers, ListRows& rows) {
  Count first_foreign = 0;
  Count first_unseen = 0;
  in_chunks(numbers.size(), job_.run, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const auto rank = static_cast<Count>(i) + 1;
      if (numbers[i] == job_.catalogue.foreign()) {
        if (first_foreign == 0) first_foreign = rank;
        rows.add_foreign_item(list_items_[i]);
        foreign_items_.push_back(list_items_[i]);
      } else if ((numbers[i] & kUnseen) != 0) {
        numbers[i] &= ~kUnseen;
        if (first_unseen == 0) first_unseen = rank;
        unseen_items_.push_back(list_items_[i]);
      }
    }
  });
  rows.set_first_ranks(first_foreign, first_unseen);
}

Count UserJudge::count_distinct(std::span<const std::int64_t> items) {
  if (items.size() < 2) return static_cast<Count>(items.size());
  Count distinct = 0;
  list_index_.build(items, job_.run);
  in_chunks(items.size(), job_.run, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) {
      const Offset first = list_index_.find(items, static_cast<std::uint64_t>(items[i]));
      distinct += std::cmp_equal(first, i) ? 1 : 0;
    }
  });
  return distinct;
}

UserJudge::RefusedItems UserJudge::find_refused_items(Violation violation, Count user) {
  const Plan& plan = job_.plan;
  const auto refuses_under = [&](const Rules& rules, ItemNumber number) {
    const bool is_foreign = number == job_.catalogue.foreign();
    if (violation == Violation::foreign_item)
      return is_foreign && rules.foreign_items == ForeignItems::raise;
    const bool is_counted = is_foreign && rules.foreign_items == ForeignItems::count;
    return (is_counted || (number & kUnseen) != 0) && rules.unseen_items == UnseenItems::raise;
  };
  RefusedItems refused;
  const auto find = [&](const Rules& rules, Count depth, const auto& refuses) {
    if (refused.count > 0) return;
    open_scores(user);
    const Matches& matches = match(user, ranking_ties(rules.ties));
    const Count length =
        matches.list_ranks.empty() ? matches.list_length : matches.list_ranks.back();
    list_items_.assign(static_cast<std::size_t>(std::min(depth, length)), -1);
    read_list(user, matches, rules.ties, list_items_);
    for (const std::int64_t item : list_items_) {
      if (item < 0 || !refuses(job_.catalogue.find_marked(static_cast<std::uint64_t>(item))))
        continue;
      if (refused.count++ == 0) refused.first = item;
    }
  };
  for (const Pass& pass : plan.passes) {
    if (!pass.info->walks_list || refused.count > 0) continue;
    const Count depth = plan.cutoff_sets[pass.cutoff_set_index].cutoffs().back();
    find(pass.rules, depth, [&](ItemNumber number) {
      if (violation == Violation::missing_features)
        return refuses_for_features(pass, number & ~kUnseen, job_.catalogue.foreign());
      const bool reads_rule = violation == Violation::foreign_item || pass.needs.popularity;
      return reads_rule && refuses_under(pass.rules, number);
    });
    if (violation != Violation::missing_features || !pass.needs.history) continue;
    if (!job_.request.histories || !job_.request.items) continue;
    for (const ItemNumber item : job_.request.histories->of_user(user)) {
      if (!refuses_for_features(pass, item, job_.catalogue.foreign())) continue;
      if (refused.count++ == 0) {
        refused.first = job_.request.items->ids[item];
        refused.is_of_train = true;
      }
    }
  }
  if (violation == Violation::missing_features) return refused;
  for (const ListCount& list_count : plan.list_counts) {
    const Rules& rules = *list_count.rules;
    find(rules, list_count.depth, [&](ItemNumber number) { return refuses_under(rules, number); });
  }
  return refused;
}

UserJudge::RefusedItems UserJudge::find_items_without_value(Count user) {
  RefusedItems refused;
  open_scores(user);
  const auto items = int64_row_items(job_.request.truth, user);
  const std::span<const double> values = values_of(user);
  for (const Pass& pass : job_.plan.passes) {
    if (!pass.reads_values() || refused.count > 0) continue;
    const JudgingRules& rules = job_.plan.judging_rules[pass.judging_rules_index];
    const Matches& matches = match(user, ranking_ties(rules.ties));
    list_rows_.clear();
    judge_.judge(rules, matches, grades_of(user), list_rows_, values);
    in_chunks(items.size(), job_.run, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const auto entry = static_cast<Count>(i);
        if (!std::isnan(values[i]) || judge_.count_relevant(matches, {&entry, 1}) == 0) continue;
        if (refused.count++ == 0) refused.first = items[i];
      }
    });
  }
  return refused;
}

// Whether an item of the truth ties with another item, if items were ranked strictly.
bool UserJudge::may_depend_on_ties(Count user, Ties ties) {
  if (!score_ranker_ || !is_strict(ties)) return false;
  return std::visit([&](auto& ranker) { return ranker.may_tie(truth_positions(user).positions); },
                    *score_ranker_);
}

// Judges the user twice: with the relevant items of each tie first, and last.
void UserJudge::judge_extremes(Count user, std::span<const double> values, JudgedBatch& batch) {
  const Matches& matches = match(user, Ties::expected);
  for (std::size_t extreme = 0; extreme < extreme_rules_.size(); ++extreme) {
    const std::vector<JudgingRules>& rules = extreme_rules_[extreme];
    for (std::size_t index = 0; index < rules.size(); ++index) {
      judge_.judge(rules[index], matches, grades_of(user), batch.extreme_rows[extreme][index],
                   values);
    }
  }
  batch.tied_users.push_back(batch.users.size());
}

void UserJudge::add_to_tally(Count user, const Matches& matches, const HitRow& row, Tally& tally) {
  const Presence presence = presence_of(job_.request, user);
  tally.empty_truth += presence.in_truth && row.relevant == 0 ? 1 : 0;
  tally.empty_predictions += presence.in_predictions && row.recommended == 0 ? 1 : 0;
  tally.missing_lists += presence.in_truth && !presence.in_predictions ? 1 : 0;
  tally.missing_truth += presence.in_predictions && !presence.in_truth ? 1 : 0;
  tally.duplicates += matches.list_duplicates;
  tally.excluded_recommended += matches.excluded_recommended;
  if (!matches.excluded_entries.empty())
    tally.relevant_excluded += judge_.count_relevant(matches, matches.excluded_entries);
  if (!presence.in_predictions) return;
  // Scores are ranked only down to the last rank that a value asks for.
  tally.longest_list = std::max(tally.longest_list, std::min(row.depth(), job_.plan.depth));
  if (!score_ranker_) return;
  tally.relevant_not_rankable += judge_.count_relevant(matches, matches.unscored_entries) +
                                 judge_.count_relevant(matches, find_masked_entries(user));
  count_candidates(tally);
}

// Finds the entries of the truth whose item is left out for scoring -inf or NaN at every position
// in the row. Valid until the next call.
std::span<const Count> UserJudge::find_masked_entries(Count user) {
  masked_entries_.clear();
  if (!score_ranker_) return masked_entries_;
  const auto find = [&](auto& ranker) {
    auto& row = ranker.row();
    if (!row.may_mask()) return;
    const TruthPositions truth = truth_positions(user);
    entry_scores_.clear();
    grow(entry_scores_, int64_row_items(job_.request.truth, user).size(), EntryScore::none,
         job_.run);
    in_chunks(truth.positions.size(), job_.run, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const std::int64_t position = truth.positions[i];
        const bool is_masked = std::cmp_less(position, row.size()) &&
                               row.is_masked(static_cast<std::size_t>(position));
        EntryScore& score = entry_scores_[static_cast<std::size_t>(truth.entry_at(i))];
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
  std::visit(find, *score_ranker_);
  return masked_entries_;
}

// Counts candidates if not all items of the predictions may be ranked.
void UserJudge::count_candidates(Tally& tally) {
  if (!score_ranker_ || item_positions_ == nullptr) return;
  const Count candidates =
      std::visit([](auto& ranker) { return ranker.row().candidate_count(); }, *score_ranker_);
  ++tally.candidate_users;
  tally.candidates += candidates;
  tally.fewest_candidates = std::min(tally.fewest_candidates, candidates);
  tally.most_candidates = std::max(tally.most_candidates, candidates);
}

}  // namespace exactk
