#!/usr/bin/env python3
"""Tool."""
import os
from sys import (
    argv,
)

LIMIT = 10
_cache = {}


# A registry.
@decorator(
    "x",
)
@other
class Registry(Base):
    """Keeps things. And more."""

    def __init__(self, a,
                 b=None):
        """Make one."""
        self.a = a

    @property
    def size(self): return 1

    async def load(self):
        def inner():
            pass
        return """
def not_me():
    pass
"""

    class Meta:
        ordering = 1

        def deep(self):
            pass

    total = 3


def main() -> None:
    '''
    Run it all.

    :param x: no
    '''
    for x in y:
        if x:
            print(x)
    # trailing comment


if __name__ == "__main__":
    main()
