#pragma once
// Components for the table tests, and what a table with them should hold: a plain vector of rows.

#include "shoal/table/detail/table.h"
#include "support/testing.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace shoal_test {

using namespace shoal;

enum class Layout { kApart, kSplit, kWhole };

inline FieldDefinition make_field(const char* name, FieldType type, std::uint32_t array_length = 0) {
    FieldDefinition result;
    result.name = name;
    result.type = type;
    result.array_length = array_length;
    return result;
}

inline Schema make_schema(ComponentDefinition definition) {
    Result<Schema> schema = Schema::make(std::move(definition));
    EXPECT_TRUE(schema) << schema.message();
    return std::move(schema).value();
}

/// A serial number, then elements of every size that rows are copied by, and of some that have no code of their own.
inline Schema mixed_schema(Layout layout) {
    ComponentDefinition definition;
    definition.name = "mixed";
    definition.whole = layout == Layout::kWhole;
    definition.fields = {make_field("serial", FieldType::kUint64),   make_field("flag", FieldType::kUint8),
                         make_field("level", FieldType::kUint16),    make_field("mass", FieldType::kFloat),
                         make_field("position", FieldType::kVec3),   make_field("spin", FieldType::kQuaternion),
                         make_field("pose", FieldType::kMatrix3x4),  make_field("five", FieldType::kUint8, 5),
                         make_field("name", FieldType::kFixedString)};
    definition.fields[4].split = definition.fields[5].split = layout == Layout::kSplit;
    definition.fields[8].value_bytes = 300;
    return make_schema(definition);
}

/// `num_columns` fields of one type.
inline Schema uniform_schema(FieldType type, int num_columns, std::uint32_t array_length = 0) {
    ComponentDefinition definition;
    definition.name = "uniform";
    for (int i = 0; i < num_columns; ++i)
        definition.fields.push_back(make_field(("f" + std::to_string(i)).c_str(), type, array_length));
    return make_schema(definition);
}

using Image = std::vector<std::byte>;

/// A struct image whose fields hold random bytes and whose padding is zero.
inline Image random_image(const Schema& schema, Random& random) {
    Image image(schema.struct_bytes());
    for (const Field& field : schema.fields())
        for (std::uint32_t i = 0; i < field.size; ++i)
            image[field.struct_offset + i] = static_cast<std::byte>(random.next());
    return image;
}

inline Image image_of(const Table& table, std::uint32_t row) {
    Image image(table.schema().struct_bytes());
    for (std::uint32_t c = 0; c < table.schema().columns().size(); ++c) {
        const ColumnDefinition& column = table.schema().columns()[c];
        std::memcpy(image.data() + column.struct_offset, table.column(c) + std::size_t(row) * column.element_bytes,
                    column.element_bytes);
    }
    return image;
}

struct ModelRow {
    Entity owner;
    Image image;
};

inline void expect_equal(const Table& table, const std::vector<ModelRow>& model) {
    ASSERT_EQ(table.num_rows(), model.size());
    for (std::uint32_t row = 0; row < model.size(); ++row) {
        ASSERT_EQ(table.entities()[row], model[row].owner) << "row " << row;
        ASSERT_EQ(image_of(table, row), model[row].image) << "row " << row;
    }
}

inline void expect_valid(const Table& table) {
    const Status status = table.validate();
    ASSERT_TRUE(status.ok()) << status.message();
}

/// Appends `count` rows and gives all of them one image; owners are first_index, first_index + 1, ...
inline void append_filled(Table& table, std::uint32_t count, const Image& image, std::uint32_t first_index = 1) {
    const Status status = table.reserve(count);
    ASSERT_TRUE(status.ok()) << status.message();
    std::vector<Entity> owners(count);
    for (std::uint32_t i = 0; i < count; ++i) owners[i] = make_entity(first_index + i, 1);
    const std::uint32_t first = table.append(owners);
    table.fill({first, first + count}, image.data());
}

/// Appends rows one by one, asking for room only when there is none.
inline void append_singly(Table& table, std::uint32_t count, const Image& image) {
    for (std::uint32_t i = 0; i < count; ++i) {
        if (!table.has_room()) {
            const Status status = table.reserve(1);
            ASSERT_TRUE(status.ok()) << status.message();
        }
        const std::uint32_t row = table.append_one(make_entity(1 + table.num_rows(), 1));
        table.fill({row, row + 1}, image.data());
    }
}

}  // namespace shoal_test
