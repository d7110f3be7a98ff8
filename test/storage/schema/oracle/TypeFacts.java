// What Cassandra's own classes say of types: the order of values, their byte-comparable form, the CQL text of a type. Prints JSON
// lines for the tests beside it, from a fixed seed:
//   ../../../oracle/cassandra.sh java 5.0.8 TypeFacts.java | grep '^{' | gzip -9n > type-facts.ndjson.gz
//
//   {"type","cql","fixed","values":[hex in order],"ranks":[equal ones share a rank],"comparable":[hex, null if none, false if it fails]}
//   {"clustering":[types],"kind","values":[hex, "" or null],"comparable"}        prefixes, as in bti Rows.db
//   {"partitioner","keyType","key","comparable"}                                 keys, as in bti Partitions.db
import java.nio.ByteBuffer;
import java.util.*;

import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.db.*;
import org.apache.cassandra.db.marshal.*;
import org.apache.cassandra.dht.*;
import org.apache.cassandra.utils.ByteBufferUtil;
import org.apache.cassandra.utils.bytecomparable.*;

public class TypeFacts
{
    static final Random random = new Random(20240229);
    static final ByteComparable.Version VERSION = ByteComparable.Version.OSS50;
    static final ByteBuffer EMPTY = ByteBufferUtil.EMPTY_BYTE_BUFFER;

    static final String[] SCALARS = {
        "AsciiType", "BooleanType", "BytesType", "ByteType", "DateType", "DecimalType", "DoubleType", "EmptyType", "FloatType",
        "InetAddressType", "Int32Type", "IntegerType", "LexicalUUIDType", "LongType", "ShortType", "SimpleDateType",
        "TimestampType", "TimeType", "TimeUUIDType", "UTF8Type", "UUIDType", "DurationType" };
    static final String[] COMPOSED = {
        "FrozenType(ListType(Int32Type))", "FrozenType(ListType(UTF8Type))", "FrozenType(SetType(BytesType))",
        "FrozenType(SetType(DecimalType))", "FrozenType(MapType(UTF8Type,LongType))", "FrozenType(MapType(TimeUUIDType,InetAddressType))",
        "TupleType(Int32Type,UTF8Type)", "TupleType(DoubleType,FrozenType(ListType(UTF8Type)),IntegerType)",
        "FrozenType(UserType(ks,4d79,61:Int32Type,62:FrozenType(SetType(UTF8Type)),63:TimestampType))",
        "VectorType(FloatType , 3)", "VectorType(UTF8Type , 2)", "VectorType(SimpleDateType , 2)", "VectorType(LongType , 2)",
        "VectorType(FrozenType(ListType(IntegerType)) , 2)", "VectorType(VectorType(UUIDType , 2) , 2)",
        "FrozenType(ListType(FrozenType(MapType(Int32Type,TupleType(UTF8Type,BooleanType)))))",
        "CompositeType(UTF8Type,ReversedType(Int32Type),BytesType)",
        "DynamicCompositeType(a=>BytesType,t=>UTF8Type,T=>ReversedType(UTF8Type),i=>Int32Type,I=>ReversedType(Int32Type))" };

    public static void main(String[] args) throws Exception
    {
        DatabaseDescriptor.clientInitialization();
        DatabaseDescriptor.setPartitionerUnsafe(Murmur3Partitioner.instance);
        for (String name : SCALARS) order(name, 60);
        for (String name : COMPOSED) order(name, 90);
        clusterings();
        keys();
        System.exit(0);
    }

    static void order(String name, int count) throws Exception
    {
        AbstractType<?> type = TypeParser.parse(name);
        Set<ByteBuffer> distinct = new LinkedHashSet<>();
        if (allowsEmpty(type)) distinct.add(EMPTY);
        for (int i = 0; i < count * 4 && distinct.size() < count; i++)
        {
            ByteBuffer value = value(type, 0);
            type.validate(value);
            distinct.add(value);
        }
        List<ByteBuffer> values = new ArrayList<>(distinct);
        values.sort(type);
        int[] ranks = new int[values.size()];
        String[] comparable = new String[values.size()];
        for (int i = 0; i < ranks.length; i++)
        {
            if (i > 0) ranks[i] = ranks[i - 1] + (type.compare(values.get(i - 1), values.get(i)) == 0 ? 0 : 1);
            comparable[i] = comparable(type, values.get(i));
        }
        StringBuilder line = new StringBuilder();
        line.append("{\"type\":").append(quote(name)).append(",\"cql\":").append(quote(type.asCQL3Type().toString()));
        line.append(",\"fixed\":").append(type.valueLengthIfFixed());
        line.append(",\"values\":[");
        for (int i = 0; i < ranks.length; i++) line.append(i == 0 ? "" : ",").append(quote(hex(values.get(i))));
        line.append("],\"ranks\":").append(Arrays.toString(ranks).replace(" ", "")).append(",\"comparable\":[");
        for (int i = 0; i < ranks.length; i++) line.append(i == 0 ? "" : ",").append(comparable[i]);
        System.out.println(line.append("]}"));
    }

    static String comparable(AbstractType<?> type, ByteBuffer value)
    {
        try { return quote(read(type.asComparableBytes(ByteBufferAccessor.instance, value, VERSION))); }
        // Cassandra cannot encode a small varint padded to more than 8 bytes (IntegerType.encodeAsVarInt)
        catch (AssertionError e) { return "false"; }
    }

    static void clusterings() throws Exception
    {
        ClusteringPrefix.Kind[] kinds = ClusteringPrefix.Kind.values();
        for (int i = 0; i < 400; i++)
        {
            int n = 1 + random.nextInt(3);
            String[] names = new String[n];
            AbstractType<?>[] types = new AbstractType<?>[n];
            for (int j = 0; j < n; j++)
            {
                names[j] = random.nextInt(3) > 0 ? pick(SCALARS) : pick(COMPOSED);
                if (names[j].equals("DurationType")) names[j] = "LongType";
                if (random.nextInt(3) == 0) names[j] = "ReversedType(" + names[j] + ")";
                types[j] = TypeParser.parse(names[j]);
            }
            ClusteringPrefix.Kind kind;
            do kind = kinds[random.nextInt(kinds.length)]; while (kind.toString().startsWith("STATIC") || kind.toString().startsWith("SSTABLE"));
            int size = kind == ClusteringPrefix.Kind.CLUSTERING ? n : kind.isBoundary() ? 1 + random.nextInt(n) : random.nextInt(n + 1);
            ByteBuffer[] values = new ByteBuffer[size];
            for (int j = 0; j < size; j++)
            {
                int what = random.nextInt(8);
                values[j] = what == 0 && kind == ClusteringPrefix.Kind.CLUSTERING ? null
                          : what == 1 && allowsEmpty(types[j]) ? EMPTY : value(types[j], 0);
            }
            ClusteringComparator comparator = new ClusteringComparator(types);
            ClusteringPrefix<?> prefix = kind == ClusteringPrefix.Kind.CLUSTERING
                                       ? Clustering.make(values)
                                       : ByteBufferAccessor.instance.factory().boundOrBoundary(kind, values);
            String bytes;
            try { bytes = read(comparator.asByteComparable((ClusteringPrefix) prefix).asComparableBytes(VERSION)); }
            catch (AssertionError e) { continue; }
            StringBuilder line = new StringBuilder("{\"clustering\":[");
            for (int j = 0; j < n; j++) line.append(j == 0 ? "" : ",").append(quote(names[j]));
            line.append("],\"kind\":").append(kind.ordinal()).append(",\"values\":[");
            for (int j = 0; j < size; j++) line.append(j == 0 ? "" : ",").append(values[j] == null ? "null" : quote(hex(values[j])));
            System.out.println(line.append("],\"comparable\":").append(quote(bytes)).append("}"));
        }
    }

    static void keys() throws Exception
    {
        String[] types = { "Int32Type", "UTF8Type", "UUIDType", "CompositeType(Int32Type,UTF8Type)", "TimeUUIDType", "DecimalType" };
        for (String name : types)
        {
            AbstractType<?> type = TypeParser.parse(name);
            IPartitioner[] partitioners = { Murmur3Partitioner.instance, RandomPartitioner.instance, ByteOrderedPartitioner.instance,
                                            new LocalPartitioner(type) };
            for (int i = 0; i < 6; i++)
            {
                ByteBuffer key = name.startsWith("Composite")
                               ? CompositeType.build(ByteBufferAccessor.instance, value(Int32Type.instance, 0), value(UTF8Type.instance, 0))
                               : value(type, 0);
                if (!key.hasRemaining()) continue;
                for (IPartitioner partitioner : partitioners)
                {
                    String bytes = read(partitioner.decorateKey(key).asComparableBytes(VERSION));
                    System.out.println("{\"partitioner\":" + quote(partitioner.getClass().getSimpleName()) + ",\"keyType\":" + quote(name)
                                       + ",\"key\":" + quote(hex(key)) + ",\"comparable\":" + quote(bytes) + "}");
                }
            }
        }
    }

    static boolean allowsEmpty(AbstractType<?> type)
    {
        if (type.unwrap() instanceof VectorType) return false;
        try { type.validate(EMPTY); return true; } catch (Exception e) { return false; }
    }

    static ByteBuffer value(AbstractType<?> type, int depth) throws Exception
    {
        type = type.unwrap();
        if (type instanceof AsciiType) return ascii(random.nextInt(12));
        if (type instanceof BooleanType) return bytes(random.nextInt(3) == 0 ? 0 : random.nextInt(256));
        if (type instanceof BytesType) return blob(random.nextInt(10));
        if (type instanceof ByteType) return integer(1);
        if (type instanceof ShortType) return integer(2);
        if (type instanceof Int32Type || type instanceof SimpleDateType) return integer(4);
        if (type instanceof LongType || type instanceof TimestampType || type instanceof DateType) return integer(8);
        if (type instanceof TimeType) return ByteBufferUtil.bytes(Math.floorMod(random.nextLong() >> random.nextInt(60), 86400000000000L));
        if (type instanceof IntegerType) return varint();
        if (type instanceof DecimalType) return decimal();
        if (type instanceof FloatType) return ByteBuffer.allocate(4).putInt(0, floatBits());
        if (type instanceof DoubleType) return ByteBuffer.allocate(8).putLong(0, doubleBits());
        if (type instanceof EmptyType) return EMPTY;
        if (type instanceof InetAddressType) return blobOf(random.nextBoolean() ? 4 : 16);
        if (type instanceof LexicalUUIDType) return blobOf(16);
        if (type instanceof UUIDType) return uuid(random.nextInt(3) == 0 ? 1 : random.nextInt(16));
        if (type instanceof AbstractTimeUUIDType) return uuid(1);
        if (type instanceof UTF8Type) return text();
        if (type instanceof DurationType) return DurationType.instance.decompose(Duration());
        if (type instanceof ListType) return list(((ListType<?>) type).getElementsType(), depth, false);
        if (type instanceof SetType) return list(((SetType<?>) type).getElementsType(), depth, true);
        if (type instanceof MapType) return map((MapType<?, ?>) type, depth);
        if (type instanceof TupleType) return tuple((TupleType) type, depth);
        if (type instanceof VectorType) return vector((VectorType<?>) type, depth);
        if (type instanceof CompositeType) return composite((CompositeType) type);
        if (type instanceof DynamicCompositeType) return dynamic((DynamicCompositeType) type);
        throw new IllegalStateException(type.toString());
    }

    static org.apache.cassandra.cql3.Duration Duration()
    {
        int sign = random.nextBoolean() ? 1 : -1;
        return org.apache.cassandra.cql3.Duration.newInstance(sign * random.nextInt(30), sign * random.nextInt(400), sign * (long) random.nextInt(Integer.MAX_VALUE));
    }

    static ByteBuffer ascii(int n)
    {
        byte[] b = new byte[n];
        for (int i = 0; i < n; i++) b[i] = (byte) (random.nextInt(4) == 0 ? 0 : "ab\u007fZ".charAt(random.nextInt(4)));
        return ByteBuffer.wrap(b);
    }

    static ByteBuffer text()
    {
        String[] pieces = { "", "a", "ab", "\0", "\0\0", "é", "\uD83D\uDE00", "\uFFFF", "zz", "A" };
        StringBuilder sb = new StringBuilder();
        for (int i = random.nextInt(4); i > 0; i--) sb.append(pieces[random.nextInt(pieces.length)]);
        return ByteBufferUtil.bytes(sb.toString());
    }

    static ByteBuffer blob(int n)
    {
        byte[] b = new byte[n];
        for (int i = 0; i < n; i++) b[i] = (byte) new int[]{ 0, 0, 1, 0x7f, 0x80, 0xfe, 0xff, random.nextInt(256) }[random.nextInt(8)];
        return ByteBuffer.wrap(b);
    }

    static ByteBuffer blobOf(int n)
    {
        ByteBuffer b = blob(n);
        // often alike in front, so that later bytes decide
        if (random.nextBoolean()) for (int i = 0; i < n / 2; i++) b.put(i, (byte) (random.nextInt(8) == 0 ? 0x80 : 0));
        return b;
    }

    static ByteBuffer bytes(int b) { return ByteBuffer.wrap(new byte[]{ (byte) b }); }

    static ByteBuffer integer(int size)
    {
        long v = interesting();
        ByteBuffer b = ByteBuffer.allocate(size);
        for (int i = 0; i < size; i++) b.put(i, (byte) (v >> (8 * (size - 1 - i))));
        return b;
    }

    static long interesting()
    {
        switch (random.nextInt(6))
        {
            case 0: return random.nextInt(5) - 2;
            case 1: return (1L << random.nextInt(64)) - random.nextInt(3);
            case 2: return -(1L << random.nextInt(64)) + random.nextInt(3);
            default: return random.nextLong() >> random.nextInt(64);
        }
    }

    static java.math.BigInteger big()
    {
        switch (random.nextInt(4))
        {
            case 0: return java.math.BigInteger.valueOf(interesting());
            case 1: return java.math.BigInteger.ONE.shiftLeft(random.nextInt(1200)).negate().add(java.math.BigInteger.valueOf(random.nextInt(3) - 1));
            case 2: return java.math.BigInteger.ONE.shiftLeft(random.nextInt(300)).add(java.math.BigInteger.valueOf(random.nextInt(3) - 1));
            default:
                java.math.BigInteger v = new java.math.BigInteger(random.nextInt(150), random);
                return random.nextBoolean() ? v : v.negate();
        }
    }

    static ByteBuffer varint()
    {
        byte[] b = big().toByteArray();
        if (random.nextInt(6) > 0) return ByteBuffer.wrap(b);
        byte[] padded = new byte[b.length + 1 + random.nextInt(3)];
        Arrays.fill(padded, (byte) (b[0] >> 7));
        System.arraycopy(b, 0, padded, padded.length - b.length, b.length);
        return ByteBuffer.wrap(padded);
    }

    static ByteBuffer decimal()
    {
        java.math.BigInteger unscaled = random.nextInt(3) == 0
                                      ? java.math.BigInteger.TEN.pow(random.nextInt(40)).multiply(java.math.BigInteger.valueOf(random.nextInt(7) - 3))
                                      : random.nextBoolean() ? java.math.BigInteger.valueOf(interesting() >> random.nextInt(48)) : big();
        int scale = random.nextInt(8) == 0 ? random.nextInt(2000) - 1000 : random.nextInt(30) - 10;
        return DecimalType.instance.decompose(new java.math.BigDecimal(unscaled, scale));
    }

    static int floatBits()
    {
        int[] some = { 0, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 1, 0x80000001, 0x3f800000, 0xbf800000 };
        return random.nextInt(3) == 0 ? some[random.nextInt(some.length)] : Float.floatToIntBits(Float.intBitsToFloat(random.nextInt()));
    }

    static long doubleBits()
    {
        long[] some = { 0, Long.MIN_VALUE, 0x7ff0000000000000L, 0xfff0000000000000L, 0x7ff8000000000000L, 1, Long.MIN_VALUE + 1, 0x3ff0000000000000L };
        return random.nextInt(3) == 0 ? some[random.nextInt(some.length)] : Double.doubleToLongBits(Double.longBitsToDouble(random.nextLong()));
    }

    static ByteBuffer uuid(int version)
    {
        ByteBuffer b = blobOf(16);
        b.put(6, (byte) ((b.get(6) & 0x0f) | (version << 4)));
        return b;
    }

    static ByteBuffer list(AbstractType<?> element, int depth, boolean set) throws Exception
    {
        int n = random.nextInt(4);
        Collection<ByteBuffer> elements = set ? new TreeSet<>((Comparator<ByteBuffer>) (Comparator) element) : new ArrayList<>();
        for (int i = 0; i < n; i++) elements.add(value(element, depth + 1));
        return counted(new ArrayList<>(elements), elements.size());
    }

    static ByteBuffer map(MapType<?, ?> type, int depth) throws Exception
    {
        TreeMap<ByteBuffer, ByteBuffer> entries = new TreeMap<>((Comparator<ByteBuffer>) (Comparator) type.getKeysType());
        for (int i = random.nextInt(4); i > 0; i--) entries.put(value(type.getKeysType(), depth + 1), value(type.getValuesType(), depth + 1));
        List<ByteBuffer> all = new ArrayList<>();
        entries.forEach((k, v) -> { all.add(k); all.add(v); });
        return counted(all, entries.size());
    }

    static ByteBuffer counted(List<ByteBuffer> values, int count)
    {
        int size = 4;
        for (ByteBuffer v : values) size += 4 + v.remaining();
        ByteBuffer b = ByteBuffer.allocate(size).putInt(count);
        for (ByteBuffer v : values) b.putInt(v.remaining()).put(v.duplicate());
        b.flip();
        return b;
    }

    static ByteBuffer tuple(TupleType type, int depth) throws Exception
    {
        int n = random.nextInt(3) == 0 ? 1 + random.nextInt(type.size()) : type.size();
        List<ByteBuffer> fields = new ArrayList<>();
        int size = 0;
        for (int i = 0; i < n; i++)
        {
            ByteBuffer v = random.nextInt(4) == 0 ? null : value(type.type(i), depth + 1);
            fields.add(v);
            size += 4 + (v == null ? 0 : v.remaining());
        }
        ByteBuffer b = ByteBuffer.allocate(size);
        for (ByteBuffer v : fields) if (v == null) b.putInt(-1); else b.putInt(v.remaining()).put(v.duplicate());
        b.flip();
        return b;
    }

    @SuppressWarnings({ "unchecked", "rawtypes" })
    static ByteBuffer vector(VectorType<?> type, int depth) throws Exception
    {
        List<ByteBuffer> elements = new ArrayList<>();
        for (int i = 0; i < type.dimension; i++) elements.add(value(type.elementType, depth + 1));
        return (ByteBuffer) ((VectorType) type).getSerializer().serializeRaw(elements, ByteBufferAccessor.instance);
    }

    static ByteBuffer composite(CompositeType type) throws Exception
    {
        int n = 1 + random.nextInt(type.types.size());
        ByteBuffer b = ByteBuffer.allocate(4096);
        if (random.nextInt(5) == 0) b.putShort((short) 0xFFFF);
        for (int i = 0; i < n; i++) component(b, value(type.types.get(i), 1), i == n - 1);
        b.flip();
        return ByteBufferUtil.clone(b);
    }

    static ByteBuffer dynamic(DynamicCompositeType type) throws Exception
    {
        ByteBuffer b = ByteBuffer.allocate(4096);
        List<Byte> aliases = new ArrayList<>(new TreeSet<>(type.aliases.keySet()));
        int n = 1 + random.nextInt(2);
        for (int i = 0; i < n; i++)
        {
            byte alias = aliases.get(random.nextInt(aliases.size()));
            AbstractType<?> component = type.aliases.get(alias);
            if (random.nextInt(4) == 0)
            {
                byte[] name = component.toString().getBytes();
                b.putShort((short) name.length).put(name);
            }
            else b.putShort((short) (0x8000 | alias));
            component(b, value(component, 1), i == n - 1);
        }
        b.flip();
        return ByteBufferUtil.clone(b);
    }

    static void component(ByteBuffer b, ByteBuffer value, boolean last)
    {
        b.putShort((short) value.remaining()).put(value.duplicate());
        b.put((byte) (last ? new int[]{ 0, 0, 0, 1, -1 }[random.nextInt(5)] : 0));
    }

    static String read(ByteSource source)
    {
        if (source == null) return null;
        StringBuilder sb = new StringBuilder();
        for (int b = source.next(); b != ByteSource.END_OF_STREAM; b = source.next()) sb.append(String.format("%02x", b));
        return sb.toString();
    }

    static String pick(String[] from) { return from[random.nextInt(from.length)]; }
    static String hex(ByteBuffer b) { return ByteBufferUtil.bytesToHex(b); }
    static String quote(String s) { return s == null ? "null" : "\"" + s.replace("\\", "\\\\").replace("\"", "\\\"") + "\""; }
}
