#include "metrik/topk.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "dispatch.hpp"
#include "metrik/error.hpp"
#include "metrik/lists.hpp"
#include "parallel.hpp"
#include "rank/score_ranking.hpp"
#include "validate.hpp"

namespace metrik {
namespace {

void validate(const TopKRequest& request) {
  check_threads(request.threads);
  validate_scores(request.scores, "scores");
  if (request.k < 1 || request.k > kMaxCutoff) {
    throw InputError({.argument = "k",
                      .expected = "from 1 to " + std::to_string(kMaxCutoff),
                      .found = std::to_string(request.k)});
  }
  if (!is_strict(request.ties) && request.ties != Ties::raise) {
    throw InputError({.argument = "ties",
                      .expected = "an order of the items alone, or 'raise'",
                      .found = "one that needs a truth"});
  }
  const Count users = request.scores.users;
  if (request.exclude) {
    const Effort effort{.threads = request.threads, .poll = request.poll};
    validate_lists(*request.exclude, "exclude", effort);
    check_int64(*request.exclude, "exclude");
    check_rows(request.exclude->rows(), users, "exclude");
  }
  if (users > std::numeric_limits<Count>::max() / request.k) {
    throw InputError({.argument = "k",
                      .expected = "fewer than 2^63 places",
                      .found = std::to_string(users) + " x " + std::to_string(request.k)});
  }
  check_size(request.items.size(), users * request.k, "items", "one place a user and rank");
}

std::span<const std::int64_t> excluded_of(const TopKRequest& request, Count user) {
  if (!request.exclude) return {};
  return std::get<std::span<const std::int64_t>>(request.exclude->items)
      .subspan(static_cast<std::size_t>(request.exclude->begin(user)),
               static_cast<std::size_t>(request.exclude->length(user)));
}

// Says how many scores are NaN, and which is the first; returns if there is none.
void refuse_nan(const TopKRequest& request, ScoreRanking& ranking) {
  const Checkpoint checkpoint = timed(request.poll);
  Fault fault{.argument = "scores",
              .expected = "scores that are no NaN",
              .found = "NaN",
              .count = 0,
              .hint = "nan='last' ranks them last"};
  for (Count user = 0; user < request.scores.users; ++user) {
    checkpoint();
    Offset first = -1;
    const Count count = std::visit(
        [&](auto& ranked) {
          ranked.start(user, {}, checkpoint);
          return ranked.has_nan() ? ranked.count_nan(first, checkpoint) : 0;
        },
        ranking);
    if (count > 0 && fault.count == 0) {
      fault.row = user;
      fault.position = first;
    }
    fault.count += count;
  }
  if (fault.count > 0) throw InputError(std::move(fault));
}

// Says in how many rows, and where first, one of the best has the score of another item; returns if
// there is none.
void refuse_ties(const TopKRequest& request, ScoreRanking& ranking) {
  const Checkpoint checkpoint = timed(request.poll);
  Fault fault{.argument = "scores",
              .expected = "scores that no two of the best items share (ties='raise')",
              .count = 0,
              .hint = "another ties= says which is first"};
  for (Count user = 0; user < request.scores.users; ++user) {
    checkpoint();
    const Count rank = std::visit(
        [&](auto& ranked) {
          ranked.start(user, excluded_of(request, user), checkpoint);
          ranked.best(request.k + 1, request.ties, checkpoint);
          return ranked.first_tied_rank();
        },
        ranking);
    if (rank > 0 && fault.count++ == 0) {
      fault.row = user;
      fault.found = "a tie at rank " + std::to_string(rank);
    }
  }
  if (fault.count > 0) throw InputError(std::move(fault));
}

}  // namespace

void topk(const TopKRequest& request) {
  validate(request);
  const Kernels& chosen = kernels(request.isa);
  const Count users = request.scores.users;
  const Count block_users =
      std::clamp<Count>((Count{1} << 14U) / std::max(request.scores.items, Count{1}), 1, 1024);
  std::vector<std::unique_ptr<ScoreRanking>> rankings(static_cast<std::size_t>(request.threads));
  std::atomic<bool> nan = false;
  std::atomic<bool> tie = false;
  const bool refuses_ties = request.ties == Ties::raise;
  const auto body = [&](int index, Count block, const Checkpoint& checkpoint) {
    auto& own = rankings[static_cast<std::size_t>(index)];
    if (!own) own = std::make_unique<ScoreRanking>(make_score_ranking(request.scores, chosen));
    const Count end = std::min((block + 1) * block_users, users);
    for (Count user = block * block_users; user < end && !nan && !tie; ++user) {
      std::visit(
          [&](auto& ranking) {
            ranking.start(user, excluded_of(request, user), checkpoint);
            if (ranking.has_nan() && request.nan == NanScores::raise) nan = true;
            if (refuses_ties) {
              ranking.best(request.k + 1, request.ties, checkpoint);
              if (ranking.first_tied_rank() > 0) tie = true;
            }
            const Ranked ranked = ranking.best(request.k, request.ties, checkpoint);
            const auto row = request.items.subspan(static_cast<std::size_t>(user * request.k),
                                                   static_cast<std::size_t>(request.k));
            const auto filled = row.first(ranked.items.size());
            in_chunks(filled.size(), checkpoint, [&](std::size_t from, std::size_t to) {
              const auto some = ranked.items.subspan(from, to - from);
              std::ranges::copy(some, filled.subspan(from).begin());
            });
            const auto padding = row.subspan(filled.size());
            in_chunks(padding.size(), checkpoint, [&](std::size_t from, std::size_t to) {
              std::ranges::fill(padding.subspan(from, to - from), -1);
            });
          },
          *own);
    }
  };
  parallel_for((users + block_users - 1) / block_users, request.threads, body, request.poll);
  if (nan || tie) {
    ScoreRanking ranking = make_score_ranking(request.scores, chosen);
    if (request.nan == NanScores::raise) refuse_nan(request, ranking);
    if (refuses_ties) refuse_ties(request, ranking);
    throw InputError({.argument = "scores",
                      .expected = "scores that stay as they are",
                      .found = "another thread writing to them"});
  }
}

}  // namespace metrik
