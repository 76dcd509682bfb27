"""Messages of the library in the words of the command line: `--null fixed` in the place of `null="fixed"`."""

from __future__ import annotations

import ast
import re
import shlex

# The option of each parameter of an estimator that has one.
OPTIONS = {
    "n_clusters": "-k",
    "max_clusters": "--max-clusters",
    "cluster_criterion": "--cluster-criterion",
    "n_features_to_select": "--size",
    "trim": "--trim",
    "metric": "--metric",
    "standardize": "--standardize",
    "criterion": "--criterion",
    "null": "--null",
    "rule": "--rule",
    "random_state": "--seed",
    "n_jobs": "--jobs",
    "repeats": "--repeats",
    "id_column": "--id",
    "truth": "--truth",
    "drop": "--drop",
    "keep": "--keep",
    "dates": "--dates",
    "transpose": "--transpose",
    "max_memory": "--max-memory",
}
# Parameters that stand for another method, and estimators that messages recommend.
METHODS = {
    'weights="common"': "--method cosa-common",
    "SASClustering": "--method sas",
    "SparseKMeans": "--method sparse-kmeans",
    "SparseKMedoids": "--method sparse-kmedoids",
}
# Whole phrases that mean nothing on the command line.
PHRASES = {
    r"X has n_samples=(\d+) rows": r"The table has \1 rows",
    r"that X does not have": "that the table does not have",
    r"Use None for the default": "Leave this option out for the default",
    r'(--size .*)Use "auto" to tune it': r"\1Use --size auto to tune it",
}
QUOTED = r"'(?:[^'\\]|\\.)*'"
SPELLINGS = re.compile(
    rf"""metric=\{{(?P<column>{QUOTED}|"[^"]*"):\s*"(?P<kind>\w+)"\}}"""  # metric={'x': "hamming"}
    rf"|(?P<data>(?<!\w){QUOTED})"  # what the user wrote, which stays as it is
    rf"|(?P<method>{'|'.join(map(re.escape, METHODS))})"
    rf"""|(?<![-\w])(?P<set>{"|".join(OPTIONS)})=(?P<value>"[^"]*"|{QUOTED}|\w+(?:[.\-]\w+)*)"""
    rf"|(?<![-\w])(?P<name>{'|'.join(OPTIONS)})(?= (?:must|names|as a share|requires|asks)\b)"
)


def in_options(message: str) -> str:
    """Return a message in which parameters are spelled as the options of commands.

    >>> in_options('Use n_features_to_select="core", null="fixed" or rule="1se" to choose fewer.')
    'Use --size core, --null fixed or --rule 1se to choose fewer.'
    >>> in_options("use metric={'zip code': \\"hamming\\"} if it is meant to be a category.")
    "use --metric 'zip code=hamming' if it is meant to be a category."
    >>> in_options("n_clusters must be a whole number in [2, 24]; got 100. X has n_samples=24 rows.")
    '-k must be a whole number in [2, 24]; got 100. The table has 24 rows.'
    """
    message = SPELLINGS.sub(_spelled, message)
    for pattern, words in PHRASES.items():
        message = re.sub(pattern, words, message)
    return message


def _spelled(found: re.Match[str]) -> str:
    given = found.groupdict()
    if given["data"]:
        return found[0]
    if given["column"]:
        return "--metric " + shlex.quote(f"{ast.literal_eval(given['column'])}={given['kind']}")
    if given["method"]:
        return METHODS[given["method"]]
    if given["name"]:
        return OPTIONS[given["name"]]
    value = given["value"].strip("\"'")
    if value in ("True", "False"):
        option = OPTIONS[given["set"]]
        return option if value == "True" else option.replace("--", "--no-", 1)
    return f"{OPTIONS[given['set']]} {value}"
