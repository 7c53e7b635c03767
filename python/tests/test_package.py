"""The package itself: its stubs say what there is, and the guide's snippets run."""

import ast
import pathlib
import re

import numpy as np
import pytest

import shoal

ROOT = pathlib.Path(__file__).parents[2]


def stub_names():
    """Public names by class of the stub; those of the module under ""."""
    tree = ast.parse((ROOT / "python/shoal/__init__.pyi").read_text())
    names = {"": {n.name for n in tree.body if isinstance(n, (ast.ClassDef, ast.FunctionDef))}}
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            members = {n.name for n in node.body if isinstance(n, ast.FunctionDef)}
            members |= {n.target.id for n in node.body if isinstance(n, ast.AnnAssign)}
            names[node.name] = {n for n in members if not n.startswith("_")}
    return names


def public_names(owner):
    return {name for name in dir(owner) if not name.startswith("_")}


def test_stubs_say_what_there_is():
    stubs = stub_names()
    assert stubs.pop("") == set(shoal.__all__)
    for name, members in stubs.items():
        if issubclass(getattr(shoal, name), Exception):
            continue
        instance = {"facts", "entities", "frame"} if name == "Report" else set()
        assert members == public_names(getattr(shoal, name)) | instance, name


def test_everything_public_is_documented():
    for name in shoal.__all__:
        thing = getattr(shoal, name)
        assert thing.__doc__, name
        if not isinstance(thing, type) or issubclass(thing, Exception):
            continue
        for member in public_names(thing):
            slots = getattr(thing, "__slots__", {})
            assert getattr(thing, member).__doc__ or slots[member], f"{name}.{member}"


def snippets():
    """The Python of the guide, from top to bottom."""
    guide = (ROOT / "docs/guide/python.md").read_text()
    return re.findall(r"```python\n(.*?)```", guide, re.DOTALL)


def test_the_snippets_of_the_guide_run_in_their_order(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("SHOAL_OUT", str(tmp_path))
    names = {}
    assert len(snippets()) >= 6
    for snippet in snippets():
        exec(compile_snippet(snippet), names)
    names["world"].close()


def compile_snippet(snippet):
    return compile(snippet, "docs/guide/python.md", "exec")


def test_the_example_of_the_readme_is_that_of_the_guide():
    readme = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(readme) == 1
    names = {}
    exec(compile_snippet(readme[0]), names)
    assert np.allclose(names["world"].get(names["stones"][7], "body.position"), [0.5, 0, 1.5])
