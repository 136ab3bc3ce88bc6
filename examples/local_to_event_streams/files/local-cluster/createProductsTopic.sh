#!/bin/bash
/opt/kafka/bin/kafka-topics.sh --bootstrap-server kafka1:9092 --create --replication-factor 3 --partitions 1 --topic products
