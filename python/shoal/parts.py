"""The parts of a split field: x, y and z lie in columns of their own."""

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin


class Parts(NDArrayOperatorsMixin):
    """One array per part of a split field, which together act as an array of shape (n, parts).

    ``parts.x`` and ``parts[:, 0]`` are the array of the first part, without a copy. Operators such as ``parts += v * dt``
    work part by part; whatever else asks for an array gets a copy, ``np.asarray(parts)``.
    """

    __slots__ = {"arrays": "The arrays of the parts."}

    def __init__(self, arrays):
        self.arrays = tuple(arrays)

    def _part(self, index):
        if index >= len(self.arrays):
            raise AttributeError(f"the field has {len(self.arrays)} parts")
        return self.arrays[index]

    def _set_part(self, index, value):
        self._part(index)[:] = value

    x = property(lambda self: self._part(0), lambda self, value: self._set_part(0, value), doc="The first part.")
    y = property(lambda self: self._part(1), lambda self, value: self._set_part(1, value), doc="The second part.")
    z = property(lambda self: self._part(2), lambda self, value: self._set_part(2, value), doc="The third part.")
    w = property(lambda self: self._part(3), lambda self, value: self._set_part(3, value), doc="The fourth part.")

    @property
    def shape(self):
        """Rows and parts."""
        return (len(self.arrays[0]), len(self.arrays))

    @property
    def dtype(self):
        """The type of the numbers."""
        return self.arrays[0].dtype

    def __len__(self):
        return len(self.arrays[0])

    def __array__(self, dtype=None):
        return np.stack(self.arrays, axis=1).astype(dtype or self.dtype, copy=False)

    def copy(self):
        """Returns an array of shape (n, parts) of its own."""
        return np.asarray(self)

    def __getitem__(self, index):
        if isinstance(index, tuple) and len(index) == 2:
            rows, part = index
            if isinstance(part, (int, np.integer)):
                return self.arrays[part][rows]
        return np.asarray(self)[index]

    def __setitem__(self, index, value):
        rows, part = index if isinstance(index, tuple) and len(index) == 2 else (index, slice(None))
        chosen = self.arrays[part]
        if not isinstance(chosen, tuple):
            chosen[rows] = value
            return
        shape = self.arrays[0][rows].shape + (len(chosen),)
        value = np.broadcast_to(np.asarray(value), shape)
        for i, array in enumerate(chosen):
            array[rows] = value[..., i]

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **kwargs):
        if method != "__call__" or ufunc.nout != 1 or kwargs:
            plain = [np.asarray(value) if isinstance(value, Parts) else value for value in inputs]
            return NotImplemented if out is not None else getattr(ufunc, method)(*plain, **kwargs)
        split = [_split(value, self.shape) for value in inputs]
        if out is None:
            return Parts([ufunc(*values) for values in zip(*split)])
        targets = _split(out[0], self.shape)
        for target, *values in zip(targets, *split):
            ufunc(*values, out=target)
        return out[0]

    def __repr__(self):
        return f"Parts({np.asarray(self)!r})"


def _split(value, shape):
    """The parts of what an operator is given."""
    if isinstance(value, Parts):
        return value.arrays
    value = np.asarray(value)
    if value.ndim == 0:
        return (value[()],) * shape[1]
    if value.ndim == 1:
        return tuple(np.broadcast_to(value, shape[1:]))
    if value.shape != shape:
        value = np.broadcast_to(value, shape)
    return [value[:, part] for part in range(shape[1])]
