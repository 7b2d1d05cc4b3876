#include "evaluate/violation_faults.hpp"

#include <optional>
#include <span>
#include <string>
#include <variant>

#include "evaluate/refused_items.hpp"

namespace exactk {
namespace {

// Describes an item that repeats an earlier one at the position of the user's list.
Fault repeat_fault(const Lists* lists, Count user, Offset position) {
  Fault fault{.found = "again", .position = position};
  // Another thread has since changed the list, or the candidates of scores.
  if (lists == nullptr || position < 0) {
    fault.found = "a repeated item";
    return fault;
  }
  const auto offset = static_cast<std::size_t>(lists->begin(user) + position);
  fault.item = std::visit([&](const auto& ids) { return static_cast<std::int64_t>(ids[offset]); },
                          lists->items);
  return fault;
}

Fault duplicate_truth_fault(const Request& request, const Matches& matches, Count user) {
  Fault fault = repeat_fault(&request.truth, user, matches.first_truth_duplicate);
  fault.argument = "truth";
  fault.expected = "each item once per user";
  fault.change = Change{"duplicate_truth", "first"};
  fault.hint = "accepts it, as do 'max' and 'count'";
  return fault;
}

Fault duplicate_items_fault(const Request& request, const Matches& matches, Count user) {
  Fault fault = repeat_fault(item_lists(request.predictions), user, matches.first_list_duplicate);
  fault.argument = "predictions";
  fault.expected = "each item once in a list";
  fault.change = Change{"duplicate_items", "collapse"};
  fault.hint =
      "drops repeats, 'first' and 'count' keep their ranks, parents= judges chunks as documents";
  return fault;
}

Fault duplicate_base_items_fault(const Request& request, const Matches& matches, Count user) {
  Fault fault =
      repeat_fault(request.base ? &*request.base : nullptr, user, matches.first_list_duplicate);
  fault.argument = "base_predictions";
  fault.expected = "each item once in a list";
  fault.change = Change{"duplicate_items", "collapse"};
  fault.hint = "drops repeats, 'first' and 'count' keep their ranks";
  return fault;
}

Fault tied_repeat_fault(const Request& request, std::span<const Offset> repeats, Count user) {
  Fault fault =
      repeat_fault(item_lists(request.predictions), user, repeats.empty() ? -1 : repeats.front());
  fault.argument = "predictions";
  fault.expected = "each item once within a tie (ties='expected' with duplicate_items='first')";
  fault.change = Change{"duplicate_items", "count"};
  fault.hint = "counts every repeat as a hit";
  return fault;
}

Fault tied_score_fault(const std::optional<Tie>& tie) {
  Fault fault{.argument = "predictions",
              .expected = "no tie with an item of the truth (ties='raise')",
              .found = "another thread writing to them",
              .change = Change{"ties", "lowest_id"},
              .hint = "orders them by id"};
  if (tie) {
    fault.found =
        "a tie of " + std::to_string(tie->size()) + " items at rank " + std::to_string(tie->first);
  }
  return fault;
}

Fault tied_list_fault(Count rank) {
  Fault fault{.argument = "predictions",
              .expected = "no tie in a list that a metric reads (ties='raise')",
              .found = "another thread writing to them",
              .change = Change{"ties", "lowest_id"},
              .hint = "orders them by id"};
  if (rank > 0) fault.found = "a tie at rank " + std::to_string(rank);
  return fault;
}

Fault foreign_item_fault(const Request& request, std::int64_t item) {
  const bool is_train = request.items && request.items->is_train;
  return {.argument = "predictions",
          .expected = is_train ? "items of train, which are the catalogue where none is given"
                               : "items of the catalogue",
          .found = "outside it",
          .item = item,
          .change = Change{"foreign_items", "count"},
          .hint = "accepts it as an item that is not in train, and 'ignore' leaves it out"};
}

Fault unseen_item_fault(std::int64_t item) {
  return {.argument = "predictions",
          .expected = "items that are in train (unseen_items='raise')",
          .found = "in no list of train",
          .item = item,
          .change = Change{"unseen_items", "rare"},
          .hint = "counts it as the least popular of all"};
}

Fault missing_value_fault(std::int64_t item) {
  return {.argument = "truth",
          .expected = "relevant items that have a value (weight='values')",
          .found = "without one",
          .item = item,
          .hint = "items=exactk.Items(..., values=...) gives one, 0 if the item should not count"};
}

Fault missing_features_fault(const RefusedItems& refused) {
  return {.argument = refused.is_of_train ? "train" : "predictions",
          .expected = "items with features (missing_features='raise')",
          .found = "without features",
          .item = refused.first,
          .change = Change{"missing_features", "skip"},
          .hint = "leaves it out"};
}

Fault refused_item_fault(Violation violation, const Request& request, const RefusedItems& refused) {
  if (violation == Violation::foreign_item) return foreign_item_fault(request, refused.first);
  return violation == Violation::unseen_item ? unseen_item_fault(refused.first)
                                             : missing_features_fault(refused);
}

bool refuses_items(Violation violation) {
  return violation == Violation::foreign_item || violation == Violation::unseen_item ||
         violation == Violation::missing_features;
}

Count count_nan(UserMatcher& matcher, Count user, Offset& first) {
  return matcher.open(user) ? matcher.count_nan(first) : 0;
}

// Returns whether items that score NaN are left out if they are accepted.
bool drops_nan(const Predictions& predictions) {
  return std::visit(
      [](const auto& scores) {
        if constexpr (requires { scores.min_score; }) return scores.min_score.has_value();
        return false;
      },
      predictions);
}

Fault nan_fault(const Request& request, UserMatcher& matcher, Count user) {
  Fault fault{.argument = "predictions",
              .expected = "scores without NaN",
              .found = "NaN",
              .change = Change{"nan", "last"},
              .hint = drops_nan(request.predictions) ? "drops their items" : "ranks them last"};
  count_nan(matcher, user, fault.position);
  return fault;
}

}  // namespace

Count count_violations(Violation violation, const Job& job, UserJudge& judge, Count user) {
  UserMatcher& matcher = judge.matcher();
  Offset first_nan = -1;
  if (violation == Violation::nan_score) return count_nan(matcher, user, first_nan);
  if (refuses_items(violation)) return find_refused_items(violation, job, matcher, user).count;
  if (violation == Violation::missing_value)
    return find_items_without_value(job, matcher, user).count;
  if (violation == Violation::duplicate_base_items)
    return judge.lists().match_base(user).list_duplicates;
  matcher.open(user);
  const Matches& matches = matcher.match();
  switch (violation) {
    case Violation::duplicate_truth:
      return matches.truth_duplicates;
    case Violation::duplicate_items:
      return matches.list_duplicates;
    case Violation::tied_repeat:
      return static_cast<Count>(matcher.find_tied_repeats().size());
    default:
      return 1;
  }
}

Fault describe_violation(Violation violation, const Job& job, UserJudge& judge, Count user) {
  const Request& request = job.request;
  UserMatcher& matcher = judge.matcher();
  if (violation == Violation::nan_score) return nan_fault(request, matcher, user);
  if (refuses_items(violation)) {
    return refused_item_fault(violation, request,
                              find_refused_items(violation, job, matcher, user));
  }
  if (violation == Violation::missing_value)
    return missing_value_fault(find_items_without_value(job, matcher, user).first);
  if (violation == Violation::duplicate_base_items)
    return duplicate_base_items_fault(request, judge.lists().match_base(user), user);
  matcher.open(user);
  const Matches& matches = matcher.match();
  switch (violation) {
    case Violation::duplicate_truth:
      return duplicate_truth_fault(request, matches, user);
    case Violation::duplicate_items:
      return duplicate_items_fault(request, matches, user);
    case Violation::tied_repeat:
      return tied_repeat_fault(request, matcher.find_tied_repeats(), user);
    case Violation::tied_score:
      return tied_score_fault(first_forbidden_tie(job.plan, matches));
    case Violation::tied_list:
      return tied_list_fault(matcher.first_tie_of_list());
    case Violation::empty_truth:
      return {.argument = "truth",
              .expected = "a relevant item for every user (empty_truth='error')",
              .found = "none"};
    case Violation::too_few_items:
      return {.argument = "metrics",
              .expected = "num_items=... of at least |T| + misses for every user",
              .found = "a smaller number"};
    case Violation::missing_list:
      return {.argument = "predictions",
              .expected = "a list for every user (missing_list='error')",
              .found = "none"};
    default:
      return {.argument = "predictions",
              .expected = "an item for every user (empty_list='error')",
              .found = "an empty list"};
  }
}

}  // namespace exactk
