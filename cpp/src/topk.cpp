#include "metrik/topk.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "blocks.hpp"
#include "dispatch.hpp"
#include "metrik/error.hpp"
#include "metrik/lists.hpp"
#include "parallel.hpp"
#include "rank/given.hpp"
#include "rank/placing.hpp"
#include "rank/score_ranking.hpp"
#include "validate.hpp"

namespace metrik {
namespace {

// Returns the bitwise "or" of all ids.
std::uint64_t validate(const TopKRequest& request) {
  check_threads(request.threads);
  const Effort effort{.threads = request.threads, .poll = request.poll};
  std::uint64_t id_bits = 0;
  if (const auto* candidates = std::get_if<CandidateScores>(&request.scores)) {
    id_bits = validate_scores(*candidates, "scores", effort);
  } else {
    const auto& matrix = std::get<ScoreMatrix>(request.scores);
    validate_scores(matrix, "scores", effort);
    id_bits = std::bit_ceil(static_cast<std::uint64_t>(matrix.items)) - 1;
  }
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
  const Count users = users_of(request.scores);
  if (request.exclude) {
    id_bits |= validate_lists(*request.exclude, "exclude", effort);
    check_int64(*request.exclude, "exclude");
    check_rows(request.exclude->rows(), users, "exclude");
  }
  if (users > std::numeric_limits<Count>::max() / request.k) {
    throw InputError({.argument = "k",
                      .expected = "fewer than 2^63 places",
                      .found = std::to_string(users) + " x " + std::to_string(request.k)});
  }
  check_size(request.places.size(), users * request.k, "places", "one a user and rank");
  return id_bits;
}

std::span<const std::int64_t> excluded_of(const TopKRequest& request, Count user) {
  if (!request.exclude) return {};
  return row_of_int64(*request.exclude, user);
}

// Ranks one user after another.
class Ranker {
 public:
  Ranker(const TopKRequest& request, std::uint64_t id_bits)
      : request_(request),
        ranking_(std::visit(
            [&](const auto& source) { return make_score_ranking(source, kernels(request.isa)); },
            request.scores)),
        given_(id_bits, true) {}

  // Returns whether the user may be ranked.
  bool start(Count user, const Checkpoint& checkpoint) {
    const bool has_nan = std::visit(
        [&](auto& ranking) {
          places_ =
              metrik::start(ranking, given_, user, {}, excluded_of(request_, user), checkpoint);
          return ranking.has_nan();
        },
        ranking_);
    return (!has_nan || request_.nan != NanScores::raise) &&
           (places_ == nullptr || places_->duplicates == 0);
  }
  // Of the user, how often a rule is broken, and where first.
  Count count_nan(Offset& first, const Checkpoint& checkpoint) {
    return std::visit(
        [&](auto& ranking) {
          return ranking.has_nan() ? ranking.count_nan(first, checkpoint) : Count{0};
        },
        ranking_);
  }
  Count count_duplicates(Offset& first) const {
    if (places_ == nullptr || places_->duplicates == 0) return 0;
    first = places_->first_duplicate;
    return places_->duplicates;
  }

  // The first rank among the best whose item is tied with the next, or 0: only if ties are an
  // error.
  Count first_tied_rank(const Checkpoint& checkpoint) {
    if (request_.ties != Ties::raise) return 0;
    return std::visit(
        [&](auto& ranking) {
          ranking.best(request_.k + 1, request_.ties, checkpoint);
          return ranking.first_tied_rank();
        },
        ranking_);
  }

  // Writes where the user's best items stand.
  void rank(Count user, const Checkpoint& checkpoint) {
    const Ranked ranked = std::visit(
        [&](auto& ranking) { return ranking.best(request_.k, request_.ties, checkpoint); },
        ranking_);
    const auto* candidates = std::get_if<CandidateScores>(&request_.scores);
    const Offset row = candidates == nullptr ? 0 : candidates->items.begin(user);
    const auto places = request_.places.subspan(static_cast<std::size_t>(user * request_.k),
                                                static_cast<std::size_t>(request_.k));
    in_chunks(ranked.places.size(), checkpoint, [&](std::size_t from, std::size_t to) {
      std::ranges::transform(ranked.places.subspan(from, to - from), places.subspan(from).begin(),
                             [&](Offset place) { return row + place; });
    });
    const auto padding = places.subspan(ranked.places.size());
    in_chunks(padding.size(), checkpoint, [&](std::size_t from, std::size_t to) {
      std::ranges::fill(padding.subspan(from, to - from), -1);
    });
  }

 private:
  const TopKRequest& request_;
  ScoreRanking ranking_;
  GivenRanking given_;
  const Places* places_ = nullptr;
};

// Adds up what `count_of(user, first)` finds, and says where the first is.
template <class CountOf>
void find_all(Count users, Fault& fault, const Checkpoint& checkpoint, const CountOf& count_of) {
  fault.count = 0;
  for (Count user = 0; user < users; ++user) {
    checkpoint();
    Offset first = -1;
    const Count count = count_of(user, first);
    if (count > 0 && fault.count == 0) {
      fault.row = user;
      fault.position = first;
    }
    fault.count += count;
  }
}

void refuse_nan(const TopKRequest& request, Ranker& ranker, const Checkpoint& checkpoint) {
  if (request.nan != NanScores::raise) return;
  Fault fault{.argument = "scores",
              .expected = "scores that are no NaN",
              .found = "NaN",
              .hint = "nan='last' ranks them last"};
  find_all(users_of(request.scores), fault, checkpoint, [&](Count user, Offset& first) {
    ranker.start(user, checkpoint);
    return ranker.count_nan(first, checkpoint);
  });
  if (fault.count > 0) throw InputError(std::move(fault));
}

void refuse_repeats(const TopKRequest& request, Ranker& ranker, const Checkpoint& checkpoint) {
  const auto* candidates = std::get_if<CandidateScores>(&request.scores);
  if (candidates == nullptr) return;
  Fault fault{.argument = "scores", .expected = "each candidate once a user", .found = ""};
  find_all(users_of(request.scores), fault, checkpoint, [&](Count user, Offset& first) {
    ranker.start(user, checkpoint);
    return ranker.count_duplicates(first);
  });
  if (fault.count == 0) return;
  const Offset place = candidates->items.begin(fault.row) + fault.position;
  const std::string item = std::visit(
      [&](const auto& ids) { return std::to_string(ids[static_cast<std::size_t>(place)]); },
      candidates->items.items);
  fault.found = "item " + item + " again";
  throw InputError(std::move(fault));
}

void refuse_ties(const TopKRequest& request, Ranker& ranker, const Checkpoint& checkpoint) {
  Fault fault{.argument = "scores",
              .expected = "scores that no two of the best items share (ties='raise')",
              .found = "",
              .hint = "another ties= says which is first"};
  find_all(users_of(request.scores), fault, checkpoint, [&](Count user, Offset&) {
    ranker.start(user, checkpoint);
    const Count rank = ranker.first_tied_rank(checkpoint);
    if (rank > 0 && fault.found.empty()) fault.found = "a tie at rank " + std::to_string(rank);
    return rank > 0 ? 1 : 0;
  });
  if (fault.count > 0) throw InputError(std::move(fault));
}

// A rule is broken. Walks all users again to say how often, and where first.
[[noreturn]] void refuse(const TopKRequest& request, std::uint64_t id_bits) {
  const Checkpoint checkpoint = timed(request.poll);
  Ranker ranker(request, id_bits);
  refuse_nan(request, ranker, checkpoint);
  refuse_repeats(request, ranker, checkpoint);
  refuse_ties(request, ranker, checkpoint);
  throw InputError({.argument = "scores",
                    .expected = "an array that does not change",
                    .found = "another thread writing to it"});
}

}  // namespace

Count users_of(const Scored& scores) {
  if (const auto* matrix = std::get_if<ScoreMatrix>(&scores)) return matrix->users;
  return std::get<CandidateScores>(scores).items.rows();
}

void topk(const TopKRequest& request) {
  const std::uint64_t id_bits = validate(request);
  const Count users = users_of(request.scores);
  const Count ids = std::visit([](const auto& source) { return size_of(source); }, request.scores);
  const Count block_users = users_a_block(users, ids);
  std::vector<std::unique_ptr<Ranker>> rankers(static_cast<std::size_t>(request.threads));
  std::atomic<bool> refused = false;
  const auto body = [&](int index, Count block, const Checkpoint& checkpoint) {
    auto& own = rankers[static_cast<std::size_t>(index)];
    if (!own) own = std::make_unique<Ranker>(request, id_bits);
    const Count end = std::min((block + 1) * block_users, users);
    for (Count user = block * block_users; user < end && !refused; ++user) {
      if (own->start(user, checkpoint) && own->first_tied_rank(checkpoint) == 0) {
        own->rank(user, checkpoint);
      } else {
        refused = true;
      }
    }
  };
  parallel_for((users + block_users - 1) / block_users, request.threads, body, request.poll);
  if (refused) refuse(request, id_bits);
}

}  // namespace metrik
