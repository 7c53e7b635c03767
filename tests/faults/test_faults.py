"""The lists of faults fit the sources, and a fault that does not is noticed."""

import pathlib
import re
import tempfile
import unittest

from faults import Fault, broken_faults, definitions, put_into, read_faults, without_blanks

ROOT = pathlib.Path(__file__).parents[2]
SOURCE = """// half( of a comment
int half(int value) { return value / 2; }
struct Sum {
    explicit Sum(int start) : sum_{start}, parts_(1) {
        add(half(start));
    }
    void add(int value) const;
    int sum_ = 0;
};
void Sum::add(int value) const {
    if (value > 0) sum_ += value;
    const char* text = "add(1) {";
}
int twice(int value) { return value + value; }
"""


def fault(text, replacement, function="", name="one", file="src/lower/lower.cpp", tests="lower_tests"):
    return (f"fault  {name}\nfile   {file}\n" + (f"in     {function}\n" if function else "")
            + (f"tests  {tests}\n" if tests else "") + f"-{text}\n+{replacement}\n\n")


class Lists(unittest.TestCase):
    def test_the_faults_of_each_room_apply(self):
        self.assertEqual(broken_faults(ROOT), [])

    def test_each_room_has_some(self):
        lines = (ROOT / "cmake" / "rooms.cmake").read_text()
        rooms = re.findall(r"set\(SHOAL_(?:RUNTIME|PLUGIN|OFFLINE|INSPECT|SCRIPT)_ROOMS ([a-z ]+)\)", lines)
        for room in " ".join(rooms).split():
            self.assertTrue(read_faults(ROOT / "tests" / "faults" / f"{room}.txt"), room)


class Applying(unittest.TestCase):
    def put(self, text, replacement, function=""):
        return put_into(Fault("lower", "one", "lower.cpp", function, text=text, replacement=replacement), SOURCE)

    def test_a_function_is_found_by_its_name(self):
        names = [name for name, _, _ in definitions(without_blanks(SOURCE))]
        self.assertEqual(names, ["half", "Sum", "Sum::add", "twice"])

    def test_a_text_counts_in_its_function_alone(self):
        changed, line = self.put("/ 2", "/ 3", "half")
        self.assertIn("return value / 3;", changed)
        self.assertEqual(line, 2)
        changed, line = self.put("sum_ +=", "sum_ -=", "Sum::add")
        self.assertEqual(line, 11)
        self.assertEqual(changed.replace("sum_ -=", "sum_ +="), SOURCE)

    def test_a_text_that_is_not_there_once_is_refused(self):
        for text, function, problem in (("value", "half", "2 times in half"), ("value / 2", "twice", "0 times in twice"),
                                        ("value", "third", "0 times in third"), ("value", "", "times in lower.cpp")):
            with self.assertRaisesRegex(ValueError, problem):
                self.put(text, "x", function)
        with self.assertRaisesRegex(ValueError, "changes nothing"):
            self.put("/ 2", "/ 2", "half")

    def test_what_is_wrong_with_a_list_is_said_with_the_name_of_the_fault(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path in ("src/lower", "tests/faults", "tests/lower"):
                (root / path).mkdir(parents=True)
            (root / "src/lower/lower.cpp").write_text(SOURCE)
            (root / "tests/faults/lower.txt").write_text(
                "# Faults of a room.\n\n" + fault("/ 2", "/ 3", "half", "right") + fault("value", "x", "half", "twice")
                + fault("/ 2", "/ 3", name="no file", file="src/lower/cellar.cpp")
                + fault("/ 2", "/ 3", name="other tests", tests="cellar_tests") + fault("/ 2", "/ 4", name="right"))
            self.assertEqual(broken_faults(root), [
                'lower.txt: "twice": its text is 2 times in half of src/lower/lower.cpp, and not once; mend the list',
                'lower.txt: "no file" is in a file that does not exist: src/lower/cellar.cpp',
                'lower.txt: "other tests" is tested by cellar_tests, which has no folder in tests/',
                'lower.txt: "right" has the name of another one'])
            (root / "tests/faults/lower.txt").write_text(fault("/ 2", "/ 3", name="no tests", tests=""))
            self.assertRegex(broken_faults(root)[0], 'the fault "no tests" lacks its file, its tests or a text')


if __name__ == "__main__":
    unittest.main()
