import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.reflect.Constructor;
import java.util.Properties;
import java.util.function.Supplier;
import org.apache.kafka.common.utils.Time;

/**
 * Kafka's own KafkaRaftServer, in a process whose parent moves its clock.
 *
 * <p>One argument: the file with the server's settings, in a folder of its own. Then one command a
 * line on standard input, and one line in answer to each: "freeze", "thaw", "advance MS", "now",
 * "restart". When the input ends, so does the server, and the folder is gone: nothing outlives the
 * parent.
 *
 * <p>What is in Kafka's core jar is reached by reflection, so that one class file runs on every
 * release; only the interface Time is compiled against.
 */
public final class JudgeLauncher {
    private static final long LAST_WISH_MS = 15_000;

    private JudgeLauncher() {}

    public static void main(String[] arguments) throws Exception {
        MovableTime time = new MovableTime();
        Object server = started(arguments[0], time);
        System.out.println("ready");
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String line = next(commands); line != null; line = next(commands)) {
            if (line.equals("restart")) {
                stop(server);
                server = started(arguments[0], time);
                System.out.println("restarted");
            } else {
                System.out.println(time.told(line.split(" ")));
            }
        }
        // A server that cannot stop is stopped: nobody is left to do it from outside.
        Thread end = new Thread(() -> haltAfter(LAST_WISH_MS));
        end.setDaemon(true);
        end.start();
        time.thaw();
        stop(server);
        delete(new File(arguments[0]).getAbsoluteFile().getParentFile());
        System.exit(0);
    }

    private static void delete(File file) {
        File[] inside = file.listFiles();
        for (File one : inside == null ? new File[0] : inside) {
            delete(one);
        }
        file.delete();
    }

    private static String next(BufferedReader commands) {
        System.out.flush();
        try {
            return commands.readLine();
        } catch (IOException gone) {
            return null;
        }
    }

    private static void haltAfter(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException stopped) {
            return;
        }
        Runtime.getRuntime().halt(1);
    }

    private static Object started(String file, Time time) throws Exception {
        Properties settings = new Properties();
        try (FileInputStream in = new FileInputStream(file)) {
            settings.load(in);
        }
        Object config = Class.forName("kafka.server.KafkaConfig")
            .getMethod("fromProps", Properties.class).invoke(null, settings);
        Constructor<?> made = Class.forName("kafka.server.KafkaRaftServer").getConstructors()[0];
        Class<?>[] wanted = made.getParameterTypes();
        Object[] given = new Object[wanted.length];
        for (int i = 0; i < wanted.length; i++) {
            given[i] = wanted[i].isInstance(config) ? config : wanted[i] == Time.class ? time : nothing();
        }
        Object server = made.newInstance(given);
        call(server, "startup");
        return server;
    }

    /** 3.2 wants the prefix of its threads' names, or none. */
    private static Object nothing() throws Exception {
        return Class.forName("scala.Option").getMethod("empty").invoke(null);
    }

    private static void stop(Object server) throws Exception {
        call(server, "shutdown");
        call(server, "awaitShutdown");
    }

    private static void call(Object server, String method) throws Exception {
        server.getClass().getMethod(method).invoke(server);
    }

    /** The machine's time until it is frozen; from then on it moves when it is told to. */
    private static final class MovableTime implements Time {
        private boolean frozen;
        private long aheadMs;
        private long aheadNs;

        synchronized String told(String[] words) {
            switch (words[0]) {
                case "freeze": freeze(); return "frozen";
                case "thaw": thaw(); return "thawed";
                case "advance": advance(Long.parseLong(words[1])); return "advanced";
                case "now": return Long.toString(milliseconds());
                default: return "unknown command " + words[0];
            }
        }

        private void freeze() {
            if (!frozen) {
                aheadMs += System.currentTimeMillis();
                aheadNs += System.nanoTime();
                frozen = true;
            }
        }

        synchronized void thaw() {
            if (frozen) {
                aheadMs -= System.currentTimeMillis();
                aheadNs -= System.nanoTime();
                frozen = false;
            }
        }

        private void advance(long ms) {
            aheadMs += ms;
            aheadNs += ms * 1_000_000L;
        }

        @Override
        public synchronized long milliseconds() {
            return frozen ? aheadMs : System.currentTimeMillis() + aheadMs;
        }

        /**
         * Every look at a frozen clock takes a nanosecond. An event whose deadline is this very
         * moment is not over yet for Kafka, and its thread would look again and again for ever.
         */
        @Override
        public synchronized long nanoseconds() {
            return frozen ? aheadNs++ : System.nanoTime() + aheadNs;
        }

        @Override
        public long hiResClockMs() {
            return nanoseconds() / 1_000_000L;
        }

        @Override
        public void sleep(long ms) {
            try {
                Thread.sleep(ms);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void waitObject(Object object, Supplier<Boolean> done, long deadlineMs)
                throws InterruptedException {
            synchronized (object) {
                while (!done.get()) {
                    object.wait(100);
                }
            }
        }
    }
}
