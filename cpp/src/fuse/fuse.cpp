#include "exactk/fuse.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/checks.hpp"
#include "base/run.hpp"
#include "evaluate/block_size.hpp"
#include "exactk/error.hpp"
#include "exactk/lists.hpp"
#include "fuse/item_union.hpp"
#include "fuse/score_norms.hpp"
#include "fuse/system_list.hpp"
#include "kernels/dispatch.hpp"
#include "numeric/logarithm.hpp"
#include "numeric/power_of_two.hpp"
#include "numeric/rounded_sum.hpp"
#include "rank/scores/sort_items.hpp"

namespace exactk {
namespace {

// The most systems and items of a user, so that their entries have 32-bit numbers.
constexpr std::size_t kMaxEntries = (std::size_t{1} << 32U) - 1;
constexpr double kMaxPower = 64;

Count row_count(const FusedSystem& system) {
  const auto* scores = std::get_if<SparseScores>(&system.lists);
  return (scores == nullptr ? std::get<Lists>(system.lists) : scores->items).row_count();
}

void check_number(bool is_valid, const char* argument, const char* expected, double number) {
  if (is_valid) return;
  throw InputError({.argument = argument, .expected = expected, .found = format_number(number)});
}

void check_rules(const FusionRules& rules) {
  check_number(rules.rank_constant >= 0 && std::isfinite(rules.rank_constant), "rank_constant",
               "a finite number, at least 0", rules.rank_constant);
  check_number(rules.persistence > 0 && rules.persistence < 1, "persistence",
               "a number between 0 and 1", rules.persistence);
  check_number(std::abs(rules.power) <= kMaxPower, "power", "a number from -64 to 64", rules.power);
  check_number(rules.depth >= 1, "depth", "a positive integer", static_cast<double>(rules.depth));
}

void validate(const FusionRequest& request, const Run& run) {
  check_rules(request.rules);
  check_number(request.k >= 1, "k", "a positive integer", static_cast<double>(request.k));
  if (request.systems.empty()) {
    throw InputError({.argument = "systems", .expected = "at least one system", .found = "none"});
  }
  for (std::size_t s = 0; s < request.systems.size(); ++s) {
    const FusedSystem& system = request.systems[s];
    const std::string argument = element("systems", s);
    check_number(system.weight >= 0 && system.weight <= kMaxWeight, "weights",
                 "weights from 0 to 2^256", system.weight);
    check_number(std::abs(system.low) <= kMaxScore, "low", "lows from -2^500 to 2^500", system.low);
    if (const auto* scores = std::get_if<SparseScores>(&system.lists)) {
      validate_scores(*scores, argument, run.execution());
      const bool is_wide = scores->type == ScoreType::int64 || scores->type == ScoreType::uint64;
      if (is_wide && !reads_ranks(request.rules)) {
        throw InputError({.argument = argument,
                          .expected = "scores that float64 holds",
                          .found = "integers of 64 bits"});
      }
    } else {
      validate_lists(std::get<Lists>(system.lists), argument, run.execution());
      if (!reads_ranks(request.rules)) {
        throw InputError({.argument = argument, .expected = "scores", .found = "rankings"});
      }
    }
    if (row_count(system) == row_count(request.systems.front())) continue;
    throw InputError({.argument = argument,
                      .expected = "as many users as in the first system (" +
                                  std::to_string(row_count(request.systems.front())) + ")",
                      .found = std::to_string(row_count(system))});
  }
  if (std::ranges::none_of(request.systems, [](const auto& one) { return one.weight > 0; })) {
    throw InputError({.argument = "weights", .expected = "a weight above 0", .found = "none"});
  }
}

// Fuses users one by one.
class UserFuser {
 public:
  UserFuser(const FusionRequest& request, const Run& run) : request_(request), run_(run) {
    const auto& systems = request.systems;
    shares_.resize(systems.size());
    for (std::size_t s = 0; s < systems.size(); ++s) {
      if (systems[s].weight == 0) continue;
      numbers_of_systems_.push_back(s);
      lists_.push_back(std::make_unique<SystemList>(systems[s], request.rules, kernels(request.isa),
                                                    element("systems", s), run));
    }
    for (std::size_t systems_with = 1; systems_with <= lists_.size(); ++systems_with) {
      const Pair power =
          multiply({request.rules.power, 0}, log2_of(static_cast<double>(systems_with)));
      powers_.push_back(power_of_two(power.high, power.low));
    }
  }

  // Returns by system whether it had an item of a user so far that another system had too.
  [[nodiscard]] std::span<const std::uint8_t> shares() const noexcept { return shares_; }

  // Appends the user's fused list. Throws InputError if the user's lists cannot be fused.
  void fuse(Count user, FusedLists& fused) {
    read(user);
    note_shares();
    if (reads_union(request_.rules)) use_union();
    check_sign(user);
    missing_.clear();
    for (std::size_t s = 0; counts_missing() && s < lists_.size(); ++s) {
      missing_.push_back(missing_value(s));
    }
    if (!is_sum() || !add_up()) {
      group_by_item();
      score_groups();
    }
    check_scores(user);
    write_best(fused);
  }

 private:
  using Scored = ScoredItem<double>;

  [[nodiscard]] bool is_sum() const noexcept {
    switch (request_.rules.method) {
      case FusionMethod::max:
      case FusionMethod::min:
      case FusionMethod::median:
        return false;
      default:
        return true;
    }
  }
  // Whether items count where a system lacks them.
  [[nodiscard]] bool counts_missing() const noexcept {
    const FusionRules& rules = request_.rules;
    if (rules.method == FusionMethod::borda) return true;
    const bool adds = rules.method == FusionMethod::sum || rules.method == FusionMethod::mnz;
    return adds && (rules.norm == ScoreNorm::borda || rules.missing == MissingScore::lowest);
  }

  // Reads all lists of the user, and numbers their items.
  void read(Count user) {
    union_.clear();
    numbers_.clear();
    values_.clear();
    begins_.assign(1, 0);
    for (std::size_t s = 0; s < lists_.size(); ++s) {
      lists_[s]->read(user);
      const auto ids = lists_[s]->ids();
      const auto values = lists_[s]->values();
      if (ids.size() > kMaxEntries - numbers_.size()) {
        throw CapacityError({.argument = "systems",
                             .expected = "fewer than 2^32 items of a user",
                             .found = "more",
                             .row = user});
      }
      const std::size_t first = numbers_.size();
      numbers_.resize(first + ids.size());
      values_.insert(values_.end(), values.begin(), values.end());
      begins_.push_back(numbers_.size());
      bool has_repeat = false;
      in_chunks(ids.size(), run_, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          numbers_[first + i] = union_.add(ids[i], static_cast<std::uint32_t>(s), has_repeat);
        }
      });
      if (has_repeat) refuse_repeat(user, s);
    }
  }

  [[noreturn]] void refuse_repeat(Count user, std::size_t system) const {
    const auto ids = lists_[system]->ids();
    std::vector<std::int64_t> sorted(ids.begin(), ids.end());
    std::ranges::sort(sorted);
    const auto repeated = std::ranges::adjacent_find(sorted);
    throw InputError({.argument = lists_[system]->argument(),
                      .expected = "each item once per user",
                      .found = "again",
                      .item = repeated == sorted.end() ? -1 : *repeated,
                      .row = user});
  }

  void note_shares() {
    const auto items = union_.items();
    for (std::size_t s = 0; s < lists_.size(); ++s) {
      std::uint8_t& shares = shares_[numbers_of_systems_[s]];
      for (std::size_t i = begins_[s]; shares == 0 && i < begins_[s + 1]; ++i) {
        shares = items[numbers_[i]].lists > 1 ? 1 : 0;
      }
    }
  }

  [[nodiscard]] std::span<double> values_of(std::size_t system) noexcept {
    return std::span(values_).subspan(begins_[system], begins_[system + 1] - begins_[system]);
  }

  // Replaces ranks by points: as many as there are items from the rank on. Items that a list lacks
  // share equally the points that it leaves.
  void use_union() {
    for (std::size_t s = 0; s < lists_.size(); ++s) {
      for (double& value : values_of(s)) value = points_of(s, union_size() - value + 1);
    }
  }

  [[nodiscard]] double union_size() const noexcept {
    return static_cast<double>(union_.items().size());
  }
  // Returns points as they count: as a norm, shares of their highest number.
  [[nodiscard]] double points_of(std::size_t system, double points) const noexcept {
    const double unit = request_.rules.method == FusionMethod::borda ? 1 : union_size();
    return lists_[system]->system().weight * (points / unit);
  }

  // Returns what an item counts that the system lacks.
  [[nodiscard]] double missing_value(std::size_t system) {
    const auto values = values_of(system);
    if (!reads_union(request_.rules)) return values.empty() ? 0 : std::ranges::min(values);
    return points_of(system, (union_size() - static_cast<double>(values.size()) + 1) / 2);
  }

  // A missing item would beat one with a negative value, and a product with the number of systems
  // would put it lower the more systems have it.
  void check_sign(Count user) {
    const FusionMethod method = request_.rules.method;
    if (method != FusionMethod::mnz && (method != FusionMethod::sum || counts_missing())) return;
    for (std::size_t s = 0; s < lists_.size(); ++s) {
      const auto values = values_of(s);
      const auto least = std::ranges::min_element(values);
      if (least == values.end() || *least >= 0) continue;
      throw InputError(
          {.argument = lists_[s]->argument(),
           .expected = "normalised scores of at least 0",
           .found = format_number(*least),
           .item = lists_[s]->ids()[static_cast<std::size_t>(least - values.begin())],
           .row = user,
           .hint = std::string("norm='min_max' makes them so") +
                   (method == FusionMethod::mnz ? "" : ", and missing='lowest' needs none")});
    }
  }

  // Scores the items by the sums of their values, and returns whether all are certain.
  bool add_up() {
    ApproximateSum of_none;
    for (const double value : missing_) of_none.add(value);
    const auto items = union_.items();
    sums_.assign(items.size(), of_none);
    for (std::size_t s = 0; s < lists_.size(); ++s) {
      const double absent = missing_.empty() ? 0 : -missing_[s];
      in_chunks(begins_[s + 1] - begins_[s], run_, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begins_[s] + begin; i < begins_[s] + end; ++i) {
          ApproximateSum& sum = sums_[numbers_[i]];
          sum.add(values_[i]);
          if (absent != 0) sum.add(absent);
        }
      });
    }
    scored_.resize(items.size());
    bool are_certain = true;
    in_chunks(items.size(), run_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        are_certain = are_certain && sums_[i].is_certain();
        scored_[i] = {of_total(sums_[i].total(), items[i].lists), static_cast<std::uint32_t>(i)};
      }
    });
    return are_certain;
  }

  // Puts the values of each item together.
  void group_by_item() {
    ends_.resize(union_.items().size());
    std::size_t begin_of_item = 0;
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      ends_[i] = begin_of_item;
      begin_of_item += union_.items()[i].lists;
    }
    grouped_.resize(values_.size());
    systems_.resize(values_.size());
    for (std::size_t s = 0; s < lists_.size(); ++s) {
      in_chunks(begins_[s + 1] - begins_[s], run_, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begins_[s] + begin; i < begins_[s] + end; ++i) {
          const std::size_t index = ends_[numbers_[i]]++;
          grouped_[index] = values_[i];
          systems_[index] = static_cast<std::uint32_t>(s);
        }
      });
    }
  }

  void score_groups() {
    const auto items = union_.items();
    scored_.resize(items.size());
    in_chunks(items.size(), run_, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        scored_[i] = {score_of_group(ends_[i] - items[i].lists, ends_[i]),
                      static_cast<std::uint32_t>(i)};
      }
    });
  }

  // Returns the fused score of the item with these values.
  double score_of_group(std::size_t begin, std::size_t end) {
    const auto values = std::span(grouped_).subspan(begin, end - begin);
    switch (request_.rules.method) {
      case FusionMethod::max:
        return std::ranges::max(values);
      case FusionMethod::min:
        return std::ranges::min(values);
      case FusionMethod::median:
        return median_of(values);
      default:
        break;
    }
    if (missing_.empty()) return of_total(rounded_sum(values, exact_), values.size());
    terms_ = missing_;
    for (std::size_t i = begin; i < end; ++i) terms_[systems_[i]] = grouped_[i];
    return of_total(rounded_sum(terms_, exact_), values.size());
  }

  // Returns the fused score of an item that so many systems have, from the sum of its values.
  [[nodiscard]] double of_total(double total, std::size_t systems) const noexcept {
    if (request_.rules.method == FusionMethod::mnz) return powers_[systems - 1] * total;
    if (request_.rules.method == FusionMethod::anz) return total / static_cast<double>(systems);
    return total;
  }

  static double median_of(std::span<double> values) {
    std::ranges::sort(values);
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  }

  void check_scores(Count user) const {
    for (const Scored& item : scored_) {
      if (std::isfinite(item.key)) continue;
      throw InputError({.argument = "systems",
                        .expected = "scores whose fused scores are finite",
                        .found = format_number(item.key),
                        .item = union_.items()[item.position].id,
                        .row = user});
    }
  }

  void write_best(FusedLists& fused) {
    ids_.resize(scored_.size());
    std::ranges::transform(union_.items(), ids_.begin(), &ItemUnion::Item::id);
    const BetterItem<double> better{.highest_first = false, .ids = ids_.data()};
    const auto k = static_cast<std::size_t>(std::min(request_.k, kMaxCutoff));
    sort_best(scored_, buffer_, k + 1, better, run_);
    const std::size_t size = std::min(scored_.size(), k);
    if (size < scored_.size() && scored_[size - 1].key == scored_[size].key) ++fused.split_ties;
    in_chunks(size, run_, [&](std::size_t begin, std::size_t end) {
      for (const Scored& item : std::span(scored_).subspan(begin, end - begin)) {
        fused.items.push_back(ids_[item.position]);
        fused.scores.push_back(item.key);
      }
    });
    fused.indptr.push_back(static_cast<Offset>(fused.items.size()));
  }

  const FusionRequest& request_;
  const Run& run_;
  std::vector<std::unique_ptr<SystemList>> lists_;  // of systems with a weight
  std::vector<std::size_t> numbers_of_systems_;     // of these, among all systems
  std::vector<double> powers_;                      // of 1, 2, ... systems
  std::vector<std::uint8_t> shares_;                // by system
  ItemUnion union_;
  // Of all lists, one after another: where each begins, and the number and the value of each item.
  std::vector<std::size_t> begins_;
  std::vector<std::uint32_t> numbers_;
  std::vector<double> values_;
  std::vector<ApproximateSum> sums_;
  std::vector<Scored> scored_;
  // The values of each item together: where they end, and their systems.
  std::vector<std::size_t> ends_;
  std::vector<double> grouped_;
  std::vector<std::uint32_t> systems_;
  std::vector<double> missing_;  // by system: the value of an item that it lacks, if that counts
  // Scratch space.
  std::vector<std::int64_t> ids_;
  std::vector<Scored> buffer_;
  std::vector<double> terms_;
  RoundedSum exact_;
};

Count cost_in_ids(const FusionRequest& request) {
  Count items = 0;
  for (const FusedSystem& system : request.systems) {
    const auto* scores = std::get_if<SparseScores>(&system.lists);
    const Lists& lists = scores == nullptr ? std::get<Lists>(system.lists) : scores->items;
    items +=
        std::visit([](const auto& ids) { return static_cast<Count>(ids.size()); }, lists.items);
  }
  return items;
}

FusedLists concatenate(std::vector<FusedLists>& blocks, const Run& run) {
  FusedLists fused;
  fused.indptr.push_back(0);
  std::size_t size = 0;
  for (const FusedLists& block : blocks) size += block.items.size();
  fused.items.reserve(size);
  fused.scores.reserve(size);
  for (FusedLists& block : blocks) {
    const auto offset = static_cast<Offset>(fused.items.size());
    for (const Offset end : block.indptr) fused.indptr.push_back(offset + end);
    fused.items.insert(fused.items.end(), block.items.begin(), block.items.end());
    fused.scores.insert(fused.scores.end(), block.scores.begin(), block.scores.end());
    fused.split_ties += block.split_ties;
    block = {};
    run.checkpoint();
  }
  return fused;
}

}  // namespace

FusedLists fuse(const FusionRequest& request) {
  const Run run(request);
  validate(request, run);
  const Count users = row_count(request.systems.front());
  const Count block_users = users_per_block(users, cost_in_ids(request));
  const Count block_count = (users + block_users - 1) / block_users;
  std::vector<FusedLists> blocks(static_cast<std::size_t>(block_count));
  std::vector<std::unique_ptr<UserFuser>> fusers(static_cast<std::size_t>(run.threads()));
  std::atomic<bool> has_fault = false;
  parallel_for(run, block_count, [&](int worker, Count block) {
    auto& fuser = fusers[static_cast<std::size_t>(worker)];
    if (!fuser) fuser = std::make_unique<UserFuser>(request, run);
    const Count end = std::min((block + 1) * block_users, users);
    Count user = block * block_users;
    try {
      for (; user < end && !has_fault; ++user) {
        fuser->fuse(user, blocks[static_cast<std::size_t>(block)]);
      }
    } catch (const InputError&) {
      has_fault = true;
    }
    if (request.finished != nullptr) *request.finished += user - block * block_users;
  });
  if (has_fault) {  // again in order, so that the first fault is thrown whatever the threads
    UserFuser fuser(request, run);
    FusedLists unused;
    for (Count user = 0; user < users; ++user) fuser.fuse(user, unused);
    throw InputError({.argument = "systems",
                      .expected = "arrays that do not change",
                      .found = "another thread writing to them"});
  }
  FusedLists fused = concatenate(blocks, run);
  fused.shares.resize(request.systems.size());
  for (const auto& fuser : fusers) {
    if (!fuser) continue;
    std::ranges::transform(fused.shares, fuser->shares(), fused.shares.begin(), std::bit_or<>());
  }
  return fused;
}

}  // namespace exactk
