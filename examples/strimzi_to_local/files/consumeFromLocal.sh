#!/bin/bash
# consumeFromLocal.sh TOPIC [option …]
topic=$1
shift
/opt/kafka/bin/kafka-console-consumer.sh --bootstrap-server kafka1:9092,kafka2:9093,kafka3:9094 \
    --topic "$topic" --from-beginning "$@"
