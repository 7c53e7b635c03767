#include "resource/field_change.h"
#include "shoal/table/copy_elements.h"

#include <vector>

namespace shoal {
namespace {

class Rename final : public FieldChange {
public:
    Rename(std::string_view from, std::string_view to) : from_(from), to_(to) {}
    Status run(FieldColumns& columns) const override { return columns.rename(from_, to_); }
    bool lacks_fields(const FieldColumns& columns) const override { return columns.find(from_) == nullptr; }

private:
    std::string from_, to_;
};

class Remove final : public FieldChange {
public:
    explicit Remove(std::string_view field) : field_(field) {}
    Status run(FieldColumns& columns) const override { return columns.remove(field_); }
    bool lacks_fields(const FieldColumns& columns) const override { return columns.find(field_) == nullptr; }

private:
    std::string field_;
};

class Set final : public FieldChange {
public:
    Set(std::string_view field, AnyValue value) : field_(field), value_(std::move(value)) {}
    Status run(FieldColumns& columns) const override {
        const Result<std::byte*> values = columns.add(field_, value_.type());
        if (!values) return values.status();
        fill_elements(*values, value_.bytes().data(), columns.num_rows(), value_.bytes().size());
        return columns.mark(field_, FieldColumns::Given::kNo);
    }
    bool lacks_fields(const FieldColumns&) const override { return false; }

private:
    std::string field_;
    AnyValue value_;
};

/// A function of the program.
class Compute final : public FieldChange {
public:
    Compute(std::span<const NamedType> from, std::span<const NamedType> to, detail::ConvertRows convert)
        : from_(from.begin(), from.end()), to_(to.begin(), to.end()), convert_(convert) {}
    Status run(FieldColumns& columns) const override {
        return replace_fields(columns, from_, to_, [&](const std::byte* const* olds, std::byte* const* news) {
            convert_(olds, news, columns.num_rows());
            return Status();
        });
    }
    bool lacks_fields(const FieldColumns& columns) const override { return lacks_all(columns, from_); }

private:
    std::vector<NamedType> from_, to_;
    detail::ConvertRows convert_;
};

}  // namespace

MigrationStep::~MigrationStep() {
    for (const FieldChange* change : changes_) delete change;
}

MigrationStep& MigrationStep::add(FieldChange* change) {
    changes_.push_back(change);
    return *this;
}

MigrationStep& MigrationStep::rename(std::string_view from, std::string_view to) { return add(new Rename(from, to)); }

MigrationStep& MigrationStep::remove(std::string_view field) { return add(new Remove(field)); }

MigrationStep& MigrationStep::set(std::string_view field, AnyValue value) {
    return add(new Set(field, std::move(value)));
}

MigrationStep& MigrationStep::add_conversion(std::span<const NamedType> from, std::span<const NamedType> to,
                                             detail::ConvertRows convert) {
    return add(new Compute(from, to, convert));
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
