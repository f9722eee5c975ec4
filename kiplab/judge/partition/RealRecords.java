import java.lang.reflect.Array;
import java.lang.reflect.Method;

/** Records, and what goes with them into a log: what each release calls the same few things. */
final class RealRecords {
    private static final Object NOTHING_CACHED = guarded(RealRecords::findRequestLocal);
    private static final Object VERIFICATION = guarded(() -> constant(
        "SENTINEL", "org.apache.kafka.storage.internals.log.VerificationGuard"));
    private static final Object ORIGIN = guarded(RealRecords::findOrigin);
    private static final Object PLAIN = guarded(() -> constant(
        "NONE", "org.apache.kafka.common.compress.Compression", "org.apache.kafka.common.record.CompressionType"));

    private RealRecords() {}

    private interface Finding {
        Object found() throws Exception;
    }

    private static Object guarded(Finding finding) {
        try {
            return finding.found();
        } catch (Exception missing) {
            return null;
        }
    }

    /** What a producer sends: one record in a batch. */
    static Object fromClient() throws Exception {
        return records();
    }

    /** What a leader of that epoch has at that offset. */
    static Object fromLeader(long offset, int epoch) throws Exception {
        return records(offset, epoch);
    }

    private static Object records(Object... where) throws Exception {
        Class<?> memory = Reflected.type(
            "org.apache.kafka.common.record.internal.MemoryRecords", "org.apache.kafka.common.record.MemoryRecords");
        Class<?> simple = Reflected.type(
            "org.apache.kafka.common.record.internal.SimpleRecord", "org.apache.kafka.common.record.SimpleRecord");
        Object some = Array.newInstance(simple, 1);
        Array.set(some, 0, simple.getConstructor(byte[].class).newInstance((Object) new byte[1]));
        for (Method one : memory.getMethods()) {
            Class<?>[] wanted = one.getParameterTypes();
            if (!one.getName().equals("withRecords") || wanted[wanted.length - 1] != some.getClass()) {
                continue;
            }
            if (where.length == 0 && wanted.length == 2 && wanted[0].isInstance(PLAIN)) {
                return one.invoke(null, PLAIN, some);
            }
            if (where.length == 2 && wanted.length == 4 && wanted[0] == long.class && wanted[1].isInstance(PLAIN)
                    && (wanted[2] == Integer.class || wanted[2] == int.class)) {
                return one.invoke(null, where[0], PLAIN, where[1], some);
            }
        }
        throw new NoSuchMethodException("MemoryRecords.withRecords");
    }

    static Object origin() {
        return ORIGIN;
    }

    static Object requestLocal() {
        return NOTHING_CACHED;
    }

    static Object verification() {
        return VERIFICATION;
    }

    /** A follower's: 3.3 and 3.4 have no epoch of the replica, and no request version stands from 4.3. */
    static Object[] fetchParameters(Class<?> type, int replica, long replicaEpoch) throws Exception {
        int longs = 0;
        Object isolation = null;
        Class<?>[] most = new Class<?>[0];
        for (java.lang.reflect.Constructor<?> one : type.getConstructors()) {
            most = one.getParameterCount() > most.length ? one.getParameterTypes() : most;
        }
        for (Class<?> wanted : most) {
            longs += wanted == long.class ? 1 : 0;
            if (wanted.getSimpleName().equals("FetchIsolation")) {
                isolation = wanted.isEnum() ? constant("LOG_END", wanted.getName()) : Reflected.single("kafka.server.FetchLogEnd");
            }
        }
        short version = 12;
        return longs == 1
            ? new Object[] {version, replica, 0L, 1, RealBroker.FAR, isolation}
            : new Object[] {version, replica, replicaEpoch, 0L, 1, RealBroker.FAR, isolation};
    }

    private static Object findRequestLocal() throws Exception {
        try {
            return Reflected.call(Reflected.type("org.apache.kafka.server.common.RequestLocal"), "noCaching");
        } catch (ClassNotFoundException scala) {
            return Reflected.call(Reflected.single("kafka.server.RequestLocal"), "NoCaching");
        }
    }

    private static Object findOrigin() throws Exception {
        try {
            return constant("CLIENT", "org.apache.kafka.storage.internals.log.AppendOrigin");
        } catch (ClassNotFoundException scala) {
            return constant("MODULE$", "kafka.log.AppendOrigin$Client$");
        }
    }

    private static Object constant(String name, String... types) throws Exception {
        return Reflected.type(types).getField(name).get(null);
    }
}
