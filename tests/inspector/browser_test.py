"""The inspector's page in a browser without a window: what it shows is what the server says.

    browser_test.py SHOAL TREE [TEST...] [--url URL] [--shots FOLDER]

SHOAL is the tool, which runs the lagoon of TREE; with --url, a server that runs already is looked at instead. --shots keeps
pictures of every view, dark and light, at 1280 and 1920 pixels.
Exits with 77, skipped, if Chromium, its driver or selenium is missing, or the tool has no inspector.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import unittest
import urllib.error
import urllib.parse
import urllib.request

SKIPPED = 77
PATIENCE = 60  # seconds until a condition that does not come true is a failure
VIEWS = ["overview", "passes", "memory", "zones", "entities", "world", "journal", "sql"]

try:
    from selenium import webdriver
    from selenium.common.exceptions import TimeoutException
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait
except ImportError:
    webdriver = None

options = argparse.Namespace(shoal="", tree="", url="", shots="")


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


class Tool:
    """The tool, which runs the lagoon and serves its inspector."""

    def __init__(self):
        lagoon = os.path.join(options.tree, "samples", "lagoon", "lagoon")
        command = [options.shoal, "run", f"{lagoon}.sjson", "--schema", f"{lagoon}.schema.sjson", "--inspect", "0"]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.url = ""
        for line in self.process.stderr:
            if line.startswith("inspect at "):
                self.url = line.removeprefix("inspect at ").strip()
                return
        raise RuntimeError(f"{' '.join(command)} ended with {self.process.wait()} and named no address")

    def end(self):
        self.process.terminate()
        self.process.stderr.close()
        self.process.wait(PATIENCE)


def start_browser():
    """A Chromium of 1280 x 800 that draws WebGL without a graphics card."""
    settings = webdriver.ChromeOptions()
    settings.binary_location = shutil.which("chromium")
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--force-device-scale-factor=1",
                     "--enable-unsafe-swiftshader", "--window-size=1280,800"):
        settings.add_argument(argument)
    settings.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.chrome.service.Service(shutil.which("chromedriver"))
    return webdriver.Chrome(service=service, options=settings)


class Page(unittest.TestCase):
    """Tests run in the order of their names, on one page: each leaves the world paused."""

    @classmethod
    def setUpClass(cls):
        cls.tool = None if options.url else Tool()
        cls.address = options.url or cls.tool.url
        cls.browser = start_browser()
        cls.browser.get(cls.address)
        cls.wait_for("#world-state[data-state]")

    @classmethod
    def tearDownClass(cls):
        cls.browser.quit()
        if cls.tool:
            cls.tool.end()

    # --- what tests are made of -----------------------------------------------------------------------------------

    @classmethod
    def until(cls, condition, what):
        return WebDriverWait(cls.browser, PATIENCE, 0.1).until(lambda _: condition(), what)

    @classmethod
    def find_all(cls, selector):
        return cls.browser.find_elements(By.CSS_SELECTOR, selector)

    @classmethod
    def wait_for(cls, selector):
        return cls.until(lambda: next(iter(cls.find_all(selector)), None), f"there is no {selector}")

    @classmethod
    def text_of(cls, selector):
        script = "const found = document.querySelector(arguments[0]); return found ? found.textContent : ''"
        return cls.browser.execute_script(script, selector)

    def get(self, path, **parameters):
        search = "?" + urllib.parse.urlencode(parameters) if parameters else ""
        with urllib.request.urlopen(self.address.rstrip("/") + path + search, timeout=PATIENCE) as answer:
            return json.load(answer)

    def post(self, path, **body):
        request = urllib.request.Request(self.address.rstrip("/") + path, json.dumps(body).encode(),
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)

    def open(self, route):
        self.browser.execute_script("location.hash = arguments[0]", f"#/{route}")
        return self.wait_for(f"#view-{route.split('?')[0]}")

    def press(self, *keys):
        chain = webdriver.ActionChains(self.browser)
        for key in keys:
            chain.send_keys(key)
        chain.perform()

    def leave_boxes(self):
        self.browser.execute_script("document.activeElement.blur()")

    def frame(self):
        return int(self.text_of("#frame").replace(",", ""))

    def pause(self):
        if not self.get("/api/world")["paused"]:
            self.find_all("#pause")[0].click()
        self.until(lambda: self.text_of("#world-state") == "paused", "the page does not say that the world is paused")
        self.until(lambda: self.frame() == self.get("/api/world")["frame"], "the page shows another frame")

    def editable_number(self):
        """An entity with a number that can be edited: (entity, "body.mass", value)."""
        for component in self.get("/api/components")["components"]:
            fields = [field for field in component["fields"]
                      if field["editable"] and field["type"] in ("float", "double") and not field["words"]]
            if not fields or component["many"] or component["rows"] == 0:
                continue
            found = self.get("/api/entities", query=component["name"], limit=1)["entities"]
            if found:
                entity = found[0]["entity"]
                value = self.get("/api/entity", id=entity)["components"][component["name"]][fields[0]["name"]]
                return entity, f"{component['name']}.{fields[0]['name']}", value
        self.fail("no component has a number that can be edited")

    def value_of(self, entity, field):
        component, name = field.split(".")
        return self.get("/api/entity", id=entity)["components"][component][name]

    # --- tests ----------------------------------------------------------------------------------------------------

    def test_01_the_overview_shows_what_the_server_says(self):
        self.open("overview")
        self.pause()
        world = self.get("/api/world")
        self.until(lambda: self.text_of("[data-value=entities]") == f"{world['entities']:,}", "the number of entities differs")
        self.assertEqual(self.text_of("#world-name"), world["name"])

    def test_02_each_view_opens_by_its_number(self):
        self.leave_boxes()
        for number, view in enumerate(VIEWS, 1):
            self.press(str(number))
            self.wait_for(f"#view-{view}")
            self.assertEqual(self.find_all("#sidebar [aria-current=page]")[0].get_attribute("data-view"), view)
            self.leave_boxes()

    def test_03_a_step_is_one_frame(self):
        self.open("overview")
        self.pause()
        before = self.frame()
        self.leave_boxes()
        self.press(".")
        self.until(lambda: self.frame() == before + 1, "the frame does not follow")
        self.assertEqual(self.get("/api/world")["frame"], before + 1)

    def test_04_the_space_bar_lets_the_world_go_on_and_pauses_it(self):
        self.pause()
        before = self.frame()
        self.leave_boxes()
        self.press(" ")
        self.until(lambda: self.frame() > before, "the world does not go on")
        self.leave_boxes()
        self.press(" ")
        self.until(lambda: self.text_of("#world-state") == "paused", "the world is not paused")

    def test_05_the_world_runs_to_a_frame(self):
        self.pause()
        wanted = self.frame() + 5
        box = self.find_all("#run-to")[0]
        box.clear()
        box.send_keys(str(wanted), Keys.ENTER)
        self.until(lambda: self.frame() == wanted and self.text_of("#world-state") == "paused", "the world does not stop there")

    def test_06_the_passes_are_those_of_the_schedule(self):
        self.open("passes")
        passes = self.get("/api/passes")["passes"]
        self.until(lambda: len(self.find_all("[data-table=passes] tbody tr")) == len(passes), "the table has other passes")
        self.browser.find_element(By.CSS_SELECTOR, "#passes-tabs [data-value=graph]").click()
        self.wait_for(".graph")
        self.assertEqual({node.get_attribute("data-pass") for node in self.find_all(".graph .node")}, {one["name"] for one in passes})
        self.find_all("#passes-tabs [data-value=access]")[0].click()
        fields = {field for one in passes for field in one["reads"] + one["writes"]}
        self.until(lambda: len(self.find_all(".matrix tbody tr")) == len(fields), "the matrix has other fields")

    def test_07_the_last_frame_is_drawn_by_worker(self):
        self.open("passes")
        self.get("/api/timeline")
        self.pause()
        self.post("/api/control", action="step", frames=2)
        self.find_all("#passes-tabs [data-value=timeline]")[0].click()
        passes = {one["name"] for one in self.get("/api/passes")["passes"]}
        drawn = "return [...document.querySelectorAll('.timeline .span')].map((span) => span.dataset.pass)"
        self.until(lambda: passes & set(self.browser.execute_script(drawn)), "no pass is drawn")

    def test_08_a_pass_is_switched_off_and_on(self):
        self.open("passes")
        name = self.get("/api/passes")["passes"][0]["name"]
        switch = self.wait_for(f'.switch[data-pass="{name}"]')
        for expected in (False, True):
            switch.click()
            self.until(lambda: self.get("/api/passes")["passes"][0]["enabled"] == expected, "the switch does nothing")

    def test_09_memory_adds_up(self):
        self.open("memory")
        components = self.get("/api/memory")["components"]
        self.until(lambda: len(self.find_all("[data-table=memory] tbody tr")) == len(components), "the table has other components")
        shown = [one for one in components if one["committed"] > 0]
        self.until(lambda: len(self.find_all(".treemap .tile")) == len(shown), "the treemap has other boxes")

    def test_10_a_table_sorts_by_a_click(self):
        self.open("memory")
        head = self.wait_for("[data-table=memory] th[data-column=name] button")
        head.click()
        names = [line.get_attribute("data-key") for line in self.find_all("[data-table=memory] tbody tr")]
        self.assertEqual(names, sorted(names, key=str.lower))
        head.click()
        names = [line.get_attribute("data-key") for line in self.find_all("[data-table=memory] tbody tr")]
        self.assertEqual(names, sorted(names, key=str.lower, reverse=True))

    def test_11_zones_are_those_of_the_server(self):
        self.open("zones")
        zones = self.get("/api/zones")["zones"]
        self.until(lambda: len(self.find_all("[data-table=zones] tbody tr")) == len(zones), "the table has other zones")

    def test_12_a_search_finds_an_entity_by_id(self):
        entity, _, _ = self.editable_number()
        self.open("entities")
        box = self.wait_for("#entity-search")
        box.clear()
        box.send_keys(entity, Keys.ENTER)
        self.wait_for(f'.entity-list [data-entity="{entity}"]')
        self.until(lambda: entity in self.text_of("#entity-title"), "the entity is not shown")

    def test_13_a_query_finds_as_many_entities_as_the_server(self):
        component = self.get("/api/components")["components"][0]["name"]
        self.open(f"entities?q={component}")
        total = self.get("/api/entities", query=component)["total"]
        self.until(lambda: self.text_of("#entities-count").startswith(f"{total:,} "), "the number of entities differs")

    def test_13_more_entities_are_listed_as_the_list_is_scrolled(self):
        total = self.get("/api/entities", limit=1)["total"]
        self.open("entities?q=")
        self.until(lambda: self.text_of("#entities-count").startswith(f"{total:,} "), "the list is not of all entities")
        lines = len(self.find_all("#entity-list [data-entity]"))
        self.assertLess(lines, total)
        self.browser.execute_script("const list = document.querySelector('#entity-list'); list.scrollTop = list.scrollHeight")
        self.until(lambda: len(self.find_all("#entity-list [data-entity]")) > lines, "no more are listed")

    def test_14_an_error_in_a_query_is_shown_at_the_box(self):
        self.open("entities?q=" + urllib.parse.quote("nothing_is_called_so, !so"))
        self.until(lambda: "nothing_is_called_so" in self.text_of("#view-entities .search-error"), "the error is not shown")

    def test_15_a_value_is_edited_undone_and_redone(self):
        self.pause()
        entity, field, value = self.editable_number()
        self.open(f"entities?id={entity}&q=")
        self.wait_for(f'[data-edit="{field}"]').click()
        box = self.wait_for(f'[data-editor="{field}"]')
        wanted = value / 2 if value else 0.25
        box.send_keys(repr(wanted), Keys.ENTER)
        self.until(lambda: abs(self.value_of(entity, field) - wanted) < 1e-6, "the value is not set")
        self.leave_boxes()
        self.find_all("#undo")[0].click()
        self.until(lambda: self.value_of(entity, field) == value, "the edit is not undone")
        self.find_all("#redo")[0].click()
        self.until(lambda: abs(self.value_of(entity, field) - wanted) < 1e-6, "the edit is not made again")
        self.find_all("#undo")[0].click()
        self.until(lambda: self.value_of(entity, field) == value, "the edit is not undone")

    def test_16_escape_leaves_a_value_and_an_error_stays_at_its_field(self):
        self.pause()
        entity, field, value = self.editable_number()
        self.open(f"entities?id={entity}&q=")
        self.wait_for(f'[data-edit="{field}"]').click()
        box = self.wait_for(f'[data-editor="{field}"]')
        box.send_keys("heavy", Keys.ENTER)
        error = f'[data-field="{field}"] .field-error'
        self.until(lambda: "not a number" in self.text_of(error), "the error is not shown")
        box.send_keys(Keys.ESCAPE)
        self.wait_for(f'[data-edit="{field}"]')
        self.assertEqual(self.value_of(entity, field), value)

    def test_17_a_pinned_field_is_listed(self):
        entity, field, _ = self.editable_number()
        self.open(f"entities?id={entity}&q=")
        pin = self.wait_for(f'.icon-button[data-pin="{field}"]')
        self.browser.execute_script("arguments[0].click()", pin)
        self.wait_for(f'.pin[data-pin="{entity} {field}"]')
        self.browser.execute_script("arguments[0].click()", pin)
        self.until(lambda: not self.find_all(".pin"), "the pin stays")

    def test_18_the_world_is_drawn_and_a_click_inspects(self):
        self.pause()
        self.open("world")
        self.until(lambda: self.text_of("#world-count").endswith("points"), "no points are shown")
        self.assertTrue(self.browser.execute_script(
            "const canvas = document.querySelector('canvas.points'); const copy = document.createElement('canvas');"
            "copy.width = canvas.width; copy.height = canvas.height; const context = copy.getContext('2d');"
            "context.drawImage(canvas, 0, 0);"
            "return context.getImageData(0, 0, copy.width, copy.height).data.some((byte) => byte > 0)"), "nothing is drawn")
        stage = self.find_all("#world-map")[0]
        width, height = stage.size["width"], stage.size["height"]
        for x in range(-width // 2 + 20, width // 2, 24):
            for y in range(-height // 4, height // 4, 24):
                webdriver.ActionChains(self.browser, duration=0).move_to_element_with_offset(stage, x, y).click().perform()
                if self.find_all(".chosen-point [data-entity]"):
                    return
        self.fail("no click found a point")

    def test_19_a_box_selects_all_that_is_in_it(self):
        self.pause()
        self.open("world")
        stage = self.wait_for("#world-map")
        width, height = stage.size["width"], stage.size["height"]
        chain = webdriver.ActionChains(self.browser).key_down(Keys.SHIFT)
        chain.move_to_element_with_offset(stage, -width // 2 + 8, -height // 2 + 8).click_and_hold()
        chain.move_to_element_with_offset(stage, width // 2 - 8, height // 2 - 8).release().key_up(Keys.SHIFT).perform()
        points = self.text_of("#world-count").split(" ")[0]
        self.until(lambda: self.text_of("#world-selected").startswith(f"{points} "),
                   f"not {points} points are in the box")

    def test_20_the_world_goes_back_to_a_frame_that_was_kept(self):
        self.pause()
        self.post("/api/frames", keep=32)
        first = self.get("/api/world")["frame"]
        self.post("/api/control", action="step", frames=8)
        self.until(lambda: self.get("/api/frames")["last"] == first + 8, "the frames are not kept")
        self.open("journal")
        slider = self.wait_for("#time-slider")
        ends = lambda: (slider.get_attribute("min"), slider.get_attribute("max"), slider.get_attribute("value"))
        self.until(lambda: slider.is_displayed() and ends() == (str(first), str(first + 8), str(first + 8)),
                   "the slider is not that of the frames")
        slider.send_keys(Keys.HOME)
        self.until(lambda: self.get("/api/world")["frame"] == first, "the world does not go back")
        self.until(lambda: self.frame() == first, "the page does not follow")
        self.leave_boxes()

    def test_21_two_frames_are_compared(self):
        self.pause()
        frames = self.get("/api/frames")
        self.open("journal")
        for name, frame in (("from", frames["first"]), ("to", frames["last"])):
            box = self.wait_for(f"#compare-{name}")
            box.clear()
            box.send_keys(str(frame))
        self.find_all("#compare-button")[0].click()
        total = self.get("/api/compare", **{"from": frames["first"], "to": frames["last"]})["total"]
        try:
            self.until(lambda: f"{total:,} difference" in self.text_of("#view-journal"), "another number of differences")
        except TimeoutException as error:
            boxes = [self.wait_for(f"#compare-{name}").get_attribute("value") for name in ("from", "to")]
            error.msg += f": {total} from {frames}, not the {boxes} of {self.text_of('#view-journal')}"
            raise

    def test_22_sql_answers_as_the_api_does(self):
        if not self.get("/api/world").get("sql"):
            self.skipTest("the inspector was built without SQL")
        self.pause()
        self.open("sql")
        self.write_sql("SELECT count(*) AS n FROM entities")
        self.find_all("#sql-run")[0].click()
        entities = self.get("/api/world")["entities"]
        self.until(lambda: self.text_of("#sql-result tbody td") == str(entities), "the count differs")

    def test_23_an_error_in_sql_says_where_it_is(self):
        if not self.get("/api/world").get("sql"):
            self.skipTest("the inspector was built without SQL")
        self.open("sql")
        self.write_sql("SELECT entity\nFROM bodyy")
        self.find_all("#sql-run")[0].click()
        self.until(lambda: self.text_of("#sql-error").startswith("2:6: "), "the error has no place, or another one")

    def write_sql(self, text):
        self.wait_for("#sql-editor .CodeMirror")
        self.browser.execute_script("document.querySelector('.CodeMirror').CodeMirror.setValue(arguments[0])", text)

    def test_24_the_theme_is_switched_and_stays(self):
        before = self.browser.execute_script("return document.documentElement.dataset.theme")
        self.leave_boxes()
        self.press("t")
        switched = self.browser.execute_script("return document.documentElement.dataset.theme")
        self.assertNotEqual(switched, before)
        self.browser.refresh()
        self.wait_for("#world-state[data-state]")
        self.assertEqual(self.browser.execute_script("return document.documentElement.dataset.theme"), switched)

    def test_25_the_keys_are_listed(self):
        self.leave_boxes()
        self.press("?")
        self.wait_for("#help[open] kbd")
        self.press(Keys.ESCAPE)
        self.until(lambda: not self.find_all("#help[open]"), "the list stays open")

    def test_26_every_control_has_a_name(self):
        for view in VIEWS:
            self.open(view)
            nameless = self.browser.execute_script(
                "return [...document.querySelectorAll('button, input, select, a')].filter((one) => !one.closest('.CodeMirror')"
                " && !(one.textContent.trim() || one.getAttribute('aria-label') || one.title"
                " || document.querySelector(`label[for=\"${one.id}\"]`) || one.closest('label'))).map((one) => one.outerHTML)")
            self.assertEqual(nameless, [], view)

    def test_27_the_console_has_no_error(self):
        # The browser itself notes answers of 4xx and 5xx, which tests above have asked for.
        errors = [entry["message"] for entry in self.browser.get_log("browser")
                  if entry["level"] == "SEVERE" and "Failed to load resource" not in entry["message"]]
        self.assertEqual(errors, [])

    def test_28_pictures_are_taken(self):
        if not options.shots:
            self.skipTest("--shots names no folder")
        os.makedirs(options.shots, exist_ok=True)
        self.post("/api/control", action="resume")
        for theme in ("dark", "light"):
            self.browser.execute_script("localStorage.setItem('shoal.theme', JSON.stringify(arguments[0]))", theme)
            self.browser.refresh()
            for width, height in ((1280, 800), (1920, 1080)):
                self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                             {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
                self.take_pictures(f"{width}_{theme}")

    def take_pictures(self, suffix):
        shown = self.get("/api/entities", limit=1)["entities"][0]["entity"]
        for view in VIEWS:
            self.open(view)
            if view == "entities":
                self.open(f"entities?id={shown}")
            self.until(lambda: not self.find_all(f"#view-{view} .notice.loading"), f"{view} goes on loading")
            self.browser.execute_async_script("setTimeout(arguments[0], 400)")
            self.browser.save_screenshot(os.path.join(options.shots, f"{view}_{suffix}.png"))

    def test_29_the_page_says_that_the_program_is_gone(self):
        if not self.tool:
            self.skipTest("the program is not ours to end")
        self.tool.end()
        self.until(lambda: "does not answer" in self.text_of("#banner"), "the page does not say so")


def main():
    parser = argparse.ArgumentParser(description="Looks at the inspector's page in a browser.")
    parser.add_argument("shoal")
    parser.add_argument("tree")
    parser.add_argument("--url", default="")
    parser.add_argument("--shots", default="")
    parser.add_argument("tests", nargs="*", help="such as Page.test_01_...; all without any")
    parser.parse_intermixed_args(namespace=options)
    if os.environ.get("SHOAL_TEST_NO_BROWSER"):
        skip("SHOAL_TEST_NO_BROWSER leaves it out")
    if webdriver is None:
        skip("there is no selenium for this Python; install python3-selenium")
    if not shutil.which("chromium") or not shutil.which("chromedriver"):
        skip("there is no chromium with chromedriver; install chromium-driver")
    if not options.url and "--inspect" not in subprocess.run([options.shoal, "help", "run"], capture_output=True, text=True).stdout:
        skip("this build of the tool has no inspector")
    result = unittest.main(argv=[sys.argv[0], *options.tests], exit=False, verbosity=2).result
    sys.exit(not result.wasSuccessful())


if __name__ == "__main__":
    main()
