package heliograph.compat;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.Configurable;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigValue;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.header.ConnectHeaders;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.SimpleHeaderConverter;
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.kafka.connect.transforms.predicates.Predicate;

/**
 * Kafka's own transformations over records of a mirror, whose keys and values are bytes. Before the first
 * transformation that looks into a key or value, JsonConverter reads it; at the end it writes it again.
 */
public final class TransformChain {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final JsonConverter KEYS = converter(true);
    private static final JsonConverter VALUES = converter(false);
    private static final SimpleHeaderConverter HEADERS = new SimpleHeaderConverter();

    private TransformChain() {}

    private static JsonConverter converter(boolean key) {
        JsonConverter converter = new JsonConverter();
        converter.configure(Map.of("schemas.enable", "false"), key);
        return converter;
    }

    private record Stage(
        Transformation<SourceRecord> transformation, Predicate<SourceRecord> predicate, boolean negate) {
        boolean reads(String side) {
            String name = transformation.getClass().getName();
            return name.endsWith("$" + side) || side.equals("Value") && name.endsWith(".ValueToKey");
        }
    }

    /** The errors of a class's ConfigDef and of configure, by setting; "" for those without one. */
    public static Map<String, List<String>> validate(JsonNode question) throws Exception {
        Map<String, List<String>> errors = new TreeMap<>();
        Configurable plugin = plugin(question.get("class").asText());
        Map<String, String> settings = settings(question);
        ConfigDef definition = plugin instanceof Transformation<?> transformation
            ? transformation.config() : ((Predicate<?>) plugin).config();
        for (ConfigValue value : definition.validate(settings)) {
            if (!value.errorMessages().isEmpty()) {
                errors.put(value.name(), value.errorMessages());
            }
        }
        if (errors.isEmpty()) {
            try {
                plugin.configure(settings);
            } catch (Exception e) {
                errors.put("", List.of(String.valueOf(e.getMessage())));
            }
        }
        return errors;
    }

    /** For each record what became of it: a record, null (dropped) or the class and message of an error. */
    public static List<Object> apply(JsonNode question) throws Exception {
        List<Stage> stages = new ArrayList<>();
        for (JsonNode stage : question.get("stages")) {
            Transformation<SourceRecord> transformation = transformation(stage);
            JsonNode predicate = stage.get("predicate");
            stages.add(new Stage(transformation, predicate == null ? null : predicate(predicate),
                stage.path("negate").asBoolean()));
        }
        List<Object> answers = new ArrayList<>();
        for (JsonNode record : question.get("records")) {
            try {
                answers.add(through(stages, record));
            } catch (Exception e) {
                answers.add(Map.of("error", e.getClass().getSimpleName() + ": " + e.getMessage()));
            }
        }
        return answers;
    }

    private static Object through(List<Stage> stages, JsonNode given) {
        ConnectHeaders headers = new ConnectHeaders();
        for (JsonNode header : given.get("headers")) {
            headers.addBytes(header.get(0).asText(), bytes(header.get(1)));
        }
        SourceRecord record = new SourceRecord(Map.of(), Map.of(), given.get("topic").asText(),
            given.get("partition").asInt(), Schema.OPTIONAL_BYTES_SCHEMA, bytes(given.get("key")),
            Schema.OPTIONAL_BYTES_SCHEMA, bytes(given.get("value")), given.get("timestamp").asLong(), headers);
        for (Stage stage : stages) {
            if (stage.predicate != null && stage.predicate.test(record) == stage.negate) {
                continue;
            }
            record = stage.transformation.apply(read(stage, record));
            if (record == null) {
                return null;
            }
        }
        return written(record);
    }

    private static SourceRecord read(Stage stage, SourceRecord record) {
        SchemaAndValue key = new SchemaAndValue(record.keySchema(), record.key());
        SchemaAndValue value = new SchemaAndValue(record.valueSchema(), record.value());
        if (stage.reads("Key") && key.schema() != null) {
            key = KEYS.toConnectData(record.topic(), (byte[]) key.value());
        }
        if (stage.reads("Value") && value.schema() != null) {
            value = VALUES.toConnectData(record.topic(), (byte[]) value.value());
        }
        return record.newRecord(record.topic(), record.kafkaPartition(), key.schema(), key.value(),
            value.schema(), value.value(), record.timestamp(), record.headers());
    }

    private static Map<String, Object> written(SourceRecord record) {
        List<Object> headers = new ArrayList<>();
        for (Header header : record.headers()) {
            byte[] content = header.value() instanceof byte[] bytes ? bytes
                : HEADERS.fromConnectHeader(record.topic(), header.key(), header.schema(), header.value());
            List<String> pair = new ArrayList<>();
            pair.add(header.key());
            pair.add(text(content));
            headers.add(pair);
        }
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("topic", record.topic());
        answer.put("partition", record.kafkaPartition());
        answer.put("timestamp", record.timestamp());
        answer.put("key", text(record.keySchema() != null ? (byte[]) record.key()
            : KEYS.fromConnectData(record.topic(), null, record.key())));
        answer.put("value", text(record.valueSchema() != null ? (byte[]) record.value()
            : VALUES.fromConnectData(record.topic(), null, record.value())));
        answer.put("headers", headers);
        return answer;
    }

    private static byte[] bytes(JsonNode text) {
        return text.isNull() ? null : Base64.getDecoder().decode(text.asText());
    }

    private static String text(byte[] bytes) {
        return bytes == null ? null : Base64.getEncoder().encodeToString(bytes);
    }

    @SuppressWarnings("unchecked")
    private static Transformation<SourceRecord> transformation(JsonNode stage) throws Exception {
        Transformation<SourceRecord> made = (Transformation<SourceRecord>) plugin(stage.get("class").asText());
        made.configure(settings(stage));
        return made;
    }

    @SuppressWarnings("unchecked")
    private static Predicate<SourceRecord> predicate(JsonNode stage) throws Exception {
        Predicate<SourceRecord> made = (Predicate<SourceRecord>) plugin(stage.get("class").asText());
        made.configure(settings(stage));
        return made;
    }

    private static Configurable plugin(String name) throws Exception {
        return (Configurable) Class.forName(name).getDeclaredConstructor().newInstance();
    }

    private static Map<String, String> settings(JsonNode question) {
        return new HashMap<>(
            JSON.convertValue(question.get("settings"), new TypeReference<Map<String, String>>() {}));
    }
}
