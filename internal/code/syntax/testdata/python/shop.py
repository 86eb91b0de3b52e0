"""A small shop."""
from __future__ import annotations

import os.path
import json as js
from .models import Item, Order as Purchase
from typing import *

LIMIT = 10
registry: dict[str, Item] = {}


# Adds one to another.
# It is quite simple.
def add(a, b: int = LIMIT, *rest, **named) -> int:
    """Return a and b together.

    Nothing else."""
    total = a + b

    def inner(x):
        return x + total

    return inner(total) + max(rest)


@decorator.wraps(add)
@cached
class Shop(Base, mixins.Loud):
    """Sells things."""

    owner: Owner | None = None

    def __init__(self, store: Optional[Store]) -> None:
        super().__init__()
        self.items = Items()
        self.store = store
        with open("x") as f, Lock() as lock:
            js.load(f)

    @property
    async def first(self) -> "Item":
        for item in self.items.all():
            if isinstance(item, Item):
                return item.copy().price(lambda q: q(item))
        try:
            os.path.join("a", str(add(1, 2)))
        except (KeyError, errors.Missing) as e:
            e.report()

    class Inner:
        pass


if __name__ == "__main__":
    shop = Shop(None)
    shop.first()
