"""The Python client, asked of a level that the tool runs: what the guide shows, and errors as exceptions.

    client_test.py TOOL SOURCES
"""

import importlib.util
import pathlib
import signal
import subprocess
import sys
import unittest

TOOL, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
LEVEL = """
{ "entities": {
    "a": { "components": { "point_mass": { "mass": 2, "position": [1, 2, 3] } } },
    "b": { "components": { "point_mass": { "mass": 5 }, "tag": "heavy" } } } }
"""


def load_client():
    spec = importlib.util.spec_from_file_location("inspector", ROOT / "python/shoal/inspector.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Client(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.module = load_client()
        cls.run_tool([])

    @classmethod
    def run_tool(cls, flags):
        cls.tool = subprocess.Popen([TOOL, "inspect", "-", *flags], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.PIPE, text=True)
        cls.tool.stdin.write(LEVEL)
        cls.tool.stdin.close()
        line = cls.tool.stderr.readline()
        assert line.startswith("inspect at "), line
        cls.world = cls.module.Inspector(line.removeprefix("inspect at ").strip())

    @classmethod
    def tearDownClass(cls):
        cls.tool.send_signal(signal.SIGINT)
        assert cls.tool.wait(20) == 0
        cls.tool.stderr.close()

    def test_entities_are_found_read_and_set(self):
        heavy = list(self.world.entities("point_mass.mass > 3"))
        self.assertEqual(len(heavy), 1)
        self.assertEqual(self.world.entity(heavy[0])["components"]["point_mass"]["mass"], 5)
        self.assertEqual(self.world.set(heavy[0], "point_mass.mass", 2.5), 2.5)
        self.assertEqual(list(self.world.entities("point_mass.mass > 3")), [])
        self.assertEqual(self.world.post("/api/undo")["value"], 5)
        self.assertEqual(self.world.get("/api/entities", query="#heavy")["total"], 1)

    def test_a_paused_world_is_stepped(self):
        begin = self.world.get("/api/world")["frame"]
        self.world.step(3)
        self.assertEqual(self.world.get("/api/world")["frame"], begin + 3)

    def test_what_is_refused_is_an_exception_that_says_where(self):
        with self.assertRaisesRegex(self.module.InspectorError, "point_mas") as refused:
            list(self.world.entities("point_mas"))
        self.assertEqual((refused.exception.status, refused.exception.column), (400, 1))
        with self.assertRaises(self.module.InspectorError) as missing:
            self.world.get("/api/nothing")
        self.assertEqual(missing.exception.status, 404)

    def test_each_call_has_a_section_in_the_manual(self):
        manual = (ROOT / "docs/formats/inspector.md").read_text()
        told = {line.removeprefix("## ") for line in manual.splitlines() if line.startswith("## ")}
        described = self.world.get("/api/openapi.json")["paths"]
        self.assertEqual(told, {f"{method.upper()} {path}" for path, calls in described.items() for method in calls})

    def test_metrics_are_text_and_points_are_bytes(self):
        self.assertIn("shoal_entities 2\n", self.world.get("/metrics"))
        self.assertIsInstance(self.world.get("/api/points"), bytes)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
