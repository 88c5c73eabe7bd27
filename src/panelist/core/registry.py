"""A registry: the one list of things of a kind, filled by the modules that define them."""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from panelist.core.errors import UnknownName, did_you_mean

T = TypeVar("T")


class Registry(Generic[T]):
    """Things of one kind by name; an unknown name is answered with the nearest known ones.

    >>> links = Registry[str]("link")
    >>> _ = links.register("probit")("the normal quantile")
    >>> links["probit"], list(links)
    ('the normal quantile', ['probit'])
    >>> links["probti"]  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    panelist.core.errors.UnknownName: No link is called 'probti'. Did you mean 'probit'?
    More: ...errors.md#unknown-name

    ``home`` is the folder whose files fill it, where that is in a higher layer than its readers; it is
    imported when something is first looked up.
    """

    def __init__(self, kind: str, home: str = "") -> None:
        self.kind = kind
        self._home = home
        self._filed: dict[str, T] = {}

    @property
    def _things(self) -> dict[str, T]:
        if self._home:
            importlib.import_module(self._home)  # at once where it has been
        return self._filed

    def register(self, name: str) -> Callable[[T], T]:
        """Return the decorator that registers a thing under ``name`` and returns it unchanged."""

        def file(thing: T) -> T:
            if name in self._filed:
                raise ValueError(f"Two things are registered as {self.kind} {name!r}; rename one of them.")
            self._filed[name] = thing
            return thing

        return file

    def __getitem__(self, name: str) -> T:
        if name not in self._things:
            raise UnknownName(f"No {self.kind} is called {name!r}. {did_you_mean(str(name), self)}")
        return self._things[name]

    def __contains__(self, name: object) -> bool:
        return name in self._things

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._things))

    def __len__(self) -> int:
        return len(self._things)

    def items(self) -> list[tuple[str, T]]:
        """Return the pairs of name and thing, sorted by name."""
        return [(name, self._things[name]) for name in self]


def import_siblings(package: str, path: list[str]) -> None:
    """Import every module of a folder so that each can register itself; called once, in its ``__init__``."""
    for module in pkgutil.iter_modules(path):
        importlib.import_module(f"{package}.{module.name}")
