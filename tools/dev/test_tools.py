"""Tests of the tools in this folder, on small inputs in temporary folders. From the root of the project:

    python3 -B -m unittest discover -s tools/dev -p 'test_*.py'
"""

import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import coverage
import draw_comments
import results
import times


class ToolTest(unittest.TestCase):
    """A temporary folder, and what a tool says of the files in it."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if isinstance(text, str) else json.dumps(text))
        return path

    def run_tool(self, tool, *arguments):
        """The exit code, the output and the errors of a tool."""
        output, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            try:
                status = tool.main([str(argument) for argument in arguments])
            except SystemExit as exit:
                status = exit.code
        return status, output.getvalue(), errors.getvalue()

    def lines(self, tool, *arguments):
        status, output, errors = self.run_tool(tool, *arguments)
        self.assertEqual((status, errors), (0, ""))
        return output.splitlines()

    def refuses(self, tool, *arguments, names):
        status, output, errors = self.run_tool(tool, *arguments)
        self.assertEqual((status, output), (2, ""))
        self.assertIn(names, errors)


def ctest_xml(*tests):
    """What ctest writes of tests, each a name, a status and more attributes or elements."""
    cases = [f'<testcase name="{name}" time="{seconds}" status="{status}">{inside}<system-out>a &lt; b</system-out></testcase>'
             for name, status, seconds, inside in (test + ("1.5", "")[len(test) - 2:] for test in tests)]
    return '<?xml version="1.0" encoding="UTF-8"?>\n<testsuite name="(empty)"\n\ttests="1"\n\t>' + "".join(cases) + "</testsuite>"


def case(name, result="COMPLETED", seconds="0.25s", **more):
    return {"name": name, "status": "RUN", "result": result, "time": seconds, "classname": "S", **more}


def gtest_json(**suites):
    return {"tests": 1, "name": "AllTests", "testsuites": [{"name": name, "testsuite": cases} for name, cases in suites.items()]}


FAILURE = {"failures": [{"failure": "a.cpp:1\nExpected: x", "type": ""}]}


class ResultsOfCtest(ToolTest):
    def ctest(self, *tests):
        self.write("ctest.xml", ctest_xml(*tests))
        return self.lines(results, "ctest", self.folder)

    def test_a_test_without_cases_counts_as_ctest_says(self):
        self.assertEqual(self.ctest(("a", "run"), ("b", "fail"), ("c", "disabled")), ["pass a", "fail b", "skip c"])

    def test_a_test_that_asks_to_be_skipped_is_skipped(self):
        skipped = '<skipped message="SKIP_RETURN_CODE=77"/>'
        self.assertEqual(self.ctest(("a", "notrun", "0", skipped)), ["skip a"])

    def test_a_test_whose_program_is_missing_fails(self):
        skipped = '<skipped message="Unable to find\nexecutable"/>'
        self.assertEqual(self.ctest(("a", "notrun", "0", skipped)), ["fail a (it did not run: Unable to find executable)"])

    def test_names_may_have_letters_that_xml_writes_otherwise(self):
        self.assertEqual(self.ctest(("a &quot;b&quot; &lt;&amp;&gt;", "run")), ['pass a "b" <&>'])

    def test_the_cases_of_a_program_stand_for_it(self):
        self.write("base_tests.json", gtest_json(S=[case("one"), case("two", **FAILURE)], T=[case("three", "SKIPPED")]))
        self.assertEqual(self.ctest(("base", "fail")), ["pass base/S.one", "fail base/S.two", "skip base/T.three"])

    def test_a_disabled_case_is_left_out(self):
        self.write("base_tests.json", gtest_json(S=[case("one"), case("DISABLED_two", "SUPPRESSED")]))
        self.assertEqual(self.ctest(("base", "run")), ["pass base/S.one"])

    def test_a_case_that_fails_and_then_skips_fails(self):
        self.write("base_tests.json", gtest_json(S=[case("one", "SKIPPED", **FAILURE)]))
        self.assertEqual(self.ctest(("base", "fail")), ["fail base/S.one"])

    def test_a_failure_outside_of_the_cases_names_the_suite(self):
        self.write("base_tests.json", gtest_json(S=[case("", **FAILURE)]))
        self.assertEqual(self.ctest(("base", "fail")), ["fail base/S (outside of its cases)"])

    def test_a_program_that_failed_although_its_cases_passed_is_one_more_failure(self):
        self.write("base_tests.json", gtest_json(S=[case("one")]))
        self.assertEqual(self.ctest(("base", "fail")), ["pass base/S.one", "fail base (its exit)"])

    def test_a_program_that_died_before_it_reported_counts_as_a_failure(self):
        self.assertEqual(self.ctest(("base", "fail")), ["fail base"])

    def test_a_report_that_is_cut_short_anywhere_counts_as_one_failure(self):
        whole = json.dumps(gtest_json(S=[case("one")]))
        for length in (0, 1, len(whole) // 2, len(whole) - 1):
            self.write("base_tests.json", whole[:length])
            for status in ("run", "fail"):
                self.assertEqual(self.ctest(("base", status)), ["fail base (its report is cut short)"])

    def test_json_that_is_not_of_googletest_counts_as_a_failure(self):
        other = ([], 1, None, {}, {"testsuites": 1}, {"testsuites": [1]}, {"testsuites": [{"name": "S", "testsuite": None}]},
                 gtest_json(S=[{"name": "one"}]), gtest_json(S=[case("one", "WHATEVER")]), gtest_json(S=[case("one", seconds=1)]))
        for report in other:
            self.write("base_tests.json", json.dumps(report))
            self.assertEqual(self.ctest(("base", "run")), ["fail base (its report is cut short)"])

    def test_bytes_that_are_not_utf8_do_not_matter(self):
        text = json.dumps(gtest_json(S=[case("one", failures="X")])).encode().replace(b"X", b"\xff")
        (self.folder / "base_tests.json").write_bytes(text)
        self.assertEqual(self.ctest(("base", "fail")), ["fail base/S.one"])

    def test_a_report_of_ctest_that_is_cut_short_is_a_failure_after_what_it_holds(self):
        whole = ctest_xml(("a", "run"), ("b", "run"))
        for length in [*range(0, len(whole), 20), len(whole) - 1]:
            self.write("ctest.xml", whole[:length])
            found = self.lines(results, "ctest", self.folder)
            self.assertEqual(found, ["pass a", "pass b"][: len(found) - 1] + ["fail ctest (its report is cut short: ctest.xml)"])
        self.assertEqual(len(found), 3)

    def test_without_a_report_the_error_says_what_to_do(self):
        self.refuses(results, "ctest", self.folder, names="run ctest with --output-junit")


class ResultsOfGoogleTest(ToolTest):
    def test_cases_are_named_after_the_prefix_and_the_file(self):
        one = self.write("base_tests.json", gtest_json(S=[case("one"), case("two", **FAILURE)]))
        other = self.write("job_tests.json", gtest_json(**{"All/T": [case("three/0", "SKIPPED")]}))
        self.assertEqual(self.lines(results, "gtest", "valgrind", one, other),
                         ["pass valgrind/base_tests/S.one", "fail valgrind/base_tests/S.two",
                          "skip valgrind/job_tests/All/T.three/0"])

    def test_a_file_that_is_cut_short_is_a_failure_and_the_others_still_count(self):
        one = self.write("base_tests.json", '{"tests": 1,')
        other = self.write("job_tests.json", gtest_json(S=[case("one")]))
        self.assertEqual(self.lines(results, "gtest", "v", one, other),
                         ["fail v/base_tests (its report is cut short)", "pass v/job_tests/S.one"])

    def test_a_missing_file_is_named(self):
        self.refuses(results, "gtest", "v", self.folder / "none.json", names="none.json")


class ResultsOfPytest(ToolTest):
    HEADING = "=========================== short test summary info ============================\n"

    def pytest(self, log):
        return self.lines(results, "pytest", self.write("python.log", log))

    def test_each_word_of_the_summary_is_a_result(self):
        self.assertEqual(self.pytest(self.HEADING + "PASSED test_a.py::test_ok\nSKIPPED [2] test_a.py:6: no: numpy\n"
                                     "XFAIL test_a.py::test_x\nERROR test_b.py\nERROR test_a.py::test_e - ValueError: no\n"
                                     "FAILED test_a.py::test_bad - AssertionError: x - y\n1 failed, 1 passed in 0.05s\n"),
                         ["pass python/test_a.py::test_ok", "skip python/test_a.py:6: no: numpy", "fail python/test_b.py",
                          "fail python/test_a.py::test_e", "fail python/test_a.py::test_bad"])

    def test_parameters_belong_to_the_name_and_messages_do_not(self):
        self.assertEqual(self.pytest(self.HEADING + "PASSED t.py::t[a b]\nFAILED t.py::t[c - d] - assert x[1] - 2\n"
                                     "FAILED t.py::t[e]\n"),
                         ["pass python/t.py::t[a b]", "fail python/t.py::t[c - d]", "fail python/t.py::t[e]"])

    def test_what_tests_print_is_not_a_result(self):
        log = "PASSED liar\nFAILED liar\n" + self.HEADING + "PASSED t.py::t\n"
        self.assertEqual(self.pytest(log), ["pass python/t.py::t"])

    def test_a_pytest_that_died_before_its_summary_counts_as_a_failure(self):
        self.assertEqual(self.pytest("PASSED liar\nSegmentation fault\n"),
                         ["fail python (pytest wrote no summary to python.log)"])

    def test_a_missing_log_is_named(self):
        self.refuses(results, "pytest", self.folder / "none.log", names="none.log")


class Counts(ToolTest):
    def setUp(self):
        super().setUp()
        self.one = self.write("one.results", "pass a\npass b\nfail c (its exit)\nskip d\n")
        self.other = self.write("other.results", "pass e\npassed f\nfailure\nfail\n  fail g\n")
        self.good = self.write("good.results", "pass e\nskip d\n")
        self.skipped = self.write("skipped.results", "skip d\n")

    def test_a_row_has_the_columns_of_the_heading(self):
        heading = subprocess.run(["printf", "%-10s %8s %8s %8s %8s", "step", "minutes", "passed", "failed", "skipped"],
                                 capture_output=True, text=True).stdout
        row, = self.lines(results, "row", "release", "93", self.one, self.other)
        self.assertEqual(row, "release         1.6        3        1        1")
        self.assertEqual(len(row), len(heading))

    def test_a_total_is_one_line_and_fails_when_something_failed(self):
        self.assertEqual(self.run_tool(results, "total", self.one, self.other), (1, "3 passed, 1 failed, 1 skipped\n", ""))

    def test_a_total_succeeds_when_something_passed_and_nothing_failed(self):
        self.assertEqual(self.run_tool(results, "total", self.good), (0, "1 passed, 0 failed, 1 skipped\n", ""))

    def test_a_total_fails_when_nothing_passed(self):
        self.assertEqual(self.run_tool(results, "total", self.skipped), (1, "0 passed, 0 failed, 1 skipped\n", ""))

    def test_failures_are_names_behind_four_blanks(self):
        self.assertEqual(self.lines(results, "failures", self.one), ["    c (its exit)"])
        self.assertEqual(self.lines(results, "failures", self.good), [])

    def test_missing_files_and_wrong_calls_are_refused(self):
        for verb in (["total"], ["failures"], ["row", "release", "1"]):
            self.refuses(results, *verb, self.folder / "none", names="none")
            self.refuses(results, *verb, self.folder, names="Is a directory")
        for call in ([], ["nothing"], ["total"], ["row", "release", "long", self.one], ["ctest"]):
            self.refuses(results, *call, names="usage")


LOG = """# ninja log v5
0\t9000\t11\tCMakeFiles/shoal_base.dir/src/base/log.cpp.o\ta1
0\t2000\t11\tCMakeFiles/shoal_base.dir/src/base/text.cpp.o\ta2
2000\t2500\t11\tlibshoal_base.a\ta3
0\t1000\t11\ttests/CMakeFiles/support.dir/cmake_pch.hxx.gch\ta4
1000\t4000\t11\ttests/CMakeFiles/base_tests.dir/base/log_test.cpp.o\ta5
4000\t5500\t11\ttests/base_tests\ta6
0\t100\t11\tapps/manuals/_shoal\ta7
0\t100\t11\tapps/manuals/shoal.fish\ta7
100\t3100\t12\tCMakeFiles/shoal_base.dir/src/base/log.cpp.o\ta1
0\t400\t11\tplugins/libdrift.so\ta8
0\t1"""


class Times(ToolTest):
    def setUp(self):
        super().setUp()
        self.build = self.write("build/.ninja_log", LOG).parent

    def facts(self, *reports):
        return json.loads("\n".join(self.lines(times, self.build, *reports, "--json")))

    def targets(self, *reports):
        return {row["target"]: (row["compile"], row["link"], row["run"], row["sum"]) for row in self.facts(*reports)["targets"]}

    def reports(self, *tests, **cases):
        self.write("report/ctest.xml", ctest_xml(*tests))
        for name, some in cases.items():
            self.write(f"report/{name}_tests.json", gtest_json(S=some))
        return self.folder / "report"

    def test_each_target_has_its_compiling_and_linking_and_the_longest_is_first(self):
        self.assertEqual(list(self.targets().items()), [
            ("shoal_base", (5.0, 0.5, 0, 5.5)), ("base_tests", (3.0, 1.5, 0, 4.5)), ("support", (1.0, 0, 0, 1.0)),
            ("drift", (0, 0.4, 0, 0.4))])

    def test_the_newest_line_of_an_output_counts(self):
        self.assertEqual(self.facts()["sources"][0], {"source": "src/base/log.cpp", "target": "shoal_base", "seconds": 3.0})

    def test_a_command_with_several_outputs_counts_once(self):
        self.assertEqual(self.facts()["other_commands"], 0.1)

    def test_a_program_without_objects_is_known_by_its_file(self):
        self.write("build/apps/manuals/_shoal", "").chmod(0o755)
        self.assertEqual(self.targets()["_shoal"], (0, 0.1, 0, 0.1))

    def test_cmake_names_the_target_of_an_output_with_another_name(self):
        self.write("build/build.ninja", "build plugins/libdrift.so: CXX_MODULE_LIBRARY_LINKER__shoal_plugin_drift_Release a.o\n"
                                        "build apps/manuals/_shoal apps/manuals/shoal.fish: CUSTOM_COMMAND x\n")
        self.assertEqual(self.targets()["shoal_plugin_drift"], (0, 0.4, 0, 0.4))
        self.assertNotIn("drift", self.targets())

    def test_a_test_is_the_running_of_its_program(self):
        report = self.reports(("base", "run"), base=[case("one")])
        self.assertEqual(self.targets(report)["base_tests"], (3.0, 1.5, 1.5, 6.0))
        self.assertEqual(list(self.targets(report))[0], "base_tests")

    def test_tests_without_a_program_of_theirs_share_a_row(self):
        self.assertEqual(self.targets(self.reports(("prose", "run"), ("style", "run")))["other tests"], (0, 0, 3.0, 3.0))

    def test_without_a_word_of_ctest_a_program_takes_what_its_cases_take(self):
        self.write("report/base_tests.json", gtest_json(S=[case("one"), case("two")]))
        self.assertEqual(self.targets(self.folder / "report")["base_tests"], (3.0, 1.5, 0.5, 5.0))

    def test_the_longest_cases_are_first_and_a_test_without_cases_is_one(self):
        report = self.reports(("base", "run"), ("style", "run"), base=[case("one"), case("two", seconds="2s")])
        self.assertEqual([(entry["case"], entry["seconds"]) for entry in self.facts(report)["cases"]],
                         [("base/S.two", 2.0), ("style", 1.5), ("base/S.one", 0.25)])

    def test_25_sources_and_cases_are_listed(self):
        log = "".join(f"0\t{n}\t1\tCMakeFiles/t.dir/{n}.cpp.o\t{n}\n" for n in range(1, 40))
        self.write("build/.ninja_log", "# ninja log v5\n" + log)
        facts = self.facts(self.reports(("base", "run"), base=[case(str(n)) for n in range(40)]))
        self.assertEqual((len(facts["sources"]), len(facts["cases"])), (25, 25))
        self.assertEqual(facts["sources"][0]["source"], "39.cpp")

    def test_a_report_that_is_cut_short_leaves_out_its_cases_and_says_so(self):
        report = self.reports(("base", "fail"))
        self.write("report/base_tests.json", "{")
        status, output, errors = self.run_tool(times, self.build, report)
        self.assertEqual(status, 0)
        self.assertIn("base_tests.json is cut short", errors)
        self.assertIn("1.50  base", output)

    def test_the_table_begins_with_what_its_seconds_are(self):
        lines = self.lines(times, self.build, self.reports(("base", "run")))
        self.assertIn("elapsed seconds while other jobs ran beside", lines[0])
        self.assertIn("base_tests                                 3.0       1.5       1.5       6.0", lines)
        self.assertIn("total                                      9.0       2.4       1.5      12.9", lines)
        self.assertIn("      3.0  shoal_base: src/base/log.cpp", lines)

    def test_missing_files_and_unknown_logs_are_refused(self):
        self.refuses(times, self.folder, names=".ninja_log")
        self.refuses(times, self.build, self.folder / "none", names="neither ctest.xml nor")
        self.refuses(times, names="usage")
        self.write("build/.ninja_log", "# ninja log v4\n")
        self.refuses(times, self.build, names="versions 5 to 7")


def export_of(**files):
    """What llvm-cov exports: each file with its lines and those that ran."""
    return {"data": [{"files": [{"filename": name, "summary": {"lines": {"count": lines, "covered": covered, "percent": 0}}}
                                for name, (lines, covered) in files.items()]}]}


class Coverage(ToolTest):
    def setUp(self):
        super().setUp()
        self.root, self.output = self.folder / "root", self.folder / "out"
        self.export = self.write("export.json", export_of(**{
            f"{self.root}/src/base/log.cpp": (10, 9), f"{self.root}/src/base/x<y&.cpp": (30, 20),
            f"{self.root}/include/shoal/base/detail/bits.h": (10, 10), f"{self.root}/include/shoal/job/crew.h": (0, 0),
            f"{self.root}/include/shoal/shoal.h": (7, 0), f"{self.root}/src/main.cpp": (7, 0),
            f"{self.root}/tests/base/log_test.cpp": (7, 0), f"{self.folder}/other/src/base/log.cpp": (7, 0)}))

    def report(self, *more):
        return self.lines(coverage, self.export, self.root, self.output, *more)

    def page(self, name):
        self.report()
        return (self.output / name).read_text()

    def test_files_count_for_the_room_of_their_folder_and_others_do_not(self):
        self.assertEqual(self.report(), ["room            lines  covered  percent", "base               50       39    78.00",
                                         "job                 0        0        -", "total              50       39    78.00"])

    def test_the_index_links_to_each_room(self):
        index = self.page("index.html")
        self.assertIn('<td><a href="base.html">base</a></td><td>50</td><td>39</td><td>11</td><td>78.00</td>', index)
        self.assertIn('<a href="job.html">job</a>', index)
        self.assertTrue((self.output / "job.html").is_file())

    def test_a_room_lists_first_what_ran_least(self):
        page = self.page("base.html")
        places = [page.index(name) for name in ("src/base/x&lt;y&amp;.cpp", "src/base/log.cpp", "base/detail/bits.h")]
        self.assertEqual(places, sorted(places))
        self.assertNotIn("crew.h", page)
        self.assertIn('<span style="width: 90.0%">', page)

    def test_a_file_links_to_its_page_if_that_is_there(self):
        self.assertNotIn("files/", self.page("base.html"))
        path = self.write(f"out/files/coverage{self.root}/src/base/x<y&.cpp.html", "")
        self.assertIn(f'<a href="files/coverage{self.root}/src/base/x%3Cy%26.cpp.html">src/base/x&lt;y&amp;.cpp</a>',
                      self.page("base.html"))
        self.assertTrue(path.is_file())

    def test_pages_need_nothing_else_and_know_dark_screens(self):
        for name in ("index.html", "base.html"):
            page = self.page(name)
            self.assertIn("prefers-color-scheme: dark", page)
            for word in ("<script", "<link", "src=", "http", "@import"):
                self.assertNotIn(word, page)

    def test_a_root_behind_a_link_is_the_same_root(self):
        self.root.mkdir()
        (self.folder / "link").symlink_to(self.root)
        lines = self.lines(coverage, self.export, self.folder / "link", self.output)
        self.assertEqual(lines[-1], "total              50       39    78.00")

    def test_json_holds_the_facts_of_the_table(self):
        self.report("--json", self.folder / "facts.json")
        facts = json.loads((self.folder / "facts.json").read_text())
        self.assertEqual(facts["rooms"], {"base": {"lines": 50, "covered": 39, "percent": 78.0},
                                          "job": {"lines": 0, "covered": 0, "percent": None}})
        self.assertEqual(facts["total"], {"lines": 50, "covered": 39, "percent": 78.0})

    def test_missing_files_and_other_json_are_refused(self):
        self.refuses(coverage, self.folder / "none", self.root, self.output, names="none")
        self.refuses(coverage, self.export, self.folder / "elsewhere", self.output, names="name the folder that was compiled")
        self.refuses(coverage, self.export, self.root, self.export, names="cannot write")
        self.refuses(coverage, self.export, names="usage")
        for text in ("", '{"data": [', "[]", "{}", {"data": []}, {"data": [{"files": [{"filename": "a"}]}]}):
            self.refuses(coverage, self.write("bad.json", text), self.root, self.output, names="bad.json")


class CoverageComparison(ToolTest):
    def compare(self, before, after):
        def facts(rooms):
            return {"rooms": {room: {"lines": lines, "covered": covered} for room, (lines, covered) in rooms.items()}}

        paths = [self.write("before.json", facts(before)), self.write("after.json", facts(after))]
        status, output, errors = self.run_tool(coverage, "compare", *paths)
        self.assertEqual(errors, "")
        return status, output.splitlines()

    def test_each_room_has_before_after_and_difference(self):
        self.assertEqual(self.compare({"base": (200, 180)}, {"base": (200, 181), "job": (10, 5)}), (0, [
            "room           before    after  difference", "base            90.00    90.50       +0.50",
            "job                 -    50.00           -", "total           90.00    88.57       -1.43"]))

    def test_a_loss_of_just_what_is_allowed_passes(self):
        self.assertEqual(self.compare({"base": (1000, 903)}, {"base": (1000, 900)})[0], 0)

    def test_a_larger_loss_fails_and_names_the_room(self):
        status, lines = self.compare({"base": (10000, 9031), "job": (10, 1)}, {"base": (10000, 9000), "job": (10, 9)})
        self.assertEqual((status, lines[-1]), (1, "lost more than 0.3 percentage points: base"))

    def test_a_room_that_is_gone_fails(self):
        self.assertEqual(self.compare({"base": (10, 1), "job": (10, 1)}, {"base": (10, 1)})[0], 1)
        self.assertEqual(self.compare({"base": (10, 1)}, {"base": (0, 0)})[0], 1)

    def test_a_room_without_lines_has_nothing_to_lose(self):
        self.assertEqual(self.compare({"base": (0, 0)}, {"base": (10, 0)})[0], 0)

    def test_files_that_json_writes_can_be_compared(self):
        export = self.write("export.json", export_of(**{f"{self.folder}/src/base/log.cpp": (10, 9)}))
        facts = self.folder / "facts.json"
        self.lines(coverage, export, self.folder, self.folder / "out", "--json", facts)
        self.assertEqual(self.lines(coverage, "compare", facts, facts)[1], "base            90.00    90.00       +0.00")

    def test_missing_files_and_other_json_are_refused(self):
        good = self.write("good.json", {"rooms": {}})
        self.refuses(coverage, "compare", good, self.folder / "none", names="none")
        self.refuses(coverage, "compare", good, names="usage")
        for text in ("", "[]", "{}", {"rooms": []}, {"rooms": {"base": 1}}, {"rooms": {"base": {"lines": "x", "covered": 1}}}):
            self.refuses(coverage, "compare", good, self.write("bad.json", text), names="bad.json")


class DrawnComments(ToolTest):
    def sentences(self, text, *options):
        path = self.write("a.h", text)
        return [line.removeprefix(f"{path}:") for line in self.lines(draw_comments, path, *options)]

    def test_a_sentence_has_the_line_of_its_first_word(self):
        self.assertEqual(self.sentences("/// One. Two\n/// goes on.\nint a;  // three\nint b;  // four\n"),
                         ["1: One.", "1: Two goes on.", "3: three", "4: four"])

    def test_a_comment_beside_code_may_go_on_below(self):
        self.assertEqual(self.sentences("int a;  ///< one\n        ///< two\n// three\n"), ["1: one two", "3: three"])

    def test_examples_markers_and_strings_are_left_out(self):
        text = ('//     int i = 0;  // code\n// [guide/step]\n// NOLINT: why\n// req: A1\n}  // namespace a\n'
                '// --- section ---\nauto a = "// text", b = R"(\n// raw\n)";  // seen\n')
        self.assertEqual(self.sentences(text), ["9: seen"])

    def test_a_block_comment_is_one_comment_and_names_of_parameters_are_none(self):
        self.assertEqual(self.sentences("/* One\n * goes on. */\nvoid f(int /*size*/);  /* two words */\n"),
                         ["1: One goes on.", "3: two words"])

    def test_the_same_seed_draws_the_same(self):
        text = "".join(f"// Sentence {i} of many.\n\n" for i in range(100))
        drawn = self.sentences(text, "--count", 10, "--seed", 7)
        self.assertEqual((len(drawn), drawn), (10, self.sentences(text, "--count", 10, "--seed", 7)))
        self.assertNotEqual(drawn, self.sentences(text, "--count", 10, "--seed", 8))
        self.assertEqual(len(self.sentences(text, "--count", 1000)), 100)

    def test_json_has_file_line_and_sentence(self):
        path = self.write("a.h", "// One.\n")
        self.assertEqual(json.loads("\n".join(self.lines(draw_comments, path, "--json"))),
                         [{"file": str(path), "line": 1, "sentence": "One."}])

    def test_a_missing_path_is_refused(self):
        self.refuses(draw_comments, self.folder / "none", names="none")


class Calls(ToolTest):
    """Each tool as a program."""

    def call(self, tool, *arguments, **options):
        path = pathlib.Path(__file__).with_name(f"{tool}.py")
        return subprocess.run([sys.executable, "-B", str(path), *map(str, arguments)], capture_output=True, text=True, **options)

    def test_exit_codes_reach_the_shell(self):
        failed = self.write("a.results", "fail a\n")
        self.assertEqual(self.call("results", "total", failed).returncode, 1)
        self.assertEqual(self.call("results", "total", self.folder / "none").returncode, 2)
        self.assertEqual(self.call("times", self.folder).returncode, 2)
        self.assertEqual(self.call("coverage", "compare", self.folder / "none", self.folder / "none").returncode, 2)

    def test_letters_that_the_terminal_lacks_are_printed_as_escapes(self):
        path = self.write("a_tests.json", gtest_json(S=[case("\u00fc\ud800")]))
        called = self.call("results", "gtest", "v", path, env={"PYTHONIOENCODING": "ascii"})
        self.assertEqual((called.returncode, called.stdout, called.stderr), (0, "pass v/a_tests/S.\\xfc\\ud800\n", ""))


if __name__ == "__main__":
    unittest.main()
