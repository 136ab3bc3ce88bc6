#!/bin/bash
# Fills the template with the values of setenv.sh, and starts MirrorMaker 2.
source /home/setenv.sh
export LOG_DIR=/home/logs
sed -e "s|KAFKA_SOURCE_BROKERS|$KAFKA_SOURCE_BROKERS|" \
    -e "s|KAFKA_TARGET_BROKERS|$KAFKA_TARGET_BROKERS|" \
    -e "s|KAFKA_TARGET_APIKEY|$KAFKA_TARGET_APIKEY|" \
    /home/local-cluster/template-mm2.properties > /home/mm2.properties
exec /opt/kafka/bin/connect-mirror-maker.sh /home/mm2.properties
