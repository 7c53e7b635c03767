"""How fast NumPy is on columns of a world, beside its own arrays: `./dev bench python`.

Runs of both alternate, so that a busy machine slows both; medians are compared.
"""

import statistics
import sys
import time

import numpy as np

import shoal

ROWS = 1_000_000
DT = np.float32(0.016)
SCHEMA = """
components = {
    apart = { fields = { p = vec3  v = vec3 } }
    split = { fields = { p = { type = vec3  split = true }  v = { type = vec3  split = true } } }
    place = { fields = { p = vec3 } }
    motion = { fields = { v = vec3 } }
}
"""


def timed(function):
    begin = time.perf_counter()
    function()
    return (time.perf_counter() - begin) * 1e3


def move_arrays(p, v):
    p += v * DT


def move_lists(p, v):
    for to, by in zip(p, v):
        to += by * DT


def move_parts(query, p, v):
    for batch in query:
        for place, velocity in zip(batch[p].arrays, batch[v].arrays):
            place += velocity * DT


def move_batches(query, p, v):
    for batch in query:
        place, velocity = batch[p], batch[v]
        place += velocity * DT


def compare(name, ours, theirs, runs):
    """Prints medians and their ratio."""
    times = [(timed(ours), timed(theirs)) for _ in range(runs)][1:]
    of_ours, of_theirs = (statistics.median(column) for column in zip(*times))
    print(f"{name:<34} {of_ours:8.3f} ms {of_theirs:8.3f} ms  {of_ours / of_theirs:5.2f}")
    return of_ours / of_theirs


def main(runs=31):
    world = shoal.World(shoal.Schema(SCHEMA))
    rng = np.random.default_rng(1)
    values = rng.random((ROWS, 3), "f4")
    world.create(ROWS, apart={"p": values, "v": values})
    world.create(ROWS, split={"p": values, "v": values})
    ids = world.create(ROWS, place={"p": values}, motion={"v": values})
    p, v = values.copy(), values.copy()
    lanes_p, lanes_v = ([values[:, i].copy() for i in range(3)] for _ in range(2))
    print(f"{'p += v * dt, 1,000,000 rows':<34} {'shoal':>11} {'NumPy':>11}  ratio")
    compare("one component", lambda: move_batches(world.query("&apart"), "apart.p", "apart.v"),
            lambda: move_arrays(p, v), runs)
    compare("split, part by part", lambda: move_parts(world.query("&split"), "split.p", "split.v"),
            lambda: move_lists(lanes_p, lanes_v), runs)
    compare("split, p += v * dt", lambda: move_batches(world.query("&split"), "split.p", "split.v"),
            lambda: move_lists(lanes_p, lanes_v), runs)
    compare("two components in the same order", lambda: move_batches(world.query("&place, motion"), "place.p", "motion.v"),
            lambda: move_arrays(p, v), runs)
    world.destroy(rng.permutation(ids)[: ROWS // 10])
    world.remove(rng.permutation(ids)[: ROWS // 2], "motion")
    world.settle()
    order = np.arange(world.query("place, motion").num_rows)
    few_p, few_v = values[: len(order)].copy(), values[: len(order)].copy()
    compare("two components in another order", lambda: move_batches(world.query("&place, motion"), "place.p", "motion.v"),
            lambda: move_arrays(few_p, few_v), runs)
    query = world.query("&apart, apart.p.x < -1")
    compare("a comparison that finds no row", lambda: list(query), lambda: np.flatnonzero(p[:, 0] < -1), runs)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
