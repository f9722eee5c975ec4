import java.io.File;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.AppInfoParser;

/**
 * A real cluster by Kafka's own test kit, three controllers and three brokers, all of it unmodified,
 * driven until a record that was acknowledged is gone, or until an attempt falls short of that.
 *
 * <p>Arguments: a folder of its own, which is java.io.tmpdir too; how many attempts; then settings
 * as NAME=VALUE. Node 0 leads, nodes 1 and 2 follow; the replicas are 0, 1, 2 in this order. The
 * faults are two: a follower's disk stalls (the lock of its log is held, so that its appends wait)
 * and the leader stops without a controlled shutdown. Nothing holds back, drops or reorders metadata
 * or AlterPartition: that race is Kafka's own.
 *
 * <p>On standard output goes one line for each thing that was seen, words and KEY=VALUE between
 * tabs. When standard input ends, so does the process, at once, and the folder is gone: nothing
 * outlives the parent.
 *
 * <p>Kafka's core and its test kit are reached by reflection, so that one class file runs on every
 * release; only the clients are compiled against.
 */
public final class LostRecord {
    private static final int LEADER = 0;
    private static final int LATE = 1;
    private static final int HEALTHY = 2;
    private static final int BEHIND = 16;
    private static final int LEEWAY = 2;
    private static final int SETTLED_MS = 300;
    private static final int BURST = 3;
    private static final String FILLING = "x".repeat(600_000);

    private static File folder;

    private final Properties clients;
    private final Map<Integer, Object> brokers;
    private final String topic;
    private final long began = System.nanoTime();
    private final ConcurrentLinkedQueue<String> acknowledged = new ConcurrentLinkedQueue<>();

    private LostRecord(Object kit, String topic) {
        this.clients = clients(kit);
        this.brokers = brokers(kit);
        this.topic = topic;
    }

    public static void main(String[] arguments) {
        folder = new File(arguments[0]);
        Thread watch = new Thread(LostRecord::endWithTheParent);
        watch.setDaemon(true);
        watch.start();
        try {
            drive(arguments);
            Runtime.getRuntime().halt(0);
        } catch (Throwable wrong) {
            // Kafka's threads would keep the process up.
            wrong.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    private static void drive(String[] arguments) throws Exception {
        Object kit = started(Arrays.copyOfRange(arguments, 2, arguments.length));
        say("cluster", "version=" + AppInfoParser.getVersion());
        boolean stopped = false;
        for (int n = 1; n <= Integer.parseInt(arguments[1]) && !stopped; n++) {
            say("attempt", "topic=orders" + n);
            stopped = new LostRecord(kit, "orders" + n).attempt();
        }
    }

    // --- one attempt ------------------------------------------------------------------------------

    /** Whether it came so far that the leader was stopped: no other attempt can follow then. */
    private boolean attempt() throws Exception {
        create();
        try (KafkaProducer<String, String> all = producer("all");
                KafkaProducer<String, String> one = producer("1")) {
            return forget(all, one) && lose();
        }
    }

    private boolean forget(KafkaProducer<String, String> all, KafkaProducer<String, String> one)
            throws Exception {
        if (!until("all three in sync", 20_000, () -> isr(LEADER).equals("0,1,2"))) {
            return false;
        }
        send(all, "first");
        all.flush();
        if (!until("both have it", 5_000, () -> end(LATE) == 1 && end(HEALTHY) == 1)) {
            return false;
        }
        Stall late = new Stall(log(LATE));
        Stall healthy = new Stall(log(HEALTHY));
        try {
            return forget(all, one, late, healthy);
        } finally {
            healthy.off();
        }
    }

    private boolean forget(
            KafkaProducer<String, String> all,
            KafkaProducer<String, String> one,
            Stall late,
            Stall healthy) throws Exception {
        late.on();
        healthy.on();
        seen("stalled");
        write(one, 1);
        if (!until("the ISR is the leader alone", 120_000, () -> isCommitted("0"))) {
            late.off();
            return false;
        }
        Thread.sleep(SETTLED_MS);
        seen("alone");
        // From 3.7 on nothing is committed while too few are in sync: whoever comes back is level with
        // what is committed at once, and needs no way to come.
        if (mark() == end(LEADER)) {
            write(one, BEHIND);
            until("the backlog is written", 5_000, () -> end(LEADER) >= 2 + BEHIND);
            seen("backlog");
            if (!approaches(HEALTHY, healthy, 1) || !approaches(LATE, late, 2)) {
                late.off();
                return false;
            }
        }
        String newest = image(LEADER);
        until("metadata comes to the leader", 2_000, () -> !image(LEADER).equals(newest));
        seen("close");
        healthy.off();
        if (!until("0 asks for 2", 10_000, () -> isr(LEADER).equals("0,2") || isProposed("0,2"))) {
            late.off();
            return false;
        }
        healthy.on();
        // From here on the high watermark waits for 2, so what is written is not committed.
        long start = end(LEADER);
        write(one, BURST);
        boolean back = until("2 is back", 5_000, () -> isCommitted("0,2"));
        int epoch = epoch();
        seen("answered");
        // One connection each: the last record is to be the last.
        boolean written = until("the burst is written", 500, () -> end(LEADER) >= start + BURST);
        send(all, "important");
        written &= until("the important record is written", 500, () -> end(LEADER) > start + BURST);
        if (!back || !written || !advances(late, () -> isProposed("0,1,2"))) {
            late.off();
            return false;
        }
        seen("proposed");
        boolean gone = until("the proposal is gone", 2_000, () -> !isPending());
        boolean forgotten = gone && isr(LEADER).equals("0,2") && epoch == epoch();
        seen(forgotten ? "forgotten" : "kept");
        healthy.off();
        boolean passed = forgotten
            && until("the high watermark passes 1", 1_000, () -> mark() > end(LATE));
        seen(passed ? "passed" : "held");
        boolean joined = passed && until("the controller has 1 in the ISR", 3_000, this::counts);
        joined &= until("0 hears of it", 1_000, () -> isr(LEADER).equals("0,1,2"));
        if (!joined || !until("an answer to the producer", 1_000, this::isPromised)) {
            late.off();
            return false;
        }
        seen("joined");
        stalled = late;
        return true;
    }

    /**
     * A slow disk, until the follower is close to the high watermark: it has heard by then of the
     * leader epoch that a smaller ISR brings along up to 3.5. It has to stay at least so many
     * records behind: who is one behind is level, for its leader, as of its last fetch once it has
     * that one; two behind is not.
     */
    private boolean approaches(int node, Stall disk, int behind) throws InterruptedException {
        long close = mark() - behind - LEEWAY;
        return advances(disk, () -> end(node) >= close)
            && until("a follower stops in time", 0, () -> end(node) <= mark() - behind);
    }

    /** A slow disk, until something holds; then it stalls again. */
    private boolean advances(Stall disk, BooleanSupplier done) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
        while (!holds(done) && System.nanoTime() < deadline) {
            disk.off();
            Thread.yield();
            disk.on();
            for (int looked = 0; looked < 5 && !holds(done); looked++) {
                Thread.sleep(1);
            }
        }
        return until("a follower comes as far as that", 0, done);
    }

    private Stall stalled;

    /**
     * Whether a record was acknowledged that node 1 neither has nor holds in its hands: what it has
     * fetched it appends when its disk is back.
     */
    private boolean isPromised() {
        long have = end(LATE) + 1;
        return acknowledged.stream().anyMatch(it -> Long.parseLong(it.split("@")[1]) >= have);
    }

    private boolean counts() {
        return Arrays.asList(registered(HEALTHY, "isr").split(",")).contains("" + LATE);
    }

    private boolean lose() throws Exception {
        Thread stop = new Thread(() -> call(brokers.get(LEADER), "shutdown"));
        stop.setDaemon(true);
        stop.start();
        say("stops");
        boolean elected =
            until("another leader", 60_000, () -> !registered(HEALTHY, "leader").equals("0"));
        say("elected", "leader=" + registered(HEALTHY, "leader"), "isr=" + registered(HEALTHY, "isr"));
        stalled.off();
        if (!elected) {
            return true;
        }
        List<String> read = read();
        say("ends", "late=" + end(LATE), "healthy=" + end(HEALTHY));
        say("read", "acknowledged=" + String.join(",", acknowledged), "found=" + String.join(",", read));
        List<String> lost = new ArrayList<>(acknowledged);
        lost.removeAll(read);
        say(lost.isEmpty() ? "whole" : "lost", "records=" + String.join(",", lost));
        return true;
    }

    // --- what is seen -----------------------------------------------------------------------------

    private void seen(String moment) {
        Object state = call(partition(LEADER), "partitionState");
        say(
            moment,
            "ms=" + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began),
            "state=" + state.getClass().getSimpleName(),
            "isr=" + sorted(call(state, "isr")),
            "maximal=" + sorted(call(state, "maximalIsr")),
            "epoch=" + epoch(),
            "mark=" + mark(),
            "leader=" + end(LEADER),
            "late=" + end(LATE),
            "healthy=" + end(HEALTHY),
            "metadata=" + registered(HEALTHY, "isr"));
    }

    private boolean isPending() {
        return (boolean) call(call(partition(LEADER), "partitionState"), "isInflight");
    }

    private boolean isCommitted(String isr) {
        return !isPending() && isr(LEADER).equals(isr);
    }

    private boolean isProposed(String isr) {
        Object state = call(partition(LEADER), "partitionState");
        return (boolean) call(state, "isInflight") && sorted(call(state, "maximalIsr")).equals(isr);
    }

    private String isr(int node) {
        return sorted(call(call(partition(node), "partitionState"), "isr"));
    }

    private int epoch() {
        return (int) call(partition(LEADER), "getPartitionEpoch");
    }

    private long mark() {
        return (long) call(log(LEADER), "highWatermark");
    }

    private long end(int node) {
        return (long) call(log(node), "logEndOffset");
    }

    private Object partition(int node) {
        TopicPartition name = new TopicPartition(topic, 0);
        return call(call(brokers.get(node), "replicaManager"), "getPartitionOrException", name);
    }

    private Object log(int node) {
        return call(partition(node), "localLogOrException");
    }

    /** How far the metadata is that a node has applied. */
    private String image(int node) {
        Object image = call(call(brokers.get(node), "metadataCache"), "currentImage");
        return call(image, "highestOffsetAndEpoch").toString();
    }

    /** A field of the partition as the newest metadata of a node has it. */
    private String registered(int node, String field) {
        Object image = call(call(brokers.get(node), "metadataCache"), "currentImage");
        Object found = call(call(image, "topics"), "getTopic", topic);
        Object mine = ((Map<?, ?>) call(found, "partitions")).get(0);
        try {
            Object value = mine.getClass().getField(field).get(mine);
            return value instanceof int[] ? sorted((int[]) value) : value.toString();
        } catch (ReflectiveOperationException wrong) {
            throw new IllegalStateException(wrong);
        }
    }

    private static String sorted(int[] ids) {
        return Arrays.stream(ids).sorted().mapToObj(Integer::toString).collect(Collectors.joining(","));
    }

    /** A set of Java's from 4.2 on; one of Scala's before, by its own words for what it holds. */
    private static String sorted(Object set) {
        if (set instanceof Collection) {
            return sorted(((Collection<?>) set).stream().mapToInt(id -> (Integer) id).toArray());
        }
        String ids = (String) call(set, "mkString", ",");
        return ids.isEmpty() ? "" : sorted(Arrays.stream(ids.split(",")).mapToInt(Integer::parseInt).toArray());
    }

    private boolean until(String what, long ms, BooleanSupplier done) {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ms);
        boolean is = holds(done);
        while (!is && System.nanoTime() < deadline) {
            Thread.onSpinWait();
            is = holds(done);
        }
        if (!is) {
            say("missed", "what=" + what, "waited=" + ms);
        }
        return is;
    }

    /** What is not there yet does not hold yet. */
    private static boolean holds(BooleanSupplier done) {
        try {
            return done.getAsBoolean();
        } catch (RuntimeException notYet) {
            return false;
        }
    }

    // --- clients ----------------------------------------------------------------------------------

    private void create() throws Exception {
        try (Admin admin = Admin.create(clients)) {
            Map<Integer, List<Integer>> replicas = Map.of(0, List.of(LEADER, LATE, HEALTHY));
            admin.createTopics(List.of(new NewTopic(topic, replicas))).all().get();
        }
    }

    private KafkaProducer<String, String> producer(String acks) {
        Properties settings = with("org.apache.kafka.common.serialization.StringSerializer", "serializer");
        settings.put("acks", acks);
        settings.put("batch.size", "0");
        settings.put("enable.idempotence", "false");
        settings.put("request.timeout.ms", "120000");
        settings.put("delivery.timeout.ms", "240000");
        return new KafkaProducer<>(settings);
    }

    private Properties with(String type, String role) {
        Properties settings = new Properties();
        settings.putAll(clients);
        settings.put("key." + role, type);
        settings.put("value." + role, type);
        return settings;
    }

    private void write(KafkaProducer<String, String> producer, int count) {
        for (int i = 0; i < count; i++) {
            send(producer, "unimportant");
        }
    }

    /** Half a megabyte and more: of such records one fits into a fetch, by Kafka's defaults. */
    private void send(KafkaProducer<String, String> producer, String key) {
        boolean matters = !key.equals("unimportant");
        String value = matters ? "" : FILLING;
        producer.send(new ProducerRecord<>(topic, 0, key, value), (where, error) -> {
            if (error == null && matters) {
                acknowledged.add(key + "@" + where.offset());
            }
        });
    }

    /** Every record that there is, from the start. */
    private List<String> read() {
        Properties settings = with("org.apache.kafka.common.serialization.StringDeserializer", "deserializer");
        TopicPartition name = new TopicPartition(topic, 0);
        List<String> found = new ArrayList<>();
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(settings)) {
            consumer.assign(List.of(name));
            consumer.seek(name, 0);
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
            while (System.nanoTime() < deadline) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(500))) {
                    found.add(record.key() + "@" + record.offset());
                }
            }
        }
        return found;
    }

    // --- the cluster ------------------------------------------------------------------------------

    private static Object started(String[] settings) throws Exception {
        Object nodes = made("TestKitNodes$Builder");
        call(nodes, "setNumBrokerNodes", 3);
        call(nodes, "setNumControllerNodes", 3);
        Object builder = made("KafkaClusterTestKit$Builder", call(nodes, "build"));
        for (String setting : settings) {
            String[] both = setting.split("=", 2);
            call(builder, "setConfigProp", both[0], both[1]);
        }
        Object kit = call(builder, "build");
        call(kit, "format");
        call(kit, "startup");
        call(kit, "waitForReadyBrokers");
        return kit;
    }

    /** What a client has to know; the kit says it in another way from 4.2 on. */
    private static Properties clients(Object kit) {
        if (Arrays.stream(kit.getClass().getMethods()).anyMatch(it -> it.getName().equals("clientProperties"))) {
            return (Properties) call(kit, "clientProperties");
        }
        Properties settings = new Properties();
        settings.put("bootstrap.servers", call(kit, "bootstrapServers"));
        return settings;
    }

    @SuppressWarnings("unchecked")
    private static Map<Integer, Object> brokers(Object kit) {
        return new TreeMap<>((Map<Integer, Object>) call(kit, "brokers"));
    }

    /** The test kit has moved to another package at 4.0. */
    private static Object made(String name, Object... given) throws Exception {
        Class<?> type;
        try {
            type = Class.forName("kafka.testkit." + name);
        } catch (ClassNotFoundException moved) {
            type = Class.forName("org.apache.kafka.common.test." + name);
        }
        return Arrays.stream(type.getConstructors())
            .filter(made -> made.getParameterCount() == given.length)
            .findFirst().orElseThrow().newInstance(given);
    }

    /** Holds the lock of a log: whoever would append waits, as for a disk that does not answer. */
    private static final class Stall {
        private final Object lock;
        private CountDownLatch release;

        Stall(Object log) throws Exception {
            Field found = null;
            for (Class<?> type = log.getClass(); found == null && type != null; type = type.getSuperclass()) {
                found = Arrays.stream(type.getDeclaredFields())
                    .filter(field -> field.getName().equals("lock") || field.getName().endsWith("$$lock"))
                    .findFirst().orElse(null);
            }
            found.setAccessible(true);
            this.lock = found.get(log);
        }

        void on() throws InterruptedException {
            CountDownLatch held = new CountDownLatch(1);
            CountDownLatch mine = new CountDownLatch(1);
            release = mine;
            Thread holder = new Thread(() -> {
                synchronized (lock) {
                    held.countDown();
                    await(mine);
                }
            });
            holder.setDaemon(true);
            holder.start();
            held.await();
        }

        void off() {
            release.countDown();
        }

        private static void await(CountDownLatch latch) {
            try {
                latch.await();
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        }
    }

    // --- plumbing ---------------------------------------------------------------------------------

    private static final Map<String, Method> METHODS = new HashMap<>();

    private static Object call(Object target, String name, Object... given) {
        try {
            return method(target.getClass(), name, given).invoke(target, given);
        } catch (InvocationTargetException thrown) {
            throw new IllegalStateException(thrown.getCause());
        } catch (ReflectiveOperationException wrong) {
            throw new IllegalStateException(wrong);
        }
    }

    private static synchronized Method method(Class<?> type, String name, Object[] given)
            throws NoSuchMethodException {
        String key = type.getName() + "." + name + given.length;
        Method known = METHODS.get(key);
        if (known == null) {
            known = Arrays.stream(type.getMethods())
                .filter(method -> method.getName().equals(name) && takes(method, given))
                .findFirst().orElseThrow(() -> new NoSuchMethodException(key));
            known.setAccessible(true);
            METHODS.put(key, known);
        }
        return known;
    }

    private static boolean takes(Method method, Object[] given) {
        Class<?>[] wanted = method.getParameterTypes();
        for (int i = 0; i < wanted.length && wanted.length == given.length; i++) {
            if (!wanted[i].isInstance(given[i]) && !wanted[i].isPrimitive()) {
                return false;
            }
        }
        return wanted.length == given.length;
    }

    private static synchronized void say(String... words) {
        System.out.println(String.join("\t", words));
        System.out.flush();
    }

    private static void endWithTheParent() {
        try {
            while (System.in.read() >= 0) { }
        } catch (IOException gone) {
            // As good as an end.
        }
        // Kafka's servers are not asked: what they hold is this process's and goes with it.
        delete(folder);
        Runtime.getRuntime().halt(1);
    }

    private static void delete(File file) {
        File[] inside = file.listFiles();
        for (File one : inside == null ? new File[0] : inside) {
            delete(one);
        }
        file.delete();
    }
}
