"""The ways in which a stream of bytes may come: whatever reads one gets each case in all of them."""

import random
from collections.abc import Callable, Iterator

Cut = Callable[[bytes], Iterator[bytes]]


def random_pieces(data: bytes) -> Iterator[bytes]:
    dice = random.Random(data)  # noqa: S311 - cuts that are the same each time, no secret
    while data:
        piece = data[: dice.choice((1, 2, 5, 20, 60, 200, 5000))]
        yield piece
        data = data[len(piece) :]


WAYS: dict[str, Cut] = {
    "whole": lambda data: iter([data]),
    "byte by byte": lambda data: (data[at : at + 1] for at in range(len(data))),
    "in random pieces": random_pieces,
}
