"""Queries, batches, and the arrays that they show."""

import gc

import numpy as np
import pytest

import shoal
from worlds import bodies, new_world


def test_a_column_of_one_store_is_shown_without_a_copy():
    world = new_world()
    ids = bodies(world, 1000)
    with world.query("&body") as batches:
        assert len(batches) == 1
        batch = batches[0]
        assert batch.is_view("body.position") and batch["body.position"].shape == (1000, 3)
        batch["body.position"][:, 2] = 7
    assert world.get(ids[5], "body.position").tolist() == [5, 0, 7]


def test_operators_work_in_place():
    world = new_world()
    ids = bodies(world, 100)
    for batch in world.query("&body"):
        batch["body.position"] += batch["body.velocity"] * 0.5
        batch["body.mass"] = np.arange(100)
    del batch
    assert np.allclose(world.read(ids, "body.position")[:, 1], 1)
    assert world.get(ids[42], "body.mass") == 42


@pytest.mark.parametrize("default_store", ["managers", "database"])
def test_split_fields_are_parts(default_store):
    world = new_world(default_store=default_store)
    ids = world.create(50, split_body={"velocity": (1, 2, 3), "position": (5, 5, 5)})
    with world.query("&split_body") as batches:
        p, v = batches[0]["split_body.position"], batches[0]["split_body.velocity"]
        assert isinstance(p, shoal.Parts) and p.shape == (50, 3) and batches[0].is_view("split_body.position")
        p += v * 2.0
        p.x[10:] = 0
        p.z = p.z - 1
        p[:, 1] = np.arange(50)
        assert np.asarray(p).shape == (50, 3)
        p *= [1, 1, 10]
        batches[0]["split_body.velocity"] = p
        del p, v
    assert world.get(ids[3], "split_body.position").tolist() == [7, 3, 100]
    assert world.get(ids[30], "split_body.velocity").tolist() == [0, 30, 100]


def test_fields_of_whole_components_are_strided_views():
    world = new_world()
    ids = world.create(20, whole_body={"mass": np.arange(20), "kind": 3})
    with world.query("&whole_body") as batches:
        mass = batches[0]["whole_body.mass"]
        assert batches[0].is_view("whole_body.mass") and mass.strides[0] > mass.itemsize
        mass *= 2
        del mass
    assert world.read(ids, "whole_body.mass").tolist() == list(range(0, 40, 2))
    assert (world.read(ids, "whole_body.kind") == 3).all()


def test_rows_in_another_order_are_copies_that_are_written_back():
    world = new_world()
    ids = bodies(world, 300)
    order = np.random.default_rng(1).permutation(300)
    world.add(ids[order], "health", value=order)
    with world.query("body, &health") as batches:
        for batch in batches:
            rows = [batch.is_view("body.position"), batch.is_view("health.value")]
            assert rows.count(False) == 1
            assert np.array_equal(batch["body.position"][:, 0], batch["health.value"])
            batch["health.value"] += 1000
    assert np.array_equal(world.read(ids, "health.value"), np.arange(300) + 1000)


def test_a_comparison_leaves_rows_out():
    world = new_world()
    ids = bodies(world, 5000)
    with world.query("&body, body.position.x >= 4000") as batches:
        assert sum(len(b) for b in batches) == 1000
        for batch in batches:
            batch["body.mass"] = 9
    assert world.read(ids, "body.mass").sum() == 4000 + 9 * 1000


def test_a_row_in_the_middle_that_is_left_out_does_not_make_copies_of_long_runs():
    world = new_world()
    ids = bodies(world, 40_000)
    world.add(ids[20_000], "inactive")
    with world.query("&body") as batches:
        assert sum(len(b) for b in batches) == 39_999
        assert all(b.is_view("body.mass") for b in batches)


def test_optional_components_say_who_has_them():
    world = new_world()
    ids = bodies(world, 10)
    world.add(ids[::2], "health", value=50)
    with world.query("body, ?health") as batches:
        has = np.concatenate([b.has("health") for b in batches])
        values = np.concatenate([b["health.value"] for b in batches])
    assert has.sum() == 5 and (values[has] == 50).all()


def test_what_a_query_only_reads_cannot_be_written():
    world = new_world()
    bodies(world, 10)
    with world.query("body") as batches:
        with pytest.raises(ValueError, match="read-only"):
            batches[0]["body.mass"][:] = 1
        with pytest.raises(ValueError, match="read-only"):
            batches[0]["body.mass"] = 1


def test_writing_marks_what_is_derived():
    world = new_world()
    parent, child = world.create(2, transform={"position": [(1, 0, 0), (0, 5, 0)]})
    world.link([child], parent)
    for batch in world.query("&transform"):
        batch["transform.position"] += (10, 0, 0)
    assert world.get(child, "world_pose.matrix")[:, 3].tolist() == [21, 5, 0]
    assert world.get(child, "world_pose.position").tolist() == [21, 5, 0]


def test_the_position_of_a_matrix_is_an_array_of_its_own():
    world = new_world()
    ids = world.create(5, transform={"position": [(i, 2 * i, 5) for i in range(5)]})
    world.add(ids[1:3], "health", value=3)
    assert world.read(ids, "world_pose.position")[3].tolist() == [3, 6, 5]
    with world.query("world_pose") as (batch,):
        assert batch["world_pose.position"].tolist() == [[i, 2 * i, 5] for i in range(5)]
        assert batch["world_pose.position"].base is not None  # a view of the matrices
        assert batch["world_pose.position.y"].tolist() == [0, 2, 4, 6, 8]
    with world.query("health, world_pose, world_pose.position.x > 1") as (batch,):
        assert batch["world_pose.position"].tolist() == [[2, 4, 5]]


def test_the_position_of_a_matrix_is_written_beside_its_rows():
    world = shoal.World(shoal.Schema("components = { grip = { fields = { pose = matrix } }  hot = { fields = {} } }"))
    hands = world.create(3, grip={"pose.position": [(1, 2, 3), (4, 5, 6), (7, 8, 9)]})
    world.add(hands[2:], "hot")
    assert world.get(hands[1], "grip.pose").tolist() == [[1, 0, 0, 4], [0, 1, 0, 5], [0, 0, 1, 6]]
    for batch in world.query("&grip"):
        batch["grip.position"] += (0, 10, 0)
    for batch in world.query("hot, &grip"):  # a copy, which is written back
        batch["grip.pose.position"] = (0, 0, 0)
    assert world.read(hands, "grip.position").tolist() == [[1, 12, 3], [4, 15, 6], [0, 0, 0]]
    assert world.get(hands[2], "grip.pose")[:, :3].tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


def test_columns_of_parents_and_singletons_are_shown():
    world = new_world()
    parent, child = world.create(2, transform={}, health={"value": [7, 8]})
    world.link([child], parent)
    world.set("wind.force", (1, 2, 3))
    with world.query("transform, ^health, $wind") as batches:
        values = {int(e): (int(h), w.tolist()) for b in batches
                  for e, h, w in zip(b.entities, b["^health.value"], b["wind.force"])}
    assert values == {int(child): (7, [1, 2, 3])} or values[int(child)] == (7, [1, 2, 3])


def test_arrays_of_numbers_have_their_types():
    world = new_world()
    ids = world.create(3, grid={"cells": [[1, 2, 3, 4]] * 3, "on": [True, False, True], "big": 2**63, "exact": 0.1},
                       label={"text": ["a", "bc", "déf"], "id": "x"}, mood={"now": ["calm", "sad", "angry"]})
    with world.query("grid, label, mood") as batches:
        batch = batches[0]
        assert batch["grid.cells"].dtype == "u2" and batch["grid.cells"].shape == (3, 4)
        assert batch["grid.on"].tolist() == [True, False, True]
        assert batch["grid.big"][0] == 2**63 and batch["grid.exact"][0] == 0.1
        assert [t.decode() for t in batch["label.text"]] == ["a", "bc", "déf"]
        assert batch["mood"].tolist() == [0, 2, 1]
    assert world.get(ids[2], "mood.now") == "angry" and world.get(ids[1], "label.id") == "x"
    assert world.get(ids[2], "label.text") == "déf"


def test_texts_that_a_pass_gives_are_kept_when_the_world_settles():
    other = new_world()
    known = other.create(1, label={"id": "given in a pass"})
    with other.query("label") as batches:
        number = int(batches[0]["label.id"][0])
    world = new_world()
    ids = world.create(2, marker={})
    same = world.create(1, label={"id": number})
    assert world.get(same, "label.id") != "given in a pass", "the text is not known here"

    @world.runs("marker, ?label")
    def give(batch, frame):
        frame.add(batch.entities, "label", id="given in a pass")

    world.step()
    assert world.get(ids[1], "label.id") == world.get(same, "label.id") == other.get(known, "label.id")


def test_a_query_is_a_table():
    world = new_world()
    ids = bodies(world, 4)
    frame = world.query("body").to_frame()
    assert list(frame.columns) == ["body.mass", "body.position.x", "body.position.y", "body.position.z",
                                   "body.velocity.x", "body.velocity.y", "body.velocity.z"]
    assert frame.loc[int(ids[3]), "body.position.x"] == 3
    assert world.query("body").read("body.mass").tolist() == [1] * 4
    assert "<table>" in world.query("body")._repr_html_() and "<svg" in world.query("body")._repr_svg_()


def random_columns(world, rng):
    """Gives random entities random components, and returns what they should hold."""
    ids = world.create(200)
    model = {}
    for name, path, kind in [("body", "mass", "f4"), ("health", "value", "i4"), ("whole_body", "mass", "f4"),
                             ("split_body", "position", "f4")]:
        chosen = rng.permutation(ids)[:rng.integers(0, 201)]
        values = rng.integers(0, 100, (len(chosen), 3) if path == "position" else len(chosen)).astype(kind)
        world.add(chosen, name, **{path: values})
        model[f"{name}.{path}"] = {int(e): v for e, v in zip(chosen, values)}
    return ids, model


@pytest.mark.parametrize("default_store", ["managers", "database"])
def test_random_queries_show_and_write_what_a_model_says(default_store):
    rng = np.random.default_rng(5)
    for _ in range(40):
        world = new_world(default_store=default_store)
        ids, model = random_columns(world, rng)
        dead = rng.permutation(ids)[:rng.integers(0, 50)]
        world.destroy(dead)
        world.settle()
        paths = [p for p in model if rng.random() < 0.6] or ["body.mass"]
        text = ", ".join(("&" if rng.random() < 0.5 else "") + p.split(".")[0] for p in paths)
        wanted = set(map(int, ids)) - set(map(int, dead))
        for path in paths:
            wanted &= set(model[path])
        seen = []
        for batch in world.query(text):
            seen += batch.entities.tolist()
            for path in paths:
                values = np.asarray(batch[path])
                assert np.array_equal(values, np.array([model[path][e] for e in batch.entities.tolist()]))
                if "&" + path.split(".")[0] in text:
                    batch[path] += 1
                    for e in batch.entities.tolist():
                        model[path][e] = model[path][e] + 1
        values = None  # the step moves rows
        assert sorted(seen) == sorted(wanted)
        for path in paths:
            for e in sorted(wanted)[:20]:
                assert np.array_equal(world.get(e, path), model[path][e])
        gc.collect()
        world.step(0.1)
