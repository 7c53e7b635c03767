"""shoal, a data-oriented entity system: worlds whose columns are NumPy arrays.

    import shoal

    world = shoal.World(shoal.Schema("components = { body = { fields = { position = vec3  velocity = vec3 } } }"))
    stones = world.create(100_000, body={"velocity": (1, 0, 3)})
    with world.query("&body") as batches:
        for batch in batches:
            batch["body.position"] += batch["body.velocity"] * 0.5  # in place: the arrays are the world's columns

Entities are numbers, and many entities are arrays of them. While arrays over columns are in use, calls that would move rows
raise BusyError: see docs/guide/python.md.
"""

import os

from . import _core
from ._core import Batch, Blob, BusyError, Channel, CompileError, Error, Frame
from .parts import Parts
from .report import Report, frame, table

__all__ = ["Batch", "Blob", "BusyError", "Channel", "CompileError", "Error", "Frame", "Parts", "Query", "Report", "Schema",
           "World", "compile", "load"]
__version__ = "0.1.0"


class Schema(_core.Schema):
    """Component types and rules for sources: the built-in ones, and those that schema files declare.

    ``Schema(text)`` reads a text, ``Schema(files=["reef.schema.sjson"])`` files. A schema with mistakes raises CompileError.
    ``schema.components`` says which types there are, and which fields they have.
    """

    def __init__(self, text=None, *, files=()):
        super().__init__()
        for path in [files] if isinstance(files, (str, os.PathLike)) else files:
            self._add_file(os.fspath(path))
        if text is not None:
            self._add_text(text, "schema")

    def __repr__(self):
        return f"<shoal.Schema of {', '.join(self.components)}>"


def compile(path=None, schema=None, *, text=None, roots=(), name="", strict=False):
    """Compiles a source, a file or a text, to a Blob.

    ``roots`` are the folders that names of prefabs are relative to. Raises CompileError, whose message has all mistakes
    with file, line and column; ``blob.warnings`` has the others. With ``strict``, warnings are errors.
    """
    if (path is None) == (text is None):
        raise TypeError("compile() takes the path of a source, or its text=")
    schema = Schema() if schema is None else schema
    roots = [os.fspath(root) for root in ([roots] if isinstance(roots, (str, os.PathLike)) else roots)]
    if text is not None:
        return _core._compile_text(text, schema, roots, name, strict)
    return _core._compile_path(os.fspath(path), schema, roots, name, strict)


def load(source):
    """Loads a compiled blob: bytes, or the path of a file. Raises Error when it is damaged, and says where."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _core._load_bytes(bytes(source))
    return _core._load_path(os.fspath(source))


class Query:
    """A query of a world, from text: a context manager over its batches, made by World.query().

    In the block rows stay where they are; when it ends, what the query writes (``&name``) is marked as written. A loop
    over the query itself is such a block.
    """

    def __init__(self, core):
        self._core = core

    text = property(lambda self: self._core.text, doc="As it was given.")
    num_rows = property(lambda self: self._core.num_rows, doc="How many rows may match; a loop visits no more.")
    components = property(lambda self: self._core.components, doc="The components whose columns it shows.")

    def __enter__(self):
        return self._core._enter()

    def __exit__(self, *_):
        self._core._leave()
        return False

    def __iter__(self):
        with self as batches:
            yield from batches

    def read(self, name):
        """Returns a copy of a column, of all rows: ``query.read("body.position")``."""
        import numpy

        with self as batches:
            return numpy.concatenate([numpy.asarray(batch[name]) for batch in batches]) if batches else numpy.empty(0)

    def entities(self):
        """Returns the entities of all rows."""
        import numpy

        with self as batches:
            return numpy.concatenate([batch.entities for batch in batches]) if batches else numpy.empty(0, "u4")

    def to_frame(self, names=None):
        """Returns a copy of columns as a table with a row per entity; a vector is a column per part.

        With pandas it is a data frame, without, a list of dicts.
        """
        rows = []
        with self as batches:
            for batch in batches:
                columns = {"entity": batch.entities}
                for name in batch.columns if names is None else names:
                    _flatten(columns, name, batch[name])
                columns = {name: values.tolist() for name, values in columns.items()}
                rows += [dict(zip(columns, row)) for row in zip(*columns.values())]
        return table(rows, "entity")

    def __repr__(self):
        return f"<shoal.Query {self.text!r}>"

    def _repr_html_(self):
        from .report import _html

        rows = []
        with self as batches:
            for batch in batches[:1]:
                for i in range(min(len(batch), 10)):
                    values = {name: batch[name][i] for name in batch.columns}
                    rows.append({"entity": batch.entities[i], **values})
        return f"<p>{self.text.replace('&', '&amp;').replace('<', '&lt;')}</p>" + _html(rows)

    def _repr_svg_(self):
        """Where the rows are, seen from above, by the first column that holds positions."""
        import numpy

        with self as batches:
            names = [n for n in (batches[0].columns if batches else []) if n.endswith(".position")]
            points = [numpy.array(batch[names[0]], "f4") for batch in batches] if names else []
        if not points:
            return None
        return _core._picture_of_points(self.text, numpy.concatenate(points))


def _flatten(columns, name, values):
    import numpy

    values = numpy.asarray(values)
    if values.ndim == 1:
        columns[name] = values
        return
    values = values.reshape(len(values), -1) if len(values) else values.reshape(0, 1)
    for part in range(values.shape[1]):
        columns[f"{name}.{'xyzw'[part] if values.shape[1] <= 4 else part}"] = values[:, part]


class World(_core.World):
    """A world: entities, their components, passes, and a step that runs them.

    ``schema`` says which component types there are; ``workers`` how many threads work for passes that are not Python's and
    for settling; ``default_store`` where component types are kept, "managers" or "database"; a ``reloadable`` world remembers
    what was spawned from which blob. ``close()``, or a ``with`` block, ends the world.
    """

    def __init__(self, schema=None, *, seed=1, workers=1, default_store="managers", reloadable=False):
        super().__init__(schema, seed=seed, workers=workers, default_store=default_store, reloadable=reloadable)

    def __enter__(self):
        return self

    def __exit__(self, error, *_):
        try:
            self.close()
        except BusyError:
            if error is None:
                raise  # otherwise the arrays are those of the code that failed
        return False

    # Entities.

    def create(self, count, **components):
        """Creates entities, and gives them components: ``create(3, body={"mass": [1, 2, 3]})``."""
        return self._create(count, components)

    def spawn(self, blob, copies=1, positions=None, overrides=None):
        """Spawns a blob. Returns its entities, in its order; of several copies, one row per copy.

        ``overrides={"lamp": {"light.range": 9}}`` gives an entity, by its GUID path or its name, values in place of those of
        the blob, in all copies; ``{("lamp", 2): ...}`` in copy 2 alone."""
        entities = self._spawn(blob, copies, positions, overrides or {})
        return entities if copies == 1 else entities.reshape(copies, -1)

    def copy(self, entity, count=None):
        """Copies an entity with its components, what is below it in the transforms, and what it owns.

        Returns the copy; with a ``count``, an array of so many."""
        copies = self._copy(entity, 1 if count is None else count)
        return int(copies[0]) if count is None else copies

    def destroy(self, entities):
        """Destroys entities, and returns how many lived."""
        return self._destroy(entities)

    def alive(self, entities):
        """Whether entities live: a bool for one, an array for many."""
        return _as_given(self._alive(entities), entities)

    # Components.

    def add(self, entities, component, **values):
        """Gives living entities a component, or sets the one that they have; values are one for all, or one for each."""
        self._add(entities, component, values)

    def remove(self, entities, component):
        """Takes a component from entities, and returns how many had it."""
        return self._remove(entities, component)

    def has(self, entities, component):
        """Whether entities have a component: a bool for one, an array for many."""
        return _as_given(self._has(entities, component), entities)

    def tag(self, entities, tag):
        """Gives entities a tag."""
        self._tag(entities, tag, True)

    def untag(self, entities, tag):
        """Takes a tag from entities."""
        self._tag(entities, tag, False)

    def name(self, entity, name):
        """Gives an entity a name for people; an empty one takes it away."""
        self._name(entity, name)

    def link(self, children, parent):
        """Makes transforms children of a parent's."""
        self.add(children, "child_of", parent=parent)

    def unlink(self, children):
        """Makes transforms roots, where they are."""
        self.remove(children, "child_of")

    # Values.

    def get(self, entity, path=None):
        """Returns one value: ``get(fish, "body.mass")``; ``get("wind.force")`` of a singleton."""
        return self._get(None, entity) if path is None else self._get(entity, path)

    def set(self, entity, path, *value):
        """Sets one value: ``set(fish, "body.mass", 2)``; ``set("wind.force", (1, 0, 0))`` of a singleton."""
        if len(value) > 1 or (not value and not isinstance(entity, str)):
            raise TypeError("set() takes an entity, a path and a value, or the path of a singleton and a value")
        if value:
            self._set(entity, path, value[0])
        else:
            self._set(None, entity, path)

    def read(self, entities, path):
        """Returns an array of values of these entities."""
        return self._read(entities, path)

    def write(self, entities, path, values):
        """Sets values of these entities: one for all, or one for each."""
        self._write(entities, path, values)

    # Zones.

    def keep_in_tiles(self, path, *, origin, tile_size, num_x, num_y):
        """Lets the database keep rows of one tile of a grid together: they move when the world settles.

        ``path`` is a vec3 field of a component type that the database keeps; tile 0 begins at ``origin``.
        """
        self._keep_in_tiles(path, origin, tile_size, num_x, num_y)

    def zones(self):
        """Returns a table of rows and bytes by zone and component type."""
        return table(self._zones(), ["zone", "component"])

    # Passes.

    def query(self, text):
        """Makes a query: ``query("&body, !asleep, body.position.z < 0")``. Component types after ``&`` are written."""
        return Query(self._query(text))

    def add_pass(self, name, query, function, **order):
        """Adds a pass: step() calls ``function(batch, frame)`` for the rows of the query, or ``function(frame)`` for None.

        ``after``, ``before``: names of passes; ``every_frames``, ``every_seconds``: how often; ``reads_from``, ``writes_to``:
        names of channels; ``reads``, ``writes``: component types that it touches beside the query. Passes are ordered as
        they were added, otherwise. A pass that declares nothing runs alone.
        """
        unknown = set(order) - _ORDER
        if unknown:
            raise TypeError(f"add_pass() knows no {', '.join(sorted(unknown))}; there are {', '.join(sorted(_ORDER))}")
        self._add_pass(name, query, function, order)

    def runs(self, query=None, **order):
        """The same as a decorator; the pass has the name of the function."""

        def add(function):
            self.add_pass(function.__name__, query, function, **order)
            return function

        return add

    def remove_pass(self, name):
        """Removes a pass."""
        self._remove_pass(name)

    def step(self, dt=1 / 60):
        """Runs the passes, then settles: does what they asked for, and removes the rows of the dead."""
        self._step(dt)

    # What has happened.

    def on_add(self, component, function):
        """Calls ``function(entities)`` when the world has settled, with those that have gained a component. Returns a number."""
        return self._observe("add", component, function)

    def on_remove(self, component, function):
        """Calls ``function(entities, before)`` with those that have lost one, and what it was: a dict of arrays by field."""
        return self._observe("remove", component, function)

    def on_change(self, path, function):
        """Calls ``function(entities, before)`` with those whose component, or field of one, has changed."""
        return self._observe("change", path, function)

    def off(self, observer):
        """Ends an observer: takes what on_add(), on_remove() or on_change() has returned."""
        self._off(observer)

    def channel(self, name, dtype):
        """Opens a channel of events, arrays of a dtype: ``channel("hits", [("who", "u4"), ("damage", "f4")])``."""
        return self._channel(name, dtype)

    # The world as a whole.

    def save(self):
        """Returns the state of the world, as bytes that load() takes."""
        return self._save()

    def load(self, state):
        """Puts a state that save() returned in place of what there is. Raises Error, and changes nothing, if it does not fit."""
        self._load(bytes(state))

    def reload(self, before, after):
        """Brings what was spawned from a blob to a newer version of it, and returns how much has changed, as a dict.

        What the program has changed since stays; see Reloader. The world is made with ``reloadable=True``."""
        return self._reload(before, after)

    # Looking inside.

    def sql(self, text, *, updates=False, seconds=10, max_rows=10_000_000):
        """Asks in SQL: ``world.sql("SELECT entity, mass FROM body WHERE mass > 10")``. A column is an array.

        With pandas the answer is a data frame, without, a dict of arrays. Entities are ids, and 0 where there is none; a number that may
        be NULL is a float. With ``updates=True``, ``UPDATE`` sets fields, and the answer is how many components it has set. A question
        that takes longer than ``seconds``, or has more rows than ``max_rows``, is an error.
        """
        answer = self._sql(text, updates, seconds, max_rows)
        return frame(answer) if isinstance(answer, dict) else answer

    def report(self):
        """Returns what the world costs: see Report."""
        return Report(self._facts())

    def picture(self, title="", subtitle=""):
        """Returns an SVG of where the entities are, seen from above."""
        return self._picture(title, subtitle)

    def __repr__(self):
        if self.closed:
            return "<shoal.World, closed>"
        return f"<shoal.World of {self._facts()['entities']} entities>"

    def _repr_html_(self):
        return None if self.closed else self.report()._repr_html_()

    def _repr_svg_(self):
        return None if self.closed else self.picture()


_ORDER = {"after", "before", "every_frames", "every_seconds", "reads", "reads_from", "writes", "writes_to"}


def _as_given(result, entities):
    """An answer for one entity is no array."""
    return bool(result[0]) if getattr(entities, "ndim", None) == 0 or isinstance(entities, int) else result
