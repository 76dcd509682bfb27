"""Dates written as text: the forms in which people write them, and codes of dates and durations as text again."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
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
MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
GROUPS = ("year", "month", "day", "time", "zone")
YEARS = ("YYYY", "YY")
# The form that NumPy reads, and time zones after it.
ISO = "YYYY-MM-DD"
PLAIN = re.compile(r"(?!0000)\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)?", re.ASCII)
ZONE_AT_END = re.compile(r"(?<=:\d\d|.\.\d|\d\d\d)(?:Z|[+-]\d\d(?::?\d\d)?)$", re.ASCII)
# The code of NaT.
NO_DATE = int(np.iinfo(np.int64).min)
# Two-digit years from this one on are of the last century, as in POSIX.
LAST_CENTURY = 69
# The number of values by which columns without dates are told, and the share of them that must be dates.
LOOKED_AT, LEAST = 50, 0.5
# One of the first values must have so many characters, and digits among them.
FIRST, SHORTEST, DIGIT = 10, 4, re.compile(r"\d", re.ASCII)
# The number of values that are not dates that are shown, and the share of them up to which they are.
SHOWN, FEW_ODD = 3, 0.1


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


def find_dates(values: Sequence[Any], forms: Sequence[str] = FORMS, *, are_sure: bool = False) -> Dates | None:
    """Look for dates in text; None if the first values are something else.

    Parameters
    ----------
    values : sequence of length n_samples
        Text, dates and times; everything else counts as missing.
    forms : sequence of str
        The forms in which dates may be written.
    are_sure : bool, default=False
        Whether there are dates, whatever the first values are.

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
    known = (text for text in map(as_text, values) if text is not None)
    some = list(itertools.islice(known, LOOKED_AT))
    if not are_sure and not any(len(text) >= SHORTEST and DIGIT.search(text) for text in some[:FIRST]):
        return None
    least = 0 if are_sure else LEAST * len(some)
    likely = [form for form in forms if some and (read_as(form, some) != NO_DATE).sum() >= least]
    if not likely:
        return None
    texts = [value if type(value) is str else as_text(value) for value in values]
    different = [text for text in dict.fromkeys(texts) if text is not None]
    read = {form: read_as(form, different) for form in likely}
    odd = {form: np.flatnonzero(codes == NO_DATE) for form, codes in read.items()}
    form = min(likely, key=lambda each: odd[each].size)
    alike = [each for each in likely if not odd[each].size and not odd[form].size]
    other = next((each for each in alike if (read[each] != read[form]).any()), None)
    codes: dict[str | None, int] = dict(zip(different, read[form].tolist(), strict=True))
    codes[None] = NO_DATE
    times = np.array([codes[text] for text in texts], np.int64).view("datetime64[us]")
    shown = tuple(different[place] for place in odd[form][:SHOWN].tolist())
    return Dates(times, form, other, shown, odd[form].size / len(different))


def as_text(value: Any) -> str | None:
    """A date or time as ISO text, text as it is, and None for everything else."""
    if isinstance(value, str):
        return str(value)
    if type(value).__name__ == "NaTType":
        return None
    return value.isoformat() if isinstance(value, date) else None


def read_as(form: str, texts: Sequence[str]) -> Any:
    """The microseconds since 1970 of texts in a form, of shape (n_texts,); NO_DATE for those that are not dates."""
    plain = plain_codes(texts) if form == ISO else None
    if plain is not None:
        return plain
    found = map(pattern_of(form).fullmatch, texts)
    return np.array([NO_DATE if each is None else moment(*each.group(*GROUPS)) for each in found], np.int64)


def plain_codes(texts: Sequence[str]) -> Any:
    """The same for texts that NumPy can read, in a fraction of the time; None if there are others."""
    zone = ZONE_AT_END.search(texts[0])
    end = zone[0] if zone else ""
    if end and not all(text.endswith(end) for text in texts):
        return None
    bare = [text.removesuffix(end) for text in texts] if end else texts
    if not all(map(PLAIN.fullmatch, bare)):
        return None
    try:
        return np.array(bare, "datetime64[us]").view(np.int64) - offset_of(end or None)
    except ValueError:
        return None


def moment(year: str, month: str, day: str, time: str | None, zone: str | None) -> int:
    """The microseconds since 1970 of a date, its time and its time zone; NO_DATE if there is no such date."""
    whole, part = days_of(year, month, day), 0 if time is None else microseconds_of(time)
    return NO_DATE if whole is None or part is None else whole * int(MICROSECONDS_A_DAY) + part - offset_of(zone)


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


@lru_cache(2**16)
def days_of(year: str, month: str, day: str) -> int | None:
    """The days from January 1, 1970 to a date; None if there is no such date."""
    if month and not month.isdigit():
        word = month.rstrip(".").lower()
        number = next((place for place, name in enumerate(MONTHS, 1) if name.startswith(word)), 0)
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
