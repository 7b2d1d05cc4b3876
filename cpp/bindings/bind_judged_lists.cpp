#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "exactk/capacity.hpp"
#include "exactk/judged_lists.hpp"
#include "gil.hpp"
#include "owned.hpp"
#include "predictions.hpp"
#include "progress.hpp"

namespace exactk::bindings {
namespace {

// (items, grades, hits, lengths, relevant)
using PyJudgedLists = py::typing::Tuple<py::array_t<std::int64_t>, py::array_t<double>,
                                        py::array_t<bool>, py::array_t<Count>, py::array_t<Count>>;

template <class T>
std::span<T> cells_of(py::array_t<T>& array) {
  return {array.mutable_data(), static_cast<std::size_t>(array.size())};
}

PyJudgedLists judged_lists(const OwnedLists& truth, const std::optional<py::array>& grades,
                           const OwnedPredictions& predictions,
                           std::optional<const OwnedLists*> exclude, const PlannedValue& value,
                           Count first_user, Count user_count, int threads, const std::string& isa,
                           const Progress& progress) {
  std::atomic<Count> finished = 0;
  check_grades(grades, truth.lists());
  const std::vector<PlannedValue> values = {value};
  Request request{.truth = truth.lists(),
                  .grades = view<double>(grades, "truth.grades"),
                  .predictions = view_of(predictions),
                  .values = values,
                  .tally_rules = value.rules,
                  .threads = threads,
                  .isa = isa_of(isa),
                  .poll = make_poll(progress, finished),
                  .finished = &finished};
  if (exclude) request.exclude = (*exclude)->lists();
  if (user_count < 0 || user_count > truth.lists().row_count()) {
    throw InputError({.argument = "user_count",
                      .expected = "at most the users of the truth",
                      .found = std::to_string(user_count)});
  }
  const Count columns = std::clamp<Count>(value.cutoff, 0, kMaxCutoff);  // others are refused below
  constexpr Count kCellBytes = sizeof(std::int64_t) + sizeof(double) + sizeof(bool);
  require_memory(user_count, columns * kCellBytes,
                 {.argument = "k", .hint = "exactk.judge with a smaller block_users needs less"});
  const std::vector<Count> shape = {user_count, columns};
  py::array_t<std::int64_t> items(shape);
  py::array_t<double> item_grades(shape);
  py::array_t<bool> hits(shape);
  py::array_t<Count> lengths(user_count);
  py::array_t<Count> relevant(user_count);
  const JudgedLists judged{.items = cells_of(items),
                           .grades = cells_of(item_grades),
                           .hits = {reinterpret_cast<std::uint8_t*>(hits.mutable_data()),
                                    static_cast<std::size_t>(hits.size())},
                           .lengths = cells_of(lengths),
                           .relevant = cells_of(relevant),
                           .first_user = first_user};
  {
    const GilRelease release;  // below, only poll touches Python
    judge_lists(request, judged);
  }
  return py::make_tuple(items, item_grades, hits, lengths, relevant);
}

}  // namespace

void bind_judged_lists(py::module_& module) {
  module.def("judge_lists", &judged_lists, py::kw_only(), py::arg("truth"),
             py::arg("grades").noconvert() = py::none(), py::arg("predictions").none(false),
             py::arg("exclude") = py::none(), py::arg("value"), py::arg("first_user") = 0,
             py::arg("user_count"), py::arg("threads") = 1, py::arg("isa") = "",
             py::arg("progress") = py::none(),
             "Judge some users. Return arrays of shape (users, k): the item at each rank, or -1; "
             "its grade, or NaN if "
             "it is not judged; and whether it is relevant. Then, by user, the length of the list "
             "and the number of relevant items.");
}

}  // namespace exactk::bindings
