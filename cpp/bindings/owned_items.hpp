// Owner of the arrays of a catalogue.
#pragma once

#include <pybind11/numpy.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "arrays.hpp"
#include "exactk/items.hpp"
#include "owned.hpp"
#include "owned_item_features.hpp"

namespace exactk::bindings {

// Holds copies, because the core indexes by them.
class OwnedItems {
 public:
  OwnedItems(const py::array& ids, const std::optional<py::array>& users,
             const std::optional<py::array>& interactions, std::optional<Count> train_users,
             bool is_train, const std::optional<py::array>& values,
             const std::optional<py::array>& groups, Count group_count,
             std::optional<const OwnedItemFeatures*> features,
             const std::optional<py::array>& group_bits)
      : ids_(snapshot<std::int64_t>(ids, "items")),
        users_(snapshot<Count>(users, "items.users")),
        interactions_(snapshot<Count>(interactions, "items.interactions")),
        values_(snapshot<double>(values, "items.values")),
        groups_(snapshot<Count>(groups, "items.groups")),
        group_bits_(snapshot<std::uint64_t>(group_bits, "items.group_bits")),
        features_(features ? py::cast(*features, py::return_value_policy::reference) : py::none()),
        items_{.ids = ids_,
               .users = users_,
               .interactions = interactions_,
               .values = values_,
               .train_users = train_users.value_or(kUnknownUsers),
               .is_train = is_train,
               .groups = groups_,
               .group_count = group_count,
               .group_bits = group_bits_} {
    check_size(users, static_cast<Count>(ids_.size()), "items.users");
    check_size(interactions, static_cast<Count>(ids_.size()), "items.interactions");
    check_size(values, static_cast<Count>(ids_.size()), "items.values");
    check_size(groups, static_cast<Count>(ids_.size()), "items.groups");
    if (features) items_.features = (*features)->features();
  }
  OwnedItems(const OwnedItems&) = delete;  // items_ points into the other members
  OwnedItems& operator=(const OwnedItems&) = delete;

  [[nodiscard]] const Items& items() const noexcept { return items_; }

 private:
  std::vector<std::int64_t> ids_;
  std::vector<Count> users_;
  std::vector<Count> interactions_;
  std::vector<double> values_;
  std::vector<Count> groups_;
  std::vector<std::uint64_t> group_bits_;
  py::object features_;
  Items items_;
};
template <>
inline constexpr bool kIsBound<OwnedItems> = true;

}  // namespace exactk::bindings
