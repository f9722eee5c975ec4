import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.apache.kafka.common.message.AlterPartitionRequestData;

/** What Kafka's objects hold, as JSON. */
final class Told {
    private Told() {}

    static Object log(Object partition) throws Exception {
        return Reflected.inside(Reflected.call(partition, "log"));
    }

    /** A partition as its broker plays it; nothing but empty fields before the first metadata. */
    static String partition(Object partition) throws Exception {
        Object leader = Reflected.inside(Reflected.call(partition, "leaderReplicaIdOpt"));
        Object start = Reflected.inside(Reflected.field(partition, "leaderEpochStartOffsetOpt"));
        Object state = Reflected.call(partition, "partitionState");
        return "{\"leader\":" + leader
            + ",\"leader_epoch\":" + Reflected.call(partition, "getLeaderEpoch")
            + ",\"partition_epoch\":" + Reflected.call(partition, "getPartitionEpoch")
            + ",\"start_offset\":" + start
            + ",\"isr\":" + sorted(Reflected.call(state, "isr"))
            + ",\"maximal\":" + sorted(Reflected.call(state, "maximalIsr"))
            // A follower keeps what the metadata says, and asks nobody to change it.
            + ",\"recovery\":" + (start == null ? 0 : value(Reflected.call(state, "leaderRecoveryState")))
            + ",\"proposed\":" + proposed(state)
            + ",\"remotes\":" + remotes(partition)
            + written(log(partition)) + "}";
    }

    private static String written(Object log) throws Exception {
        if (log == null) {
            return ",\"high_watermark\":0,\"end\":0,\"epochs\":[]";
        }
        List<String> epochs = new ArrayList<>();
        Object cache = Reflected.inside(Reflected.call(log, "leaderEpochCache"));
        for (Object entry : Reflected.items(Reflected.call(cache, "epochEntries"))) {
            epochs.add("[" + Reflected.field(entry, "epoch") + "," + Reflected.field(entry, "startOffset") + "]");
        }
        return ",\"high_watermark\":" + Reflected.call(log, "highWatermark")
            + ",\"end\":" + Reflected.call(log, "logEndOffset")
            + ",\"epochs\":[" + String.join(",", epochs) + "]";
    }

    private static String proposed(Object state) throws Exception {
        if (!(Boolean) Reflected.call(state, "isInflight")) {
            return "null";
        }
        Object sent = Reflected.call(state, "sentLeaderAndIsr");
        boolean named = Reflected.has(sent, "isrWithBrokerEpoch");
        return "{\"leader_epoch\":" + Reflected.call(sent, "leaderEpoch")
            + ",\"partition_epoch\":" + Reflected.call(sent, "partitionEpoch")
            + ",\"recovery\":" + value(Reflected.call(sent, "leaderRecoveryState"))
            + ",\"isr\":" + members(Reflected.items(Reflected.call(sent, named ? "isrWithBrokerEpoch" : "isr")))
            + "}";
    }

    private static String remotes(Object partition) throws Exception {
        TreeMap<Integer, String> found = new TreeMap<>();
        for (Object replica : Reflected.items(Reflected.call(partition, "remoteReplicas"))) {
            Object state = Reflected.call(replica, "stateSnapshot");
            Object epoch = Reflected.has(state, "brokerEpoch") ? Reflected.inside(Reflected.call(state, "brokerEpoch")) : null;
            int broker = (Integer) Reflected.call(replica, "brokerId");
            found.put(broker, "{\"broker\":" + broker
                + ",\"end\":" + Reflected.call(state, "logEndOffset")
                // -1 after an election: as no fetch begins below 0, that is the same.
                + ",\"leader_end_at_last_fetch\":" + Math.max(0, (Long) Reflected.call(state, "lastFetchLeaderLogEndOffset"))
                + ",\"last_fetch_ms\":" + since(Reflected.call(state, "lastFetchTimeMs"))
                + ",\"last_caught_up_ms\":" + since(Reflected.call(state, "lastCaughtUpTimeMs"))
                + ",\"epoch\":" + epoch + "}");
        }
        return "[" + String.join(",", found.values()) + "]";
    }

    /** Milliseconds since the clock began; Kafka's 0 is long before. */
    private static long since(Object ms) {
        return (Long) ms - StillTime.BEGIN_MS;
    }

    /** A request for the controller. */
    static String request(AlterPartitionRequestData data, int version, KnownTopics topics) throws Exception {
        TreeMap<Integer, String> items = new TreeMap<>();
        for (AlterPartitionRequestData.TopicData topic : data.topics()) {
            for (AlterPartitionRequestData.PartitionData one : topic.partitions()) {
                Object isr = version < 3 ? one.newIsr() : Reflected.call(one, "newIsrWithEpochs");
                int place = topics.place(topic.topicId(), name(topic), one.partitionIndex());
                items.put(place, "{\"partition\":" + place
                    + ",\"leader_epoch\":" + one.leaderEpoch()
                    + ",\"partition_epoch\":" + one.partitionEpoch()
                    + ",\"recovery\":" + one.leaderRecoveryState()
                    + ",\"isr\":" + members(Reflected.items(isr)) + "}");
            }
        }
        return "{\"version\":" + version + ",\"broker\":" + data.brokerId() + ",\"broker_epoch\":" + data.brokerEpoch()
            + ",\"items\":[" + String.join(",", items.values()) + "]}";
    }

    /** From 4.x on a request has no names of topics. */
    private static String name(AlterPartitionRequestData.TopicData topic) throws Exception {
        return Reflected.has(topic, "topicName") ? (String) Reflected.call(topic, "topicName") : null;
    }

    /** What a fetch read: where the logs part, or the records as runs of epoch, first and end. */
    static String read(Object info) throws Exception {
        Object diverging = Reflected.inside(Reflected.field(info, "divergingEpoch"));
        String parts = diverging == null ? "null"
            : "[" + Reflected.call(diverging, "epoch") + "," + Reflected.call(diverging, "endOffset") + "]";
        List<String> runs = new ArrayList<>();
        Object records = Reflected.field(Reflected.field(info, "fetchedData"), "records");
        for (Object batch : (Iterable<?>) Reflected.call(records, "batches")) {
            runs.add("[" + Reflected.call(batch, "partitionLeaderEpoch") + "," + Reflected.call(batch, "baseOffset") + "]");
        }
        return "{\"high_watermark\":" + Reflected.field(info, "highWatermark")
            + ",\"diverging\":" + parts + ",\"records\":[" + String.join(",", runs) + "]}";
    }

    /** Members of an ISR with their epochs; -2 where a release has no epochs there. */
    private static String members(List<Object> isr) throws Exception {
        TreeMap<Integer, String> found = new TreeMap<>();
        for (Object member : isr) {
            boolean bare = member instanceof Integer;
            int broker = bare ? (Integer) member : (Integer) Reflected.call(member, "brokerId");
            found.put(broker, "[" + broker + "," + (bare ? -2L : Reflected.call(member, "brokerEpoch")) + "]");
        }
        return "[" + String.join(",", found.values()) + "]";
    }

    private static Object value(Object recovery) throws Exception {
        return Reflected.call(recovery, "value");
    }

    private static String sorted(Object brokers) throws Exception {
        List<Integer> found = new ArrayList<>();
        for (Object one : Reflected.items(brokers)) {
            found.add((Integer) one);
        }
        found.sort(null);
        return found.toString().replace(" ", "");
    }
}
