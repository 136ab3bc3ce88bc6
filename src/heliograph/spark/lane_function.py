"""`A->B.function = module:function`: a function of the user's, a RecordBatch in and a RecordBatch out.

It may change keys, values, headers, timestamps and topics, and leave records out. It may not add, reorder or
renumber them: every row that it returns has the offset of a row that it was given, ascending, since offsets
are stored and translated by them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from heliograph.config.resolve.near_match import did_you_mean
from heliograph.errors import HeliographError
from heliograph.policy.ported import ported_function
from heliograph.spark.record_columns import SCHEMA


class FunctionFailed(HeliographError):
    """The user's function raised, or returned what cannot be copied. Contains no record's contents."""


class FunctionRaised(FunctionFailed):
    """It raised: perhaps because of one of the records."""


@dataclass(frozen=True, slots=True)
class LaneFunction:
    name: str
    function: Callable[[pa.RecordBatch], object]

    @classmethod
    def load(cls, text: str, modules: frozenset[str] | None = None) -> LaneFunction:
        """Raises ConfigError. `modules` may be imported, None for any."""
        return cls(text, ported_function("function", text, modules))

    def apply(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Raises FunctionFailed."""
        try:
            answer = self.function(batch)
        except Exception as problem:
            raise FunctionRaised(
                f"function {self.name}: raised {type(problem).__name__}"
            ) from problem
        if not isinstance(answer, pa.RecordBatch):
            raise FunctionFailed(
                f"function {self.name}: expected a pyarrow.RecordBatch, found {type(answer).__name__}"
            )
        self._check_columns(answer)
        self._check_offsets(batch, answer)
        return answer

    def _check_columns(self, answer: pa.RecordBatch) -> None:
        for wanted in SCHEMA:
            at = answer.schema.get_field_index(wanted.name)
            if at < 0:
                near = did_you_mean(wanted.name, set(answer.schema.names) - set(SCHEMA.names))
                raise FunctionFailed(
                    f"function {self.name}: column {wanted.name} is missing in what it returned{near}"
                )
            if answer.schema.field(at).type != wanted.type:
                raise FunctionFailed(
                    f"function {self.name}: column {wanted.name} has type {answer.schema.field(at).type}, "
                    f"expected {wanted.type}"
                )

    def _check_offsets(self, given: pa.RecordBatch, answer: pa.RecordBatch) -> None:
        if answer.column("offset").null_count:
            raise FunctionFailed(f"function {self.name}: returned a row without an offset")
        offsets = answer.column("offset").to_numpy()
        known = np.isin(offsets, given.column("offset").to_numpy())
        if not known.all():
            raise FunctionFailed(
                f"function {self.name}: returned offset {offsets[~known][0]}, which it was not given"
            )
        if (np.diff(offsets) <= 0).any():
            raise FunctionFailed(
                f"function {self.name}: returned rows out of the order of their offsets"
            )
