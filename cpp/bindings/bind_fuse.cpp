#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "arrays.hpp"
#include "bindings.hpp"
#include "exactk/fuse.hpp"
#include "gil.hpp"
#include "owned.hpp"
#include "predictions.hpp"
#include "progress.hpp"
#include "results.hpp"

namespace exactk::bindings {
namespace {

using OwnedList = std::variant<const OwnedLists*, const OwnedSparseScores*>;

// (indptr, items, scores, users whose last item ties with one that was cut off, by system whether
// it shares an item with another)
using PyFusedLists = py::typing::Tuple<py::array_t<Offset>, py::array_t<std::int64_t>,
                                       py::array_t<double>, Count, py::typing::List<bool>>;

// The names of the values of enums, in their order.
constexpr std::array<std::string_view, 9> kMethods = {"rrf", "sum",    "mnz", "anz",  "max",
                                                      "min", "median", "rbc", "borda"};
constexpr std::array<std::string_view, 9> kNorms = {
    "none", "min_max", "max", "sum", "z", "theoretical_min_max", "rank", "borda", "distribution"};
constexpr std::array<std::string_view, 2> kMissing = {"zero", "lowest"};

template <class Enum, std::size_t size>
Enum value_of(const std::array<std::string_view, size>& names, const char* argument,
              const std::string& name) {
  for (std::size_t i = 0; i < size; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  throw InputError({.argument = argument, .expected = "a name of the list", .found = name});
}

PyFusedLists fuse_lists(const std::vector<OwnedList>& systems, const std::vector<double>& weights,
                        const std::vector<double>& lows, const std::string& method,
                        const std::string& norm, const std::string& missing, double rank_constant,
                        double persistence, double power, Count depth, Count k,
                        const std::string& ties, const std::string& nan, int threads,
                        const std::string& isa, const Progress& progress) {
  if (weights.size() != systems.size() || lows.size() != systems.size()) {
    throw InputError({.argument = weights.size() == systems.size() ? "low" : "weights",
                      .expected = "one number per system",
                      .found = "others"});
  }
  Rules rules;
  set_field(rules, "ties", ties);
  set_field(rules, "nan", nan);
  std::atomic<Count> finished = 0;
  FusionRequest request{.systems = {},
                        .rules = {.method = value_of<FusionMethod>(kMethods, "method", method),
                                  .norm = value_of<ScoreNorm>(kNorms, "norm", norm),
                                  .missing = value_of<MissingScore>(kMissing, "missing", missing),
                                  .rank_constant = rank_constant,
                                  .persistence = persistence,
                                  .power = power,
                                  .depth = depth,
                                  .ties = rules.ties,
                                  .nan = rules.nan},
                        .k = k,
                        .threads = threads,
                        .isa = isa_of(isa),
                        .poll = make_poll(progress, finished),
                        .finished = &finished};
  for (std::size_t s = 0; s < systems.size(); ++s) {
    request.systems.push_back(
        {.lists = std::visit(
             [](const auto* owned) { return std::variant<Lists, SparseScores>(view_of(*owned)); },
             systems[s]),
         .weight = weights[s],
         .low = lows[s]});
  }
  FusedLists fused = [&] {
    const GilRelease release;  // below, only poll touches Python
    return fuse(request);
  }();
  return py::make_tuple(array_of(std::move(fused.indptr)), array_of(std::move(fused.items)),
                        array_of(std::move(fused.scores)), fused.split_ties,
                        std::vector<bool>(fused.shares.begin(), fused.shares.end()));
}

}  // namespace

void bind_fuse(py::module_& module) {
  module.def("fuse", &fuse_lists, py::kw_only(), py::arg("systems"), py::arg("weights"),
             py::arg("lows"), py::arg("method"), py::arg("norm"), py::arg("missing"),
             py::arg("rank_constant"), py::arg("persistence"), py::arg("power"), py::arg("depth"),
             py::arg("k"), py::arg("ties"), py::arg("nan"), py::arg("threads") = 1,
             py::arg("isa") = "", py::arg("progress") = py::none(),
             "Fuse the lists of systems, which have a row per user. Return row offsets, items and "
             "scores, the number of users whose last item ties with one that was cut off, and for "
             "each system whether it has an item of any user that another has too.");
}

}  // namespace exactk::bindings
