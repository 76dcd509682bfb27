"""Results of every kind to be looked at, and a page that is open in a browser, for the tests of the report."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
import scipy.sparse as sp
from selenium.webdriver.common.action_chains import ActionChains

from sparsecluster import COSA, PROCLUS, SASClustering, SparseHierarchical, SparseKMeans, SpectralGem, assess
from sparsecluster._utils.text import visible
from sparsecluster.datasets import many_groups, mixed_groups, shifted_groups
from sparsecluster.inspection import inspect
from sparsecluster.report import summarize

# Of Chromium: without a window, and never asleep because no one looks at it.
FLAGS = (
    *("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "window-size=1200,900", "no-first-run"),
    *("disable-renderer-backgrounding", "disable-background-timer-throttling", "disable-background-networking"),
    *("disable-backgrounding-occluded-windows", "disable-component-update", "disable-extensions"),
)
X = shifted_groups(mu=2.0, n_features=120, n_useful=20, group_size=30, seed=0).X
FRAME = pd.DataFrame(X, columns=[f"gene {a}" for a in range(120)], index=[f"patient-{i}" for i in range(90)])
NOISE = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 40))).add_prefix("gene ")
MIXED = mixed_groups(n_features=16, n_useful=6, group_size=15, seed=0).X
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script><script>window.hacked=1</script>",
    "<svg onload=alert(1)>",
    "'single' \"double\" `back` ${window.hacked=1}",
    "two\nlines",
    "\u2028 separators \u2029",
    "مرحبا \u202eright to left",
    "__proto__",
    "&lt;b&gt; &amp; {data}",
    "javascript:alert(1)",
    "ü 漢字 🧬",
]
# As pages show them: of control characters, only white space is left.


def as_shown(names):
    """Names as a page shows them: control characters are escaped."""
    return [visible(name, keep="\n\t") for name in names]


HOSTILE_SHOWN = as_shown(HOSTILE)
LONG = "averylongnamewithoutanyblank_" * 8


# A small assessment, which takes a second.
PLAN = {"n_copies": 19, "n_repeats": 1, "n_splits": 4}


def result_of(estimator, table, **told):
    return summarize(inspect(estimator.fit(table), table), **told)


def assessed_result(estimator, table):
    return result_of(estimator, table, assessment=assess(estimator.fit(table), table, **PLAN))


def without_score(told):
    """A result in which five clusters were out of the question."""
    told["curves"]["clusters"]["score"][-1] = None
    return told


def hostile_table():
    frame = pd.DataFrame(X[:, : len(HOSTILE)], columns=HOSTILE)
    frame["level"] = np.array(HOSTILE[:3])[np.repeat([0, 1, 2], 30)]
    return frame.set_axis([f"{HOSTILE[i % 12]}{i // 12 or ''}" for i in range(90)])


def long_table():
    return FRAME.rename(columns=lambda name: LONG + name, index=lambda name: LONG + name)


def two_ways(columns, ids):
    """Samples that differ in two ways, each in a third of the features, and three samples that are nowhere."""
    rng = np.random.default_rng(1)
    one, other = rng.integers(2, size=(2, 60))
    table = rng.normal(size=(60, len(columns)))
    third = len(columns) // 3
    table[:, :third] += 4 * one[:, None]
    table[:, third : 2 * third] += 2.5 * other[:, None]
    table[[7, 30, 55]] = rng.normal(size=(3, len(columns))) * 20 + 60
    return pd.DataFrame(table, columns=columns, index=ids)


TWO_WAYS = two_ways([f"gene {a}" for a in range(45)], [f"patient-{i}" for i in range(60)])
HOSTILE_WAYS = two_ways(
    [f"{name}{suffix}" for suffix in ("", 1, 2) for name in HOSTILE],
    [f"{HOSTILE[i % 12]}{i // 12 or ''}" for i in range(60)],
)


def dated_table():
    """Visits in spring and in autumn; a level that is never the same, and numbers that are tiny."""
    rng, group = np.random.default_rng(0), np.repeat([0, 1], 60)
    day = pd.Timestamp("2020-04-01") + pd.to_timedelta(group * 180 + rng.integers(0, 30, 120), unit="D")
    smoker = np.where(rng.random(120) < 0.8, group == 1, group == 0)
    return pd.DataFrame(
        {
            "visit": day,
            "smoker": np.where(smoker, "yes", "no"),
            "dose": 1e-5 * (1 + group + 0.2 * rng.normal(size=120)),
            "income": 40_000 + 25_000 * group + 3_000 * rng.normal(size=120),
            "noise": rng.normal(size=120),
        }
    )


DATED = dated_table()
TRUTH = np.array(["one", "two", "<b>three</b>"])[np.repeat([0, 1, 2], 30)]


def single_samples():
    """Two clusters of one sample each, beside a large one."""
    table = np.random.default_rng(0).normal(size=(40, 4))
    table[0] += 60
    table[1] -= 60
    return table


GIVEN = functools.partial(SASClustering, n_features_to_select=20, n_init=2)
# Every kind of result.
RESULTS = {
    "tuned": lambda: result_of(SASClustering(3, n_permutations=5), FRAME),
    "size given": lambda: result_of(GIVEN(3), X),
    "one feature": lambda: result_of(GIVEN(2, n_features_to_select=1), X),
    "categories and missing values": lambda: result_of(GIVEN(3, n_features_to_select=6), MIXED),
    "twelve clusters": lambda: result_of(GIVEN(12), many_groups(12, 60, 40, group_size=6).X),
    "matrices": lambda: assessed_result(
        GIVEN(3, n_features_to_select=4, metric="precomputed"), np.abs(X.T[:8, :, None] - X.T[:8, None])
    ),
    "weights": lambda: result_of(SparseKMeans(3, l1_bound=3.0), X),
    "hierarchical": lambda: result_of(SparseHierarchical(3, n_permutations=2), X[:, :30]),
    "cosa": lambda: result_of(COSA(3), X[:, :20]),
    "features of each cluster": lambda: result_of(
        PROCLUS(3, n_dimensions=4, n_init=2, outliers=True), hostile_table().drop(columns="level")
    ),
    "spectral gem": lambda: result_of(SpectralGem(3), X),
    "sparse": lambda: result_of(GIVEN(3), sp.csr_matrix(np.where(X > 0, X, 0.0))),
    "hostile": lambda: result_of(
        GIVEN(3, n_features_to_select=13), hostile_table(), title=HOSTILE[2], notes=HOSTILE, command=HOSTILE[1]
    ),
    "clusters chosen": lambda: result_of(GIVEN([2, 3, 4, 5]), FRAME),
    "a number out of the question": lambda: without_score(result_of(GIVEN([2, 3, 4, 5]), FRAME)),
    "two ways": lambda: result_of(SASClustering(2, n_permutations=3, trim=0.05), TWO_WAYS),
    "hostile two ways": lambda: result_of(SASClustering(2, n_permutations=3, trim=0.05), HOSTILE_WAYS),
    "groups": lambda: assessed_result(GIVEN(3), FRAME),
    "hostile groups": lambda: assessed_result(GIVEN(3, n_features_to_select=10), hostile_table()),
    "no groups": lambda: assessed_result(GIVEN([2, 3], n_features_to_select=5), NOISE),
    "true groups": lambda: result_of(GIVEN(3), FRAME, truth=TRUTH),
    "dates": lambda: result_of(GIVEN(2, n_features_to_select=4), DATED),
    "a single column": lambda: result_of(GIVEN(2, n_features_to_select=1), FRAME.iloc[:, :1]),
    "two columns": lambda: result_of(GIVEN(2, n_features_to_select=2), FRAME.iloc[:, :2]),
    "twenty-five clusters": lambda: result_of(GIVEN(25), many_groups(25, 60, 40, group_size=6).X),
    "single samples": lambda: result_of(GIVEN(3, n_features_to_select=4), single_samples()),
    "different levels": lambda: result_of(
        GIVEN(2, n_features_to_select=3, metric={"id": "hamming"}),
        DATED.assign(id=[f"id {i}" for i in range(120)])[["id", "smoker", "dose"]],
    ),
    "long names": lambda: result_of(GIVEN(3), long_table(), title=f"Groups in {LONG}", notes=[LONG], command=LONG),
}


@functools.cache
def result(kind):
    return RESULTS[kind]()


class Shown:
    """A page that is open in the browser."""

    def __init__(self, driver):
        self.driver = driver

    def js(self, code, *values):
        return self.driver.execute_script(code, *values)

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def one(self, selector):
        return self.driver.find_element("css selector", selector)

    def texts(self, selector):
        return self.js("return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)", selector)

    def column(self, table, c):
        return self.texts(f"#{table} tbody td:nth-child({c})")

    def point_at(self, node, x=0.5, y=0.5):
        """Move the pointer to a place of an element, in shares of its width and height."""
        self.js("arguments[0].scrollIntoView({block: 'center'})", node)
        box = node.rect
        by = round((x - 0.5) * box["width"]), round((y - 0.5) * box["height"])
        ActionChains(self.driver, duration=20).move_to_element_with_offset(node, *by).perform()

    def tip(self):
        tip = self.one("#tip")
        return tip.text if tip.value_of_css_property("visibility") == "visible" else None

    def media(self, media="", **features):
        told = [{"name": key.replace("_", "-"), "value": value} for key, value in features.items()]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": told})

    def width(self, pixels):
        size = {"width": pixels, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def drag(self, node, start, end):
        """Press at one place of an element, move to another and let go."""
        self.point_at(node, *start)
        box = node.rect
        by = (round((e - s) * box[side]) for s, e, side in zip(start, end, ("width", "height"), strict=True))
        ActionChains(self.driver, duration=30).click_and_hold().move_by_offset(*by).release().perform()
