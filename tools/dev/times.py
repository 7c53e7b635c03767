"""Says where the time of a build and of its tests went.

    times.py BUILD_FOLDER [REPORT_FOLDER] [--json]

BUILD_FOLDER holds the .ninja_log of the build. REPORT_FOLDER holds what its tests reported: ctest.xml, which `ctest
--output-junit` writes, and NAME_tests.json, which GoogleTest writes. It prints a table of the programs and libraries, then the
sources that took longest to compile and the cases that took longest to run. --json prints the same facts as one JSON object.
Exit code: 2 when a file is missing or the call is wrong, and otherwise 0.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import sys

sys.dont_write_bytecode = True  # this folder is part of the sources
import results

NOTE = "These are elapsed seconds while other jobs ran beside: they say what to look at, and their sum is not the time waited."
MOST_LISTED = 25
COMPILE, LINK, RUN = KINDS = ("compile", "link", "run")
OTHER_TESTS = "other tests"  # they run no program of their name


@dataclasses.dataclass
class Step:
    """A command of the build."""
    output: str
    seconds: float
    kind: str = ""  # COMPILE, LINK or neither
    target: str = ""
    source: str = ""


# --- the build --------------------------------------------------------------------------------------------------------


def read_log(path):
    """The commands in a .ninja_log. The last line of an output counts, and a command that makes several counts once."""
    lines = results.read_text(path, "name a folder that ninja built in").split("\n")
    if not re.fullmatch(r"# ninja log v[567]", lines[0]):
        raise results.Problem(f'{path} begins with "{lines[0][:40]}"; this tool reads the versions 5 to 7 of the log of ninja')
    newest = {}
    for line in lines[1:]:
        match = re.fullmatch(r"(\d+)\t(\d+)\t\d+\t([^\t]+)\t([0-9a-f]+)", line)
        if match:  # the last line may be cut short while ninja writes
            newest[match[3]] = (int(match[1]), int(match[2]), match[4])
    outputs = {}
    for output, command in newest.items():
        outputs.setdefault(command, output)
    return [Step(output, (end - start) / 1000) for (start, end, _), output in outputs.items()]


def steps_of(build_folder):
    """The commands of a build, each with the program or library that it is for."""
    steps = read_log(build_folder / ".ninja_log")
    for step in steps:
        note_object(step)
    targets = {step.target for step in steps if step.target}
    linked = linked_targets(build_folder / "build.ninja")
    for step in steps:
        if step.output in linked:
            step.kind, step.target = LINK, linked[step.output]
        elif not step.kind:
            note_link(step, targets, build_folder)
    return steps


def linked_targets(path):
    """The target of each linked output, as CMake names it in build.ninja. It is empty when that file is missing."""
    text = results.read_text(path, "name a folder that ninja built in") if path.is_file() else ""
    return dict(re.findall(r"^build (\S+?)(?: \|.*?)?: \w+_LINKER__(\w+)_[A-Za-z]* ", text, re.MULTILINE))


def note_object(step):
    match = re.search(r"(?:^|/)CMakeFiles/([^/]+)\.dir/(.+)", step.output)
    if match:
        step.kind, step.target, step.source = COMPILE, match[1], re.sub(r"\.(o|obj)$", "", match[2])


def note_link(step, targets, build_folder):
    """Notes the target that the name of a library or program suggests."""
    name = step.output.rpartition("/")[2]
    library = re.fullmatch(r"(?:lib)?([^.]+)\.(?:.*\.)?(?:a|so)(?:\.[0-9.]+)?", name)
    if library:
        step.kind, step.target = LINK, library[1]
    elif name in targets or ("." not in name and is_program(build_folder / step.output)):
        step.kind, step.target = LINK, name


def is_program(path):
    return path.is_file() and os.access(path, os.X_OK)


# --- the tests --------------------------------------------------------------------------------------------------------


def read_reports(folder):
    """The tests of a report folder, and the cases of each test that has some."""
    xml, files = folder / "ctest.xml", sorted(folder.glob("*_tests.json"))
    if not xml.is_file() and not files:
        raise results.Problem(f"{folder} has neither ctest.xml nor a *_tests.json; name a folder that tests reported to")
    tests, whole = results.tests_of(xml) if xml.is_file() else ([], True)
    if not whole:
        warn(f"{xml} is cut short; the table lacks the tests that it does not name")
    cases = {}
    for path in files:
        try:
            cases[path.stem.removesuffix("_tests")] = results.cases_of(path)
        except results.CutShort:
            warn(f"{path} is cut short; the list lacks its cases")
    return tests, cases


def runs_of(tests, cases):
    """The seconds of each test. The cases of a test add up to them when ctest reports none."""
    runs = {name: sum(case.seconds for case in some) for name, some in cases.items()}
    runs |= {test.name: test.seconds for test in tests}
    return runs


def longest_cases(tests, cases):
    """The cases that took longest. A test that reports no cases counts as one case."""
    found = [(f"{name}/{case.name}", case.seconds) for name, some in cases.items() for case in some]
    found += [(test.name, test.seconds) for test in tests if test.name not in cases]
    return longest(found, lambda case: case[1])


def program_of(test, targets, cases):
    if f"{test}_tests" in targets or test in cases:
        return f"{test}_tests"
    return test if test in targets else OTHER_TESTS


def longest(things, seconds):
    return sorted(things, key=seconds, reverse=True)[:MOST_LISTED]


# --- the facts --------------------------------------------------------------------------------------------------------


def facts_of(steps, tests, cases):
    rows = {}
    targets = {step.target for step in steps if step.kind}
    for step in steps:
        if step.kind:
            add(rows, step.target, step.kind, step.seconds)
    for test, seconds in runs_of(tests, cases).items():
        add(rows, program_of(test, targets, cases), RUN, seconds)
    table = sorted((row_of(target, row) for target, row in rows.items()), key=lambda row: (-row["sum"], row["target"]))
    total = row_of("total", {kind: sum(row[kind] for row in rows.values()) for kind in KINDS})
    compiled = longest([step for step in steps if step.kind == COMPILE], lambda step: step.seconds)
    return {
        "note": NOTE,
        "targets": table,
        "total": total,
        "other_commands": round(sum(step.seconds for step in steps if not step.kind), 3),
        "sources": [{"source": step.source, "target": step.target, "seconds": step.seconds} for step in compiled],
        "cases": [{"case": name, "seconds": round(seconds, 3)} for name, seconds in longest_cases(tests, cases)],
    }


def add(rows, target, kind, seconds):
    rows.setdefault(target, dict.fromkeys(KINDS, 0.0))[kind] += seconds


def row_of(target, row):
    return {"target": target, **{kind: round(row[kind], 3) for kind in KINDS}, "sum": round(sum(row.values()), 3)}


def print_facts(facts):
    print(facts["note"])
    print(f"\n{'target':<36} {COMPILE:>9} {LINK:>9} {RUN:>9} {'sum':>9}")
    for row in facts["targets"] + [facts["total"]]:
        print(f"{row['target']:<36} " + " ".join(f"{row[column]:>9.1f}" for column in (*KINDS, "sum")))
    print(f"other commands of the build, which neither compile nor link: {facts['other_commands']:.1f}")
    print(f"\nsources that took longest to compile ({len(facts['sources'])})")
    for entry in facts["sources"]:
        print(f"{entry['seconds']:>9.1f}  {entry['target']}: {entry['source']}")
    print(f"\ncases that took longest to run ({len(facts['cases'])})")
    for entry in facts["cases"]:
        print(f"{entry['seconds']:>9.2f}  {entry['case']}")


def warn(text):
    print(f"times.py: {text}", file=sys.stderr)


def main(argv):
    parser = argparse.ArgumentParser(prog="times.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", metavar="BUILD_FOLDER", type=pathlib.Path)
    parser.add_argument("report", metavar="REPORT_FOLDER", type=pathlib.Path, nargs="?")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args(argv)
    try:
        tests, cases = read_reports(arguments.report) if arguments.report else ([], {})
        facts = facts_of(steps_of(arguments.build), tests, cases)
    except results.Problem as problem:
        warn(problem)
        return 2
    if arguments.json:
        print(json.dumps(facts, indent=2))
    else:
        print_facts(facts)
    return 0


if __name__ == "__main__":
    results.start(main)
