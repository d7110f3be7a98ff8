import java.io.*;
import java.util.*;
import java.util.concurrent.*;
import javax.management.*;
import javax.management.remote.*;

/**
 * Flushes and compacts a keyspace of a running node over and over, through JMX (what nodetool does, without a JVM for each call).
 * Arguments: JMX_PORT KEYSPACE PAUSE_MS. Prints a line for each thing done, with its start and end in nanoseconds of
 * CLOCK_MONOTONIC (System.nanoTime on Linux):
 *   flush START END
 *   compact TABLE START END
 * A line "compact TABLE" on stdin is a major compaction; the end of stdin ends it.
 */
public final class LiveChurn {
    static final ObjectName SERVICE = name("org.apache.cassandra.db:type=StorageService");
    static final ObjectName COMPACTIONS = name("org.apache.cassandra.metrics:type=Compaction,name=TotalCompactionsCompleted");

    static ObjectName name(String text) {
        try {
            return new ObjectName(text);
        } catch (MalformedObjectNameException e) {
            throw new IllegalArgumentException(e);
        }
    }

    static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    public static void main(String[] args) throws Exception {
        JMXServiceURL url = new JMXServiceURL("service:jmx:rmi:///jndi/rmi://127.0.0.1:" + args[0] + "/jmxrmi");
        MBeanServerConnection node = JMXConnectorFactory.connect(url).getMBeanServerConnection();
        String keyspace = args[1];
        long pause = Long.parseLong(args[2]);
        BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
        CountDownLatch over = new CountDownLatch(1);
        Thread flushing = new Thread(() -> {
            try {
                while (over.getCount() > 0) {
                    long start = System.nanoTime();
                    node.invoke(SERVICE, "forceKeyspaceFlush", new Object[] {keyspace, new String[0]},
                        new String[] {"java.lang.String", "[Ljava.lang.String;"});
                    say("flush " + start + " " + System.nanoTime());
                    over.await(pause, TimeUnit.MILLISECONDS);
                }
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        flushing.setUncaughtExceptionHandler((t, e) -> {
            e.printStackTrace();
            System.exit(1);
        });
        flushing.start();
        for (String line = commands.readLine(); line != null; line = commands.readLine()) {
            String table = line.split(" ")[1];
            long start = System.nanoTime();
            node.invoke(SERVICE, "forceKeyspaceCompaction", new Object[] {false, keyspace, new String[] {table}},
                new String[] {"boolean", "java.lang.String", "[Ljava.lang.String;"});
            say("compact " + table + " " + start + " " + System.nanoTime());
        }
        over.countDown();
        flushing.join();
        say("compactions " + node.getAttribute(COMPACTIONS, "Count"));
        System.exit(0);
    }
}
