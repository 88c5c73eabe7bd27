"""How a JSON file is laid out, found from its text, so that it can be written back byte for byte."""

import json
import re
from dataclasses import dataclass
from itertools import product
from typing import Any


@dataclass(frozen=True)
class SheetLayout:
    """Indent, escapes, separators, line ends and what is at the two ends of the file."""

    indent: str | None = "    "
    ascii: bool = False
    colon: str = ": "
    comma: str = ","
    newline: str = "\n"
    end: str = ""
    mark: bool = False
    """Whether the file begins with a byte order mark."""

    def write(self, data: Any) -> bytes:
        """Return the data as the bytes of a file."""
        text = json.dumps(
            data, indent=self.indent, ensure_ascii=self.ascii, separators=(self.comma, self.colon)
        )
        text = (text + self.end).replace("\n", self.newline)
        return ("\ufeff" if self.mark else "").encode() + text.encode("utf-8", "surrogatepass")


def find_layout(content: bytes, data: Any) -> SheetLayout | None:
    """Return the layout under which the data give exactly this content, None where there is none."""
    mark = content.startswith("\ufeff".encode())
    text = content.decode("utf-8-sig", "surrogatepass")
    newline = "\r\n" if "\r\n" in text else "\n"
    ends = re.search(r"\s*\Z", text)
    end = ends.group().replace("\r\n", "\n") if ends else ""
    first = re.match(r"[{[]\r?\n([ \t]+)", text)
    indent = first.group(1) if first else None
    # Without an indent a space may follow the comma; with one, only the line end does.
    commas = (",",) if indent is not None else (", ", ",")
    for escaped, comma, colon in product((False, True), commas, (": ", ":")):
        layout = SheetLayout(indent, escaped, colon, comma, newline, end, mark)
        if layout.write(data) == content:
            return layout
    return None
