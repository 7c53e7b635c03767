// Reads the text of a model pose, and puts parents before their children.

#include "shoal/pose/model_pose_text.h"

#include "shoal/base/detail/bytes.h"
#include "shoal/base/detail/hash_map.h"
#include "shoal/base/text.h"
#include "shoal/transform/transform_text.h"

#include <algorithm>
#include <string>
#include <vector>

namespace shoal {
namespace {

constexpr std::string_view kMoreKeys[] = {"nodes"};
constexpr std::string_view kNodeKeys[] = {"name", "parent", "position", "rotation", "euler_degrees", "scale"};
constexpr std::string_view kRotationIs = "component \"model_pose\": a rotation is ";

struct SourceNode {
    Node name, parent;
    std::uint32_t parent_index = kNilRow;
    Transform local;
};

/// Reads the list of nodes, and puts parents before their children.
class TreeReader {
public:
    TreeReader(const CompileInput& in, CompileOutput& out) : in_(in), out_(out) {}

    bool read() {
        bool good = true;
        for (const Node entry : in_.node) {
            if (entry.key() == kMoreKeys[0])
                good &= read_nodes(entry);
            else if (in_.schema.find_field(entry.key()) < 0)
                good &= out_.read_field(entry);
            else
                good &= fail(entry.key_position(),
                             concat("the field ", quoted(entry.key()), " is computed from `nodes`"), "remove it");
        }
        const auto pose = read_as<ModelPose>(out_.image().data());
        if (good && pose.names.count == 0) return fail(in_.node.position(), "there are no nodes", "add `nodes`");
        return good;
    }

private:
    bool fail(SourcePosition at, const std::string& problem, std::string hint = {}) {
        in_.diagnostics.error(at, concat("component \"model_pose\": ", problem), std::move(hint));
        return false;
    }

    bool read_nodes(Node list) {
        if (!list.is_list()) return fail(list.position(), "`nodes` is not a list", "write a list of mappings");
        if (list.size() > kMaxNodesPerTree)
            return fail(list.position(), concat("a tree has at most ", kMaxNodesPerTree, " nodes"));
        nodes_.resize(list.size());
        bool good = true;
        std::size_t i = 0;
        for (const Node entry : list) good &= read_node(entry, nodes_[i++]);
        if (!good || !name_nodes() || !find_parents() || !place_parents_first()) return false;
        return write();
    }

    // --- one node ------------------------------------------------------------------------------------------------

    bool read_node(Node entry, SourceNode& node) {
        if (!entry.is_mapping()) return fail(entry.position(), "a node is not a mapping", "write { name = \"...\" }");
        bool good = true;
        Node rotation, euler;
        for (const Node value : entry) {
            const std::string_view key = value.key();
            const bool is_known = std::find(std::begin(kNodeKeys), std::end(kNodeKeys), key) != std::end(kNodeKeys);
            if (is_known && value.is_null()) continue;
            if (key == "name")
                node.name = value;
            else if (key == "parent")
                node.parent = value;
            else if (key == "position")
                good &= read_value(key, FieldType::kVec3, value, &node.local.position);
            else if (key == "rotation")
                good &= read_value(key, FieldType::kQuaternion, rotation = value, &node.local.rotation);
            else if (key == "euler_degrees")
                good &= read_euler(euler = value, node.local.rotation);
            else if (key == "scale")
                good &= read_scale(value, node.local.scale);
            else
                good &= refuse_key(value);
        }
        if (rotation && euler)
            return fail(euler.key_position(), "a node has both \"rotation\" and \"euler_degrees\"",
                        "remove one of them");
        if (good && rotation)
            good = accept_rotation(in_.diagnostics, rotation.position(), kRotationIs, node.local.rotation);
        if (!node.name || !node.name.is_string() || node.name.as_string().empty())
            return fail(node.name ? node.name.position() : entry.position(), "a node has no name",
                        "write name = \"...\"");
        return good;
    }

    bool read_value(std::string_view name, FieldType type, Node value, void* out) {
        return out_.read_value(text_field(name, type), value, static_cast<std::byte*>(out));
    }

    bool read_euler(Node value, Quaternion& rotation) {
        Vec3 degrees;
        if (!read_value("euler_degrees", FieldType::kVec3, value, &degrees)) return false;
        rotation = rotation_from_euler_degrees(degrees);
        return true;
    }

    bool read_scale(Node value, Vec3& scale) {
        float uniform = 1;
        const bool is_number = value.is_number();
        const bool good = is_number ? read_value("scale", FieldType::kFloat, value, &uniform)
                                    : read_value("scale", FieldType::kVec3, value, &scale);
        if (is_number) scale = {uniform, uniform, uniform};
        if (!good || can_be_undone(scale)) return good;
        return fail(value.position(), "a scale of 0 cannot be undone", "write numbers other than 0");
    }

    bool refuse_key(Node value) {
        const int close = closest_text(value.key(), kNodeKeys, std::size(kNodeKeys));
        return fail(value.key_position(), concat("a node has no ", quoted(value.key())),
                    close < 0 ? std::string("it has name, parent, position, rotation, euler_degrees, scale")
                              : concat("did you mean ", quoted(kNodeKeys[close]), "?"));
    }

    // --- the tree ------------------------------------------------------------------------------------------------

    bool name_nodes() {
        bool good = true;
        for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
            const Node name = nodes_[i].name;
            const auto [first, is_new] = index_of_.insert(name.as_string(), i);
            if (is_new) continue;
            in_.diagnostics
                .error(name.position(),
                       concat("component \"model_pose\": two nodes are called ", quoted(name.as_string())),
                       "give one of them another name")
                .note(nodes_[*first].name.position(), "the first is here");
            good = false;
        }
        return good;
    }

    bool find_parents() {
        bool good = true;
        for (SourceNode& node : nodes_) {
            if (!node.parent) continue;
            const std::string_view name = node.parent.is_string() ? node.parent.as_string() : std::string_view();
            if (const std::uint32_t* const found = index_of_.find(name))
                node.parent_index = *found;
            else
                good = fail(
                    node.parent.position(),
                    concat("there is no node ", quoted(name), " to be the parent of ", quoted(node.name.as_string())),
                    hint_for(name));
        }
        return good;
    }

    std::string hint_for(std::string_view name) const {
        std::vector<std::string_view> names;
        for (const SourceNode& node : nodes_) names.push_back(node.name.as_string());
        const int close = closest_text(name, names.data(), names.size());
        return close < 0 ? std::string("name another node of the list, or none")
                         : concat("did you mean ", quoted(names[static_cast<std::size_t>(close)]), "?");
    }

    bool place_parents_first() {
        place_of_.assign(nodes_.size(), kUnplaced);
        std::vector<std::uint32_t> above;
        for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
            std::uint32_t node = i;
            for (; node != kNilRow && place_of_[node] == kUnplaced; node = nodes_[node].parent_index) {
                place_of_[node] = kOnTheWay;
                above.push_back(node);
            }
            if (node != kNilRow && place_of_[node] == kOnTheWay)
                return fail(nodes_[node].parent.position(),
                            concat("the node ", quoted(nodes_[node].name.as_string()), " is its own ancestor"),
                            "remove the parent of one of these nodes");
            for (; !above.empty(); above.pop_back()) {
                place_of_[above.back()] = static_cast<std::uint32_t>(order_.size());
                order_.push_back(above.back());
            }
        }
        return true;
    }

    bool write() {
        std::vector<StringId> names;
        std::vector<std::uint32_t> parents;
        std::vector<Vec3> positions, scales;
        std::vector<Quaternion> rotations;
        for (const std::uint32_t i : order_) {
            const SourceNode& node = nodes_[i];
            const Result<StringId> name = out_.intern(node.name.as_string());
            if (!name) return fail(node.name.position(), std::string(name.message()));
            names.push_back(*name);
            parents.push_back(node.parent_index == kNilRow ? kNilRow : place_of_[node.parent_index]);
            positions.push_back(node.local.position);
            rotations.push_back(node.local.rotation);
            scales.push_back(node.local.scale);
        }
        ModelPose pose;
        const auto keep = [&]<class T>(BlobArray<T>& array, const std::vector<T>& values) {
            static_cast<BlobArrayBase&>(array) =
                out_.add_array(FieldTraits<T>::type, std::as_bytes(std::span<const T>(values)));
        };
        keep(pose.names, names);
        keep(pose.parents, parents);
        keep(pose.positions, positions);
        keep(pose.rotations, rotations);
        keep(pose.scales, scales);
        out_.store(pose);
        return true;
    }

    static constexpr std::uint32_t kUnplaced = 0xFFFFFFFF, kOnTheWay = 0xFFFFFFFE;

    const CompileInput& in_;
    CompileOutput& out_;
    std::vector<SourceNode> nodes_;        // in source order
    std::vector<std::uint32_t> order_;     // nodes, parents before children
    std::vector<std::uint32_t> place_of_;  // each node's index in order_
    HashMap<std::string_view, std::uint32_t> index_of_{Owner("model pose")};
};

bool compile_model_pose(void*, const CompileInput& in, CompileOutput& out) { return TreeReader(in, out).read(); }

}  // namespace

Status add_model_pose(ComponentRegistry& registry) {
    if (Status status = registry.add<ModelPose>(); !status) return status;
    return registry.set_compile_function(schema_of<ModelPose>().name(), compile_model_pose, nullptr, 0,
                                         CompileScope::kLayer, kMoreKeys);
}

}  // namespace shoal
