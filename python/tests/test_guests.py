"""What a world calls functions for besides passes, and what is done with a world as a whole: observers, events, states, copies,
reloads."""

import gc
import weakref

import numpy as np
import pytest

import shoal
from worlds import SCHEMA, bodies, new_world

HIT = [("who", "u4"), ("damage", "f4")]


def test_observers_tell_what_has_come_changed_and_gone():
    world, told = new_world(), []
    world.on_add("body", lambda ids: told.append(("add", ids.tolist())))
    world.on_remove("body", lambda ids, before: told.append(("remove", ids.tolist(), before["mass"].tolist())))
    number = world.on_change("body.mass", lambda ids, before: told.append(("change", ids.tolist(), sorted(before))))
    ids = bodies(world, 3)
    assert told == [], "the world has not settled"
    world.settle()
    assert told == [("add", ids.tolist())]
    world.set(ids[1], "body.mass", 5)
    world.set(ids[2], "body.velocity", (0, 0, 0))
    world.step()
    assert told[1:] == [("change", [ids[1]], ["mass"])]
    world.off(number)
    world.set(ids[0], "body.mass", 7)
    world.remove(ids[1], "body")
    world.step()
    assert told[2:] == [("remove", [ids[1]], [5.0])]
    with pytest.raises(shoal.Error, match=f"has no observer {number}"):
        world.off(number)


def test_what_an_observer_raises_is_raised_when_the_world_has_settled():
    world, told = new_world(), []

    def fail(ids):
        raise KeyError("mine")

    world.on_add("body", fail)
    world.on_add("body", told.append)
    bodies(world, 1)
    with pytest.raises(KeyError, match="mine"):
        world.step()
    assert len(told) == 1, "the others are called all the same"
    world.step()
    assert world.frame == 2


def test_observers_change_the_world_but_do_not_step_save_or_query_it():
    world, refused = new_world(), []

    def grow(ids):
        calls = [world.step, world.settle, world.save, world.close, lambda: world.load(b""), lambda: list(world.query("body"))]
        for call in calls:
            with pytest.raises(shoal.BusyError, match="an observer runs"):
                call()
            refused.append(call)
        if len(ids) > 1:
            world.create(1, body={"mass": world.read(ids, "body.mass").sum()})

    world.on_add("body", grow)
    bodies(world, 3)
    world.settle()
    world.settle()
    assert len(refused) == 12
    assert sorted(world.query("body").read("body.mass").tolist()) == [1, 1, 1, 3]


def test_observers_of_what_is_not_there_are_refused():
    world = new_world()
    for path, why in [("bodi", 'did you mean "body"'), ("body.mas", 'did you mean "mass"')]:
        with pytest.raises(shoal.Error, match=why):
            world.on_change(path, print)
    with pytest.raises(shoal.Error, match="only an observer of changes names a field"):
        world.on_add("body.mass", print)
    with pytest.raises(TypeError, match="needs a function"):
        world.on_add("body", 3)


@pytest.mark.parametrize("workers", [1, 3])
def test_events_reach_later_passes_and_the_next_frame(workers):
    world, heard = new_world(workers=workers), []
    hits = world.channel("hits", HIT)
    ids = bodies(world, 4)

    @world.runs("body", writes_to="hits")
    def bite(batch, frame):
        hits.write([(who, 2.5) for who in batch.entities])

    @world.runs(reads_from=["hits"])
    def hear(frame):
        heard.append((hits.read()["who"].tolist(), hits.read_last()["damage"].tolist()))

    world.step()
    world.step()
    assert heard == [(ids.tolist(), []), (ids.tolist(), [2.5] * 4)]
    assert hits.read_last().dtype == np.dtype(HIT)
    assert hits.read().size == 0
    hits.write(np.array([(7, 1)], HIT))
    assert hits.read().tolist() == [(7, 1.0)]


def test_passes_use_the_channels_that_they_declare():
    world, hits = new_world(), None
    with pytest.raises(shoal.Error, match='has opened no channel "hits"; open it with World.channel'):
        world.add_pass("early", None, print, writes_to="hits")
    hits = world.channel("hits", HIT)
    world.channel("other", "f8")
    world.add_pass("reads", None, lambda frame: hits.write([(1, 1)]), reads_from="hits")
    with pytest.raises(shoal.Error, match='pass "reads" does not declare the channel; add writes_to='):
        world.step()
    world.remove_pass("reads")
    world.add_pass("free", None, lambda frame: hits.write([(1, 1)]))
    world.step()
    assert len(hits.read_last()) == 1, "a pass that declares nothing runs alone"
    with pytest.raises(shoal.Error, match="of another dtype"):
        world.channel("hits", "f4")
    with pytest.raises(TypeError, match="plain values"):
        world.channel("objects", object)
    with pytest.raises((TypeError, ValueError)):
        hits.write(["nonsense"])
    world.close()
    with pytest.raises(shoal.Error, match="closed"):
        hits.read()


def test_a_state_is_loaded_and_the_run_goes_on_as_it_did():
    world = new_world()
    hits = world.channel("hits", HIT)

    @world.runs("&body", writes_to="hits")
    def wander(batch, frame):
        batch["body.position"] += frame.rng().random((len(batch), 3), "f4")
        hits.write([(frame.number, 1)])

    ids = bodies(world, 5)
    world.step()
    state = world.save()
    world.step()
    after = world.state_hash()
    world.destroy(ids[:2])
    world.step()
    world.load(state)
    assert (world.frame, world.alive(ids).all(), hits.read_last().tolist()) == (1, True, [(0, 1.0)])
    world.step()
    assert world.state_hash() == after
    before = world.state_hash()
    for bad in [b"", state[:-1], b"x" * 100]:
        with pytest.raises(shoal.Error):
            world.load(bad)
    assert world.state_hash() == before
    with world.query("body"):
        with pytest.raises(shoal.BusyError, match="before loading"):
            world.load(state)


def test_entities_are_copied_with_what_is_below_them():
    world = new_world()
    ship, mast = world.create(2, transform={}, body={"mass": [7, 3]})
    world.link(mast, ship)
    twin = world.copy(ship)
    assert world.get(twin, "body.mass") == 7
    assert len(world.copy(ship, 3)) == 3
    assert sorted(world.query("body, child_of").read("body.mass").tolist()) == [3] * 5
    world.add_pass("bud", None, lambda frame: frame.add(frame.copy([ship, mast]), "health", value=1))
    world.step()
    assert sorted(world.query("body, health").read("body.mass").tolist()) == [3, 7]
    assert len(world.query("body, child_of").entities()) == 6
    world.destroy(ship)
    with pytest.raises(shoal.Error, match="dead"):
        world.copy(ship)


def test_what_was_spawned_becomes_what_a_newer_blob_says():
    schema = shoal.Schema(SCHEMA)
    source = "entities = { crab = { components = { body = { mass = %d } health = { value = 3 } } } }"
    old, new = (shoal.compile(text=source % mass, schema=schema, name="crab") for mass in (2, 5))
    world = shoal.World(schema, reloadable=True)
    ids = world.spawn(old, copies=3)
    world.set(ids[0][0], "health.value", 9)
    heard = []
    world.on_change("body.mass", lambda changed, before: heard.append(before["mass"].tolist()))
    world.settle()
    report = world.reload(old, new)
    assert (report["copies"], report["changed"]) == (3, 3)
    assert world.read(ids[:, 0], "body.mass").tolist() == [5, 5, 5]
    assert world.get(ids[0][0], "health.value") == 9, "what the program has changed stays"
    world.settle()
    assert heard == [[2, 2, 2]]
    with pytest.raises(shoal.Error, match="reloadable=True"):
        shoal.World(schema).reload(old, new)


def test_queries_and_passes_follow_a_schema_that_a_reload_brings():
    def blob(fields, value):
        schema = shoal.Schema("components = { lamp = { fields = { %s } } }" % fields)
        return shoal.compile(text="entities = { a = { components = { lamp = { light = %s } } } }" % value, schema=schema,
                             name="lamps")

    old, new = blob("light = float", 8), blob("colour = vec3  light = double", 6)
    with shoal.World(reloadable=True) as world:
        world.spawn(old)
        query = world.query("&lamp")

        @world.runs("&lamp")
        def dim(batch, frame):
            batch["lamp.light"] *= 0.5

        world.step()
        world.reload(old, new)
        assert query.read("lamp.light").tolist() == [6.0]
        assert query.read("lamp.light").dtype == np.float64
        world.step()
        assert query.read("lamp.light").tolist() == [3.0]


def test_functions_go_with_their_world():
    class Ears:
        def hear(self, *told):
            pass

    world, ears = new_world(), Ears()
    world.on_add("body", ears.hear)
    number = world.on_remove("body", ears.hear)
    world.add_pass("hear", None, ears.hear)
    world.off(number)
    seen = weakref.ref(ears)
    del ears
    gc.collect()
    assert seen() is not None
    world.close()
    gc.collect()
    assert seen() is None
