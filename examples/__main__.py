"""Runs stories: python -m examples [STORY …] [--short]"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time

from examples.stories import STORIES
from examples.support.protocol import Protocol, StoryFailed
from examples.support.services import Commands, InProcess, Services
from examples.support.story import play_all
from heliograph.errors import HeliographError
from heliograph.spark.session import LocalSpark


def main() -> int:
    names = [story.name for story in STORIES]
    parser = argparse.ArgumentParser(prog="examples", description=__doc__)
    parser.add_argument(
        "stories", nargs="*", metavar="STORY", help=f"default: all of {', '.join(names)}"
    )
    parser.add_argument(
        "--short", action="store_true", help="one process, no Kafka programs of Java's"
    )
    given = parser.parse_args()
    wanted = [name.replace("-", "_") for name in given.stories] or names
    if unknown := sorted(set(wanted) - set(names)):
        parser.error(f"{', '.join(unknown)}: no such story; there are {', '.join(names)}")
    began, protocol = time.monotonic(), Protocol()
    try:
        with contextlib.ExitStack() as stack:
            services: Services = Commands()
            if given.short:
                spark = stack.enter_context(contextlib.closing(LocalSpark(slots=4)))
                services = InProcess(spark)
            chosen = [story for story in STORIES if story.name in wanted]
            play_all(chosen, services, protocol, short=given.short)
    except (StoryFailed, HeliographError) as e:
        notes = "\n".join(getattr(e, "__notes__", ()))
        print(f"\nFAILED: {e}\n{notes}", file=sys.stderr)
        return 1
    print(f"\n{len(wanted)} stories, {time.monotonic() - began:.0f} s: all as the documents say")
    return 0


if __name__ == "__main__":
    sys.exit(main())
