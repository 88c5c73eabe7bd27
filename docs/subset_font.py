"""Make the font of formulas: a subset of STIX Two Math, as WOFF2, from the whole font.

    python -m docs.subset_font WHOLE.woff2 src/panelist/web/static/stix-two-math.woff2

Needs fonttools and brotli. STIX Two Math is under the SIL Open Font License 1.1 (stix-two-math-license.txt,
beside the font); the npm package @fontsource/stix-two-math holds it whole. Kept are the letters, signs and
stretched forms that formulas of LaTeX use; the MATH table stays.
"""

import sys

from fontTools import subset

RANGES = (
    (0x20, 0x7E),
    (0xA0, 0x17F),  # Latin
    (0x2B0, 0x2FF),  # modifiers: accents
    (0x300, 0x338),  # combining accents
    (0x370, 0x3FF),  # Greek
    (0x2000, 0x206F),  # spaces, dashes, primes
    (0x20D0, 0x20F0),  # combining arrows
    (0x2100, 0x214F),  # letterlike
    (0x2190, 0x21FF),  # arrows
    (0x2200, 0x22FF),  # operators
    (0x2300, 0x23FF),  # brackets in pieces, braces over and under
    (0x25A0, 0x25FF),
    (0x2660, 0x2667),
    (0x27C0, 0x27FF),
    (0x2900, 0x297F),
    (0x2980, 0x29FF),
    (0x2A00, 0x2AFF),
    (0x1D400, 0x1D7FF),  # mathematical letters: bold, script, double-struck
)


def make_subset(whole: str, made: str) -> None:
    """Write the subset of a font."""
    options = subset.Options(flavor="woff2", layout_features=["*"], notdef_outline=True, hinting=False)
    font = subset.load_font(whole, options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=[point for first, last in RANGES for point in range(first, last + 1)])
    subsetter.subset(font)
    subset.save_font(font, made, options)


if __name__ == "__main__":
    make_subset(*sys.argv[1:])
