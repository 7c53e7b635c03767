"""Worlds that several tests use."""

import numpy as np

import shoal

SCHEMA = """
components = {
    body = { fields = {
        mass = { type = float  default = 1 }
        position = vec3
        velocity = vec3
    } }
    split_body = { fields = { position = { type = vec3  split = true }  velocity = { type = vec3  split = true } } }
    whole_body = { whole = true  fields = { mass = float  position = vec3  kind = uint8 } }
    health = { fields = { value = { type = int32  default = 100 } } }
    mood = { fields = { now = { type = enum  values = [calm angry sad] } } }
    asleep = { enableable = true  fields = { since = float } }
    target = { fields = { who = entity } }
    label = { fields = { text = { type = fixed_string  capacity = 8 }  id = string_id } }
    grid = { fields = { cells = { type = uint16  array = 4 }  on = bool  big = uint64  exact = double } }
    wind = { singleton = true  fields = { force = vec3 } }
    marker = {}
}
"""


def new_world(**options):
    return shoal.World(shoal.Schema(SCHEMA), **options)


def bodies(world, count, **more):
    """Bodies at 0, 1, 2 ... along x."""
    places = np.zeros((count, 3), "f4")
    places[:, 0] = np.arange(count)
    return world.create(count, body={"position": places, "velocity": (1, 2, 3)}, **more)
