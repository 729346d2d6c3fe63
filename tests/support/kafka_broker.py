"""A broker of Kafka that keeps its own metadata (KRaft), and a client of it, in a Java that ends with the tests."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyspark
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

from support.quick_java import OPTIONS, ROOT

JARS = ROOT / ".venv" / "kafka"
"""What `make kafka` fetches: a broker, and Spark's package for Kafka."""
CONNECTOR = ",".join(map(str, sorted((JARS / "connector").glob("*.jar"))))
"""For Spark's setting `spark.jars`; empty where nothing is fetched."""
_TEXTS = "org.apache.kafka.common.serialization.String"
_SECONDS = 20


@dataclass(frozen=True)
class Record:
    """A record of a topic; a new one goes to the partition of its key, at the end."""

    key: str | None
    value: str | None
    timestamp: int | None = None
    partition: int = -1
    offset: int = -1
    headers: tuple[str, ...] = ()


class Broker:
    """Topics that are made by use have three partitions."""

    def __init__(self, folder: Path) -> None:
        java = Path(pyspark.__file__).parent / "jars"
        port, self.process = launch_gateway(
            classpath=str(JARS / "broker" / "*"), jarpath=str(next(java.glob("py4j*.jar"))), java_path=None,
            javaopts=["-Xmx256m", *OPTIONS["SPARK_LAUNCHER_OPTS"].split()], die_on_exit=True, return_proc=True,
        )  # fmt: skip
        self.java = JavaGateway(gateway_parameters=GatewayParameters(port=port, auto_convert=True))
        self.servers, controller = _free_addresses(2)
        settings = {
            "process.roles": "broker,controller",
            "node.id": 1,
            "controller.quorum.voters": f"1@{controller}",
            "controller.listener.names": "CONTROLLER",
            "listeners": f"PLAINTEXT://{self.servers},CONTROLLER://{controller}",
            "log.dirs": folder / "log",
            "log.retention.ms": -1,  # times of records may be long past
            "num.partitions": 3,
            "offsets.topic.replication.factor": 1,
        }
        file = folder / "broker.properties"
        file.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        self.kafka, jvm = self.java.jvm.org.apache.kafka, self.java.jvm
        arguments = ["format", "--cluster-id", self.kafka.common.Uuid.randomUuid().toString(), "--config", str(file)]
        given = self.java.new_array(jvm.String, len(arguments))
        for number, argument in enumerate(arguments):
            given[number] = argument
        assert jvm.kafka.tools.StorageTool.execute(given, jvm.System.out) == 0
        config = jvm.kafka.server.KafkaConfig.fromProps(self.kafka.common.utils.Utils.loadProps(str(file)))
        self.server = jvm.kafka.server.KafkaRaftServer(config, self.kafka.common.utils.Time.SYSTEM)
        self.server.startup()  # returns when it answers

    def stop(self) -> None:
        """End the Java with it."""
        self.java.shutdown()
        self.process.stdin.close()
        self.process.kill()
        self.process.wait()

    def put(self, topic: str, records: Iterable[Record]) -> None:
        """Write records to a topic; each partition keeps their order."""
        options = {f"{part}.serializer": f"{_TEXTS}Serializer" for part in ("key", "value")}
        producer = self.kafka.clients.producer.KafkaProducer({"bootstrap.servers": self.servers, **options})
        new = self.kafka.clients.producer.ProducerRecord
        producer.partitionsFor(topic)  # waits until the topic is made
        sent = [producer.send(new(topic, None, one.timestamp, one.key, one.value)) for one in records]
        producer.close()
        for one in sent:
            one.get()  # raises what became of a record that is not written

    def get(self, topic: str) -> list[Record]:
        """All records that a topic has by now, those of a partition in their order."""
        options = {f"{part}.deserializer": f"{_TEXTS}Deserializer" for part in ("key", "value")}
        consumer = self.kafka.clients.consumer.KafkaConsumer({"bootstrap.servers": self.servers, **options})
        parts = [self.kafka.common.TopicPartition(topic, one.partition()) for one in consumer.partitionsFor(topic)]
        consumer.assign(parts)
        consumer.seekToBeginning(parts)
        left, found = sum(consumer.endOffsets(parts).values()), list[Record]()
        patience = self.java.jvm.java.time.Duration.ofSeconds(_SECONDS)
        while len(found) < left:
            some = list(consumer.poll(patience).iterator())
            assert some, f"{left - len(found)} records of {topic} do not come"
            found += map(_told, some)
        consumer.close()
        return found


def _told(record: Any) -> Record:
    headers = tuple(bytes(header.value()).decode() for header in record.headers().toArray())
    return Record(record.key(), record.value(), record.timestamp(), record.partition(), record.offset(), headers)


def _free_addresses(number: int) -> list[str]:
    """Addresses of this machine at which nobody listens."""
    taken = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    addresses = [f"127.0.0.1:{one.getsockname()[1]}" for one in taken]
    for one in taken:
        one.close()
    return addresses
