#include "sql/catalog.h"

#include "shoal/base/text.h"

#include <algorithm>

namespace shoal::sql {
namespace {

constexpr std::string_view kLanes[] = {"x", "y", "z", "w"};
constexpr std::uint32_t kMatrixRows = 3;

/// The declared type of a column. From it, SQLite derives the type affinity, which determines how values are compared.
std::string_view declared_type(FieldType type) {
    switch (type) {
        case FieldType::kBool:
            return "BOOLEAN";
        case FieldType::kFloat:
            return "FLOAT";
        case FieldType::kDouble:
            return "DOUBLE";
        case FieldType::kEntity:
            return "ENTITY";
        case FieldType::kEnum:
        case FieldType::kStringId:
        case FieldType::kResourceId:
        case FieldType::kFixedString:
            return "TEXT";
        default:
            return "INTEGER";
    }
}

/// Returns the names of a value's parts, each of which is a single number, such as ".x", or "[0].x" in a matrix. Empty
/// if the value is a single number.
std::vector<std::string> parts_of(FieldType type) {
    std::vector<std::string> parts;
    const bool is_matrix = type == FieldType::kMatrix3x4;
    const std::uint32_t num_lanes = is_matrix ? 4 : field_type_lanes(type);
    if (num_lanes == 1) return parts;
    for (std::uint32_t row = 0; row < (is_matrix ? kMatrixRows : 1); ++row)
        for (std::uint32_t lane = 0; lane < num_lanes; ++lane)
            parts.push_back(is_matrix ? concat('[', row, "].", kLanes[lane]) : concat('.', kLanes[lane]));
    return parts;
}

/// Returns "position_x" for "position.x", and "matrix_0_x" for "matrix[0].x".
std::string column_name(std::string_view path) {
    std::string name;
    for (const char c : path)
        if (c != ']') name += c == '.' || c == '[' ? '_' : c;
    return name;
}

bool is_list(const Field& field) { return field.array_length != 0 || field.type == FieldType::kBlobArray; }

/// Makes the columns of one table.
class TableMaker {
public:
    TableMaker(CatalogTable& table, bool has_list) : table_(table) {
        add("entity", "ENTITY", Shows::kEntity);
        if (table.kept->many())
            add(has_list ? "position_of_component" : "position_in_list", "INTEGER", Shows::kComponentPosition);
        if (has_list) add("position_in_list", "INTEGER", Shows::kListPosition);
    }

    void add_fields() {
        for (const Field& field : table_.schema->fields())
            if (field.type != FieldType::kOpaque && !is_list(field)) add_field(field);
        for (const Field& field : table_.schema->fields())
            if (field.type != FieldType::kOpaque && (is_list(field) || !parts_of(field.type).empty())) add_whole(field);
    }
    /// Adds the columns for the values of an array.
    void add_elements(const Field& field) {
        ValueType element = value_type_of(field);
        element.array_length = 0;
        if (field.type == FieldType::kBlobArray)
            element = {field.element_type, FieldType(0), 0, field_type_bytes(field.element_type), {}};
        const std::vector<std::string> parts = parts_of(element.type);
        for (std::uint32_t i = 0; i < parts.size(); ++i)
            add_element(column_name("value" + parts[i]), {FieldType::kFloat, FieldType(0), 0, sizeof(float), {}},
                        i * std::uint32_t(sizeof(float)));
        if (parts.empty()) add_element("value", element, 0);
    }
    void add_zone() { add("zone", "INTEGER", Shows::kZone).is_hidden = true; }

private:
    CatalogColumn& add(std::string_view name, std::string_view type, Shows shows) {
        std::vector<std::string> taken;
        for (const CatalogColumn& column : table_.columns) taken.push_back(column.name);
        table_.columns.push_back({free_name(name, taken), std::string(type), shows});
        return table_.columns.back();
    }
    void add_element(std::string_view name, const ValueType& type, std::uint32_t offset) {
        CatalogColumn& column = add(name, declared_type(type.type), Shows::kElement);
        column.element = type;
        column.element_offset = offset;
    }
    void add_part(const std::string& path, Shows shows) {
        const Result<FieldPart> part = find_field_part(*table_.schema, path);
        if (!part) return;
        CatalogColumn& column = add(column_name(path), "TEXT", shows);
        column.path = path;
        column.part = *part;
        if (shows == Shows::kField) column.type = declared_type(part->type.type);
    }
    void add_field(const Field& field) {
        const std::vector<std::string> parts = parts_of(field.type);
        for (const std::string& part : parts) add_part(field.name + part, Shows::kField);
        if (parts.empty()) add_part(field.name, Shows::kField);
    }
    void add_whole(const Field& field) {
        add_part(field.name, Shows::kWhole);
        table_.columns.back().is_hidden = true;
    }

    CatalogTable& table_;
};

CatalogTable component_table(Store& store, const Schema& kept, const Schema& schema, std::string name) {
    CatalogTable table{std::move(name), &store, &kept, &schema};
    TableMaker maker(table, false);
    maker.add_fields();
    maker.add_zone();
    return table;
}

CatalogTable list_table(const CatalogTable& of, const Field& field, std::string name) {
    CatalogTable table{std::move(name), of.store, of.kept, of.schema, field_part(*of.schema, field)};
    TableMaker maker(table, true);
    maker.add_elements(field);
    maker.add_zone();
    return table;
}

}  // namespace

std::string sql_name(std::string_view name) {
    std::string text = "\"";
    for (const char c : name) text.append(c == '"' ? 2 : 1, c);
    return text + '"';
}

std::string sql_text(std::string_view text) {
    std::string quoted = "'";
    for (const char c : text) quoted.append(c == '\'' ? 2 : 1, c);
    return quoted + '\'';
}

bool is_same_name(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

std::string free_name(std::string_view name, const std::vector<std::string>& taken) {
    std::string free(name);
    const auto is_taken = [&] {
        return std::any_of(taken.begin(), taken.end(), [&](const std::string& t) { return is_same_name(t, free); });
    };
    for (int i = 2; is_taken(); ++i) free = concat(name, '_', i);
    return free;
}

std::string CatalogTable::declaration() const {
    std::string text = concat("CREATE TABLE ", sql_name(name), " (");
    for (const CatalogColumn& column : columns)
        text += concat(&column == columns.data() ? "" : ", ", sql_name(column.name), ' ', column.type,
                       column.is_hidden ? " HIDDEN" : "");
    return text + ')';
}

namespace {

/// Calls visit(store, kept, schema) for each component type that has columns. `kept` is its schema in the store, and
/// `schema` is the schema of the columns.
template <class Visit>
void for_each_component_type(const World& world, Visit&& visit) {
    for (Store* store : world.directory().stores())
        for (const auto& schemas : {store->schemas(), store->shown_schemas()})
            for (const Schema* kept : schemas)
                if (const Schema* schema = store->find_row(kept->id(), kNullEntity, 0).schema)
                    visit(*store, *kept, *schema);
}

std::uint64_t address(const void* object) { return reinterpret_cast<std::uintptr_t>(object); }

}  // namespace

std::vector<CatalogTable> list_component_tables(const World& world) {
    std::vector<CatalogTable> tables;
    std::vector<std::string> names;
    const auto add = [&](CatalogTable table) {
        names.push_back(table.name);
        tables.push_back(std::move(table));
    };
    for_each_component_type(world, [&](Store& store, const Schema& kept, const Schema& schema) {
        const bool is_reserved = is_same_name(kept.name().substr(0, 7), "sqlite_");  // SQLite reserves these names
        add(component_table(store, kept, schema, free_name(concat(is_reserved ? "_" : "", kept.name()), names)));
        const CatalogTable table = tables.back();
        for (const Field& field : schema.fields())
            if (is_list(field) && field.type != FieldType::kOpaque)
                add(list_table(table, field, free_name(concat(table.name, '_', column_name(field.name)), names)));
    });
    return tables;
}

std::vector<std::uint64_t> catalog_signature(const World& world) {
    std::vector<std::uint64_t> numbers;
    for_each_component_type(world, [&](Store& store, const Schema& kept, const Schema& schema) {
        for (const void* object : {static_cast<const void*>(&store), static_cast<const void*>(&kept),
                                   static_cast<const void*>(&schema), static_cast<const void*>(schema.fields().data())})
            numbers.push_back(address(object));
        numbers.push_back(kept.id().hash);
        numbers.push_back(schema.layout_hash());
        for (const Field& field : schema.fields())
            for (const EnumeratorDefinition& e : field.enumerators) {
                numbers.push_back(address(&e));
                numbers.push_back(hash_text(e.name));
            }
    });
    return numbers;
}

}  // namespace shoal::sql
