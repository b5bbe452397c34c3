# SPDX-License-Identifier: Apache-2.0
"""A JSON value that knows where it lies, so that each complaint names the file and the key."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

_KINDS: dict[str, tuple[type, ...]] = {
    "an object": (dict,),
    "a list": (list,),
    "a string": (str,),
    "true or false": (bool,),
    "a whole number": (int,),
    "a number": (int, float),
    "a string, a number, true, false or null": (str, int, float, bool, type(None)),
}


class InputError(Exception):
    """Bad input; the message is one sentence for the person who gave it."""


@dataclass(frozen=True)
class Node:
    """One value of a JSON document."""

    value: Any
    file: Path
    where: str = ""

    def fail(self, expected: str) -> NoReturn:
        """Raise: this value is not what was `expected`."""
        shown = repr(self.value)
        shown = shown if len(shown) <= 40 else f"{type(self.value).__name__} of another shape"
        raise InputError(
            f"{self.file}: '{self.where or 'top level'}' must be {expected}, but is {shown}."
        )

    def _as(self, kind: str) -> Any:
        good = isinstance(self.value, _KINDS[kind])
        if isinstance(self.value, bool) and bool not in _KINDS[kind]:
            good = False
        return self.value if good else self.fail(kind)

    def has(self, key: str) -> bool:
        """Whether this object has `key`, with a value other than null."""
        return self._as("an object").get(key) is not None

    def __getitem__(self, key: str) -> Node:
        """Return a member that must be there."""
        where = f"{self.where}.{key}" if self.where else key
        if key not in self._as("an object"):
            raise InputError(
                f"{self.file}: key '{where}' is missing; a kvroof result file must have it."
            )
        return Node(self.value[key], self.file, where)

    def items(self) -> Iterator[tuple[str, Node]]:
        """Iterate over the members of an object."""
        for key in self._as("an object"):
            yield key, self[key]

    def elements(self) -> list[Node]:
        """Return the elements of a list."""
        return [
            Node(element, self.file, f"{self.where}[{i}]")
            for i, element in enumerate(self._as("a list"))
        ]

    def object(self) -> dict[str, Any]:
        """Return an object as it is."""
        return self._as("an object")

    def text(self) -> str:
        """Return a string."""
        return self._as("a string")

    def flag(self) -> bool:
        """Return a boolean."""
        return self._as("true or false")

    def whole(self) -> int:
        """Return an integer."""
        return self._as("a whole number")

    def scalar(self) -> Any:
        """Return anything but a list or an object."""
        return self._as("a string, a number, true, false or null")

    def number(self) -> float:
        """Return a finite number."""
        try:
            number = float(self._as("a number"))
        except OverflowError:
            number = math.inf
        return number if math.isfinite(number) else self.fail("a finite number")

    def positive(self) -> float:
        """Return a finite number above zero."""
        number = self.number()
        return number if number > 0 else self.fail("a number above zero")

    def one_of(self, choices: tuple[str, ...]) -> str:
        """Return a string that is one of `choices`."""
        text = self.text()
        return text if text in choices else self.fail("one of " + ", ".join(choices))
