"""A Spark as it is by default, without spark.authenticate: it answers what `intruder.py` asks.

Writes its ports, and the RPC that asks whether an endpoint exists, then lives until standard input ends.
"""

import json
import struct
import sys

from pyspark import SparkConf, SparkContext

PLANTED = "planted in a task"


def main() -> None:
    conf = SparkConf().setMaster("local[1]").set("spark.ui.enabled", "false")
    conf = conf.set("spark.driver.host", "127.0.0.1").set("spark.broadcast.compress", "false")
    context = SparkContext(conf=conf)
    planted = PLANTED
    context.parallelize([1], 1).map(lambda n: f"{planted} {n}").count()
    jvm = context._jvm
    driver = context._jsc.sc().statusStore().executorList(True).apply(0)
    port = int(context.getConf().get("spark.driver.port"))
    found = {
        "rpc": port,
        "blocks": int(driver.hostPort().rpartition(":")[2]),
        "message": (_address(port) + _question(jvm)).hex(),
    }
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()
    sys.stdin.read()
    context.stop()


def _address(port: int) -> bytes:
    """Of a request, as RequestMessage has it: no sender, the receiver's address and name."""
    host, name = b"127.0.0.1", b"endpoint-verifier"
    receiver = struct.pack(">H", len(host)) + host + struct.pack(">i", port)
    return b"\0" + b"\1" + receiver + struct.pack(">H", len(name)) + name


def _question(jvm) -> bytes:  # type: ignore[no-untyped-def]
    kind = jvm.java.lang.Class.forName(
        "org.apache.spark.rpc.netty.RpcEndpointVerifier$CheckExistence"
    )
    maker = kind.getDeclaredConstructors()[0]
    maker.setAccessible(True)
    arguments = jvm.java.util.ArrayList()
    arguments.add("HeartbeatReceiver")
    written = jvm.java.io.ByteArrayOutputStream()
    stream = jvm.java.io.ObjectOutputStream(written)
    stream.writeObject(maker.newInstance(arguments.toArray()))
    stream.flush()
    return bytes(written.toByteArray())


if __name__ == "__main__":
    main()
