#include "evaluate/plain_users.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>
#include <variant>

#include "rank/scores/score_row.hpp"

namespace exactk {
namespace {

std::uint32_t read_hits(const PatternValues& values, HitBits hits) {
  switch (values.reads) {
    case HitsRead::first_rank:
      return static_cast<std::uint32_t>(hits.first_rank());
    case HitsRead::count:
      return static_cast<std::uint32_t>(hits.down_to(values.cutoff).count());
    case HitsRead::ranks:
      break;
  }
  return static_cast<std::uint32_t>(hits.down_to(kPatternRanks).low);
}

// Returns hits of which the values read the same.
HitBits example_of(const PatternValues& values, std::uint32_t hits) {
  switch (values.reads) {
    case HitsRead::first_rank:
      return HitBits::at(Count{hits});
    case HitsRead::count:
      return HitBits::all().down_to(Count{hits});
    case HitsRead::ranks:
      break;
  }
  return {.low = hits, .high = 0};
}

std::size_t pattern_count(HitsRead reads) {
  return reads == HitsRead::ranks ? std::size_t{1} << unsigned{kPatternRanks} : kShortList + 1;
}

// Returns the lowest and the highest length of the first lists, which mostly tell those of all.
std::pair<Count, Count> usual_lengths(const Lists& lists) {
  constexpr Count kRows = 64;
  std::pair<Count, Count> lengths = {kNoCutoff, 0};
  for (Count row = 0; row < std::min(kRows, lists.row_count()); ++row) {
    lengths.first = std::min(lengths.first, lists.length(row));
    lengths.second = std::max(lengths.second, lists.length(row));
  }
  return lengths;
}

// Returns the lowest score that is ranked.
template <class Score>
Score least_score(const SparseScores& scores) {
  return scores.min_score ? least_from<Score>(*scores.min_score)
                          : -std::numeric_limits<Score>::infinity();
}

}  // namespace

bool PlainUsers::are_likely(const Job& job) {
  if (!job.plan.is_plain) return false;
  const Count shortest = usual_lengths(*item_lists(job.request.predictions)).first;
  if (std::cmp_greater(shortest, kShortList)) return false;
  const auto* scores = std::get_if<SparseScores>(&job.request.predictions);
  if (scores == nullptr) return true;
  const auto is_array_of = [&]<class Score>(Score /*type*/) {
    return std::cmp_equal(scores->stride, sizeof(Score)) &&
           reinterpret_cast<std::uintptr_t>(scores->scores) % alignof(Score) == 0;
  };
  return (scores->type == ScoreType::float32 && is_array_of(float{})) ||
         (scores->type == ScoreType::float64 && is_array_of(double{}));
}

void PatternCounts::add(std::size_t relevant, HitBits hits) {
  std::vector<Count>& users = users_[relevant];
  if (users.empty()) users.resize(pattern_count(values_.reads));
  const std::uint32_t pattern = read_hits(values_, hits);
  if (users[pattern]++ > 0) return;
  patterns_.push_back({static_cast<std::uint32_t>(relevant), pattern});
}

void PatternCounts::score(Count length, BatchScorer& scorer, Tally& tally) {
  std::array<Count, kBatchSize> users;  // NOLINT(*-member-init): filled as far as it is read
  for (std::size_t begin = 0; begin < patterns_.size(); begin += kBatchSize) {
    const std::size_t size = std::min(kBatchSize, patterns_.size() - begin);
    rows_.clear();
    for (std::size_t i = 0; i < size; ++i) {
      const auto [relevant, hits] = patterns_[begin + i];
      users[i] = std::exchange(users_[relevant][hits], 0);
      rows_.add(Count{relevant}, length, example_of(values_, hits));
    }
    scorer.score_patterns(values_, rows_.rows(), std::span(users).first(size), tally);
  }
  patterns_.clear();
}

void WaitingUsers::add(const Entry& entry, BatchScorer& scorer, Tally& tally) {
  entries_.push_back(entry);
  if (entries_.size() == kMost) score(scorer, tally);
}

// Scores the users in order of the number of hits: the ends of loops over hits are hard to predict
// otherwise.
void WaitingUsers::score(BatchScorer& scorer, Tally& tally) {
  const auto hits_of = [](const Entry& entry) {
    return static_cast<std::size_t>(entry.hits.count());
  };
  std::array<std::size_t, kShortList + 2> begins = {};
  for (const Entry& entry : entries_) ++begins[hits_of(entry) + 1];
  for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
  std::array<const Entry*, kMost> ordered;  // NOLINT(*-member-init): filled as far as it is read
  for (const Entry& entry : entries_) ordered[begins[hits_of(entry)]++] = &entry;
  const auto score_batch = [&] {
    scorer.score(passes_, batch_, tally);
    batch_.clear();
  };
  for (const Entry* entry : std::span(ordered).first(entries_.size())) {
    for (HitRows& rows : batch_.hit_rows) rows.add(entry->relevant, entry->length, entry->hits);
    batch_.users.push_back(entry->user);
    if (batch_.users.size() == kBatchSize) score_batch();
  }
  score_batch();
  entries_.clear();
}

PlainUsers::PlainUsers(const Job& job)
    : job_(job),
      lists_(*item_lists(job.request.predictions)),
      scores_(std::get_if<SparseScores>(&job.request.predictions)),
      length_(std::min(usual_lengths(lists_).second, job.plan.depth)),
      matcher_(job.kernels),
      counts_(job.plan.pattern_values.begin(), job.plan.pattern_values.end()),
      groups_(job.plan.item_groups),
      counted_(job.plan.passes_without_pattern, job.plan.judging_rules.size()),
      others_(job.plan.passes, job.plan.judging_rules.size()) {}

bool PlainUsers::add(Count user, BatchScorer& scorer, Tally& tally) {
  if (!lists_.has(user) || !job_.request.truth.has(user)) return false;
  const auto truth = int64_row_items(job_.request.truth, user);
  if (truth.empty()) return false;
  HitBits hits;
  const auto match = [&](const auto& items) {
    return matcher_.match(truth, row_slice(items, lists_, user), hits);
  };
  if (!std::visit(match, lists_.items)) return false;
  const auto relevant = static_cast<Count>(truth.size());
  const Count unscored = relevant - hits.count();
  const HitBits positions = hits;
  if (scores_ != nullptr && !rank(user, hits)) return false;
  const Count length = lists_.length(user);
  const Count depth = std::min(length, job_.plan.depth);
  if (!groups_.empty()) {
    if (depth != length_) return false;  // such users are scored one by one
    find_groups(user, truth, scores_ != nullptr ? positions : hits.down_to(depth));
  }
  add_to_tally(length, unscored, tally);
  const WaitingUsers::Entry entry = {
      .user = user, .relevant = relevant, .length = length, .hits = hits.down_to(depth)};
  if (depth != length_) {
    others_.add(entry, scorer, tally);
    return true;
  }
  for (PatternCounts& counts : counts_) {
    const ItemGroupRule rule = counts.item_group();
    if (rule.has_all_items()) {
      counts.add(truth.size(), hits);
      continue;
    }
    const GroupOfUser& group = groups_[static_cast<std::size_t>(rule.group)];
    if (group.relevant == 0 && !rule.is_share) continue;  // these users are skipped
    counts.add(rule.is_share ? truth.size() : group.relevant, group.hits);
  }
  if (!job_.plan.passes_without_pattern.empty()) counted_.add(entry, scorer, tally);
  return true;
}

// Finds the relevant items of each group, and of those at these positions of the list their ranks.
void PlainUsers::find_groups(Count user, std::span<const std::int64_t> truth, HitBits positions) {
  std::ranges::fill(groups_, GroupOfUser{});
  const ItemGroupIndex& index = job_.item_groups;
  const std::uint64_t asked = ~std::uint64_t{0} >> (std::size_t{kMaxItemGroups} - groups_.size());
  const auto for_each_group = [&](auto item, const auto& body) {
    std::uint64_t bits = index.find(job_.catalogue, static_cast<std::uint64_t>(item)) & asked;
    for (; bits != 0; bits &= bits - 1) {
      body(groups_[static_cast<std::size_t>(std::countr_zero(bits))]);
    }
  };
  if (index.has_few_groups()) {
    static_assert(kShortTruth <= 255);
    std::uint64_t counts = index.count_few(job_.catalogue, truth);
    for (GroupOfUser& group : groups_) {
      group.relevant = counts & 0xffU;
      counts >>= 8U;
    }
  } else {
    for (const std::int64_t item : truth) {
      for_each_group(item, [](GroupOfUser& group) { ++group.relevant; });
    }
  }
  const auto find_hits = [&](const auto& items) {
    const auto row = row_slice(items, lists_, user);
    for_each_rank(positions, [&](Count position) {
      const HitBits hit = HitBits::at(position);
      for_each_group(row[static_cast<std::size_t>(position - 1)], [&](GroupOfUser& group) {
        group.hits = {group.hits.low | hit.low, group.hits.high | hit.high};
      });
    });
  };
  std::visit(find_hits, lists_.items);
  if (scores_ == nullptr) return;
  for (GroupOfUser& group : groups_) rank(user, group.hits);
}

// Turns the positions of the hits into ranks, and returns whether that is possible.
bool PlainUsers::rank(Count user, HitBits& hits) {
  const auto rank_by = [&]<class Score>(Score least) {
    const std::byte* const begin =
        scores_->scores + lists_.begin(user) * static_cast<Offset>(sizeof(Score));
    const auto* const first = reinterpret_cast<const Score*>(begin);
    return matcher_.rank(std::span(first, static_cast<std::size_t>(lists_.length(user))), least,
                         hits);
  };
  return scores_->type == ScoreType::float32 ? rank_by(least_score<float>(*scores_))
                                             : rank_by(least_score<double>(*scores_));
}

void PlainUsers::add_to_tally(Count length, Count unscored, Tally& tally) const {
  tally.longest_list = std::max(tally.longest_list, std::min(length, job_.plan.depth));
  if (scores_ == nullptr) return;
  tally.relevant_not_rankable += unscored;
  ++tally.candidate_users;
  tally.candidates += length;
  tally.fewest_candidates = std::min(tally.fewest_candidates, length);
  tally.most_candidates = std::max(tally.most_candidates, length);
}

void PlainUsers::score(BatchScorer& scorer, Tally& tally) {
  counted_.score(scorer, tally);
  others_.score(scorer, tally);
  for (PatternCounts& counts : counts_) {
    job_.run.checkpoint();
    counts.score(length_, scorer, tally);
  }
}

}  // namespace exactk
