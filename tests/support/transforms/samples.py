"""Chains as users configure them, and records of every kind: nested and broken JSON, binary, null, empty."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field

from heliograph.config.transforms.catalogue import PREDICATES, TRANSFORMS

Header = tuple[str, bytes | None]


@dataclass(frozen=True, slots=True)
class Sample:
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One transformation: its class without the package, its settings."""

    name: str
    settings: dict[str, str] = field(default_factory=dict)
    predicate: str | None = None
    predicate_settings: dict[str, str] = field(default_factory=dict)
    negate: bool = False


def steps() -> list[Step]:
    value_and_key: list[tuple[str, dict[str, str]]] = [
        ("InsertField", {"topic.field": "t!", "partition.field": "p?", "timestamp.field": "at"}),
        ("InsertField", {"static.field": "id", "static.value": "caf\u00e9 \U0001f600"}),
        ("ReplaceField", {"exclude": "id,name", "renames": "x:y,nested:n"}),
        ("ReplaceField", {"include": "id,x,tags", "renames": "id:x"}),
        ("ReplaceField", {"renames": "id:name,name:x,x:id"}),
        ("MaskField", {"fields": "id,name,x,missing"}),
        ("MaskField", {"fields": "name,tags,nested,flag"}),
        ("MaskField", {"fields": "id,name,amount", "replacement": "12.75"}),
        ("MaskField", {"fields": "name,id", "replacement": "hidden"}),
        ("ExtractField", {"field": "name"}),
        ("ExtractField", {"field": "nested"}),
        ("ExtractField", {"field": "nested.x", "field.syntax.version": "v2"}),
        ("ExtractField", {"field": "nested.deep.`a.b`", "field.syntax.version": "V2"}),
        ("HoistField", {"field": "w"}),
        ("Flatten", {}),
        ("Flatten", {"delimiter": "_"}),
        *(
            ("Cast", {"spec": f"id:{kind},amount:{kind},name:{kind},flag:{kind},missing:{kind}"})
            for kind in ("int8", "int16", "INT32", "int64", "float32", "float64", "boolean", "string")
        ),
        ("Cast", {"spec": "string"}),
        ("Cast", {"spec": "int32"}),
        ("HeaderFrom", {"operation": "copy", "fields": "id,name,nested,amount,no", "headers": "a,b,c,d,e"}),
        ("HeaderFrom", {"fields": "tags,flag", "headers": "trace,trace", "operation": "move"}),
    ]  # fmt: skip
    both = [
        Step(f"{name}${side}", settings)
        for name, settings in value_and_key
        for side in ("Value", "Key")
    ]
    return [
        *both,
        Step("RegexRouter", {"regex": "(.*)\\.(orders)-(?<at>eu|us)", "replacement": "${at}.$2\\$$1"}),
        Step("RegexRouter", {"regex": "o|.*eu", "replacement": "X"}),
        Step("TimestampRouter"),
        Step("TimestampRouter", {"topic.format": "${topic}_${timestamp}_${topic}",
                                 "timestamp.format": "yyyy-MM-dd'T'HH''mm EEE MMMM D a k K h u SSS X z"}),
        Step("InsertHeader", {"header": "origin", "value.literal": "eu-west"}),
        Step("DropHeaders", {"headers": "trace, secret"}),
        Step("ValueToKey", {"fields": "id,name"}),
        Step("ValueToKey", {"fields": "nested,amount,missing,tags"}),
        Step("Filter", {}, "HasHeaderKey", {"name": "trace"}),
        Step("Filter", {}, "HasHeaderKey", {"name": "trace"}, True),
        Step("Filter", {}, "RecordIsTombstone"),
        Step("Filter", {}, "TopicNameMatches", {"pattern": ".*orders.*"}, True),
        Step("MaskField$Value", {"fields": "name"}, "RecordIsTombstone", {}, True),
    ]  # fmt: skip


_NAMES = (
    "id",
    "name",
    "x",
    "nested",
    "tags",
    "amount",
    "flag",
    "a.b",
    "caf\u00e9",
    'q"',
    "AaAa",
    "BBBB",
)


def _scalar(dice: random.Random) -> object:
    return dice.choice(
        (
            dice.randrange(-200, 200),
            dice.randrange(-(2**70), 2**70),
            round(dice.uniform(-1000, 1000), 3),
            dice.choice((1e10, 1.5e-7, 0.001, 9999999.5, 1e7, -0.0, 3.0, 1e22)),
            dice.choice((True, False, None)),
            dice.choice(
                ("", "5", "12.75", "true", "x\ty", "\U0001f600 caf\u00e9", 'a"\\b', "\u007f\u2028")
            ),
        )
    )


def _value(dice: random.Random, depth: int) -> object:
    kind = dice.random()
    if depth and kind < 0.2:
        return _document(dice, depth - 1)
    if depth and kind < 0.3:
        return [_value(dice, depth - 1) for _ in range(dice.randrange(4))]
    return _scalar(dice)


def _document(dice: random.Random, depth: int = 3) -> dict[str, object]:
    document = {
        name: _value(dice, depth) for name in dice.sample(_NAMES, dice.randrange(len(_NAMES)))
    }
    document |= {f"f{dice.randrange(60)}": 1 for _ in range(dice.choice((0, 0, 3, 20)))}
    if depth and dice.random() < 0.5:
        document["nested"] = {
            "x": _scalar(dice),
            "deep": {"a.b": _scalar(dice), "c": [1, {"d": 2}]},
        }
    return document


_ODD: tuple[bytes | None, ...] = (
    None, b"", b"null", b"  ", b"[1,2]", b'"text"', b"17", b"-0.5e3", b"true", b"\x00\x00\x00\x00\x07avro",
    b"\xff\xfe", b"{", b'{"id":}', b'{"id":1,}', b"{'id':1}", b'{"id":1} rest', b'{"id":007,"x":"007"}',
    b'{"id":1,"id":2,"name":"a","name":"b"}', b'{"\\u0069d":3,"n\\u0061me":"\\ud83d\\ude00"}', b"{}",
    b'\xef\xbb\xbf{"id":1}', '{"id":1,"x":"é"}'.encode("utf-16"), b'{"id":NaN}', b'{"id":1e400}',
    b'{ "id" : 1 , "name" : "x" , "nested" : { "x" : [ 1 , 2 ] } }', b"1 2", b"1x", b'{"id":"a\nb"}',
)  # fmt: skip


def sample(dice: random.Random) -> Sample:
    def cell() -> bytes | None:
        if dice.random() < 0.25:
            return dice.choice(_ODD)
        separators = dice.choice(((",", ":"), (", ", ": ")))
        ascii_only = dice.random() < 0.5
        return json.dumps(_document(dice), ensure_ascii=ascii_only, separators=separators).encode()

    headers: list[Header] = [
        (dice.choice(("trace", "secret", "other")), dice.choice((None, b"", b"\xff\x00", b"12")))
        for _ in range(dice.randrange(3))
    ]
    timestamp = dice.choice((-1, 0, 1_700_000_000_000, dice.randrange(-(10**12), 10**13)))
    return Sample(timestamp, cell(), cell(), tuple(headers))


def settings_of(chain: list[Step]) -> dict[str, str]:
    """The chain as a user writes it into a connector's configuration."""
    found = {"transforms": ",".join(f"s{n}" for n in range(len(chain)))}
    predicates = []
    for number, step in enumerate(chain):
        prefix = f"transforms.s{number}."
        found[f"{prefix}type"] = TRANSFORMS + step.name
        found |= {prefix + name: text for name, text in step.settings.items()}
        if step.predicate is not None:
            predicates.append(f"p{number}")
            found[f"{prefix}predicate"] = f"p{number}"
            found[f"{prefix}negate"] = str(step.negate).lower()
            found[f"predicates.p{number}.type"] = PREDICATES + step.predicate
            found |= {f"predicates.p{number}.{k}": v for k, v in step.predicate_settings.items()}
    if predicates:
        found["predicates"] = ",".join(predicates)
    return found


def stages_of(chain: list[Step]) -> list[dict[str, object]]:
    """The same for the oracle."""
    stages = []
    for step in chain:
        stage: dict[str, object] = {"class": TRANSFORMS + step.name, "settings": step.settings}
        if step.predicate is not None:
            stage["predicate"] = {
                "class": PREDICATES + step.predicate,
                "settings": step.predicate_settings,
            }
            stage["negate"] = step.negate
        stages.append(stage)
    return stages
