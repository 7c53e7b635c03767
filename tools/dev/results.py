"""Reads what runs of tests report, and prints it as lines `pass NAME`, `fail NAME` and `skip NAME`, or counts such lines.

    results.py ctest REPORT_FOLDER         the tests of REPORT_FOLDER/ctest.xml, which `ctest --output-junit` writes. The cases
                                           of REPORT_FOLDER/NAME_tests.json, which GoogleTest writes, stand for the test NAME
    results.py gtest PREFIX FILE...        the cases of JSON files of GoogleTest
    results.py pytest LOG                  the tests in the output of `pytest -rA`
    results.py row NAME SECONDS RESULTS... a row of a table: the name, the minutes, and how many passed, failed and were skipped
    results.py total RESULTS...            how many there are, in one line. Exit code: 1 when one failed or none passed
    results.py failures RESULTS            the names of those that failed

A report that cannot be read counts as a failure of the program that ought to have written it. Exit code: 2 when a file is
missing or the call is wrong, and otherwise 0.
"""

import argparse
import collections
import dataclasses
import json
import pathlib
import re
import signal
import sys
import xml.etree.ElementTree

PASS, FAIL, SKIP, NOTHING = "pass", "fail", "skip", ""
OUTCOMES = {"COMPLETED": PASS, "SKIPPED": SKIP, "SUPPRESSED": NOTHING}  # what GoogleTest says of a case
CUT_SHORT = "its report is cut short"


class Problem(Exception):
    """What the caller has to mend. It ends a tool with exit code 2."""


class CutShort(Exception):
    """A report that its program did not finish."""


@dataclasses.dataclass
class Test:
    """A test of ctest, or a case of a GoogleTest program."""
    name: str
    result: str
    seconds: float = 0
    reason: str = ""

    def line(self, prefix=""):
        return line_of(self.result, prefix + self.name, self.reason)


def line_of(result, name, reason=""):
    return f"{result} {name} ({reason})" if reason else f"{result} {name}"


def read_text(path, advice):
    """The text of a file. A mark stands for each byte that is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise Problem(f"cannot read {path}: {error.strerror}; {advice}")


# --- GoogleTest -------------------------------------------------------------------------------------------------------


def cases_of(path):
    """The cases in a JSON file of GoogleTest, without those that are disabled. Raises CutShort."""
    text = read_text(path, "run the test program with GTEST_OUTPUT=json:FILE first")
    try:
        suites = json.loads(text)["testsuites"]
        cases = [case_of(suite["name"], entry) for suite in suites for entry in suite["testsuite"]]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise CutShort(path)
    return [case for case in cases if case.result != NOTHING]


def case_of(suite, entry):
    result = FAIL if "failures" in entry else OUTCOMES[entry["result"]]
    if not entry["name"]:  # the suite failed before its first case or after its last one
        return Test(suite, result, seconds_of(entry.get("time")), "outside of its cases")
    return Test(f"{suite}.{entry['name']}", result, seconds_of(entry.get("time")))


def seconds_of(text):
    """The seconds in "1.5s" or "1.5", and 0 for any other text."""
    match = re.fullmatch(r"(\d+(?:\.\d*)?(?:e[-+]?\d+)?)s?", text or "")
    return float(match[1]) if match else 0.0


def lines_of_gtest(prefix, files):
    for path in files:
        name = f"{prefix}/{path.stem}"
        try:
            yield from [case.line(f"{name}/") for case in cases_of(path)]
        except CutShort:
            yield line_of(FAIL, name, CUT_SHORT)


# --- ctest ------------------------------------------------------------------------------------------------------------


def tests_of(path):
    """The tests in a file of ctest, and whether the file is whole."""
    if not path.is_file():
        raise Problem(f"there is no {path}; run ctest with --output-junit {path} first")
    tests = []
    try:
        for _, element in xml.etree.ElementTree.iterparse(path):
            if element.tag == "testcase":
                tests.append(test_of(element))
    except xml.etree.ElementTree.ParseError:
        return tests, False
    except OSError as error:
        raise Problem(f"cannot read {path}: {error.strerror}; make it readable")
    return tests, True


def test_of(element):
    result, reason = result_of(element)
    return Test(element.get("name", "without a name"), result, seconds_of(element.get("time")), reason)


def result_of(element):
    """The result of a test, and why. A test that ctest could not start is a failure for ctest, too."""
    status = element.get("status")
    if status in ("run", "fail"):
        return (PASS if status == "run" else FAIL), ""
    skipped = element.find("skipped")
    message = " ".join(skipped.get("message", "").split()) if skipped is not None else ""
    if status == "disabled" or message.startswith("SKIP_"):
        return SKIP, ""
    return FAIL, f"it did not run: {message or status}"


def lines_of_ctest(folder):
    tests, whole = tests_of(folder / "ctest.xml")
    for test in tests:
        yield from lines_of_test(folder, test)
    if not whole:
        yield line_of(FAIL, "ctest", f"{CUT_SHORT}: ctest.xml")


def lines_of_test(folder, test):
    """A program that fails while no case of it fails died after its cases, or leaked."""
    path = folder / f"{test.name}_tests.json"
    if not path.is_file():
        return [test.line()]
    try:
        cases = cases_of(path)
    except CutShort:
        return [line_of(FAIL, test.name, CUT_SHORT)]
    lines = [case.line(f"{test.name}/") for case in cases]
    if test.result == FAIL and all(case.result != FAIL for case in cases):
        lines.append(line_of(FAIL, test.name, "its exit"))
    return lines


# --- pytest -----------------------------------------------------------------------------------------------------------


def lines_of_pytest(log):
    """The tests in the summary. The lines before it are of the tests themselves, and may look the same."""
    lines = read_text(log, "run pytest with -rA and write its output there first").splitlines()
    headings = [number for number, line in enumerate(lines) if re.fullmatch(r"=+ short test summary info =+", line)]
    if not headings:
        return [line_of(FAIL, "python", f"pytest wrote no summary to {log.name}")]
    return [line for line in map(line_of_pytest, lines[headings[-1] + 1:]) if line]


def line_of_pytest(line):
    word, _, rest = line.partition(" ")
    if word == "PASSED":
        return line_of(PASS, f"python/{rest}")
    if word in ("FAILED", "ERROR"):
        # The name of a test may end with parameters, which may have blanks; a message may follow.
        match = re.match(r"([^ \[]+(?:\[.*?\])?)(?: - |$)", rest)
        return line_of(FAIL, f"python/{match[1] if match else rest.split(' ')[0]}")
    match = re.fullmatch(r"SKIPPED \[\d+\] (.*)", line)
    return line_of(SKIP, f"python/{match[1]}") if match else ""


# --- counts -----------------------------------------------------------------------------------------------------------


def result_lines(paths):
    for path in paths:
        for line in read_text(path, "name files of lines `pass NAME`, `fail NAME` and `skip NAME`").split("\n"):
            word, blank, name = line.partition(" ")
            if blank and word in (PASS, FAIL, SKIP):
                yield word, name


def counts_of(paths):
    counts = collections.Counter(word for word, _ in result_lines(paths))
    return counts[PASS], counts[FAIL], counts[SKIP]


def row_of(name, seconds, paths):
    passed, failed, skipped = counts_of(paths)
    return f"{name:<10} {seconds / 60:>8.1f} {passed:>8} {failed:>8} {skipped:>8}"


def print_total(paths):
    passed, failed, skipped = counts_of(paths)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


# --- the call ---------------------------------------------------------------------------------------------------------


def read_arguments(argv):
    parser = argparse.ArgumentParser(prog="results.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="{ctest,gtest,pytest,row,total,failures}")
    verbs.add_parser("ctest").add_argument("folder", metavar="REPORT_FOLDER", type=pathlib.Path)
    gtest = verbs.add_parser("gtest")
    gtest.add_argument("prefix", metavar="PREFIX")
    gtest.add_argument("files", metavar="FILE", nargs="+", type=pathlib.Path)
    verbs.add_parser("pytest").add_argument("log", metavar="LOG", type=pathlib.Path)
    row = verbs.add_parser("row")
    row.add_argument("name", metavar="NAME")
    row.add_argument("seconds", metavar="SECONDS", type=float)
    row.add_argument("files", metavar="RESULTS", nargs="+", type=pathlib.Path)
    verbs.add_parser("total").add_argument("files", metavar="RESULTS", nargs="+", type=pathlib.Path)
    verbs.add_parser("failures").add_argument("file", metavar="RESULTS", type=pathlib.Path)
    return parser.parse_args(argv)


def lines_for(arguments):
    """All lines that a verb prints. The caller prints them afterwards, so that a problem leaves nothing half printed."""
    if arguments.verb == "ctest":
        return list(lines_of_ctest(arguments.folder))
    if arguments.verb == "gtest":
        return list(lines_of_gtest(arguments.prefix, arguments.files))
    if arguments.verb == "pytest":
        return lines_of_pytest(arguments.log)
    if arguments.verb == "row":
        return [row_of(arguments.name, arguments.seconds, arguments.files)]
    return [f"    {name}" for word, name in result_lines([arguments.file]) if word == FAIL]


def main(argv):
    arguments = read_arguments(argv)
    try:
        if arguments.verb == "total":
            return print_total(arguments.files)
        for line in lines_for(arguments):
            print(line)
    except Problem as problem:
        print(f"results.py: {problem}", file=sys.stderr)
        return 2
    return 0


def start(main):
    """Runs a tool. It ends quietly when the reader of its output ends, and prints letters that the terminal lacks as escapes."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.stdout.reconfigure(errors="backslashreplace")
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    start(main)
