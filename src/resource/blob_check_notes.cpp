#include "resource/blob_check.h"

namespace shoal {

/// The optional sections: what people and look-ups need.
Status BlobCheck::check_notes() {
    using Step = Status (BlobCheck::*)();
    constexpr Step kSteps[] = {&BlobCheck::check_guids,        &BlobCheck::check_names,
                               &BlobCheck::check_sources,      &BlobCheck::check_texts,
                               &BlobCheck::check_kept_texts,   &BlobCheck::check_dependencies,
                               &BlobCheck::check_offset_tables};
    for (const Step step : kSteps)
        if (Status status = (this->*step)(); !status) return status;
    return {};
}

Status BlobCheck::check_guids() {
    const BlobSection* entry = section(BlobSectionKind::kGuids);
    if (entry == nullptr) return {};
    const std::uint64_t n = num_entities();
    if (Status status = check_section_bytes(*entry, n * 12); !status) return status;
    const auto* guids = at<std::uint64_t>(entry->offset);
    const auto* order = at<std::uint32_t>(entry->offset + n * 8);
    for (std::uint64_t i = 0; i < n; ++i) {
        if (order[i] >= n)
            return fail_at(order + i, "the order of the guids names entity ", order[i], ", which does not exist");
        if (i == 0) continue;
        const std::uint64_t before = guids[order[i - 1]], guid = guids[order[i]];
        if (before == guid && guid != 0)
            return fail_at(guids + order[i], "entities ", order[i - 1], " and ", order[i], " have the same GUID");
        if (before > guid || (before == guid && order[i - 1] >= order[i]))
            return fail_at(order + i, "the guids are not in order");
    }
    blob.guids_ = {guids, static_cast<std::size_t>(n)};
    blob.entities_by_guid_ = {order, static_cast<std::size_t>(n)};
    return {};
}

/// Each text is compared with its two neighbours only, so that a long text shared by many costs once.
Status BlobCheck::check_names() {
    const BlobSection* entry = section(BlobSectionKind::kNames);
    if (entry == nullptr) return {};
    const std::uint64_t n = num_entities();
    if (Status status = check_section_bytes(*entry, n * 8); !status) return status;
    const auto* names = at<std::uint32_t>(entry->offset);
    const auto* order = names + n;
    for (std::uint64_t i = 0; i < n; ++i) {
        if (Status status = check_string(names[i], "the name of an entity"); !status) return status;
        if (order[i] >= n)
            return fail_at(order + i, "the order of the names names entity ", order[i], ", which does not exist");
    }
    for (std::uint64_t i = 1; i < n; ++i) {
        const std::uint32_t before = names[order[i - 1]], name = names[order[i]];
        const bool in_order = before == name ? order[i - 1] < order[i] : blob.string(before) < blob.string(name);
        if (!in_order) return fail_at(order + i, "the names are not in order, or a text is there twice");
    }
    blob.names_ = {names, static_cast<std::size_t>(n)};
    blob.entities_by_name_ = {order, static_cast<std::size_t>(n)};
    return {};
}

Status BlobCheck::check_sources() {
    const BlobSection* entry = section(BlobSectionKind::kSources);
    if (entry == nullptr) return {};
    if (Status status = check_section_bytes(*entry, sizeof(BlobSource) * std::uint64_t(num_entities())); !status)
        return status;
    blob.sources_ = {at<BlobSource>(entry->offset), num_entities()};
    for (const BlobSource& source : blob.sources_)
        if (Status status = check_string(source.file, "a source file"); !status) return status;
    return {};
}

Status BlobCheck::check_texts() {
    const BlobSection* entry = section(BlobSectionKind::kTexts);
    if (entry == nullptr) return {};
    const std::uint64_t count = entry->num_bytes / sizeof(BlobText);
    if (Status status = check_section_bytes(*entry, count * sizeof(BlobText)); !status) return status;
    blob.texts_ = {at<BlobText>(entry->offset), static_cast<std::size_t>(count)};
    std::uint64_t last = 0;
    for (const BlobText& text : blob.texts_) {
        if (Status status = check_string(text.text, "the text of a string id"); !status) return status;
        if (text.hash <= last) return fail_at(&text, "the texts are not ordered by their hashes");
        if (StringId(blob.string(text.text)).hash != text.hash)
            return fail_at(&text, "a text has another hash than its id");
        last = text.hash;
    }
    return {};
}

Status BlobCheck::check_kept_texts() {
    const BlobSection* entry = section(BlobSectionKind::kKeptTexts);
    if (entry == nullptr) return {};
    const std::uint64_t count = entry->num_bytes / sizeof(BlobKeptText);
    if (Status status = check_section_bytes(*entry, count * sizeof(BlobKeptText)); !status) return status;
    blob.kept_texts_ = {at<BlobKeptText>(entry->offset), static_cast<std::size_t>(count)};
    for (const BlobKeptText& kept : blob.kept_texts_) {
        if (Status status = check_string(kept.component, "a kept component"); !status) return status;
        if (Status status = check_string(kept.text, "a kept text"); !status) return status;
        if (kept.entity >= num_entities() && kept.entity != kNoBlobEntity)
            return fail_at(&kept.entity, "a text is kept for entity ", kept.entity, ", which does not exist");
    }
    return {};
}

Status BlobCheck::check_dependencies() {
    const BlobSection* entry = section(BlobSectionKind::kDependencies);
    if (entry == nullptr) return {};
    const std::uint64_t count = entry->num_bytes / sizeof(BlobDependency);
    if (Status status = check_section_bytes(*entry, count * sizeof(BlobDependency)); !status) return status;
    blob.dependencies_ = {at<BlobDependency>(entry->offset), static_cast<std::size_t>(count)};
    for (const BlobDependency& dependency : blob.dependencies_) {
        if (Status status = check_string(dependency.path, "the path of a dependency"); !status) return status;
        if (dependency.kind < DependencyKind::kSource || dependency.kind > DependencyKind::kMustNotExist)
            return fail_at(&dependency.kind, "a dependency of kind ", static_cast<std::uint32_t>(dependency.kind),
                           " is not known");
    }
    return {};
}

/// As many rows as there are components, all different, each where its owner says: so none is missing.
Status BlobCheck::check_offset_tables() {
    const BlobSection* entry = section(BlobSectionKind::kOffsetTables);
    if (entry == nullptr) return {};
    const std::uint64_t n = num_entities();
    std::uint64_t num_rows = 0;
    for (const BlobComponents& components : blob.component_types_) num_rows += components.count();
    if (Status status = check_section_bytes(*entry, 4 * (n + 1) + num_rows * sizeof(BlobRow)); !status) return status;
    const auto* first_row = at<std::uint32_t>(entry->offset);
    const auto* rows = at<BlobRow>(entry->offset + 4 * (n + 1));
    if (first_row[0] != 0 || first_row[n] != num_rows)
        return fail_at(first_row, "the offset tables do not hold all rows");
    for (std::uint64_t i = 0; i < n; ++i) {
        if (first_row[i + 1] < first_row[i] || first_row[i + 1] > num_rows)
            return fail_at(first_row + i + 1, "the offset tables are not in the order of the entities");
        for (std::uint32_t r = first_row[i]; r < first_row[i + 1]; ++r) {
            const BlobRow& row = rows[r];
            const bool exists = row.component_type < blob.component_types_.size() &&
                                row.row < blob.component_types_[row.component_type].count();
            if (!exists || blob.component_types_[row.component_type].entity_index[row.row] != i)
                return fail_at(&row, "the offset table of entity ", i, " names a row that is not its own");
            const bool in_order = r == first_row[i] || rows[r - 1].component_type < row.component_type ||
                                  (rows[r - 1].component_type == row.component_type && rows[r - 1].row < row.row);
            if (!in_order) return fail_at(&row, "the offset table of entity ", i, " is not in order");
        }
    }
    blob.first_row_ = {first_row, static_cast<std::size_t>(n + 1)};
    blob.rows_ = {rows, static_cast<std::size_t>(num_rows)};
    return {};
}

}  // namespace shoal
