"""The numbers in the paper: mean and standard deviation by row, method and column."""

from __future__ import annotations

from typing import Any

from .experiment import Printed

Block = dict[str, str]
SIZES = (100, 200, 500, 1000)


def parsed(line: str) -> list[Printed]:
    """Parse pairs of mean and standard deviation; "-" stands for a standard deviation that is not given.

    >>> parsed("0.9 0.1, 0.8 -")
    [(0.9, 0.1), (0.8, None)]
    """
    pairs = (pair.split() for pair in line.split(","))
    return [(float(mean), None if spread == "-" else float(spread)) for mean, spread in pairs]


def by_cell(blocks: dict[Any, Block], columns: tuple[Any, ...]) -> dict[tuple[Any, ...], dict[str, Printed]]:
    """Arrange blocks, one per row of the table with one line per method, as {(row, column): {method: printed}}."""
    cells: dict[tuple[Any, ...], dict[str, Printed]] = {}
    for row, block in blocks.items():
        for method, line in block.items():
            for column, value in zip(columns, parsed(line), strict=True):
                cells.setdefault((row, column), {})[method] = value
    return cells


TABLE_1A = by_cell(
    {
        0.6: {
            "sas-grid": "0.907 0.048, 0.875 0.066, 0.827 0.076, 0.674 0.096",
            "sas-golden": "0.900 0.054, 0.860 0.066, 0.781 0.008, 0.701 0.050",
            "sparse-kmeans": "0.886 0.068, 0.807 0.064, 0.744 0.046, 0.704 0.043",
            "if-pca": "0.664 0.042, 0.645 0.051, 0.605 0.045, 0.593 0.038",
        },
        0.7: {
            "sas-grid": "0.953 0.030, 0.965 0.028, 0.960 0.032, 0.855 0.102",
            "sas-golden": "0.953 0.031, 0.961 0.031, 0.921 0.088, 0.789 0.104",
            "sparse-kmeans": "0.942 0.045, 0.915 0.071, 0.802 0.087, 0.790 0.087",
            "if-pca": "0.681 0.036, 0.653 0.044, 0.629 0.057, 0.614 0.055",
        },
        0.8: {
            "sas-grid": "0.986 0.020, 0.985 0.022, 0.987 0.016, 0.966 0.052",
            "sas-golden": "0.984 0.020, 0.983 0.019, 0.987 0.0178, 0.892 0.122",
            "sparse-kmeans": "0.985 0.020, 0.975 0.029, 0.961 0.07, 0.948 0.074",
            "if-pca": "0.691 0.043, 0.675 0.056, 0.639 0.068, 0.623 0.059",
        },
        0.9: {
            "sas-grid": "0.997 0.008, 0.997 0.008, 0.997 0.007, 0.995 0.010",
            "sas-golden": "0.996 0.010, 0.996 0.009, 0.997 0.009, 0.969 0.076",
            "sparse-kmeans": "0.996 0.010, 0.992 0.013, 0.992 0.016, 0.993 0.013",
            "if-pca": "0.700 0.031, 0.682 0.051, 0.654 0.057, 0.627 0.065",
        },
        1.0: {
            "sas-grid": "0.999 0.005, 1.000 0.003, 1.000 0.003, 0.999 0.004",
            "sas-golden": "0.998 0.007, 1.000 0.003, 1.000 0.004, 0.998 0.006",
            "sparse-kmeans": "0.998 0.007, 0.999 0.005, 0.996 0.010, 0.996 0.009",
            "if-pca": "0.717 0.034, 0.710 0.039, 0.659 0.063, 0.639 0.060",
        },
    },
    SIZES,
)

# Seconds on the authors' machine.
TABLE_1B = by_cell(
    {
        0.6: {
            "sas-given": "0.086 0.031, 0.130 0.044, 0.217 0.088, 0.271 0.118",
            "sparse-kmeans-given": "0.113 0.034, 0.220 0.053, 0.445 0.101, 0.850 0.156",
        },
        0.7: {
            "sas-given": "0.077 0.021, 0.104 0.027, 0.207 0.085, 0.316 0.147",
            "sparse-kmeans-given": "0.107 0.028, 0.235 0.057, 0.471 0.123, 0.945 0.194",
        },
        0.8: {
            "sas-given": "0.056 0.019, 0.088 0.022, 0.182 0.062, 0.313 0.118",
            "sparse-kmeans-given": "0.091 0.029, 0.213 0.051, 0.574 0.134, 0.984 0.262",
        },
        0.9: {
            "sas-given": "0.055 0.017, 0.080 0.024, 0.136 0.048, 0.289 0.131",
            "sparse-kmeans-given": "0.094 0.023, 0.196 0.052, 0.482 0.101, 0.982 0.261",
        },
        1.0: {
            "sas-given": "0.051 0.012, 0.089 0.021, 0.146 0.045, 0.272 0.095",
            "sparse-kmeans-given": "0.095 0.019, 0.186 0.044, 0.554 0.107, 1.225 0.270",
        },
    },
    SIZES,
)

TABLE_2A = by_cell(
    {
        0.6: {
            "sas-grid": "0.718 0.037, 0.702 0.037, 0.611 0.044, 0.574 0.027",
            "sas-golden": "0.714 0.028, 0.692 0.038, 0.635 0.044, 0.595 0.026",
            "sparse-kmeans": "0.590 0.030, 0.594 0.034, 0.595 0.034, 0.571 0.023",
            "if-pca": "0.619 0.037, 0.590 0.037, 0.572 0.024, 0.564 0.020",
        },
        0.8: {
            "sas-grid": "0.852 0.047, 0.844 0.052, 0.797 0.066, 0.670 0.082",
            "sas-golden": "0.848 0.050, 0.819 0.070, 0.752 0.060, 0.686 0.043",
            "sparse-kmeans": "0.662 0.057, 0.646 0.063, 0.657 0.062, 0.639 0.054",
            "if-pca": "0.646 0.040, 0.634 0.047, 0.603 0.046, 0.575 0.040",
        },
        1.0: {
            "sas-grid": "0.940 0.035, 0.947 0.033, 0.941 0.037, 0.919 0.065",
            "sas-golden": "0.935 0.037, 0.941 0.038, 0.922 0.059, 0.799 0.099",
            "sparse-kmeans": "0.798 0.085, 0.814 0.078, 0.742 0.080, 0.708 0.070",
            "if-pca": "0.677 0.041, 0.644 0.056, 0.618 0.052, 0.604 0.047",
        },
    },
    SIZES,
)

TABLE_2B = by_cell(
    {
        0.6: {
            "sas-grid": "26.3 4.7, 37.7 7.9, 86.2 20.5, 121.0 28.3",
            "sas-golden": "27.9 5.3, 44.1 12.1, 100.5 43.3, 143.1 57.0",
            "sparse-kmeans": "43.8 7.3, 86.8 35.3, 163.9 105.9, 170.6 124.6",
            "if-pca": "49.4 3.8, 72.3 15.8, 129.7 61.4, 185.8 126.3",
        },
        0.8: {
            "sas-grid": "17.4 3.9, 19.0 3.9, 31.7 17.2, 94.2 48.3",
            "sas-golden": "17.7 4.6, 21.9 6.5, 57.9 43.7, 132.9 85.0",
            "sparse-kmeans": "28.5 13.2, 63.4 28.5, 163.6 102.9, 218.6 129.9",
            "if-pca": "50.8 5.2, 75.4 16.5, 126.9 61.2, 209.3 130.5",
        },
        1.0: {
            "sas-grid": "10.5 3.7, 10.2 3.4, 12.4 3.7, 22.7 19.6",
            "sas-golden": "11.7 3.9, 12.5 4.1, 17.1 12.8, 100.2 84.8",
            "sparse-kmeans": "13.6 10.8, 49.7 38.2, 204.88 104.5, 265 165.1",
            "if-pca": "49.3 4.0, 67.9 14.1, 124.8 53.3, 226.3 146.7",
        },
    },
    SIZES,
)

TABLE_3 = {
    "rand": by_cell(
        {1.0: {"sas-grid": "0.920 0.054", "sas-golden": "0.858 0.098", "sparse-kmeans": "0.710 0.022",
               "if-pca": "0.668 0.041"}},
        (500,),
    ),
    "difference": by_cell(
        {1.0: {"sas-grid": "8.7 3.8", "sas-golden": "13.0 7.9", "sparse-kmeans": "297.2 75.6", "if-pca": "118.6 56.8"}},
        (500,),
    ),
}  # fmt: skip

# The paper calls the numbers in parentheses standard errors here, but they are as large as standard deviations.
TABLE_4 = by_cell(
    {
        0.6: {
            "sas-medoids": "0.878 0.060, 0.872 0.042, 0.864 0.057, 0.863 0.053",
            "sparse-kmedoids": "0.694 0.045, 0.663 0.054, 0.654 0.049, 0.639 0.044",
        },
        0.7: {
            "sas-medoids": "0.954 0.023, 0.960 0.026, 0.942 0.026, 0.948 0.033",
            "sparse-kmedoids": "0.807 0.126, 0.763 0.077, 0.716 0.060, 0.686 0.062",
        },
        0.8: {
            "sas-medoids": "0.989 0.011, 0.984 0.019, 0.983 0.019, 0.978 0.021",
            "sparse-kmedoids": "0.946 0.090, 0.889 0.099, 0.846 0.100, 0.787 0.093",
        },
        0.9: {
            "sas-medoids": "0.998 0.005, 0.999 0.003, 0.997 0.007, 0.997 0.006",
            "sparse-kmedoids": "0.997 0.006, 0.994 0.036, 0.983 0.044, 0.966 0.065",
        },
    },
    (30, 60, 100, 200),
)

# Error rates. The paper quotes those of the first five methods from Jin and Wang.
TABLE_5_METHODS = (
    *("kmeans", "kmeans++", "complete", "spectral-gem", "if-pca", "ahp-gmm"),
    *("regularized-kmeans", "sparse-kmeans", "sas-grid", "sas-golden"),
)
TABLE_5_LINES = {
    "brain": ".286 .472 .524 .143 .262 .214 .262 .190 .310 .310",
    "breast": ".442 .430 .500 .438 .406 .460 .442 .449 .485 .445",
    "colon": ".443 .460 .387 .484 .403 .129 .355 .306 .129 .403",
    "lung1": ".116 .196 .177 .122 .033 .116 .094 .122 .099 .099",
    "lung2": ".436 .439 .301 .434 .217 .438 .217 .315 .315 .315",
    "leukemia": ".278 .257 .278 .292 .069 .028 .347 .028 .028 .028",
    "lymphoma": ".387 .317 .468 .226 .065 .484 .016 .016 .016 .016",
    "prostate": ".422 .432 .480 .422 .382 .422 .441 .373 .431 .431",
    "srbct": ".556 .524 .540 .508 .444 .476 .556 .317 .460 .365",
    "sucancer": ".477 .459 .448 .489 .333 .477 .477 .477 .483 .483",
}
TABLE_5: dict[tuple[Any, ...], dict[str, Printed]] = {
    (name,): {method: (float(value), None) for method, value in zip(TABLE_5_METHODS, line.split(), strict=True)}
    for name, line in TABLE_5_LINES.items()
}
