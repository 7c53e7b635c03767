"""Finds places of a source where a programmer may slip, and writes the source with all those slips in it, each behind a number.

A slip is a small change that compiles: `<` in place of `<=`, an arm of `&&` that is not asked, a statement that is missing. libclang
says where each expression and statement begins and ends. `SHOAL_SLIP(7)` is true in a process that makes slip 7; see slip.h.
"""

import dataclasses
import os
import re

from clang import cindex
from clang.cindex import CursorKind as Kind

EDGES = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
# Calls that make texts for people, or room for elements: what is in them, or that they are made, no caller sees.
UNSEEN_CALLS = {"concat", "error", "log", "format", "format_to", "reserve", "shrink_to_fit", "fail_assertion", "prefetch"}
FUNCTIONS = {Kind.FUNCTION_DECL, Kind.CXX_METHOD, Kind.CONSTRUCTOR, Kind.DESTRUCTOR, Kind.FUNCTION_TEMPLATE, Kind.CONVERSION_FUNCTION}
LOOPS = {Kind.FOR_STMT, Kind.WHILE_STMT, Kind.DO_STMT, Kind.CXX_FOR_RANGE_STMT}
# Values that the compiler computes, and what is no code.
NOT_ENTERED = {Kind.STATIC_ASSERT, Kind.ENUM_DECL, Kind.TYPE_REF, Kind.TEMPLATE_REF, Kind.NAMESPACE_REF, Kind.TYPE_ALIAS_DECL,
               Kind.STRING_LITERAL}
# Of a source with slips: nothing is warned of, and lines have the numbers that they had.
HEAD = '#pragma clang diagnostic ignored "-Weverything"\n#include "{}"\n#line 1\n'


@dataclasses.dataclass
class Slip:
    file: str
    function: str
    line: int
    what: str
    begin: int  # of what it changes, in the source
    end: int
    before: str = ""  # put around it; where there is none, `other` replaces it
    after: str = ""
    other: str = ""
    room: str = ""
    number: int = 0
    result: str = ""
    detail: str = ""


def on_one_line(text):
    return " ".join(re.sub(r"//[^\n]*", "", text).split())


class Finder:
    """The slips of one source."""

    def __init__(self, root, file, cursors):
        self.file = file
        self.bytes = (root / file).read_bytes()
        self.slips, self.function = [], ""
        self.macros = [self.extent(cursor) for cursor in cursors if cursor.kind == Kind.MACRO_INSTANTIATION]
        for cursor in cursors:
            if not cursor.kind.is_preprocessing():
                self.visit(cursor, [])

    def extent(self, cursor):
        return cursor.extent.start.offset, cursor.extent.end.offset

    def text(self, cursor):
        return self.between(*self.extent(cursor))

    def between(self, begin, end):
        return self.bytes[begin:end].decode()

    def add(self, cursor, what, before="", after="", other="", end=None):
        begin, stop = self.extent(cursor)
        self.slips.append(Slip(self.file, self.function, cursor.extent.start.line, what, begin, end or stop, before, after, other))

    def is_entered(self, cursor):
        begin, end = self.extent(cursor)
        if cursor.kind in NOT_ENTERED or begin >= end:
            return False
        if cursor.kind == Kind.CALL_EXPR and cursor.spelling in UNSEEN_CALLS:
            return False
        if cursor.kind == Kind.CXX_STATIC_CAST_EXPR and self.text(cursor).startswith("static_cast<void>"):
            return False
        if cursor.kind in (Kind.VAR_DECL, Kind.FIELD_DECL) and re.search(r"\bconstexpr\b", self.text(cursor)):
            return False
        return not any(first < end and begin < last and not (begin <= first and last <= end) for first, last in self.macros)

    def is_macro(self, cursor):
        begin, end = self.extent(cursor)
        return any(first <= begin and end <= last for first, last in self.macros)

    def visit(self, cursor, parents):
        if not self.is_entered(cursor) or self.is_macro(cursor):
            return
        outer = self.function
        children = list(cursor.get_children())
        if cursor.kind in FUNCTIONS:
            body = children[-1] if children else None
            if body is None or body.kind != Kind.COMPOUND_STMT:
                children = []
            elif re.search(r"\b(constexpr|consteval)\b", self.between(self.extent(cursor)[0], self.extent(body)[0])):
                return
            parent = cursor.semantic_parent
            scope = parent.spelling + "::" if parent is not None and parent.kind in (Kind.CLASS_DECL, Kind.STRUCT_DECL) else ""
            self.function = scope + cursor.spelling
        if self.function:
            self.find(cursor, children, parents)
        for number, child in enumerate(children):
            self.visit(child, parents + [(cursor, number, children)])
        self.function = outer

    def find(self, cursor, children, parents):
        """The slips that the expression or statement itself has."""
        kind = cursor.kind
        if kind == Kind.BINARY_OPERATOR or (kind == Kind.CALL_EXPR and cursor.spelling in ("operator==", "operator!=")):
            self.find_operator(cursor, children, parents)
        elif kind in (Kind.IF_STMT, Kind.CONDITIONAL_OPERATOR):
            self.find_condition(cursor, children)
        elif kind == Kind.INTEGER_LITERAL:
            self.find_number(cursor, parents)
        elif kind in (Kind.RETURN_STMT, Kind.CONTINUE_STMT, Kind.BREAK_STMT):
            self.find_jump(cursor, children, parents)
        elif kind == Kind.CALL_EXPR and self.text(cursor).startswith(("std::min(", "std::max(")):
            text = self.text(cursor)
            other = text.replace("min", "max", 1) if text.startswith("std::min") else text.replace("max", "min", 1)
            self.add(cursor, "min and max are swapped", other=other)
        if parents and self.is_statement(cursor, parents[-1]):
            self.find_statement(cursor)

    def find_operator(self, cursor, children, parents):
        if len(children) < 2:
            return
        left, right = children[0], children[-1]
        left_end, right_begin = self.extent(left)[1], self.extent(right)[0]
        operator = on_one_line(self.between(left_end, right_begin))
        text = on_one_line(self.text(cursor))

        def replace(other):
            begin, end = self.extent(cursor)
            self.add(cursor, f"{other} in {text}", other=f"{self.between(begin, left_end)} {other} {self.between(right_begin, end)}")

        if operator in EDGES:
            replace(EDGES[operator])
        elif operator in ("==", "!=") and not self.is_condition(cursor, parents):
            self.add(cursor, f"not {text}", before="(SHOAL_SLIP(%) != (", after="))")
        elif operator in ("&&", "||"):
            before = "(SHOAL_SLIP(%) || (" if operator == "&&" else "(!SHOAL_SLIP(%) && ("
            for arm in (left, right):
                inner = self.between(*self.extent(arm))
                if not re.search(r"(&&|\|\|)", inner) or arm is right:  # the arms of a chain are those of its parts
                    self.add(arm, f"without {on_one_line(inner)} in {text}", before=before, after="))")
        elif operator in ("+", "-") and right.kind != Kind.INTEGER_LITERAL and cursor.type.kind.name not in ("POINTER", "DEPENDENT"):
            replace("-" if operator == "+" else "+")

    def is_condition(self, cursor, parents):
        """Whether other slips always or never take it for true."""
        for parent, number, siblings in reversed(parents):
            if parent.kind == Kind.IF_STMT or (parent.kind == Kind.CONDITIONAL_OPERATOR and number == 0):
                return True
            if parent.kind == Kind.BINARY_OPERATOR:
                return re.search(r"&&|\|\|", self.between(self.extent(siblings[0])[1], self.extent(siblings[-1])[0])) is not None
            if parent.kind not in (Kind.PAREN_EXPR, Kind.UNEXPOSED_EXPR):
                return False
        return False

    def find_condition(self, cursor, children):
        """Conditions that are always true, or always false: what has no operator whose slip says more."""
        expressions = [child for child in children if child.kind.is_expression()]
        condition = expressions[0] if expressions else None
        if condition is None or self.is_macro(condition) or "constexpr" in self.between(self.extent(cursor)[0], self.extent(condition)[0]):
            return
        if any(self.extent(child)[1] > self.extent(condition)[0] for child in children[:children.index(condition)]):
            return  # a variable that is declared there
        text = on_one_line(self.text(condition))
        if not re.search(r"&&|\|\|", text) and text != "!status":
            self.add(condition, f"always {text}", before="(SHOAL_SLIP(%) || (", after="))")
        last = children[-1]
        has_else = children.index(condition) < len(children) - 2
        if cursor.kind != Kind.IF_STMT or has_else or last.kind == Kind.COMPOUND_STMT:  # else the statement may be missing
            self.add(condition, f"never {text}", before="(!SHOAL_SLIP(%) && (", after="))")

    def find_number(self, cursor, parents):
        text = self.text(cursor)
        if not re.fullmatch(r"\d{1,4}[uU]?", text) or any(parent.kind == Kind.CASE_STMT for parent, _, _ in parents[-1:]):
            return
        what = on_one_line(self.text(parents[-1][0]))[:80] if parents else ""
        value = int(text.rstrip("uU"))
        self.add(cursor, f"{value + 1} for {text} in {what}", other=str(value + 1) + text[len(str(value)):])
        if value > 0:
            self.add(cursor, f"{value - 1} for {text} in {what}", other=str(value - 1) + text[len(str(value)):])

    def find_jump(self, cursor, children, parents):
        value = on_one_line(self.text(children[0])) if children else ""
        if value in ("true", "false"):
            self.add(children[0], f"returns {'false' if value == 'true' else 'true'}", before="(SHOAL_SLIP(%) != ", after=")")
        goes_on = False
        for parent, number, siblings in reversed(parents):
            if parent.kind in FUNCTIONS or parent.kind == Kind.LAMBDA_EXPR:
                break
            goes_on |= parent.kind == Kind.COMPOUND_STMT and number + 1 < len(siblings)
            goes_on |= parent.kind in LOOPS and not children
        switch = any(parent.kind == Kind.SWITCH_STMT for parent, _, _ in parents)
        if goes_on and not switch:
            self.delete(cursor)

    def is_statement(self, cursor, place):
        parent, number, siblings = place
        if not cursor.kind.is_expression():
            return False
        if parent.kind == Kind.IF_STMT:
            return number > 0 and siblings[number - 1].kind != Kind.DECL_STMT and not self.is_asked(cursor)
        is_body = parent.kind in LOOPS and parent.kind != Kind.DO_STMT and number == len(siblings) - 1
        return parent.kind == Kind.COMPOUND_STMT or is_body

    def is_asked(self, cursor):
        """Whether a `)` follows, as it does behind a condition."""
        return self.bytes[self.extent(cursor)[1]:].lstrip()[:1] == b")"

    def find_statement(self, cursor):
        text = self.text(cursor)
        if cursor.kind in (Kind.CXX_DELETE_EXPR, Kind.CXX_STATIC_CAST_EXPR) or cursor.spelling in UNSEEN_CALLS:
            return
        if re.search(r"^\s*(::)?(std::)?(shoal::)?(log|release_memory)\(|\.(reserve|shrink_to_fit)\(", text):
            return
        self.delete(cursor)

    def delete(self, cursor):
        end = self.bytes.find(b";", self.extent(cursor)[1]) + 1
        if self.bytes[self.extent(cursor)[1]:end].strip() != b";":
            return
        self.add(cursor, f"without {on_one_line(self.text(cursor))}", before="{ if (!SHOAL_SLIP(%)) ", after=" }", end=end)


def render(source, slips, header):
    """The source with the slips in it, and for each line the slips that are there. A line stays a line."""
    placed = sorted(slips, key=lambda slip: (slip.begin, -slip.end, bool(slip.before)))

    def text_of(begin, end, inner):
        parts, at, i = [], begin, 0
        while i < len(inner):
            slip, j = inner[i], i + 1
            while j < len(inner) and inner[j].begin < slip.end:
                j += 1
            inside = [other for other in inner[i + 1:j] if other.end <= slip.end]
            parts.append(source[at:slip.begin])
            text = text_of(slip.begin, slip.end, inside)
            number = str(slip.number)
            if slip.before:
                parts.append(slip.before.replace("%", number).encode() + text + slip.after.encode())
            else:
                parts.append(f"(SHOAL_SLIP({number}) ? ({on_one_line(slip.other)}) : (".encode() + text + b"))")
            at, i = slip.end, j
        parts.append(source[at:end])
        return b"".join(parts)

    return HEAD.format(header).encode() + text_of(0, len(source), placed) if slips else source


class Compiler:
    """Finds the slips of all sources of a room, which it compiles as one, and leaves out those that do not compile."""

    def __init__(self, root, files, arguments, header):
        self.root, self.files, self.arguments, self.header = root, files, arguments, header
        self.index = cindex.Index.create()

    def parse(self, texts=None, options=0):
        all_sources = str(self.root / self.files[0]) + ".all.cpp"
        unsaved = [(all_sources, "".join(f'#include "{self.root / file}"\n' for file in self.files))]
        unsaved += [(str(self.root / file), text) for file, text in (texts or {}).items()]
        return self.index.parse(all_sources, self.arguments, unsaved, options)

    def errors_of(self, unit):
        """Where the compiler reports errors: (file, line, text) for each."""
        def file_of(error):
            return os.path.relpath(error.location.file.name, self.root) if error.location.file else ""

        return [(file_of(error), error.location.line, str(error))
                for error in unit.diagnostics if error.severity >= cindex.Diagnostic.Error]

    def slips(self):
        unit = self.parse(options=cindex.TranslationUnit.PARSE_DETAILED_PROCESSING_RECORD)
        errors = self.errors_of(unit)
        if errors:
            raise ValueError(f"the sources do not compile as they are: {errors[0]}")
        cursors = {}
        for cursor in unit.cursor.get_children():
            if cursor.location.file is not None:
                cursors.setdefault(cursor.location.file.name, []).append(cursor)
        found = {file: Finder(self.root, file, cursors.get(str(self.root / file), [])).slips for file in self.files}
        for slips in found.values():
            for number, slip in enumerate(slips, 1):
                slip.number = number
        return self.compiling(found)

    def compiling(self, found):
        """Those of the slips, which have numbers, with which the sources compile together."""
        sources = {file: (self.root / file).read_bytes() for file in self.files}
        for _ in range(30):
            texts = {file: render(sources[file], slips, self.header).decode() for file, slips in found.items()}
            errors = self.errors_of(self.parse(texts))
            if not errors:
                return found
            for file in found:
                lines = {line - HEAD.count("\n") for place, line, _ in errors if place == file}
                bad = [slip for slip in found[file] if slip.line in lines] or [
                    slip for slip in found[file] if any(covers(sources[file], slip, line) for line in lines)]
                found[file] = [slip for slip in found[file] if slip not in bad] if bad or not lines else []
        raise ValueError(f"with slips the sources do not compile: {errors[0]}")


def covers(source, slip, line):
    return slip.line <= line <= slip.line + source.count(b"\n", slip.begin, slip.end)
