"""Long arrays and lists of texts in model files: compressed, because as JSON they would take many times the memory."""

from __future__ import annotations

import base64
import json
import math
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from .limits import MOST_DEFLATED

# Arrays and lists with more entries are packed. Shorter ones are written so that people can read them.
LEAST_PACKED = 1000
# The types of packed arrays, the same on all machines.
DTYPES = {"f": "<f8", "i": "<i8", "b": "|b1"}


def packed(array: npt.NDArray[Any]) -> dict[str, Any]:
    """Return a long array of numbers or truth values as a value of JSON.

    >>> unpacked(packed(np.array([[1.5, np.nan]])))
    array([[1.5, nan]])
    """
    kind = array.dtype.kind
    content = np.ascontiguousarray(array, dtype=DTYPES[kind]).tobytes()
    return {"packed": _text(content), "kind": kind, "shape": list(array.shape)}


def unpacked(value: dict[str, Any]) -> npt.NDArray[Any]:
    """Return an array that was packed. What it claims to hold is compared with its size before memory is taken."""
    shape, dtype = value["shape"], np.dtype(DTYPES[value["kind"]])
    if not all(type(each) is int and each >= 0 for each in shape):
        raise ValueError("the shape of a packed array must be whole numbers")
    content = _bytes(value["packed"], math.prod(shape) * dtype.itemsize)
    if len(content) != math.prod(shape) * dtype.itemsize:
        raise ValueError("a packed array has not the size that it claims")
    array = np.frombuffer(content, dtype).reshape(shape)
    if dtype.kind == "b" and array.view(np.uint8).max(initial=0) > 1:
        raise ValueError("a packed truth value is neither true nor false")
    return array.astype({"f": np.float64, "i": np.intp, "b": np.bool_}[value["kind"]])


def packed_texts(texts: list[str]) -> dict[str, Any]:
    """Return a long list of texts as a value of JSON.

    >>> unpacked_texts(packed_texts(["a", "b"]))
    ['a', 'b']
    """
    content = json.dumps(texts, ensure_ascii=False).encode(errors="backslashreplace")
    return {"texts": _text(content), "size": len(content)}


def unpacked_texts(value: dict[str, Any]) -> list[str]:
    """Return a list of texts that was packed."""
    if type(value["size"]) is not int:
        raise ValueError("the size of packed texts must be a whole number")
    texts = json.loads(_bytes(value["texts"], value["size"]))
    if not isinstance(texts, list) or not all(isinstance(each, str) for each in texts):
        raise ValueError("packed texts must be a list of texts")
    return texts


def _text(content: bytes) -> str:
    return base64.b64encode(zlib.compress(content)).decode()


def _bytes(text: str, size: int) -> bytes:
    """Return what was packed, but no more than it claims to be, and nothing if that cannot be."""
    content = base64.b64decode(text, validate=True)
    if not 0 <= size <= MOST_DEFLATED * (len(content) + 100):
        raise ValueError("a packed part claims to hold more than it can")
    # A size of 0 would mean that there is no limit.
    return zlib.decompressobj().decompress(content, size or 1)
