"""What the report draws of features and true groups, and the numbers and words that it writes."""

import json
import re

import numpy as np
import pytest

from sparsecluster import SASClustering, adjusted_rand_index
from sparsecluster.inspection import inspect
from sparsecluster.report import report_page, summarize
from sparsecluster.report._numbers import percent
from sparsecluster.report._pictures import MOST_DRAWN, MOST_LEVELS, MOST_POINTS
from sparsecluster.report._truth import MOST_GROUPS
from tests.helpers.common import three_groups
from tests.helpers.pages import Page

pytest.importorskip("pandas")
pytest.importorskip("selenium", reason="the results to look at are made for the browser tests as well")
import pandas as pd

from tests.helpers.report import DATED, FRAME, MIXED, RESULTS, TRUTH, TWO_WAYS, X, result

SMALL, GROUPS, _ = three_groups(mu=3.0, n_features=20, n_useful=5, sizes=(12, 10, 8))


def told_of(table, k=3, s=5, **told):
    found = SASClustering(k, n_features_to_select=s, n_init=2).fit(table)
    return found, summarize(inspect(found, table), **told)


# ---------------------------------------------------------------- distributions


def drawn(kind):
    told = result(kind)
    return {each["name"]: each for each in told["distributions"]["features"]}


def test_histograms_count_every_value_once_in_its_cluster():
    found, told = told_of(X, s=20)
    for each in told["distributions"]["features"]:
        values, edges = X[:, int(each["name"][1:])], np.array(each["edges"])
        for c, counts in enumerate(each["counts"]):
            own = values[found.labels_ == c]
            assert sum(counts) == own.size
            # The edges are rounded, so that a value may be on the other side of one.
            assert np.abs(np.cumsum(counts) - [(own <= edge).sum() for edge in edges[1:]]).max() <= 1
            assert each["centers"][c] == pytest.approx(own.mean(), rel=1e-4)


def test_small_clusters_are_drawn_value_by_value_and_large_ones_as_histograms():
    found, told = told_of(SMALL)
    for each in told["distributions"]["features"]:
        for c, points in enumerate(each["points"]):
            assert points == pytest.approx(np.sort(SMALL[found.labels_ == c, int(each["name"][1:])]), rel=1e-4)
    large = drawn("dates")["income"]
    assert min(map(sum, large["counts"])) > MOST_POINTS
    assert large["points"] == [None, None]


def test_levels_are_counted_and_their_missing_values_as_well():
    told = result("categories and missing values")
    clusters = np.array([row["cluster"] for row in told["samples"]["rows"]])
    levels = [each for each in told["distributions"]["features"] if each["kind"] == "level"]
    assert levels
    for each in levels:
        column = MIXED[each["name"]]
        for c in range(3):
            own = column[clusters == c]
            assert each["missing"][c] == own.isna().sum()
            assert each["counts"][c] == [(own == level).sum() for level in each["levels"]]
            most = own.value_counts(normalize=True).max()
            assert each["words"][c].startswith(f"{percent(most)} ")


def test_dates_have_dates_on_their_axis_and_in_words():
    visit = drawn("dates")["visit"]
    assert visit["kind"] == "date"
    ends = [words for _, words in visit["ticks"]]
    assert ends == [str(DATED["visit"].min().date()), str(DATED["visit"].max().date())]
    told = result("dates")
    for c, words in enumerate(visit["words"]):
        own = [row["cluster"] == c for row in told["samples"]["rows"]]
        assert abs(pd.Timestamp(words) - DATED["visit"][own].mean()) < pd.Timedelta(days=1)
    centers = next(row["centers"] for row in told["features"]["rows"] if row["name"] == "visit")
    assert centers == visit["words"]


def test_the_core_is_drawn_first_and_then_the_highest_scores():
    told = result("tuned")
    shown = told["distributions"]["features"][: told["distributions"]["n_first"]]
    assert [each["name"] for each in shown if each["core"]] == [row["name"] for row in told["core"]["rows"]][
        :MOST_DRAWN
    ]
    keys = [(not each["core"], -each["score"]) for each in shown]
    assert keys == sorted(keys)


def test_a_page_stays_small_where_there_is_much_to_draw():
    told = result("twenty-five clusters")
    assert told["distributions"]["n_first"] == 20
    assert len(json.dumps(told["distributions"])) < 600_000
    for rows in told["profiles"]["clusters"]:
        assert 1 <= len(rows) <= 3
    different = drawn("different levels")["id"]
    assert len(different["levels"]) == MOST_LEVELS
    assert different["levels"][-1] == f"{120 - MOST_LEVELS + 1} others"
    assert sum(map(sum, different["counts"])) == 120


def test_only_some_of_many_chosen_features_are_drawn_and_the_page_says_so():
    told = told_of(X, s=50)[1]
    assert told["distributions"]["n_first"] == MOST_DRAWN
    assert f"Only {MOST_DRAWN} of the 50 chosen features are shown." in Page(report_page(told)).text


def test_a_profile_says_what_is_typical_of_levels_with_their_share():
    told, shown = result("dates"), drawn("dates")
    for c, rows in enumerate(told["profiles"]["clusters"]):
        row = next(row for row in rows if row["name"] == "smoker")
        counts = np.array(shown["smoker"]["counts"])
        most = counts[c].argmax()
        share, everywhere = counts[c, most] / counts[c].sum(), counts[:, most].sum() / counts.sum()
        level = shown["smoker"]["levels"][most]
        assert row["words"] == f"mostly {level}, {percent(share)} (all: {percent(everywhere)})"
        assert told["distributions"]["features"][row["at"]]["name"] == "smoker"


# ---------------------------------------------------------------- true groups


def test_the_cross_table_counts_every_sample_once():
    told = result("true groups")
    clusters = [row["cluster"] for row in told["samples"]["rows"]]
    by_hand = pd.crosstab(pd.Series(TRUTH), pd.Series(clusters))
    assert told["truth"]["groups"] == by_hand.index.tolist()
    assert told["truth"]["counts"] == by_hand.to_numpy().tolist()
    assert told["truth"]["ari"] == adjusted_rand_index(TRUTH, clusters)
    text = Page(report_page(told)).text
    assert f"is {told['truth']['ari']:.2f}: it is 1 if they are the same" in text
    assert (
        f"Of all pairs of samples, {percent(told['truth']['rand'], ' ')} are together in both or apart in both" in text
    )


def test_samples_in_no_cluster_have_a_column_and_no_part_in_the_agreement():
    found = SASClustering(2, n_permutations=3, trim=0.05).fit(TWO_WAYS)
    truth = np.where(found.labels_ == 0, "a", "b")
    told = summarize(inspect(found, TWO_WAYS), truth=truth)["truth"]
    assert [row[-1] for row in told["counts"]] == [0, 3]
    assert sum(map(sum, told["counts"])) == 60
    assert (told["ari"], told["error"]) == (1.0, 0.0)


def test_very_many_true_groups_share_the_last_row():
    told = told_of(X, truth=[f"group {i}" for i in range(90)])[1]["truth"]
    assert len(told["groups"]) == len(told["counts"]) == MOST_GROUPS
    assert told["groups"][-1] == f"{90 - MOST_GROUPS + 1} other groups"
    assert sum(map(sum, told["counts"])) == 90


def test_true_groups_of_other_samples_are_refused():
    with pytest.raises(ValueError, match="truth must hold the group of each of the 90 samples"):
        told_of(X, truth=["a", "b"])


def test_without_true_groups_nothing_is_said_of_them():
    told = result("tuned")
    assert "truth" not in told
    assert "true groups" not in Page(report_page(told)).text.lower()


# ---------------------------------------------------------------- words


def lead_of(told):
    return " ".join(told["lead"])


@pytest.mark.parametrize("kind", RESULTS)
def test_the_paragraph_does_not_repeat_the_tiles(kind):
    told = result(kind)
    lead = lead_of(told)
    k, s, p = len(told["sizes"]), told["n_chosen"], told["n_features"]
    said = [
        f"{told['n_samples']:,} samples",
        f"{k} clusters",
        f"{s:,} of {p:,}",
        f"{percent(told['explained'])} of the",
    ]
    if told["core"]:
        said.append(f"{told['core']['count']:,} are enough")
    assert [each for each in said if re.search(rf"\b{each}", lead)] == []
    assert "group" not in lead.lower() or told["assessment"]


NOT_FOR_PEOPLE = re.compile(r"\b0\.000\d|\d\.\d{5,}|\de-\d|(?<![\d.])0%|\d%|\bnan\b|\bNone\b")


@pytest.mark.parametrize("kind", [kind for kind in RESULTS if "hostile" not in kind and kind != "long names"])
def test_numbers_in_the_text_are_for_people(kind):
    told = result(kind)
    page = Page(report_page(told))
    text = page.text.split("To get this again")[0]
    assert NOT_FOR_PEOPLE.findall(text) == []
    words = [row["words"] for rows in told["profiles"]["clusters"] for row in rows]
    words += [each for feature in told["distributions"]["features"] for each in feature["words"]]
    assert [each for each in words if NOT_FOR_PEOPLE.search(each)] == []


def test_a_tiny_number_is_a_power_of_ten_and_a_large_one_has_separators():
    shown = drawn("dates")
    assert all(re.fullmatch(r"[12](\.\d{1,2})? × 10⁻⁵|9\.\d+ × 10⁻⁶", words) for words in shown["dose"]["words"])
    assert all(re.fullmatch(r"\d\d,\d{3}", words) for words in shown["income"]["words"])


def test_a_small_share_is_not_nothing():
    shares = {0.0: "0 %", 1e-9: "under 1 %", 0.006: "1 %", 0.5: "50 %", 0.994: "99 %", 0.999: "over 99 %", 1.0: "100 %"}
    assert {share: percent(share, " ") for share in shares} == shares


def test_warnings_come_first_and_notes_last():
    _, told = told_of(SMALL, notes=["The table was transposed."], warned=["Something is odd."])
    text = Page(report_page(told)).text
    assert told["warnings"] == ["Something is odd."]
    assert (
        text.index("Worth knowing first") < text.index("Something is odd.") < text.index("Clusters in two dimensions")
    )
    assert text.index("To get this again") < text.rindex("Notes") < text.index("The table was transposed.")


def test_without_warnings_and_notes_there_is_no_place_for_them():
    text = Page(report_page(told_of(SMALL)[1])).text
    assert "Worth knowing first" not in text
    assert "Notes" not in text


# ---------------------------------------------------------------- to get this again


def test_the_code_gives_the_same_result_again():
    found, told = told_of(SMALL, k=np.int64(3), s=np.array([4, 5]).max())
    assert "n_clusters=3" in told["settings"]["python"]
    space = {"X": SMALL}
    exec(told["settings"]["python"], space)
    assert space["found"].labels_.tolist() == found.labels_.tolist()
    assert space["found"].support_.tolist() == found.support_.tolist()


def test_the_code_that_is_given_is_shown_instead():
    told = told_of(SMALL, python="X = read()\nfit(X)")[1]
    assert told["settings"]["python"] == "X = read()\nfit(X)"
    page = Page(report_page(told))
    assert "X = read() fit(X)" in page.text
    assert "SASClustering(n_clusters=3" not in page.text


def test_the_names_of_a_frame_are_those_of_the_pictures():
    assert set(drawn("true groups")) <= set(FRAME.columns)
