#include "shoal/source/compiler.h"

#include "shoal/base/clock.h"
#include "shoal/base/detail/hash_map.h"
#include "shoal/base/text.h"
#include "shoal/document/sjson.h"
#include "shoal/resource/detail/image_migration.h"
#include "shoal/resource/detail/old_words.h"
#include "shoal/resource/migration.h"
#include "shoal/source/detail/key_predictor.h"
#include "shoal/source/detail/source_keys.h"
#include "source/arena.h"
#include "source/compile_tree.h"
#include "source/entity_order.h"
#include "source/field_reader.h"
#include "source/layers.h"
#include "source/reference_index.h"
#include "source/source_versions.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <map>
#include <unordered_set>

namespace shoal {
namespace {

constexpr std::size_t kMaxSharedBytes = std::size_t(64) << 20;

/// Writes an entity index to an entity field of an image.
void put_reference(std::byte* value, std::uint32_t entity) {
    const EntityBits bits = entity == kNoBlobEntity ? ~EntityBits(0) : static_cast<EntityBits>(entity);
    std::memcpy(value, &bits, sizeof bits);
}

void clear_references(const Schema& schema, std::byte* image) {
    for (const Field& field : schema.fields())
        if (field.type == FieldType::kEntity)
            for (std::uint32_t i = 0; i < field.num_values(); ++i)
                put_reference(image + field.struct_offset + i * field.value_bytes, kNoBlobEntity);
}

/// The number of values kept as text because they have no schema, and the position of the first one.
struct KeptCount {
    std::uint64_t count = 0;
    SourcePosition first;
};
using KeptCounts = std::map<std::string_view, KeptCount>;

/// The compiler's data about one component type of the source.
struct TypePlan {
    std::string_view name;
    const RegisteredComponent* registered = nullptr;
    const Schema* schema = nullptr;  ///< nullptr: unknown
    KeyPredictor keys;               ///< the schema's fields
    bool has_references = false;
    bool has_groups = false;  ///< whether it has structs, whose field names contain dots
    KeptCounts kept_fields;
    std::vector<TypePlan> older;     ///< plans for older schemas that sources may be written for
    std::uint32_t text_version = 0;  ///< version of the texts that do not declare one

    struct Row {
        std::uint32_t entity;
        const MergedComponent* component;
    };
    std::vector<Row> rows;  ///< ordered by entity
};

/// An unknown field that is kept as text.
struct KeptField {
    std::string_view name;  ///< including the names of its structs
    Node node;
};

/// The finished image of a layer that many entities share.
struct SharedImage {
    const std::byte* image = nullptr;  ///< nullptr: not made yet
    std::vector<KeptField> kept;       ///< lowest layer first
};

/// Returns whether `group` is a struct of the component, which means that some field names begin with `group` and a
/// dot.
bool is_group(const Schema& schema, std::string_view group) {
    return std::any_of(schema.fields().begin(), schema.fields().end(), [&](const Field& field) {
        return field.name.size() > group.size() && field.name[group.size()] == '.' && field.name.starts_with(group);
    });
}

/// Returns the field that is set by a component written as a single value, or nullptr.
const Field* shorthand_field(const Schema& schema) {
    for (const Field& field : schema.fields())
        if (field.shorthand) return &field;
    return schema.fields().size() == 1 ? schema.fields().data() : nullptr;
}

/// Returns the node of a field such as "aabbox.min", which may also be written as "min" in the mapping "aabbox".
Node find_field_node(Node mapping, std::string_view name) {
    if (const Node node = mapping.find(name)) return node;
    for (std::size_t point = name.find('.'); point != std::string_view::npos; point = name.find('.', point + 1))
        if (const Node group = mapping.find(name.substr(0, point))) {
            if (group.is_null()) return group;  // resets all fields of the struct
            if (!group.is_mapping()) continue;
            if (const Node node = find_field_node(group, name.substr(point + 1))) return node;
        }
    return {};
}

/// Returns whether a node is a valid list of pairs, which is a mapping or a list of mappings with one key each.
bool is_list_of_pairs(Node node) {
    if (!node.is_list()) return node.is_mapping();
    return std::all_of(node.begin(), node.end(), [](Node pair) { return pair.is_mapping() && pair.size() == 1; });
}

/// Whether a key in a change to a component only repeats the component's type.
bool repeats_type(const TypePlan& plan, const ComponentLayer& layer, Node child) {
    if (layer.wrapped() || layer.below == nullptr || child.key() != "type" || !child.is_string()) return false;
    const Migrations* const migrations = plan.registered->migrations;
    return child.as_string() == plan.name ||
           (migrations != nullptr && std::ranges::count(migrations->old_names(), child.as_string()) != 0);
}

// --- images ----------------------------------------------------------------------------------------------------------

/// Returns a hint for a field that a different version of the component type has; empty if no version has it.
std::string version_hint(const TypePlan& plan, std::string_view field) {
    const Schema& newest = *plan.registered->schema;
    const auto say_so = [&](const Schema& schema) {
        return concat("say so at its top: _versions = { ", schema.name(), " = ", schema.version(), " }");
    };
    if (plan.schema->version() != newest.version() && newest.find_field(field) >= 0)
        return concat("version ", newest.version(), " has it; if this file is written for that, ", say_so(newest));
    for (const TypePlan& older : plan.older)
        if (older.schema->find_field(field) >= 0)
            return concat("version ", older.schema->version(), " had it; write what became of it, or, if this file is ",
                          "written for that version, ", say_so(*older.schema));
    return {};
}

/// Returns a layer's node for a field, or none.
Node field_node(const Schema& schema, const ComponentLayer& layer, const Field& field) {
    if (!layer.fields || layer.fields.is_null()) return {};
    if (!layer.fields.is_mapping()) return &field == shorthand_field(schema) ? layer.fields : Node();
    return is_consumed(layer, field.name) ? Node() : find_field_node(layer.fields, field.name);
}

/// Makes images of components from their layers.
class ComponentImages {
public:
    ComponentImages(const Composition& composition, const EntityOrder& order, const SourceRules& rules,
                    const SourceVersions& versions, Diagnostics& diagnostics, BlobWriter& blob)
        : composition_(composition),
          order_(order),
          rules_(rules),
          versions_(versions),
          diagnostics_(diagnostics),
          blob_(blob),
          references_(composition),
          shared_(composition.num_shared_layers()) {}

    /// Makes the image of a component, and keeps its unknown fields as text. If an error prevents this, reports it and
    /// returns false. Lifetime: the image is valid until the next call.
    bool make(TypePlan& plan, const TypePlan::Row& row, std::span<const std::byte>& image) {
        const std::size_t num_bytes = plan.schema->struct_bytes();
        if (!plan.older.empty() && is_of_older_version(plan, row)) {
            if (!make_from_versions(plan, row)) return false;
            image = {image_.data(), num_bytes};
        } else if (plan.registered->compile != nullptr && plan.registered->compile_scope == CompileScope::kComponent) {
            if (!compile_merged(plan, row)) return false;
            image = {image_.data(), num_bytes};
        } else {
            image = {merge_layer(plan, row, *row.component->top), num_bytes};
            if (plan.has_references) {
                if (image.data() != image_.data()) image_.assign(image.begin(), image.end());
                resolve_references(plan, row);
                image = {image_.data(), num_bytes};
            }
        }
        if (!kept_.empty()) keep_fields(plan, row.entity);
        return true;
    }

private:
    /// The compile host that a registered function uses to make image_.
    class FunctionCall final : public CompileHost {
    public:
        FunctionCall(ComponentImages& images, TypePlan& plan, std::uint32_t entity, const ComponentLayer& layer)
            : images_(images), plan_(plan), entity_(entity), layer_(layer) {}

        std::uint32_t find_entity(std::string_view reference) const override {
            const ReferenceIndex::Found found = images_.references_.find(entity_, reference);
            return images_.order_.blob_index(found.other == kNoBlobEntity ? found.entity : kNoBlobEntity);
        }
        bool read_field(Node node) override { return images_.apply_field(plan_, layer_, node, index_); }
        bool read_value(const Field& field, Node node, std::byte* value) override {
            return FieldReader{images_.diagnostics_, plan_.name, &images_.blob_}.read(field, node, value);
        }
        bool is_field(Node node) const override {
            return !is_consumed(layer_, node.key()) && !repeats_type(plan_, layer_, node);
        }

    private:
        ComponentImages& images_;
        TypePlan& plan_;
        std::uint32_t entity_;
        const ComponentLayer& layer_;
        int index_ = -1;
    };

    /// Makes the image of a component from the schema's defaults and all layers, lowest first. Images of prefab layers
    /// are made only once. Adds unknown fields to kept_. Lifetime: the image is valid until the next call.
    const std::byte* merge_layer(TypePlan& plan, const TypePlan::Row& row, const ComponentLayer& top) {
        const std::size_t num_bytes = plan.schema->struct_bytes();
        const std::byte* start = plan.schema->default_image().data();
        kept_.clear();
        layers_.clear();
        for (const ComponentLayer* layer = &top; layer != nullptr; layer = layer->below) {
            if (layer->shared_index != ComponentLayer::kNotShared) {
                SharedImage& shared = shared_[layer->shared_index];
                if (shared.image == nullptr && layer != &top && shared_bytes_ < kMaxSharedBytes) {
                    const std::vector<const ComponentLayer*> above = layers_;
                    merge_layer(plan, row, *layer);
                    layers_ = above;
                    kept_.clear();
                }
                if (shared.image != nullptr) {
                    start = shared.image;
                    kept_ = shared.kept;
                    break;
                }
            }
            layers_.push_back(layer);
        }
        if (layers_.empty()) return start;
        image_.resize(std::max<std::size_t>(num_bytes, 1));
        if (num_bytes != 0) std::memcpy(image_.data(), start, num_bytes);
        for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) apply(plan, row.entity, **layer);
        if (top.shared_index == ComponentLayer::kNotShared || shared_bytes_ >= kMaxSharedBytes) return image_.data();
        SharedImage& shared = shared_[top.shared_index];
        shared.image = arena_.copy(std::span<const std::byte>(image_)).data();
        shared.kept = kept_;
        shared_bytes_ += image_.size();
        return shared.image;
    }

    void apply(TypePlan& plan, std::uint32_t entity, const ComponentLayer& layer) {
        if (layer.has_other_keys) other_keys(plan, layer);
        const Node fields = layer.fields;
        if (!fields || fields.is_null()) return;
        int index = -1;
        if (fields.is_mapping() && plan.registered->compile != nullptr) {
            run_function(plan, entity, layer, fields);
            return;
        }
        if (!is_value(plan, fields)) {
            for (const Node child : fields) apply_field(plan, layer, child, index);
            return;
        }
        const Field* field = shorthand_field(*plan.schema);
        if (field != nullptr) return static_cast<void>(apply_value(plan, *field, fields));
        diagnostics_.error(fields.position(),
                           concat("component ", quoted(plan.name), " is given as ", kind_name(fields.kind()),
                                  " but has ", plan.schema->fields().size(), " fields"),
                           "write a mapping of fields");
    }

    /// Returns whether a component is written as the value of a single field. The value may be a mapping of pairs, or
    /// anything except a mapping.
    bool is_value(const TypePlan& plan, Node fields) const {
        if (!fields.is_mapping()) return true;
        const Field* field = shorthand_field(*plan.schema);
        if (field == nullptr || field->keys.empty() || fields.size() == 0) return false;
        return std::none_of(fields.begin(), fields.end(), [&](Node child) {
            return plan.schema->find_field(child.key()) >= 0 || is_group(*plan.schema, child.key());
        });
    }

    bool apply_field(TypePlan& plan, const ComponentLayer& layer, Node child, int& index) {
        if (!layer.wrapped() && is_consumed(layer, child.key())) return true;
        const int found = plan.keys.find(child.key(), index);
        if (found < 0) {
            if (plan.has_groups && is_group(*plan.schema, child.key()))
                return apply_group(plan, layer.fields, child.key(), child);
            return repeats_type(plan, layer, child) || (!layer.wrapped() && is_ignored(child.key())) ||
                   unknown_field(plan, child, child.key());
        }
        index = found;
        return apply_value(plan, plan.schema->fields()[static_cast<std::size_t>(found)], child);
    }

    /// Reads the fields of the component's struct `group` from `node`; null resets these fields.
    bool apply_group(TypePlan& plan, Node fields, std::string_view group, Node node) {
        const Schema& schema = *plan.schema;
        if (node.is_null()) {
            for (const Field& field : schema.fields())
                if (field.name.starts_with(concat(group, '.'))) apply_value(plan, field, node);
            return true;
        }
        if (!node.is_mapping()) {
            diagnostics_.error(node.position(),
                               concat("component ", quoted(plan.name), ", field ", quoted(group), ": this is ",
                                      kind_name(node.kind()), ", but the field has fields of its own"),
                               "write a mapping of fields");
            return false;
        }
        bool good = true;
        for (const Node child : node) {
            const std::string name = concat(group, '.', child.key());
            if (const Node other = fields.find(name)) {
                diagnostics_
                    .error(child.key_position(),
                           concat("component ", quoted(plan.name), " is given the field ", quoted(name), " twice"),
                           "remove one of them")
                    .note(other.key_position(), "the other is here");
                good = false;
                continue;
            }
            if (const int found = schema.find_field(name); found >= 0)
                good &= apply_value(plan, schema.fields()[static_cast<std::size_t>(found)], child);
            else if (is_group(schema, name))
                good &= apply_group(plan, fields, name, child);
            else
                good &= unknown_field(plan, child, name);
        }
        return good;
    }

    bool apply_value(TypePlan& plan, const Field& field, Node node) {
        std::byte* value = image_.data() + field.struct_offset;
        if (!field.keys.empty()) return apply_pairs(plan, field, node);
        if (!node.is_null() || field.type == FieldType::kEntity)
            return FieldReader{diagnostics_, plan.name, &blob_}.read(field, node, value);
        std::memcpy(value, plan.schema->default_image().data() + field.struct_offset, field.size);
        return true;
    }

    /// Reads a mapping, or a list of mappings with one key each, into an array of keys and an array of values.
    bool apply_pairs(TypePlan& plan, const Field& field, Node node) {
        const Field& keys = plan.schema->fields()[static_cast<std::size_t>(plan.schema->find_field(field.keys))];
        if (!node.is_null() && !is_list_of_pairs(node)) {
            diagnostics_.error(node.position(),
                               concat("component ", quoted(plan.name), ", field ", quoted(field.name), ": this is ",
                                      kind_name(node.kind()), ", but the field is an array with keys"),
                               "write a mapping, or a list of mappings with one key each");
            return false;
        }
        const bool has_numbers = keys.element_type <= FieldType::kUint64;
        DocumentBuilder key_list, value_list;
        key_list.begin_list(node.position());
        value_list.begin_list(node.position());
        const auto add = [&](Node pair) {
            const std::string_view key = pair.key();
            const auto reads = [&](auto& number) {
                const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), number);
                return has_numbers && !key.empty() && error == std::errc() && end == key.data() + key.size();
            };
            std::int64_t number = 0;
            std::uint64_t large = 0;
            if (reads(number))
                key_list.integer(number, pair.key_position());
            else if (reads(large))
                key_list.unsigned_integer(large, pair.key_position());
            else
                key_list.string(key, pair.key_position());
            value_list.value(pair);
        };
        for (const Node pair : node)
            if (node.is_list())
                add(*pair.begin());
            else
                add(pair);
        key_list.end();
        value_list.end();
        FieldReader reader{diagnostics_, plan.name, &blob_};
        const Document key_document = key_list.finish(), value_document = value_list.finish();
        bool good = reader.read(keys, key_document.root(), image_.data() + keys.struct_offset);
        good &= reader.read(field, value_document.root(), image_.data() + field.struct_offset);
        return good;
    }

    bool run_function(TypePlan& plan, std::uint32_t entity, const ComponentLayer& layer, Node node) {
        FunctionCall call(*this, plan, entity, layer);
        CompileOutput output(*plan.schema, std::span(image_.data(), plan.schema->struct_bytes()), blob_, call);
        const CompileInput input{node, *plan.schema, order_.blob_index(entity),
                                 composition_.entities()[entity].entity->name, diagnostics_};
        return plan.registered->compile(plan.registered->compile_context, input, output);
    }

    /// Makes image_ by merging all layers and calling a registered function once.
    bool compile_merged(TypePlan& plan, const TypePlan::Row& row) {
        const std::span<const std::byte> defaults = plan.schema->default_image();
        image_.assign(defaults.begin(), defaults.end());
        kept_.clear();
        clear_references(*plan.schema, image_.data());
        const Document merged = merge_layers(*row.component->top);
        return run_function(plan, row.entity, *row.component->top, merged.root());
    }

    bool is_ignored(std::string_view key) const {
        const std::vector<std::string>& ignored = rules_.ignored_keys;
        return std::find(ignored.begin(), ignored.end(), key) != ignored.end();
    }

    /// Keeps or reports the keys beside `data`.
    void other_keys(TypePlan& plan, const ComponentLayer& layer) {
        for (const Node child : layer.value)
            if (!is_wrapper_key(child.key()) && !is_ignored(child.key())) unknown_field(plan, child, child.key());
    }

    /// Keeps or reports a key that is not a field. Returns false if the key was reported.
    bool unknown_field(TypePlan& plan, Node child, std::string_view key) {
        if (rules_.keep_unknown_fields) {
            kept_.push_back({key.data() == child.key().data() ? key : arena_.copy(key), child});
            return true;
        }
        std::vector<std::string_view> names(plan.keys.names().begin(), plan.keys.names().end());
        names.insert(names.end(), plan.registered->more_keys.begin(), plan.registered->more_keys.end());
        if (std::find(names.begin(), names.end(), key) != names.end()) {
            diagnostics_.error(
                child.key_position(),
                concat("component ", quoted(plan.name), " has the field ", quoted(key), " beside its `data`"),
                "move it into `data`");
            return false;
        }
        const int close = closest_text(key, names.data(), names.size());
        std::string hint = close >= 0 ? concat("did you mean ", quoted(names[static_cast<std::size_t>(close)]), "?")
                                      : std::string("it has ");
        for (std::size_t i = 0; close < 0 && i < names.size(); ++i)
            append_text(hint, concat(i == 0 ? "" : ", ", names[i]));
        if (close < 0 && names.empty()) hint = "it has no fields; remove this";
        const bool is_older = plan.schema->version() != plan.registered->schema->version();
        if (std::string other = version_hint(plan, key); !other.empty()) hint = std::move(other);
        const bool may_be_older = close < 0 && !is_older && plan.older.empty();
        if (may_be_older && plan.registered->migrations != nullptr && plan.registered->migrations->has_steps())
            append_text(hint, concat("; if this file is older than version ", plan.schema->version(), " of ",
                                     quoted(plan.name), ", give the schema file of its time: --source-schema FILE"));
        diagnostics_.error(child.key_position(),
                           concat("component ", quoted(plan.name),
                                  is_older ? concat(" of version ", plan.schema->version()) : std::string(),
                                  " has no field ", quoted(key)),
                           std::move(hint));
        return false;
    }

    /// Keeps all unknown fields of the component as one string.
    void keep_fields(TypePlan& plan, std::uint32_t entity) {
        HashMap<std::string_view, std::uint32_t> group_of{Owner("compiler")};
        std::vector<std::pair<KeptField, std::vector<Node>>> groups;  // one group per name, lowest layer first
        for (const KeptField& kept : kept_) {
            const auto [group, is_new] = group_of.insert(kept.name, static_cast<std::uint32_t>(groups.size()));
            if (is_new) groups.push_back({kept, {}});
            groups[*group].second.push_back(kept.node);
        }
        DocumentBuilder builder;
        builder.begin_mapping();
        for (const auto& [first, same] : groups) {
            const SourcePosition position = first.node.key_position();
            builder.key(first.name, position);
            merge_values(builder, same);
            KeptCount& count = plan.kept_fields[first.name];
            if (count.count++ == 0) count.first = position;
        }
        builder.end();
        const Document document = builder.finish();
        blob_.add_kept_text(order_.blob_index(entity), plan.name, write_sjson(document.root()));
    }

    /// Returns the composed entity that a reference names, and reports errors.
    std::uint32_t resolve(const TypePlan& plan, std::uint32_t entity, const Field& field, Node node) {
        if (!node.is_string()) return kNoBlobEntity;
        const ReferenceIndex::Found found = references_.find(entity, node.as_string());
        const bool is_good = found.entity != kNoBlobEntity && found.other == kNoBlobEntity;
        const SourcePosition at = node.position();
        if (is_good || !bad_references_.insert(std::uint64_t(at.file) << 32 | at.offset).second) return found.entity;
        if (found.other != kNoBlobEntity) {
            const std::span<const ComposedEntity> entities = composition_.entities();
            diagnostics_
                .error(node.position(),
                       concat("component ", quoted(plan.name), ", field ", quoted(field.name),
                              ": several entities are called ", quoted(node.as_string())),
                       "name it by its GUID path")
                .note(entities[found.entity].entity->position, "one is here")
                .note(entities[found.other].entity->position, "another is here");
        } else {
            diagnostics_.error(node.position(),
                               concat("component ", quoted(plan.name), ", field ", quoted(field.name),
                                      ": there is no entity ", quoted(node.as_string())),
                               "write a name, a GUID path, `parent`, `self` or null");
        }
        return found.entity;
    }

    /// Sets each entity field of image_ from the highest layer that has a value for it.
    void resolve_references(TypePlan& plan, const TypePlan::Row& row) {
        clear_references(*plan.schema, image_.data());
        for (const Field& field : plan.schema->fields()) {
            if (field.type != FieldType::kEntity) continue;
            Node node;
            for (const ComponentLayer* layer = row.component->top; layer != nullptr && !node; layer = layer->below)
                node = field_node(*plan.schema, *layer, field);
            if (node) resolve_field(plan, row.entity, field, node);
        }
    }

    /// Sets an entity field of image_.
    void resolve_field(const TypePlan& plan, std::uint32_t entity, const Field& field, Node node) {
        std::byte* value = image_.data() + field.struct_offset;
        if (field.array_length == 0) return put_reference(value, order_.blob_index(resolve(plan, entity, field, node)));
        if (!node.is_list() || node.size() != field.array_length) return;  // the field reader has reported the error
        for (const Node element : node) {
            put_reference(value, order_.blob_index(resolve(plan, entity, field, element)));
            value += field.value_bytes;
        }
    }

    // --- texts of older versions -------------------------------------------------------------------------------------

    /// Returns the migration plan for the schema version that a layer is written for.
    TypePlan& plan_of(TypePlan& plan, const ComponentLayer& layer) {
        const std::uint32_t file = (layer.value ? layer.value : layer.fields).position().file;
        const std::uint32_t version = versions_.version(*plan.registered, file, plan.text_version);
        for (TypePlan& older : plan.older)
            if (older.schema->version() == version) return older;
        return plan;
    }

    bool is_of_older_version(TypePlan& plan, const TypePlan::Row& row) {
        for (const ComponentLayer* layer = row.component->top; layer != nullptr; layer = layer->below)
            if (&plan_of(plan, *layer) != &plan) return true;
        return false;
    }

    void fail_once(const ComponentLayer& layer, std::string problem, std::string hint) {
        if (failed_.insert(&layer).second)
            diagnostics_.error((layer.value.has_key() ? layer.value.key_position() : layer.value.position()),
                               std::move(problem), std::move(hint));
    }

    /// Makes image_ from layers that are written for several versions, lowest first. Each layer is applied in its own
    /// version. Unlike layers of the newest version, these layers do not share images.
    bool make_from_versions(TypePlan& plan, const TypePlan::Row& row) {
        if (plan.registered->compile != nullptr) {
            fail_once(
                *row.component->top,
                concat("component ", quoted(plan.name), " is written for an older version, and a function compiles it"),
                "such functions know the newest version only; write the component for that, and say so at the top of "
                "the file");
            return false;
        }
        std::vector<const ComponentLayer*> layers;
        for (const ComponentLayer* layer = row.component->top; layer != nullptr; layer = layer->below)
            layers.push_back(layer);
        std::reverse(layers.begin(), layers.end());
        kept_.clear();
        TypePlan* at = &plan_of(plan, *layers[0]);
        start(*at);
        for (const ComponentLayer* layer : layers) {
            TypePlan& wanted = plan_of(plan, *layer);
            if (wanted.schema->version() < at->schema->version()) {
                if (!apply_older(wanted, *at, row.entity, *layer)) return false;
                continue;
            }
            if (&wanted != at && !migrate_image(*at, wanted, *layer)) return false;
            at = &wanted;
            apply_with_references(*at, row.entity, *layer);
        }
        return at == &plan || migrate_image(*at, plan, *row.component->top);
    }

    /// Sets image_ to a component with default values.
    void start(const TypePlan& plan) { image_ = blob_default_image(*plan.schema); }

    void apply_with_references(TypePlan& plan, std::uint32_t entity, const ComponentLayer& layer) {
        apply(plan, entity, layer);
        for (const Field& field : plan.schema->fields())
            if (field.type == FieldType::kEntity)
                if (const Node node = field_node(*plan.schema, layer, field)) resolve_field(plan, entity, field, node);
    }

    bool migrate_image(const TypePlan& from, const TypePlan& to, const ComponentLayer& layer) {
        Result<ComponentImage> converted =
            convert_image(*from.schema, {std::move(image_), {}}, *to.schema, from.registered->migrations);
        if (converted) return image_ = std::move(converted->bytes), true;
        fail_once(layer,
                  concat("component ", quoted(from.name), " of version ", from.schema->version(),
                         " cannot become one of version ", to.schema->version(), ": ", converted.message()),
                  "correct its migrations, or the text");
        return false;
    }

    /// Applies a change that is written for an older version than the component it changes. Converts only the fields
    /// that the change sets.
    bool apply_older(TypePlan& older, const TypePlan& plan, std::uint32_t entity, const ComponentLayer& layer) {
        using Given = FieldColumns::Given;
        std::vector<std::byte> newer = std::move(image_);
        start(older);
        apply_with_references(older, entity, layer);
        ComponentImage change{std::move(image_), {}};
        for (const Field& field : older.schema->fields()) {
            const Node node = field_node(*older.schema, layer, field);
            const bool is_part = node && node.is_mapping() && field.keys.empty() && field_type_lanes(field.type) > 1 &&
                                 node.size() < field_type_lanes(field.type);
            const bool has_keys = std::ranges::any_of(older.schema->fields(), [&](const Field& pairs) {
                return pairs.keys == field.name && field_node(*older.schema, layer, pairs);
            });
            change.given.push_back(is_part ? Given::kPartly : node || has_keys ? Given::kYes : Given::kNo);
        }
        const Result<ComponentImage> converted =
            convert_image(*older.schema, change, *plan.schema, plan.registered->migrations);
        image_ = std::move(newer);
        if (converted) return take_given(*converted, older, plan, layer);
        fail_once(layer,
                  concat("the change of ", quoted(older.name), " of version ", older.schema->version(),
                         " cannot become one of version ", plan.schema->version(), ": ", converted.message()),
                  concat("write it for version ", plan.schema->version(), ", and say so at the top of the file"));
        return false;
    }

    bool take_given(const ComponentImage& change, const TypePlan& older, const TypePlan& plan,
                    const ComponentLayer& layer) {
        using Given = FieldColumns::Given;
        for (std::size_t i = 0; i < change.given.size(); ++i) {
            const Field& field = plan.schema->fields()[i];
            if (change.given[i] == Given::kYes)
                std::memcpy(image_.data() + field.struct_offset, change.bytes.data() + field.struct_offset, field.size);
            if (change.given[i] != Given::kPartly) continue;
            fail_once(layer,
                      concat("this change is written for version ", older.schema->version(), " of ", quoted(older.name),
                             ", and says only a part of what is ", quoted(field.name), " in version ",
                             plan.schema->version(), ", which the text that it changes is written for"),
                      concat("say all of it, or write the change for version ", plan.schema->version(),
                             ", and say so at the top of the file: _versions = { ", plan.name, " = ",
                             plan.schema->version(), " }"));
            return false;
        }
        return true;
    }

    const Composition& composition_;
    const EntityOrder& order_;
    const SourceRules& rules_;
    const SourceVersions& versions_;
    Diagnostics& diagnostics_;
    BlobWriter& blob_;
    ReferenceIndex references_;
    Arena arena_;
    std::vector<SharedImage> shared_;  // indexed by ComponentLayer::shared_index
    std::size_t shared_bytes_ = 0;
    // The state of the component that is being made.
    std::vector<std::byte> image_;
    std::vector<const ComponentLayer*> layers_;
    std::vector<KeptField> kept_;
    std::unordered_set<const ComponentLayer*> failed_;  // shared layers whose errors were reported
    std::unordered_set<std::uint64_t> bad_references_;  // by position; reported only once, even if a prefab is copied
};

// --- the blob --------------------------------------------------------------------------------------------------------

/// Counts line ends eight bytes at a time.
std::uint32_t num_line_ends(std::string_view text) {
    constexpr std::uint64_t kOnes = 0x0101010101010101, kLow = 0x7F7F7F7F7F7F7F7F;
    std::uint32_t count = 0;
    std::size_t i = 0;
    for (; i + 8 <= text.size(); i += 8) {
        std::uint64_t word;
        std::memcpy(&word, text.data() + i, 8);
        word ^= kOnes * '\n';
        const std::uint64_t others = ((word & kLow) + kLow) | word | kLow;  // upper bit: not a line end
        count += static_cast<std::uint32_t>(((~others >> 7) * kOnes) >> 56);
    }
    for (; i < text.size(); ++i) count += text[i] == '\n';
    return count;
}

/// Finds the line numbers of positions. Positions in text order are found in one pass; for others, Diagnostics is used.
class LineCursor {
public:
    LineCursor(const Diagnostics& diagnostics, std::uint32_t file)
        : diagnostics_(diagnostics), file_(file), text_(file == 0 ? std::string_view() : diagnostics.text(file)) {}

    std::uint32_t line_of(SourcePosition position) {
        if (position.file != file_ || position.offset < offset_ || position.offset > text_.size())
            return diagnostics_.locate(position).line;
        const std::string_view passed = text_.substr(offset_, position.offset - offset_);
        line_ += num_line_ends(passed);
        offset_ = position.offset;
        return line_;
    }

private:
    const Diagnostics& diagnostics_;
    std::uint32_t file_;
    std::string_view text_;
    std::uint32_t offset_ = 0;
    std::uint32_t line_ = 1;
};

/// A compilation, which processes the entities first and then the component types.
class Compilation {
public:
    Compilation(const Composition& composition, const ComponentRegistry& registry, const CompileOptions& options,
                Diagnostics& diagnostics)
        : composition_(composition),
          registry_(registry),
          options_(options),
          diagnostics_(diagnostics),
          order_(composition),
          versions_(composition, registry, options.rules, diagnostics),
          images_(composition, order_, options.rules, versions_, diagnostics, blob_),
          plans_(composition.types().size()) {}

    /// Fills the blob, and reports all errors.
    void run(CompiledSource& result) {
        plan_types();
        add_entities();
        group_components();
        std::vector<TypePlan*> order;
        for (TypePlan& plan : plans_) {
            if (plan.rows.empty()) continue;
            if (plan.schema != nullptr)
                order.push_back(&plan);
            else if (options_.rules.keep_unknown_components)
                keep_type(plan, result);
            else
                unknown_type(plan);
        }
        std::sort(order.begin(), order.end(), [](const TypePlan* a, const TypePlan* b) {
            const std::int32_t order_a = a->registered->spawn_order, order_b = b->registered->spawn_order;
            return order_a != order_b ? order_a < order_b : a->name < b->name;
        });
        for (const TypePlan* plan : order) num_rows_ += plan->rows.size();
        for (TypePlan* plan : order) compile_type(*plan, result);
        keep_entity_keys(kNoBlobEntity, composition_.other_keys());
        warn_kept(result);
        add_origin();
        result.num_entities = composition_.entities().size();
        for (const ComposedEntity& entity : composition_.entities()) result.num_roots += entity.parent == kNoBlobEntity;
        result.dependencies.assign(composition_.dependencies().begin(), composition_.dependencies().end());
    }

    BlobWriter& blob() { return blob_; }

private:
    void plan_types() {
        for (std::size_t i = 0; i < plans_.size(); ++i) {
            TypePlan& plan = plans_[i];
            plan.name = composition_.types()[i];
            plan.registered = registry_.find(plan.name);
            if (plan.registered == nullptr || plan.registered->schema == nullptr) continue;
            set_schema(plan, *plan.registered->schema);
            plan.text_version = plan.schema->version();
            for (const Schema* older : versions_.older(*plan.registered)) {
                TypePlan& added = plan.older.emplace_back();
                added.name = older->name();
                added.registered = plan.registered;
                set_schema(added, *older);
                plan.text_version = std::min(plan.text_version, older->version());
            }
        }
    }

    static void set_schema(TypePlan& plan, const Schema& schema) {
        plan.schema = &schema;
        plan.has_references = schema.has(FieldType::kEntity);
        std::vector<std::string_view> names;
        for (const Field& field : schema.fields()) {
            names.push_back(field.name);
            plan.has_groups |= field.name.find('.') != std::string::npos;
        }
        plan.keys = KeyPredictor(names);
    }

    void add_entities() {
        const std::span<const ComposedEntity> entities = composition_.entities();
        std::uint32_t file = 0;
        LineCursor lines(diagnostics_, entities.empty() ? 0 : entities[0].entity->position.file);
        std::string_view file_name;
        std::vector<std::uint32_t> line_of;  // line numbers; finding them in text order is faster
        for (const ComposedEntity& composed : entities) line_of.push_back(lines.line_of(composed.entity->position));
        for (const std::uint32_t i : order_.composed()) {
            const MergedEntity& entity = *entities[i].entity;
            if (entity.position.file != file) {
                file = entity.position.file;
                file_name = composition_.source_name(file);
            }
            blob_.add_entity(
                {order_.blob_index(entities[i].parent), entities[i].guid, entity.name, file_name, line_of[i]});
        }
        for (std::uint32_t i = 0; i < entities.size(); ++i)
            if (!entities[i].entity->other_keys.empty())
                keep_entity_keys(order_.blob_index(i), entities[i].entity->other_keys);
    }

    void keep_entity_keys(std::uint32_t entity, std::span<const Node> keys) {
        HashMap<std::string_view, std::size_t> last_of{Owner("compiler")};
        for (std::size_t i = 0; i < keys.size(); ++i) last_of.set(keys[i].key(), i);
        for (std::size_t i = 0; i < keys.size(); ++i) {
            if (last_of.find_or(keys[i].key(), i) != i) continue;  // a later text has the same key
            KeptCount& count = kept_keys_[keys[i].key()];
            if (count.count++ == 0) count.first = keys[i].key_position();
            DocumentBuilder builder;
            builder.begin_mapping();
            builder.member(keys[i]);
            builder.end();
            const Document document = builder.finish();
            blob_.add_kept_text(entity, "", write_sjson(document.root()));
        }
    }

    // --- grouping ----------------------------------------------------------------------------------------------------

    /// Checks that the entity does not already have a component of this type. For a singleton, checks the whole source.
    bool check_count(const TypePlan& plan, const MergedComponent& component, std::uint32_t entity) {
        if (plan.schema == nullptr || plan.schema->many() || plan.rows.empty()) return true;
        const bool is_same_entity = plan.rows.back().entity == entity;
        if (!is_same_entity && !plan.schema->singleton()) return true;
        const ComponentLayer* declared = component.top;
        while (declared->below != nullptr) declared = declared->below;
        if (doubles_.insert(declared).second)
            diagnostics_
                .error(component.position,
                       concat(is_same_entity ? "this entity has two components of type "
                                             : "this is the second component of type ",
                              quoted(plan.name), is_same_entity ? "" : ", of which a world has one"),
                       is_same_entity ? "delete one of them; only component types declared with `many = true` may "
                                        "occur more than once"
                                      : "delete one of them, or declare the type without `singleton = true`")
                .note(plan.rows.back().component->position, "the other is here");
        return false;
    }

    void group_components() {
        const std::span<const ComposedEntity> entities = composition_.entities();
        for (std::uint32_t i = 0; i < entities.size(); ++i)
            for (const MergedComponent& component : entities[i].entity->components) {
                TypePlan& plan = plans_[component.type];
                if (check_count(plan, component, i)) plan.rows.push_back({i, &component});
            }
    }

    void unknown_type(const TypePlan& plan) {
        std::vector<std::string_view> names;
        for (const RegisteredComponent* known : registry_.components())
            if (known->schema != nullptr) names.push_back(known->name);
        const int close = closest_text(plan.name, names.data(), names.size());
        const bool has_function = plan.registered != nullptr;
        for (const TypePlan::Row& row : plan.rows) {
            const ComponentLayer* declared = row.component->top;
            while (declared->below != nullptr) declared = declared->below;
            if (!doubles_.insert(declared).second) continue;
            SourcePosition position = row.component->position;
            for (const std::string_view key : {"type", "_type"})
                if (const Node type = declared->value.find(key)) position = type.position();
            diagnostics_.error(
                position, concat("there is no component type ", quoted(plan.name)),
                has_function ? "functions are registered for it, but no schema"
                : close >= 0 ? concat("did you mean ", quoted(names[static_cast<std::size_t>(close)]), "?")
                             : "give a schema file that declares it, or one that says `unknown_components = keep`");
        }
    }

    // --- components --------------------------------------------------------------------------------------------------

    void compile_type(TypePlan& plan, CompiledSource& result) {
        const Result<std::uint32_t> type = blob_.add_component_type(*plan.schema, plan.registered->spawn_order);
        if (!type) {
            diagnostics_.error(plan.rows[0].component->position, std::string(type.message()));
            return;
        }
        blob_.reserve_components(*type, plan.rows.size());
        std::vector<std::uint32_t> owners;  // indices of composed entities
        owners.reserve(plan.rows.size());
        const std::size_t num_rows = plan.rows.size();
        for (std::size_t i = 0; i < num_rows; ++i) {
            const TypePlan::Row& row = plan.rows[i];
            // Components of one type are far apart in memory, so the next one is prefetched.
            if (i + 8 < num_rows) __builtin_prefetch(plan.rows[i + 8].component);
            if (i + 4 < num_rows) __builtin_prefetch(plan.rows[i + 4].component->top);
            options_.compose.progress.tell("components compiled", ++num_compiled_rows_, num_rows_);
            std::span<const std::byte> image;
            if (!images_.make(plan, row, image)) continue;
            blob_.add_component(*type, order_.blob_index(row.entity), image);
            owners.push_back(row.entity);
        }
        const std::size_t count = owners.size();
        const bool is_tree = plan.registered->blob_order == BlobOrder::kDepthFirst;
        blob_.order_components(*type, is_tree ? order_.depth_first(owners) : order_.by_entity(owners));
        result.components.push_back({std::string(plan.name), count});
        result.num_components += count;
    }

    void keep_type(TypePlan& plan, CompiledSource& result) {
        for (const TypePlan::Row& row : plan.rows) {
            const Document merged = merge_layers(*row.component->top);
            const bool is_empty = merged.root().is_null();
            blob_.add_kept_text(order_.blob_index(row.entity), plan.name,
                                is_empty ? std::string() : write_sjson(merged.root()));
        }
        result.num_kept_components += plan.rows.size();
        diagnostics_.warning(plan.rows[0].component->position,
                             concat("kept ", plan.rows.size(), plan.rows.size() == 1 ? " component" : " components",
                                    " of type ", quoted(plan.name), " as text"),
                             "no schema knows this type; declare it in a schema file to use it");
    }

    void warn_kept(CompiledSource& result) {
        const auto warn = [&](const KeptCounts& counts, std::string_view owner) {
            for (const auto& [key, kept] : counts) {
                diagnostics_.warning(
                    kept.first,
                    concat("kept ", kept.count, kept.count == 1 ? " value" : " values", " of ", quoted(key), owner,
                           " as text"),
                    "no schema knows it; declare it, or list it under `ignored_keys`, in a schema file");
                result.num_kept_fields += kept.count;
            }
        };
        for (const TypePlan& plan : plans_)
            warn(plan.kept_fields, concat(" in components of type ", quoted(plan.name)));
        warn(kept_keys_, composition_.is_level() ? " in the level or its entities" : " in entities");
    }

    void add_origin() {
        for (const SourceDependency& dependency : composition_.dependencies())
            blob_.add_dependency(dependency.kind, dependency.name, dependency.hash);
        blob_.set_origin(compiler_version(options_.program), rules_hash(options_.rules));
        for (const std::string_view type : composition_.types())
            blob_.add_origin_type(type, type_hash(registry_, type));
    }

    const Composition& composition_;
    const ComponentRegistry& registry_;
    const CompileOptions& options_;
    Diagnostics& diagnostics_;
    BlobWriter blob_;
    EntityOrder order_;
    SourceVersions versions_;
    ComponentImages images_;
    std::vector<TypePlan> plans_;  // parallel to Composition::types()
    KeptCounts kept_keys_;
    std::unordered_set<const ComponentLayer*> doubles_;  // duplicates that were reported
    std::uint64_t num_rows_ = 0, num_compiled_rows_ = 0;
};

// --- the whole -------------------------------------------------------------------------------------------------------

/// Fills in the inputs of a result, even if it was not composed.
void tell_inputs(const std::optional<Composition>& composition, const ComponentRegistry& registry,
                 const CompileOptions& options) {
    if (options.inputs == nullptr) return;
    options.inputs->compiler = compiler_version(options.program);
    options.inputs->rules = rules_hash(options.rules);
    options.inputs->types.clear();
    if (!composition) return;
    for (const std::string_view type : composition->types())
        options.inputs->types.push_back({std::string(type), type_hash(registry, type)});
}

/// Returns the name of a resource, which is its path inside the root without the extension.
std::string resource_name(std::string_view source_name) {
    if (!source_name.empty() && source_name[0] == '$')
        source_name.remove_prefix(std::min(source_name.find('/') + 1, source_name.size()));
    return std::string(without_extension(source_name));
}

struct Problems {
    explicit Problems(const Diagnostics& of)
        : errors(of.num_errors()), warnings(of.num_warnings()), entries(of.entries().size()) {}
    std::size_t errors, warnings, entries;
};

/// Sorts the reports added since `before` by position, because component types are compiled one after the other.
/// Returns an error if the compilation must stop.
Status judge(std::string_view what, Diagnostics& diagnostics, const Problems& before, bool strict) {
    diagnostics.sort_by_place(before.entries);
    const std::size_t errors = diagnostics.num_errors() - before.errors,
                      warnings = diagnostics.num_warnings() - before.warnings;
    const auto counted = [](std::size_t count, std::string_view word) {
        return concat(count, ' ', word, count == 1 ? "" : "s");
    };
    if (errors != 0) return Status::error(concat(what, ": ", counted(errors, "error")));
    if (strict && warnings != 0)
        return Status::error(
            concat(what, ": ", counted(warnings, "warning"),
                   warnings == 1 ? ", which counts as an error here" : ", which count as errors here"));
    return {};
}

/// compose(options) makes the composition.
template <class Compose>
Result<CompiledSource> compile(std::string_view what, Compose&& compose, const ComponentRegistry& registry,
                               const CompileOptions& options, Diagnostics& diagnostics, bool makes_blob) {
    const Problems before(diagnostics);
    const std::int64_t begin = monotonic_ns();
    const std::optional<Composition> composition = compose(compose_options(options, registry));
    const std::int64_t start = monotonic_ns();
    tell_inputs(composition, registry, options);
    if (!composition) return judge(what, diagnostics, before, options.strict);
    CompiledSource result;
    result.compose_ns = start - begin;
    Compilation compilation(*composition, registry, options, diagnostics);
    compilation.run(result);
    result.num_warnings = diagnostics.num_warnings() - before.warnings;
    result.compile_ns = monotonic_ns() - start;
    if (Status status = judge(what, diagnostics, before, options.strict); !status) return status;
    if (!makes_blob) return result;
    std::string_view source;
    if (!composition->dependencies().empty()) source = composition->dependencies()[0].name;
    compilation.blob().set_name(options.name.empty() ? resource_name(source.empty() ? what : source) : options.name);
    Result<std::vector<std::byte>> bytes = compilation.blob().write(options.blob);
    if (!bytes) return Status::error(concat(what, ": ", bytes.message()));
    result.blob = std::move(bytes).value();
    result.write_ns = monotonic_ns() - start - result.compile_ns;
    return result;
}

Result<CompiledSource> compile_path(const std::string& path, const ComponentRegistry& registry,
                                    const CompileOptions& options, Diagnostics& diagnostics, bool makes_blob) {
    const auto composed = [&](const ComposeOptions& composing) { return compose(path, composing, diagnostics); };
    return compile(path, composed, registry, options, diagnostics, makes_blob);
}

}  // namespace

ComposeOptions compose_options(const CompileOptions& options) {
    ComposeOptions result = options.compose;
    if (options.inputs != nullptr) result.dependencies = &options.inputs->files;
    result.ignored_keys.insert(result.ignored_keys.end(), options.rules.ignored_keys.begin(),
                               options.rules.ignored_keys.end());
    result.components_in_files.insert(result.components_in_files.end(), options.rules.components_in_files.begin(),
                                      options.rules.components_in_files.end());
    result.keep_unknown_keys = options.rules.keep_unknown_fields;
    result.renamed_keys = options.rules.renamed_keys;
    result.level_entities = options.rules.level_entities;
    return result;
}

ComposeOptions compose_options(const CompileOptions& options, const ComponentRegistry& registry) {
    ComposeOptions result = compose_options(options);
    for (const RegisteredComponent* component : registry.components())
        if (component->migrations != nullptr)
            for (const std::string& name : component->migrations->old_names())
                if (registry.find(name) == nullptr) result.renamed_types.push_back({name, component->name});
    for (const auto& [old, name] : old_words::kComponentTypes)
        if (registry.find(name) != nullptr && registry.find(old) == nullptr)
            result.old_words.push_back({std::string(old), std::string(name)});
    return result;
}

Result<CompiledSource> compile_source(const std::string& path, const ComponentRegistry& registry,
                                      const CompileOptions& options, Diagnostics& diagnostics) {
    return compile_path(path, registry, options, diagnostics, true);
}

Result<CompiledSource> check_source(const std::string& path, const ComponentRegistry& registry,
                                    const CompileOptions& options, Diagnostics& diagnostics) {
    return compile_path(path, registry, options, diagnostics, false);
}

Result<CompiledSource> compile_file(std::uint32_t file, const ComponentRegistry& registry,
                                    const CompileOptions& options, Diagnostics& diagnostics) {
    const auto composed = [&](const ComposeOptions& composing) { return compose_file(file, composing, diagnostics); };
    return compile(diagnostics.name(file), composed, registry, options, diagnostics, true);
}

void check_tree(Node root, const ComponentRegistry& registry, const CompileOptions& options, Diagnostics& diagnostics) {
    const std::size_t before = diagnostics.entries().size();
    const std::optional<Composition> composition = compose_tree(root, compose_options(options, registry), diagnostics);
    if (composition) {
        CompiledSource result;
        Compilation(*composition, registry, options, diagnostics).run(result);
    }
    diagnostics.sort_by_place(before);
}

}  // namespace shoal
