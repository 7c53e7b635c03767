#pragma once
// What the kinds of changes of fields share.

#include "shoal/base/text.h"
#include "shoal/resource/value_change.h"

namespace shoal {

/// Whether there is none of the fields; false for no fields.
inline bool lacks_all(const FieldColumns& columns, std::span<const NamedType> fields) {
    for (const NamedType& field : fields)
        if (columns.find(field.name) != nullptr) return false;
    return !fields.empty();
}

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

}  // namespace shoal
