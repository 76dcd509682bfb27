"""Command lines, with right and wrong values of every option."""

from __future__ import annotations

import random

# Values of options, the usual ones first. The names of the files are those that the area writes.
TABLES = ("table.csv", "table.csv", "table.csv", "words.csv", "hostile.csv", "matrix.npy", "counts.mtx")
WRONG_TABLES = ("missing.csv", ".", "", "-", "model.json", "empty.csv", "a\x1bb.csv", "x" * 300, "/dev/null")
ANY = ("", " ", "nan", "-1", "0", "1e400", "no such thing", "\x1b[31m", "a,b", "=1+1", "é", "x" * 2000, "None", "--")
CLUSTERS = ("2", "2", "3", "2-3", "2,3", "auto")
OPTIONS: dict[str, dict[str, tuple[str, ...]]] = {
    "fit": {
        "-k": CLUSTERS,
        "--max-clusters": ("3", "2"),
        "--cluster-criterion": ("auto", "bic"),
        "--size": ("1", "2", "0.5", "auto", "core"),
        "--trim": ("0.1", "0", "0.49", "0.6"),
        "--method": ("sas", "kmeans", "sparse-kmeans", "ward", "pan-shen", "proclus", "if-pca", "varsel", "cosa"),
        "--metric": ("auto", "sqeuclidean", "manhattan", "hamming", "ordinal", "precomputed"),
        "--criterion": ("gap", "bic"),
        "--null": ("refit", "fixed"),
        "--rule": ("max", "1se", "core"),
        "--id": ("id", "x0"),
        "--truth": ("group", "x0"),
        "--drop": ("x0", "x0,x1", "x0,x1,x2,x3,group,word"),
        "--transpose": (),
        "--preset": ("expression",),
        "--sheet": ("Sheet1",),
        "--encoding": ("utf-8", "latin-1", "utf-16"),
        "--delimiter": (",", ";", "\t"),
        "--decimal": (".", ","),
        "--out": ("out", "old", "a/b/c", "table.csv", "."),
        "--no-report": (),
        "--seed": ("0", "7", "4294967295", "99999999999999999999"),
        "--jobs": ("1", "2", "-1", "0"),
        "--json": (),
        "--verbose": (),
        "--quiet": (),
    },
    "predict": {
        "--id": ("id", "x0"),
        "--drop": ("x0", "group"),
        "--transpose": (),
        "--sheet": ("Sheet1",),
        "--encoding": ("utf-8", "utf-16"),
        "--out": ("labels.csv", "out", "-", "a/b.csv", "."),
    },
    "report": {"--out": ("report.html", "-", "a/b.html", ".", "old")},
    "info": {
        "--id": ("id", "x0"),
        "--metric": ("auto", "hamming", "ordinal", "manhattan", "precomputed"),
        "--transpose": (),
        "--sheet": ("Sheet1",),
        "--encoding": ("utf-8", "latin-1"),
        "--json": (),
    },
    "compare": {
        "--truth": ("group", "x0"),
        "--repeats": ("1",),
        "--id": ("id",),
        "--metric": ("auto", "manhattan"),
        "--transpose": (),
        "--drop": ("x0",),
        "--encoding": ("utf-8",),
        "--out": ("comparison", "table.csv", "."),
        "--seed": ("0", "5"),
        "--jobs": ("1", "2"),
        "--quiet": (),
    },
    "methods": {"--json": ()},
    "simulate": {
        "--out": ("simulated.csv", "a/b.csv", ".", "-"),
        "--features": ("1", "5", "60", "0", "-1"),
        "--seed": ("0", "3", "99999999999999999999"),
    },
    "reproduce": {
        "--list": (),
        "--cells": ("mu=0.6,p=100", "mu=0.6", "nonsense", "p=", "=;="),
        "--methods": ("limit", "no such method"),
        "--seed": ("0",),
        "--variant": ("text", "code", "preset"),
        "--data": ("nowhere",),
        "--quiet": (),
    },
}
SHARES = {"fit": 10, "predict": 5, "report": 3, "info": 5, "compare": 3, "methods": 1, "simulate": 2, "reproduce": 2}
DESIGNS = ("shifted", "diagonal", "correlated", "many", "bernoulli", "mixed")


def line(rng: random.Random) -> list[str]:
    """Return the arguments of a command."""
    if rng.random() < 0.03:
        return rng.choice(([], ["--help"], ["--version"], ["no-such-command"], ["fit", "--help"], ["--", "fit"], [""]))
    (name,) = rng.choices(list(SHARES), list(SHARES.values()))
    known = OPTIONS[name]
    made = [name, *_fixed(rng, name)]
    for option in rng.sample(list(known), min(len(known), rng.choice((0, 1, 1, 2, 3)))):
        values = known[option]
        wrong = rng.random() < 0.12
        made += [option] if not values and not wrong else [option, rng.choice(ANY if wrong else values)]
    if name == "fit" and "-k" not in made:
        made += ["-k", "2"]
    if rng.random() < 0.04:
        made.insert(rng.randint(1, len(made)), rng.choice(("--no-such-option", "extra", "-x", "")))
    return made


def _table(rng: random.Random) -> str:
    return rng.choice(WRONG_TABLES if rng.random() < 0.12 else TABLES)


def _fixed(rng: random.Random, name: str) -> list[str]:
    """Return the arguments that a command needs."""
    if name in ("fit", "info"):
        return [_table(rng)]
    if name == "predict":
        return ["table.csv" if rng.random() < 0.05 else "old/model.json", _table(rng)]
    if name == "report":
        return [rng.choice(("old", "old", "old/summary.json", "nowhere", "table.csv", "old/model.json"))]
    if name == "compare":
        return [
            _table(rng),
            "-k",
            rng.choice(CLUSTERS[:5]),
            "--methods",
            rng.choice(("kmeans", "ward,kmeans", "sas", "no")),
        ]
    if name == "simulate":
        return [rng.choice((*DESIGNS, "no such design"))]
    if name == "reproduce":
        # A few numbers of one method, so that it takes less than a second.
        wanted = ["--cells", "mu=0.6,p=100", "--methods", "limit", "--repeats", "1", "--jobs", "1"]
        return rng.choice(
            (["table-1a", *wanted], ["--list"], ["no such table"], ["table-1a", *wanted, "--out", "table.csv"])
        )
    return []
