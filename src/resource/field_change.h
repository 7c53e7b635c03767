#pragma once
// What the kinds of changes of fields share.

#include "shoal/base/text.h"
#include "shoal/resource/value_change.h"

namespace shoal {

/// Replaces fields by others, which may have their names. `convert(olds, news)` gets the values of each field, one after
/// another, and returns a Status.
template <class Convert>
Status replace_fields(FieldColumns& columns, std::span<const NamedType> from, std::span<const NamedType> to,
                      Convert&& convert) {
    // The old columns leave under names that nobody else can have, so that new ones may take theirs.
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
    for (const NamedType& field : from)
        if (Status status = columns.remove(old_name(field.name)); !status) return status;
    return {};
}

}  // namespace shoal
