"""The sounds of the template ``speech``, synthesised: python -m docs.speech_sounds FOLDER.

A source of pulses and noise passes through three resonators, as in Klatt's cascade synthesiser (1980,
https://doi.org/10.1121/1.383940). The resonances of vowels are those of Peterson and Barney's men (1952,
https://doi.org/10.1121/1.1906875), those of m, n, l, r, w and y are near Klatt's. Words of such sounds alone
need no recording. Nobody's voice is in it, and no speech was copied.
"""

import sys
import wave
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

RATE = 8000
Samples = NDArray[np.float64]
# Three resonances in Hz, seconds, loudness.
SOUNDS: dict[str, tuple[float, float, float, float, float]] = {
    "i": (270, 2290, 3010, 0.12, 1.0),
    "I": (390, 1990, 2550, 0.09, 1.0),
    "E": (530, 1840, 2480, 0.10, 1.0),
    "A": (730, 1090, 2440, 0.12, 1.0),
    "O": (570, 840, 2410, 0.13, 1.0),
    "U": (440, 1020, 2240, 0.09, 1.0),
    "u": (300, 870, 2240, 0.13, 1.0),
    "V": (640, 1190, 2390, 0.09, 1.0),
    "3": (490, 1350, 1690, 0.13, 1.0),
    "w": (290, 610, 2150, 0.07, 0.6),
    "y": (260, 2070, 3020, 0.07, 0.6),
    "r": (310, 1060, 1380, 0.08, 0.6),
    "l": (310, 1050, 2880, 0.08, 0.6),
    "m": (250, 1270, 2130, 0.08, 0.35),
    "n": (250, 1500, 2470, 0.08, 0.35),
}
WIDTHS = (60.0, 90.0, 150.0)
SENTENCES = {
    "rain": "mOrrEInInmEI",
    "moon": "wVnnumun",
    "rhyme": "wil3nVrAIm",
    "lemons": "AIOUnVlEmVn",
    "win": "yuwIlOlwIn",
    "arrow": "mAIyElOUArOU",
    "melon": "mEni3nVmElVn",
}


def speak(sounds: str, *, pitch: float = 115.0, melody: float = 0.25, noise: float = 0.02) -> Samples:
    """Return a sentence as samples between -1 and 1."""
    rng = np.random.default_rng(1)
    lengths = [round(SOUNDS[sound][3] * RATE) for sound in sounds]
    tracks = [np.repeat([SOUNDS[sound][n] for sound in sounds], lengths) for n in (0, 1, 2, 4)]
    smooth = np.hanning(round(0.06 * RATE))
    one, two, three, loud = (_blur(track, smooth / smooth.sum()) for track in tracks)
    time = np.arange(len(loud)) / len(loud)
    tone = pitch * (1 + melody * (0.6 * np.sin(2.5 * np.pi * time) - time))
    phase = np.cumsum(tone / RATE)
    pulses = np.diff(np.floor(phase), prepend=0.0)
    source = _low(_low(pulses, 0.9), 0.7) + noise * rng.normal(size=len(loud))
    for centre, width in zip((one, two, three), WIDTHS, strict=True):
        source = _resonate(source, centre, width)
    fade = np.minimum(1.0, np.minimum(time, 1 - time) * 20)
    voice = source * loud * fade
    return np.asarray(voice / np.abs(voice).max() * 0.8)


def _blur(track: Samples, kernel: Samples) -> Samples:
    wide = np.pad(track, len(kernel), mode="edge")
    return np.convolve(wide, kernel, mode="same")[len(kernel) : -len(kernel)]


def _low(samples: Samples, keep: float) -> Samples:
    out, last = np.empty_like(samples), 0.0
    for n, value in enumerate(samples.tolist()):
        last = value + keep * last
        out[n] = last
    return np.asarray(out - out.mean())


def _resonate(samples: Samples, centre: Samples, width: float) -> Samples:
    """Return the samples through a resonator whose frequency moves."""
    radius = np.exp(-np.pi * width / RATE)
    first = 2 * radius * np.cos(2 * np.pi * centre / RATE)
    gain = 1 - first + radius**2
    out, last, before = np.empty_like(samples), 0.0, 0.0
    for n, (value, b, a) in enumerate(zip(samples.tolist(), first.tolist(), gain.tolist(), strict=True)):
        last, before = a * value + b * last - radius**2 * before, last
        out[n] = last
    return out


def _muffle(samples: Samples) -> Samples:
    return np.convolve(samples, np.ones(9) / 9, mode="same")


def make_sounds() -> dict[str, Samples]:
    """Return the sounds of the template by file name: each sentence in three voices, and a word."""
    made: dict[str, Samples] = {}
    for name, sounds in SENTENCES.items():
        made[f"{name}-1"] = speak(sounds)
        made[f"{name}-2"] = speak(sounds, melody=0.0, noise=0.1)
        made[f"{name}-3"] = _muffle(speak(sounds, pitch=85.0, melody=0.0, noise=0.6))
    made["check"] = speak("lEmVn", pitch=120.0)
    del made["melon-2"]  # the example and the practice need two
    return {f"{name}.wav": samples for name, samples in made.items()}


def write_sound(path: Path, samples: Samples) -> None:
    """Write samples as eight bits, one channel: small, and played everywhere."""
    level = np.clip(np.rint(samples / max(1e-9, np.abs(samples).max()) * 0.8 * 127 + 128), 0, 255)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(1)
        file.setframerate(RATE)
        file.writeframes(level.astype(np.uint8).tobytes())


def main(folder: str) -> None:
    """Write all sounds into a folder."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    for name, samples in make_sounds().items():
        write_sound(Path(folder) / name, samples)


if __name__ == "__main__":
    main(*sys.argv[1:])
