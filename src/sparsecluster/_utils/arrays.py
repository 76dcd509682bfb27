"""Names for the types of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Labels = npt.NDArray[np.int32]
Subset = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float64]
Table = npt.NDArray[np.floating[Any]]
Mask = npt.NDArray[np.uint8]
