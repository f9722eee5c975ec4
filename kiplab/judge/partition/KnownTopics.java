import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;

/** The partitions that there are, and the ids of their topics: the same for every broker. */
final class KnownTopics {
    final List<TopicPartition> partitions = new ArrayList<>();
    final List<String> names = new ArrayList<>();

    /** "orders-0", in order. */
    KnownTopics(String[] partitions) {
        for (String one : partitions) {
            int dash = one.lastIndexOf('-');
            String topic = one.substring(0, dash);
            this.partitions.add(new TopicPartition(topic, Integer.parseInt(one.substring(dash + 1))));
            if (!names.contains(topic)) {
                names.add(topic);
            }
        }
    }

    Uuid id(String topic) {
        return new Uuid(1, names.indexOf(topic) + 1);
    }

    /** The partition at a place; beyond the last one those of the first topic that there are not. */
    TopicPartition at(int place) {
        return place < partitions.size() ? partitions.get(place) : new TopicPartition(names.get(0), place);
    }

    /** The place of a partition whose topic has this id, or where that is not told, this name. */
    int place(Uuid topicId, String topic, int index) {
        for (int place = 0; place < partitions.size(); place++) {
            TopicPartition one = partitions.get(place);
            boolean same = topicId.equals(Uuid.ZERO_UUID) ? one.topic().equals(topic) : id(one.topic()).equals(topicId);
            if (same && one.partition() == index) {
                return place;
            }
        }
        throw new IllegalStateException("nobody knows partition " + index + " of " + topic + " " + topicId);
    }
}
