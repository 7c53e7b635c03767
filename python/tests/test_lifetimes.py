"""Arrays, queries and batches that outlive what they show: calls raise, and nothing crashes."""

import gc

import numpy as np
import pytest

import shoal
from worlds import bodies, new_world

STRUCTURAL = {
    "create": lambda w, ids: w.create(10),
    "destroy": lambda w, ids: w.destroy(ids),
    "add": lambda w, ids: w.add(ids, "health"),
    "remove": lambda w, ids: w.remove(ids, "body"),
    "tag": lambda w, ids: w.tag(ids, "enemy"),
    "set": lambda w, ids: w.set(ids[0], "body.mass", 2),
    "step": lambda w, ids: w.step(0.1),
    "settle": lambda w, ids: w.settle(),
    "close": lambda w, ids: w.close(),
    "add_pass": lambda w, ids: w.add_pass("p", None, lambda frame: None),
}


@pytest.mark.parametrize("call", STRUCTURAL)
def test_nothing_moves_rows_while_a_block_is_open_or_an_array_is_left(call):
    world = new_world()
    ids = bodies(world, 100)
    with world.query("&body") as batches:
        mass, place = batches[0]["body.mass"], batches[0]["body.position"]
        with pytest.raises(shoal.BusyError, match='query "&body" is open'):
            STRUCTURAL[call](world, ids)
    with pytest.raises(shoal.BusyError, match=r"2 arrays of query .* \(body.mass, body.position\).*del"):
        STRUCTURAL[call](world, ids)
    part = place[5:, 0]
    del mass, place
    with pytest.raises(shoal.BusyError, match="1 array of query"):
        STRUCTURAL[call](world, ids)
    assert part[0] == 5
    del part
    STRUCTURAL[call](world, ids)


def test_arrays_are_read_only_behind_their_block():
    world = new_world()
    bodies(world, 10)
    with world.query("&body") as batches:
        mass = batches[0]["body.mass"]
        mass[0] = 3
    with pytest.raises(ValueError, match="read-only"):
        mass[0] = 4


@pytest.mark.parametrize("change", [lambda a: a.setflags(write=False), lambda a: a.resize(0, refcheck=False)])
def test_copies_that_were_locked_or_resized_end_with_their_block(change):
    world = new_world()
    ids = world.create(40, health={"value": range(40)})
    world.add(ids[::-1], "body")
    with world.query("&health, body") as batches:
        batch = next(b for b in batches if not (b.is_view("health.value") and b.is_view("body.mass")))
        name = "health.value" if not batch.is_view("health.value") else "body.mass"
        array = batch[name]
        change(array)
        del array
    world.destroy(ids)


def test_batches_and_frames_end_with_their_block():
    world = new_world()
    bodies(world, 10)
    with world.query("body") as batches:
        batch = batches[0]
    for use in [lambda: batch["body.mass"], lambda: len(batch), lambda: batch.entities, lambda: batch.columns,
                lambda: batch.has("body"), lambda: batch.is_view("body.mass")]:
        with pytest.raises(shoal.Error, match="block of this batch has ended"):
            use()
    kept = []
    world.add_pass("keep", None, kept.append)
    world.step()
    with pytest.raises(shoal.Error, match="pass of this frame has ended"):
        kept[0].create(1)


def test_an_array_keeps_the_memory_of_a_world_that_nobody_has():
    world = new_world()
    bodies(world, 1000)
    with world.query("body") as batches:
        places = batches[0]["body.position"]
    del world, batches
    gc.collect()
    assert places[:, 0].sum() == 999 * 500


def test_queries_of_a_closed_world_raise():
    world = new_world()
    bodies(world, 10)
    query = world.query("body")
    world.close()
    world.close()
    for use in [lambda: query.read("body.mass"), lambda: query.num_rows, lambda: query.components,
                lambda: world.create(1), lambda: world.alive(3), lambda: world.report(), lambda: world.step()]:
        with pytest.raises(shoal.Error, match="closed"):
            use()
    assert repr(world) == "<shoal.World, closed>"


def test_a_query_that_is_dropped_in_its_block_leaves_it():
    world = new_world()
    bodies(world, 10)
    query = iter(world.query("body"))
    next(query)
    del query
    gc.collect()
    world.create(1)


def test_an_error_in_a_block_leaves_it_and_keeps_what_was_written():
    world = new_world()
    ids = bodies(world, 10)
    with pytest.raises(KeyError):
        with world.query("&body") as batches:
            batches[0]["body.mass"][:] = 5
            raise KeyError
    assert world.get(ids[9], "body.mass") == 5
    world.destroy(ids)


def test_a_pass_that_keeps_arrays_stops_the_step_before_rows_move():
    world = new_world()
    ids = bodies(world, 10)
    kept = []
    world.add_pass("keep", "&body", lambda batch, frame: kept.append(batch["body.mass"]))
    with pytest.raises(shoal.BusyError, match='1 array of pass "keep".*before the world settles'):
        world.step()
    with pytest.raises(shoal.BusyError):
        world.create(1)
    kept.clear()
    world.destroy(ids)
    world.remove_pass("keep")
    world.step()


def test_a_pass_cannot_change_its_world_but_through_its_frame():
    world = new_world()
    ids = bodies(world, 3)
    seen = []

    def meddle(batch, frame):
        for call in STRUCTURAL.values():
            with pytest.raises(shoal.BusyError, match="passes run"):
                call(world, ids)
        assert world.alive(ids).all()
        seen.append(len(batch))

    world.add_pass("meddle", "body", meddle)
    world.step()
    assert seen == [3]


def test_values_that_change_the_world_while_they_are_converted_are_refused():
    world = new_world()
    ids = bodies(world, 3)

    class Sly:
        def __init__(self, call):
            self.call = call

        def __array__(self, dtype=None):
            self.call(world, ids)
            return np.zeros(3, "f4")

    for call in STRUCTURAL.values():
        with pytest.raises(shoal.BusyError, match="under way"):
            world.add(ids, "body", mass=Sly(call))
    opening = Sly(lambda w, _: w.query("body").__enter__())
    with pytest.raises(shoal.BusyError, match="under way"):
        world.write(ids, "body.mass", opening)


def test_an_error_in_the_block_of_a_world_is_not_hidden():
    with pytest.raises(LookupError):
        with new_world() as world:
            bodies(world, 3)
            with world.query("body") as batches:
                kept = batches[0]["body.mass"]
                raise LookupError
    assert not world.closed and kept.sum() == 3
    del kept
    world.close()


def test_no_store_is_made_while_a_block_is_open():
    world = new_world(default_store="database")
    ids = bodies(world, 3)
    with world.query("body"):
        for use in [lambda: world.has(ids, "point_mass"), lambda: world.query("point_mass"), lambda: world.query("#red"),
                    lambda: world.read(ids, "point_mass.mass")]:
            with pytest.raises(shoal.BusyError, match="is open; leave its block before the first use of"):
                use()
        assert world.has(ids, "health").sum() == 0
    assert world.has(ids, "point_mass").sum() == 0


@pytest.mark.parametrize("maker", [(shoal.parts, "Parts"), (np, "zeros")])
def test_a_block_that_ends_while_an_array_is_made_ends_the_call(monkeypatch, maker):
    world = new_world()
    ids = world.create(40, split_body={}, health={"value": range(40)})
    world.add(ids[::-1], "body")  # in another order than health: one of both is a copy
    with world.query("body, health") as batches:
        copied = "body.mass" if batches[0].is_view("health.value") else "health.value"
    block = world.query("split_body" if maker[1] == "Parts" else "body, health")
    batch = block.__enter__()[0]
    made = []

    def leave(*args, **more):
        made.append(real(*args, **more))
        block.__exit__()
        return made[-1]

    real = getattr(*maker)
    monkeypatch.setattr(*maker, leave)
    with pytest.raises(shoal.Error, match="block of this batch has ended"):
        batch["split_body.position" if maker[1] == "Parts" else copied]
    assert len(made) == 1
    made.clear()
    world.destroy(ids)


def test_a_world_that_is_closed_by_what_it_is_given_raises():
    class Closing:
        def __init__(self, world):
            self.world = world

        def __array__(self, *args, **more):
            self.world.close()
            return np.zeros(1, "u4")

    for use in [lambda w, e: w.get(e, "body.mass"), lambda w, e: w.set(e, "body.mass", 1), lambda w, e: w.alive(e),
                lambda w, e: w.has(e, "body"), lambda w, e: w.read(e, "body.mass"), lambda w, e: w.remove(e, "body")]:
        world = new_world()
        bodies(world, 3)
        with pytest.raises(shoal.Error, match="closed"):
            use(world, Closing(world))
