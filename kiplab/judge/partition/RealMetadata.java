import java.lang.reflect.Method;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.metadata.ConfigRecord;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.RegisterBrokerRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.common.protocol.ApiMessage;
import java.util.ArrayList;
import java.util.List;

/** What a broker has replicated of the metadata log: Kafka's own image, in Kafka's own cache. */
final class RealMetadata {
    final Object cache;

    private final KnownTopics topics;
    private Object image;

    RealMetadata(int broker, KnownTopics topics) throws Exception {
        this.topics = topics;
        Class<?> type = Reflected.type(
            "org.apache.kafka.metadata.KRaftMetadataCache", "kafka.server.metadata.KRaftMetadataCache");
        cache = Reflected.made(type, broker);
        forget();
    }

    private void forget() throws Exception {
        image = Reflected.type("org.apache.kafka.image.MetadataImage").getField("EMPTY").get(null);
        Reflected.call(cache, "setImage", image);
    }

    /**
     * The image is what these say: brokers as ID:EPOCH:FENCED:SHUTTING_DOWN, partitions in their
     * order as LEADER:LEADER_EPOCH:PARTITION_EPOCH:REPLICAS:ISR:RECOVERY:MIN_ISR:ADDING:REMOVING,
     * apart by semicolons; "-" are none.
     */
    void is(String brokers, String partitions) throws Exception {
        forget();
        Object delta = delta();
        Method replay = replay(delta);
        for (String broker : brokers.equals("-") ? new String[0] : brokers.split(";")) {
            replay(replay, delta, registered(broker.split(":")));
        }
        String[] all = partitions.split(";");
        for (String topic : topics.names) {
            replay(replay, delta, new TopicRecord().setName(topic).setTopicId(topics.id(topic)));
        }
        for (int place = 0; place < all.length; place++) {
            TopicPartition name = topics.partitions.get(place);
            String[] parts = all[place].split(":");
            replay(replay, delta, new ConfigRecord()
                .setResourceType(ConfigResource.Type.TOPIC.id()).setResourceName(name.topic())
                .setName("min.insync.replicas").setValue(parts[6]));
            replay(replay, delta, recorded(topics.id(name.topic()), name.partition(), parts));
        }
        image = Reflected.call(delta, "apply", from());
        Reflected.call(cache, "setImage", image);
    }

    /** Where an image comes from; 3.3 does not ask. */
    private static Object from() throws Exception {
        try {
            return Reflected.made(Class.forName("org.apache.kafka.image.MetadataProvenance"));
        } catch (ClassNotFoundException old) {
            return null;
        }
    }

    /** The PartitionRegistration of one partition. */
    Object partition(int place) throws Exception {
        TopicPartition name = topics.partitions.get(place);
        Object all = Reflected.call(image, "topics");
        return Reflected.call(all, "getPartition", topics.id(name.topic()), name.partition());
    }

    private Object delta() throws Exception {
        Class<?> type = Reflected.type("org.apache.kafka.image.MetadataDelta");
        try {
            return type.getConstructor(image.getClass()).newInstance(image);
        } catch (NoSuchMethodException built) {
            Object builder = Reflected.made(Class.forName(type.getName() + "$Builder"));
            return Reflected.call(Reflected.call(builder, "setImage", image), "build");
        }
    }

    /** The one that takes any record; 3.3 wants its offset and epoch as well. */
    private static Method replay(Object delta) throws NoSuchMethodException {
        for (Method one : delta.getClass().getMethods()) {
            Class<?>[] wanted = one.getParameterTypes();
            if (one.getName().equals("replay") && wanted[wanted.length - 1] == ApiMessage.class) {
                return one;
            }
        }
        throw new NoSuchMethodException("MetadataDelta.replay");
    }

    private static void replay(Method replay, Object delta, ApiMessage record) throws Exception {
        if (replay.getParameterCount() == 1) {
            replay.invoke(delta, record);
        } else {
            replay.invoke(delta, 0L, 0, record);
        }
    }

    private static ApiMessage registered(String[] parts) {
        return new RegisterBrokerRecord()
            .setBrokerId((int) RealBroker.number(parts[0]))
            .setBrokerEpoch(RealBroker.number(parts[1]))
            .setIncarnationId(new Uuid(1, RealBroker.number(parts[0])))
            .setFenced(parts[2].equals("1"))
            .setInControlledShutdown(parts[3].equals("1"));
    }

    private static ApiMessage recorded(Uuid topicId, int index, String[] parts) {
        return new PartitionRecord()
            .setTopicId(topicId)
            .setPartitionId(index)
            .setLeader((int) RealBroker.number(parts[0]))
            .setLeaderEpoch((int) RealBroker.number(parts[1]))
            .setPartitionEpoch((int) RealBroker.number(parts[2]))
            .setReplicas(listed(parts[3]))
            .setIsr(listed(parts[4]))
            .setLeaderRecoveryState((byte) RealBroker.number(parts[5]))
            .setAddingReplicas(listed(parts[7]))
            .setRemovingReplicas(listed(parts[8]));
    }

    private static List<Integer> listed(String word) {
        List<Integer> found = new ArrayList<>();
        for (int one : RealBroker.numbers(word)) {
            found.add(one);
        }
        return found;
    }
}
