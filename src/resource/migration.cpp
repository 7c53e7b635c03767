#include "shoal/resource/migration.h"

#include "shoal/base/text.h"
#include "shoal/resource/blob.h"
#include "shoal/resource/blob_writer.h"
#include "shoal/resource/detail/image_migration.h"
#include "shoal/table/detail/copy_elements.h"
#include "shoal/table/detail/enum_bytes.h"

#include <algorithm>

namespace shoal {

// --- columns ---------------------------------------------------------------------------------------------------------

namespace {

template <class Columns>
auto find_column(Columns& columns, std::string_view name) -> decltype(columns.data()) {
    for (auto& column : columns)
        if (column.name == name) return &column;
    return nullptr;
}

Status missing(std::span<const FieldColumns::Column> columns, std::string_view name) {
    Array<std::string_view> names{Owner("migration")};
    for (const FieldColumns::Column& column : columns) names.push_back(column.name);
    return Status::error(concat("there is no field \"", name, "\" then; ", hint_for(name, names)));
}

}  // namespace

FieldColumns::FieldColumns(const Schema& schema, std::span<const std::byte* const> columns, std::size_t num_rows)
    : num_rows_(num_rows) {
    for (const Field& field : schema.fields()) {
        Column column{.name = field.name, .type = value_type_of(field)};
        for (std::uint32_t lane = 0; lane < field.num_columns; ++lane)
            column.lanes.push_back(columns[field.first_column + lane] + schema.offset_in_column(field));
        column.stride = schema.columns()[field.first_column].element_bytes;
        columns_.push_back(std::move(column));
    }
}

const FieldColumns::Column* FieldColumns::find(std::string_view name) const { return find_column(columns_, name); }

Status FieldColumns::rename(std::string_view from, std::string_view to) {
    Column* const column = find_column(columns_, from);
    if (column == nullptr) return missing(columns_, from);
    if (find(to) != nullptr)
        return Status::error(concat("\"", from, "\" cannot become \"", to, "\", which is there already"));
    column->name = to;
    return {};
}

Status FieldColumns::remove(std::string_view name) {
    const Column* const column = find(name);
    if (column == nullptr) return missing(columns_, name);
    columns_.erase(columns_.begin() + (column - columns_.data()));
    return {};
}

Result<const std::byte*> FieldColumns::read(std::string_view name, const ValueType& type) {
    Column* const column = find_column(columns_, name);
    if (column == nullptr) return missing(columns_, name);
    const bool is_integer = type.type >= FieldType::kInt8 && type.type <= FieldType::kUint64;
    const bool is_enum_number = column->type.type == FieldType::kEnum && is_integer &&
                                column->type.value_bytes == type.value_bytes &&
                                column->type.array_length == type.array_length;
    if (column->type != type && !is_enum_number)
        return Status::error(
            concat("\"", name, "\" is ", column->type.to_text(), " then, and the function takes ", type.to_text()));
    const std::size_t bytes = type.num_bytes(), lane_bytes = bytes / column->lanes.size();
    if (column->stride != bytes || column->lanes.size() != 1) {
        Array<std::byte> values(std::max<std::size_t>(1, num_rows_ * bytes), std::byte(), Owner("migration"));
        for (std::size_t lane = 0; lane < column->lanes.size(); ++lane)
            copy_strided(values.data() + lane * lane_bytes, bytes, {column->lanes[lane], column->stride}, num_rows_,
                         lane_bytes);
        column->own = std::move(values);
        column->lanes.assign(1, column->own.data());
        column->stride = bytes;
    }
    return column->lanes[0];
}

Status FieldColumns::mark(std::string_view name, Given given) {
    Column* const column = find_column(columns_, name);
    if (column == nullptr) return missing(columns_, name);
    column->given = given;
    return {};
}

Status FieldColumns::rename_values(std::string_view name, std::span<const std::pair<std::string, std::string>> names) {
    Column* const column = find_column(columns_, name);
    if (column == nullptr) return missing(columns_, name);
    if (column->type.type != FieldType::kEnum)
        return Status::error(
            concat("\"", name, "\" is ", column->type.to_text(), " then, and has no values with names"));
    std::vector<EnumeratorDefinition> renamed(column->type.enumerators.begin(), column->type.enumerators.end());
    for (EnumeratorDefinition& enumerator : renamed)
        for (const auto& [from, to] : names)
            if (enumerator.name == from) {
                enumerator.name = to;
                break;
            }
    column->names = std::move(renamed);
    column->type.enumerators = column->names;
    return {};
}

Result<std::byte*> FieldColumns::add(std::string_view name, const ValueType& type) {
    if (find(name) != nullptr) return Status::error(concat("\"", name, "\" cannot be added, it is there already"));
    Column column{.name = std::string(name), .type = type, .stride = type.num_bytes()};
    column.own.resize(std::max<std::size_t>(1, num_rows_ * type.num_bytes()));
    column.lanes.push_back(column.own.data());
    columns_.push_back(std::move(column));
    return columns_.back().own.data();
}

// --- blobs -----------------------------------------------------------------------------------------------------------

namespace {

/// Whether values can be copied unchanged.
bool is_same(const ValueType& a, const ValueType& b) {
    return a == b && std::equal(a.enumerators.begin(), a.enumerators.end(), b.enumerators.begin(), b.enumerators.end());
}

/// Returns an enum value as its name, because the numbers may differ between versions. Returns other values unchanged.
AnyValue named_value(const ValueType& type, const std::byte* value) {
    if (type.type != FieldType::kEnum || type.array_length != 0) return AnyValue(type, value);
    const std::int64_t number = read_enum_number(value, type.value_bytes);
    std::byte bytes[sizeof number];
    for (const EnumeratorDefinition& e : type.enumerators) {
        write_enum_number(bytes, type.value_bytes, e.value);  // the new type may have more bytes
        if (read_enum_number(bytes, type.value_bytes) == number) return e.name;
    }
    return AnyValue(type, value);
}

/// Memory for columns, with the alignment of a blob's columns.
class ColumnMemory {
public:
    std::byte* add(std::size_t num_bytes) {
        memory_.emplace_back(num_bytes + kBlobAlignment, std::byte(), Owner("blob"));
        const auto address = reinterpret_cast<std::uintptr_t>(memory_.back().data());
        return memory_.back().data() + (kBlobAlignment - address % kBlobAlignment);
    }
    std::vector<Array<std::byte>> take() { return std::move(memory_); }

private:
    std::vector<Array<std::byte>> memory_;
};

/// Arranges columns in the layout of a schema.
class NewColumns {
public:
    /// `default_image` has the values of new fields.
    NewColumns(const Schema& schema, FieldColumns& given, ColumnMemory& memory,
               std::span<const std::byte> default_image)
        : schema_(schema), given_(given), memory_(memory), default_image_(default_image) {}

    /// Errors: a field has no counterpart in the new schema, or a value does not fit.
    Status lay_out(Array<const std::byte*>& columns) {
        for (const FieldColumns::Column& column : given_.columns())
            if (schema_.find_field(column.name) < 0)
                return Status::error(concat("there is no field \"", column.name, "\" in version ", schema_.version(),
                                            "; say what became of it, or remove() it"));
        columns.resize(schema_.columns().size());
        if (schema_.whole() && !columns.empty()) {
            image_ = add_column(schema_.struct_bytes());
            fill_elements(image_, default_image_.data(), given_.num_rows(), schema_.struct_bytes());
            columns[0] = image_;
        }
        for (const Field& field : schema_.fields())
            if (Status status = lay_out(field, columns); !status) return status;
        return {};
    }

private:
    std::byte* add_column(std::size_t element_bytes) { return memory_.add(given_.num_rows() * element_bytes); }

    Status lay_out(const Field& field, Array<const std::byte*>& columns) {
        if (given_.find(field.name) == nullptr) {
            if (!schema_.whole()) fill_default(field, columns);
            return {};
        }
        if (Status status = convert(field); !status) return status;
        place(*given_.find(field.name), field, columns);
        return {};
    }
    void fill_default(const Field& field, Array<const std::byte*>& columns) {
        for (std::uint32_t c = field.first_column; c < field.first_column + field.num_columns; ++c) {
            const ColumnDefinition& column = schema_.columns()[c];
            std::byte* const values = add_column(column.element_bytes);
            fill_elements(values, default_image_.data() + column.struct_offset, given_.num_rows(),
                          column.element_bytes);
            columns[c] = values;
        }
    }
    /// Converts the values of a column to the type of the field.
    Status convert(const Field& field) {
        const ValueType type = value_type_of(field), old_type = given_.find(field.name)->type;
        if (is_same(old_type, type)) return {};
        const Result<const std::byte*> old_values = given_.read(field.name, old_type);
        if (!old_values) return old_values.status();
        Array<std::byte> values{Owner("migration")};
        values.reserve(given_.num_rows() * type.num_bytes());
        for (std::size_t row = 0; row < given_.num_rows(); ++row) {
            const Result<AnyValue> value =
                named_value(old_type, *old_values + row * old_type.num_bytes()).convert(type, field.name);
            if (!value) return Status::error(concat("convert() is needed for component ", row, ": ", value.message()));
            values.insert(values.end(), value->bytes().begin(), value->bytes().end());
        }
        if (Status status = given_.remove(field.name); !status) return status;
        const Result<std::byte*> added = given_.add(field.name, type);
        if (added) std::copy(values.begin(), values.end(), *added);
        return added.status();
    }
    /// Copies a column, or uses it in place.
    void place(const FieldColumns::Column& given, const Field& field, Array<const std::byte*>& columns) {
        const std::size_t num_rows = given_.num_rows(),
                          num_lanes = std::max<std::size_t>(field.num_columns, given.lanes.size());
        const std::size_t lane_bytes = field.size / num_lanes;
        const bool fits = !schema_.whole() && given.own.empty() && given.lanes.size() == field.num_columns &&
                          given.stride == field.size / field.num_columns;
        std::byte* to = image_ == nullptr ? nullptr : image_ + field.struct_offset;
        for (std::size_t lane = 0; lane < num_lanes; ++lane) {
            const bool is_own_lane = field.num_columns != 1, was_own_lane = given.lanes.size() != 1;
            const std::byte* const from = was_own_lane ? given.lanes[lane] : given.lanes[0] + lane * lane_bytes;
            if (fits) {
                columns[field.first_column + lane] = from;
                continue;
            }
            if (!schema_.whole() && (lane == 0 || is_own_lane))
                columns[field.first_column + lane] = to = add_column(is_own_lane ? lane_bytes : field.size);
            const std::size_t stride = schema_.whole() ? schema_.struct_bytes() : is_own_lane ? lane_bytes : field.size;
            copy_strided(is_own_lane ? to : to + lane * lane_bytes, stride, {from, given.stride}, num_rows, lane_bytes);
        }
    }

    const Schema& schema_;
    FieldColumns& given_;
    ColumnMemory& memory_;
    std::byte* image_ = nullptr;  // images of whole components
    std::span<const std::byte> default_image_;
};

/// Errors: the components are newer than the program.
Status check_versions(const Schema& from, const Schema& to) {
    if (from.version() > to.version())
        return Status::error(concat("this program knows versions up to ", to.version(), "; update the program"));
    return {};
}

/// Removes the fields that a schema does not have.
void drop_fields(FieldColumns& fields, const Schema& schema) {
    for (std::size_t i = fields.columns().size(); i-- > 0;)
        if (const std::string name = fields.columns()[i].name; schema.find_field(name) < 0)
            static_cast<void>(fields.remove(name));
}

}  // namespace

/// Replaces component types of older versions.
class BlobMigration {
public:
    BlobMigration(Blob& blob, const ComponentRegistry& registry) : blob_(blob), registry_(registry) {}
    /// This constructor is for convert_fields().
    BlobMigration(Blob& blob, const ComponentRegistry& registry, std::span<const Schema> schemas)
        : blob_(blob), registry_(registry), wanted_(schemas), drops_fields_(true) {}

    /// Returns the newer schema of a component type, or nullptr if there is nothing to do.
    static const Schema* newer_schema(const BlobComponents& components, const ComponentRegistry& registry) {
        const RegisteredComponent* const known = registry.find_current(components.id);
        if (known == nullptr || known->schema == nullptr) return nullptr;
        const bool is_current = known->id == components.id && components.schema->version() == known->schema->version();
        return is_current ? nullptr : known->schema;
    }

    Status run() {
        schemas_ = blob_.schemas_;
        for (const BlobComponents& components : blob_.component_types())
            if (Status status = add(components); !status)
                return Status::error(concat("cannot migrate \"", components.schema->name(), "\" of \"", blob_.name(),
                                            "\" from version ", components.schema->version(), ": ", status.message()));
        take_over();
        return {};
    }

private:
    /// Where the columns of a component type begin in columns_, and the index of its schema in schemas_.
    struct TypeColumns {
        std::size_t first_column, schema;
    };

    Status add(const BlobComponents& old) {
        TypeColumns place{columns_.size(), static_cast<std::size_t>(old.schema - blob_.schemas_.data())};
        const Schema* const newer = drops_fields_ ? wanted_schema(old) : newer_schema(old, registry_);
        if (newer == nullptr) {
            columns_.insert(columns_.end(), old.columns.begin(), old.columns.end());
        } else {
            if (Status status = convert(old, *newer); !status) return status;
            schemas_[place.schema] = *newer;  // no other component type uses this entry
        }
        places_.push_back(place);
        return {};
    }
    Status convert(const BlobComponents& old, const Schema& newer) {
        if (!drops_fields_)
            if (Status status = check_versions(*old.schema, newer); !status) return status;
        if (old.schema->many() && !newer.many())
            return Status::error("an entity could have several then, and now has one; compile the source again");
        if (newer.id() != old.id && blob_.find_components(newer.id()) != nullptr)
            return Status::error(concat("it is called \"", newer.name(),
                                        "\" now, and the blob has components of that name, too; compile it again"));
        FieldColumns fields(*old.schema, old.columns, old.count());
        const RegisteredComponent* const registered = registry_.find_current(old.id);
        if (registered != nullptr && registered->migrations != nullptr)
            if (Status status = registered->migrations->run(old.schema->version(), newer.version(), fields); !status)
                return status;
        if (drops_fields_) drop_fields(fields, newer);
        Array<const std::byte*> columns{Owner("migration")};
        const std::vector<std::byte> image = blob_default_image(newer);
        if (Status status = NewColumns(newer, fields, memory_, image).lay_out(columns); !status) return status;
        columns_.insert(columns_.end(), columns.begin(), columns.end());
        return {};
    }
    const Schema* wanted_schema(const BlobComponents& old) const {
        for (const Schema& schema : wanted_)
            if (schema.id() == old.id && schema.layout_hash() != old.schema->layout_hash()) return &schema;
        return nullptr;
    }
    void take_over() {
        blob_.schemas_ = std::move(schemas_);
        blob_.columns_ = std::move(columns_);
        for (std::size_t i = 0; i < places_.size(); ++i) {
            BlobComponents& components = blob_.component_types_[i];
            const TypeColumns place = places_[i];
            components.schema = &blob_.schemas_[place.schema];
            components.id = components.schema->id();
            components.columns =
                std::span(blob_.columns_).subspan(place.first_column, components.schema->columns().size());
        }
        for (Array<std::byte>& memory : memory_.take()) blob_.migrated_.push_back(std::move(memory));
    }

    Blob& blob_;
    const ComponentRegistry& registry_;
    std::span<const Schema> wanted_{};
    bool drops_fields_ = false;
    ColumnMemory memory_;
    Array<Schema> schemas_{Owner("blob")};
    Array<const std::byte*> columns_{Owner("blob")};
    Array<TypeColumns> places_{Owner("migration")};
};

bool differ_in_name_only(const Schema& a, const Schema& b) {
    const auto are_alike = [](const Field& one, const Field& other) {
        return one.name == other.name && one.type == other.type && one.element_type == other.element_type &&
               one.array_length == other.array_length && one.value_bytes == other.value_bytes &&
               one.split == other.split && one.struct_offset == other.struct_offset && one.enumerators.empty() &&
               other.enumerators.empty();
    };
    return a.id() != b.id() && a.version() == b.version() && a.many() == b.many() && a.singleton() == b.singleton() &&
           a.enableable() == b.enableable() && a.struct_bytes() == b.struct_bytes() &&
           std::ranges::equal(a.fields(), b.fields(), are_alike);
}

bool needs_migration(const Blob& blob, const ComponentRegistry& registry) {
    for (const BlobComponents& components : blob.component_types())
        if (BlobMigration::newer_schema(components, registry) != nullptr) return true;
    return false;
}

Status migrate(Blob& blob, const ComponentRegistry& registry) {
    return needs_migration(blob, registry) ? BlobMigration(blob, registry).run() : Status();
}

namespace {

Result<ConvertedColumns> convert_columns(const Schema& from, std::span<const std::byte* const> columns,
                                         std::size_t num_rows, const Schema& to, const Migrations* migrations,
                                         bool drops_fields) {
    FieldColumns fields(from, columns, num_rows);
    if (migrations != nullptr && from.version() < to.version())
        if (Status status = migrations->run(from.version(), to.version(), fields); !status) return status;
    if (drops_fields) drop_fields(fields, to);
    ConvertedColumns converted;
    ColumnMemory memory;
    if (Status status = NewColumns(to, fields, memory, to.default_image()).lay_out(converted.columns); !status)
        return status;
    converted.memory = memory.take();
    return converted;
}

}  // namespace

Result<ConvertedColumns> convert_rows(const Schema& from, std::span<const std::byte* const> columns,
                                      std::size_t num_rows, const Schema& to, const Migrations* migrations) {
    Result<ConvertedColumns> converted = convert_columns(from, columns, num_rows, to, migrations, true);
    if (converted) return converted;
    return Status::error(concat("cannot change the fields of \"", from.name(), "\": ", converted.message()));
}

Result<ConvertedColumns> migrate_rows(const Schema& from, std::span<const std::byte* const> columns,
                                      std::size_t num_rows, const Schema& to, const Migrations* migrations) {
    if (Status status = check_versions(from, to); !status) return status;
    return convert_columns(from, columns, num_rows, to, migrations, false);
}

Result<ComponentImage> convert_image(const Schema& from, const ComponentImage& image, const Schema& to,
                                     const Migrations* migrations) {
    Array<const std::byte*> columns{Owner("migration")};
    for (const ColumnDefinition& column : from.columns()) columns.push_back(image.bytes.data() + column.struct_offset);
    FieldColumns fields(from, columns, 1);
    for (std::size_t i = 0; i < image.given.size(); ++i)
        if (Status status = fields.mark(from.fields()[i].name, image.given[i]); !status) return status;
    if (migrations != nullptr)
        if (Status status = migrations->run(from.version(), to.version(), fields); !status) return status;
    ComponentImage result{blob_default_image(to), {}};
    for (const Field& field : to.fields()) {
        const FieldColumns::Column* const column = fields.find(field.name);
        result.given.push_back(column == nullptr ? FieldColumns::Given::kNo : column->given);
    }
    ColumnMemory memory;
    const std::vector<std::byte> defaults = result.bytes;
    if (Status status = NewColumns(to, fields, memory, defaults).lay_out(columns); !status) return status;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const ColumnDefinition& column = to.columns()[i];
        copy_bytes(result.bytes.data() + column.struct_offset, columns[i], column.element_bytes);
    }
    return result;
}

Status convert_fields(Blob& blob, std::span<const Schema> schemas, const ComponentRegistry& registry) {
    return BlobMigration(blob, registry, schemas).run();
}

}  // namespace shoal
