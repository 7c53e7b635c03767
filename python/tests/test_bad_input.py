"""What is wrong raises, with a message that says what, where and what to do; nothing is half-done."""

import math

import numpy as np
import pytest

import shoal
from worlds import SCHEMA, bodies, new_world


@pytest.fixture
def world():
    return new_world()


@pytest.fixture
def ids(world):
    return bodies(world, 4)


def test_sources_with_mistakes_say_where():
    with pytest.raises(shoal.CompileError, match=r'schema:1:23: error: .*\n.*1 \| components'):
        shoal.Schema("components = { body = 3 }")
    schema = shoal.Schema(SCHEMA)
    with pytest.raises(shoal.CompileError, match=r'sea:1:.*has no field "mas"; did you mean "mass"'):
        shoal.compile(text="entities = { a = { components = { body = { mas = 3 } } } }", schema=schema, name="sea")
    with pytest.raises(shoal.CompileError, match="nowhere.sjson"):
        shoal.compile("/nowhere.sjson", schema)
    with pytest.raises(shoal.CompileError, match="nowhere.schema"):
        shoal.Schema(files="/nowhere.schema.sjson")
    with pytest.raises(TypeError, match="path of a source, or its text"):
        shoal.compile()


def test_bad_blobs_are_refused():
    blob = bytes(shoal.compile(text="entities = { a = { components = { body = {} } } }", schema=shoal.Schema(SCHEMA)))
    for bad in [b"", b"hello", blob[:-1], blob[:100], blob[:50] + b"\xff" * 8 + blob[58:]]:
        with pytest.raises(shoal.Error):
            shoal.load(bad)
    with pytest.raises(shoal.Error, match="nowhere"):
        shoal.load("/nowhere.blob")
    other = shoal.World(shoal.Schema("components = { body = { fields = { mass = double } } }"))
    with pytest.raises(shoal.Error, match="body"):
        other.spawn(shoal.load(blob))


def test_unknown_names_are_answered_with_what_there_is(world, ids):
    with pytest.raises(shoal.Error, match='no component type "bodi"; did you mean "?body'):
        world.add(ids, "bodi")
    with pytest.raises(shoal.Error, match='"body" has no field "mas"; did you mean "?mass'):
        world.add(ids, "body", mas=2)
    with pytest.raises(shoal.Error, match="mas"):
        world.get(ids[0], "body.mas")
    with pytest.raises(shoal.Error, match=r'query "bdy": 1:1: .*did you mean "body"'):
        world.query("bdy")
    with world.query("body, health") as batches:
        assert batches == []
    with world.query("body") as batches:
        with pytest.raises(shoal.Error, match='shows no component "health"; it shows body'):
            batches[0]["health.value"]
        with pytest.raises(shoal.Error, match="several fields; write one of body.mass, body.position, body.velocity"):
            batches[0]["body"]
        with pytest.raises(shoal.Error, match="mas"):
            batches[0]["body.mas"]


@pytest.mark.parametrize("values, error, message", [
    ({"mass": "heavy"}, TypeError, '"body.mass" is a float'),
    ({"mass": [1, 2, 3]}, ValueError, '"body.mass": .*broadcast'),
    ({"position": [[1, 2, 3, 4]] * 4}, ValueError, "broadcast"),
    ({"mass": [1j] * 4}, TypeError, "complex"),
    ({"mass": object()}, TypeError, "object"),
    ({"mass": None}, TypeError, "object"),
])
def test_values_of_wrong_types_and_shapes_are_refused(world, ids, values, error, message):
    before = world.state_hash()
    with pytest.raises(error, match=message):
        world.add(ids, "body", **values)
    assert world.state_hash() == before


def test_numbers_have_to_fit(world, ids):
    with pytest.raises(ValueError, match="from -2147483648 to 2147483647; given are 3 to 3000000000"):
        world.add(ids, "health", value=[3, 4, 5, 3_000_000_000])
    with pytest.raises(ValueError, match="from 0 to 255"):
        world.add(ids, "whole_body", kind=-1)
    with pytest.raises(TypeError, match='"health.value" is an int32; .*float64'):
        world.add(ids, "health", value=2.5)
    with pytest.raises(ValueError, match='no value "glad"'):
        world.add(ids, "mood", now="glad")
    with pytest.raises(ValueError, match="room for 7 bytes"):
        world.add(ids, "label", text="a long text")
    with pytest.raises(TypeError, match="bool"):
        world.add(ids, "grid", on=2)


def test_numbers_of_64_bits_are_exact_or_errors(world, ids):
    world.add(ids, "grid")
    world.add(ids, "health")
    for value in (2**64 - 1, 2**53 + 1, np.uint64(2**64 - 1), np.int8(3)):
        world.set(ids[0], "grid.big", value)
        assert world.get(ids[0], "grid.big") == int(value)
    world.write(ids, "grid.big", [2**64 - 1, 1, 2**63, np.uint8(7)])
    assert world.read(ids, "grid.big").tolist() == [2**64 - 1, 1, 2**63, 7]
    for value in (2**64, -1, [2**64, 1, 1, 1], [2**64 - 1, -1, 0, 0], np.int64(-1)):
        with pytest.raises(ValueError, match="from 0 to 18446744073709551615; given are"):
            world.write(ids, "grid.big", value)
    for value in (2.0**60, [2**63, 1.5, 0, 0], True):
        with pytest.raises(TypeError, match="uint64"):
            world.write(ids, "grid.big", value)
    for value in (-2**63 - 1, 2**31, np.int64(-2**63)):
        with pytest.raises(ValueError, match="from -2147483648 to 2147483647; given are"):
            world.set(ids[0], "health.value", value)
    for value in (2**53, -2**60, 2**53 + 2, np.uint64(2**63)):
        world.set(ids[0], "grid.exact", value)
        assert world.get(ids[0], "grid.exact") == int(value)
    for value in (2**53 + 1, np.int64(-2**53 - 1), 2**64 - 1):
        with pytest.raises(ValueError, match=f'"grid.exact" holds doubles, which cannot be {int(value)}'):
            world.set(ids[0], "grid.exact", value)
    with pytest.raises(ValueError, match="holds floats, which cannot be 1e"):
        world.write(ids, "body.mass", [1, 1e300, 2, 3])
    world.write(ids, "body.mass", [1, math.inf, math.nan, 0.1])
    for value in (np.int64(-2**63), np.uint64(5), np.float32(1.5), np.bool_(True)):
        world.set(ids[0], "properties.any", value)
        assert world.get(ids[0], "properties.any") == value.item()
    with pytest.raises(ValueError, match="64 bits"):
        world.set(ids[0], "properties.any", np.uint64(2**63))


def test_stale_and_foreign_ids_are_refused(world, ids):
    world.destroy(ids[2])
    with pytest.raises(shoal.Error, match=f"entity 2 of 4, {ids[2]}, is dead"):
        world.add(ids, "health")
    with pytest.raises(shoal.Error, match="is dead"):
        world.get(ids[2], "body.mass")
    with pytest.raises(shoal.Error, match="is dead"):
        world.read(ids, "body.mass")
    with pytest.raises(shoal.Error, match="is dead"):
        world.add(ids[0], "target", who=ids[2])
    with pytest.raises(TypeError, match="whole numbers, not float64"):
        world.destroy([1.5])
    with pytest.raises(ValueError, match="from 0 to 4294967295"):
        world.alive(-1)
    with pytest.raises(ValueError):
        world.alive(2**40)
    with pytest.raises(shoal.Error, match="health"):
        world.get(ids[0], "health.value")


def test_calls_that_make_no_sense_say_so(world, ids):
    with pytest.raises(shoal.Error, match="the world has one"):
        world.add(ids, "wind", force=(1, 2, 3))
    with pytest.raises(shoal.Error, match="tag()"):
        world.set(ids[0], "tag.tag", "x")
    with pytest.raises(shoal.Error):
        world.set(ids[0], "world_pose.matrix", np.zeros((3, 4)))
    with pytest.raises(shoal.Error, match="is spawned"):
        world.add(ids, "zone")
    with pytest.raises(TypeError, match="takes a dict"):
        world.create(3, body=5)
    with pytest.raises(TypeError):
        world.create(-1)
    with pytest.raises(shoal.Error, match="no room"):
        world.create(2**40)
    with pytest.raises(ValueError, match="workers"):
        shoal.World(workers=0)
    with pytest.raises(ValueError, match="default_store"):
        shoal.World(default_store="attic")
    with pytest.raises(ValueError, match="finite"):
        world.step(float("nan"))
    with pytest.raises(TypeError, match="set"):
        world.set(ids[0], "body.mass")
    with pytest.raises(shoal.Error, match="has no entity"):
        shoal.compile(text="entities = {}").find("x")


def test_passes_that_cannot_be_are_refused(world, ids):
    world.add_pass("a", "body", lambda b, f: None)
    with pytest.raises(shoal.Error, match='"a" already; give this one another name'):
        world.add_pass("a", "body", lambda b, f: None)
    with pytest.raises(TypeError, match="function"):
        world.add_pass("b", "body", 3)
    with pytest.raises(TypeError, match="no aftre; there are after"):
        world.add_pass("b", "body", print, aftre="a")
    with pytest.raises(ValueError, match="every_frames"):
        world.add_pass("b", "body", print, every_frames=0)
    with pytest.raises(shoal.Error, match="nobody"):
        world.remove_pass("nobody")
    world.add_pass("b", None, lambda f: None, after="c")
    with pytest.raises(shoal.Error, match='"c"'):
        world.step()
    world.remove_pass("b")
    world.step()


def test_frames_refuse_what_worlds_refuse(world, ids):
    def ask(batch, frame):
        with pytest.raises(shoal.Error, match="no store keeps"):
            frame.add(ids, "bodi")
        with pytest.raises(shoal.Error, match="dead"):
            frame.destroy([77])
        with pytest.raises(ValueError, match="broadcast"):
            frame.add(ids, "body", mass=[1, 2, 3])
        with pytest.raises(ValueError):
            frame.tag(ids, "")

    world.add_pass("ask", "body", ask)
    world.step()
    assert (world.read(ids, "body.mass") == 1).all()


def test_copies_of_one_field_are_not_written_back_twice(world, ids):
    world.add(ids[::-1], "health", value=3)
    with world.query("&body, &health") as batches:
        name = "body.position" if not batches[0].is_view("body.position") else None
        if name is not None:
            with pytest.raises(shoal.Error, match="both would be written back"):
                batches[0]["body.position.x"]
