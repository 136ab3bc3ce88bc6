package org.apache.kafka.connect.mirror;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import heliograph.compat.RemoteClusterReader;
import heliograph.compat.TransformChain;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.Semaphore;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;

/**
 * Answers questions with MirrorMaker 2's own classes: a JSON question per line of standard input, a
 * JSON answer per line of standard output. In their package, since the methods are not public.
 */
public final class MirrorOracle {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final HexFormat HEX = HexFormat.of();

    private MirrorOracle() {}

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        System.setOut(System.err); // what Kafka's classes log is no answer
        BufferedReader questions =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            answers.println(JSON.writeValueAsString(answer(JSON.readTree(line))));
        }
    }

    private static Object answer(JsonNode question) throws Exception {
        return switch (question.get("ask").asText()) {
            case "serialise" -> serialise(question.get("records"));
            case "deserialise" -> deserialise(question.get("records"));
            case "translate" -> translate(question);
            case "queue" -> queue(question.get("steps"), question.get("lag_max").asLong());
            case "validate" -> TransformChain.validate(question);
            case "transform" -> TransformChain.apply(question);
            case "cluster" -> RemoteClusterReader.read(
                JSON.convertValue(question.get("properties"), new TypeReference<Map<String, Object>>() {}),
                question.get("alias").asText(),
                JSON.convertValue(question.get("groups"), new TypeReference<List<String>>() {}),
                question.get("pattern").asText());
            default -> throw new IllegalArgumentException(question.toString());
        };
    }

    /** A record is [kind, field, field, ...], the fields in the order of the Java constructor. */
    private static List<List<String>> serialise(JsonNode records) {
        List<List<String>> bytes = new ArrayList<>();
        for (JsonNode r : records) {
            bytes.add(switch (r.get(0).asText()) {
                case "offset-sync" -> {
                    OffsetSync sync = new OffsetSync(partition(r, 1), r.get(3).asLong(), r.get(4).asLong());
                    yield List.of(hex(sync.recordKey()), hex(sync.recordValue()), sync.toString());
                }
                case "checkpoint" -> {
                    Checkpoint checkpoint = new Checkpoint(r.get(1).asText(), partition(r, 2),
                        r.get(4).asLong(), r.get(5).asLong(), r.get(6).asText());
                    yield List.of(hex(checkpoint.recordKey()), hex(checkpoint.recordValue()),
                        checkpoint.toString());
                }
                case "heartbeat" -> {
                    Heartbeat heartbeat =
                        new Heartbeat(r.get(1).asText(), r.get(2).asText(), r.get(3).asLong());
                    yield List.of(hex(heartbeat.recordKey()), hex(heartbeat.recordValue()),
                        heartbeat.toString());
                }
                default -> throw new IllegalArgumentException(r.toString());
            });
        }
        return bytes;
    }

    /** A record is [kind, key in hex, value in hex]; the answer is what Java makes of it, in words. */
    private static List<String> deserialise(JsonNode records) {
        List<String> words = new ArrayList<>();
        for (JsonNode r : records) {
            ConsumerRecord<byte[], byte[]> record = record(
                HEX.parseHex(r.get(1).asText()), HEX.parseHex(r.get(2).asText()));
            words.add(switch (r.get(0).asText()) {
                case "offset-sync" -> OffsetSync.deserializeRecord(record).toString();
                case "checkpoint" -> Checkpoint.deserializeRecord(record).toString();
                case "heartbeat" -> Heartbeat.deserializeRecord(record).toString();
                default -> throw new IllegalArgumentException(r.toString());
            });
        }
        return words;
    }

    /**
     * A step is ["sync", topic, partition, upstream, downstream] or ["translate", topic, partition,
     * upstream]; "start" steps come while the syncs topic is read for the first time, "then" steps
     * afterwards. The answer to a translation is null where the store declines.
     */
    private static List<Long> translate(JsonNode question) {
        List<Long> answers = new ArrayList<>();
        try (Store store = new Store(question.get("start"), answers)) {
            store.start(question.get("must_read_to_end").asBoolean());
            question.get("then").forEach(step -> store.take(step, answers));
        }
        return answers;
    }

    private static final class Store extends OffsetSyncStore {
        private final JsonNode start;
        private final List<Long> answers;

        Store(JsonNode start, List<Long> answers) {
            this.start = start;
            this.answers = answers;
        }

        @Override
        void backingStoreStart() {
            start.forEach(step -> take(step, answers));
        }

        void take(JsonNode step, List<Long> found) {
            TopicPartition partition = partition(step, 1);
            if (step.get(0).asText().equals("sync")) {
                OffsetSync sync = new OffsetSync(partition, step.get(3).asLong(), step.get(4).asLong());
                handleRecord(record(sync.recordKey(), sync.recordValue()));
            } else {
                OptionalLong translated = translateDownstream("group", partition, step.get(3).asLong());
                found.add(translated.isPresent() ? translated.getAsLong() : null);
            }
        }
    }

    /**
     * A step is ["acknowledged", topic, partition, upstream, downstream, count], "commit" or "fire". The
     * answer is what stands in both queues after each step.
     */
    private static List<List<List<String>>> queue(JsonNode steps, long lagMax) {
        List<List<List<String>>> queues = new ArrayList<>();
        OffsetSyncWriter writer = new OffsetSyncWriter(null, "topic", new Semaphore(10), lagMax);
        for (JsonNode step : steps) {
            switch (step.get(0).asText()) {
                case "commit" -> writer.promoteDelayedOffsetSyncs();
                case "fire" -> writer.getPendingOffsetSyncs().clear();
                default -> {
                    for (int i = 0; i < step.get(5).asInt(); i++) {
                        writer.maybeQueueOffsetSyncs(
                            partition(step, 1), step.get(3).asLong() + i, step.get(4).asLong() + i);
                    }
                }
            }
            queues.add(List.of(words(writer.getPendingOffsetSyncs()), words(writer.getDelayedOffsetSyncs())));
        }
        return queues;
    }

    private static List<String> words(Map<TopicPartition, OffsetSync> syncs) {
        return syncs.values().stream().map(OffsetSync::toString).toList();
    }

    private static TopicPartition partition(JsonNode record, int at) {
        return new TopicPartition(record.get(at).asText(), record.get(at + 1).asInt());
    }

    private static ConsumerRecord<byte[], byte[]> record(byte[] key, byte[] value) {
        return new ConsumerRecord<>("topic", 0, 0, key, value);
    }

    private static String hex(byte[] bytes) {
        return HEX.formatHex(bytes);
    }
}
