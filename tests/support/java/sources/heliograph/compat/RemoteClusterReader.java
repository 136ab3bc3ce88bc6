package heliograph.compat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.connect.mirror.MirrorClient;
import org.apache.kafka.connect.mirror.RemoteClusterUtils;

/** What a Java application learns of a target cluster, through the public API alone. */
public final class RemoteClusterReader {
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private RemoteClusterReader() {}

    public static Map<String, Object> read(
            Map<String, Object> properties, String alias, List<String> groups, String pattern)
            throws Exception {
        Map<String, Object> found = new TreeMap<>();
        found.put("heartbeat_topics", new TreeSet<>(RemoteClusterUtils.heartbeatTopics(properties)));
        found.put("checkpoint_topics", new TreeSet<>(RemoteClusterUtils.checkpointTopics(properties)));
        found.put("upstream_clusters", new TreeSet<>(RemoteClusterUtils.upstreamClusters(properties)));
        found.put("replication_hops", RemoteClusterUtils.replicationHops(properties, alias));
        Map<String, Object> single = new TreeMap<>();
        for (String group : groups) {
            single.put(group, plain(
                RemoteClusterUtils.translateOffsets(properties, alias, group, PATIENCE)));
        }
        found.put("group", single);
        Map<String, Object> many = new TreeMap<>();
        RemoteClusterUtils.translateOffsets(properties, alias, Pattern.compile(pattern), PATIENCE)
            .forEach((group, offsets) -> many.put(group, plain(offsets)));
        found.put("pattern", many);
        try (MirrorClient client = new MirrorClient(properties)) {
            found.put("remote_topics", new TreeSet<>(client.remoteTopics()));
            found.put("remote_topics_of_alias", new TreeSet<>(client.remoteTopics(alias)));
        }
        return found;
    }

    private static Map<String, Object> plain(Map<TopicPartition, OffsetAndMetadata> offsets) {
        return offsets.entrySet().stream().collect(Collectors.toMap(
            entry -> entry.getKey().toString(),
            entry -> List.of(entry.getValue().offset(), entry.getValue().metadata())));
    }
}
