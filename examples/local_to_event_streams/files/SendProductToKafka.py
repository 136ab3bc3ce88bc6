"""Sends the products of a JSON file to the topic products: the key is product_id, the value its JSON text."""

import json
import os
import sys

from confluent_kafka import Producer

settings = {"bootstrap.servers": os.environ["KAFKA_BROKERS"], "group.id": "ProductsProducer"}
print(f"[KafkaProducer] - {settings}")
if "KAFKA_CERT" in os.environ:
    settings |= {"security.protocol": "SSL", "ssl.ca.location": os.environ["KAFKA_CERT"]}
if "KAFKA_APIKEY" in os.environ:
    login = {"sasl.mechanisms": "PLAIN", "sasl.username": "token"}
    settings |= login | {
        "security.protocol": "SASL_SSL",
        "sasl.password": os.environ["KAFKA_APIKEY"],
    }


def delivered(error, message):
    if error is not None:
        sys.exit(f"[KafkaProducer] - Message delivery failed: {error}")
    print(f"[KafkaProducer] - Message delivered to {message.topic()} [{message.partition()}]")


producer = Producer({name: value for name, value in settings.items() if name != "group.id"})
file = sys.argv[1] if len(sys.argv) > 1 else "./data/products.json"
with open(file) as products:
    for product in json.load(products):
        print(product)
        producer.produce(
            "products", json.dumps(product), product["product_id"], on_delivery=delivered
        )
if producer.flush(60):
    sys.exit("[KafkaProducer] - not all messages were delivered")
