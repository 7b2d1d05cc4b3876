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

#include "base/parallel.hpp"
#include "evaluate/block_size.hpp"
#include "evaluate/score_row_start.hpp"
#include "evaluate/validate.hpp"
#include "exactk/error.hpp"
#include "exactk/lists.hpp"
#include "kernels/dispatch.hpp"
#include "match/list_matcher.hpp"
#include "rank/embeddings/norms.hpp"
#include "rank/embeddings/screening.hpp"
#include "rank/scores/score_ranking.hpp"

namespace exactk {
namespace {

// Returns the bitwise "or" of all ids.
std::uint64_t validate(const TopKRequest& request) {
  check_threads(request.threads);
  const Execution execution{.threads = request.threads, .poll = request.poll};
  std::uint64_t id_bits = 0;
  if (const auto* candidates = std::get_if<SparseScores>(&request.scores)) {
    id_bits = validate_scores(*candidates, "scores", execution);
  } else if (const auto* matrix = std::get_if<ScoreMatrix>(&request.scores)) {
    validate_scores(*matrix, "scores", execution);
    id_bits = bits_below(matrix->items);
  } else {
    const auto& embeddings = std::get<Embeddings>(request.scores);
    validate_embeddings(embeddings, execution);
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
                      .found = "one that needs a truth"});
  }
  const Count users = users_of(request.scores);
  if (request.exclude) {
    id_bits |= validate_lists(*request.exclude, "exclude", execution);
    check_int64(*request.exclude, "exclude");
    check_rows(request.exclude->rows(), users, "exclude");
  }
  if (users > std::numeric_limits<Count>::max() / request.k) {
    throw InputError({.argument = "k",
                      .expected = "fewer than 2^63 places",
                      .found = std::to_string(users) + " x " + std::to_string(request.k)});
  }
  check_size(request.places.size(), users * request.k, "places", "one a user and rank");
  const bool scored = std::holds_alternative<Embeddings>(request.scores);
  check_size(request.best_scores.size(), scored ? users * request.k : 0, "best_scores",
             "one a place of embeddings");
  return id_bits;
}

std::span<const std::int64_t> excluded_of(const TopKRequest& request, Count user) {
  if (!request.exclude) return {};
  return row_of_int64(*request.exclude, user);
}

// What all threads read.
struct Shared {
  const TopKRequest& request;
  std::uint64_t id_bits;
  Norms lengths;            // if there are embeddings
  ScreeningRequest wanted;  // for which they are screened
};

Shared shared_of(const TopKRequest& request, std::uint64_t id_bits) {
  Shared shared{.request = request, .id_bits = id_bits, .lengths = {}, .wanted = {}};
  const auto* embeddings = std::get_if<Embeddings>(&request.scores);
  if (embeddings == nullptr) return shared;
  shared.lengths = measure(*embeddings, kernels(request.isa),
                           {.threads = request.threads, .poll = request.poll});
  // One deeper, to see what is tied with the last.
  const ScreeningRequest wanted{.depth = request.k + (request.ties == Ties::raise ? 1 : 0),
                                .highest = request.ties == Ties::highest_id};
  if (Screening::pays(*embeddings, wanted)) shared.wanted = wanted;
  return shared;
}

// Ranks one user after another.
class Ranker {
 public:
  explicit Ranker(const Shared& shared)
      : request_(shared.request),
        ranking_(std::visit(
            [&](const auto& source) { return make_score_ranker(source, kernels(request_.isa)); },
            request_.scores)),
        given_(shared.id_bits, true) {
    if (shared.wanted.nothing()) return;
    screening_.emplace(std::get<Embeddings>(request_.scores), shared.lengths, shared.wanted,
                       kernels(request_.isa));
  }

  // Does for some users at a time what is cheaper so.
  void prepare(Count begin, Count end, const Checkpoint& checkpoint) {
    if (!screening_) return;
    users_.resize(static_cast<std::size_t>(end - begin));
    std::iota(users_.begin(), users_.end(), begin);
    screening_->screen(users_, request_.exclude, checkpoint);
  }

  // Returns whether the user may be ranked.
  bool start(Count user, const Checkpoint& checkpoint) {
    const bool has_nan = std::visit(
        [&](auto& ranking) {
          places_ =
              exactk::start(ranking, given_, user, {}, excluded_of(request_, user), checkpoint);
          if (screening_) ranking.know(screening_->found_of(user));
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
    const RankedList ranked = std::visit(
        [&](auto& ranking) { return ranking.best(request_.k, request_.ties, checkpoint); },
        ranking_);
    const auto* candidates = std::get_if<SparseScores>(&request_.scores);
    const Offset row = candidates == nullptr ? 0 : candidates->items.begin(user);
    const auto places = request_.places.subspan(static_cast<std::size_t>(user * request_.k),
                                                static_cast<std::size_t>(request_.k));
    in_chunks(ranked.places.size(), checkpoint, [&](std::size_t from, std::size_t to) {
      std::ranges::transform(ranked.places.subspan(from, to - from), places.subspan(from).begin(),
                             [&](Offset place) { return row + place; });
    });
    pad(places.subspan(ranked.places.size()), std::int64_t{-1}, checkpoint);
    if (!request_.best_scores.empty()) write_scores(user, ranked.places.size(), checkpoint);
  }

 private:
  template <class Cell>
  static void pad(std::span<Cell> cells, Cell padding, const Checkpoint& checkpoint) {
    in_chunks(cells.size(), checkpoint, [&](std::size_t from, std::size_t to) {
      std::ranges::fill(cells.subspan(from, to - from), padding);
    });
  }

  // Of the items that were ranked last.
  void write_scores(Count user, std::size_t count, const Checkpoint& checkpoint) {
    const auto scores = request_.best_scores.subspan(static_cast<std::size_t>(user * request_.k),
                                                     static_cast<std::size_t>(request_.k));
    std::visit(
        [&](const auto& ranking) {
          in_chunks(count, checkpoint, [&](std::size_t from, std::size_t to) {
            for (std::size_t i = from; i < to; ++i) {
              scores[i] = static_cast<double>(ranking.score_of(i));
            }
          });
        },
        ranking_);
    pad(scores.subspan(count), std::numeric_limits<double>::quiet_NaN(), checkpoint);
  }

  const TopKRequest& request_;
  AnyScoreRanker ranking_;
  ListMatcher given_;
  std::optional<Screening> screening_;  // if that pays
  std::vector<Count> users_;
  const ItemPositions* places_ = nullptr;
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
  const auto* candidates = std::get_if<SparseScores>(&request.scores);
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
[[noreturn]] void refuse(const Shared& shared) {
  const TopKRequest& request = shared.request;
  const Checkpoint checkpoint = timed_checkpoint(request.poll);
  Ranker ranker(shared);
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
  if (const auto* embeddings = std::get_if<Embeddings>(&scores)) return embeddings->users.rows;
  return std::get<SparseScores>(scores).items.rows();
}

void topk(const TopKRequest& request) {
  const std::uint64_t id_bits = validate(request);
  const Count users = users_of(request.scores);
  const Count ids = std::visit([](const auto& source) { return size_of(source); }, request.scores);
  const Shared shared = shared_of(request, id_bits);
  const Count block_users = shared.wanted.nothing()
                                ? users_per_block(users, ids)
                                : Screening::block_users(std::get<Embeddings>(request.scores),
                                                         shared.wanted, request.threads);
  std::vector<std::unique_ptr<Ranker>> rankers(static_cast<std::size_t>(request.threads));
  std::atomic<bool> refused = false;
  const auto body = [&](int index, Count block, const Checkpoint& checkpoint) {
    auto& own = rankers[static_cast<std::size_t>(index)];
    if (!own) own = std::make_unique<Ranker>(shared);
    const Count end = std::min((block + 1) * block_users, users);
    own->prepare(block * block_users, end, checkpoint);
    Count user = block * block_users;
    for (; user < end && !refused; ++user) {
      if (own->start(user, checkpoint) && own->first_tied_rank(checkpoint) == 0) {
        own->rank(user, checkpoint);
      } else {
        refused = true;
      }
    }
    if (request.finished != nullptr) *request.finished += user - block * block_users;
  };
  parallel_for((users + block_users - 1) / block_users, request.threads, body, request.poll);
  if (refused) refuse(shared);
}

}  // namespace exactk
