import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.protocol.Errors;

/**
 * Kafka's own kafka.cluster.Partition, in a process whose parent says what happens to it.
 *
 * <p>Two arguments: a folder for the logs, in a folder of its own, and the metadata version. Then one command a
 * line on standard input, words and whole numbers apart by spaces, and one line of JSON in answer to
 * each: what came of it, and everything that the broker holds now. When the input ends, so does the
 * process, and both folders are gone.
 */
public final class PartitionLauncher {
    private PartitionLauncher() {}

    public static void main(String[] arguments) throws Exception {
        File folder = new File(arguments[0]);
        RealBroker broker = new RealBroker(folder, arguments[1]);
        System.out.println("ready");
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        for (String line = next(commands); line != null; line = next(commands)) {
            System.out.println("{" + done(broker, line.split(" ")) + "," + broker.told() + "}");
        }
        delete(folder.getAbsoluteFile().getParentFile());
        Runtime.getRuntime().halt(0);
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
