"""World.sql()."""

import numpy as np
import pytest

import shoal
from worlds import bodies, new_world


@pytest.fixture
def world():
    made = new_world()
    try:
        made.sql("SELECT 1")
    except shoal.Error as error:
        pytest.skip(str(error))
    return made


def test_an_answer_is_a_data_frame_with_the_types_of_its_columns(world):
    ids = bodies(world, 5, health={"value": [1, 2, 3, 4, 5]})
    world.add(ids[:2], "mood", now="sad")
    answer = world.sql("SELECT entity, position_x, value, now FROM body JOIN health USING (entity) "
                       "LEFT JOIN mood USING (entity) ORDER BY value")
    assert list(answer.columns) == ["entity", "position_x", "value", "now"]
    assert answer["entity"].dtype == ids.dtype and list(answer["entity"]) == list(ids)
    assert answer["position_x"].dtype == np.float32 and list(answer["position_x"]) == [0, 1, 2, 3, 4]
    assert answer["value"].dtype == np.int64 and list(answer["value"]) == [1, 2, 3, 4, 5]
    assert list(answer["now"]) == ["sad", "sad", None, None, None]


def test_without_pandas_an_answer_is_a_dict_of_arrays(world, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    ids = bodies(world, 3)
    answer = world.sql("SELECT entity, mass, mass > 5 AS heavy, mass, NULL AS n, 0.5 AS half FROM body")
    assert list(answer) == ["entity", "mass", "heavy", "mass_2", "n", "half"]
    assert (answer["entity"] == ids).all() and answer["mass"].dtype == np.float32
    assert answer["heavy"].dtype == np.int64 and np.isnan(answer["n"]).all() and answer["half"].dtype == np.float64


def test_a_missing_reference_is_the_null_entity(world):
    ids = world.create(2, target={})
    world.set(ids[0], "target.who", ids[1])
    answer = world.sql("SELECT who FROM target ORDER BY entity")
    assert list(answer["who"]) == [ids[1], 0]


def test_a_change_is_asked_for_and_says_how_many_it_has_set(world):
    ids = bodies(world, 4)
    with pytest.raises(shoal.Error, match="1:1: UPDATE is not allowed"):
        world.sql("UPDATE body SET mass = 3")
    assert world.sql("UPDATE body SET mass = 3 WHERE position_x > 1", updates=True) == 2
    assert list(world.read(ids, "body.mass")) == [1, 1, 3, 3]
    with world.query("body") as batches:
        kept = batches[0]["body.mass"]
    with pytest.raises(shoal.BusyError):
        world.sql("UPDATE body SET mass = 4", updates=True)
    assert len(world.sql("SELECT 1 FROM body")) == 4 and kept[0] == 1


def test_errors_say_where_and_limits_hold(world):
    with pytest.raises(shoal.Error, match="1:15: there is no table \"bdy\"; did you mean \"body\""):
        world.sql("SELECT * FROM bdy")
    bodies(world, 10)
    with pytest.raises(shoal.Error, match="more than 3 rows"):
        world.sql("SELECT * FROM body", max_rows=3)
    with pytest.raises(shoal.Error, match="seconds"):
        world.sql("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n", seconds=0.01)
    with pytest.raises(ValueError):
        world.sql("SELECT 1", seconds=0)
    errors = []
    world.add_pass("ask", "body", lambda batch, frame: errors.append(pytest.raises(shoal.BusyError, world.sql, "SELECT 1")))
    world.step()
    assert errors
    world.close()
    with pytest.raises(shoal.Error):
        world.sql("SELECT 1")
