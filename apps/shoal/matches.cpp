#include "matches.h"

#include "shoal/base/text.h"
#include "shoal/entity/entity_text.h"
#include "shoal/inspect/text_table.h"
#include "shoal/query/text_query.h"

#include <vector>

namespace shoal_tool {

using namespace shoal;

namespace {

constexpr std::uint64_t kMostPrinted = 50;

/// A field of one of the query's components.
struct MatchedField {
    std::size_t component = 0;
    std::string name;
    FieldPart part;
};

std::vector<MatchedField> fields_of(const TextQuery& query) {
    std::vector<MatchedField> fields;
    for (std::size_t i = 0; i < query.components().size(); ++i) {
        const TextComponent& component = query.components()[i];
        if (!component.has_columns) continue;
        for (const Field& field : component.schema->fields())
            if (field.type != FieldType::kOpaque)
                fields.push_back(
                    {i, concat(component.schema->name(), '.', field.name), field_part(*component.schema, field)});
    }
    return fields;
}

std::vector<std::string> header_of(const std::vector<MatchedField>& fields) {
    std::vector<std::string> header = {"entity"};
    for (const MatchedField& field : fields) header.push_back(field.name);
    return header;
}

/// Writes the matches that a query visits.
class MatchWriter {
public:
    MatchWriter(std::vector<MatchedField> fields, const ValueNames& names)
        : fields_(std::move(fields)), names_(names), table_(header_of(fields_)) {
        builder_.begin_list();
    }
    void add(const TextBatch& batch) {
        for (std::uint32_t i = 0; i < batch.num_rows(); ++i) add_row(batch, i);
    }
    Matches finish() {
        builder_.end();
        std::string text = concat("matches     ", count_text(num_matches_), "\n");
        if (!table_.empty()) text += concat("\n", table_.text());
        if (num_matches_ > kMostPrinted)
            text += concat("and ", count_text(num_matches_ - kMostPrinted), " more; --json prints all\n");
        return {std::move(text), builder_.finish()};
    }

private:
    void add_row(const TextBatch& batch, std::uint32_t i) {
        std::vector<std::string> line = {entity_text(batch.entities()[i])};
        builder_.begin_mapping();
        builder_.string("entity", line[0]);
        for (const MatchedField& field : fields_) {
            AnyValue value(field.part.type);
            const bool has = batch.read(field.component, field.part, i, value.bytes().data());
            builder_.key(field.name);
            if (has)
                write_value(builder_, value.type(), value.bytes().data(), names_);
            else
                builder_.null();
            if (num_matches_ < kMostPrinted) line.push_back(has ? value.to_text(names_) : "-");
        }
        builder_.end();
        if (num_matches_++ < kMostPrinted) table_.add_row(std::move(line));
    }

    std::vector<MatchedField> fields_;
    const ValueNames& names_;
    TextTable table_;
    DocumentBuilder builder_;
    std::uint64_t num_matches_ = 0;
};

}  // namespace

Result<Matches> find_matches(const World& world, std::string_view text, Diagnostics& diagnostics) {
    const std::uint32_t file = diagnostics.add_file("--query", std::string(text));
    const Result<TextQuery> query = TextQuery::make(world.directory(), file, diagnostics);
    if (!query) return query.status();
    const PlainNames names(&world.strings());
    MatchWriter writer(fields_of(*query), names);
    query->for_each_batch([&](const TextBatch& batch) { writer.add(batch); });
    return writer.finish();
}

}  // namespace shoal_tool
