"""Where the fish of the reef are: density by zone over time, as a plot.

    reef_density.py [--fish 4000] [--frames 120] [--out build/reef_density.svg]

The sea is that of samples/reef: its sources are compiled and spawned, with the component types that its C++ declares given as
text. Passes in NumPy let fish swim with the current, with the fish of their zone, and around reefs. Zones are tiles of 64 m;
fish that cross a border change zones when the world settles.
"""

import argparse
import pathlib

import numpy as np

import shoal

REEF = pathlib.Path(__file__).resolve().parents[2] / "samples" / "reef"
SIZE, TILE = 512, 64  # metres
TILES = SIZE // TILE
SCHEMA = """
components = {
    place = { fields = { position = { type = vec3  unit = m  split = true } } }
    swim = { fields = {
        velocity = { type = vec2  unit = "m/s"  split = true }
        urge = { type = vec2  unit = "m/s2"  split = true }
        speed = { type = float  unit = "m/s"  default = 2 }
    } }
    fish = { fields = { species = { type = enum  values = [sardine fusilier snapper parrotfish] } } }
    sated = { enableable = true  fields = { left = { type = float  default = 20 } } }
    hunter = { fields = { rest = float  appetite = { type = float  default = 6 } } }
    bloom = { fields = { meals = { type = float  default = 60 } } }
    reef = { fields = { radius = { type = float  default = 8 } } }
    school = { fields = {
        species = { type = enum  values = [sardine fusilier snapper parrotfish] }
        weight = { type = float  default = 1 }
        length = { type = float  default = 120 }
        width = { type = float  default = 40 }
        heading = float
        bend = float
    } }
}
"""
GROUPS = ["school/sardines", "school/fusiliers", "school/snappers", "school/parrotfish"]


def build_sea(schema):
    """A world with the reefs, in tiles."""
    world = shoal.World(schema, default_store="database")
    world.keep_in_tiles("place.position", origin=(-SIZE / 2, -SIZE / 2, 0), tile_size=TILE, num_x=TILES, num_y=TILES)
    world.spawn(shoal.compile(REEF / "sea.sjson", schema, roots=[REEF]))
    reefs = world.query("reef, transform").entities()
    world.write(reefs, "place.position", world.read(reefs, "world_pose.matrix")[:, :, 3])
    return world


def spawn_fish(world, schema, count, rng):
    """Spawns groups of 40 around the places of schools, each school with its share."""
    schools = world.query("school, transform").entities()
    weights = world.read(schools, "school.weight")
    species = world.read(schools, "school.species")
    centres = world.read(schools, "transform.position")
    blobs = [shoal.compile(REEF / f"{group}.sjson", schema, roots=[REEF]) for group in GROUPS]
    shares = np.maximum(1, np.round(count / 40 * weights / weights.sum())).astype(int)
    for centre, kind, groups in zip(centres, species, shares):
        fish = np.atleast_2d(world.spawn(blobs[kind], int(groups)))
        places = world.read(fish, "place.position").reshape(*fish.shape, 3)
        places += (centre + rng.normal(0, (20, 20, 0), (groups, 3)))[:, None, :]
        world.write(fish, "place.position", places.reshape(-1, 3))
        angle = rng.uniform(0, 2 * np.pi, groups).repeat(fish.shape[1])
        world.write(fish, "swim.velocity", 2 * np.stack([np.cos(angle), np.sin(angle)], axis=1))
    world.settle()


def add_passes(world):
    """What fish do in a frame."""
    reefs = world.read(world.query("reef, place").entities(), "place.position")[:, :2]

    @world.runs("&swim, place, fish")
    def flock(batch, frame):
        place, velocity, urge = batch["place.position"], batch["swim.velocity"], batch["swim.urge"]
        urge.x = -place.y * 0.002 - velocity.x * 0.06  # the current turns around the middle
        urge.y = place.x * 0.002 - velocity.y * 0.06
        for wish, own in zip(urge.arrays, velocity.arrays):
            wish += (own.mean() - own) * 0.8  # fish of a zone swim in one direction
        here = np.array([place.x.mean(), place.y.mean()])
        way = reefs[np.square(reefs - here).sum(axis=1).argmin()] - here
        urge += 0.3 * way / max(float(np.hypot(*way)), 8)  # and towards the next reef
        for wish, at in zip(urge.arrays, place.arrays):
            wish += np.where(np.abs(at) > SIZE / 2 - 20, -np.sign(at) * 3, 0)

    @world.runs("&swim, &place")
    def swim(batch, frame):
        place, velocity = batch["place.position"], batch["swim.velocity"]
        velocity += batch["swim.urge"] * frame.dt
        fastest = batch["swim.speed"] * 2.2
        faster = np.maximum(np.hypot(velocity.x, velocity.y) / fastest, 1)
        for at, by in zip(place.arrays, velocity.arrays):
            by /= faster
            at += by * frame.dt
            np.clip(at, 1 - SIZE / 2, SIZE / 2 - 1, out=at)


def count_fish(world):
    """Fish by tile, as a grid."""
    grid = np.zeros(TILES * TILES + 1, int)
    for zone in world._zones():
        if zone["component"] == "fish":
            grid[zone["zone"]] = zone["rows"]
    return grid[:-1].reshape(TILES, TILES)


def simulate(num_fish, frames, dt=0.25):
    """Returns the number of fish by frame and tile."""
    schema = shoal.Schema(SCHEMA, files=REEF / "reef.schema.sjson")
    with build_sea(schema) as world:
        spawn_fish(world, schema, num_fish, np.random.default_rng(1))
        add_passes(world)
        counts = [count_fish(world)]
        for _ in range(frames):
            world.step(dt)
            counts.append(count_fish(world))
        print(world.report().passes if frames else "no frames")
    return np.array(counts), dt


def plot(counts, dt, path):
    """Draws the first and the last frame as maps, and the zones that change most over time."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (first, last, lines) = pyplot.subplots(1, 3, figsize=(15, 4.5), width_ratios=[1, 1, 1.4])
    density = counts / (TILE / 100) ** 2  # fish per hectare
    for axes, frame, title in [(first, 0, "at first"), (last, -1, f"after {dt * (len(counts) - 1):g} s")]:
        image = axes.imshow(density[frame], origin="lower", extent=[-SIZE / 2, SIZE / 2] * 2, cmap="viridis",
                            vmax=density.max())
        axes.set(title=f"fish per hectare, {title}", xlabel="x in m", ylabel="y in m")
        figure.colorbar(image, ax=axes)
    by_zone = density.reshape(len(counts), -1)
    for zone in np.argsort(np.ptp(by_zone, axis=0))[-6:][::-1]:
        lines.plot(np.arange(len(counts)) * dt, by_zone[:, zone], label=f"zone {zone}")
    lines.set(title="zones that change most", xlabel="time in s", ylabel="fish per hectare")
    lines.legend()
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fish", type=int, default=4000)
    parser.add_argument("--frames", type=int, default=120)
    parser.add_argument("--out", default="build/reef_density.svg")
    options = parser.parse_args(arguments)
    counts, dt = simulate(options.fish, options.frames)
    plot(counts, dt, options.out)
    print(f"drawn: {options.out}")
    return counts


if __name__ == "__main__":
    main()
