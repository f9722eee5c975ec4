import java.lang.reflect.Method;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ScheduledFuture;
import org.apache.kafka.clients.ClientResponse;
import org.apache.kafka.clients.RequestCompletionHandler;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.message.AlterPartitionResponseData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AlterPartitionRequest;
import org.apache.kafka.common.requests.AlterPartitionResponse;
import org.apache.kafka.common.requests.RequestHeader;

/**
 * The other end of Kafka's own AlterPartition manager: requests wait here until the parent says what
 * is answered, and what the manager puts off waits until the parent says that it is due.
 */
final class FakeController {
    private static Object idle;

    private final StillTime time;
    private final KnownTopics topics;
    private final Deque<Runnable> putOff = new ArrayDeque<>();
    private final List<String> sent = new ArrayList<>();
    private AlterPartitionRequest request;
    private RequestCompletionHandler waiting;
    private boolean again;

    FakeController(StillTime time, KnownTopics topics) {
        this.time = time;
        this.topics = topics;
    }

    /** What has been sent since this was asked last, as JSON. */
    String sent() {
        String all = "[" + String.join(",", sent) + "]";
        sent.clear();
        return all;
    }

    /** sendRequest of NodeToControllerChannelManager, under whatever name. */
    Object send(Object self, Method method, Object[] given) throws Exception {
        if (method.getName().equals("sendRequest")) {
            waiting = (RequestCompletionHandler) given[1];
            AlterPartitionRequest.Builder builder = (AlterPartitionRequest.Builder) given[0];
            request = builder.build(builder.latestAllowedVersion());
            resend();
        }
        return null;
    }

    private void resend() throws Exception {
        sent.add(Told.request(request.data(), request.version(), topics));
    }

    /** schedule and scheduleOnce of Scheduler. */
    Object later(Object self, Method method, Object[] given) throws Exception {
        if (method.getName().startsWith("schedule")) {
            Object task = given[1];
            putOff.add(task instanceof Runnable ? (Runnable) task : () -> applied(task));
            return Reflected.standIn(ScheduledFuture.class, (future, asked, what) -> null);
        }
        return null;
    }

    private static void applied(Object task) {
        try {
            Reflected.call(task, "apply");
        } catch (Exception thrown) {
            throw new IllegalStateException(thrown);
        }
    }

    /** A scheduler of LogManager's liking, in which nothing ever becomes due: one for all. */
    static Object idleScheduler() throws Exception {
        if (idle == null) {
            idle = newIdleScheduler();
        }
        return idle;
    }

    private static Object newIdleScheduler() throws Exception {
        Class<?> type = Reflected.type("org.apache.kafka.server.util.Scheduler", "kafka.utils.KafkaScheduler");
        if (type.isInterface()) {
            return Reflected.standIn(type, (self, method, given) -> method.getName().startsWith("schedule")
                ? Reflected.standIn(ScheduledFuture.class, (future, asked, what) -> null) : null);
        }
        Object scheduler = Reflected.made(type, 1, "idle", true);
        Reflected.call(scheduler, "startup");
        return scheduler;
    }

    /** What was put off is due, all of it: by the manager, and by the thread of its channel. */
    void retry() throws Exception {
        for (int left = putOff.size(); left > 0; left--) {
            putOff.poll().run();
        }
        if (again) {
            again = false;
            resend();
        }
    }

    /** The connection is lost: the thread of the channel will send the same request again. */
    void lost() {
        again = true;
    }

    /**
     * answer ERROR [PARTITION:ERROR:LEADER:LEADER_EPOCH:PARTITION_EPOCH:ISR:RECOVERY;...]
     *
     * <p>Of a controller that is none the manager never hears: the thread of its channel looks for
     * another and sends the same request again.
     */
    void answer(String[] words) {
        AlterPartitionResponse body = new AlterPartitionResponse(replied(words));
        if (body.errorCounts().containsKey(Errors.NOT_CONTROLLER)) {
            again = true;
            return;
        }
        RequestHeader header = new RequestHeader(ApiKeys.ALTER_PARTITION, request.version(), "", 0);
        long now = time.milliseconds();
        waiting.onComplete(new ClientResponse(header, null, "", now, now, false, null, null, body));
    }

    private AlterPartitionResponseData replied(String[] words) {
        AlterPartitionResponseData data =
            new AlterPartitionResponseData().setErrorCode((short) RealBroker.number(words[1]));
        Map<String, AlterPartitionResponseData.TopicData> told = new LinkedHashMap<>();
        for (String result : words.length > 2 ? words[2].split(";") : new String[0]) {
            String[] parts = result.split(":");
            TopicPartition name = topics.at((int) RealBroker.number(parts[0]));
            told.computeIfAbsent(name.topic(), topic ->
                new AlterPartitionResponseData.TopicData().setTopicId(topics.id(topic)))
                .partitions().add(result(name.partition(), parts));
        }
        data.topics().addAll(told.values());
        return data;
    }

    private static AlterPartitionResponseData.PartitionData result(int index, String[] parts) {
        List<Integer> isr = new ArrayList<>();
        for (int one : RealBroker.numbers(parts[5])) {
            isr.add(one);
        }
        return new AlterPartitionResponseData.PartitionData()
            .setPartitionIndex(index)
            .setErrorCode((short) RealBroker.number(parts[1]))
            .setLeaderId((int) RealBroker.number(parts[2]))
            .setLeaderEpoch((int) RealBroker.number(parts[3]))
            .setPartitionEpoch((int) RealBroker.number(parts[4]))
            .setIsr(isr)
            .setLeaderRecoveryState((byte) RealBroker.number(parts[6]));
    }
}
