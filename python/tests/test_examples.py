"""The examples run, with small numbers."""

import numpy as np

import reef_density


def test_fish_of_the_reef_move_between_zones(tmp_path):
    counts = reef_density.main(["--fish", "800", "--frames", "40", "--out", str(tmp_path / "density.svg")])
    fish = counts.sum(axis=(1, 2))
    assert fish[0] >= 800 and (fish == fish[0]).all()  # none is lost
    assert (counts[0] > 0).sum() > 10 and np.abs(counts[-1] - counts[0]).sum() > 100  # and they move
    assert (tmp_path / "density.svg").read_text().startswith("<?xml")
