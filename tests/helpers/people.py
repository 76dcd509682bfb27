"""A table of people, with columns of every type."""

from __future__ import annotations

import numpy as np
import pandas as pd


def people(seed, n=60):
    """Numbers, words, an order, truth values, dates and missing values."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 3
    seen = rng.random((n, 8)) > 0.1
    frame = pd.DataFrame({f"noise{a}": np.where(seen[:, a], rng.normal(size=n), np.nan) for a in range(3)})
    frame["height"] = np.where(seen[:, 3], rng.normal(size=n) + 5 * group, np.nan)
    frame["town"] = np.where(seen[:, 4], np.array(["Rome", "Köln", "東京"])[group], None)
    codes = np.where(seen[:, 5], np.clip(group + (rng.random(n) < 0.2), 0, 2), -1)
    frame["size"] = pd.Categorical.from_codes(codes, ["small", "middle", "large"], ordered=True)
    frame["smokes"] = group > rng.integers(2, size=n)
    frame["born"] = pd.Timestamp("1980-01-01") + pd.to_timedelta(rng.integers(999, size=n) + 5000 * group, unit="D")
    frame.loc[~seen[:, 7], "born"] = pd.NaT
    return frame
