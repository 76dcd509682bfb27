"""Dates written as text: the forms in which people write them, and codes of dates and durations as text again."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cache, lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from .._utils.arrays import Floats

# What the numbers of a column stand for: numbers, days since 1970 (without or with a time of day), or numbers of days.
Meaning = Literal["numbers", "dates", "times", "durations"]
OF_DATES: tuple[Meaning, ...] = ("dates", "times")
MICROSECONDS_A_DAY = 86_400e6

# The forms in which dates are looked for, each with or without a time of day. Forms with two-digit years, and those
# that other values have as well, are only used where they are asked for.
FORMS = (
    "YYYY-MM-DD",
    "YYYY/MM/DD",
    "YYYY.MM.DD",
    "DD.MM.YYYY",
    "DD/MM/YYYY",
    "MM/DD/YYYY",
    "DD-MM-YYYY",
    "MM-DD-YYYY",
    "DD-MON-YYYY",
    "DD MON YYYY",
    "MON DD, YYYY",
)
ASKED_FORMS = ("YYYYMMDD", "YYYY-MM")
# Parts of a form, and the text that they stand for.
PARTS = {
    "YYYY": r"(?P<year>\d{4})",
    "YY": r"(?P<year>\d\d)",
    "MON": r"(?P<month>[A-Za-z]{3,9}\.?)",
    "MM": r"(?P<month>\d{1,2})",
    "DD": r"(?P<day>\d{1,2})",
    " ": " +",
    ",": ",?",
}
PART = re.compile("|".join(PARTS))
TIME = (
    r"(?:(?:T| +|, *)(?P<time>\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?: *[AaPp]\.?[Mm]\.?)?)"
    r" *(?P<zone>Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?)?"
)
MONTHS = ("january february march april may june july august september october november december").split()
# Two-digit years from this one on are of the last century, as in POSIX.
LAST_CENTURY = 69
# The number of values by which columns without dates are told, and the share of them that must be dates. Of a column
# in which at most so many values are not dates, these are shown.
LOOKED_AT, LEAST, FEW_ODD = 50, 0.5, 0.1
# The number of values that are not dates that are shown.
SHOWN = 3


class Dates(NamedTuple):
    """What was found in a column of text.

    Attributes
    ----------
    times : ndarray of shape (n_samples,), dtype=datetime64[us]
        The dates, in UTC if they have a time zone; NaT for missing values, and for what is not a date.
    form : str
        The form in which they are written, such as "DD/MM/YYYY".
    other : str or None
        Another form that fits all values as well, and gives other dates.
    odd : tuple of str
        The first values that are not dates.
    share_odd : float
        The share of the different values that are not dates.
    """

    times: Any
    form: str
    other: str | None = None
    odd: tuple[str, ...] = ()
    share_odd: float = 0.0


def find_dates(values: Sequence[Any], forms: Sequence[str] = FORMS) -> Dates | None:
    """Look for dates in text; None if the first values are something else.

    Parameters
    ----------
    values : sequence of length n_samples
        Text, dates and times; everything else counts as missing.
    forms : sequence of str
        The forms in which dates may be written.

    Returns
    -------
    Dates or None
        The dates in the form that fits most values.

    Examples
    --------
    >>> found = find_dates(["31.12.2024", None, "1.2.2024 14:30"])
    >>> found.form, found.times.astype("datetime64[m]").tolist()[2]
    ('DD.MM.YYYY', datetime.datetime(2024, 2, 1, 14, 30))
    >>> find_dates(["05/06/2024", "07/08/2024"]).other
    'MM/DD/YYYY'
    >>> find_dates(["red", "blue"]) is None
    True
    """
    texts = [value if type(value) is str else as_text(value) for value in values]
    different = list(dict.fromkeys(texts))
    known = [text for text in different if text is not None]
    some = known[:LOOKED_AT]
    likely = [form for form in forms if some and sum(map(bool, read_as(form, some))) >= LEAST * len(some)]
    found = []
    for form in likely:
        read = dict(zip(known, read_as(form, known), strict=True))
        odd = [text for text, each in read.items() if each is None]
        found.append((len(odd), form, read, odd))
    if not found:
        return None
    count, form, read, odd = min(found, key=lambda each: each[0])
    other = next((name for n, name, own, _ in found if not n and not count and own != read), None)
    missing = np.iinfo(np.int64).min
    codes = {text: missing if each is None else each[0] for text, each in read.items()}
    codes_or_missing: dict[str | None, int] = {**codes, None: missing}
    times = np.array([codes_or_missing[text] for text in texts], np.int64).view("datetime64[us]")
    return Dates(times, form, other, tuple(odd[:SHOWN]), count / len(known))


def as_text(value: Any) -> str | None:
    """A date or time as ISO text, text as it is, and None for everything else."""
    if isinstance(value, str):
        return str(value)
    if type(value).__name__ == "NaTType":
        return None
    return value.isoformat() if isinstance(value, date) else None


def read_as(form: str, texts: Iterable[str]) -> list[tuple[int] | None]:
    """The microseconds since 1970 of texts in a form, each in a tuple; None for those that are not dates."""
    match = pattern_of(form).fullmatch
    return [None if found is None else moment(*found.group(*GROUPS)) for found in map(match, texts)]


GROUPS = ("year", "month", "day", "time", "zone")


def moment(year: str, month: str, day: str, time: str | None, zone: str | None) -> tuple[int] | None:
    """The microseconds since 1970 of a date, its time and its time zone; None if there is no such date."""
    whole = days_of(year, month, day)
    if whole is None or time is None:
        return None if whole is None else (whole * int(MICROSECONDS_A_DAY),)
    part = microseconds_of(time)
    return None if part is None else (whole * int(MICROSECONDS_A_DAY) + part - offset_of(zone),)


@cache
def pattern_of(form: str) -> re.Pattern[str]:
    """The pattern of dates in a form; raises ValueError for what is not one."""
    plain, parts = form.upper(), PARTS
    if not re.search(r"[^A-Z]", plain):
        # Without signs between them, parts have a fixed length.
        parts = parts | {"MM": r"(?P<month>\d\d)", "DD": r"(?P<day>\d\d)"}
    left = PART.sub("", plain)
    found = PART.findall(plain)
    named = [each.strip() for each in found]
    days, months, years = (sum(named.count(word) for word in words) for words in (("DD",), ("MM", "MON"), YEARS))
    if re.search("[^-/.]", left) or years != 1 or months > 1 or days > months:
        raise ValueError(f"a date has a form such as DD/MM/YYYY, MM/DD/YYYY, YYYYMMDD or DD MON YYYY; got {form!r}")
    day = PART.sub(lambda part: parts[part[0]], plain.replace(".", r"\."))
    # Parts that a form lacks are the first month and the first day.
    lacking = "".join(f"(?P<{name}>)" for name in ("month", "day") if f"<{name}>" not in day)
    return re.compile(day + TIME + lacking, re.ASCII)


YEARS = ("YYYY", "YY")


@lru_cache(2**16)
def days_of(year: str, month: str, day: str) -> int | None:
    """The days from January 1, 1970 to a date; None if there is no such date."""
    if month and not month.isdigit():
        word = month.rstrip(".").lower()
        number = next((place for place, name in enumerate(MONTHS, 1) if name.startswith(word) or word == "sept"), 0)
        number = 9 if word == "sept" else number
    else:
        number = int(month or 1)
    century = 0 if len(year) == 4 else 1900 if int(year) >= LAST_CENTURY else 2000
    try:
        return (date(century + int(year), number, int(day or 1)) - date(1970, 1, 1)).days
    except ValueError:
        return None


@lru_cache(2**16)
def microseconds_of(time: str) -> int | None:
    """The microseconds from midnight to a time of day; None if there is no such time."""
    letters = time.upper().replace(".M", "M").replace("M.", "M")
    half = letters[-2:] if letters.endswith(("AM", "PM")) else ""
    clock, _, fraction = letters.removesuffix(half).strip().replace(",", ".").partition(".")
    hour, minute, second = (*map(int, clock.split(":")), 0)[:3]
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (half == "PM")
    if hour > 23 or minute > 59 or second > 59:
        return None
    return ((hour * 60 + minute) * 60 + second) * 1_000_000 + int((fraction + "000000")[:6])


@cache
def offset_of(zone: str | None) -> int:
    """The microseconds by which the clocks of a time zone are ahead of UTC."""
    if zone is None or zone[0] not in "+-":
        return 0
    digits = zone[1:].replace(":", "")
    minutes = int(digits[:2]) * 60 + int(digits[2:] or 0)
    return (-1 if zone[0] == "-" else 1) * minutes * 60_000_000


# ---------------------------------------------------------------- codes


def days_in(times: Any) -> Floats:
    """Days since January 1, 1970 of an array of datetime64[us]; NaN for NaT."""
    numbers = np.where(np.isnat(times), np.nan, times.view(np.int64).astype(np.float64))
    return np.asarray(numbers / MICROSECONDS_A_DAY)


def meaning_of_days(days: Floats) -> Meaning:
    """Whether days since 1970 are dates, or times of day matter."""
    known = days[~np.isnan(days)]
    return "dates" if (known == np.rint(known)).all() else "times"


def shown_code(code: float, meaning: Meaning) -> str:
    """A number of a column as text: dates as in ISO 8601, durations in days and hours, other numbers in four digits.

    Parameters
    ----------
    code : float
        The number; NaN for a missing value.
    meaning : {"numbers", "dates", "times", "durations"}
        What the numbers of the column stand for.

    Returns
    -------
    str
        The text; empty for a missing value.

    Examples
    --------
    >>> [shown_code(-7235.33, "dates"), shown_code(0.25, "times"), shown_code(1.5, "durations")]
    ['1950-03-12', '1970-01-01 06:00', '1 day 12:00']
    """
    if code != code:
        return ""
    if meaning == "durations":
        return shown_duration(code)
    if meaning == "numbers":
        return f"{code:.4g}"
    try:
        # A mean of dates is rounded to a day.
        exact = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=round(code) if meaning == "dates" else code)
    except OverflowError:
        return f"{code:.4g} days since 1970"
    exact += timedelta(milliseconds=500)
    clock = "" if meaning == "dates" else f" {exact:%H:%M}" + (f":{exact:%S}" if exact.second else "")
    return f"{exact.date().isoformat()}{clock}"


def shown_duration(days: float) -> str:
    """A number of days as text."""
    if abs(days) > 1e6:
        return f"{days:.4g} days"
    seconds = round(abs(days) * 86_400)
    whole, rest = divmod(seconds, 86_400)
    clock = f"{rest // 3600:02d}:{rest // 60 % 60:02d}" + (f":{rest % 60:02d}" if rest % 60 else "")
    words = [f"{whole} {'day' if whole == 1 else 'days'}"] * bool(whole or not rest) + [clock] * bool(rest)
    return "-" * (days < 0 and seconds > 0) + " ".join(words)
