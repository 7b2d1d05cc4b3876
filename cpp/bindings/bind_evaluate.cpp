#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "exactk/capacity.hpp"
#include "exactk/evaluate.hpp"
#include "exactk/lists.hpp"
#include "exactk/topk.hpp"
#include "gil.hpp"
#include "owned.hpp"
#include "owned_histories.hpp"
#include "owned_item_features.hpp"
#include "owned_items.hpp"
#include "predictions.hpp"
#include "progress.hpp"
#include "results.hpp"

namespace exactk::bindings {

namespace {

using OwnedAnyScores =
    std::variant<const OwnedScores*, const OwnedSparseScores*, const OwnedEmbeddings*>;

Counted counted_of(const std::string& name) {
  if (name == "lists") return Counted::lists;
  if (name == "ranks") return Counted::ranks;
  if (name == "hits") return Counted::hits;
  if (name == "relevant") return Counted::relevant;
  throw InputError({.argument = "item_tallies",
                    .expected = "'lists', 'ranks', 'hits' or 'relevant'",
                    .found = "'" + name + "'"});
}

PyResult evaluate_values(
    const OwnedLists& truth, const std::optional<py::array>& grades,
    const OwnedPredictions& predictions, std::optional<const OwnedLists*> exclude,
    std::optional<const OwnedItems*> items, std::optional<const OwnedHistories*> histories,
    const std::optional<py::array>& history_rows, std::optional<const OwnedLists*> base,
    const std::optional<py::array>& weights, const std::optional<py::array>& groups,
    Count group_count, const std::vector<PlannedValue>& values,
    const std::vector<ItemTallyRequest>& item_tallies,
    const std::vector<PlannedValue>& group_tallies, const std::optional<py::array>& given,
    const Rules& tally_rules, bool per_user, int threads, const std::string& isa,
    const Progress& progress) {
  std::atomic<Count> finished = 0;
  const Count users = truth.lists().row_count();
  check_size(groups, users, "groups");
  check_grades(grades, truth.lists());
  const auto owned_groups = snapshot<Offset>(groups, "groups");
  const auto owned_rows = snapshot<Offset>(history_rows, "histories.rows");
  Request request{.truth = truth.lists(),
                  .grades = view<double>(grades, "truth.grades"),
                  .predictions = view_of(predictions),
                  .groups = owned_groups,
                  .group_count = group_count,
                  .values = values,
                  .item_tallies = item_tallies,
                  .group_tallies = group_tallies,
                  .tally_rules = tally_rules,
                  .threads = threads,
                  .isa = isa_of(isa),
                  .poll = make_poll(progress, finished),
                  .finished = &finished};
  if (exclude) request.exclude = (*exclude)->lists();
  if (items) request.items = (*items)->items();
  if (histories) request.histories = (*histories)->of_rows(owned_rows);
  if (base) request.base = (*base)->lists();
  if (given) request.given = view<double>(*given, "given");
  if (weights) request.weights = view<double>(*weights, "weights");
  std::optional<py::array_t<double>> table;
  std::optional<py::array_t<double>> ratios;
  if (per_user) {
    const Count micro_values = std::ranges::count_if(
        values, [](const PlannedValue& value) { return value.rules.average == Average::micro; });
    require_memory((static_cast<Count>(values.size()) + 2 * micro_values) * users, sizeof(double),
                   {.argument = "per_user", .hint = "per_user=False needs none"});
    table.emplace(std::vector<Count>{static_cast<Count>(values.size()), users});
    request.per_user = {table->mutable_data(), static_cast<std::size_t>(table->size())};
    ratios.emplace(std::vector<Count>{micro_values, 2, users});
    request.ratios = {ratios->mutable_data(), static_cast<std::size_t>(ratios->size())};
  }
  Result result = [&] {
    const GilRelease release;  // below, only poll touches Python
    return evaluate(request);
  }();
  return {.sums = {.rows = std::make_shared<const std::vector<Sums>>(std::move(result.sums)),
                   .values = static_cast<Count>(values.size())},
          .tally = std::move(result.tally),
          .per_user = std::move(table),
          .ratios = std::move(ratios),
          .item_tallies = std::move(result.item_tallies),
          .group_tallies = std::move(result.group_tallies)};
}

// Returns None if no row is padded.
std::optional<py::array_t<Offset>> lengths_of_padded(const py::array& matrix,
                                                     const std::string& argument) {
  if (matrix.ndim() != 2) {
    throw TypeFault({.argument = argument,
                     .expected = "a two-dimensional array",
                     .found = std::to_string(matrix.ndim()) + " dimension(s)"});
  }
  const py::array flat = matrix.attr("reshape")(-1);
  const Count columns = matrix.shape(1);
  const auto lengths =
      padded_lengths(item_view(flat, argument), matrix.shape(0), columns, argument);
  if (lengths.empty()) return std::nullopt;
  return copy_of(lengths);
}

// (positions, scores of embeddings)
using PyTopK = py::typing::Tuple<py::array_t<std::int64_t>, std::optional<py::array_t<double>>>;

PyTopK best_positions(const OwnedAnyScores& owned_scores, Count k,
                      std::optional<const OwnedLists*> exclude, const std::string& ties,
                      const std::string& nan, int threads, const std::string& isa,
                      const Progress& progress) {
  Rules rules;
  set_field(rules, "ties", ties);
  set_field(rules, "nan", nan);
  const AnyScores scores =
      std::visit([](const auto* source) { return AnyScores(view_of(*source)); }, owned_scores);
  const Count users = user_count(scores);
  if (k < 1 || k > kMaxCutoff) {
    throw InputError({.argument = "k",
                      .expected = "from 1 to " + std::to_string(kMaxCutoff),
                      .found = std::to_string(k)});
  }
  // Beside the positions, Python keeps the scores, and the items of sparse scores.
  require_memory(users, k * static_cast<Count>(sizeof(std::int64_t) + sizeof(double)),
                 {.argument = "k", .hint = "a smaller k needs less"});
  py::array_t<std::int64_t> positions({users, k});
  std::optional<py::array_t<double>> best_scores;
  if (std::holds_alternative<Embeddings>(scores)) best_scores.emplace(positions.request().shape);
  std::atomic<Count> finished = 0;
  TopKRequest request{
      .scores = scores,
      .k = k,
      .ties = rules.ties,
      .nan = rules.nan,
      .positions = {positions.mutable_data(), static_cast<std::size_t>(positions.size())},
      .threads = threads,
      .isa = isa_of(isa),
      .poll = make_poll(progress, finished),
      .finished = &finished};
  if (exclude) request.exclude = (*exclude)->lists();
  if (best_scores) {
    request.best_scores = {best_scores->mutable_data(),
                           static_cast<std::size_t>(best_scores->size())};
  }
  {
    const GilRelease release;  // below, only poll touches Python
    topk(request);
  }
  return py::make_tuple(positions, best_scores);
}

// Faster than os.environ, of which a small evaluation reads four variables. With a GIL no other
// thread of Python sets one meanwhile.
py::str environment_variable(const std::string& name) {
#ifdef Py_GIL_DISABLED
  return py::module_::import("os").attr("environ").attr("get")(name, "");
#else
  const char* const value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe)
  return py::reinterpret_steal<py::str>(PyUnicode_DecodeFSDefault(value == nullptr ? "" : value));
#endif
}

}  // namespace

void bind_evaluate(py::module_& module) {
  module.attr("MAX_CUTOFF") = kMaxCutoff;
  module.attr("MAX_THREADS") = kMaxThreads;
  bind_class<OwnedLists>(module, "Lists", "One list of items per user; see exactk/types.hpp.")
      .def(py::init<py::array, const py::array&, const std::optional<py::array>&,
                    const std::optional<py::array>&, const std::string&>(),
           py::arg("items").noconvert(), py::arg("indptr").noconvert(),
           py::arg("lengths").noconvert(), py::arg("present").noconvert(), py::arg("argument"))
      .def(py::init<py::array, const py::array&, const std::optional<py::array>&,
                    const std::optional<py::array>&, const std::optional<py::array>&,
                    const std::string&>(),
           py::arg("items").noconvert(), py::arg("indptr").noconvert(),
           py::arg("lengths").noconvert(), py::arg("present").noconvert(),
           py::arg("ranks").noconvert(), py::arg("argument"))
      .def(
          "validate",
          [](const OwnedLists& self, const std::string& argument,
             const std::optional<py::array>& grades) {
            const Execution execution{.threads = 1, .poll = &poll_signals};
            validate_lists(self.lists(), argument, execution);
            check_grades(grades, self.lists());
            validate_grades(view<double>(grades, argument + ".grades"), self.lists(), execution);
          },
          py::arg("argument"), py::arg("grades").noconvert(),
          "Raise InputError unless offsets, lengths, ids and grades are valid.");
  bind_class<OwnedItemFeatures>(module, "ItemFeatures",
                                "The features of items; see exactk/items.hpp.")
      .def(py::init<Count, const py::array&, std::optional<py::array>,
                    const std::optional<py::array>&, std::optional<py::array>,
                    std::optional<py::array>, const std::optional<py::array>&>(),
           py::kw_only(), py::arg("width"), py::arg("is_missing").noconvert(),
           py::arg("vectors").noconvert() = py::none(), py::arg("indptr").noconvert() = py::none(),
           py::arg("columns").noconvert() = py::none(), py::arg("weights").noconvert() = py::none(),
           py::arg("item_columns").noconvert() = py::none());
  bind_class<OwnedItems>(module, "Items", "The catalogue; see exactk/items.hpp.")
      .def(py::init<const py::array&, const std::optional<py::array>&,
                    const std::optional<py::array>&, std::optional<Count>, bool,
                    const std::optional<py::array>&, const std::optional<py::array>&, Count,
                    std::optional<const OwnedItemFeatures*>, const std::optional<py::array>&>(),
           py::kw_only(), py::arg("ids").noconvert(), py::arg("users").noconvert() = py::none(),
           py::arg("interactions").noconvert() = py::none(), py::arg("train_users") = py::none(),
           py::arg("is_train") = false, py::arg("values").noconvert() = py::none(),
           py::arg("groups").noconvert() = py::none(), py::arg("group_count") = 0,
           py::arg("features") = py::none(), py::arg("group_bits").noconvert() = py::none());
  bind_class<OwnedHistories>(module, "Histories",
                             "What users have in train; see exactk/histories.hpp.")
      .def(py::init<const py::array&, const py::array&>(), py::arg("indptr").noconvert(),
           py::arg("items").noconvert());
  bind_class<OwnedScores>(module, "Scores", "A matrix of scores; see exactk/scores.hpp.")
      .def(py::init<py::array, std::optional<double>, std::optional<const OwnedLists*>,
                    const std::string&>(),
           py::arg("scores").noconvert(), py::arg("min_score"), py::arg("candidates"),
           py::arg("argument"))
      .def(py::init<py::array, std::optional<double>, std::optional<const OwnedLists*>,
                    const std::optional<py::array>&, const std::optional<py::array>&,
                    const std::string&>(),
           py::arg("scores").noconvert(), py::arg("min_score"), py::arg("candidates"),
           py::arg("user_rows").noconvert(), py::arg("tie_ids").noconvert(), py::arg("argument"));
  bind_class<OwnedSparseScores>(module, "SparseScores",
                                "The scored items of each user; see exactk/scores.hpp.")
      .def(py::init<const OwnedLists&, py::array, std::optional<double>, const std::string&>(),
           py::arg("items"), py::arg("scores").noconvert(), py::arg("min_score"),
           py::arg("argument"));
  bind_class<OwnedEmbeddings>(module, "Embeddings",
                              "Users and items as vectors; see exactk/embeddings.hpp.")
      .def(py::init<py::array, py::array, std::optional<py::array>, const std::string&, bool,
                    std::optional<double>, std::optional<const OwnedLists*>,
                    const std::optional<py::array>&, const std::string&, const std::string&>(),
           py::kw_only(), py::arg("users").noconvert(), py::arg("items").noconvert(),
           py::arg("item_bias").noconvert() = py::none(), py::arg("similarity") = "dot",
           py::arg("float32_scores") = false, py::arg("min_score") = py::none(),
           py::arg("candidates") = py::none(), py::arg("present").noconvert() = py::none(),
           py::arg("users_argument") = "users", py::arg("items_argument") = "items");
  module.def(
      "topk", &best_positions, py::kw_only(), py::arg("scores").none(false), py::arg("k"),
      py::arg("exclude") = py::none(), py::arg("ties") = "lowest_id", py::arg("nan") = "raise",
      py::arg("threads") = 1, py::arg("isa") = "", py::arg("progress") = py::none(),
      "Return the positions of the k best items per user, best first, as an array of shape "
      "(users, k) padded with -1. A position is a column of a matrix, an offset into the arrays "
      "of sparse scores, or a row of the item embeddings. For embeddings, also return the "
      "scores, padded with NaN; otherwise None.");
  bind_class<PlannedValue>(module, "PlannedValue", "A metric at a cutoff under resolved rules.")
      .def(py::init([](std::string metric, std::optional<Count> cutoff, double parameter,
                       Rules rules, Count item_group, bool is_share) {
             return PlannedValue{.metric = std::move(metric),
                                 .cutoff = cutoff.value_or(kNoCutoff),
                                 .parameter = parameter,
                                 .rules = std::move(rules),
                                 .item_group = {.group = item_group, .is_share = is_share}};
           }),
           py::arg("metric"), py::arg("cutoff"), py::arg("parameter"), py::arg("rules"),
           py::arg("item_group") = kAllItems, py::arg("is_share") = false);
  bind_class<ItemTallyRequest>(module, "ItemTallyRequest",
                               "Which lists to count the items of; see exactk/item_tally.hpp.")
      .def(py::init([](Rules rules, const std::vector<std::optional<Count>>& cutoffs,
                       bool has_short_lists, const std::string& counted) {
             ItemTallyRequest request{.rules = std::move(rules),
                                      .cutoffs = {},
                                      .has_short_lists = has_short_lists,
                                      .counted = counted_of(counted)};
             for (const std::optional<Count> cutoff : cutoffs) {
               request.cutoffs.push_back(cutoff.value_or(kNoCutoff));
             }
             return request;
           }),
           py::arg("rules"), py::arg("cutoffs"), py::arg("has_short_lists"),
           py::arg("counted") = "lists");
  module.def("evaluate", &evaluate_values, py::kw_only(), py::arg("truth"),
             py::arg("grades").noconvert() = py::none(), py::arg("predictions").none(false),
             py::arg("exclude") = py::none(), py::arg("items") = py::none(),
             py::arg("histories") = py::none(), py::arg("history_rows").noconvert() = py::none(),
             py::arg("base") = py::none(), py::arg("weights").noconvert() = py::none(),
             py::arg("groups").noconvert() = py::none(), py::arg("group_count") = 1,
             py::arg("values"), py::arg("item_tallies") = py::tuple(),
             py::arg("group_tallies") = py::tuple(), py::arg("given").noconvert() = py::none(),
             py::arg("tally_rules"), py::arg("per_user") = false, py::arg("threads") = 1,
             py::arg("isa") = "", py::arg("progress") = py::none(),
             "Compute all values in one pass. The names are those of exactk::Request; see "
             "exactk/evaluate.hpp.");
  module.def(
      "isas",
      [] {
        std::vector<std::string_view> names;
        for (const Isa isa : available_isas()) names.push_back(name_of(isa));
        return names;
      },
      "Return the instruction sets that this build contains and this CPU supports, widest last.");
  module.def("environment_variable", &environment_variable, py::arg("name"),
             "Return the variable's value, or an empty string if it is not set.");
  module.def(
      "padded_lengths", &lengths_of_padded, py::arg("matrix").noconvert(), py::arg("argument"),
      "Return the length of each row without its trailing -1s, or None if no row is padded.");
}

}  // namespace exactk::bindings
