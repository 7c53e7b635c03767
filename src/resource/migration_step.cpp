#include "resource/field_change.h"
#include "shoal/table/detail/copy_elements.h"

namespace shoal {

MigrationStep::~MigrationStep() {
    for (const FieldChange* change : changes_) delete change;
}

MigrationStep& MigrationStep::add(FieldChange change) {
    changes_.push_back(new FieldChange(std::move(change)));
    return *this;
}

MigrationStep& MigrationStep::rename(std::string_view from, std::string_view to) {
    const std::string before(from), after(to);
    return add({{before}, [=](FieldColumns& columns) { return columns.rename(before, after); }});
}

MigrationStep& MigrationStep::remove(std::string_view field) {
    const std::string name(field);
    return add({{name}, [=](FieldColumns& columns) { return columns.remove(name); }});
}

MigrationStep& MigrationStep::set(std::string_view field, AnyValue value) {
    return add({{}, [name = std::string(field), value = std::move(value)](FieldColumns& columns) {
                    const Result<std::byte*> values = columns.add(name, value.type());
                    if (!values) return values.status();
                    fill_elements(*values, value.bytes().data(), columns.num_rows(), value.bytes().size());
                    return columns.mark(name, FieldColumns::Given::kNo);
                }});
}

MigrationStep& MigrationStep::add_conversion(std::span<const NamedType> from, std::span<const NamedType> to,
                                             detail::ConvertRows convert) {
    return add(computed_fields(from, to, convert));
}

Status MigrationStep::run(FieldColumns& columns, bool is_later) const {
    for (const FieldChange* change : changes_) {
        if (is_later && change->lacks_fields(columns)) continue;
        if (Status status = change->run(columns); !status) return status;
    }
    return {};
}

Migrations::~Migrations() {
    for (const Step& step : steps_) delete step.step;
}

MigrationStep& Migrations::from(std::uint32_t version) {
    SHOAL_ASSERT(version != 0, "the first version of a component type is 1");
    auto at = steps_.begin();
    while (at != steps_.end() && at->version < version) ++at;
    if (at == steps_.end() || at->version != version) at = steps_.insert(at, {version, new MigrationStep});
    return *at->step;
}

Migrations& Migrations::renamed_from(std::string_view name) {
    SHOAL_ASSERT(!name.empty(), "a component type never had an empty name");
    for (const std::string& known : old_names_)
        if (known == name) return *this;
    old_names_.emplace_back(name);
    return *this;
}

Status Migrations::run(std::uint32_t version, std::uint32_t end, FieldColumns& columns) const {
    for (const Step& step : steps_) {
        if (step.version < version || step.version >= end) continue;
        if (Status status = step.step->run(columns, step.version > version); !status)
            return Status::error(
                concat("the migration from version ", step.version, " does not fit: ", status.message()));
    }
    return {};
}

}  // namespace shoal
