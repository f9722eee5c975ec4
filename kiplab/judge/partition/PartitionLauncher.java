import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.util.Arrays;
import java.util.TreeMap;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.protocol.Errors;

/**
 * Kafka's own kafka.cluster.Partition, as several brokers have it, in a process whose parent says
 * what happens to each.
 *
 * <p>Two arguments: a folder for the logs, in a folder of its own, and the metadata version. Then one command a
 * line on standard input, words and whole numbers apart by spaces: "anew" (no brokers, at the
 * beginning of time), "advance MS", "version METADATA_VERSION", or the id of a broker and what
 * happens to it, first of all "begin". One line of JSON answers each: what came of it, and
 * everything that the broker holds now. When the input ends, so does the process, and both folders
 * are gone.
 */
public final class PartitionLauncher {
    private static final String NOTHING = "{\"error\":0,\"read\":null,\"sent\":[],\"partitions\":[]}";

    private final StillTime time = new StillTime();
    private final TreeMap<Integer, RealBroker> brokers = new TreeMap<>();
    private final File folder;
    private String version;
    private int lives;

    private PartitionLauncher(File folder, String version) {
        this.folder = folder;
        this.version = version;
    }

    public static void main(String[] arguments) throws Exception {
        File folder = new File(arguments[0]);
        PartitionLauncher launcher = new PartitionLauncher(folder, arguments[1]);
        // Whatever a release lacks is missing at once, and not in the middle of a play.
        launcher.told("0 begin 0 nothing-0".split(" "));
        launcher.told(new String[] {"anew"});
        System.out.println("ready");
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String line = next(commands); line != null; line = next(commands)) {
            System.out.println(launcher.told(line.split(" ")));
        }
        delete(folder.getAbsoluteFile().getParentFile());
        Runtime.getRuntime().halt(0);
    }

    private String told(String[] words) throws Exception {
        switch (words[0]) {
            case "anew": anew(); return NOTHING;
            case "advance": time.advance(RealBroker.number(words[1])); return NOTHING;
            case "version": version = words[1]; return NOTHING;
            default: return toldBroker(id(words[0]), Arrays.copyOfRange(words, 1, words.length));
        }
    }

    private static int id(String word) {
        try {
            return Integer.parseInt(word);
        } catch (NumberFormatException none) {
            throw new IllegalArgumentException("unknown command " + word);
        }
    }

    private void anew() throws Exception {
        for (RealBroker broker : brokers.values()) {
            broker.end();
        }
        brokers.clear();
        time.begin();
    }

    private String toldBroker(int id, String[] words) throws Exception {
        if (words[0].equals("begin")) {
            begin(id, words);
        }
        RealBroker broker = brokers.get(id);
        return "{" + done(broker, words) + "," + broker.told() + "}";
    }

    /** begin BROKER_EPOCH TOPIC-PARTITION,...: a new process of a broker, with empty logs. */
    private void begin(int id, String[] words) throws Exception {
        if (brokers.containsKey(id)) {
            brokers.get(id).end();
        }
        lives++;
        File logs = new File(folder, Integer.toString(lives));
        brokers.put(id, new RealBroker(id, logs, time, () -> version, words[2].split(",")));
    }

    /** What came of a command; an error of Kafka's protocol is one of the things that may. */
    private static String done(RealBroker broker, String[] words) throws Exception {
        try {
            return broker.does(words);
        } catch (ApiException refused) {
            return "\"error\":" + Errors.forException(refused).code() + ",\"read\":null";
        }
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
}
