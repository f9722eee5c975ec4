import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Properties;
import org.apache.zookeeper.server.quorum.QuorumPeerMain;

/**
 * ZooKeeper's own main class, once for each server, in a process that ends when its parent does.
 *
 * <p>Arguments: for each server the file with its settings, all in folders of one folder. It says
 * "ready" as soon as every server serves requests. When the input ends the process is halted and
 * the folder is gone: nothing outlives the parent.
 */
public final class ZooKeeperLauncher {
    private static final long LOOK_AGAIN_MS = 10;
    private static final int PATIENCE_MS = 1000;

    private ZooKeeperLauncher() {}

    public static void main(String[] files) throws Exception {
        PrintStream parent = System.out;
        System.setOut(System.err);
        Thread listening = new Thread(() -> endWithParent(files[0]), "listening");
        listening.setDaemon(true);
        listening.start();
        for (String file : files) {
            new Thread(() -> run(file), file).start();
        }
        for (String file : files) {
            int port = port(file);
            while (!serves(port)) {
                Thread.sleep(LOOK_AGAIN_MS);
            }
        }
        parent.println("ready");
        parent.flush();
    }

    private static void run(String file) {
        try {
            QuorumPeerMain.main(new String[] {file});
        } catch (Throwable problem) {
            problem.printStackTrace();
            Runtime.getRuntime().halt(1);
        }
    }

    private static int port(String file) throws IOException {
        Properties settings = new Properties();
        try (InputStream text = new FileInputStream(file)) {
            settings.load(text);
        }
        return Integer.parseInt(settings.getProperty("clientPort"));
    }

    /** Whether the server says which mode it is in; before that it has no leader. */
    private static boolean serves(int port) {
        try (Socket server = new Socket(InetAddress.getLoopbackAddress(), port)) {
            server.setSoTimeout(PATIENCE_MS);
            server.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
            byte[] answer = server.getInputStream().readAllBytes();
            return new String(answer, StandardCharsets.US_ASCII).contains("Mode: ");
        } catch (IOException notYet) {
            return false;
        }
    }

    private static void endWithParent(String file) {
        try {
            while (System.in.read() >= 0) {}
        } catch (IOException gone) {
            // As good as an end.
        }
        delete(new File(file).getAbsoluteFile().getParentFile().getParentFile());
        Runtime.getRuntime().halt(0);
    }

    private static void delete(File file) {
        File[] inside = file.listFiles();
        for (File one : inside == null ? new File[0] : inside) {
            delete(one);
        }
        file.delete();
    }
}
