#include "source/compiler_state.h"

#include "shoal/base/text.h"
#include "shoal/document/sjson.h"
#include "source/field_reader.h"
#include "source/layers.h"

#include <algorithm>
#include <cstring>

namespace shoal {
namespace {

constexpr std::size_t kMaxSharedBytes = std::size_t(64) << 20;

/// An entity field's value in an image.
void put_reference(std::byte* value, std::uint64_t entity) {
    const EntityBits bits = entity == kNoBlobEntity ? ~EntityBits(0) : static_cast<EntityBits>(entity);
    std::memcpy(value, &bits, sizeof bits);
}

}  // namespace

void Compilation::clear_references(const Schema& schema, std::byte* image) const {
    for (const Field& field : schema.fields())
        if (field.type == FieldType::kEntity)
            for (std::uint32_t i = 0; i < field.num_values(); ++i)
                put_reference(image + field.struct_offset + i * field.value_bytes, kNoBlobEntity);
}

/// Makes the image of a component: the schema's defaults, then each layer, lowest first. What prefabs say is made
/// once. Leaves unknown fields in kept_. Lifetime: until the next call.
const std::byte* Compilation::make_image(TypePlan& plan, const TypePlan::Row& row, const ComponentLayer& top) {
    const std::size_t num_bytes = plan.schema->struct_bytes();
    const std::byte* start = plan.schema->default_image().data();
    kept_.clear();
    layers_.clear();
    for (const ComponentLayer* layer = &top; layer != nullptr; layer = layer->below) {
        if (layer->shared_index != ComponentLayer::kNotShared) {
            SharedImage& shared = shared_[layer->shared_index];
            if (shared.image == nullptr && layer != &top && shared_bytes_ < kMaxSharedBytes) {
                const std::vector<const ComponentLayer*> above = layers_;
                make_image(plan, row, *layer);
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

void Compilation::apply(TypePlan& plan, std::uint32_t entity, const ComponentLayer& layer) {
    if (layer.has_other_keys) other_keys(plan, layer);
    const Node fields = layer.fields;
    if (!fields || fields.is_null()) return;
    int index = -1;
    if (fields.is_mapping() && plan.registered->compile != nullptr) {
        run_function(plan, entity, layer, fields);
        return;
    }
    if (fields.is_mapping()) {
        for (const Node child : fields) apply_field(plan, layer, child, index);
        return;
    }
    if (plan.schema->fields().size() != 1) {
        diagnostics_.error(fields.position(),
                           concat("component ", quoted(plan.name), " is given as ", kind_name(fields.kind()),
                                  " but has ", plan.schema->fields().size(), " fields"),
                           "write a mapping of fields");
        return;
    }
    const Field& field = plan.schema->fields()[0];
    FieldReader{diagnostics_, plan.name, &blob_}.read(field, fields, image_.data() + field.struct_offset);
}

bool Compilation::apply_field(TypePlan& plan, const ComponentLayer& layer, Node child, int& index) {
    if (!layer.wrapped() && is_consumed(layer, child.key())) return true;
    const int found = plan.keys.find(child.key(), index);
    if (found < 0) {
        const bool repeats_type = !layer.wrapped() && layer.below != nullptr && child.key() == "type" &&
                                  child.is_string() && child.as_string() == plan.name;
        return repeats_type || (!layer.wrapped() && is_ignored(child.key())) || unknown_field(plan, child);
    }
    index = found;
    const Field& field = plan.schema->fields()[static_cast<std::size_t>(found)];
    std::byte* value = image_.data() + field.struct_offset;
    if (!child.is_null() || field.type == FieldType::kEntity)
        return FieldReader{diagnostics_, plan.name, &blob_}.read(field, child, value);
    std::memcpy(value, plan.schema->default_image().data() + field.struct_offset, field.size);
    return true;
}

/// What a registered function may ask of the compiler while it makes image_.
class Compilation::FunctionCall final : public CompileHost {
public:
    FunctionCall(Compilation& compilation, TypePlan& plan, std::uint32_t entity, const ComponentLayer& layer)
        : compilation_(compilation), plan_(plan), entity_(entity), layer_(layer) {}

    std::uint32_t find_entity(std::string_view reference) const override {
        const ReferenceIndex::Found found = compilation_.references_.find(entity_, reference);
        return found.other == kNoBlobEntity ? found.entity : kNoBlobEntity;
    }
    bool read_field(Node node) override { return compilation_.apply_field(plan_, layer_, node, index_); }
    bool read_value(const Field& field, Node node, std::byte* value) override {
        return FieldReader{compilation_.diagnostics_, plan_.name, &compilation_.blob_}.read(field, node, value);
    }

private:
    Compilation& compilation_;
    TypePlan& plan_;
    std::uint32_t entity_;
    const ComponentLayer& layer_;
    int index_ = -1;
};

bool Compilation::run_function(TypePlan& plan, std::uint32_t entity, const ComponentLayer& layer, Node node) {
    FunctionCall call(*this, plan, entity, layer);
    CompileOutput output(*plan.schema, std::span(image_.data(), plan.schema->struct_bytes()), blob_, call);
    const CompileInput input{node, *plan.schema, entity, composition_.entities()[entity].entity->name, diagnostics_};
    return plan.registered->compile(plan.registered->compile_context, input, output);
}

/// Makes image_ with a registered function from all layers at once.
bool Compilation::compile_merged(TypePlan& plan, const TypePlan::Row& row) {
    const std::span<const std::byte> defaults = plan.schema->default_image();
    image_.assign(defaults.begin(), defaults.end());
    kept_.clear();
    clear_references(*plan.schema, image_.data());
    const Document merged = merge_layers(*row.component->top);
    return run_function(plan, row.entity, *row.component->top, merged.root());
}

bool Compilation::is_ignored(std::string_view key) const {
    const std::vector<std::string>& ignored = options_.rules.ignored_keys;
    return std::find(ignored.begin(), ignored.end(), key) != ignored.end();
}

/// Keys beside `data`.
void Compilation::other_keys(TypePlan& plan, const ComponentLayer& layer) {
    for (const Node child : layer.value)
        if (std::find(std::begin(kWrapperKeys), std::end(kWrapperKeys), child.key()) == std::end(kWrapperKeys) &&
            !is_ignored(child.key()))
            unknown_field(plan, child);
}

/// Keeps or reports a key that no field has. False: reported.
bool Compilation::unknown_field(TypePlan& plan, Node child) {
    const std::string_view key = child.key();
    if (options_.rules.keep_unknown_fields) {
        kept_.push_back(child);
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
    for (std::size_t i = 0; close < 0 && i < names.size(); ++i) append_text(hint, concat(i == 0 ? "" : ", ", names[i]));
    if (close < 0 && names.empty()) hint = "it has no fields; remove this";
    diagnostics_.error(child.key_position(), concat("component ", quoted(plan.name), " has no field ", quoted(key)),
                       std::move(hint));
    return false;
}

/// Keeps the unknown fields of the component at hand as one text.
void Compilation::keep_fields(TypePlan& plan, std::uint32_t entity) {
    DocumentBuilder builder;
    builder.begin_mapping();
    std::vector<Node> same;
    for (std::size_t i = 0; i < kept_.size(); ++i) {
        const auto has_key = [&](Node node) { return node.key() == kept_[i].key(); };
        if (std::any_of(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(i), has_key)) continue;
        same.clear();
        std::copy_if(kept_.begin() + static_cast<std::ptrdiff_t>(i), kept_.end(), std::back_inserter(same), has_key);
        builder.key(kept_[i]);
        merge_values(builder, same);
        KeptCount& count = plan.kept_fields[kept_[i].key()];
        if (count.count++ == 0) count.first = kept_[i].key_position();
    }
    builder.end();
    const Document document = builder.finish();
    blob_.add_kept_text(entity, plan.name, write_sjson(document.root()));
}

std::uint64_t Compilation::resolve(const TypePlan& plan, std::uint32_t entity, const Field& field, Node node) {
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

/// Sets the entity fields of image_, each from the highest layer that says something of it.
void Compilation::resolve_references(TypePlan& plan, const TypePlan::Row& row) {
    clear_references(*plan.schema, image_.data());
    for (const Field& field : plan.schema->fields()) {
        if (field.type != FieldType::kEntity) continue;
        Node node;
        for (const ComponentLayer* layer = row.component->top; layer != nullptr && !node; layer = layer->below) {
            if (!layer->fields || layer->fields.is_null()) continue;
            if (!layer->fields.is_mapping())
                node = layer->fields;
            else if (!is_consumed(*layer, field.name))
                node = layer->fields.find(field.name);
        }
        if (!node) continue;
        std::byte* value = image_.data() + field.struct_offset;
        if (field.array_length == 0) {
            put_reference(value, resolve(plan, row.entity, field, node));
            continue;
        }
        if (!node.is_list() || node.size() != field.array_length) continue;  // reported by the field reader
        for (const Node element : node) {
            put_reference(value, resolve(plan, row.entity, field, element));
            value += field.value_bytes;
        }
    }
}

}  // namespace shoal
