"""Slow twins of the kernels for categories by their levels, as in `naive`."""

from __future__ import annotations

import numpy as np

from tests.naive import members


def indicators(codes: np.ndarray, units: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Indicator columns of all levels, whose squared distances are the units, and a mask of what is seen."""
    columns, masks = [np.zeros((len(codes), 0))], [np.zeros((len(codes), 0), np.uint8)]
    for own, unit in zip(codes.T, units, strict=True):
        seen = own >= 0
        table = np.equal.outer(own, np.arange(own.max() + 1)) * np.sqrt(unit / 2)
        columns.append(np.where(seen[:, None], table - table[seen].mean(axis=0), 0.0))
        masks.append(np.repeat(seen[:, None], table.shape[1], axis=1).astype(np.uint8))
    return np.concatenate(columns, axis=1), np.concatenate(masks, axis=1)


def level_scores(codes: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """1 - Delta_a / T_a of every category over its observed samples, from all pairs of samples."""
    scores = np.zeros(codes.shape[1])
    for a, own in enumerate(codes.T):
        withins = []
        for groups in (np.zeros_like(labels), labels):
            members = [own[(own >= 0) & (groups == c)] for c in np.unique(groups)]
            apart = [(each[:, None] != each[None, :]).sum() / 2 / each.size for each in members if each.size]
            withins.append(sum(apart))
        scores[a] = 1.0 - withins[1] / withins[0] if withins[0] > 0 else 0.0
    return scores


def level_squares(codes: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """sum_k (1/n_k) sum_l n_kl^2 of every feature, over the samples whose level is seen."""
    squares = []
    for own in codes.T:
        counts = [np.bincount(own[samples][own[samples] >= 0]) for samples in members(labels)]
        squares.append(sum((each**2).sum() / max(each.sum(), 1) for each in counts))
    return np.array(squares)
