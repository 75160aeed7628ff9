"""Names of people, places and things, invented and never the same twice in one data set."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

_FIRST = ("Ba", "Bre", "Ca", "Cor", "Da", "Dri", "El", "Fa", "Fen", "Ga", "Gri", "Ha", "Hel", "Il", "Jo", "Ka", "Kel",
          "La", "Lin", "Ma", "Mir", "Na", "Nor", "Or", "Pa", "Pel", "Quin", "Ra", "Ros", "Sa", "Sil", "Ta", "Tor", "Ul",
          "Va", "Vel", "Wen", "Xan", "Yor", "Zan")  # fmt: skip
_MIDDLE = ("bo", "da", "dri", "fe", "gu", "ka", "lo", "mi", "nu", "pe", "ra", "ri", "se", "ti", "tu", "vo", "we", "xi",
           "zo", "lla", "nde", "rko", "sto", "ve")  # fmt: skip
_LAST = ("bel", "dan", "fin", "gar", "kas", "len", "mar", "nix", "pol", "rin", "sk", "tal", "ven", "wick", "yra", "zel",
         "dor", "lin", "mund", "quil")  # fmt: skip


class Names:
    """An endless supply; long ones once the short ones are used up."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._given: set[str] = set()

    def new(self) -> str:
        """Return a name that was not given before."""
        middles = 1
        while True:
            for _ in range(20):
                parts = [self._random.choice(_MIDDLE) for _ in range(middles)]
                name = "".join([self._random.choice(_FIRST), *parts, self._random.choice(_LAST)])
                if name not in self._given:
                    self._given.add(name)
                    return name
            middles += 1
