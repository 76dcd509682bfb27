"""Damage to bytes and to JSON."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

SPECIAL = (
    *(
        b"\0",
        b"\r",
        b"\n",
        b"\r\n",
        b"\xff",
        b"\xfe\xff",
        b"\xef\xbb\xbf",
        b'"',
        b"'",
        b",",
        b";",
        b"\t",
        b" ",
        b"\x1a",
    ),
    *(b"\x1b[2J", b"\xc3\x28", b"\xed\xa0\x80", b"nan", b"inf", b"1e400", b"-1e308", b"1" * 400, b"=1+1", b"<b>", b"-"),
    *(b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff\xff\xff\xff\xff", b"\0" * 8, b"{", b"}", b"[", b"PK\x03\x04", b"%", b"#"),
)


def flip(rng: random.Random, data: bytearray) -> None:
    """Flip some bits."""
    for _ in range(rng.choice((1, 1, 2, 8))):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def truncate(rng: random.Random, data: bytearray) -> None:
    """Cut the end off."""
    del data[rng.randrange(len(data)) :]


def insert(rng: random.Random, data: bytearray) -> None:
    """Insert special or random bytes."""
    place = rng.randrange(len(data) + 1)
    data[place:place] = rng.choice(SPECIAL) if rng.random() < 0.7 else rng.randbytes(rng.randint(1, 20))


def overwrite(rng: random.Random, data: bytearray) -> None:
    """Replace bytes by special ones of the same length."""
    what = rng.choice(SPECIAL)
    place = rng.randrange(len(data))
    data[place : place + len(what)] = what[: len(data) - place]


def repeat(rng: random.Random, data: bytearray) -> None:
    """Insert a copy of a block somewhere."""
    start = rng.randrange(len(data))
    place = rng.randrange(len(data))
    data[place:place] = data[start : start + rng.randint(1, 200)]


def remove(rng: random.Random, data: bytearray) -> None:
    """Remove a block."""
    start = rng.randrange(len(data))
    del data[start : start + rng.randint(1, 200)]


def digits(rng: random.Random, data: bytearray) -> None:
    """Make a number longer, or another one."""
    places = [place for place, byte in enumerate(data) if 48 <= byte <= 57]
    if places:
        place = rng.choice(places)
        data[place : place + 1] = rng.choice(
            (b"9" * 9, b"9" * 20, b"-1", b"0", b"1e308", b"1e-320", b"nan", b"300000000")
        )


DAMAGES: tuple[Callable[[random.Random, bytearray], None], ...] = (
    flip,
    truncate,
    insert,
    overwrite,
    repeat,
    remove,
    digits,
)


def damaged(rng: random.Random, content: bytes) -> bytes:
    """Return bytes that are damaged in one to three ways."""
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 2, 3))):
        if data:
            rng.choice(DAMAGES)(rng, data)
    return bytes(data)


# ---------------------------------------------------------------- JSON

VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 600_000_000, 10**30, 10**400, 1e300, -1e300, 1e-320, 0.5, float("nan")),
    *(
        float("inf"),
        "",
        "a",
        "nan",
        "\x1b[31m",
        "<script>alert(1)</script>",
        "x" * 5000,
        [],
        {},
        [[]],
        [None],
        [1, [2]],
    ),
    *({"a": 1}, {"value": 1e300}, {"float": "nan"}, {"float": "inf"}, {"float": "x"}, {"array": [], "kind": "f"}),
    *({"array": [1.0], "kind": "f"}, {"array": [[1.0, 2.0]], "kind": "i"}, {"array": [1, [2]], "kind": "f"}),
    *({"array": ["a"], "kind": "O"}, {"array": [1e400], "kind": "f"}, {"array": [1], "kind": "m"}, {"list": []}),
    *({"dict": {}}, {"piece": "Profiles", "fields": {}}, {"kind": "hamming", "fields": {}}, {"piece": "os.system"}),
    *("SASClustering", "PROCLUS", "IFPCA", "VarSelMixture", "SparseKMeans", "Profiles", "TuningCurve", "hamming"),
)


def places_in(value: Any) -> list[tuple[Any, Any]]:
    """Return every place of a nested value, as a container and a key."""
    found = []
    waiting = [value]
    while waiting:
        here = waiting.pop()
        keys = list(here) if isinstance(here, dict) else list(range(len(here))) if isinstance(here, list) else []
        for key in keys:
            found.append((here, key))
            waiting.append(here[key])
    return found


def change_json(rng: random.Random, value: Any) -> None:
    """Change one place of a nested value."""
    places = places_in(value)
    if not places:
        return
    # Places near the top decide more than the many numbers of arrays.
    if rng.random() < 0.6:
        places = [each for each in places if isinstance(each[0], dict)] or places
    here, key = rng.choice(places)
    way = rng.random()
    old = here[key]
    if way < 0.45:
        here[key] = copy.deepcopy(rng.choice(VALUES))
    elif way < 0.6:
        del here[key]
    elif way < 0.7 and isinstance(here, dict):
        here[rng.choice(("other", "", str(key).upper(), "__class__"))] = here.pop(key)
    elif isinstance(old, list) and old:
        here[key] = rng.choice((old[:-1], old + old[-1:], old[::-1], [old], old * 2, old[0], old[:1]))
    elif isinstance(old, bool) or not isinstance(old, int | float):
        other, place = rng.choice(places)
        here[key] = copy.deepcopy(other[place])
    else:
        here[key] = rng.choice((-old, old + 1, old - 1, old * 1e300, old * 1e-300, str(old), [old], old + 0.5))


def damaged_json(rng: random.Random, text: str) -> bytes:
    """Return JSON in which some places are changed, or now and then bytes that are no JSON any more."""
    if rng.random() < 0.2:
        return damaged(rng, text.encode())
    value = json.loads(text)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        change_json(rng, value)
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
