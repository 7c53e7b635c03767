"""Says how many lines of each room the tests run, as a table and as pages.

    coverage.py EXPORT.json ROOT OUTPUT_FOLDER [--json FILE]
    coverage.py compare BEFORE.json AFTER.json

`llvm-cov export -summary-only` writes EXPORT.json. A file belongs to the room that names its folder in ROOT/src or
ROOT/include/shoal; other files do not count. The first form prints the table, and writes OUTPUT_FOLDER/index.html and a page per
room. A page links to what `llvm-cov show --format=html -output-dir=OUTPUT_FOLDER/files` wrote of a file, if that is there. The
second form compares two files that --json wrote. Exit code: 1 when a room lost more than 0.3 percentage points or is gone, 2
when a file is missing or the call is wrong, and otherwise 0.
"""

import argparse
import dataclasses
import fractions
import html
import json
import os
import pathlib
import sys
import urllib.parse

sys.dont_write_bytecode = True  # this folder is part of the sources
import results

MOST_LOST = fractions.Fraction(3, 1000)

STYLE = """
:root { color-scheme: light dark; }
:root { --text: #1c2126; --paper: #ffffff; --line: #d8dde2; --link: #0b5cad; --run: #3a8f5c; --not: #d9b3ab; }
@media (prefers-color-scheme: dark) {
  :root { --text: #dde3e8; --paper: #15191d; --line: #363d44; --link: #7db4f0; --run: #4fae76; --not: #6e4038; }
}
body { margin: 2rem auto; max-width: 60rem; padding: 0 1rem; font: 16px/1.5 system-ui, sans-serif; }
body { color: var(--text); background: var(--paper); }
a { color: var(--link); }
table { border-collapse: collapse; width: 100%; }
th, td { padding: 0.3rem 0.6rem; text-align: right; border-bottom: 1px solid var(--line); font-variant-numeric: tabular-nums; }
th:first-child, td:first-child { text-align: left; overflow-wrap: anywhere; }
tr:last-child td { border-bottom: none; }
tfoot td { font-weight: 600; border-top: 2px solid var(--line); }
.bar { display: block; width: 8rem; height: 0.7rem; margin-left: auto; background: var(--not); }
.bar span { display: block; height: 100%; background: var(--run); }
""".strip()


@dataclasses.dataclass
class Lines:
    """How many lines there are, and how many of them ran."""
    lines: int = 0
    covered: int = 0

    @property
    def uncovered(self):
        return self.lines - self.covered

    @property
    def share(self):
        return fractions.Fraction(self.covered, self.lines) if self.lines else None

    @property
    def percent(self):
        return "-" if self.share is None else f"{float(100 * self.share):.2f}"

    def facts(self):
        percent = None if self.share is None else round(float(100 * self.share), 4)
        return {"lines": self.lines, "covered": self.covered, "percent": percent}


@dataclasses.dataclass
class File:
    path: str  # whole, as llvm-cov names it
    name: str  # from the root
    room: str
    lines: Lines


def sum_of(some):
    some = list(some)
    return Lines(sum(one.lines for one in some), sum(one.covered for one in some))


# --- what llvm-cov counted --------------------------------------------------------------------------------------------


def read_json(path, advice):
    text = results.read_text(path, advice)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise results.Problem(f"{path} is not JSON, or is cut short ({error}); {advice}")


def read_export(path, root):
    """The files of the rooms in an export."""
    advice = "write it with `llvm-cov export -summary-only`"
    export = read_json(path, advice)
    try:
        files = [file_of(entry, root) for entry in export["data"][0]["files"]]
    except (LookupError, TypeError, ValueError):
        raise results.Problem(f"{path} does not hold the lines of files; {advice}")
    files = [file for file in files if file.room]
    if not files:
        raise results.Problem(f"{path} names no file in {root}/src or {root}/include/shoal; name the folder that was compiled")
    return files


def file_of(entry, root):
    path = os.path.normpath(os.path.join(os.path.abspath(root), entry["filename"]))
    name = name_in(path, root)
    lines = entry["summary"]["lines"]
    return File(path, name, room_of(name), Lines(int(lines["count"]), int(lines["covered"])))


def name_in(path, root):
    """The path from the root, or an empty text when the file lies elsewhere. The compiler may know the root by its real path."""
    for folder in (os.path.abspath(root), os.path.realpath(root)):
        if path.startswith(folder + os.sep):
            return path[len(folder) + 1:]
    return ""


def room_of(name):
    parts = name.split(os.sep)
    if parts[:1] == ["src"] and len(parts) > 2:
        return parts[1]
    if parts[:2] == ["include", "shoal"] and len(parts) > 3:
        return parts[2]
    return ""


def rooms_of(files):
    rooms = sorted({file.room for file in files})
    return {room: sum_of(file.lines for file in files if file.room == room) for room in rooms}


def print_rooms(rooms):
    print(f"{'room':<12} {'lines':>8} {'covered':>8} {'percent':>8}")
    for room, lines in {**rooms, "total": sum_of(rooms.values())}.items():
        print(f"{room:<12} {lines.lines:>8} {lines.covered:>8} {lines.percent:>8}")


def write_facts(path, rooms):
    facts = {"rooms": {room: lines.facts() for room, lines in rooms.items()}, "total": sum_of(rooms.values()).facts()}
    write(path, json.dumps(facts, indent=2) + "\n")


# --- pages ------------------------------------------------------------------------------------------------------------


def write(path, text):
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise results.Problem(f"cannot write {path}: {error.strerror}; name a folder that can be written to")


def write_pages(output, files, rooms):
    write(output / "index.html", index_page(rooms))
    for room in rooms:
        mine = sorted((file for file in files if file.room == room), key=lambda file: (-file.lines.uncovered, file.name))
        write(output / f"{room}.html", room_page(room, mine, rooms[room], output))


def index_page(rooms):
    rows = "".join(row(link(f"{room}.html", room), lines) for room, lines in rooms.items())
    return page("Lines that tests run", "", table("room", rows, sum_of(rooms.values())))


def room_page(room, files, lines, output):
    rows = "".join(row(file_link(file, output), file.lines) for file in files)
    return page(f"{room}: lines that tests run", f"<p>{link('index.html', 'All rooms')}</p>\n", table("file", rows, lines))


def file_link(file, output):
    """A link to the page that llvm-cov made of a file, or its name."""
    target = f"files/coverage{file.path}.html"
    return link(target, file.name) if (output / target).is_file() else html.escape(file.name)


def link(target, text):
    return f'<a href="{html.escape(urllib.parse.quote(target))}">{html.escape(text)}</a>'


def table(what, rows, total):
    head = "".join(f"<th>{title}</th>" for title in (what, "lines", "covered", "not covered", "percent", ""))
    return (f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n"
            f"<tfoot>\n{row('total', total)}</tfoot>\n</table>\n")


def row(first, lines):
    """A row of a table, with a bar. `first` is HTML."""
    cells = "".join(f"<td>{cell}</td>" for cell in (first, lines.lines, lines.covered, lines.uncovered, lines.percent))
    bar = "" if lines.share is None else f'<span class="bar"><span style="width: {float(100 * lines.share):.1f}%"></span></span>'
    return f"<tr>{cells}<td>{bar}</td></tr>\n"


def page(title, before, content):
    return (f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{html.escape(title)}</title>\n'
            f"<style>\n{STYLE}\n</style>\n</head>\n<body>\n<h1>{html.escape(title)}</h1>\n{before}{content}</body>\n</html>\n")


# --- comparison -------------------------------------------------------------------------------------------------------


def read_facts(path):
    advice = "write it with coverage.py EXPORT.json ROOT OUTPUT_FOLDER --json FILE"
    facts = read_json(path, advice)
    try:
        return {room: Lines(int(entry["lines"]), int(entry["covered"])) for room, entry in facts["rooms"].items()}
    except (LookupError, TypeError, ValueError, AttributeError):
        raise results.Problem(f"{path} does not hold the lines of rooms; {advice}")


def has_lost(before, after):
    """Whether a room lost more than it may. One that is gone, or has no lines any more, lost everything."""
    if before is None or before.share is None:
        return False
    if after is None or after.share is None:
        return True
    return before.share - after.share > MOST_LOST


def difference(before, after):
    if before is None or after is None or None in (before.share, after.share):
        return "-"
    return f"{float(100 * (after.share - before.share)):+.2f}"


def compare(before_path, after_path):
    before, after = read_facts(before_path), read_facts(after_path)
    print(f"{'room':<12} {'before':>8} {'after':>8} {'difference':>11}")
    for room in sorted({**before, **after}):
        print_change(room, before.get(room), after.get(room))
    print_change("total", sum_of(before.values()), sum_of(after.values()))
    lost = [room for room in before if has_lost(before[room], after.get(room))]
    if lost:
        print(f"lost more than {float(100 * MOST_LOST):.1f} percentage points: {', '.join(sorted(lost))}")
    return 1 if lost else 0


def print_change(room, before, after):
    percents = [lines.percent if lines else "-" for lines in (before, after)]
    print(f"{room:<12} {percents[0]:>8} {percents[1]:>8} {difference(before, after):>11}")


# --- the call ---------------------------------------------------------------------------------------------------------


def report(arguments):
    files = read_export(arguments.export, arguments.root)
    rooms = rooms_of(files)
    write_pages(arguments.output, files, rooms)
    if arguments.json:
        write_facts(arguments.json, rooms)
    print_rooms(rooms)
    return 0


def read_arguments(argv):
    parser = argparse.ArgumentParser(prog="coverage.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    if argv[:1] == ["compare"]:
        parser.add_argument("verb", metavar="compare")
        parser.add_argument("before", metavar="BEFORE.json", type=pathlib.Path)
        parser.add_argument("after", metavar="AFTER.json", type=pathlib.Path)
    else:
        parser.add_argument("export", metavar="EXPORT.json", type=pathlib.Path)
        parser.add_argument("root", metavar="ROOT", type=pathlib.Path)
        parser.add_argument("output", metavar="OUTPUT_FOLDER", type=pathlib.Path)
        parser.add_argument("--json", metavar="FILE", type=pathlib.Path)
    return parser.parse_args(argv)


def main(argv):
    arguments = read_arguments(argv)
    try:
        return compare(arguments.before, arguments.after) if "verb" in arguments else report(arguments)
    except results.Problem as problem:
        print(f"coverage.py: {problem}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    results.start(main)
