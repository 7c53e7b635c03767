#pragma once
// Random schemas and blobs, with a plain model of what was put in.

#include "resource/samples.h"

#include <cstring>
#include <map>
#include <vector>

namespace resource_test {

struct ModelComponent {
    std::uint32_t owner;
    std::vector<std::byte> image;
};

struct ModelType {
    Schema schema;
    std::int32_t spawn_order;
    std::vector<ModelComponent> components;
};

/// What a random blob should hold.
struct Model {
    std::vector<std::uint32_t> parents;
    std::vector<std::uint64_t> guids;
    std::vector<std::string> names;
    std::vector<ModelType> types;
    std::map<std::uint64_t, std::vector<std::byte>> arrays;  // by the offset that add_array gave
};

class RandomBlob {
public:
    explicit RandomBlob(std::uint64_t seed) : random_(seed) {}

    void build(BlobWriter& blob, Model& model) {
        blob.set_name(concat("random/", random_.below(1000)));
        add_entities(blob, model);
        const std::uint32_t num_types = random_.below(5);
        for (std::uint32_t t = 0; t < num_types; ++t) add_type(blob, model, t);
    }

private:
    void add_entities(BlobWriter& blob, Model& model) {
        const bool has_guids = coin(), has_names = coin();
        const std::uint32_t num_entities = random_.below(40);
        for (std::uint32_t i = 0; i < num_entities; ++i) {
            model.parents.push_back(i == 0 || random_.below(4) == 0 ? kNoBlobEntity : random_.below(i));
            model.guids.push_back(has_guids && random_.below(5) != 0 ? random_.next() | 1 : 0);
            model.names.push_back(has_names && coin() ? concat("n", random_.below(10)) : std::string());
            blob.add_entity({.parent = model.parents.back(), .guid = model.guids.back(), .name = model.names.back()});
        }
    }

    void add_type(BlobWriter& blob, Model& model, std::uint32_t number) {
        const auto spawn_order = static_cast<std::int32_t>(random_.below(3)) - 1;
        model.types.push_back({*Schema::make(definition(number)), spawn_order, {}});
        ModelType& type = model.types.back();
        const std::uint32_t index = *blob.add_component_type(type.schema, spawn_order);
        for (std::uint32_t i = 0; i < model.parents.size(); ++i) {
            for (std::uint32_t n = random_.below(type.schema.many() ? 4 : 2); n > 0; --n) {
                type.components.push_back({i, image(blob, model, type.schema)});
                blob.add_component(index, i, type.components.back().image);
            }
        }
    }

    ComponentDefinition definition(std::uint32_t number) {
        ComponentDefinition definition;
        definition.name = concat("type_", number);
        definition.version = random_.below(9);
        definition.whole = coin();
        definition.enableable = coin();
        definition.many = coin();
        const std::uint32_t num_fields = random_.below(8);
        for (std::uint32_t f = 0; f < num_fields; ++f) definition.fields.push_back(field(f));
        for (FieldDefinition& field : definition.fields)
            if (field.type == FieldType::kEntity && field.array_length == 0 && !definition.many)
                field.relation = static_cast<Relation>(random_.below(4));
        return definition;
    }

    FieldDefinition field(std::uint32_t number) {
        FieldDefinition field;
        field.name = concat("field_", number);
        field.type = static_cast<FieldType>(1 + random_.below(kNumFieldTypes - 2));
        field.array_length = random_.below(3) == 0 ? 1 + random_.below(4) : 0;
        field.unit = coin() ? "m/s²" : "";
        field.split = field.array_length == 0 && field_type_lanes(field.type) > 1 && coin();
        if (field.type == FieldType::kBlobArray) field.element_type = coin() ? FieldType::kVec2 : FieldType::kUint16;
        if (field.type == FieldType::kFixedString) field.value_bytes = 2 + random_.below(20);
        if (field.type == FieldType::kEnum) {
            field.value_bytes = 1u << random_.below(4);
            for (std::uint32_t i = 0; i < 3; ++i)
                field.enumerators.push_back({concat("e", i), static_cast<std::int64_t>(i) * 30 - 30});
        }
        if (field.type == FieldType::kFloat && coin()) field.has_range = true, field.minimum = -1, field.maximum = 1;
        return field;
    }

    std::vector<std::byte> image(BlobWriter& blob, Model& model, const Schema& schema) {
        std::vector<std::byte> image(schema.struct_bytes());
        for (const Field& field : schema.fields())
            for (std::uint32_t i = 0; i < field.num_values(); ++i)
                fill(blob, model, field, image.data() + field.struct_offset + i * field.value_bytes);
        return image;
    }

    void fill(BlobWriter& blob, Model& model, const Field& field, std::byte* value) {
        switch (field.type) {
            case FieldType::kBool:
                *value = std::byte(coin());
                return;
            case FieldType::kEnum: {
                const std::int64_t number = field.enumerators[random_.below(3)].value;
                std::memcpy(value, &number, field.value_bytes);
                return;
            }
            case FieldType::kEntity: {
                const EntityBits index =
                    coin() ? kNoReference : random_.below(static_cast<std::uint32_t>(model.parents.size()));
                std::memcpy(value, &index, sizeof index);
                return;
            }
            case FieldType::kFixedString:
                std::memset(value, 'x', random_.below(field.value_bytes));
                return;
            case FieldType::kBlobArray: {
                std::vector<std::byte> bytes(random_.below(4) * field_type_bytes(field.element_type));
                for (std::byte& b : bytes) b = static_cast<std::byte>(random_.next());
                const BlobArrayBase array = blob.add_array(field.element_type, bytes);
                if (array.count != 0) model.arrays[array.offset] = bytes;
                std::memcpy(value, &array, sizeof array);
                return;
            }
            default:
                for (std::uint32_t i = 0; i < field.value_bytes; ++i) value[i] = static_cast<std::byte>(random_.next());
        }
    }

    bool coin() { return random_.below(2) == 0; }

    Random random_;
};

}  // namespace resource_test
