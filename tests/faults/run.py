"""Puts faults into a copy of the sources, one at a time, and says which of them the tests catch.

    run.py ROOT WORK [--room ROOM]... [--third SEED] [--minutes N] [--jobs N] [--json]

The faults are those of tests/faults/ROOM.txt, whose format tests/faults/README.md describes. WORK is a folder for the copy and
its build; ROOT is only read. Each fault is put in, the test program that ought to catch it is built and run, and the fault is
taken out again. A failed, crashed or endless test catches a fault. Exit code: 0 when all that were tried were caught, 1 when one
was not, 2 when one did not apply: its text is not in its function exactly once, it does not compile, or its tests fail without it.
"""

import argparse
import dataclasses
import filecmp
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time

from faults import NOT_TRIED, put_into, read_faults

PRESET = "faults"
LEFT_OUT = {"build", ".git", ".cache", "__pycache__"}
MOST_SECONDS = 90  # of a run of tests with a fault, or ten times what they take without one; without one they may take 900
CAUGHT, MISSED, WRONG = "caught", "not caught", "did not apply"


def fail(problem):
    print(f"run.py: {problem}", file=sys.stderr)
    sys.exit(2)


class Copy:
    """A copy of the sources and its build."""

    def __init__(self, root, work, jobs):
        self.root, self.folder, self.log = root, work / "source", work / "build.log"
        self.build_folder, self.jobs = self.folder / "build" / PRESET, jobs
        self.texts = {}  # of files that differ from the root's, by their names there

    def renew(self):
        """Copies what has changed. Files that are the same keep their times, so that little is built again."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.renew_folder(self.root, self.folder)

    def renew_folder(self, source, target):
        names = {entry.name: entry for entry in os.scandir(source) if entry.name not in LEFT_OUT}
        for entry in list(os.scandir(target)):
            if entry.name in names or entry.name in LEFT_OUT:
                continue
            shutil.rmtree(entry.path) if entry.is_dir(follow_symlinks=False) else os.remove(entry.path)
        for name, entry in names.items():
            path = target / name
            if entry.is_dir():
                path.mkdir(exist_ok=True)
                self.renew_folder(pathlib.Path(entry.path), path)
            elif path.relative_to(self.folder).as_posix() in self.texts:
                text = self.texts[path.relative_to(self.folder).as_posix()]
                if not path.exists() or path.read_bytes() != text:
                    path.write_bytes(text)
            elif not path.exists() or not filecmp.cmp(entry.path, path, shallow=False):
                shutil.copyfile(entry.path, path)
                shutil.copymode(entry.path, path)

    def run(self, *command):
        with open(self.log, "a") as log:
            return subprocess.run(command, cwd=self.folder, stdout=log, stderr=log).returncode == 0

    def configure(self, *options):
        self.log.write_text("")
        if not self.run("cmake", "--preset", PRESET, f"-DSHOAL_TESTED_TREE={self.root}", *options):
            fail(f"the copy could not be configured; see {self.log}")

    def build(self, program):
        return self.run("cmake", "--build", str(self.build_folder), "--parallel", str(self.jobs), "--target", program)

    def run_tests(self, program, filter, most_seconds):
        """Returns what a run of tests ends with: "passed", "failed", "nothing ran" or "no end"."""
        command = [str(self.build_folder / "tests" / program), f"--gtest_filter={filter}", "--gtest_fail_fast"]
        process = subprocess.Popen(command, cwd=self.build_folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, start_new_session=True)
        try:
            output, _ = process.communicate(timeout=most_seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return "no end"
        if process.returncode != 0:
            return "failed"
        return "nothing ran" if re.search(rb"Running 0 tests", output) else "passed"

    def change(self, file, text):
        """Writes a source, so that the build notices."""
        (self.folder / file).write_text(text)

    def put_in(self, file, text):
        """Writes a source with a fault. For the compiler it is one of the system's, of which it warns of nothing."""
        self.change(file, f'# 1 "{self.folder / file}" 3\n{text}')


class Progress:
    """One line on a terminal that is written over; nothing elsewhere."""

    def __init__(self):
        self.shown = sys.stderr.isatty()

    def show(self, text):
        if self.shown:
            print(f"\r\033[K{text}"[: shutil.get_terminal_size().columns + 4], end="", file=sys.stderr, flush=True)

    def say(self, text):
        self.show("")
        print(text, file=sys.stderr, flush=True)


def try_fault(fault, copy):
    """Puts the fault in, runs its tests, takes it out, and notes what happened."""
    path = copy.root / fault.file
    sound = path.read_text() if path.is_file() else ""
    try:
        faulty, fault.line = put_into(fault, sound)
    except ValueError as problem:
        note([fault], str(problem))
        return
    begin = time.monotonic()
    copy.put_in(fault.file, faulty)
    try:
        if not copy.build(fault.program):
            fault.result, fault.detail = WRONG, f"it does not compile; see {copy.log}"
        else:
            how = copy.run_tests(fault.program, fault.filter, max(MOST_SECONDS, 10 * fault.sound_seconds))
            fault.result, fault.detail = (MISSED, "") if how == "passed" else (CAUGHT, how)
    finally:
        copy.change(fault.file, sound)
    fault.seconds = round(time.monotonic() - begin, 1)


def try_sound(faults, copy):
    """Builds and runs the tests of some faults without any. What fails then shows nothing about them."""
    for program in sorted({fault.program for fault in faults}):
        mine = [fault for fault in faults if fault.program == program]
        if not copy.build(program):
            note(mine, f"{program} could not be built; see {copy.log}")
            continue
        for filter in sorted({fault.filter for fault in mine}):
            begin = time.monotonic()
            how = copy.run_tests(program, filter, 10 * MOST_SECONDS)
            of_filter = [fault for fault in mine if fault.filter == filter]
            for fault in of_filter:
                fault.sound_seconds = round(time.monotonic() - begin, 1)
            if how != "passed":
                note(of_filter, f"{program} {filter} without the fault: {how}")


def note(faults, problem):
    for fault in faults:
        fault.result, fault.detail = WRONG, problem


def run(faults, copy, most_seconds):
    progress, begin = Progress(), time.monotonic()
    for room in dict.fromkeys(fault.room for fault in faults):
        mine = [fault for fault in faults if fault.room == room]
        if time.monotonic() - begin > most_seconds:
            break
        progress.show(f"{room}: the tests without faults")
        try_sound(mine, copy)
        for fault in mine:
            if time.monotonic() - begin > most_seconds:
                break
            number = faults.index(fault) + 1
            progress.show(f"{number} of {len(faults)} {room}: {fault.name}")
            if fault.result == NOT_TRIED:
                try_fault(fault, copy)
            if fault.result != CAUGHT:
                progress.say(sentence_of(fault))
    progress.show("")


def sentence_of(fault):
    place = f"{fault.file}:{fault.line}" if fault.line else fault.file
    detail = f" ({fault.detail})" if fault.detail else ""
    return f"{fault.result}: {fault.name} at {place}, by {fault.program} {fault.filter}{detail}"


def score_of(faults):
    """How many faults had each result."""
    return {result: sum(fault.result == result for fault in faults) for result in (CAUGHT, MISSED, WRONG, NOT_TRIED)}


def print_score(faults):
    print(f"{'room':<12} {'caught':>8} {'not':>8} {'wrong':>8} {'not tried':>10}")
    rooms = list(dict.fromkeys(fault.room for fault in faults))
    for room in rooms + ["total"]:
        mine = [fault for fault in faults if room in (fault.room, "total")]
        caught, missed, wrong, not_tried = score_of(mine).values()
        print(f"{room:<12} {caught:>8} {missed:>8} {wrong:>8} {not_tried:>10}")
    for fault in faults:
        if fault.result in (MISSED, WRONG):
            print(sentence_of(fault))
    score = score_of(faults)
    others = "".join(f", {score[result]} {result}" for result in (MISSED, WRONG, NOT_TRIED) if score[result] != 0)
    print(f"caught {score[CAUGHT]} of {len(faults)}{others}")


def draw_third(faults, seed):
    """A third of the faults, the same for the same seed, in their order: what two runs are compared by."""
    kept = set(random.Random(seed).sample(range(len(faults)), len(faults) // 3))
    return [fault for number, fault in enumerate(faults) if number in kept]


def choose(root, rooms):
    files = sorted((root / "tests" / "faults").glob("*.txt"))
    names = [path.stem for path in files]
    for room in rooms:
        if room not in names:
            fail(f'there are no faults of a room "{room}"; there are: {", ".join(names)}')
    return [fault for path in files if not rooms or path.stem in rooms for fault in read_faults(path)]


def main():
    parser = argparse.ArgumentParser(prog="./dev soak faults")
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--room", action="append", default=[])
    parser.add_argument("--third", type=int, metavar="SEED")
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    try:
        faults = choose(arguments.root, arguments.room)
    except ValueError as error:
        fail(error)
    if arguments.third is not None:
        faults = draw_third(faults, arguments.third)
    copy = Copy(arguments.root.resolve(), arguments.work.resolve(), arguments.jobs)
    copy.renew()
    copy.configure()
    run(faults, copy, arguments.minutes * 60)
    if arguments.json:
        result = {"score": score_of(faults), "faults": [dataclasses.asdict(fault) for fault in faults]}
        print(json.dumps(result, indent=2))
    else:
        print_score(faults)
    results = {fault.result for fault in faults}
    return 2 if WRONG in results else 1 if MISSED in results else 0


if __name__ == "__main__":
    sys.exit(main())
