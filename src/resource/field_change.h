#pragma once
// The common interface of all kinds of field changes.

#include "shoal/base/text.h"
#include "shoal/resource/detail/value_change.h"

#include <algorithm>
#include <functional>

namespace shoal {

/// One change to the fields of components.
struct FieldChange {
    std::vector<std::string> fields;  // the fields that the change affects; empty if it only adds fields
    /// Errors: the fields are not as expected. On error, some changes may have been made.
    std::function<Status(FieldColumns& columns)> run;

    /// Whether the change affects fields, but the components have none of them.
    bool lacks_fields(const FieldColumns& columns) const {
        const auto is_missing = [&](const std::string& field) { return columns.find(field) == nullptr; };
        return !fields.empty() && std::ranges::all_of(fields, is_missing);
    }
};

/// Replaces fields with new fields. The new fields may have the same names. `convert(olds, news)` gets the packed
/// values of each field, and returns a Status.
template <class Convert>
Status replace_fields(FieldColumns& columns, std::span<const NamedType> from, std::span<const NamedType> to,
                      Convert&& convert) {
    // The old columns get unique names, so that new columns may have the old names.
    Array<const std::byte*> olds{Owner("migration")};
    Array<std::byte*> news{Owner("migration")};
    for (const NamedType& field : from) {
        const Result<const std::byte*> values = columns.read(field.name, field.type);
        if (!values) return values.status();
        olds.push_back(*values);
    }
    const auto old_name = [](const std::string& name) { return concat(" old ", name); };
    for (const NamedType& field : from)
        if (Status status = columns.rename(field.name, old_name(field.name)); !status) return status;
    for (const NamedType& field : to) {
        const Result<std::byte*> values = columns.add(field.name, field.type);
        if (!values) return values.status();
        news.push_back(*values);
    }
    if (Status status = convert(olds.data(), news.data()); !status) return status;
    std::size_t num_given = 0, num_not_given = 0;
    for (const NamedType& field : from) {
        const FieldColumns::Given given = columns.find(old_name(field.name))->given;
        num_given += given == FieldColumns::Given::kYes;
        num_not_given += given == FieldColumns::Given::kNo;
        if (Status status = columns.remove(old_name(field.name)); !status) return status;
    }
    const FieldColumns::Given given = num_given == from.size()       ? FieldColumns::Given::kYes
                                      : num_not_given == from.size() ? FieldColumns::Given::kNo
                                                                     : FieldColumns::Given::kPartly;
    for (const NamedType& field : to)
        if (Status status = columns.mark(field.name, given); !status) return status;
    return {};
}

/// Returns a change in which convert(olds, news, number of rows) computes fields from other fields.
template <class Convert>
FieldChange computed_fields(std::span<const NamedType> from, std::span<const NamedType> to, Convert convert) {
    std::vector<std::string> names;
    for (const NamedType& field : from) names.push_back(field.name);
    return {std::move(names), [old_fields = std::vector(from.begin(), from.end()),
                               new_fields = std::vector(to.begin(), to.end()), convert](FieldColumns& columns) {
                return replace_fields(columns, old_fields, new_fields, [&](auto* olds, auto* news) {
                    convert(olds, news, columns.num_rows());
                    return Status();
                });
            }};
}

}  // namespace shoal
