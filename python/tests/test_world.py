"""Worlds: schemas, blobs, entities, values, passes, reports."""

import gc

import numpy as np
import pytest

import shoal
from worlds import SCHEMA, bodies, new_world

LEVEL = """
entities = {
    rock = { name = "Rocky"  components = { transform = { position = [1 2 3] }  body = { mass = 5 } } }
    pebble = { components = { transform = { position = [0 0 1] }  body = {} } }
}
"""


def compiled():
    return shoal.compile(text=LEVEL, schema=shoal.Schema(SCHEMA), name="level")


def test_a_schema_says_what_there_is():
    components = shoal.Schema(SCHEMA).components
    assert components["health"] == {"value": "an int32"} and "transform" in components


def test_a_level_is_compiled_loaded_and_spawned(tmp_path):
    blob = compiled()
    (tmp_path / "level.blob").write_bytes(bytes(blob))
    for loaded in [blob, shoal.load(bytes(blob)), shoal.load(tmp_path / "level.blob")]:
        world = new_world()
        ids = world.spawn(loaded, 3, positions=[(0, 0, 0), (100, 0, 0), (200, 0, 0)])
        assert ids.shape == (3, 2) and loaded.num_entities == 2 and loaded.components["body"] == 2
        rock = ids[2, loaded.find("rock")]
        assert loaded.find("Rocky") == loaded.find("rock")
        assert world.get(rock, "body.mass") == 5
        assert world.get(rock, "transform.position").tolist() == [201, 2, 3]


# req: D6
def test_a_spawn_gives_entities_values_in_place_of_those_of_the_blob():
    blob, world = compiled(), new_world()
    ids = world.spawn(blob, 3, overrides={"rock": {"body.mass": 9, "transform.position": (1, 1, 1)},
                                          ("Rocky", 1): {"body.mass": 7, "transform.position.z": 4}})
    rocks = ids[:, blob.find("rock")]
    assert world.read(rocks, "body.mass").tolist() == [9, 7, 9]
    assert world.read(rocks, "transform.position").tolist() == [[1, 1, 1], [1, 1, 4], [1, 1, 1]]
    for wrong, message in [({"rok": {"body.mass": 1}}, 'no entity "rok"'),
                           ({"Rock": {"body.mass": 1}}, 'did you mean "Rocky"'),
                           ({"rock": {"body.mas": 1}}, 'did you mean "mass"'),
                           ({("rock", 3): {"body.mass": 1}}, "there is no copy 3; there are 3")]:
        with pytest.raises(shoal.Error, match=message):
            world.spawn(blob, 3, overrides=wrong)
    for wrong in [{"rock": 9}, {"rock": {"body.mass": "heavy"}}, {("rock", 1, 2): {}}, {("rock", -1): {}}, {7: {}}]:
        with pytest.raises((TypeError, ValueError, RuntimeError)):
            world.spawn(blob, 3, overrides=wrong)
    assert world.alive(ids.reshape(-1)).sum() == 6 and len(world.read(rocks, "body.mass")) == 3


def test_files_are_compiled_with_their_schemas(tmp_path):
    (tmp_path / "a.schema.sjson").write_text(SCHEMA)
    (tmp_path / "level.sjson").write_text(LEVEL)
    schema = shoal.Schema(files=tmp_path / "a.schema.sjson")
    blob = shoal.compile(tmp_path / "level.sjson", schema)
    assert blob.name == "level" and sorted(blob.names) == ["", "Rocky"]


def test_entities_live_until_they_are_destroyed():
    world = new_world()
    ids = world.create(5)
    assert ids.dtype == np.uint32 and world.alive(ids).all() and world.alive(ids[0]) is True
    assert world.destroy(ids[:2]) == 2 and world.destroy(ids[:2]) == 0
    assert world.alive(ids).tolist() == [False, False, True, True, True]
    assert world.alive(12345678) is False and world.alive(0) is False


def test_components_are_added_set_and_removed():
    world = new_world()
    ids = bodies(world, 10)
    world.add(ids[3:6], "health", value=[1, 2, 3])
    world.add(ids[4], "health", value=7)
    assert world.read(ids[3:6], "health.value").tolist() == [1, 7, 3]
    assert world.has(ids, "health").sum() == 3 and world.has(ids[3], "health") is True
    assert world.remove(ids, "health") == 3 and not world.has(ids, "health").any()
    world.set(ids[0], "body.position.z", 4)
    world.write(ids, "body.position.y", np.arange(10))
    assert world.get(ids[0], "body.position").tolist() == [0, 0, 4]
    assert world.get(ids[9], "body.position").tolist() == [9, 9, 0]
    world.set(ids[0], "properties.armor.front", 35)
    assert world.get(ids[0], "properties.armor.front") == 35


def test_tags_names_and_parents():
    world = new_world()
    ids = world.create(3, transform={"position": (0, 0, 1)})
    world.tag(ids[:2], "enemy")
    assert sorted(world.query("#enemy").entities()) == sorted(ids[:2])
    world.untag(ids[0], "enemy")
    assert world.query("#enemy").entities().tolist() == [ids[1]]
    world.name(ids[0], "Bruce")
    assert '"Bruce"' in world.describe(ids[0])
    world.link(ids[1:], ids[0])
    assert world.get(ids[1], "child_of.parent") == ids[0]
    assert world.get(ids[2], "world_pose.matrix")[2, 3] == 2
    world.unlink(ids[1])
    assert world.query("child_of").entities().tolist() == [ids[2]]


def test_a_failed_creation_leaves_nothing():
    world = new_world()
    before = world.report().entities
    with pytest.raises(shoal.Error, match="did you mean"):
        world.create(5, body={}, helth={})
    world.settle()
    assert world.report().entities == before and len(world.query("body").entities()) == 0


@pytest.mark.parametrize("workers", [1, 2])
def test_passes_run_in_order_and_ask_for_changes(workers):
    world = new_world(workers=workers)
    ids = bodies(world, 1000)
    log = []

    @world.runs("&body")
    def move(batch, frame):
        batch["body.position"] += batch["body.velocity"] * frame.dt
        log.append("move")

    @world.runs("body, body.position.x > 990", before="move")
    def die(batch, frame):
        frame.destroy(batch.entities)
        young = frame.create(2, body={"mass": [7, 8]}, health={})
        frame.tag(young, "young")
        frame.add(young[:1], "asleep", since=2.0)
        log.append("die")

    @world.runs(every_frames=2)
    def count(frame):
        log.append(f"count {frame.number} {frame.dt:g}")

    world.step(0.5)
    assert log == ["die", "move", "count 0 0.5"]
    assert world.alive(ids).sum() == 991
    young = world.query("#young, body").entities()
    assert sorted(world.read(young, "body.mass")) == [7, 8] and world.has(young, "asleep").sum() == 1
    world.remove_pass("die")
    world.step(0.5)
    assert len(log) == 4 and np.allclose(world.get(ids[0], "body.position"), [1, 2, 3])


def test_an_error_in_a_pass_ends_the_step_and_is_raised():
    world = new_world()
    ids = bodies(world, 10)

    def fail(batch, frame):
        batch["body.mass"] = 3
        frame.destroy(batch.entities[:1])
        raise LookupError("no plankton")

    world.add_pass("fail", "&body", fail)
    world.add_pass("after", "body", lambda batch, frame: pytest.fail("it ran"))
    with pytest.raises(LookupError, match="no plankton"):
        world.step()
    assert world.get(ids[5], "body.mass") == 3 and not world.alive(ids[0])


def test_random_numbers_of_passes_follow_the_seed():
    def draw(seed):
        world, drawn = new_world(seed=seed), []
        world.add_pass("draw", None, lambda frame: drawn.append(frame.rng().random()))
        world.step(), world.step()
        return drawn

    assert draw(1) == draw(1) != draw(2) and len(set(draw(1))) == 2


def test_runs_of_a_world_are_the_same():
    def run():
        world = new_world()
        bodies(world, 100)
        world.add_pass("move", "&body", lambda b, f: b["body.position"].__iadd__(b["body.velocity"] * f.dt) is None)
        for _ in range(10):
            world.step(0.1)
        return world.state_hash()

    assert run() == run()


def test_a_world_that_refers_to_itself_ends_when_it_is_closed():
    with new_world() as world:
        bodies(world, 10)
        world.add_pass("count", "body", lambda batch, frame: world.alive(1))
        world.step()
    assert world.closed
    gc.collect()


def test_reports_are_tables():
    world = new_world()
    bodies(world, 1000)
    world.add_pass("look", "body", lambda batch, frame: None)
    world.step()
    report = world.report()
    assert report.components.loc["body", "rows"] == 1000 and report.passes.loc["look", "runs"] == 1
    assert report.memory["used"].sum() > 28_000 and "body" in str(report)
    assert "<table>" in world._repr_html_() and "<svg" in world._repr_svg_()
    assert "entities" in repr(world) and "1000" not in repr(shoal.Schema(SCHEMA))


def test_reports_without_pandas_are_dicts(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    world = new_world()
    ids = bodies(world, 10)
    rows = {row["name"]: row for row in world.report().components}
    assert rows["body"]["rows"] == 10
    assert world.query("body").to_frame(["body.mass"])[0] == {"entity": int(ids[0]), "body.mass": 1.0}
