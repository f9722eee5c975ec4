import java.lang.reflect.Method;
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

    private Object image;

    RealMetadata(int broker) throws Exception {
        Class<?> type = Reflected.type(
            "org.apache.kafka.metadata.KRaftMetadataCache", "kafka.server.metadata.KRaftMetadataCache");
        cache = Reflected.made(type, broker);
        forget();
    }

    void forget() throws Exception {
        image = Reflected.type("org.apache.kafka.image.MetadataImage").getField("EMPTY").get(null);
        Reflected.call(cache, "setImage", image);
    }

    /**
     * The image is what these say: brokers as ID:EPOCH:FENCED:SHUTTING_DOWN, partitions as
     * LEADER:LEADER_EPOCH:PARTITION_EPOCH:REPLICAS:ISR:RECOVERY:MIN_ISR:ADDING:REMOVING, apart by
     * semicolons.
     */
    void is(String topic, Uuid topicId, String brokers, String partitions) throws Exception {
        forget();
        Object delta = delta();
        Method replay = replay(delta);
        for (String broker : brokers.split(";")) {
            replay(replay, delta, registered(broker.split(":")));
        }
        replay(replay, delta, new TopicRecord().setName(topic).setTopicId(topicId));
        String[] all = partitions.split(";");
        replay(replay, delta, new ConfigRecord()
            .setResourceType(ConfigResource.Type.TOPIC.id()).setResourceName(topic)
            .setName("min.insync.replicas").setValue(all[0].split(":")[6]));
        for (int index = 0; index < all.length; index++) {
            replay(replay, delta, recorded(topicId, index, all[index].split(":")));
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
    Object partition(Uuid topicId, int index) throws Exception {
        return Reflected.call(Reflected.call(image, "topics"), "getPartition", topicId, index);
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
