"""Scores and results that others printed, with their sources.

- QRA: Belz, Popović & Mille (2022), Quantified reproducibility assessment of NLP results, ACL, and its
  script.
- QRA3: output of the QRA3 tool in the SamsungLabs repository for ReproNLP 2026 (Yao et al. 2022 repeated).
- ARVAN: Arvan & Parde (2025), ReproHum 0744-02. LUX: Hürlimann & Cieliebak (2023), repeating Lux & Vu (2022).
- FLORESCU: Florescu et al. (2024), ratings from 1 to 5 that were not shifted.
- MILTENBURG: van Miltenburg et al. (2023), ranks on the slides. LI: Li et al. (2023), tables 3 to 5.
"""

from collections.abc import Sequence
from typing import NamedTuple


class Cv(NamedTuple):
    """Scores, where their scale was said to begin, and CV* as printed or computed, with its tolerance."""

    source: str
    scores: tuple[float, ...]
    start: float
    value: float
    within: float


class Plausible(NamedTuple):
    """Percent plausible in the original and again, CV* of each system and their mean, and the rest."""

    original: tuple[float, ...]
    again: tuple[float, ...]
    each: tuple[float, ...]
    mean: float
    pearson: float
    spearman: float
    rmse: float
    upheld: int


def _each(
    source: str, pairs: Sequence[tuple[float, ...]], start: float, values: Sequence[float], within: float
) -> list[Cv]:
    return [Cv(source, pair, start, value, within) for pair, value in zip(pairs, values, strict=True)]


BLEU = (84.51, 84.50, 87.46, 85.60, 84.20, 86.61, 86.20)
LUX = [(31, 12), (25, 50), (43, 38), (11, 29), (52, 29), (37, 41)]
LUX_SWAPPED = [(31, 29), (25, 29), (43, 41), (11, 12), (52, 50), (37, 38)]
FLORESCU = [(4.71, 4.52), (4.08, 4.17), (4.95, 4.71)]
HURLIMANN = [(4.18182, 4.95, 4.71, 4.38), (3.59583, 4.71, 4.52, 3.85), (3.25, 4.08, 4.17, 3.14)]

CV_2022 = [
    Cv("QRA table 4, NTS_def BLEU", BLEU, 0, 1.5616560, 1e-6),
    Cv("QRA table 4, NTS_def SARI", (30.65, 30.65, 29.13, 30.65, 29.96), 0, 2.487236, 1e-6),
    Cv("QRA table 4, NTS-w2v_def BLEU", (87.50, 80.75, 89.36, 88.10, 89.64, 88.80), 0, 4.176231, 1e-6),
    Cv("QRA table 4, NTS-w2v_def SARI", (31.11, 30.28, 31.11, 29.12), 0, 3.572137, 1e-6),
    Cv("QRA subset", (84.51, 84.50, 85.60, 84.20), 0, 0.838, 5e-4),
    Cv("QRA subset", (87.50, 89.36, 88.10), 0, 1.314, 5e-4),
    Cv("QRA subset", (84.51, 87.46, 86.61), 0, 2.154, 5e-4),
    Cv("QRA subset", (30.65, 29.13, 29.96), 0, 3.110, 5e-4),
    Cv("QRA subset", (87.50, 80.75, 89.64), 0, 6.598, 5e-4),
    Cv("QRA subset", (31.11, 30.28, 29.12), 0, 4.050, 5e-4),
    Cv("QRA table 6, wF1", (0.428, 0.493, 0.426, 0.574, 0.579, 0.590, 0.574, 0.600), 0, 14.633, 5e-4),
    *_each("ARVAN best-worst", [(58, 57), (-6, 1.444444), (-12, -13.444444), (-39, -45)], -100,
           [0.633019, 7.595151, 1.650041, 10.313848], 1e-6),
    *_each("LUX percentages", LUX, 0,
           [88.107444, 66.467019, 12.308707, 89.730476, 56.620054, 10.225695], 1e-6),
    *_each("LUX swapped", LUX_SWAPPED, 0,
           [6.646702, 14.770449, 4.747644, 8.669611, 3.909825, 2.658681], 1e-6),
    *_each("FLORESCU as printed", FLORESCU, 0, [4.104681, 2.175284, 4.954064], 1e-6),
    *_each("FLORESCU shifted", FLORESCU, 1, [5.240138, 2.871375, 6.247553], 1e-6),
    *_each("Hürlimann 2026 as printed", HURLIMANN, 0, [8.6461, 14.6913, 17.0170], 5e-5),
    *_each("Hürlimann 2026 shifted", HURLIMANN, 1, [11.0779, 19.3273, 23.4143], 5e-5),
    *_each("items", [(5, 3.5), (5, 4), (2.5, 2), (5, 2)], 0,
           [35.188422, 22.155673, 22.155673, 85.457596], 1e-6),
    *_each("MoJa-Ardestani 2026", [(0.887, 0.81), (0.727, 0.81), (0.36, 0.694)], 0,
           [9.047661, 10.767917, 63.187812], 1e-6),
    Cv("PASS fluency", (5.36, 6.14), 1, 16.3719, 5e-5),
    Cv("PASS clarity", (5.64, 6.2975), 1, 13.1931, 5e-5),
    Cv("PASS clarity, rounded", (5.64, 6.30), 1, 13.240, 5e-4),
    Cv("PASS stance", (91, 96.75), 0, 6.1068, 5e-5),
    Cv("Reif et al., augmented zero-shot", (86.47, 64.99, 67.31), 0, 19.762, 5e-4),
]  # fmt: skip

# O, R1, R3 of each system, then CV* by QRA3 and by the formula of 2022; the scale begins at 1.
QRA3 = {
    "Answer Relevancy": {
        "GT": ((4.83402489626556, 4.460580912863071, 4.566115702479339), 6.000443729566608, 6.5005),
        "PAQ": ((3.904166666666667, 3.2, 3.783333333333333), 16.160581280294085, 17.5073),
        "QAG": ((3.98744769874477, 3.2, 3.691666666666667), 17.089297228583984, 18.5134),
    },
    "Question Relevancy": {
        "GT": ((4.921161825726141, 4.70954356846473, 4.640495867768595), 4.392210665432727, 4.7582),
        "PAQ": ((4.175, 3.608333333333333, 3.6375), 12.826829575909585, 13.8957),
        "QAG": ((4.389121338912134, 3.825, 3.9541666666666666), 10.912406828331426, 11.8218),
    },
    "Readability": {
        "GT": ((4.946280991735537, 4.7053941908713695, 4.049586776859504), 14.679983784418079, 15.9033),
        "PAQ": ((4.079166666666667, 4.170833333333333, 3.5625), 12.5986, 13.6485),
        "QAG": ((4.711297071129708, 4.520833333333333, 3.883333333333333), 14.5114, 15.7207),
    },
}
QRA3_MEANS = {
    "Answer Relevancy": 13.083440746148227,
    "Question Relevancy": 9.37714902322458,
    "Readability": 13.929987318968076,
}
QRA3_STUDY = 12.130192362780294
R2 = {"GT": 4.384297520661157, "PAQ": 3.1375, "QAG": 3.8451882845188283}  # readability only
WITH_R2 = {"GT": 12.0142, "PAQ": 19.0859, "QAG": 14.7808}

# r, mean ρ, W, p of W, orders upheld of 9
QRA3_TYPE_II = {
    "Answer Relevancy": (0.992206479512285, 0.7440169358562926, 0.75, 0.10539922456186433, 6),
    "Question Relevancy": (0.995620546282277, 1.0, 1.0, 0.04978706836786395, 9),
    "Readability": (0.9978895738932326, 1.0, 1.0, 0.04978706836786395, 9),
}

# Ranks of Gold, Template, Ed+CC, Hier, Macro in the original and again, and Spearman's ρ
MILTENBURG = {
    "grammaticality": ((1, 5, 3, 2, 3), (2, 1, 5, 4, 3), -0.2052),
    "coherence": ((1, 5, 4, 3, 2), (3, 1, 5, 4, 2), -0.1),
    "repetition": ((1, 5, 4, 3, 2), (2, 1, 5, 4, 2), -0.0513),
}

# GPT2-XL, +Context, +Literal, Human
LI = {
    "idiom": Plausible(
        (56, 68, 48, 80), (76, 92, 68, 68), (30.21, 29.91, 34.38, 16.17), 27.67, 0.1347, 0.1054, 19.494, 3
    ),
    "simile": Plausible(
        (60, 68, 76, 88), (68, 72, 80, 68), (12.46, 5.70, 5.11, 25.56), 12.21, 0.0789, 0.1054, 11.136, 3
    ),
    "simile, recalculated": Plausible(
        (60, 68, 60, 88), (68, 72, 80, 68), (12.46, 5.70, 28.49, 25.56), 18.05, -0.4994, -0.3889, 14.832, 1
    ),
}
LI_DIFFERENT = {
    "idiom": (9, 10, 13, 8, 11, 7),
    "simile": (10, 7, 9, 10, 12, 5, 3, 12),
}  # of 25 in each column
LI_RATES = {"idiom": 38.667, "simile": 34.0}
