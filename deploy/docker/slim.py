"""Removes what a mirror never loads from an environment: python3 slim.py ENVIRONMENT UNUSED_JARS

An image has no use for Spark's machine learning, its SQL on Hive, Arrow's Flight, tests and headers.
`unused_jars.txt` lists names of jars without their versions; it was made by `python -m containers.jars`,
which lists the jars that JVMs of a mirror load. A name without a jar is an error: Spark was upgraded, and the
list has to be made again.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

#: Of other machines than those that images run on.
_FOREIGN = re.compile(r"-(osx|windows)-")
_VERSION = re.compile(r"(_2\.13)?-\d.*")
#: Below site-packages. botocore's data is the description of each of AWS's services.
_UNUSED = (
    "pyarrow/include",
    "pyarrow/src",
    "pyarrow/tests",
    "pyarrow/libarrow_flight*",
    "pyarrow/libarrow_python_flight*",
    "pyarrow/libarrow_s3*",
    "pyarrow/_flight*",
    "pyarrow/_s3fs*",
    "pyarrow/libarrow_python.so",
    "pyarrow/libarrow_python.so.*.*",
    "pyarrow/*.pyx",
    "pyspark/examples",
    "pyspark/data",
    "pyspark/licenses",
    "pyspark/ml",
    "pyspark/mllib",
    "pyspark/pandas",
    "numpy/**/tests",
    "numpy/f2py",
)
#: AWS_MSK_IAM asks for credentials: roles and single sign-on.
_AWS_KEPT = frozenset({"sts", "sso", "sso-oidc", "signin"})


def stem(jar: str) -> str:
    return _VERSION.sub("", jar.removesuffix(".jar"))


def slim(environment: Path, unused: set[str]) -> int:
    """Returns the bytes that it removed. Raises SystemExit."""
    packages = next(environment.glob("lib/python3*/site-packages"))
    before = _size(environment)
    jars = list((packages / "pyspark" / "jars").glob("*.jar"))
    if missing := unused - {stem(jar.name) for jar in jars}:
        raise SystemExit(
            f"unused_jars.txt: no jar of Spark is called {', '.join(sorted(missing))}; make the list again: "
            "python -m containers.jars"
        )
    for jar in jars:
        if stem(jar.name) in unused or _FOREIGN.search(jar.name):
            jar.unlink()
    for pattern in _UNUSED:
        for path in packages.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for service in (packages / "botocore" / "data").glob("*/"):
        if service.is_dir() and service.name not in _AWS_KEPT:
            shutil.rmtree(service)
    return before - _size(environment)


def _size(folder: Path) -> int:
    return sum(each.lstat().st_size for each in folder.rglob("*") if each.is_file())


def main(environment: str, unused: str) -> None:
    lines = Path(unused).read_text().splitlines()
    names = {line.strip() for line in lines if line.strip() and not line.startswith("#")}
    print(f"removed {slim(Path(environment), names) / 1e6:.0f} MB")


if __name__ == "__main__":
    main(*sys.argv[1:])
