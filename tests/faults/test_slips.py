"""Slips are found where they are, and a source with all of them compiles and makes the one that is asked for."""

import argparse
import os
import pathlib
import subprocess
import tempfile
import unittest

try:
    from mutants import CAUGHT, MISSED, choose, names_of, read_results, write_results
    from slips import Compiler, Slip, render
except ModuleNotFoundError as error:  # python3-clang-19, which only the soak needs
    raise unittest.SkipTest(str(error))

HEADER = pathlib.Path(__file__).parent / "slip.h"
SOURCE = """#include <algorithm>
#include <cstdio>
#define CHECKED(condition) if (!(condition)) return -1
constexpr int twice(int value) { return value * 2; }
static int first_over(const int* values, int num_values, int limit) {
    CHECKED(num_values >= 0);
    for (int index = 0; index < num_values; ++index)
        if (values[index] > limit && values[index] != 7) return index;
    return std::min(num_values, twice(5));
}
int main() {
    const int values[] = {3, 7, 4, 5};
    int sum = 0;
    if (const int found = first_over(values, 4, 4); found >= 0)
        sum += found;
    else
        sum = 9;
    std::printf("%d", sum);
}
"""


class Slips(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        root = pathlib.Path(cls.folder.name)
        (root / "one.cpp").write_text(SOURCE)
        cls.slips = Compiler(root, ["one.cpp"], ["-std=c++20"], HEADER).slips()["one.cpp"]
        (root / "slips.cpp").write_bytes(render(SOURCE.encode(), cls.slips, HEADER))
        cls.program = root / "program"
        subprocess.run(["clang++-19", "-std=c++20", root / "slips.cpp", "-o", cls.program], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def output(self, what):
        numbers = [slip.number for slip in self.slips if slip.what == what]
        self.assertEqual(len(numbers), 1, what)
        return self.output_of(numbers[0])

    def output_of(self, number):
        environment = os.environ | {"SHOAL_SLIP": str(number)}
        return subprocess.run([self.program], env=environment, capture_output=True, text=True).stdout

    def test_a_slip_is_made_only_where_it_is_asked_for(self):
        self.assertEqual(self.output_of(0), "3")
        self.assertEqual(self.output(">= in values[index] > limit"), "2")
        self.assertEqual(self.output("without values[index] != 7 in values[index] > limit && values[index] != 7"), "1")
        self.assertEqual(self.output("without return index"), "4")
        self.assertEqual(self.output("without sum += found"), "0")
        self.assertEqual(self.output("never found >= 0"), "9")

    def test_what_is_computed_by_the_compiler_or_in_a_macro_has_none(self):
        lines = {slip.line for slip in self.slips}
        self.assertFalse(lines & {1, 2, 3, 4, 6})

    def test_lines_stay_where_they_are(self):
        text = render(SOURCE.encode(), self.slips, HEADER).decode().splitlines()
        self.assertIn("sum = ", text[3 + SOURCE.splitlines().index("        sum = 9;")])

    def test_what_a_process_reaches_is_noted(self):
        path = pathlib.Path(self.folder.name) / "reached"
        path.write_bytes(bytes(1000))
        subprocess.run([self.program], env=os.environ | {"SHOAL_SLIPS_REACHED": str(path)}, capture_output=True)
        reached = {slip.what for slip in self.slips if path.read_bytes()[slip.number]}
        self.assertIn("without sum += found", reached)
        self.assertNotIn("without sum = 9", reached)


class Results(unittest.TestCase):
    def slips(self, line=1):
        return [Slip("src/lower/one.cpp", "half", line + number, what, 0, 1, room="lower", number=number)
                for number, what in enumerate(("without a", "without b", "without a"))]

    def test_a_slip_is_known_again_when_lines_have_moved(self):
        before, after = self.slips(), self.slips(line=100)
        self.assertEqual(list(names_of(before)), list(names_of(after)))
        self.assertEqual(len(set(names_of(before))), 3)
        with tempfile.TemporaryDirectory() as folder:
            path, results = pathlib.Path(folder) / "results.json", {}
            for slip, result in zip(before, (CAUGHT, MISSED, MISSED)):
                slip.result = result
            write_results(path, results, before)
            again = choose(after, read_results(path), argparse.Namespace(again=True))
            self.assertEqual([slip.number for slip in again], [1, 2])

    def test_the_same_are_drawn_for_a_seed(self):
        def drawn(each, seed):
            return [slip.number for slip in choose(self.slips(), {}, argparse.Namespace(again=False, each=each, seed=seed))]

        self.assertEqual(len(drawn(2, 1)), 2)
        self.assertEqual(drawn(2, 1), drawn(2, 1))
        self.assertEqual(drawn(0, 1), [0, 1, 2])
        self.assertEqual(drawn(9, 1), [0, 1, 2])


if __name__ == "__main__":
    unittest.main()
