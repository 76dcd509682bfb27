"""Options that several commands have, each described once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

# ---------------------------------------------------------------- reading a table

Parts = Annotated[
    list[str],
    typer.Argument(
        help="Table: CSV, TSV, Parquet, Feather, Excel, NumPy, H5AD or MTX, a folder or HDF5 file of 10x Genomics; - "
        "for standard input. Several files, another folder or a pattern such as 'part-*.parquet' are parts of one "
        "table: Parquet, CSV or Zarr."
    ),
]
Id = Annotated[str | None, typer.Option("--id", metavar="COLUMN", help="Column with the names of the rows.")]
Truth = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN or FILE",
        help="Column with the true groups, or a file with the names of the samples and their true groups; only used "
        "for comparison.",
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Column to leave out, or several separated by commas. This option can be used several times.",
    ),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Column to use that would be left out, such as one that numbers the rows; in the form of --drop.",
    ),
]
Dates = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="Column to read as dates; in the form of --drop."),
]
Metric = Annotated[
    list[str] | None,
    typer.Option(
        metavar="METRIC or COLUMN=METRIC",
        help="Dissimilarity of all columns, or of single ones, such as zip=hamming,age=manhattan: auto, sqeuclidean, "
        "manhattan, euclidean, hamming or ordinal. Can be used several times. By default, auto.",
    ),
]
Transpose = Annotated[bool, typer.Option("--transpose", help="The table has features in rows and samples in columns.")]
Preset = Annotated[
    str | None,
    typer.Option(help="expression: prepare the samples of gene-expression data, and select the core genes."),
]
Sheet = Annotated[str | None, typer.Option(help="Sheet of an Excel file; by default, the first.")]
Encoding = Annotated[str | None, typer.Option(help="Encoding of a text file; by default, UTF-8.")]
Delimiter = Annotated[str | None, typer.Option(help="Delimiter of a text file; detected by default.")]
Decimal = Annotated[str | None, typer.Option(help="Decimal sign of a text file; detected by default.")]
MaxMemory = Annotated[
    str | None,
    typer.Option(help="Memory that reading may take, such as 4GB; by default, 3/4 of the machine's memory."),
]

# ---------------------------------------------------------------- fitting

CLUSTERS = ("--clusters", "-k")
MaxClusters = Annotated[int | None, typer.Option(help="Largest number of clusters that -k auto tries.")]
ClusterCriterion = Annotated[
    str | None,
    typer.Option(
        help="Criterion by which the number of clusters is chosen: auto, bic, gap, gap_uniform, logdet_gap, "
        "prediction_strength or stadion.",
    ),
]
Size = Annotated[
    str,
    typer.Option(
        "--size",
        "-s",
        help="Number of features, a share such as 0.1, auto, or core: the fewest that give the same clusters.",
    ),
]
Trim = Annotated[
    float | None, typer.Option(help="Largest share of the samples to leave out as outliers, such as 0.05.")
]
Standardize = Annotated[
    bool | None,
    typer.Option(
        "--standardize/--no-standardize",
        help="Whether all features count the same, whatever their units and spread. By default, as usual for the "
        "method or the preset.",
    ),
]
Criterion = Annotated[
    str | None, typer.Option(help="Criterion by which the number of features is chosen (sas): gap or bic.")
]
Null = Annotated[
    str | None,
    typer.Option(help="Reference for the gap statistic (sas): refit, or fixed, which selects fewer features."),
]
Rule = Annotated[
    str | None, typer.Option(help="max (largest gap), or 1se (fewest features within one standard error of it).")
]
Seed = Annotated[int, typer.Option(help="Seed of the random numbers.", min=0)]
Jobs = Annotated[int, typer.Option(help="Number of threads; the results do not depend on it. -1: all cores.")]

# ---------------------------------------------------------------- results

Force = Annotated[
    bool, typer.Option("--force", help="Write into the folder even if it holds files that are not a result.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Out = Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.")]
