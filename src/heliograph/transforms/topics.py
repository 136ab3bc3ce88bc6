"""RegexRouter and TimestampRouter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heliograph.errors import InvalidPattern
from heliograph.policy.java_regex import JavaPattern
from heliograph.transforms.failures import RecordFailed
from heliograph.transforms.rows import Rows
from heliograph.transforms.simple_date_format import SimpleDateFormat
from heliograph.transforms.transform import Failed, each


@dataclass(frozen=True, slots=True)
class RegexRouter:
    """`replacement` as in `Matcher.replaceFirst`: the first place where the pattern is found is replaced, in
    a topic that matches it as a whole."""

    regex: JavaPattern
    replacement: str

    def apply(self, rows: Rows, chosen: Sequence[int]) -> Failed:
        names: dict[str, str] = {}

        def route(row: int) -> None:
            topic = rows.topic[row]
            if topic not in names:
                names[topic] = self._renamed(topic)
            rows.topic[row] = names[topic]

        return each(chosen, route)

    def _renamed(self, topic: str) -> str:
        try:
            if not self.regex.matches(topic):
                return topic
            return self.regex.replace_first(topic, self.replacement)
        except InvalidPattern as problem:
            raise RecordFailed(str(problem)) from None


@dataclass(frozen=True, slots=True)
class TimestampRouter:
    topic_format: str
    timestamp_format: SimpleDateFormat

    def apply(self, rows: Rows, chosen: Sequence[int]) -> Failed:
        stamps: dict[int, str] = {}

        def route(row: int) -> None:
            time = rows.timestamp[row]
            if time not in stamps:
                stamps[time] = self.timestamp_format.format(time)
            name = self.topic_format.replace("${topic}", rows.topic[row])
            rows.topic[row] = name.replace("${timestamp}", stamps[time])

        return each(chosen, route)
