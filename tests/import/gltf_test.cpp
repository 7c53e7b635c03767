#include "shoal/import/gltf.h"

#include "shoal/components/activity.h"
#include "shoal/components/properties.h"
#include "shoal/components/tag.h"
#include "shoal/document/json.h"
#include "shoal/pose/attached_to_node.h"
#include "shoal/pose/model_pose_text.h"
#include "shoal/rewrite/detail/source_tree.h"
#include "shoal/transform/detail/pose_kernels.h"
#include "shoal/transform/transform_text.h"
#include "support/source_fixture.h"

#include <cmath>
#include <vector>

namespace shoal_test {
namespace {

class Gltf : public SourceTest {
protected:
    Gltf() {
        EXPECT_TRUE(add_transform(registry) && add_model_pose(registry) && add_properties(registry));
        EXPECT_TRUE(registry.add<Tag>() && registry.add<AttachedToNode>() && registry.add<Inactive>());
    }

    /// Imports an object with these members; what is wrong is in the diagnostics.
    std::optional<ImportedGltf> import(const std::string& members,
                                       const GltfOptions& with = {.resource = "ship.gltf"}) {
        return import_gltf(
            diagnostics.add_file("ship.gltf", "{ \"asset\": { \"version\": \"2.0\" }, " + members + " }"), registry,
            with, diagnostics);
    }
    /// Returns the composed entities, one on a line, after compiling the import.
    std::string outline_of(const std::string& members, const GltfOptions& with = {.resource = "ship.gltf"}) {
        const std::optional<ImportedGltf> imported = import(members, with);
        if (!imported) return diagnostics.format();
        file("root/ship.sjson", imported->text);
        options.compose.roots = {"root"};
        if (imported->has_gltf_components) schema(std::string(gltf_schema_text()));
        const Result<CompiledSource> blob = compiled("root/ship.sjson");
        EXPECT_TRUE(blob.ok()) << diagnostics.format() << imported->text;
        const std::string lines = outline("root/ship.sjson");
        const auto count = [&](std::string_view word) {
            std::uint64_t number = 0;
            for (std::size_t at = lines.find(word); at != std::string::npos; at = lines.find(word, at + 1)) ++number;
            return number;
        };
        EXPECT_EQ(imported->num_entities, count("\n")) << lines;
        EXPECT_EQ(imported->num_models, count(" model_pose{")) << lines;
        EXPECT_EQ(imported->has_gltf_components, count(" gltf_") != 0) << lines;
        return lines;
    }
    std::string messages_of(const std::string& members, const GltfOptions& with = {}) {
        const std::string before = diagnostics.format();
        EXPECT_FALSE(import(members, with).has_value()) << members;
        return messages_since(before);
    }
};

TEST_F(Gltf, nodes_are_entities_with_names_and_transforms) {
    EXPECT_EQ(outline_of(R"("scene": 0, "scenes": [{ "name": "Harbour", "nodes": [0, 2] }], "nodes": [
                            { "name": "Hull", "children": [1], "translation": [1, 2.5, 3] },
                            { "name": "Mast", "rotation": [0, 1, 0, 0], "scale": [2, 2, 2] },
                            { "translation": [0.1, 0, 0] } ])"),
              ". \"Harbour\" transform{}\n"
              "./Hull \"Hull\" transform{position=[1 2.5 3]}\n"
              "./Hull/Mast \"Mast\" transform{rotation=[0 1 0 0] scale=[2 2 2]}\n"
              "./node transform{position=[0.1 0 0]}\n");
}

TEST_F(Gltf, keys_are_made_of_names_and_differ) {
    EXPECT_EQ(
        outline_of(R"("nodes": [ { "name": "wheel" }, { "name": "wheel" }, { "name": "wheel.2" }, { "name": "a/b" },
                            { "name": "#x" }, { "name": "self" }, {} ])"),
        ". \"ship.gltf\" transform{}\n./wheel \"wheel\" transform{}\n./wheel.3 \"wheel\" transform{}\n"
        "./wheel.2 \"wheel.2\" transform{}\n./a_b \"a/b\" transform{}\n./x \"#x\" transform{}\n"
        "./self_ \"self\" transform{}\n./node transform{}\n");
}

TEST_F(Gltf, a_key_is_the_name_of_the_mesh_where_a_node_has_none_and_reads_as_a_reference) {
    EXPECT_EQ(
        outline_of(R"("meshes": [ { "name": "Hull" }, {} ], "nodes": [ { "mesh": 0 }, { "mesh": 1 }, { "name": "##x" },
                            { "name": "0A1B2C3D-ABCD-4C1B-8A77-0123456789EF" } ])"),
        ". \"ship.gltf\" transform{}\n./Hull transform{} gltf_mesh{file=ship.gltf mesh=0 name=Hull}\n"
        "./node transform{} gltf_mesh{file=ship.gltf mesh=1}\n./x \"##x\" transform{}\n"
        "./0a1b2c3d-abcd-4c1b-8a77-0123456789ef \"0A1B2C3D-ABCD-4C1B-8A77-0123456789EF\" transform{}\n");
}

TEST_F(Gltf, a_matrix_is_taken_apart_and_one_with_shear_is_refused) {
    EXPECT_EQ(outline_of(R"("nodes": [ { "name": "a", "matrix": [0,2,0,0, -2,0,0,0, 0,0,2,0, 5,6,7,1] } ])"),
              ". \"ship.gltf\" transform{}\n"
              "./a \"a\" transform{position=[5 6 7] rotation=[0 0 0.70710677 0.70710677] scale=[2 2 2]}\n");
    const std::string messages = messages_of("\n\"nodes\": [ { \"matrix\": [1,0,0,0, 0.5,1,0,0, 0,0,1,0, 0,0,0,1] } ]");
    EXPECT_NE(messages.find("ship.gltf:2:24: error: a matrix has shear"), std::string::npos) << messages;
    for (const char* matrix : {"1,0,0,2, 0,1,0,0, 0,0,1,0, 0,0,0,1", "1,0,0,0, 0,1,0,2, 0,0,1,0, 0,0,0,1",
                               "1,0,0,0, 0,1,0,0, 0,0,1,2, 0,0,0,1", "1,0,0,0, 0,1,0,0, 0,0,1,0, 0,0,0,2"})
        EXPECT_NE(messages_of(concat("\"nodes\": [ { \"matrix\": [", matrix, "] } ]"))
                      .find("the last row of a matrix is not 0 0 0 1"),
                  std::string::npos)
            << matrix;
}

TEST_F(Gltf, a_skin_is_a_model_pose_and_what_hangs_on_joints_is_attached) {
    EXPECT_EQ(outline_of(R"("skins": [ { "joints": [2, 4] } ], "meshes": [ {} ], "nodes": [
                            { "name": "rig", "children": [1, 2], "translation": [1, 0, 0] },
                            { "name": "body", "skin": 0, "mesh": 0 },
                            { "name": "hip", "children": [3], "translation": [0, 1, 0] },
                            { "name": "spacer", "children": [4], "translation": [0, 0, 1] },
                            { "name": "knee", "children": [5], "translation": [0, 0, 2] },
                            { "name": "sword", "translation": [0, 0, 0.5] } ])"),
              ". \"ship.gltf\" transform{}\n"
              "./rig \"rig\" transform{position=[1 0 0]}\n"
              "./rig/body \"body\" transform{} model_pose{nodes=[{name=hip position=[0 1 0]} {name=knee parent=hip "
              "position=[0 0 3]}]} gltf_mesh{file=ship.gltf mesh=0}\n"
              "./rig/body/spacer \"spacer\" transform{} attached_to_node{node=hip position=[0 0 1]}\n"
              "./rig/body/sword \"sword\" transform{} attached_to_node{node=knee position=[0 0 0.5]}\n");
}

TEST_F(Gltf, what_hangs_on_a_joint_of_several_models_is_attached_to_the_first) {
    EXPECT_EQ(outline_of(R"("skins": [ { "joints": [3] }, { "joints": [3, 4] } ], "meshes": [ {} ], "nodes": [
                            { "name": "body", "skin": 0 }, { "name": "suit", "skin": 0 }, { "name": "cape", "skin": 1 },
                            { "name": "hip", "children": [4, 5], "mesh": 0, "translation": [0, 1, 0] },
                            { "name": "knee", "children": [6] }, { "name": "sword", "translation": [0, 0, 1] },
                            { "name": "boot" } ])"),
              ". \"ship.gltf\" transform{}\n"
              "./body \"body\" transform{} model_pose{nodes=[{name=hip position=[0 1 0]}]}\n"
              "./body/hip \"hip\" transform{} attached_to_node{node=hip} gltf_mesh{file=ship.gltf mesh=0}\n"
              "./body/sword \"sword\" transform{} attached_to_node{node=hip position=[0 0 1]}\n"
              "./suit \"suit\" transform{} model_pose{nodes=[{name=hip position=[0 1 0]}]}\n"
              "./cape \"cape\" transform{} model_pose{nodes=[{name=hip position=[0 1 0]} {name=knee parent=hip}]}\n"
              "./cape/boot \"boot\" transform{} attached_to_node{node=knee}\n");
}

TEST_F(Gltf, a_mesh_below_its_own_skeleton_keeps_the_joints_as_entities) {
    EXPECT_EQ(outline_of(R"("skins": [ { "joints": [0] } ], "nodes": [ { "name": "hip", "children": [1] },
                            { "name": "body", "skin": 0, "translation": [0, 0, 1] } ])"),
              ". \"ship.gltf\" transform{}\n./hip \"hip\" transform{}\n"
              "./hip/body \"body\" transform{position=[0 0 1]} model_pose{nodes=[{name=hip position=[0 0 -1]}]}\n");
    EXPECT_EQ(outline_of(R"("skins": [ { "joints": [0] } ], "nodes": [ { "name": "self_made", "skin": 0 } ])"),
              ". \"ship.gltf\" transform{}\n"
              "./self_made \"self_made\" transform{} model_pose{nodes=[{name=self_made}]}\n")
        << "a node that is its own joint stays an entity";
}

TEST_F(Gltf, meshes_cameras_and_lights_are_components) {
    EXPECT_EQ(
        outline_of(R"("meshes": [ {}, { "name": "Hull" } ], "cameras": [
                            { "type": "perspective", "perspective": { "yfov": 0.5, "znear": 1, "aspectRatio": 1.5 } } ],
                            "extensions": { "KHR_lights_punctual": { "lights": [
                            { "type": "spot", "color": [1, 0.5, 0], "intensity": 3, "spot": { "outerConeAngle": 0.25 } } ] } },
                            "nodes": [ { "name": "a", "mesh": 1, "camera": 0,
                            "extensions": { "KHR_lights_punctual": { "light": 0 } } } ])"),
        ". \"ship.gltf\" transform{}\n"
        "./a \"a\" transform{} gltf_mesh{file=ship.gltf mesh=1 name=Hull} gltf_camera{projection=perspective yfov=0.5 "
        "aspect_ratio=1.5 znear=1} gltf_light{kind=spot color=[1 0.5 0] intensity=3 outer_cone=0.25}\n");
}

TEST_F(Gltf, a_mesh_names_its_file_if_that_has_a_name) {
    const std::string members = R"("meshes": [ {} ], "nodes": [ { "mesh": 0 } ])";
    const std::optional<ImportedGltf> named = import(members), nameless = import(members, {});
    ASSERT_TRUE(named && nameless) << diagnostics.format();
    EXPECT_NE(named->text.find("file = \"ship.gltf\""), std::string::npos) << named->text;
    EXPECT_EQ(nameless->text.find("file"), std::string::npos) << nameless->text;
    EXPECT_NE(nameless->text.find("mesh = 0"), std::string::npos);
}

TEST_F(Gltf, extras_are_components_and_properties) {
    EXPECT_EQ(outline_of(R"("scene": 0, "scenes": [ { "nodes": [0], "extras": { "sky": "red" } } ], "nodes": [
                            { "name": "a", "extras": { "tag": "enemy", "hp": 5, "armor": { "front": [1, 2] },
                            "type": "heavy", "gone": null, "transform": {}, "mixed": [1, "a"], "properties": { "id": 7 } } } ])"),
              ". \"ship.gltf\" transform{} properties{sky=red}\n"
              "./a \"a\" transform{} tagenemy properties{hp=5 armor.front=[1 2] type=heavy id=7}\n");
    const std::string messages = diagnostics.format();
    EXPECT_NE(messages.find("warning: the node itself gives the entity \"transform\""), std::string::npos) << messages;
    EXPECT_NE(messages.find("warning: \"mixed\" is a list of several kinds"), std::string::npos) << messages;
}

TEST_F(Gltf, values_that_properties_do_not_have_are_left_out_with_a_warning) {
    EXPECT_EQ(outline_of(R"("nodes": [ { "name": "a", "extras": { "path": [[1, 2], [3, 4]], "four": [[1, 2, 3, 4]],
                            "five": [[1, 2, 3, 4, 5]], "one": [[1]], "odd": [[1, 2], [3, 4, 5]], "deep": [[1, [2]]],
                            "words": ["a", "b"], "flags": [true, false], "mixed": [true, 1], "none": [1, null],
                            "empty": [], "big": 1e39, ".x": 1, "x.": 1, "a..b": 1, "a[0]": 1, "a]": 1, "": 1,
                            "h": { "i": 2, "": 3, "j": { "k": 4 } }, "h.i": 5, "z": false } },
                            { "name": "b", "extras": 5 }, { "name": "c", "extras": null } ])"),
              ". \"ship.gltf\" transform{}\n"
              "./a \"a\" transform{} properties{path=[[1 2] [3 4]] four=[[1 2 3 4]] words=[a b] flags=[true false] "
              "empty=[] h.i=2 h.j.k=4 z=false}\n"
              "./b \"b\" transform{}\n./c \"c\" transform{}\n");
    const std::string messages = diagnostics.format();
    for (const std::string_view path : {"five", "one", "odd", "deep", "mixed", "none", "big"})
        EXPECT_NE(messages.find(concat("warning: \"", path, "\" is a list of several kinds, or too large a number")),
                  std::string::npos)
            << path;
    for (const std::string_view path : {".x", "x.", "a..b", "a[0]", "a]", "", "h."})
        EXPECT_NE(messages.find(concat("warning: a value is called \"", path, "\"")), std::string::npos) << path;
    EXPECT_NE(messages.find("warning: two values are called \"h.i\""), std::string::npos);
    EXPECT_NE(messages.find("warning: `extras` is not an object; it is left out of the source"), std::string::npos);
    EXPECT_EQ(diagnostics.num_warnings(), 16u) << messages;
}

TEST_F(Gltf, lights_and_cameras_of_each_kind_have_their_numbers) {
    EXPECT_EQ(outline_of(R"("cameras": [ { "type": "orthographic", "orthographic": { "xmag": 2, "ymag": 3, "znear": 1,
                            "zfar": 9 } } ], "extensions": { "KHR_lights_punctual": { "lights": [
                            { "type": "directional" }, { "type": "point", "range": 7 },
                            { "type": "spot", "spot": { "innerConeAngle": 0.125 } } ] } }, "nodes": [
                            { "name": "a", "camera": 0, "extensions": { "KHR_lights_punctual": { "light": 0 } } },
                            { "name": "b", "extensions": { "KHR_lights_punctual": { "light": 1 } } },
                            { "name": "c", "extensions": { "KHR_lights_punctual": { "light": 2 } } } ])"),
              ". \"ship.gltf\" transform{}\n"
              "./a \"a\" transform{} gltf_camera{projection=orthographic xmag=2 ymag=3 znear=1 zfar=9} "
              "gltf_light{kind=directional}\n"
              "./b \"b\" transform{} gltf_light{kind=point range=7}\n"
              "./c \"c\" transform{} gltf_light{kind=spot inner_cone=0.125}\n");
}

TEST_F(Gltf, extras_that_would_not_compile_are_refused_at_their_place) {
    for (const auto& [extras, message] :
         {std::pair{"\"tag\": 5", "ship.gltf:2:33: error: component \"tag\""},
          std::pair{"\"inactive\": true", "ship.gltf:2:38: error: component \"inactive\""},
          std::pair{"\"gltf_mesh\": { \"mesh\": -1 }", "ship.gltf:2:49: error: component \"gltf_mesh\""},
          std::pair{"\"tag\": { \"tagg\": \"a\" }", "ship.gltf:2:35: error: component \"tag\" has no field \"tagg\""},
          std::pair{"\"model_pose\": { \"nodes\": [ {} ] }", "ship.gltf:2:"}}) {
        const std::string messages = messages_of(concat("\n\"nodes\": [ { \"extras\": { ", extras, " } } ]"));
        EXPECT_NE(messages.find(message), std::string::npos) << message << "\n" << messages;
    }
}

TEST_F(Gltf, integers_of_more_than_63_bits_become_floats_with_a_warning) {
    EXPECT_EQ(outline_of("\n\"nodes\": [ { \"extras\": { \"a\": 12345678901234567890, \"b\": [18446744073709551615, 1],"
                         " \"c\": 9223372036854775807 } } ]"),
              ". \"ship.gltf\" transform{}\n./node transform{} "
              "properties{a=1.2345679e+19 b=[1.8446744e+19 1] c=9223372036854775808}\n");
    const std::string messages = diagnostics.format();
    for (const char* message :
         {"ship.gltf:2:31: warning: an integer is above 9223372036854775807; it is the float 1.2345679e+19",
          "ship.gltf:2:59: warning: an integer is above"})
        EXPECT_NE(messages.find(message), std::string::npos) << messages;
}

TEST_F(Gltf, nodes_that_are_not_visible_are_inactive) {
    EXPECT_EQ(outline_of(R"("skins": [ { "joints": [2, 3] } ], "nodes": [
                  { "name": "a", "extensions": { "KHR_node_visibility": { "visible": false } }, "children": [5] },
                  { "name": "body", "skin": 0, "extensions": { "KHR_node_visibility": { "visible": true } } },
                  { "name": "hip", "children": [3], "extensions": { "KHR_node_visibility": { "visible": false } } },
                  { "name": "knee", "children": [4] }, { "name": "sword" }, { "name": "b" } ])"),
              ". \"ship.gltf\" transform{}\n./a \"a\" transform{} inactive{}\n./a/b \"b\" transform{}\n"
              "./body \"body\" transform{} model_pose{nodes=[{name=hip} {name=knee parent=hip}]}\n"
              "./body/sword \"sword\" transform{} attached_to_node{node=knee} inactive{}\n");
    EXPECT_EQ(diagnostics.num_warnings(), 0u) << diagnostics.format();
}

TEST_F(Gltf, extras_say_again_what_the_node_itself_says_but_not_what_another_node_says) {
    const std::string hidden = R"("extensions": { "KHR_node_visibility": { "visible": false } })";
    EXPECT_EQ(outline_of(concat(R"("nodes": [ { "name": "a", "extras": { "inactive": {} }, )", hidden,
                                R"( }, { "name": "b", "extras": { "inactive": {} } } ])")),
              ". \"ship.gltf\" transform{}\n./a \"a\" transform{} inactive{}\n./b \"b\" transform{} inactive{}\n");
    EXPECT_NE(diagnostics.format().find("warning: the node itself gives the entity \"inactive\""), std::string::npos)
        << diagnostics.format();
    EXPECT_EQ(diagnostics.num_warnings(), 1u) << diagnostics.format();
}

TEST_F(Gltf, a_component_that_names_a_file_is_not_checked_whatever_comes_after_it) {
    schema(
        "components = { visual = { in_file = true  fields = { size = float } }  sound = { fields = { hum = float } } "
        "}");
    const GltfOptions with{.resource = "ship.gltf", .rules = &options.rules};
    for (const char* extras :
         {R"("visual": "big", "sound": { "hum": 1 })", R"("sound": { "hum": 1 }, "visual": "big")"})
        EXPECT_TRUE(import(concat(R"("nodes": [ { "name": "a", "extras": { )", extras, " } } ]"), with))
            << diagnostics.format();
}

TEST_F(Gltf, a_scale_of_0_hides_a_node_or_makes_it_flat) {
    EXPECT_EQ(outline_of(R"("skins": [ { "joints": [4] } ], "nodes": [ { "name": "a", "scale": [0, 0, 0] },
                  { "name": "b", "scale": [2, 1e-40, 1] }, { "name": "c", "matrix": [0,0,0,0,0,0,0,0,0,0,0,0,5,6,7,1] },
                  { "name": "d", "skin": 0 }, { "name": "e", "scale": [0, 0, 0] } ])"),
              ". \"ship.gltf\" transform{}\n./a \"a\" transform{} inactive{}\n./b \"b\" transform{scale=[2 2e-05 1]}\n"
              "./c \"c\" transform{position=[5 6 7]} inactive{}\n"
              "./d \"d\" transform{} model_pose{nodes=[{name=e scale=[1e-05 1e-05 1e-05]}]}\n");
    EXPECT_EQ(diagnostics.num_warnings(), 4u) << diagnostics.format();
    EXPECT_NE(diagnostics.format().find("a scale of 0 cannot be undone; 2e-05 is written in its place"),
              std::string::npos);
}

TEST_F(Gltf, a_program_may_know_any_of_the_types_of_imports_already) {
    const std::string members = R"("meshes": [ {} ], "cameras": [ { "type": "perspective",
        "perspective": { "yfov": 0.5, "znear": 0.1 } } ], "nodes": [ { "mesh": 0, "camera": 0 } ])";
    schema(
        "components = { gltf_camera = { fields = { projection = { type = enum  values = [perspective] }\n"
        "yfov = float  znear = float } } }");
    EXPECT_TRUE(import(members)) << diagnostics.format();
    EXPECT_EQ(diagnostics.num_errors(), 0u) << diagnostics.format();
}

TEST_F(Gltf, extensions_of_nodes_that_are_not_read_are_named_and_counted) {
    ASSERT_TRUE(
        import(R"("extensionsRequired": [ "KHR_draco_mesh_compression", "MSFT_lod" ], "accessors": [ { "count": 958 },
                  { "count": 941 } ], "nodes": [
                  { "extensions": { "EXT_mesh_gpu_instancing": { "attributes": { "TRANSLATION": 0 } } } },
                  { "extensions": { "EXT_mesh_gpu_instancing": { "attributes": { "SCALE": 1 } }, "MSFT_lod": {} } },
                  { } ])"));
    const std::string messages = diagnostics.format();
    EXPECT_NE(
        messages.find("ship.gltf:3:37: warning: the 1899 instances of 2 nodes (EXT_mesh_gpu_instancing) are not read"),
        std::string::npos)
        << messages;
    EXPECT_NE(messages.find("warning: the extension \"MSFT_lod\" of 1 node is not read"), std::string::npos)
        << messages;
    EXPECT_EQ(diagnostics.num_warnings(), 2u) << messages;
}

TEST_F(Gltf, extensions_of_scenes_cameras_and_lights_are_named_and_false_instances_are_none) {
    ASSERT_TRUE(import(R"("scene": 0, "scenes": [ { "nodes": [0, 1, 2, 3], "extensions": { "EXT_sky": {} } } ],
                  "cameras": [ { "type": "perspective", "extensions": { "EXT_lens": {} } } ],
                  "extensions": { "KHR_lights_punctual": { "lights": [ { "type": "point", "extensions": { "EXT_halo": {} } } ] } },
                  "accessors": [ { "count": -3 }, { "count": "a" }, { } ], "nodes": [
                  { "extensions": { "EXT_mesh_gpu_instancing": { "attributes": { "TRANSLATION": 0 } } } },
                  { "extensions": { "EXT_mesh_gpu_instancing": { "attributes": { "TRANSLATION": 1 } } } },
                  { "extensions": { "EXT_mesh_gpu_instancing": { "attributes": { "TRANSLATION": 3 } } } },
                  { "extensions": { "EXT_mesh_gpu_instancing": { "attributes": [ 0 ] } } } ])"));
    const std::string messages = diagnostics.format();
    for (const std::string_view what : {"\"EXT_sky\" of 1 scene", "\"EXT_lens\" of 1 camera", "\"EXT_halo\" of 1 light",
                                        "\"EXT_mesh_gpu_instancing\" of 4 nodes"})
        EXPECT_NE(messages.find(concat("warning: the extension ", what)), std::string::npos) << what << messages;
    EXPECT_EQ(diagnostics.num_warnings(), 4u) << messages;
}

TEST_F(Gltf, a_scene_is_chosen_by_name_or_index) {
    const std::string members = R"("scenes": [ { "name": "day", "nodes": [0] }, { "nodes": [1] } ],
                                   "nodes": [ { "name": "sun" }, { "name": "moon" } ])";
    EXPECT_EQ(outline_of(members, {.scene = "1"}), ". transform{}\n./moon \"moon\" transform{}\n");
    EXPECT_EQ(outline_of(members, {.scene = "day"}), ". \"day\" transform{}\n./sun \"sun\" transform{}\n");
    EXPECT_EQ(outline_of(R"("scenes": [ { "name": "1", "nodes": [0] }, { "nodes": [1] } ],
                            "nodes": [ { "name": "sun" }, { "name": "moon" } ])",
                         {.scene = "1"}),
              ". \"1\" transform{}\n./sun \"sun\" transform{}\n")
        << "a name comes before an index";
    EXPECT_EQ(outline_of("\"scene\": 1, " + members), ". \"ship.gltf\" transform{}\n./moon \"moon\" transform{}\n");
    EXPECT_NE(messages_of(members).find("choose one with --scene: 0 or \"day\", 1"), std::string::npos);
    EXPECT_NE(messages_of(members, {.scene = "2"}).find("there is no scene \"2\""), std::string::npos);
}

TEST_F(Gltf, up_can_be_z) {
    const std::string text = outline_of(R"("nodes": [ { "name": "a" } ])", {.z_up = true});
    EXPECT_EQ(text, ". transform{euler_degrees=[90 0 0]}\n./a \"a\" transform{}\n");
}

TEST_F(Gltf, what_is_wrong_is_told_with_its_place) {
    struct Case {
        const char* members;
        const char* message;
    };
    for (const auto& [members, message] : {
             Case{"\n\"nodes\": [ { \"children\": [1] } ]", "ship.gltf:2:27: error: there is no node with this index"},
             Case{"\n\"nodes\": [ { \"mesh\": 0 } ]",
                  "ship.gltf:2:22: error: there is no mesh with this index; the file has 0"},
             Case{"\n\"nodes\": [ { \"mesh\": \"a\" } ]", "ship.gltf:2:22: error: the index of a mesh is a string"},
             Case{"\n\"nodes\": [ { \"children\": [0] } ]", "ship.gltf:2:12: error: node 0 is its own ancestor"},
             Case{"\"nodes\": [ { \"children\": [1] }, { \"children\": [0] } ]", "is its own ancestor"},
             Case{"\"nodes\": [ { \"children\": [2] }, { \"children\": [2] }, {} ]",
                  "node 2 is the child of two nodes"},
             Case{"\"nodes\": [ { \"children\": [1, 1] }, {} ]", "node 1 is the child of two nodes"},
             Case{"\"nodes\": 5", "`nodes` is an integer; it must be an array"},
             Case{"\"nodes\": [ 5 ]", "an element of `nodes` is an integer"},
             Case{"\"nodes\": [ { \"translation\": [1, 2] } ]", "`translation` is not a list of 3 numbers"},
             Case{"\n\"nodes\": [ { \"translation\": [1e38, 1e39, 0] } ]",
                  "ship.gltf:2:36: error: a number of `translation` is too large for a float"},
             Case{"\n\"nodes\": [ { \"translation\": [1, \"2\", 0] } ]",
                  "ship.gltf:2:33: error: `translation` has a string where a number belongs"},
             Case{"\n\"nodes\": [ { \"extensions\": { \"KHR_node_visibility\": { \"visible\": 1 } } } ]",
                  "ship.gltf:2:66: error: `visible` is an integer"},
             Case{"\n\"nodes\": [ { \"extensions\": { \"KHR_lights_punctual\": { \"light\": 0 } } } ],\n"
                  "\"extensions\": { \"KHR_lights_punctual\": { \"lights\": [ { \"type\": \"point\", \"color\": [1, 1, "
                  "1e39] } ] } }",
                  "ship.gltf:3:89: error: a number of `color` is too large for a float"},
             Case{"\"nodes\": [ { \"rotation\": [0, 0, 0, 2] } ]", "node: a rotation is"},
             Case{"\"nodes\": [ { \"matrix\": [1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1], \"scale\": [1, 1, 1] } ]",
                  "a node has both `matrix` and `scale`"},
             Case{"\"nodes\": [ { \"matrix\": [1,0,0,1,0,1,0,0,0,0,1,0,0,0,0,1] } ]", "the last row of a matrix"},
             Case{"\"nodes\": [ { \"matrix\": [0,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1] } ]", "a matrix cannot be undone"},
             Case{"\"nodes\": [ {} ], \"skins\": [ { \"joints\": [] } ]", "a skin has no joints"},
             Case{"\"nodes\": [ {} ], \"skins\": [ { \"joints\": [0, 0] } ]", "a skin has a joint twice"},
             Case{"\"nodes\": [ { \"camera\": 0 } ], \"cameras\": [ { \"type\": \"fish\" } ]",
                  "a camera has the type \"fish\""},
             Case{"\"nodes\": [ { \"children\": [1] }, {} ], \"scenes\": [ { \"nodes\": [1] } ]",
                  "node 1 is in the scene and also the child of a node"},
             Case{"\"nodes\": [ {} ], \"scenes\": [ { \"nodes\": [0, 0] } ]", "node 0 is in the scene twice"},
             Case{"\"nodes\": [ {}", "error: "},
         }) {
        const std::string messages = messages_of(members);
        EXPECT_NE(messages.find(message), std::string::npos) << message << "\n" << messages;
    }
    const auto of_asset = [&](const std::string& text) {
        const std::string before = diagnostics.format();
        EXPECT_FALSE(import_gltf(diagnostics.add_file("a.gltf", text), registry, {}, diagnostics).has_value());
        return messages_since(before);
    };
    EXPECT_NE(of_asset("{}").find("the file does not say its version"), std::string::npos);
    EXPECT_NE(of_asset("{ \"asset\": { \"version\": \"1.0\" } }").find("this is glTF \"1.0\""), std::string::npos);
    EXPECT_NE(of_asset("[]").find("a glTF file is an object"), std::string::npos);
    EXPECT_NE(of_asset("{ \"asset\": { \"version\": \"2.1\", \"minVersion\": \"2.1\" } }").find("2.1"),
              std::string::npos);
    const auto is_taken = [&](const std::string& text) {
        return import_gltf(diagnostics.add_file("b.gltf", text), registry, {}, diagnostics).has_value();
    };
    EXPECT_TRUE(is_taken("{ \"asset\": { \"version\": \"2.1\", \"minVersion\": \"2.0\" } }"));
    EXPECT_TRUE(is_taken("{ \"asset\": { \"version\": \"2.7\" } }"));
    std::string deep = "\"nodes\": [";
    for (int i = 1; i < 240; ++i) append_text(deep, concat("{ \"children\": [", i, "] },"));
    EXPECT_TRUE(import(deep + " {} ]").has_value()) << diagnostics.format();
    EXPECT_NE(messages_of(deep + " { \"children\": [240] }, {} ]").find("nested more than 240 levels deep"),
              std::string::npos);
}

std::string word(std::uint32_t value) {
    std::string bytes;
    for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<char>(value >> (8 * i)));
    return bytes;
}

TEST_F(Gltf, a_glb_has_the_json_in_its_first_chunk) {
    const std::string json = "{ \"asset\": { \"version\": \"2.0\" } }   ";
    ASSERT_EQ(json.size() % 4, 0u) << json.size();
    const auto glb = [&](std::uint32_t version, std::uint32_t more_bytes, std::uint32_t chunk_bytes,
                         const std::string& type) {
        const std::string rest = word(chunk_bytes) + type + json + word(4) + std::string("BIN\0abcd", 8);
        return "glTF" + word(version) + word(static_cast<std::uint32_t>(12 + rest.size()) + more_bytes) + rest;
    };
    const auto size = static_cast<std::uint32_t>(json.size());
    const std::string good = glb(2, 0, size, "JSON");
    ASSERT_TRUE(gltf_json(good).ok()) << gltf_json(good).message();
    EXPECT_EQ(*gltf_json(good), json);
    EXPECT_EQ(*gltf_json(json), json) << "what is no .glb stays as it is";
    for (const std::string& bytes : {good + "x", glb(2, 0, size - 2, "JSON")})
        ASSERT_TRUE(gltf_json(bytes).ok()) << gltf_json(bytes).message();
    EXPECT_EQ(*gltf_json(glb(2, 0, size - 2, "JSON")), json.substr(0, size - 2)) << "no multiple of 4";
    std::string zeros = good;
    zeros.replace(20 + size - 3, 3, 3, '\0');
    EXPECT_EQ(*gltf_json(zeros), json.substr(0, size - 3)) << "filled up with zeros";
    for (const auto& [bytes, message] :
         {std::pair{glb(1, 0, size, "JSON"), "has version 1"}, std::pair{glb(2, 4, size, "JSON"), "it says"},
          std::pair{glb(2, 0, size + 1000, "JSON"), "at byte 12, goes beyond the end"},
          std::pair{glb(2, 0, size, "BIN "), "is not JSON"},
          std::pair{std::string("glTF"), "it ends within its header"}}) {
        const Result<std::string_view> result = gltf_json(bytes);
        ASSERT_FALSE(result.ok()) << message;
        EXPECT_NE(std::string(result.message()).find(message), std::string::npos) << result.message();
    }
}

// --- random scenes -------------------------------------------------------------------------------------------------

struct RandomNode {
    int parent = -1;
    bool is_joint = false;
    Transform local;
    Matrix3x4 world;
};

std::string numbers(const float* values, int count) {
    std::string text = "[";
    for (int i = 0; i < count; ++i) append_text(text, concat(i == 0 ? "" : ", ", values[i]));
    return text + "]";
}

std::vector<RandomNode> random_nodes(Random& random) {
    std::vector<RandomNode> nodes(2 + random.below(12));
    const auto number = [&] { return static_cast<float>(random.below(2001)) / 1000 - 1; };
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        RandomNode& node = nodes[i];
        if (i > 0 && random.below(5) != 0) node.parent = static_cast<int>(random.below(static_cast<std::uint32_t>(i)));
        node.is_joint = i > 0 && random.below(2) == 0;
        node.local.position = {number(), number(), number()};
        const Vec4 q = {number(), number(), number(), number() + 2};
        const float size = std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
        node.local.rotation = {q.x / size, q.y / size, q.z / size, q.w / size};
        const float scale = 0.5f + static_cast<float>(random.below(100)) / 100;
        node.local.scale = {scale, scale, scale};
        const Matrix3x4 local = local_matrix(node.local.position, node.local.rotation, node.local.scale);
        node.world = node.parent < 0 ? local : product(nodes[static_cast<std::size_t>(node.parent)].world, local);
    }
    return nodes;
}

std::string json_of(const std::vector<RandomNode>& nodes) {
    std::string text = "\"nodes\": [", joints;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        std::string children;
        for (std::size_t k = 0; k < nodes.size(); ++k)
            if (nodes[k].parent == static_cast<int>(i)) append_text(children, concat(children.empty() ? "" : ", ", k));
        const Transform& local = nodes[i].local;
        append_text(text, concat(i == 0 ? "" : ", ", "{ \"name\": \"n", i, "\", \"translation\": ",
                                 numbers(&local.position.x, 3), ", \"rotation\": ", numbers(&local.rotation.x, 4),
                                 ", \"scale\": ", numbers(&local.scale.x, 3), i == 0 ? ", \"skin\": 0" : "",
                                 children.empty() ? "" : concat(", \"children\": [", children, "]"), " }"));
        if (nodes[i].is_joint) append_text(joints, concat(joints.empty() ? "" : ", ", i));
    }
    return text + "], \"skins\": [ { \"joints\": [" + joints + "] } ]";
}

Transform pose_of(Node fields) {
    Transform pose;
    const auto read = [&](std::string_view key, float* out) {
        if (const Node list = fields.find(key))
            for (const Node number : list) *out++ = static_cast<float>(number.as_double());
    };
    read("position", &pose.position.x);
    read("rotation", &pose.rotation.x);
    read("scale", &pose.scale.x);
    return pose;
}

Matrix3x4 matrix_of(const Transform& pose) { return local_matrix(pose.position, pose.rotation, pose.scale); }

/// Collects where nodes are, by name, from what an import says of entities, models and what is attached to them.
class PoseCollector {
public:
    std::map<std::string, Matrix3x4> worlds;
    std::map<std::string, Matrix3x4> joints;

    void place(Node entity, const Matrix3x4& above) {
        const Node components = entity.find("components");
        Matrix3x4 world = product(above, matrix_of(pose_of(components.find("transform"))));
        if (const Node attached = components.find("attached_to_node"))
            world = product(joints.at(std::string(attached.find("node").as_string())), matrix_of(pose_of(attached)));
        if (const Node model = components.find("model_pose"))
            for (const Node node : model.find("nodes")) {
                const Node parent = node.find("parent");
                const Matrix3x4& base = parent ? joints.at(std::string(parent.as_string())) : world;
                joints[std::string(node.find("name").as_string())] = product(base, matrix_of(pose_of(node)));
            }
        if (const Node name = entity.find("name")) worlds[std::string(name.as_string())] = world;
        if (const Node children = entity.find("children"))
            for (const Node child : children) place(child, world);
    }
};

void expect_near(const Matrix3x4& a, const Matrix3x4& b) {
    for (int row = 0; row < 3; ++row) {
        EXPECT_NEAR(a.row[row].x, b.row[row].x, 2e-4f);
        EXPECT_NEAR(a.row[row].y, b.row[row].y, 2e-4f);
        EXPECT_NEAR(a.row[row].z, b.row[row].z, 2e-4f);
        EXPECT_NEAR(a.row[row].w, b.row[row].w, 2e-4f);
    }
}

TEST_F(Gltf, random_scenes_put_every_node_where_the_file_does) {
    SCOPED_TRACE(seed_text());
    Random random(seed());
    const std::int64_t rounds = scaled_operations(1000);
    for (std::int64_t round = 0; round < rounds; ++round) {
        SCOPED_TRACE(round);
        std::vector<RandomNode> nodes = random_nodes(random);
        nodes[1].is_joint = true;
        const std::optional<ImportedGltf> imported = import(json_of(nodes));
        ASSERT_TRUE(imported) << diagnostics.format();
        const Result<Document> document =
            read_sjson(diagnostics.add_file("ship.sjson", imported->text), diagnostics, {640});
        ASSERT_TRUE(document.ok()) << diagnostics.format();
        PoseCollector placer;
        placer.place(document->root(), {});
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const std::string name = concat('n', i);
            SCOPED_TRACE(name);
            ASSERT_EQ(placer.joints.count(name), nodes[i].is_joint ? 1u : 0u) << imported->text;
            ASSERT_TRUE(nodes[i].is_joint || placer.worlds.count(name) == 1) << imported->text;
            if (nodes[i].is_joint) expect_near(placer.joints[name], nodes[i].world);
            if (placer.worlds.count(name) != 0) expect_near(placer.worlds[name], nodes[i].world);
        }
    }
}

TEST_F(Gltf, importing_again_gives_the_same_and_keeps_what_a_source_on_top_has_changed) {
    const std::string first =
        R"("nodes": [ { "name": "hull", "children": [1] }, { "name": "mast", "extras": { "height": 9 } } ])";
    const std::string second =
        R"("nodes": [ { "name": "keel" }, { "name": "mast", "extras": { "height": 12, "sails": 2 } },
                                             { "name": "hull", "children": [1], "translation": [0, 1, 0] } ])";
    file("root/mine.sjson",
         "prefab = \"ship.gltf.sjson\"\n"
         "modified_children = { \"hull/mast\" = { modified_components = { properties = { paint = \"red\" } }\n"
         "                                        components = { tag = \"tall\" } } }\n");
    options.compose.roots = {"root"};
    const std::string once = import(first)->text;
    EXPECT_EQ(import(first)->text, once);
    files.add("root/ship.gltf.sjson", once);
    EXPECT_EQ(outline("root/mine.sjson"),
              ". \"ship.gltf\" transform{}\n./hull \"hull\" transform{}\n"
              "./hull/mast \"mast\" transform{} properties{height=9 paint=red} tagtall\n");
    files.add("root/ship.gltf.sjson", import(second)->text);
    EXPECT_EQ(outline("root/mine.sjson"),
              ". \"ship.gltf\" transform{}\n./keel \"keel\" transform{}\n./hull \"hull\" transform{position=[0 1 0]}\n"
              "./hull/mast \"mast\" transform{} properties{height=12 sails=2 paint=red} tagtall\n");
    EXPECT_EQ(diagnostics.num_errors() + diagnostics.num_warnings(), 0u) << diagnostics.format();
}

}  // namespace
}  // namespace shoal_test
