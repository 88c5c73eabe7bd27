"""Which kind of device a rater uses, as far as the request says."""

import re

from panelist.study.sections.collecting import Device

_TABLET = re.compile(r"iPad|Tablet|Kindle|Silk/|PlayBook|Nexus (?:7|9|10)\b|SM-T\d", re.IGNORECASE)
_PHONE = re.compile(r"iPhone|iPod|Windows Phone|BlackBerry|Opera Mini|Mobi", re.IGNORECASE)


def find_device(agent: str, mobile_hint: str = "") -> Device:
    """Return the kind of device by what its browser reports (User-Agent, Sec-CH-UA-Mobile).

    Tablets of some makers report themselves as computers, and cannot be recognised.

    >>> find_device("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Mobile/15E148")
    'mobile'
    >>> find_device("Mozilla/5.0 (Linux; Android 14; Pixel Tablet) Chrome/130")
    'tablet'
    >>> find_device("Mozilla/5.0 (X11; Linux x86_64) Firefox/132.0")
    'desktop'
    """
    if _TABLET.search(agent) or ("Android" in agent and "Mobile" not in agent and mobile_hint != "?1"):
        return "tablet"
    if mobile_hint == "?1" or _PHONE.search(agent):
        return "mobile"
    return "desktop"
