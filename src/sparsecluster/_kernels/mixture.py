"""Log densities of a Gaussian mixture with diagonal covariances, over the features that distinguish the clusters."""

from __future__ import annotations

import numpy as np

from ._jit import kernel


@kernel
def add_log_densities(columns, used, means, variances, reference, joint):
    """Add to joint[k, i], for each used feature a, log N(x_ai; mean_ak, variance_ak) - log N(x_ai; 0, reference_a).

    `columns` has shape (p, n), `means` (p, k), `variances` (p, k) or (p, 1) for a variance that the clusters share.
    """
    k, n = joint.shape
    own = variances.shape[1] > 1
    for a in used:
        base = 0.5 / reference[a]
        for c in range(k):
            variance = variances[a, c if own else 0]
            half, center = 0.5 / variance, means[a, c]
            constant = 0.5 * (np.log(reference[a]) - np.log(variance))
            for i in range(n):
                x = columns[a, i]
                joint[c, i] += constant + base * x * x - half * (x - center) * (x - center)
