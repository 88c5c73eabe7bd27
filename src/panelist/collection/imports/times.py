"""Times as batch files write them, as ISO 8601 in UTC."""

import re
from datetime import UTC, datetime, timedelta, timezone

# Mechanical Turk wrote the time of its own head office; others appear where a file was made elsewhere.
ZONES = {"PST": -8, "PDT": -7, "MST": -7, "MDT": -6, "CST": -6, "CDT": -5, "EST": -5, "EDT": -4}
ZONES |= {"UTC": 0, "GMT": 0}
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_BATCH = re.compile(r"\w{3} (\w{3}) +(\d{1,2}) (\d\d):(\d\d):(\d\d) (\w{3,4}) (\d{4})")


def read_time(text: str) -> str | None:
    """Return the time in UTC, or None where it cannot be read.

    Month names are looked up here rather than by the machine's language.

    >>> read_time("Mon May 22 07:28:24 PDT 2023")
    '2023-05-22T14:28:24Z'
    >>> read_time("2024-10-25T12:27:09.179000Z")
    '2024-10-25T12:27:09Z'
    >>> read_time("yesterday") is None
    True
    """
    found = _BATCH.fullmatch(text.strip())
    try:
        if found:
            month, day, hour, minute, second, zone, year = found.groups()
            if month not in MONTHS or zone not in ZONES:
                return None
            moment = datetime(
                int(year),
                MONTHS.index(month) + 1,
                int(day),
                int(hour),
                int(minute),
                int(second),
                tzinfo=timezone(timedelta(hours=ZONES[zone])),
            )
        else:
            moment = datetime.fromisoformat(text.strip())
            if moment.tzinfo is None:
                return None
    except ValueError:
        return None
    return moment.astimezone(UTC).replace(microsecond=0).isoformat().replace("+00:00", "Z")
