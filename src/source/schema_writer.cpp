#include "shoal/base/file.h"
#include "shoal/base/text.h"
#include "shoal/document/document_builder.h"
#include "shoal/document/sjson.h"
#include "shoal/source/schema_file.h"
#include "shoal/world/world.h"
#include "source/schema_text.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace shoal {
namespace {

bool has_default(const Schema& schema, const Field& field) {
    Array<std::byte> plain = default_without_declaration(field);
    plain.resize(field.size);
    return std::memcmp(plain.data(), schema.default_image().data() + field.struct_offset, field.size) != 0;
}

/// Builds the tree of a schema file.
class SchemaWriter {
public:
    explicit SchemaWriter(const ValueNames& names) : names_(names) {}

    std::string text(std::span<const SchemaDeclaration> declarations) {
        builder_.begin_mapping();
        builder_.begin_mapping("components");
        for (const SchemaDeclaration& declaration : declarations) component(declaration);
        builder_.end();
        builder_.end();
        const Document document = builder_.finish();
        return write_sjson(document.root());
    }

private:
    void component(const SchemaDeclaration& declaration) {
        const Schema& schema = *declaration.schema;
        builder_.begin_mapping(schema.name());
        number("version", schema.version(), 1);
        if (declaration.spawn_order != 0) integer("spawn_order", declaration.spawn_order);
        mark("many", schema.many());
        mark("singleton", schema.singleton());
        mark("enableable", schema.enableable());
        mark("whole", schema.whole());
        migrations(declaration.migrations);
        builder_.begin_mapping("fields");
        for (const Field& f : schema.fields()) field(schema, f);
        builder_.end();
        builder_.end();
    }

    /// Adds the text of SourceRules::Declaration::migrations.
    void migrations(std::string_view text) {
        if (text.empty()) return;
        ReadOptions options;
        options.bare_texts = true;
        Result<Document> document =
            read_document(diagnostics_.add_file("migrations", std::string(text)), diagnostics_, options);
        SHOAL_ASSERT(document.ok(), "migrations are a text that a schema file has, as SourceRules keeps it");
        documents_.push_back(std::move(*document));
        for (const Node child : documents_.back().root()) builder_.member(child);
    }

    void field(const Schema& schema, const Field& field) {
        builder_.begin_mapping(field.name);
        builder_.string("type", field_type_name(field.type));
        type_keys(field);
        number("array", field.array_length, 0);
        mark("split", field.split);
        mark("shorthand", field.shorthand);
        if (!field.keys.empty()) builder_.string("keys", field.keys);
        if (field.relation != Relation::kNone) builder_.string("relation", relation_name(field.relation));
        if (!field.unit.empty()) builder_.string("unit", field.unit);
        if (field.has_range) {
            builder_.begin_list("range");
            write_number(builder_, field.minimum);
            write_number(builder_, field.maximum);
            builder_.end();
        }
        if (has_default(schema, field)) {
            builder_.key("default");
            write_value(builder_, value_type_of(field), schema.default_image().data() + field.struct_offset, names_);
        }
        builder_.end();
    }

    void type_keys(const Field& field) {
        if (field.type == FieldType::kEnum) enumerators(field);
        if (field.type == FieldType::kFixedString) builder_.unsigned_integer("capacity", field.value_bytes);
        if (field.type == FieldType::kBlobArray) builder_.string("of", field_type_name(field.element_type));
    }

    void enumerators(const Field& field) {
        builder_.unsigned_integer("bytes", field.value_bytes);
        builder_.begin_mapping("values");
        for (const EnumeratorDefinition& enumerator : field.enumerators) integer(enumerator.name, enumerator.value);
        builder_.end();
    }

    void integer(std::string_view key, std::int64_t value) {
        builder_.key(key);
        builder_.integer(value);
    }
    void mark(std::string_view key, bool is_set) {
        if (is_set) builder_.boolean(key, true);
    }
    void number(std::string_view key, std::uint64_t value, std::uint64_t unless) {
        if (value != unless) builder_.unsigned_integer(key, value);
    }

    const ValueNames& names_;
    Diagnostics diagnostics_;  // for reading migrations
    std::vector<Document> documents_;
    DocumentBuilder builder_;
};

/// Returns the reason why a field cannot be declared in text; empty if it can.
std::string_view why_not_text(const Schema& schema, const Field& field, const ValueNames& names) {
    if (field.type == FieldType::kOpaque) return " is of a C++ type that no source can write";
    if (field.type != FieldType::kStringId && field.type != FieldType::kResourceId) return {};
    for (std::uint32_t i = 0; i < field.num_values(); ++i) {
        StringId id;
        std::memcpy(&id, schema.default_image().data() + field.struct_offset + i * sizeof id, sizeof id);
        if (id && names.text(id).empty()) return " has a default whose text is not known";
    }
    return {};
}

/// Reads the text back and compares the schemas, to find values that text cannot represent, such as a NaN default.
Status check_text(const std::string& text, std::span<const SchemaDeclaration> declarations) {
    Diagnostics diagnostics;
    ComponentRegistry registry;
    SourceRules rules;
    if (!read_schema_text(diagnostics.add_file("the schema file", text), registry, rules, diagnostics))
        return Status::error(concat("a component type cannot be declared as text:\n", diagnostics.format()));
    for (const SchemaDeclaration& declaration : declarations) {
        const Schema &schema = *declaration.schema, &read = *registry.find(schema.name())->schema;
        std::string what = difference(schema, read);
        if (what.empty() && schema.layout_hash() != read.layout_hash())
            what = "members that are no fields lie between its fields";
        if (!what.empty())
            return Status::error(concat("component ", quoted(schema.name()), " cannot be declared as text: ", what));
    }
    return {};
}

}  // namespace

Result<std::string> write_schema_text(std::span<const SchemaDeclaration> declarations, const ValueNames& names) {
    for (const SchemaDeclaration& declaration : declarations)
        for (const Field& field : declaration.schema->fields())
            if (const std::string_view why = why_not_text(*declaration.schema, field, names); !why.empty())
                return Status::error(concat("component ", quoted(declaration.schema->name()),
                                            " cannot be declared as text: field ", quoted(field.name), why));
    std::string text = SchemaWriter(names).text(declarations);
    if (Status status = check_text(text, declarations); !status) return status;
    return text;
}

Status export_schemas(const World& world, const std::string& path) {
    std::vector<SchemaDeclaration> declarations;
    for (const Store* store : world.directory().stores())
        for (const Schema* schema : store->schemas())
            if (!schema->has_opaque()) declarations.push_back({schema});
    const auto name = [](const SchemaDeclaration& declaration) -> const std::string& {
        return declaration.schema->name();
    };
    std::ranges::sort(declarations, {}, name);
    const auto repeated = std::ranges::unique(declarations, {}, name);
    declarations.erase(repeated.begin(), repeated.end());
    const Result<std::string> text = write_schema_text(declarations, PlainNames(&world.strings()));
    return text ? write_file(path, std::string_view(*text)) : text.status();
}

}  // namespace shoal
