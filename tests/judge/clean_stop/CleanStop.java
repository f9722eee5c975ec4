import java.io.File;
import java.util.OptionalLong;
import java.util.Properties;

/**
 * One incarnation of a broker's logs, by Kafka's own LogManager: what the file of an orderly stop says at
 * its start, then the logs are loaded, and then it stops in order or is gone at once.
 *
 * <p>Two arguments: the folder of the logs, and the broker epoch that an orderly stop writes down,
 * or "crash". What was read is printed, or "none".
 */
public final class CleanStop {
    private CleanStop() {}

    public static void main(String[] arguments) throws Exception {
        Object logs = logs(new File(arguments[0]));
        OptionalLong read = (OptionalLong) Reflected.call(logs, "readBrokerEpochFromCleanShutdownFiles");
        System.out.println(read.isPresent() ? Long.toString(read.getAsLong()) : "none");
        System.out.flush();
        Object noTopics = Reflected.call(Reflected.single("scala.collection.immutable.Set"), "empty");
        Reflected.call(logs, "startup", noTopics);
        if (!arguments[1].equals("crash")) {
            Reflected.call(logs, "shutdown", Long.parseLong(arguments[1]));
        }
        Runtime.getRuntime().halt(0);
    }

    private static Object logs(File folder) throws Exception {
        Properties settings = new Properties();
        settings.put("process.roles", "broker");
        settings.put("node.id", "1");
        settings.put("controller.quorum.voters", "3000@127.0.0.1:9");
        settings.put("controller.listener.names", "CONTROLLER");
        settings.put("listeners", "PLAINTEXT://127.0.0.1:9");
        settings.put("log.dirs", folder.getPath());
        Object config = Class.forName("kafka.server.KafkaConfig")
            .getMethod("fromProps", Properties.class).invoke(null, settings);
        RealMetadata metadata = new RealMetadata(1, new KnownTopics(new String[0]));
        Object failures = Reflected.made(
            Reflected.type("org.apache.kafka.storage.internals.log.LogDirFailureChannel"), 1);
        Object stats = Reflected.made(Reflected.type("org.apache.kafka.storage.log.metrics.BrokerTopicStats"));
        return Reflected.call(Reflected.single("kafka.log.LogManager"), "apply", config, metadata.cache,
            FakeController.idleScheduler(), new StillTime(), stats, failures, true);
    }
}
