"""The lists of faults: how they are read, and how a fault is put into the text of a source. README.md describes the format."""

import dataclasses
import re

NOT_TRIED = "not tried"


@dataclasses.dataclass
class Fault:
    room: str
    name: str
    file: str = ""
    function: str = ""
    program: str = ""
    filter: str = "*"
    text: str = ""
    replacement: str = ""
    result: str = NOT_TRIED
    detail: str = ""
    line: int = 0
    seconds: float = 0
    sound_seconds: float = 0  # of its tests without it


def read_faults(path):
    """The faults of a file. Raises ValueError where one is not as it should be."""
    faults, fault, texts = [], None, {"-": [], "+": []}

    def finish():
        if fault is None:
            return
        fault.text, fault.replacement = "\n".join(texts["-"]), "\n".join(texts["+"])
        if not (fault.file and fault.program and fault.text):
            raise ValueError(f'{path}: the fault "{fault.name}" lacks its file, its tests or a text that it changes')
        faults.append(fault)

    for line in path.read_text().splitlines() + [""]:
        word, _, rest = line.partition(" ")
        if line.startswith(("-", "+")) and fault is not None:
            texts[line[0]].append(line[1:])
        elif word == "fault":
            finish()
            fault, texts = Fault(path.stem, rest.strip()), {"-": [], "+": []}
        elif word == "file" and fault is not None:
            fault.file = rest.strip()
        elif word == "in" and fault is not None:
            fault.function = rest.strip()
        elif word == "tests" and fault is not None:
            fault.program, _, fault.filter = rest.strip().partition(" ")
            fault.filter = fault.filter.strip() or "*"
        elif line.strip() and not line.startswith("#"):
            raise ValueError(f'{path}: "{line}" is not a line of a fault')
    finish()
    return faults


# What is no code: comments, texts, characters that are no separators of digits.
BLANK = re.compile(r"//[^\n]*|/\*.*?\*/|R\"\((?:.|\n)*?\)\"|\"(?:\\.|[^\"\\\n])*\"|(?<!\w)'(?:\\.|[^'\\\n])+'", re.DOTALL)


def without_blanks(source):
    """The code alone; comments and texts are spaces, so that places stay."""
    return BLANK.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source)


def end_of_pair(code, begin):
    """Where the bracket that begins at `begin` is closed: behind it; -1: nowhere."""
    pairs = {"(": ")", "{": "}"}
    open_, close, depth = code[begin], pairs[code[begin]], 0
    for at in range(begin, len(code)):
        depth += (code[at] == open_) - (code[at] == close)
        if depth == 0:
            return at + 1
    return -1


def definitions(code, name=r"[A-Za-z_~][\w:~]*"):
    """The functions of a source that are defined there: (name, begin, end) for each, from the line of its name on."""
    for found in re.finditer(rf"(?<![\w:.>])({name})\(", code):
        before = code[code.rfind("\n", 0, found.start()) + 1:found.start()]
        is_member = found[1].endswith("_") or "(" in before or before.rstrip().endswith((" :", "\t:")) or before.strip() == ":"
        if is_member or found[1] in ("if", "for", "while", "switch", "return", "sizeof", "alignof", "decltype", "requires"):
            continue
        end = end_of_pair(code, found.end() - 1)
        # Between the parameters and the body there are qualifiers, a result, or initializers; the formatter puts a space
        # before the brace of a body, and none before that of an initializer.
        head = re.match(r"(?: const| noexcept| override| final| mutable|\s*->[^;{]*|\s+requires[^;{]*)*"
                        r"(?:\s*:(?:[^;{}]|\w\{[^{}]*\})*?)?\s\{", code[end:]) if end > 0 else None
        if head is None:
            continue
        stop = end_of_pair(code, end + head.end() - 1)
        if stop > 0:
            yield found[1], code.rfind("\n", 0, found.start()) + 1, stop


def places_of(fault, source):
    """Where the text of a fault is: in its function, or in all of the source if it names none."""
    spans = [(0, len(source))]
    if fault.function:
        spans = [(begin, end) for _, begin, end in definitions(without_blanks(source), re.escape(fault.function))]
    return sorted({found.start() for begin, end in spans
                   for found in re.compile(re.escape(fault.text)).finditer(source, begin, end)})


def put_into(fault, source):
    """The source with the fault, and the line where it is. Raises ValueError when it does not apply."""
    places = places_of(fault, source)
    where = f"{fault.function} of {fault.file}" if fault.function else fault.file
    if fault.text == fault.replacement:
        raise ValueError("it changes nothing")
    if len(places) != 1:
        raise ValueError(f"its text is {len(places)} times in {where}, and not once; mend the list")
    at = places[0]
    return source[:at] + fault.replacement + source[at + len(fault.text):], source[:at].count("\n") + 1


def broken_faults(root):
    """What is wrong with the lists below a root, one sentence each."""
    broken, names = [], set()
    for path in sorted((root / "tests" / "faults").glob("*.txt")):
        try:
            faults = read_faults(path)
        except ValueError as error:
            broken.append(str(error))
            continue
        for fault in faults:
            place = f'{path.name}: "{fault.name}"'
            folder = fault.program.removesuffix("_tests")
            if fault.name in names:
                broken.append(f"{place} has the name of another one")
            names.add(fault.name)
            if not (root / fault.file).is_file():
                broken.append(f"{place} is in a file that does not exist: {fault.file}")
                continue
            if not (root / "tests" / ("samples" if folder == "duel" else folder)).is_dir():
                broken.append(f"{place} is tested by {fault.program}, which has no folder in tests/")
            try:
                put_into(fault, (root / fault.file).read_text())
            except ValueError as problem:
                broken.append(f"{place}: {problem}")
    return broken
