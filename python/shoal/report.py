"""What a world costs, as tables."""

import html


def table(rows, index):
    """Returns a pandas data frame if pandas is there, otherwise the list of dicts."""
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows).set_index(index) if rows else pandas.DataFrame()


def frame(columns):
    """Returns a pandas data frame of a dict of arrays if pandas is there, otherwise the dict."""
    try:
        import pandas
    except ImportError:
        return columns
    return pandas.DataFrame(columns)


class Report:
    """What a world cost when the report was made: ``passes``, ``components`` and ``memory`` are tables.

    With pandas they are data frames, by name; without, lists of dicts. Bytes are bytes, times are milliseconds.
    """

    def __init__(self, facts):
        self.facts = facts
        self.entities = facts["entities"]
        self.frame = facts["frame"]

    @property
    def passes(self):
        """Runs, rows and times of each pass."""
        return table(self.facts["passes"], "name")

    @property
    def components(self):
        """Rows and bytes of each component type."""
        return table(self.facts["components"], "name")

    @property
    def memory(self):
        """Bytes by owner; none is counted twice."""
        return table(self.facts["memory"], "owner")

    def __str__(self):
        return self.facts["text"]

    def __repr__(self):
        return f"<shoal.Report of {self.entities} entities in frame {self.frame}>"

    def _repr_html_(self):
        parts = [f"<p>{self.entities:,} entities, frame {self.frame}</p>"]
        parts += [_html(self.facts["passes"]), _html(self.facts["components"])]
        return "".join(parts)


def _cell(value):
    return f"{value:,.3f}" if isinstance(value, float) else html.escape(str(value))


def _html(rows):
    """A table of dicts with the same keys."""
    if not rows:
        return ""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in rows[0])
    body = "".join("<tr>" + "".join(f"<td>{_cell(v)}</td>" for v in row.values()) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
