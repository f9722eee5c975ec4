import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Kafka's own classes by their names, whatever a release calls them and whatever it wants given.
 *
 * <p>What a method or a constructor wants is found by type: of what is offered, each parameter takes
 * the first that fits and has not been taken yet, an interface that nobody offers is stood in for by
 * one that does nothing, and everything else is nothing: zero, false, an empty option, null. So a
 * parameter that one release has and another has not needs no word here.
 */
final class Reflected {
    private static final Map<String, Method> METHODS = new HashMap<>();
    private static final Map<String, Field> FIELDS = new HashMap<>();

    private Reflected() {}

    /** The first class of these names that this release has. */
    static Class<?> type(String... names) throws ClassNotFoundException {
        for (String name : names) {
            try {
                return Class.forName(name);
            } catch (ClassNotFoundException next) {
                continue;
            }
        }
        throw new ClassNotFoundException(String.join(" or ", names));
    }

    /** A new one, by the constructor that wants most. */
    static Object made(Class<?> type, Object... offered) throws Exception {
        Constructor<?> most = null;
        for (Constructor<?> one : type.getDeclaredConstructors()) {
            boolean isPublic = java.lang.reflect.Modifier.isPublic(one.getModifiers());
            if (isPublic && (most == null || one.getParameterCount() > most.getParameterCount())) {
                most = one;
            }
        }
        if (most == null) {
            throw new NoSuchMethodException("no public constructor of " + type.getName());
        }
        try {
            return opened(most).newInstance(filled(most.getParameterTypes(), offered));
        } catch (InvocationTargetException thrown) {
            throw cause(thrown);
        }
    }

    /** The one instance of a Scala object. */
    static Object single(String name) throws Exception {
        return Class.forName(name + "$").getField("MODULE$").get(null);
    }

    /** What a method of that name answers; of several the one that wants most. */
    static Object call(Object on, String name, Object... offered) throws Exception {
        Class<?> type = on instanceof Class ? (Class<?>) on : on.getClass();
        Method method = METHODS.computeIfAbsent(type.getName() + "." + name, key -> find(type, name));
        if (method == null) {
            throw new NoSuchMethodException(type.getName() + "." + name);
        }
        try {
            return method.invoke(on instanceof Class ? null : on, filled(method.getParameterTypes(), offered));
        } catch (InvocationTargetException thrown) {
            throw cause(thrown);
        }
    }

    /** Whether there is a method of that name. */
    static boolean has(Object on, String name) {
        return find(on.getClass(), name) != null;
    }

    /** A private field, or a method of that name where a release has one instead. */
    static Object field(Object on, String name) throws Exception {
        Field field = FIELDS.computeIfAbsent(on.getClass().getName() + "." + name, key -> {
            for (Class<?> type = on.getClass(); type != null; type = type.getSuperclass()) {
                for (Field one : type.getDeclaredFields()) {
                    if (one.getName().equals(name)) {
                        return opened(one);
                    }
                }
            }
            return null;
        });
        return field == null ? call(on, name) : field.get(on);
    }

    /** What is in an option of Scala's or of Java's, or null; what is no option is itself. */
    static Object inside(Object option) throws Exception {
        if (option instanceof Optional) {
            return ((Optional<?>) option).orElse(null);
        }
        if (option == null || !type("scala.Option").isInstance(option)) {
            return option;
        }
        return (Boolean) call(option, "isEmpty") ? null : call(option, "get");
    }

    static Object some(Object value) throws Exception {
        return type("scala.Option").getMethod("apply", Object.class).invoke(null, value);
    }

    /** What is in a collection of Scala's or of Java's. */
    static List<Object> items(Object collection) throws Exception {
        if (collection instanceof Collection) {
            return new ArrayList<>((Collection<?>) collection);
        }
        List<Object> found = new ArrayList<>();
        Object iterator = type("scala.collection.IterableOnce").getMethod("iterator").invoke(collection);
        Method more = type("scala.collection.Iterator").getMethod("hasNext");
        Method next = type("scala.collection.Iterator").getMethod("next");
        while ((Boolean) more.invoke(iterator)) {
            found.add(next.invoke(iterator));
        }
        return found;
    }

    /** What stands in for an interface; Java's own methods of every object are not asked for. */
    static Object standIn(Class<?> type, InvocationHandler does) {
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, given) -> {
            if (method.getDeclaringClass() == Object.class) {
                return ofEveryObject(self, method, given);
            }
            Object answer = does.invoke(self, method, given);
            return answer == null ? nothing(method.getReturnType()) : answer;
        });
    }

    private static Object ofEveryObject(Object self, Method method, Object[] given) {
        switch (method.getName()) {
            case "equals": return self == given[0];
            case "hashCode": return System.identityHashCode(self);
            default: return "a stand-in";
        }
    }

    private static Object[] filled(Class<?>[] wanted, Object[] offered) throws Exception {
        Object[] given = new Object[wanted.length];
        boolean[] taken = new boolean[offered.length];
        for (int i = 0; i < wanted.length; i++) {
            given[i] = chosen(wanted[i], offered, taken);
        }
        return given;
    }

    private static Object chosen(Class<?> wanted, Object[] offered, boolean[] taken) throws Exception {
        for (int i = 0; i < offered.length; i++) {
            if (!taken[i] && fits(wanted, offered[i])) {
                taken[i] = true;
                return offered[i];
            }
        }
        // Several parameters of one type may be the same thing, such as the purgatories.
        for (Object one : offered) {
            if (!wanted.isPrimitive() && !isOption(wanted) && fits(wanted, one)) {
                return one;
            }
        }
        return nothing(wanted);
    }

    private static boolean isOption(Class<?> type) {
        return type == Optional.class || type.getName().equals("scala.Option");
    }

    private static boolean fits(Class<?> wanted, Object one) {
        if (wanted.isPrimitive()) {
            return one != null && Array.get(Array.newInstance(wanted, 1), 0).getClass() == one.getClass();
        }
        return wanted.isInstance(one);
    }

    private static Object nothing(Class<?> type) throws Exception {
        if (type == void.class) {
            return null;
        }
        if (type.isPrimitive()) {
            return Array.get(Array.newInstance(type, 1), 0);
        }
        if (type == Optional.class) {
            return Optional.empty();
        }
        if (type.getName().equals("scala.Option")) {
            return type.getMethod("empty").invoke(null);
        }
        if (type.getName().startsWith("scala.collection") && type.getName().endsWith("Seq")) {
            return call(single("scala.collection.immutable.Nil"), "toSeq");
        }
        return type.isInterface() ? standIn(type, (self, method, given) -> null) : null;
    }

    private static Method find(Class<?> type, String name) {
        Method most = null;
        for (Class<?> from = type; from != null; from = from.getSuperclass()) {
            most = more(most, from.getDeclaredMethods(), name);
        }
        most = more(most, type.getMethods(), name);
        return most == null ? null : opened(most);
    }

    private static Method more(Method most, Method[] methods, String name) {
        for (Method one : methods) {
            boolean is = one.getName().equals(name) && !one.isBridge();
            if (is && (most == null || one.getParameterCount() > most.getParameterCount())) {
                most = one;
            }
        }
        return most;
    }

    private static <T extends AccessibleObject> T opened(T one) {
        one.setAccessible(true);
        return one;
    }

    private static Exception cause(InvocationTargetException thrown) {
        Throwable cause = thrown.getCause();
        return cause instanceof Exception ? (Exception) cause : new Exception(cause);
    }
}
