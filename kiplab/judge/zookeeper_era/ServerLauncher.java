import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import javax.management.InstanceNotFoundException;
import javax.management.JMException;
import javax.management.ObjectName;
import javax.management.RuntimeMBeanException;

/**
 * Kafka's own main class, kafka.Kafka, in a process that ends when its parent does.
 *
 * <p>One argument: the file with the server's settings, in a folder of its own. It says "ready" as
 * soon as the broker serves requests. Then one command on standard input: "stop" shuts the broker
 * down as a signal would, "kill" halts it where it stands; both leave its files. When the input
 * ends first the process is halted and the folder is gone: nothing outlives the parent.
 *
 * <p>kafka.Kafka is reached by reflection, so that one class file runs on every release.
 */
public final class ServerLauncher {
    private static final int RUNNING = 3;
    private static final long LOOK_AGAIN_MS = 5;

    private ServerLauncher() {}

    public static void main(String[] arguments) throws Exception {
        Thread kafka = new Thread(() -> run(arguments), "kafka");
        kafka.setDaemon(true);
        kafka.start();
        Thread told = new Thread(() -> obey(arguments[0]), "told");
        told.setDaemon(true);
        told.start();
        while (!isRunning()) {
            Thread.sleep(LOOK_AGAIN_MS);
        }
        System.out.println("ready");
        System.out.flush();
        kafka.join();
    }

    private static void run(String[] arguments) {
        try {
            Class.forName("kafka.Kafka")
                    .getMethod("main", String[].class)
                    .invoke(null, (Object) arguments);
        } catch (ReflectiveOperationException problem) {
            problem.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    /** Whether Kafka's own gauge of its state says so: from then on it answers requests. */
    private static boolean isRunning() throws JMException {
        ObjectName state = new ObjectName("kafka.server:type=KafkaServer,name=BrokerState");
        try {
            Object value = ManagementFactory.getPlatformMBeanServer().getAttribute(state, "Value");
            return ((Number) value).intValue() == RUNNING;
        } catch (InstanceNotFoundException | RuntimeMBeanException notYet) {
            // There is no gauge yet, or no state that it could read.
            return false;
        }
    }

    private static void obey(String settings) {
        String command = next(new BufferedReader(new InputStreamReader(System.in)));
        if (command == null) {
            delete(new File(settings).getAbsoluteFile().getParentFile());
        } else {
            System.out.println(command);
            System.out.flush();
        }
        if ("stop".equals(command)) {
            System.exit(0);
        }
        Runtime.getRuntime().halt(0);
    }

    private static String next(BufferedReader commands) {
        try {
            return commands.readLine();
        } catch (IOException problem) {
            return null;
        }
    }

    private static void delete(File file) {
        File[] inside = file.listFiles();
        for (File one : inside == null ? new File[0] : inside) {
            delete(one);
        }
        file.delete();
    }
}
