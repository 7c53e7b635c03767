#pragma once
// One compilation in progress. compiler.cpp goes through entities and component types, component_images.cpp makes the
// bytes of components.

#include "shoal/source/compiler.h"
#include "source/arena.h"
#include "source/key_predictor.h"
#include "source/reference_index.h"

#include <map>
#include <string>
#include <unordered_set>
#include <vector>

namespace shoal {

/// How often something that no schema knows was kept, and where first.
struct KeptCount {
    std::uint64_t count = 0;
    SourcePosition first;
};
using KeptCounts = std::map<std::string_view, KeptCount>;

/// What the compiler knows of one component type of the source.
struct TypePlan {
    std::string_view name;
    const RegisteredComponent* registered = nullptr;
    const Schema* schema = nullptr;  ///< nullptr: unknown
    std::uint32_t blob_type = 0;
    KeyPredictor keys;      ///< the schema's fields
    std::string_view bare;  ///< the field that a component given as a value sets
    bool has_references = false;
    KeptCounts kept_fields;

    struct Row {
        std::uint32_t entity;
        const MergedComponent* component;
    };
    std::vector<Row> rows;  ///< by entity
};

/// A finished image of a layer that many entities share.
struct SharedImage {
    const std::byte* image = nullptr;  ///< nullptr: not made yet
    std::vector<Node> kept;            ///< unknown fields, lowest layer first
};

class Compilation {
    class FunctionCall;

public:
    Compilation(const Composition& composition, const ComponentRegistry& registry, const CompileOptions& options,
                Diagnostics& diagnostics);

    /// Fills the blob; every error is reported.
    void run(CompiledSource& result);
    BlobWriter& blob() { return blob_; }

private:
    // --- compiler.cpp
    void plan_types();
    void unknown_type(const TypePlan& plan);
    void add_entities();
    void keep_entity_keys(std::uint32_t entity, std::span<const Node> keys);
    void group_components();
    bool check_single(const TypePlan& plan, const MergedComponent& component, std::uint32_t entity);
    void compile_type(TypePlan& plan, CompiledSource& result);
    void keep_type(TypePlan& plan, CompiledSource& result);
    void warn_kept(CompiledSource& result);

    // --- component_images.cpp
    const std::byte* make_image(TypePlan& plan, const TypePlan::Row& row, const ComponentLayer& top);
    void apply(TypePlan& plan, std::uint32_t entity, const ComponentLayer& layer);
    bool apply_field(TypePlan& plan, const ComponentLayer& layer, Node child, int& index);
    bool run_function(TypePlan& plan, std::uint32_t entity, const ComponentLayer& layer, Node node);
    bool compile_merged(TypePlan& plan, const TypePlan::Row& row);
    bool unknown_field(TypePlan& plan, Node child);
    bool is_ignored(std::string_view key) const;
    void other_keys(TypePlan& plan, const ComponentLayer& layer);
    void keep_fields(TypePlan& plan, std::uint32_t entity);
    void resolve_references(TypePlan& plan, const TypePlan::Row& row);
    std::uint64_t resolve(const TypePlan& plan, std::uint32_t entity, const Field& field, Node node);
    void clear_references(const Schema& schema, std::byte* image) const;

    const Composition& composition_;
    const ComponentRegistry& registry_;
    const CompileOptions& options_;
    Diagnostics& diagnostics_;
    BlobWriter blob_;
    ReferenceIndex references_;
    std::vector<TypePlan> plans_;  // by Composition::types()
    Arena arena_;
    std::vector<SharedImage> shared_;  // by ComponentLayer::shared_index
    std::size_t shared_bytes_ = 0;
    std::vector<std::byte> image_;  // of the component at hand
    std::vector<const ComponentLayer*> layers_;
    std::vector<Node> kept_;  // of the component at hand
    KeptCounts kept_keys_;
    std::unordered_set<const ComponentLayer*> doubles_;  // reported
    std::unordered_set<std::uint64_t> bad_references_;   // places reported: a prefab's are met in each of its copies
};

}  // namespace shoal
