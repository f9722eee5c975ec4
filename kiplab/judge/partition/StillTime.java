import java.util.function.Supplier;
import org.apache.kafka.common.utils.Time;

/** A clock that stands still until it is moved. It begins far from 0, which Kafka takes for "never". */
final class StillTime implements Time {
    static final long BEGIN_MS = 1_000_000_000L;

    private long ms = BEGIN_MS;

    void begin() {
        ms = BEGIN_MS;
    }

    void advance(long by) {
        ms += by;
    }

    @Override
    public long milliseconds() {
        return ms;
    }

    @Override
    public long nanoseconds() {
        return ms * 1_000_000L;
    }

    @Override
    public long hiResClockMs() {
        return ms;
    }

    @Override
    public void sleep(long by) {
        throw new UnsupportedOperationException("nobody sleeps here");
    }

    @Override
    public void waitObject(Object object, Supplier<Boolean> done, long deadlineMs) {
        throw new UnsupportedOperationException("nobody waits here");
    }
}
