#include "evaluate/plain_users.hpp"

#include <algorithm>
#include <utility>
#include <variant>

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

// Returns the length that most lists have, as far as the first ones tell.
Count usual_length(const Lists& lists) {
  constexpr Count kRows = 64;
  Count length = 0;
  for (Count row = 0; row < std::min(kRows, lists.row_count()); ++row) {
    length = std::max(length, lists.length(row));
  }
  return length;
}

}  // namespace

void PatternCounts::add(std::size_t relevant, HitBits hits) {
  std::vector<Count>& users = users_[relevant];
  if (users.empty()) users.resize(pattern_count(values_.reads));
  const std::uint32_t pattern = read_hits(values_, hits);
  if (users[pattern]++ > 0) return;
  patterns_.push_back({static_cast<std::uint32_t>(relevant), pattern});
}

void PatternCounts::score(Count length, BatchScorer& scorer, const Checkpoint& checkpoint) {
  std::array<Count, kBatchSize> users;  // NOLINT(*-member-init): filled as far as it is read
  for (std::size_t begin = 0; begin < patterns_.size(); begin += kBatchSize) {
    const std::size_t size = std::min(kBatchSize, patterns_.size() - begin);
    rows_.clear();
    for (std::size_t i = 0; i < size; ++i) {
      const auto [relevant, hits] = patterns_[begin + i];
      users[i] = std::exchange(users_[relevant][hits], 0);
      rows_.add(Count{relevant}, length, example_of(values_, hits));
    }
    scorer.score_patterns(values_, rows_.rows(), std::span(users).first(size), checkpoint);
  }
  patterns_.clear();
}

void WaitingUsers::add(const Entry& entry, BatchScorer& scorer, Tally& tally,
                       const Checkpoint& checkpoint) {
  entries_.push_back(entry);
  if (entries_.size() == kMost) score(scorer, tally, checkpoint);
}

// Scores the users in order of the number of hits: the ends of loops over hits are hard to predict
// otherwise.
void WaitingUsers::score(BatchScorer& scorer, Tally& tally, const Checkpoint& checkpoint) {
  const auto hits_of = [](const Entry& entry) {
    return static_cast<std::size_t>(entry.hits.count());
  };
  std::array<std::size_t, kShortList + 2> begins = {};
  for (const Entry& entry : entries_) ++begins[hits_of(entry) + 1];
  for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
  std::array<const Entry*, kMost> ordered;  // NOLINT(*-member-init): filled as far as it is read
  for (const Entry& entry : entries_) ordered[begins[hits_of(entry)]++] = &entry;
  const auto score_batch = [&] {
    scorer.score_runs(runs_, batch_, tally, checkpoint);
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
      length_(std::min(usual_length(std::get<Lists>(job.request.predictions)), job.plan.depth)),
      matcher_(job.kernels),
      counts_(job.plan.pattern_values.begin(), job.plan.pattern_values.end()),
      counted_(job.plan.runs_without_pattern, job.plan.judging_rules.size()),
      others_(job.plan.runs, job.plan.judging_rules.size()) {}

bool PlainUsers::add(Count user, BatchScorer& scorer, Tally& tally, const Checkpoint& checkpoint) {
  const auto& lists = std::get<Lists>(job_.request.predictions);
  if (!lists.has(user) || !job_.request.truth.has(user)) return false;
  const auto truth = int64_row_items(job_.request.truth, user);
  if (truth.empty()) return false;
  HitBits hits;
  const auto match = [&](const auto& items) {
    return matcher_.match(truth, row_slice(items, lists, user), hits);
  };
  if (!std::visit(match, lists.items)) return false;
  const Count length = lists.length(user);
  const Count depth = std::min(length, job_.plan.depth);
  tally.longest_list = std::max(tally.longest_list, depth);
  const WaitingUsers::Entry entry = {.user = user,
                                     .relevant = static_cast<Count>(truth.size()),
                                     .length = length,
                                     .hits = hits.down_to(depth)};
  if (depth != length_) {
    others_.add(entry, scorer, tally, checkpoint);
    return true;
  }
  for (PatternCounts& counts : counts_) counts.add(truth.size(), hits);
  if (!job_.plan.runs_without_pattern.empty()) counted_.add(entry, scorer, tally, checkpoint);
  return true;
}

void PlainUsers::score(BatchScorer& scorer, Tally& tally, const Checkpoint& checkpoint) {
  counted_.score(scorer, tally, checkpoint);
  others_.score(scorer, tally, checkpoint);
  for (PatternCounts& counts : counts_) {
    checkpoint();
    counts.score(length_, scorer, checkpoint);
  }
}

}  // namespace exactk
