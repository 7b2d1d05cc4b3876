#include "exactk/topk.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/checks.hpp"
#include "base/run.hpp"
#include "evaluate/block_size.hpp"
#include "evaluate/open_score_row.hpp"
#include "evaluate/validate/lists.hpp"
#include "evaluate/validate/scores.hpp"
#include "exactk/error.hpp"
#include "exactk/lists.hpp"
#include "kernels/dispatch.hpp"
#include "match/list_matcher.hpp"
#include "rank/embeddings/norms.hpp"
#include "rank/embeddings/screening.hpp"
#include "rank/scores/score_ranker.hpp"

namespace exactk {
namespace {

// Validates the request. Returns the bitwise "or" of all ids.
std::uint64_t validate(const TopKRequest& request, const Run& run) {
  std::uint64_t id_bits = 0;
  if (const auto* sparse_scores = std::get_if<SparseScores>(&request.scores)) {
    id_bits = validate_scores(*sparse_scores, "scores", run.execution());
  } else if (const auto* matrix = std::get_if<ScoreMatrix>(&request.scores)) {
    validate_scores(*matrix, "scores", run.execution());
    id_bits = bits_below(matrix->items);
  } else {
    const auto& embeddings = std::get<Embeddings>(request.scores);
    validate_embeddings(embeddings, run.execution());
    id_bits = bits_below(embeddings.items.rows);
  }
  if (request.k < 1 || request.k > kMaxCutoff) {
    throw InputError({.argument = "k",
                      .expected = "from 1 to " + std::to_string(kMaxCutoff),
                      .found = std::to_string(request.k)});
  }
  if (!is_strict(request.ties) && request.ties != Ties::raise) {
    throw InputError({.argument = "ties",
                      .expected = "an order of the items alone, or 'raise'",
                      .found = "an order that needs a truth"});
  }
  const Count users = user_count(request.scores);
  if (request.exclude) {
    id_bits |= validate_lists(*request.exclude, "exclude", run.execution());
    check_int64(*request.exclude, "exclude");
    check_rows(request.exclude->row_count(), users, "exclude");
  }
  if (users > std::numeric_limits<Count>::max() / request.k) {
    throw InputError({.argument = "k",
                      .expected = "fewer than 2^63 items in all",
                      .found = std::to_string(users) + " x " + std::to_string(request.k)});
  }
  check_size(request.positions.size(), users * request.k, "positions", "one per user and rank");
  const bool has_best_scores = std::holds_alternative<Embeddings>(request.scores);
  check_size(request.best_scores.size(), has_best_scores ? users * request.k : 0, "best_scores",
             "one per position for embeddings");
  return id_bits;
}

std::span<const std::int64_t> excluded_items(const TopKRequest& request, Count user) {
  if (!request.exclude) return {};
  return int64_row_items(*request.exclude, user);
}

// State that all threads read.
struct SharedState {
  const TopKRequest& request;
  const Run& run;
  std::uint64_t id_bits;
  Norms norms;                         // if there are embeddings
  ScreeningRequest screening_request;  // of the embeddings
};

SharedState make_shared_state(const TopKRequest& request, const Run& run) {
  SharedState shared{.request = request,
                     .run = run,
                     .id_bits = validate(request, run),
                     .norms = {},
                     .screening_request = {}};
  const auto* embeddings = std::get_if<Embeddings>(&request.scores);
  if (embeddings == nullptr) return shared;
  shared.norms = measure_norms(*embeddings, kernels(request.isa), run);
  // One rank deeper, to detect a tie with the last item.
  const ScreeningRequest screening_request{
      .depth = request.k + (request.ties == Ties::raise ? 1 : 0),
      .highest_first = request.ties == Ties::highest_id};
  if (Screening::is_worthwhile(*embeddings, screening_request))
    shared.screening_request = screening_request;
  return shared;
}

// Ranks users one by one.
class TopKRanker {
 public:
  explicit TopKRanker(const SharedState& shared)
      : request_(shared.request),
        run_(shared.run),
        score_ranker_(std::visit(
            [&](const auto& source) {
              return make_score_ranker(source, kernels(request_.isa), run_);
            },
            request_.scores)),
        matcher_(shared.id_bits, true, run_) {
    if (shared.screening_request.is_empty()) return;
    screening_.emplace(std::get<Embeddings>(request_.scores), shared.norms,
                       shared.screening_request, kernels(request_.isa), run_);
  }

  // Screens users together, which is cheaper.
  void prepare(Count begin, Count end) {
    if (!screening_) return;
    users_.resize(static_cast<std::size_t>(end - begin));
    std::iota(users_.begin(), users_.end(), begin);
    screening_->screen(users_, request_.exclude);
  }

  // Reads the user's scores. Returns whether the user may be ranked.
  bool open_user(Count user) {
    const bool has_nan = std::visit(
        [&](auto& ranker) {
          item_positions_ =
              open_score_row(ranker, matcher_, user, {}, excluded_items(request_, user));
          if (screening_) ranker.use_screening(screening_->result_of(user));
          return ranker.row().has_nan();
        },
        score_ranker_);
    return (!has_nan || request_.nan != NanScores::raise) &&
           (item_positions_ == nullptr || item_positions_->duplicates == 0);
  }
  // Counts the user's faults and locates the first.
  Count count_nan(Offset& first) {
    return std::visit(
        [&](auto& ranker) {
          return ranker.row().has_nan() ? ranker.row().count_nan(first) : Count{0};
        },
        score_ranker_);
  }
  Count count_duplicates(Offset& first) const {
    if (item_positions_ == nullptr || item_positions_->duplicates == 0) return 0;
    first = item_positions_->first_duplicate;
    return item_positions_->duplicates;
  }

  // Returns the first rank whose item ties with the next among the best, or 0 if there is none or
  // ties are allowed.
  Count first_tied_rank() {
    if (request_.ties != Ties::raise) return 0;
    return std::visit(
        [&](auto& ranker) {
          ranker.best(request_.k + 1, request_.ties);
          return ranker.first_tied_rank();
        },
        score_ranker_);
  }

  // Writes the positions of the user's best items.
  void write_best(Count user) {
    const RankedList ranked = std::visit(
        [&](auto& ranker) { return ranker.best(request_.k, request_.ties); }, score_ranker_);
    const auto* sparse_scores = std::get_if<SparseScores>(&request_.scores);
    const Offset row_begin = sparse_scores == nullptr ? 0 : sparse_scores->items.begin(user);
    const auto positions = request_.positions.subspan(static_cast<std::size_t>(user * request_.k),
                                                      static_cast<std::size_t>(request_.k));
    in_chunks(ranked.offsets.size(), run_, [&](std::size_t from, std::size_t to) {
      std::ranges::transform(ranked.offsets.subspan(from, to - from),
                             positions.subspan(from).begin(),
                             [&](Offset position) { return row_begin + position; });
    });
    pad(positions.subspan(ranked.offsets.size()), std::int64_t{-1});
    if (!request_.best_scores.empty()) write_scores(user, ranked.offsets.size());
  }

 private:
  template <class Cell>
  void pad(std::span<Cell> cells, Cell padding) const {
    in_chunks(cells.size(), run_, [&](std::size_t from, std::size_t to) {
      std::ranges::fill(cells.subspan(from, to - from), padding);
    });
  }

  // Writes the scores of the items ranked last.
  void write_scores(Count user, std::size_t count) {
    const auto scores = request_.best_scores.subspan(static_cast<std::size_t>(user * request_.k),
                                                     static_cast<std::size_t>(request_.k));
    std::visit(
        [&](const auto& ranker) {
          in_chunks(count, run_, [&](std::size_t from, std::size_t to) {
            for (std::size_t i = from; i < to; ++i) {
              scores[i] = static_cast<double>(ranker.score_at(i));
            }
          });
        },
        score_ranker_);
    pad(scores.subspan(count), std::numeric_limits<double>::quiet_NaN());
  }

  const TopKRequest& request_;
  const Run& run_;
  AnyScoreRanker score_ranker_;
  ListMatcher matcher_;
  std::optional<Screening> screening_;  // if it pays
  std::vector<Count> users_;
  const ItemPositions* item_positions_ = nullptr;
};

// Sums `count_in_user(user, first)` over all users, and locates the first fault.
template <class CountInUser>
void count_faults(const SharedState& shared, Fault& fault, const CountInUser& count_in_user) {
  fault.count = 0;
  for (Count user = 0; user < user_count(shared.request.scores); ++user) {
    shared.run.checkpoint();
    Offset first = -1;
    const Count count = count_in_user(user, first);
    if (count > 0 && fault.count == 0) {
      fault.row = user;
      fault.position = first;
    }
    fault.count += count;
  }
}

void refuse_nan(const SharedState& shared, TopKRanker& ranker) {
  const TopKRequest& request = shared.request;
  if (request.nan != NanScores::raise) return;
  const bool drops =
      std::visit([](const auto& scores) { return scores.min_score.has_value(); }, request.scores);
  Fault fault{.argument = "scores",
              .expected = "scores without NaN",
              .found = "NaN",
              .change = Change{"nan", "last", true},
              .hint = drops ? "drops their items" : "ranks them last"};
  count_faults(shared, fault, [&](Count user, Offset& first) {
    ranker.open_user(user);
    return ranker.count_nan(first);
  });
  if (fault.count > 0) throw InputError(std::move(fault));
}

void refuse_duplicates(const SharedState& shared, TopKRanker& ranker) {
  const auto* sparse_scores = std::get_if<SparseScores>(&shared.request.scores);
  if (sparse_scores == nullptr) return;
  Fault fault{.argument = "scores", .expected = "each item once per user", .found = "again"};
  count_faults(shared, fault, [&](Count user, Offset& first) {
    ranker.open_user(user);
    return ranker.count_duplicates(first);
  });
  if (fault.count == 0) return;
  const Offset offset = sparse_scores->items.begin(fault.row) + fault.position;
  fault.item = std::visit(
      [&](const auto& ids) {
        return static_cast<std::int64_t>(ids[static_cast<std::size_t>(offset)]);
      },
      sparse_scores->items.items);
  throw InputError(std::move(fault));
}

void refuse_ties(const SharedState& shared, TopKRanker& ranker) {
  Fault fault{.argument = "scores",
              .expected = "no tie among the best items (ties='raise')",
              .found = "",
              .change = Change{"ties", "lowest_id", true},
              .hint = "orders them by id"};
  count_faults(shared, fault, [&](Count user, Offset&) {
    ranker.open_user(user);
    const Count rank = ranker.first_tied_rank();
    if (rank > 0 && fault.found.empty()) fault.found = "a tie at rank " + std::to_string(rank);
    return rank > 0 ? 1 : 0;
  });
  if (fault.count > 0) throw InputError(std::move(fault));
}

// Reports a broken rule: reads all users again to count its violations and find the first.
[[noreturn]] void throw_fault(const SharedState& shared) {
  TopKRanker ranker(shared);
  refuse_nan(shared, ranker);
  refuse_duplicates(shared, ranker);
  refuse_ties(shared, ranker);
  throw InputError({.argument = "scores",
                    .expected = "an array that does not change",
                    .found = "another thread writing to it"});
}

}  // namespace

Count user_count(const AnyScores& scores) {
  if (const auto* matrix = std::get_if<ScoreMatrix>(&scores)) return matrix->user_count();
  if (const auto* embeddings = std::get_if<Embeddings>(&scores)) return embeddings->users.rows;
  return std::get<SparseScores>(scores).items.row_count();
}

void topk(const TopKRequest& request) {
  const Run run(request);
  const SharedState shared = make_shared_state(request, run);
  const Count users = user_count(request.scores);
  const Count ids =
      std::visit([](const auto& source) { return cost_in_ids(source); }, request.scores);
  const Count block_users = shared.screening_request.is_empty()
                                ? users_per_block(users, ids)
                                : Screening::block_users(std::get<Embeddings>(request.scores),
                                                         shared.screening_request, request.threads);
  std::vector<std::unique_ptr<TopKRanker>> rankers(static_cast<std::size_t>(run.threads()));
  std::atomic<bool> has_fault = false;
  const auto body = [&](int index, Count block) {
    auto& ranker = rankers[static_cast<std::size_t>(index)];
    if (!ranker) ranker = std::make_unique<TopKRanker>(shared);
    const Count end = std::min((block + 1) * block_users, users);
    ranker->prepare(block * block_users, end);
    Count user = block * block_users;
    for (; user < end && !has_fault; ++user) {
      if (ranker->open_user(user) && ranker->first_tied_rank() == 0) {
        ranker->write_best(user);
      } else {
        has_fault = true;
      }
    }
    if (request.finished != nullptr) *request.finished += user - block * block_users;
  };
  parallel_for(run, (users + block_users - 1) / block_users, body);
  if (has_fault) throw_fault(shared);
}

}  // namespace exactk
