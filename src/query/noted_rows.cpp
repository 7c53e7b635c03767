#include "query/noted_rows.h"

namespace shoal::detail {

NotedRows::NotedRows(Store& store, const Schema& component, Noted what)
    : what_(what), mirror_(std::make_unique<ComponentMirror>(store, component, ComponentMirror::Start::kNoRows)) {
    SHOAL_ASSERT(!component.many(),
                 "an entity may have several of the component, so a query does not say that one came or went; ask "
                 "observers");
    if (what != Noted::kAdded) mirror_->keep_values();
    if (what == Noted::kChanged)
        for (std::uint32_t field = 0; field < component.fields().size(); ++field) mirror_->watch_field(field);
}

std::span<const Entity> NotedRows::owners() const {
    switch (what_) {
        case Noted::kAdded:
            return mirror_->added();
        case Noted::kRemoved:
            return mirror_->removed();
        default:
            return mirror_->changed();
    }
}

}  // namespace shoal::detail
