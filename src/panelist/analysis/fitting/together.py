"""The criteria of a large table, side by side in threads: compiled searches do not hold Python's lock."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from panelist.numerics.compile_ahead import count_cores

LARGE = 5_000  # ratings from which the searches take longer than everything done in Python
MOST_THREADS = 4

Task = TypeVar("Task")
Done = TypeVar("Done")


def do_each(do: Callable[[Task], Done], tasks: Sequence[Task], n_ratings: int) -> list[Done]:
    """Return the result of each task, in their order; tasks of a large table are done at the same time."""
    threads = min(len(tasks), count_cores(), MOST_THREADS)
    if n_ratings < LARGE or threads < 2:
        return [do(task) for task in tasks]
    with ThreadPoolExecutor(threads, thread_name_prefix="criterion") as pool:
        return list(pool.map(do, tasks))
