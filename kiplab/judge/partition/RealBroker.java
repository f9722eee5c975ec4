import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.function.Supplier;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.requests.FetchRequest;

/**
 * One process of a broker: its partitions, its AlterPartition manager, its metadata and its logs, all
 * Kafka's own. Nothing else of a broker is there, and nothing happens by itself. In its commands a
 * partition is its place among those that the process began with.
 */
final class RealBroker {
    private static final long LAG_MS = 30_000;
    static final int FAR = 1 << 30;
    private static final String NOTHING = "\"error\":0,\"read\":null";

    private final int id;
    private final StillTime time;
    private final Supplier<String> version;
    private final KnownTopics topics;
    private final FakeController controller;
    private final RealMetadata metadata;
    private final Object logs;
    private final List<Object> partitions = new ArrayList<>();
    private long brokerEpoch;

    RealBroker(int id, File folder, StillTime time, Supplier<String> version, String[] names) throws Exception {
        this.id = id;
        this.time = time;
        this.version = version;
        topics = new KnownTopics(names);
        controller = new FakeController(time, topics);
        metadata = new RealMetadata(id, topics);
        folder.mkdirs();
        logs = logs(folder);
        Object manager = manager();
        for (TopicPartition name : topics.partitions) {
            partitions.add(partition(name, manager));
        }
    }

    private Object logs(File folder) throws Exception {
        Properties settings = new Properties();
        settings.put("process.roles", "broker");
        settings.put("node.id", Integer.toString(id));
        settings.put("controller.quorum.voters", (id == 3000 ? 3001 : 3000) + "@127.0.0.1:9");
        settings.put("controller.listener.names", "CONTROLLER");
        settings.put("listeners", "PLAINTEXT://127.0.0.1:9");
        settings.put("log.dirs", folder.getPath());
        settings.put("log.roll.hours", "1000000");
        settings.put("log.index.size.max.bytes", "4096");
        Class<?> type = Class.forName("kafka.server.KafkaConfig");
        Object config = type.getMethod("fromProps", Properties.class).invoke(null, settings);
        Class<?> failures = Reflected.type(
            "org.apache.kafka.storage.internals.log.LogDirFailureChannel", "kafka.server.LogDirFailureChannel");
        Class<?> stats = Reflected.type(
            "org.apache.kafka.storage.log.metrics.BrokerTopicStats", "kafka.server.BrokerTopicStats");
        return Reflected.call(Reflected.single("kafka.log.LogManager"), "apply",
            config, metadata.cache, FakeController.idleScheduler(), time, Reflected.made(stats),
            Reflected.made(failures, 1), true);
    }

    /** What came of a command, as the inside of a JSON object. */
    String does(String[] words) throws Exception {
        switch (words[0]) {
            case "begin": case "epoch": brokerEpoch = number(words[1]); break;
            case "log": log(words); break;
            case "metadata": metadata(words); break;
            case "append": append(words); break;
            case "follow": follow(words); break;
            case "truncate": truncate(words); break;
            case "lag": lag(words); break;
            case "answer": controller.answer(words); break;
            case "lost": controller.lost(); break;
            case "retry": controller.retry(); break;
            case "fetch": return fetch(words);
            default: throw new IllegalArgumentException("unknown command " + words[0]);
        }
        return NOTHING;
    }

    /** Everything that the broker holds, and what it has sent since it was asked last. */
    String told() throws Exception {
        List<String> found = new ArrayList<>();
        for (Object partition : partitions) {
            found.add(Told.partition(partition));
        }
        return "\"sent\":" + controller.sent() + ",\"partitions\":[" + String.join(",", found) + "]";
    }

    /** Nobody asks it any more. */
    void end() throws Exception {
        for (Object partition : partitions) {
            Object log = Told.log(partition);
            if (log != null) {
                Reflected.call(log, "close");
            }
        }
    }

    private Object manager() throws Exception {
        Class<?> type = Reflected.type("kafka.server.DefaultAlterPartitionManager");
        Class<?>[] wanted = type.getConstructors()[0].getParameterTypes();
        return Reflected.made(type, Reflected.standIn(wanted[0], controller::send),
            Reflected.standIn(wanted[1], controller::later), time, id, epochSupplier(),
            supplier(this::metadataVersion));
    }

    private Object metadataVersion() {
        try {
            Class<?> versions = Reflected.type("org.apache.kafka.server.common.MetadataVersion");
            return Reflected.call(versions, "fromVersionString", version.get());
        } catch (Exception unknown) {
            throw new IllegalStateException(unknown);
        }
    }

    private Object epochSupplier() throws Exception {
        return supplier(() -> brokerEpoch);
    }

    private static Object supplier(Supplier<Object> of) throws Exception {
        return Reflected.standIn(Reflected.type("scala.Function0"), (self, method, given) -> of.get());
    }

    private Object partition(TopicPartition name, Object manager) throws Exception {
        Class<?> purgatories = Reflected.type(
            "org.apache.kafka.server.purgatory.DelayedOperationPurgatory", "kafka.server.DelayedOperationPurgatory");
        Object purgatory = Reflected.made(purgatories, "idle", id, FAR);
        Object delayed = Reflected.made(Reflected.type("kafka.cluster.DelayedOperations"), name, purgatory);
        return Reflected.made(Reflected.type("kafka.cluster.Partition"), name, LAG_MS, metadataVersion(), id,
            epochSupplier(), time, delayed, metadata.cache, logs, manager);
    }

    // --- commands -------------------------------------------------------------------------------

    /**
     * metadata BROKERS PARTITIONS CHANGED: the whole image, and the partitions that are not what they
     * were. A broker's cache has it first; then the partitions are told, as ReplicaManager does.
     */
    private void metadata(String[] words) throws Exception {
        metadata.is(words[1], words[2]);
        for (int index : numbers(words.length > 3 ? words[3] : "")) {
            Object registration = metadata.partition(index);
            TopicPartition name = topics.partitions.get(index);
            boolean leads = (Integer) Reflected.field(registration, "leader") == id;
            Object state = Reflected.has(registration, "toLeaderAndIsrPartitionState")
                ? Reflected.call(registration, "toLeaderAndIsrPartitionState", name, false)
                : registration;
            Reflected.call(partitions.get(index), leads ? "makeLeader" : "makeFollower",
                state, false, Reflected.some(topics.id(name.topic())));
        }
    }

    /** log PARTITION HIGH_WATERMARK [EPOCHxCOUNT,...]: what the process finds on its disk. */
    private void log(String[] words) throws Exception {
        int index = (int) number(words[1]);
        Reflected.call(partitions.get(index), "createLogIfNotExists",
            false, false, Reflected.some(topics.id(topics.partitions.get(index).topic())));
        follow(words);
    }

    /** append PARTITION COUNT ACKS: a producer's records, one in a batch. */
    private void append(String[] words) throws Exception {
        Object partition = partitions.get((int) number(words[1]));
        for (long left = number(words[2]); left > 0; left--) {
            Reflected.call(partition, "appendRecordsToLeader", RealRecords.fromClient(), RealRecords.origin(),
                (int) number(words[3]), RealRecords.requestLocal(), RealRecords.verification());
        }
    }

    /** follow PARTITION HIGH_WATERMARK [EPOCHxCOUNT,...]: what a fetch from another leader brought. */
    private void follow(String[] words) throws Exception {
        Object partition = partitions.get((int) number(words[1]));
        Object log = Told.log(partition);
        for (String run : words.length > 3 ? words[3].split(",") : new String[0]) {
            String[] parts = run.split("x");
            for (long left = number(parts[1]); left > 0; left--) {
                long end = (Long) Reflected.call(log, "logEndOffset");
                int epoch = (int) number(parts[0]);
                Reflected.call(partition, "appendRecordsToFollowerOrFutureReplica",
                    RealRecords.fromLeader(end, epoch), false, epoch);
            }
        }
        Reflected.call(log, "maybeUpdateHighWatermark", number(words[2]));
    }

    /** truncate PARTITION OFFSET: its fetcher has found that the leader's log is another one there. */
    private void truncate(String[] words) throws Exception {
        Reflected.call(partitions.get((int) number(words[1])), "truncateTo", number(words[2]), false);
    }

    /** lag PARTITION,...: the look for members that have fallen behind, in that order. */
    private void lag(String[] words) throws Exception {
        for (int index : numbers(words[1])) {
            Reflected.call(partitions.get(index), "maybeShrinkIsr");
        }
    }

    /** fetch PARTITION REPLICA REPLICA_EPOCH LEADER_EPOCH OFFSET LAST_FETCHED_EPOCH. */
    private String fetch(String[] words) throws Exception {
        Class<?> parameters = Reflected.type("org.apache.kafka.server.storage.log.FetchParams",
            "org.apache.kafka.storage.internals.log.FetchParams", "kafka.server.FetchParams");
        Object how = Reflected.made(parameters, RealRecords.fetchParameters(
            parameters, (int) number(words[2]), number(words[3])));
        int index = (int) number(words[1]);
        FetchRequest.PartitionData what = new FetchRequest.PartitionData(
            topics.id(topics.partitions.get(index).topic()), number(words[5]), 0, FAR,
            optional(words[4]), optional(words[6]));
        Object read = Reflected.call(partitions.get(index), "fetchRecords",
            how, what, time.milliseconds(), FAR, true, true);
        return "\"error\":0,\"read\":" + Told.read(read);
    }

    // --- words ----------------------------------------------------------------------------------

    private static Optional<Integer> optional(String word) {
        int epoch = (int) number(word);
        return epoch < 0 ? Optional.empty() : Optional.of(epoch);
    }

    static long number(String word) {
        return Long.parseLong(word);
    }

    static int[] numbers(String word) {
        if (word.isEmpty() || word.equals("-")) {
            return new int[0];
        }
        String[] parts = word.split(",");
        int[] found = new int[parts.length];
        for (int i = 0; i < parts.length; i++) {
            found[i] = (int) number(parts[i]);
        }
        return found;
    }
}
