"""Files of every format, damaged or not: they are read, or refused in one line, and what is read can be clustered."""

from __future__ import annotations

from ..case import Case, NotMadeError
from ..checks import check_fit, has_gaps
from ..make.files import file

OPTIONS = (
    *("transpose=True", "id_column='x0'", "id_column='id'", "truth='x0'", "truth='group'"),
    *("drop=('x0',)", "drop=('no such column',)", "options=Options(encoding='latin-1')"),
    *("options=Options(encoding='utf-16')", "options=Options(encoding='no such encoding')"),
    *("options=Options(delimiter=';')", "options=Options(delimiter='||')", "options=Options(delimiter='')"),
    *("options=Options(decimal=',')", "options=Options(decimal='..')", "options=Options(sheet='data')"),
    *("options=Options(sheet='\\x1b[31m')", "id_column='\\x1b[31m'", "transpose=True, id_column='id'"),
)
# Larger tables, which only a lie in a header can make, are not clustered.
MOST_VALUES = 10_000


def run(case: Case, number: int) -> None:
    """Write a file, read it, and now and then cluster it."""
    rng = case.rng
    try:
        path = file(rng, case.folder)
    except Exception as error:
        raise NotMadeError(f"{type(error).__name__}: {error}") from error
    case.prepare("from sparsecluster.io import Options, read_table")
    read(case, path.name, rng.choice(OPTIONS) if case.one_in(4) else "")


def read(case: Case, name: str, option: str = "", *, thorough: bool = False) -> None:
    """Read a file and check the result."""
    case.words |= {*(each.name for each in case.folder.iterdir())}
    case.words |= {name, "--transpose", "--drop", "--truth", "--id", "--decimal", "--delimiter"}
    if not case.do(f"loaded = read_table({name!r}{', ' if option else ''}{option})"):
        return
    case.counts["worked"] += 1
    loaded = case.get("loaded")
    n, p = loaded.X.shape
    if len(loaded.ids) != n or len(loaded.names) != p or (loaded.truth is not None and len(loaded.truth) != n):
        case.report("wrong result", f"{n} x {p} values, {len(loaded.ids)} ids, {len(loaded.names)} names", "read_table")
    if n >= 2 and n * p <= MOST_VALUES and (thorough or case.one_in(3)):
        fit = "make_method('sas', 2, n_features_to_select=1, n_init=2, n_alternatives=0).fit(loaded.X)"
        if case.do(f"found = {fit}"):
            case.counts["fits"] += 1
            check_fit(case, case.get("found"), n, gaps=has_gaps(loaded.X))
            case.do("told = found.summary()")
