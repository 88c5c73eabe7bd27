"""Stars: one to ten of them, drawn by a widget of its own."""

from typing import Any, ClassVar, Literal

from pydantic import Field

from panelist.scales.base import Option, scale
from panelist.scales.points import PointScale


@scale("stars")
class Stars(PointScale):
    """A row of stars; the value is their number."""

    title: ClassVar[str] = "Star rating"
    widget: ClassVar[str] = "stars"
    markup: ClassVar[str] = """
{% macro controls(asked, forced) %}
<div class="choices across">
{% for choice in asked.question.choices %}
<label class="choice"><input type="radio" name="{{ asked.name }}" value="{{ choice.value }}"
{% if loop.first %} id="{{ asked.name }}-1"{% endif %}
{% if choice.key %} data-key="{{ choice.key }}"{% endif %}
{% if forced %} required{% endif %}{% if choice.value == asked.value %} checked{% endif %}>
<span class="stars" role="img" aria-label="{{ choice.number }}">{{ "★" * choice.number|int }}</span></label>
{% endfor %}
</div>
{% endmacro %}
"""
    advice: ClassVar[str] = "Where raters know stars from reviews."
    example: ClassVar[dict[str, Any]] = {"type": "stars", "stars": 5}

    type: Literal["stars"] = "stars"
    stars: int = Field(default=5, ge=2, le=10)
    """How many stars there are."""

    def labels_by_value(self) -> tuple[str, ...]:
        """Return no words: the stars speak for themselves."""
        return ("",) * self.stars

    def options(self) -> tuple[Option, ...]:
        """Return the numbers of stars."""
        return tuple(Option(str(value), "", value) for value in range(1, self.stars + 1))

    def describe(self) -> str:
        """Return how many there are."""
        return f"{self.title} of {self.stars} stars, recorded as their number."
