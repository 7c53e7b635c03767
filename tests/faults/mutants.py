"""Compiles many small slips into one copy of the sources, makes one at a time, and says which of them the tests catch.

    mutants.py ROOT WORK [--room ROOM]... [--with PROGRAM]... [--each N] [--seed N] [--minutes N] [--again] [--jobs N] [--json]

Unlike the faults of run.py, nobody writes these: slips.py finds them. WORK is a folder for the copy and its build; ROOT is only
read. A slip has a number, and a process makes the one that SHOAL_SLIP names, so all are built together. Each test case runs once to
see which slips it reaches; a slip is then tried with the cases that reach it, the quickest first. tests/faults/README.md says more.
Exit code: 0 when it has tried slips, whatever was caught; 2 when it could not.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import hashlib
import json
import math
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

from faults import read_faults
from run import Copy, Progress, fail
from slips import Compiler, Slip, render

CAUGHT, MISSED, UNREACHED = "caught", "missed", "not reached"
NUMBERS_OF_FILE = 4000  # so that the numbers of a file stay as they are when another file changes
MOST_BYTES = 8 << 30  # of memory that a process with a slip may write to
BATCH_SECONDS = (0.5, 5, math.inf)  # of the cases that run in one process: the quickest first


# --- the copy -----------------------------------------------------------------------------------------------------------

def sources_of(root, room):
    """The sources that may have slips: not those that a vector library compiles several times."""
    return [path.relative_to(root).as_posix() for path in sorted((root / "src" / room).glob("*.cpp"))
            if "HWY_" not in path.read_text()]


def find_slips(root, work, room, arguments):
    """The slips of a room that compile, from the last run if its sources were the same then."""
    tools = [pathlib.Path(__file__).parent / name for name in ("slips.py", "slip.h")]
    files = sources_of(root, room)
    key = hashlib.sha256(b"".join(path.read_bytes() for path in tools + [root / file for file in files])).hexdigest()
    kept = work / f"{room}.slips.json"
    if kept.is_file():
        found = json.loads(kept.read_text())
        if found["key"] == key:
            return [Slip(**slip) for slip in found["slips"]]
    slips = [slip for of_file in Compiler(root, files, arguments, tools[1]).slips().values() for slip in of_file]
    for slip in slips:
        slip.room = room
    kept.write_text(json.dumps({"key": key, "slips": [dataclasses.asdict(slip) for slip in slips]}))
    return slips


def arguments_of(copy, room):
    """What the compiler is told about the sources of a room, whose headers are those of the root."""
    commands = json.loads((copy.build_folder / "compile_commands.json").read_text())
    for command in commands:
        if f"/shoal_{room}.dir/" in command["command"]:
            words = shlex.split(command["command"])
            chosen = []
            for at, word in enumerate(words):
                if word.startswith(("-D", "-I", "-std", "-f")):
                    chosen.append(word.replace(str(copy.folder), str(copy.root)))
                elif word == "-isystem":
                    chosen += [word, words[at + 1]]
            return [word for word in chosen if word != "-fno-exceptions"]
    fail(f'no source of the room "{room}" is compiled in {copy.build_folder}')


class SlipCopy(Copy):
    """A copy in which sources have slips."""

    def __init__(self, root, work, jobs):
        super().__init__(root, work, jobs)
        self.work = work

    def find(self, rooms):
        """All slips of the rooms. Their numbers tell them apart."""
        every = [path.relative_to(self.root).as_posix() for path in sorted((self.root / "src").glob("*/*.cpp"))]
        with concurrent.futures.ProcessPoolExecutor(self.jobs) as pool:
            found = list(pool.map(find_slips, *zip(*[(self.root, self.work, room, arguments_of(self, room)) for room in rooms])))
        slips = [slip for of_room in found for slip in of_room if slip.number < NUMBERS_OF_FILE]
        for slip in slips:
            slip.number += every.index(slip.file) * NUMBERS_OF_FILE
        for file in dict.fromkeys(slip.file for slip in slips):
            mine = [slip for slip in slips if slip.file == file]
            self.texts[file] = render((self.root / file).read_bytes(), mine, pathlib.Path(__file__).parent / "slip.h")
        self.num_numbers = len(every) * NUMBERS_OF_FILE
        return slips


# --- the tests ------------------------------------------------------------------------------------------------------------

@dataclasses.dataclass
class Case:
    program: str
    name: str
    seconds: float = 0
    reached: frozenset = frozenset()


class Runner:
    """Runs test cases in processes of their own, each of which has a folder for its files."""

    def __init__(self, copy):
        self.copy = copy

    def run(self, program, cases, most_seconds, environment):
        """Returns "passed", "failed" or "no end"."""
        folder = self.copy.work / "files" / str(environment.get("SHOAL_SLIP", "")) / str(time.monotonic_ns())
        folder.mkdir(parents=True)
        command = ["prlimit", f"--data={MOST_BYTES}", "--core=0", str(self.copy.build_folder / "tests" / program),
                   f"--gtest_filter={':'.join(cases)}", "--gtest_fail_fast", "--gtest_brief=1"]
        process = subprocess.Popen(command, cwd=self.copy.build_folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, start_new_session=True,
                                   env=os.environ | environment | {"TMPDIR": str(folder), "TEST_TMPDIR": f"{folder}/"})
        try:
            return "failed" if process.wait(timeout=most_seconds) != 0 else "passed"
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return "no end"
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def cases_of(self, program):
        listed = subprocess.run([str(self.copy.build_folder / "tests" / program), "--gtest_list_tests"], capture_output=True,
                                text=True, check=True, cwd=self.copy.build_folder).stdout
        suite, cases = "", []
        for line in listed.splitlines():
            name = line.split("#")[0].rstrip()
            if name.endswith(".") and not line.startswith(" "):
                suite = name
            elif line.startswith("  ") and "DISABLED_" not in name + suite:
                cases.append(Case(program, suite + name.strip()))
        return cases

    def look(self, case):
        """Runs a case without slips: how long it takes, and what it reaches. A case that fails reaches nothing."""
        path = self.copy.work / "reached" / f"{case.program}.{case.name.replace('/', '_')}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(self.copy.num_numbers))
        begin = time.monotonic()
        how = self.run(case.program, [case.name], 300, {"SHOAL_SLIPS_REACHED": str(path)})
        case.seconds = time.monotonic() - begin
        if how == "passed":
            case.reached = frozenset(found.start() for found in re.finditer(b"\x01", path.read_bytes()))
        path.unlink()
        return how

    def attempt(self, slip, cases):
        """Makes the slip in the cases that reach it, which are sorted, until one notices."""
        if not cases:
            return UNREACHED, ""
        batches = collections.defaultdict(list)
        for case in cases:
            batch = next(number for number, most in enumerate(BATCH_SECONDS) if case.seconds <= most or most == math.inf)
            batches[batch, case.program].append(case)
        for (_, program), of_batch in sorted(batches.items(), key=lambda item: item[0][0]):
            seconds = sum(case.seconds for case in of_batch)
            how = self.run(program, [case.name for case in of_batch], 5 + 5 * seconds, {"SHOAL_SLIP": str(slip.number)})
            if how != "passed":
                return CAUGHT, how
        return MISSED, f"{len(cases)} cases"


def programs_of(root, room):
    """The programs that test a room: those that its faults name, and its own first."""
    counts = collections.Counter(fault.program for fault in read_faults(root / "tests" / "faults" / f"{room}.txt"))
    return sorted(counts, key=lambda program: (program != f"{room}_tests", -counts[program]))


# --- the run ----------------------------------------------------------------------------------------------------------------

def names_of(slips):
    """A name for each slip that stays when lines are moved."""
    counts = collections.Counter()
    for slip in slips:
        name = (slip.file, slip.function, slip.what)
        counts[name] += 1
        yield (*name, counts[name])


def choose(slips, results, arguments):
    """The slips to try: those that were not caught when they were tried last, or so many of each room, drawn by chance."""
    if arguments.again:
        return [slip for slip, name in zip(slips, names_of(slips)) if results.get(name, {}).get("result") in (MISSED, UNREACHED)]
    chosen = []
    for room in dict.fromkeys(slip.room for slip in slips):
        mine = [slip for slip in slips if slip.room == room]
        kept = set(random.Random(arguments.seed).sample(range(len(mine)), min(arguments.each or len(mine), len(mine))))
        chosen += [slip for at, slip in enumerate(mine) if at in kept]
    return chosen


def read_results(path):
    """What runs have found so far, by the names of the slips."""
    facts = json.loads(path.read_text()) if path.is_file() else []
    return {(fact["file"], fact["function"], fact["what"], fact["which"]): fact for fact in facts}


def write_results(path, results, slips):
    """Notes what was found. `which` tells slips of a function apart that have the same text."""
    for slip, name in zip(slips, names_of(slips)):
        if slip.result:
            results[name] = {"room": slip.room, "file": slip.file, "line": slip.line, "function": slip.function, "what": slip.what,
                             "which": name[-1], "number": slip.number, "result": slip.result, "detail": slip.detail}
    path.write_text(json.dumps(list(results.values()), indent=1))


class Trial:
    """Tries slips room by room."""

    def __init__(self, copy, more_programs, most_seconds):
        self.more_programs = more_programs
        self.copy, self.runner, self.progress = copy, Runner(copy), Progress()
        self.end, self.cases = time.monotonic() + most_seconds, {}

    def look_at(self, program):
        """The cases of a program, each of which has run once."""
        if program not in self.cases:
            if not self.copy.build(program):
                fail(f"{program} could not be built with slips; see {self.copy.log}")
            self.cases[program] = self.runner.cases_of(program)
            with concurrent.futures.ThreadPoolExecutor(self.copy.jobs) as pool:
                for case, how in zip(self.cases[program], pool.map(self.runner.look, self.cases[program])):
                    if how != "passed":
                        self.progress.say(f"{case.name} of {program} without a slip: {how}")
        return self.cases[program]

    def room(self, room, slips):
        programs = dict.fromkeys(programs_of(self.copy.root, room) + self.more_programs)
        cases = [case for program in programs for case in self.look_at(program)]
        cases.sort(key=lambda case: case.seconds)

        def attempt(slip):
            if time.monotonic() < self.end:
                slip.result, slip.detail = self.runner.attempt(slip, [case for case in cases if slip.number in case.reached])

        with concurrent.futures.ThreadPoolExecutor(self.copy.jobs) as pool:
            for done, _ in enumerate(pool.map(attempt, slips), 1):
                self.progress.show(f"{room}: {done} of {len(slips)}")
        self.progress.show("")


def score_of(slips):
    return [sum(slip.result == result for slip in slips) for result in (CAUGHT, MISSED, UNREACHED)]


def print_room(room, slips, to):
    """What was not caught, function by function, and a line with the room's numbers."""
    for function in dict.fromkeys((slip.file, slip.function) for slip in slips):
        mine = [slip for slip in slips if (slip.file, slip.function) == function]
        caught, missed, unreached = score_of(mine)
        if missed + unreached > 0:
            print(f"{function[0]} {function[1]}: {caught} caught, {missed} missed, {unreached} not reached", file=to)
        for slip in mine:
            if slip.result in (MISSED, UNREACHED):
                print(f"    {slip.result} {slip.file}:{slip.line}: {slip.what}", file=to)
    caught, missed, unreached = score_of(slips)
    share = 100 * caught // max(1, caught + missed + unreached)
    print(f"{room}: {caught} caught, {missed} missed, {unreached} not reached: {share} %", file=to, flush=True)


def main():
    parser = argparse.ArgumentParser(prog="./dev soak mutants")
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--room", action="append", default=[])
    parser.add_argument("--with", action="append", default=[], dest="more_programs", metavar="PROGRAM")
    parser.add_argument("--each", type=int, default=100, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count()))
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    root, work = arguments.root.resolve(), arguments.work.resolve()
    known = [path.stem for path in sorted((root / "tests" / "faults").glob("*.txt")) if (root / "src" / path.stem).is_dir()]
    for room in arguments.room:
        if room not in known:
            fail(f'there is no room "{room}" with tests; there are: {", ".join(known)}')
    rooms = arguments.room or known
    copy = SlipCopy(root, work, arguments.jobs)
    if not copy.build_folder.is_dir():
        copy.renew()
    copy.configure("-DSHOAL_LARGE_UNITS=ON")
    slips = copy.find(rooms)
    copy.renew()
    results = read_results(work / "results.json")
    chosen, trial = choose(slips, results, arguments), Trial(copy, arguments.more_programs, arguments.minutes * 60)
    for room in rooms:
        mine = [slip for slip in chosen if slip.room == room]
        if mine and time.monotonic() < trial.end:
            trial.room(room, mine)
            print_room(room, mine, sys.stderr if arguments.json else sys.stdout)
            write_results(work / "results.json", results, slips)
    if arguments.json:
        names = set(slip.number for slip in chosen)
        print(json.dumps([fact for fact in results.values() if fact["number"] in names], indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
