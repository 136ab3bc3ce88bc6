"""Random records through our transformations and through Kafka's own classes (`connect-transforms`).

Keys, headers, topics and timestamps must be the same byte for byte. Values must be the same JSON to Connect:
ours keep the order and the blanks of what no transformation touched, and numbers that Java would round.
"""

from __future__ import annotations

import json
import random
import re
from base64 import b64decode, b64encode
from collections.abc import Sequence
from functools import partial

import pytest

from heliograph.config.transforms.catalogue import PREDICATES, TRANSFORMS
from heliograph.config.transforms.read import read_transforms
from heliograph.transforms.chain import run
from heliograph.transforms.java_numbers import number_text, to_float32
from heliograph.transforms.json_document import Document
from heliograph.transforms.rows import Rows
from support.java.oracle import Oracle
from support.transforms.samples import Sample, Step, sample, settings_of, stages_of, steps

RECORDS = 200
TOPIC = "A.orders-eu"

pytestmark = pytest.mark.real


def text(data: bytes | None) -> str | None:
    return None if data is None else b64encode(data).decode()


def as_connect(value: object) -> object:
    """With the numbers that JsonConverter makes of them; integers and others apart."""
    match value:
        case bool() | str() | None:
            return value
        case int():
            return ("integer", (value + 2**63) % 2**64 - 2**63)
        case float():
            return "Infinity" if value == float("inf") else ("number", value + 0.0)
        case list():
            return [as_connect(each) for each in value]
        case dict():
            return {name: as_connect(each) for name, each in value.items()}
        case _:
            raise AssertionError(value)


_FLOATING = re.compile(rb"-?\d+\.\d+(?:E-?\d+)?")


def with_shortest_numbers(chain: list[Step], data: bytes | None) -> bytes | None:
    """Java before 19 prints some numbers with one digit more than needed (JDK-4511638)."""
    single = any("float32" in step.settings.get("spec", "") for step in chain)

    def shortest(found: re.Match[bytes]) -> bytes:
        number = float(found[0])
        return number_text(to_float32(number) if single else number).encode()

    return None if data is None else _FLOATING.sub(shortest, data)


def json_of(data: bytes) -> object:
    """Also of what Jackson reads and Python does not: text after the value, zeros before a number."""
    return Document.read(data, exact=False).content()


def same_value(ours: bytes | None, theirs: bytes | None, given: bytes | None) -> bool:
    if ours == theirs:
        return True
    if ours is None or theirs is None:
        # JsonConverter writes what it reads as null, "null" or nothing at all, as no value.
        return theirs is None and ours == given and Document.read(ours or b"", exact=False).is_null
    return as_connect(json_of(ours)) == as_connect(json.loads(theirs))


def ours(chain: list[Step], samples: Sequence[Sample]) -> list[object]:
    found = read_transforms(settings_of(chain))
    assert not found.errors
    rows = Rows(
        topic=TOPIC,
        partition=3,
        timestamp=[each.timestamp for each in samples],
        key=[each.key for each in samples],
        value=[each.value for each in samples],
        headers=[tuple((name.encode(), data) for name, data in each.headers) for each in samples],
    )
    run(found.stages, rows)
    answers: list[object] = [None] * len(samples)
    for row in rows.live:
        answers[row] = {
            "topic": rows.topic[row],
            "key": rows.bytes_of("Key", row),
            "value": rows.bytes_of("Value", row),
            "headers": [(name.decode(), data) for name, data in rows.headers[row]],
        }
    for failure in rows.failures:
        answers[failure.row] = failure.reason
    return answers


def theirs(oracle: Oracle, chain: list[Step], samples: Sequence[Sample]) -> list[object]:
    records = [
        {
            "topic": TOPIC,
            "partition": 3,
            "timestamp": each.timestamp,
            "key": text(each.key),
            "value": text(each.value),
            "headers": [[name, text(data)] for name, data in each.headers],
        }
        for each in samples
    ]
    answers: list[object] = []
    for answer in oracle.ask("transform", stages=stages_of(chain), records=records):
        if answer is None or "error" in answer:
            answers.append(answer and answer["error"])
            continue
        data = {
            side: None if answer[side] is None else b64decode(answer[side])
            for side in ("key", "value")
        }
        headers = [
            (name, None if each is None else b64decode(each)) for name, each in answer["headers"]
        ]
        answers.append({"topic": answer["topic"], **data, "headers": headers})
    return answers


def check(oracle: Oracle, chains: Sequence[list[Step]], dice: random.Random, count: int) -> None:
    """Names the first difference of each chain."""
    found = []
    for chain in chains:
        try:
            check_chain(oracle, chain, [sample(dice) for _ in range(count)])
        except AssertionError as difference:
            found.append(str(difference))
    assert not found, "\n\n".join(found)


def check_chain(oracle: Oracle, chain: list[Step], samples: Sequence[Sample]) -> None:
    for given, mine, kafkas in zip(
        samples, ours(chain, samples), theirs(oracle, chain, samples), strict=True
    ):
        told = f"{chain}\n{given}\nours:    {mine}\nKafka's: {kafkas}"
        if isinstance(mine, dict) and isinstance(kafkas, dict):
            assert mine["topic"] == kafkas["topic"], told
            assert mine["headers"] == kafkas["headers"], told
            short = partial(with_shortest_numbers, chain)
            unchanged = mine["key"] == given.key
            assert short(mine["key"]) == short(kafkas["key"]) or (
                unchanged and same_value(mine["key"], kafkas["key"], given.key)
            ), told
            assert same_value(mine["value"], kafkas["value"], given.value) or same_value(
                short(mine["value"]), short(kafkas["value"]), given.value
            ), told
        else:
            assert type(mine) is type(kafkas), told
            if (
                isinstance(kafkas, str)
                and "serialization error" not in kafkas
                and "out of range" not in kafkas
            ):
                assert kafkas == f"DataException: {mine}", told


def test_each_transformation_does_what_kafkas_class_does(oracle: Oracle) -> None:
    check(oracle, [[step] for step in steps()], random.Random(21), RECORDS)


def test_random_chains_do_what_kafkas_classes_do(oracle: Oracle) -> None:
    dice = random.Random(22)
    chains = [dice.sample(steps(), dice.randrange(2, 5)) for _ in range(60)]
    check(oracle, chains, dice, RECORDS // 2)


WRONG: list[tuple[str, dict[str, str]]] = [
    ("RegexRouter", {"replacement": "x"}),
    ("InsertHeader", {}),
    ("DropHeaders", {}),
    ("DropHeaders", {"headers": ""}),
    ("DropHeaders", {"headers": "a,"}),
    ("DropHeaders", {"headers": "a,a"}),
    ("HeaderFrom$Value", {}),
    ("HeaderFrom$Value", {"fields": "a,b", "headers": "c", "operation": "copy"}),
    ("HeaderFrom$Value", {"fields": "a", "headers": "c", "operation": "Copy"}),
    ("MaskField$Value", {"fields": "a", "replace.null.with.default": "x"}),
    ("InsertField$Key", {}),
    ("ReplaceField$Value", {"renames": "a:b:c"}),
    ("ReplaceField$Value", {"renames": "a"}),
    ("ReplaceField$Value", {"exclude": "a,a", "include": "a,,b"}),
    ("MaskField$Value", {}),
    ("MaskField$Value", {"fields": "", "replacement": ""}),
    ("ExtractField$Value", {}),
    ("ExtractField$Key", {"field": "a", "field.syntax.version": "v3"}),
    ("ExtractField$Key", {"field": "`a", "field.syntax.version": "v2"}),
    ("HoistField$Value", {}),
    ("Cast$Value", {}),
    ("Cast$Value", {"spec": ""}),
    ("Cast$Value", {"spec": "a:b:c"}),
    ("Cast$Value", {"spec": "a:int7"}),
    ("Cast$Value", {"spec": "a:map"}),
    ("Cast$Value", {"spec": "int8,a:int8"}),
    ("Cast$Value", {"spec": "a:"}),
    ("ValueToKey", {}),
    ("predicates.HasHeaderKey", {}),
    ("predicates.HasHeaderKey", {"name": ""}),
    ("predicates.TopicNameMatches", {"pattern": ""}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "settings"), WRONG)
def test_wrong_settings_get_kafkas_sentences(
    oracle: Oracle, name: str, settings: dict[str, str]
) -> None:
    kafkas = oracle.ask("validate", **{"class": TRANSFORMS + name, "settings": settings})

    kind = "predicates" if TRANSFORMS + name > PREDICATES and "." in name else "transforms"
    prefix = f"{kind}.s."
    given = {prefix + each: value for each, value in settings.items()}
    mine = read_transforms({kind: "s", f"{prefix}type": TRANSFORMS + name, **given}).errors

    # A wrong type is named with the whole name, which a class alone does not know.
    kafkas = {
        setting: [
            each.replace("configuration replace.", f"configuration {prefix}replace.")
            for each in found
        ]
        for setting, found in kafkas.items()
    }
    expected = [
        (
            f"{prefix}{setting or 'type'}",
            sentence.replace('configuration "', f'configuration "{prefix}'),
        )
        for setting, sentences in kafkas.items()
        for sentence in sentences
        if "Cannot invoke" not in sentence  # what Java says of a pattern that is not set
    ]
    assert sorted(mine) == sorted(expected)
