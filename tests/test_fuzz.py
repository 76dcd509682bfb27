"""The campaign finds what it must find, and a short run of it finds nothing."""

import random
import re
import resource
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("pandas")
pytest.importorskip("polars")
pytest.importorskip("pyarrow")

from fuzz.__main__ import main
from fuzz.areas import AREAS, api, files, models
from fuzz.campaign import Plan, Report, run_campaign
from fuzz.case import Case, Outcome, run_case, run_numbered
from fuzz.findings import Finding, grouped, save
from fuzz.make.damage import damaged, damaged_json
from fuzz.make.parameters import ALLOWED
from fuzz.page import page_of
from fuzz.rules import why_not_clean, why_not_readable
from fuzz.worker import limit_memory
from sparsecluster import METHODS, SASClustering, make_method
from tests.helpers import planted

FEW = settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
RANDOMS = st.randoms(use_true_random=False)


def told(findings):
    """The findings in words, as a failing test shows them; nothing if there are none."""
    return "\n".join(f"{group.title}: {group.first.message:.200} ({group.first.case})" for group in grouped(findings))


# ---------------------------------------------------------------- the package


# One case of the faults takes as long as all the others.
AT_ONCE = [area for area in AREAS if area != "faults"]


@pytest.mark.parametrize(
    ("areas", "cases", "corpus"), [(AT_ONCE, 60, 24), pytest.param(list(AREAS), 200, 6, marks=pytest.mark.slow)]
)
def test_a_short_campaign_finds_nothing(areas, cases, corpus):
    report = run_campaign(Plan(areas, cases=cases, minutes=0, corpus=corpus), seed="test")
    assert not report.findings, told(report.findings)
    assert set(report.counts) == set(areas)


@pytest.fixture
def little_memory():
    """As much memory as a worker of the campaign has, for cases that are run in this process."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    limit_memory()
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.usefixtures("little_memory")
@pytest.mark.parametrize("area", [api, files, models], ids=lambda area: area.__name__.rpartition(".")[2])
def test_cases_that_shrink_find_nothing(area):
    @FEW
    @given(RANDOMS)
    def check(rng):
        found = run_case(lambda case: area.run(case, 0), "shrunk:0", rng).findings
        assert not found, f"{told(found)}\n{found[0].script}"

    check()


# ---------------------------------------------------------------- planted bugs


def test_every_planted_bug_is_found_under_its_name(monkeypatch):
    monkeypatch.setitem(AREAS, "planted", planted.PLANTED)
    plan = Plan(["planted"], cases=len(planted.BUGS), minutes=0, corpus=0)
    report = run_campaign(plan, jobs=2, limit=10.0, prepare=planted.plant)
    assert report.n_cases == len(planted.BUGS)
    # A bug can have further consequences, but what comes first is the bug.
    first = {}
    for each in report.findings:
        first.setdefault(int(each.case.partition(":")[2]), each.kind)
    found = {bug.__name__: first.get(number) for number, bug in enumerate(planted.BUGS)}
    assert found == {bug.__name__: kind for bug, kind in planted.BUGS.items()}


# ---------------------------------------------------------------- cases


@pytest.mark.parametrize("area", ["api", "files", "models"])
def test_a_case_follows_from_its_seed_and_number_alone(area, monkeypatch):
    def scripts(seed):
        made = []
        monkeypatch.setattr(Case, "do", lambda case, source: made.append([*case.script, source]))
        for number in range(5):
            run_numbered(AREAS[area].run, area, number, seed)
        return made

    assert scripts(1) == scripts(1) != scripts(2)


def test_every_parameter_of_every_method_has_values_to_draw():
    known = {name for method in METHODS for name in make_method(method, 2).get_params()}
    assert known - set(ALLOWED) == {
        *("n_clusters", "n_init", "n_permutations", "n_bootstraps", "n_draws", "n_penalties", "n_variance_penalties")
    }


@FEW
@given(RANDOMS)
def test_damage_changes_bytes_and_leaves_bytes(rng):
    assert isinstance(damaged(rng, b"a,b\n1,2\n"), bytes)
    assert isinstance(damaged_json(rng, '{"a": [1, 2, {"b": "c"}], "d": 10}'), bytes)


def test_an_error_of_the_campaign_itself_does_not_pass_unnoticed():
    outcome = run_numbered(lambda case, number: {}["missing"], "api", 0, 0)
    assert [each.kind for each in outcome.findings] == ["broken case"]


def test_a_table_that_a_library_refuses_to_build_is_counted_and_is_no_finding():
    outcome = run_numbered(lambda case, number: case.prepare("X = 1 / 0"), "api", 0, 0)
    assert outcome.findings == []
    assert outcome.counts["skipped"] == 1


# ---------------------------------------------------------------- refusals


def raised(call):
    with pytest.raises(Exception) as caught:  # noqa: PT011
        call()
    return caught.value


def test_what_the_package_and_scikit_learn_refuse_on_purpose_is_clean():
    for X in ([[1.0, 2.0]], [1.0, 2.0], None, [["a", "b"]] * 3):
        assert why_not_clean(raised(lambda X=X: SASClustering(2).fit(X))) is None


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (KeyError("a"), "never a refusal"),
        (MemoryError(), "never a refusal"),
        (ValueError("X is wrong"), "outside the package"),
    ],
)
def test_other_errors_are_not_clean(error, reason):
    def call():
        raise error

    assert reason in why_not_clean(raised(call))


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("", "no message"),
        ("X is\nwrong", "control character"),
        ("column '\x1b[31m' is wrong", "control character"),
        ("column \u202e is wrong", "control character"),
        ("column " + "x" * 1000, "characters"),
        ("division by zero", "does not name"),
        ("Column 'a' must hold numbers.", None),
    ],
)
def test_a_message_has_one_short_line_that_names_what_is_wrong(message, reason):
    found = why_not_readable(message)
    assert found is None if reason is None else reason in found


# ---------------------------------------------------------------- the plan and the report


def drawn(plan, most=10_000):
    return [task for task in (plan.next() for _ in range(most)) if task is not None]


def test_exactly_as_many_cases_are_run_as_were_asked_for_after_the_corpus():
    tasks = drawn(Plan(list(AREAS), cases=1000, minutes=0))
    by_area = Counter(area for area, _ in tasks)
    assert by_area.total() - by_area["corpus"] == 1000
    assert [area for area, _ in tasks[: by_area["corpus"]]] == ["corpus"] * by_area["corpus"]
    assert by_area["faults"] == 10
    assert len(set(tasks)) == len(tasks)


def test_one_area_brings_its_own_part_of_the_corpus():
    tasks = drawn(Plan(["files"], cases=3, minutes=0))
    assert {area for area, _ in tasks} == {"corpus", "files"}
    assert len(tasks) < len(drawn(Plan(list(AREAS), cases=3, minutes=0)))


def test_time_is_divided_by_the_shares_of_the_areas():
    plan = Plan(["api", "faults"], cases=None, minutes=60, corpus=0)
    for _ in range(2000):
        area, _ = plan.next()
        plan.spent[area] += 0.3 if area == "api" else 10.0
    expected = AREAS["api"].time / AREAS["faults"].time
    assert plan.spent["api"] / plan.spent["faults"] == pytest.approx(expected, rel=0.3)


def test_the_corpus_takes_no_time_from_the_generated_cases(monkeypatch):
    clock = iter(range(0, 10**9, 10))
    monkeypatch.setattr("fuzz.campaign.time.monotonic", lambda: float(next(clock)))
    plan = Plan(["files"], cases=None, minutes=2)
    for _ in range(len(plan.first)):
        assert plan.next()[0] == "corpus"
        assert "minutes left" in plan.left(0)
        next(clock)
    assert Counter(area for area, _ in drawn(plan, 100))["files"] == 11


def finding(case, where="a.py:1", script="x = 1\n"):
    return Finding("traceback", "KeyError", where, "KeyError: 'a'", case, script, "the\nstack", (("f.csv", b"a"),))


def test_equal_findings_are_shown_once_with_the_shortest_script(tmp_path):
    findings = [finding("api:1", script="x = 1\ny = 2\n"), finding("api:2"), finding("api:3", where="b.py:2")]
    groups = grouped(findings)
    assert [len(group.cases) for group in groups] == [2, 1]
    file, _ = save(groups, 5, tmp_path)
    text = file.read_text()
    assert "python -m fuzz --repeat api:2 --seed 5" in text
    compile(text, file.name, "exec")
    assert (tmp_path / file.stem / "f.csv").read_bytes() == b"a"


def test_the_page_has_the_numbers_of_every_area_and_lists_the_findings():
    report = Report(3, 2)
    report.add(Outcome("api", 1, [finding("api:1")], Counter(cases=1, worked=1), 0.5))
    report.add(Outcome("files", 1, [], Counter(cases=1, refused=1), 0.5))
    page = page_of(report, ["--cases", "2"])
    assert "`python -m fuzz --cases 2`" in page
    assert "## Findings: 1" in page
    assert re.search(r"\| api \| 1 \| 1 \| 0 \| 0 \| 1 \|", page)
    assert re.search(r"\| all \| 2 \| 1 \| 1 \|", page)


@pytest.mark.parametrize("arguments", [["--repeat", "api"], ["--repeat", "nothing:1"], ["--only", "nothing"]])
def test_wrong_options_are_refused(arguments, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["fuzz", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert "error:" in capsys.readouterr().err


def test_a_case_is_repeated_by_its_name(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["fuzz", "--repeat", "files:3", "--seed", "4"])
    expected = run_numbered(AREAS["files"].run, "files", 3, "4")
    assert main() == bool(expected.findings)
    assert "files:3: " in capsys.readouterr().out


def test_generators_take_any_source_of_random_numbers():
    case = run_case(lambda case: case.prepare(f"x = {case.rng.random()}"), "api:0", random.Random(1))
    assert case.get("x") == random.Random(1).random()
