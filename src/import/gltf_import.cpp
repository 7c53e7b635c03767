// Converts a glTF scene to a source. Decides which nodes become entities, and writes their names and components.

#include "import/gltf_scene.h"
#include "shoal/base/detail/hash_map.h"
#include "shoal/base/text.h"
#include "shoal/components/activity.h"
#include "shoal/components/properties.h"
#include "shoal/document/document_builder.h"
#include "shoal/document/sjson.h"
#include "shoal/import/gltf.h"
#include "shoal/pose/attached_to_node.h"
#include "shoal/pose/model_pose_text.h"
#include "shoal/resource/detail/old_words.h"
#include "shoal/source/compiler.h"
#include "shoal/source/detail/entity_key.h"
#include "shoal/source/schema_file.h"
#include "shoal/transform/detail/pose_math.h"
#include "shoal/transform/transform_text.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <set>
#include <vector>

namespace shoal {
namespace {

constexpr std::string_view kSchema = R"(// What sources have that `shoal import` made of glTF files.
components = {
	gltf_mesh = {
		fields = {
			file = resource_id
			mesh = uint32
			name = string_id
		}
	}
	gltf_camera = {
		fields = {
			projection = { type = enum  values = [perspective orthographic] }
			yfov = { type = float  unit = rad }
			aspect_ratio = float
			xmag = float
			ymag = float
			znear = float
			zfar = float
		}
	}
	gltf_light = {
		fields = {
			kind = { type = enum  values = [directional point spot] }
			color = { type = vec3  default = [1 1 1] }
			intensity = { type = float  default = 1 }
			range = { type = float  unit = m }
			inner_cone = { type = float  unit = rad }
			outer_cone = { type = float  unit = rad  default = 0.7853982 }
		}
	}
}
)";
constexpr std::uint32_t kMaxJoints = 1 << 22;  // limit on the total number of joints in all model poses
constexpr std::string_view kMeshType = "gltf_mesh", kCameraType = "gltf_camera", kLightType = "gltf_light";

/// Makes names unique. A second "wheel" becomes "wheel.2".
class UniqueNames {
public:
    explicit UniqueNames(const std::vector<std::string>& wanted) : used_(wanted.begin(), wanted.end()) {}

    std::string take(const std::string& name) {
        std::uint32_t& num_taken = num_taken_[name];
        if (num_taken++ == 0) return name;
        for (;; ++num_taken)
            if (std::string other = concat(name, '.', num_taken); used_.insert(other).second) return other;
    }

private:
    std::set<std::string> used_;  // names in the file, and generated names
    std::map<std::string, std::uint32_t> num_taken_;
};

/// Returns the double whose shortest decimal form reads back as this float.
double shortest(float value) {
    std::string text;
    append_number(text, value);
    return std::strtod(text.c_str(), nullptr);
}

void write_numbers(DocumentBuilder& out, std::string_view key, const float* values, int count) {
    out.begin_list(key);
    for (int i = 0; i < count; ++i) out.number(shortest(values[i]));
    out.end();
}

/// Writes the parts of a pose that are not the identity.
void write_pose(DocumentBuilder& out, const Transform& pose) {
    const Transform none;
    if (!(pose.position == none.position)) write_numbers(out, "position", &pose.position.x, 3);
    if (!(pose.rotation == none.rotation)) write_numbers(out, "rotation", &pose.rotation.x, 4);
    if (!(pose.scale == none.scale)) write_numbers(out, "scale", &pose.scale.x, 3);
}

class Importer {
public:
    Importer(GltfScene& scene, const ComponentRegistry& registry, const GltfOptions& options, Diagnostics& diagnostics)
        : scene_(scene), nodes_(scene.nodes), registry_(registry), options_(options), diagnostics_(diagnostics) {}

    ImportedGltf import() {
        places_.resize(nodes_.size());
        find_reachable();
        find_hosts();
        name_joints();
        for (const std::uint32_t root : scene_.roots) place(root, kNoGltf);
        warn_of_extensions();
        write_root();
        const std::size_t num_errors = diagnostics_.num_errors();
        const Document source = builder_.finish();
        if (num_errors == num_errors_ && !names_files_) check(source.root());
        result_.text = write_sjson(source.root());
        return std::move(result_);
    }

private:
    /// The conversion of a node.
    struct NodePlan {
        std::vector<std::uint32_t> children;  // child entities
        std::uint32_t joint = kNoGltf;        // the joint to which the entity is attached
        std::uint32_t skin = kNoGltf;         // the skin of which the node is a joint
        bool is_reachable = false;
        bool is_hidden = false;  // the node or an ancestor is hidden
    };

    // --- which nodes are entities ------------------------------------------------------------------------------------

    void find_reachable() {
        std::vector<std::uint32_t> left(scene_.roots.rbegin(), scene_.roots.rend());
        while (!left.empty()) {
            const std::uint32_t node = left.back();
            left.pop_back();
            places_[node].is_reachable = true;
            order_.push_back(node);
            left.insert(left.end(), nodes_[node].children.rbegin(), nodes_[node].children.rend());
        }
    }

    /// For each skin, finds the first node that is drawn with it and is not below a joint. Entities that are attached
    /// to joints become children of this node. If there is none, the joints become entities.
    void find_hosts() {
        hosts_.assign(scene_.skins.size(), kNoGltf);
        std::vector<bool> is_joint(nodes_.size()), is_used(scene_.skins.size());
        for (const std::uint32_t node : order_)
            if (const std::uint32_t skin = nodes_[node].skin; skin != kNoGltf && !is_used[skin]) {
                is_used[skin] = true;
                for (const std::uint32_t joint : scene_.skins[skin]) is_joint[joint] = true;
            }
        for (const std::uint32_t node : order_) {
            const std::uint32_t skin = nodes_[node].skin;
            if (skin == kNoGltf || hosts_[skin] != kNoGltf || is_below(node, is_joint)) continue;
            hosts_[skin] = node;
            for (const std::uint32_t joint : scene_.skins[skin])
                if (places_[joint].skin == kNoGltf) places_[joint].skin = skin;
        }
    }

    bool is_below(std::uint32_t node, const std::vector<bool>& joints) const {
        for (; node != kNoGltf; node = nodes_[node].parent)
            if (joints[node]) return true;
        return false;
    }

    bool carries(const GltfNode& node) const {
        const Node extras = node.text.find("extras");
        return node.mesh != kNoGltf || node.camera != kNoGltf || node.light != kNoGltf || (extras && !extras.is_null());
    }

    /// Makes entities for a node and its descendants. `parent` is the parent of the node.
    void place(std::uint32_t index, std::uint32_t parent) {
        const GltfNode& node = nodes_[index];
        NodePlan& own = places_[index];
        own.is_hidden = node.is_hidden || (parent != kNoGltf && places_[parent].is_hidden);
        const bool is_joint = own.skin != kNoGltf;
        const std::uint32_t joint = is_joint                                               ? index
                                    : parent != kNoGltf && places_[parent].skin != kNoGltf ? parent
                                                                                           : kNoGltf;
        if (!is_joint || carries(node)) {
            if (joint != kNoGltf) own.joint = joint;
            const std::uint32_t above = joint != kNoGltf ? hosts_[places_[joint].skin] : parent;
            (above == kNoGltf ? roots_ : places_[above].children).push_back(index);
        }
        for (const std::uint32_t child : node.children) place(child, index);
    }

    // --- extensions --------------------------------------------------------------------------------------------------

    /// The uses of an extension by one kind of object: their number, and the first one.
    struct Extension {
        std::uint32_t count = 0;
        Node first;
        std::uint64_t num_instances = 0;
    };
    using Extensions = std::map<std::pair<std::string_view, std::string_view>, Extension>;  // by kind and name

    void note_extensions(Node owner, std::string_view kind, Extensions& found) const {
        const Node extensions = owner ? owner.find("extensions") : Node();
        if (!extensions || !extensions.is_mapping()) return;
        for (const Node extension : extensions) {
            if (kind == "node" && (extension.key() == kGltfLights || extension.key() == kGltfVisibility)) continue;
            Extension& noted = found[{kind, extension.key()}];
            if (noted.count++ == 0) noted.first = extension;
            if (extension.key() == kGltfInstancing) noted.num_instances += num_instances(extension);
        }
    }

    /// Returns the number of instances of a node, which is the length of any attribute's accessor.
    std::uint64_t num_instances(Node instancing) const {
        const Node attributes = instancing.find("attributes");
        if (!attributes || !attributes.is_mapping() || attributes.size() == 0) return 0;
        const std::int64_t* const index = (*attributes.begin()).as_int64();
        if (index == nullptr || *index < 0 || static_cast<std::size_t>(*index) >= scene_.accessors.size()) return 0;
        const Node count = scene_.accessors[static_cast<std::size_t>(*index)].find("count");
        const std::int64_t* const number = count ? count.as_int64() : nullptr;
        return number == nullptr || *number < 0 ? 0 : static_cast<std::uint64_t>(*number);
    }

    /// Warns about extensions whose data is not imported.
    void warn_of_extensions() {
        Extensions found;
        note_extensions(scene_.scene, "scene", found);
        for (const std::uint32_t node : order_) note_extensions(nodes_[node].text, "node", found);
        for (const Node camera : scene_.cameras) note_extensions(camera, "camera", found);
        for (const Node light : scene_.lights) note_extensions(light, "light", found);
        for (const auto& [key, extension] : found) {
            const std::string of = concat(" of ", extension.count, ' ', key.first, extension.count == 1 ? "" : "s");
            if (extension.num_instances != 0)
                diagnostics_.warning(
                    extension.first.key_position(),
                    concat("the ", extension.num_instances, " instances", of, " (", key.second, ") are not read"),
                    "each of these nodes is one entity; export instances as nodes");
            else
                diagnostics_.warning(extension.first.key_position(),
                                     concat("the extension ", quoted(key.second), of, " is not read"),
                                     "what it says is missing in the source");
        }
    }

    // --- the check ---------------------------------------------------------------------------------------------------

    /// Compiles the source, so that errors in `extras` are reported at their position in the file.
    void check(Node source) {
        ComponentRegistry all;
        for (const RegisteredComponent* const known : registry_.components()) {
            if (known->schema == nullptr) continue;
            Status added = all.add(*known->schema);
            if (added && known->compile != nullptr)
                added = all.set_compile_function(known->name, known->compile, known->compile_context,
                                                 known->spawn_order, known->compile_scope, known->more_keys);
            if (!added) diagnostics_.error({}, std::string(added.message()));
        }
        const auto add = [&](std::string_view name, auto&& add_to) {
            if (all.find(name) == nullptr)
                if (Status added = add_to(all); !added) diagnostics_.error({}, std::string(added.message()));
        };
        add("transform", add_transform);
        add("model_pose", add_model_pose);
        add("properties", add_properties);
        add("attached_to_node", [](ComponentRegistry& to) { return to.add<AttachedToNode>(); });
        add("inactive", [](ComponentRegistry& to) { return to.add<Inactive>(); });
        CompileOptions options;
        if (options_.rules != nullptr) options.rules = *options_.rules;
        ComponentRegistry of_imports;
        SourceRules unused;
        read_schema_text(diagnostics_.add_file("gltf.schema.sjson", std::string(kSchema)), of_imports, unused,
                         diagnostics_);
        for (const RegisteredComponent* const known : of_imports.components())
            add(known->name, [&](ComponentRegistry& to) { return to.add(*known->schema); });
        check_tree(source, all, options, diagnostics_);
    }

    // --- names -------------------------------------------------------------------------------------------------------

    /// Returns an entity's key, before it is made unique.
    std::string key_base(std::uint32_t index) const {
        const GltfNode& node = nodes_[index];
        std::string key(node.name);
        if (key.empty() && node.mesh != kNoGltf) key = gltf_text(scene_.meshes[node.mesh], "name");
        std::replace(key.begin(), key.end(), '/', '_');
        key.erase(0, key.find_first_not_of('#'));
        if (key.empty()) key = "node";
        for (const std::string_view word : {"self", "parent", ".", ".."})
            if (key == word) key += '_';
        lower_guids(key);
        return key;
    }

    void name_joints() {
        for (std::size_t skin = 0; skin < scene_.skins.size(); ++skin) {
            std::vector<std::string> wanted;
            for (const std::uint32_t joint : scene_.skins[skin])
                wanted.push_back(nodes_[joint].name.empty() ? concat("joint_", joint)
                                                            : std::string(nodes_[joint].name));
            UniqueNames names(wanted);
            for (std::size_t i = 0; i < wanted.size(); ++i)
                joint_names_.add(joint_key(skin, scene_.skins[skin][i]), names.take(wanted[i]));
        }
    }
    static std::uint64_t joint_key(std::size_t skin, std::uint32_t joint) {
        return pair_key(static_cast<std::uint32_t>(skin), joint);
    }

    std::string_view joint_name(std::uint32_t skin, std::uint32_t joint) const {
        return *joint_names_.find(joint_key(skin, joint));
    }

    // --- entities ----------------------------------------------------------------------------------------------------

    void write_root() {
        ++result_.num_entities;
        const std::string_view name = gltf_text(scene_.scene, "name");
        builder_.begin_mapping();
        if (const std::string_view shown = name.empty() ? std::string_view(options_.resource) : name; !shown.empty())
            builder_.string("name", shown);
        builder_.begin_mapping("components");
        builder_.begin_mapping("transform");
        if (options_.z_up) write_turn();
        builder_.end();
        written_ = {"transform"};
        if (scene_.scene) write_extras(scene_.scene);
        builder_.end();
        write_children(roots_);
        builder_.end();
    }

    void write_turn() {
        builder_.begin_list("euler_degrees");
        for (const std::int64_t degrees : {90, 0, 0}) builder_.integer(degrees);
        builder_.end();
    }

    void write_children(const std::vector<std::uint32_t>& children) {
        if (children.empty()) return;
        std::vector<std::string> wanted;
        for (const std::uint32_t child : children) wanted.push_back(key_base(child));
        UniqueNames names(wanted);
        builder_.begin_mapping("children");
        for (std::size_t i = 0; i < children.size(); ++i) {
            builder_.key(names.take(wanted[i]), nodes_[children[i]].text.position());
            write_entity(children[i]);
        }
        builder_.end();
    }

    void write_entity(std::uint32_t index) {
        const GltfNode& node = nodes_[index];
        ++result_.num_entities;
        builder_.begin_mapping(node.text.position());
        if (!node.name.empty()) builder_.string("name", node.name);
        builder_.begin_mapping("components");
        written_ = {"transform"};
        write_place(index);
        if (node.is_hidden || (places_[index].joint != kNoGltf && places_[index].is_hidden)) write_inactive();
        if (node.skin != kNoGltf) write_model_pose(index);
        if (node.mesh != kNoGltf) write_mesh(node);
        if (node.camera != kNoGltf) write_camera(scene_.cameras[node.camera]);
        if (node.light != kNoGltf) write_light(scene_.lights[node.light]);
        write_extras(node.text);
        builder_.end();
        write_children(places_[index].children);
        builder_.end();
    }

    void write_place(std::uint32_t index) {
        const NodePlan& own = places_[index];
        const GltfNode& node = nodes_[index];
        builder_.begin_mapping("transform");
        if (own.joint == kNoGltf) write_pose(builder_, node.local);
        builder_.end();
        if (own.joint == kNoGltf) return;
        written_.insert("attached_to_node");
        builder_.begin_mapping("attached_to_node");
        builder_.string("node", joint_name(places_[own.joint].skin, own.joint));
        if (own.joint != index) write_pose(builder_, node.local);
        builder_.end();
    }

    void write_inactive() {
        written_.insert("inactive");
        builder_.begin_mapping("inactive");
        builder_.end();
    }

    // --- components --------------------------------------------------------------------------------------------------

    void write_model_pose(std::uint32_t index) {
        const std::uint32_t skin = nodes_[index].skin;
        const std::size_t num_joints = scene_.skins[skin].size();
        if (num_joints > kMaxNodesPerTree || (num_joints_ += num_joints) > kMaxJoints) {
            const bool is_one = num_joints > kMaxNodesPerTree;
            diagnostics_.error(nodes_[index].text.position(),
                               concat(is_one ? "a skin has" : "the skins of all nodes have", " more than ",
                                      is_one ? kMaxNodesPerTree : kMaxJoints, " joints"),
                               "divide the file");
            return;
        }
        ++result_.num_models;
        written_.insert("model_pose");
        builder_.begin_mapping("model_pose");
        builder_.begin_list("nodes");
        for (const std::uint32_t joint : scene_.skins[skin]) {
            const std::uint32_t above = parent_joint(skin, joint);
            builder_.begin_mapping();
            builder_.string("name", joint_name(skin, joint));
            if (above != kNoGltf) builder_.string("parent", joint_name(skin, above));
            write_pose(builder_, joint_pose(joint, above != kNoGltf ? above : index));
            builder_.end();
        }
        builder_.end();
        builder_.end();
    }

    std::uint32_t parent_joint(std::uint32_t skin, std::uint32_t joint) const {
        for (std::uint32_t above = nodes_[joint].parent; above != kNoGltf; above = nodes_[above].parent)
            if (joint_names_.find(joint_key(skin, above)) != nullptr) return above;
        return kNoGltf;
    }

    /// Returns the pose of a joint relative to another node. It is an approximation if nodes between them cause shear.
    Transform joint_pose(std::uint32_t joint, std::uint32_t base) {
        const GltfNode& node = nodes_[joint];
        if (node.parent == base) return node.local;
        if (!is_regular(scene_.worlds[base])) return node.local;
        const NearestPose nearest = nearest_relative_pose(scene_.worlds[base], scene_.worlds[joint]);
        if (!nearest.is_exact)
            diagnostics_.warning(node.text.position(), concat("the pose of joint ", quoted(node.name), " has shear"),
                                 "the nearest pose without it is taken; apply uneven scales above the joint");
        return nearest.pose;
    }

    void write_mesh(const GltfNode& node) {
        const std::string_view name = gltf_text(scene_.meshes[node.mesh], "name");
        begin_gltf(kMeshType);
        if (!options_.resource.empty()) builder_.string("file", options_.resource);
        builder_.unsigned_integer("mesh", node.mesh);
        if (!name.empty()) builder_.string("name", name);
        builder_.end();
    }

    void begin_gltf(std::string_view type) {
        result_.has_gltf_components = true;
        written_.insert(type);
        builder_.begin_mapping(type);
    }

    /// Copies a number from the file, if it fits in a float.
    void copy_number(Node from, std::string_view key, std::string_view name) {
        const Node number = from ? from.find(key) : Node();
        if (!number) return;
        if (!is_gltf_float(number, key, diagnostics_)) return;
        builder_.key(name);
        builder_.value(number);
    }

    void write_camera(Node camera) {
        const std::string_view kind = gltf_text(camera, "type");
        const Node lens = camera.find(kind);
        begin_gltf(kCameraType);
        if (kind == "perspective" || kind == "orthographic")
            builder_.string("projection", kind);
        else
            diagnostics_.error(camera.position(), concat("a camera has the type ", quoted(kind)),
                               "it must be \"perspective\" or \"orthographic\"");
        constexpr std::string_view kNumbers[][2] = {{"yfov", "yfov"},   {"aspectRatio", "aspect_ratio"},
                                                    {"xmag", "xmag"},   {"ymag", "ymag"},
                                                    {"znear", "znear"}, {"zfar", "zfar"}};
        for (const auto& [key, name] : kNumbers) copy_number(lens, key, name);
        builder_.end();
    }

    void write_light(Node light) {
        const std::string_view kind = gltf_text(light, "type");
        begin_gltf(kLightType);
        if (kind == "directional" || kind == "point" || kind == "spot")
            builder_.string("kind", kind);
        else
            diagnostics_.error(light.position(), concat("a light has the type ", quoted(kind)),
                               "it must be \"directional\", \"point\" or \"spot\"");
        if (const Node color = light.find("color"); color && is_gltf_floats(color, 3, diagnostics_))
            builder_.member(color);
        const Node spot = light.find("spot");
        copy_number(light, "intensity", "intensity");
        copy_number(light, "range", "range");
        copy_number(spot, "innerConeAngle", "inner_cone");
        copy_number(spot, "outerConeAngle", "outer_cone");
        builder_.end();
    }

    // --- extras ------------------------------------------------------------------------------------------------------

    bool is_component(std::string_view key) const {
        return key == kMeshType || key == kCameraType || key == kLightType || registry_.find(key) != nullptr;
    }

    /// Writes the extras of a node or scene. Those that have the name of a component are written as components, and the
    /// others as properties.
    void write_extras(Node owner) {
        const Node extras = owner.find("extras");
        if (!extras || extras.is_null()) return;
        if (!extras.is_mapping()) return drop(extras, "`extras` is not an object");
        std::vector<Node> properties;
        for (const Node child : extras) {
            const bool is_old_word = child.key() == old_words::kProperties && child.is_mapping();
            if (is_old_word)
                diagnostics_.warning(child.key_position(),
                                     concat(quoted(child.key()), " in `extras` is called \"properties\" now"),
                                     "write `properties`");
            if (is_old_word || (child.key() == "properties" && child.is_mapping()))
                properties.insert(properties.end(), child.begin(), child.end());
            else if (!is_component(child.key()) || child.key() == "properties")
                properties.push_back(child);
            else if (written_.count(child.key()) != 0)
                drop(child, concat("the node itself gives the entity ", quoted(child.key())));
            else
                write_component(child);
        }
        write_properties(properties);
    }

    void write_component(Node component) {
        const auto is_type = [&](const std::string& type) { return type == component.key(); };
        names_files_ |= component.is_string() && options_.rules != nullptr &&
                        std::ranges::any_of(options_.rules->components_in_files, is_type);
        builder_.member(component);
    }

    void drop(Node value, std::string problem) {
        diagnostics_.warning(value.has_key() ? value.key_position() : value.position(), std::move(problem),
                             "it is left out of the source");
    }

    void write_properties(const std::vector<Node>& values) {
        std::set<std::string> paths;
        std::vector<std::pair<std::string, Node>> kept;
        for (const Node value : values) keep_property(value, std::string(value.key()), paths, kept);
        if (kept.empty()) return;
        builder_.begin_mapping("properties");
        builder_.begin_mapping("data");  // in `data`, because values may be named like keys of components
        for (const auto& [path, value] : kept) {
            builder_.key(path, value.key_position());
            write_value(value);
        }
        builder_.end();
        builder_.end();
    }

    /// Writes a property. An integer that does not fit in an int64 becomes a float, with a warning.
    void write_value(Node value) {
        if (value.is_list()) {
            builder_.begin_list(value.position());
            for (const Node element : value) write_value(element);
            builder_.end();
        } else if (value.is_integer() && value.as_int64() == nullptr) {
            const double rounded = shortest(static_cast<float>(value.as_double()));
            diagnostics_.warning(
                value.position(), "an integer is above 9223372036854775807",
                concat("it is the float ", rounded, " in the source; write it as a string to keep it"));
            builder_.number(rounded, value.position());
        } else {
            builder_.value(value);
        }
    }

    /// Keeps a value under its path. If it is a mapping, keeps its members instead.
    void keep_property(Node value, const std::string& path, std::set<std::string>& paths,
                       std::vector<std::pair<std::string, Node>>& kept) {
        if (value.is_null()) return;
        if (value.key().empty() || path.front() == '.' || path.back() == '.' || path.find("..") != std::string::npos ||
            path.find_first_of("[]") != std::string::npos)
            return drop(value, concat("a value is called ", quoted(path)));
        if (value.is_mapping()) {
            for (const Node child : value) keep_property(child, concat(path, '.', child.key()), paths, kept);
            return;
        }
        if (!is_property(value))
            return drop(value, concat(quoted(path), " is a list of several kinds, or too large a number"));
        if (!paths.insert(path).second) return drop(value, concat("two values are called ", quoted(path)));
        kept.emplace_back(path, value);
    }

    static int kind_of(Node value) {
        if (value.is_bool()) return 1;
        if (value.is_string()) return 2;
        return value.is_number() && std::isfinite(static_cast<float>(value.as_double())) ? 3 : 0;
    }

    static bool is_property(Node value) {
        if (!value.is_list()) return kind_of(value) != 0;
        if (value.size() > PropertyShape::kMaxCount) return false;
        int kind = 0;
        std::uint32_t lanes = 0;
        for (const Node element : value) {
            const bool is_vector = element.is_list();
            const int other = is_vector ? 4 : kind_of(element);
            if (other == 0 || (kind != 0 && other != kind) || (is_vector && !is_vector_of(element, lanes)))
                return false;
            kind = other;
        }
        return true;
    }

    /// Returns whether a list is a vector of `lanes` numbers. The first vector sets `lanes`.
    static bool is_vector_of(Node list, std::uint32_t& lanes) {
        if (lanes == 0) lanes = list.size();
        return list.size() == lanes && lanes >= 2 && lanes <= 4 &&
               std::all_of(list.begin(), list.end(), [](Node number) { return kind_of(number) == 3; });
    }

    GltfScene& scene_;
    const std::vector<GltfNode>& nodes_;
    const ComponentRegistry& registry_;
    const GltfOptions& options_;
    Diagnostics& diagnostics_;
    DocumentBuilder builder_;
    ImportedGltf result_;
    std::vector<NodePlan> places_;                                    // indexed by node
    std::vector<std::uint32_t> order_;                                // the nodes of the scene, parents first
    std::vector<std::uint32_t> roots_;                                // root entities
    std::vector<std::uint32_t> hosts_;                                // indexed by skin; see find_hosts()
    HashMap<std::uint64_t, std::string> joint_names_{Owner("gltf")};  // by skin and joint
    const std::size_t num_errors_ = diagnostics_.num_errors();
    std::uint64_t num_joints_ = 0;        // joints in all model poses
    bool names_files_ = false;            // whether components name files, which are looked up in the roots
    std::set<std::string_view> written_;  // component types of the entity being written
};

}  // namespace

std::optional<ImportedGltf> import_gltf(std::uint32_t file, const ComponentRegistry& registry,
                                        const GltfOptions& options, Diagnostics& diagnostics) {
    const std::size_t num_errors = diagnostics.num_errors();
    std::optional<GltfScene> scene = read_gltf_scene(file, options.scene, diagnostics);
    if (!scene) return std::nullopt;
    ImportedGltf result = Importer(*scene, registry, options, diagnostics).import();
    if (diagnostics.num_errors() != num_errors) return std::nullopt;
    return result;
}

std::string_view gltf_schema_text() { return kSchema; }

}  // namespace shoal
