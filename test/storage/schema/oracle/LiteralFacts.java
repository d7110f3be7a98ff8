// What Cassandra makes of CQL literals. Prints JSON lines for the tests beside it:
//   ../../../oracle/cassandra.sh java 5.0.8 -Duser.timezone=UTC LiteralFacts.java | grep '^{' | gzip -9n > literal-facts.ndjson.gz
//
//   {"type","literal","bytes":hex or null}  or  {"type","literal","error":text}
import java.nio.ByteBuffer;
import java.util.*;

import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.cql3.Terms;
import org.apache.cassandra.db.marshal.*;
import org.apache.cassandra.dht.Murmur3Partitioner;
import org.apache.cassandra.utils.ByteBufferUtil;

public class LiteralFacts
{
    static final Random random = new Random(20240229);
    static final String UDT = "FrozenType(UserType(ks,74,61:Int32Type,42:UTF8Type,63:FrozenType(ListType(Int32Type))))";

    // Every one of these is tried with every scalar type.
    static final String[] CONSTANTS = {
        "0", "1", "-1", "127", "128", "-128", "-129", "32767", "32768", "2147483647", "2147483648", "-2147483648", "-2147483649",
        "9223372036854775807", "9223372036854775808", "-9223372036854775808", "123456789012345678901234567890", "86399999999999",
        "86400000000000", "4294967295", "4294967296", "00012", "-0",
        "0.0", "-0.0", "1.5", "1.50", "-1.5e-7", "1e10", "1E+3", "1.", "1e400", "-1e400", "1e-400", "0.1", "16777217.0", "3.4028236e38",
        "1.17549435e-38", "1e-45", "7e-46", "NaN", "nan", "-NaN", "Infinity", "-infinity", "1e2147483647", "1e2147483648", "1e-2147483647",
        "true", "FALSE", "0x", "0xCAFE", "0xcaf", "0X00", "0xCAFE ",
        "99999999-1111-2222-3333-444444444444", "AAAAAAAA-1111-1222-B333-444444444444", "'99999999-1111-2222-3333-444444444444'",
        "''", "'a'", "'it''s'", "$$it's$$", "'\u00e9'", "'\uD83D\uDE00'", "'5'", "'true'", "'0xCAFE'",
        "'127.0.0.1'", "'::1'", "'::'", "'1:2:3:4:5:6:7:8'", "'2001:DB8::ff00:42:8329'", "'::ffff:1.2.3.4'", "'::1.2.3.4'", "'1:2:3:4:5:6:1.2.3.4'",
        "'2024-02-29'", "'2023-02-29'", "'2024-02-31'", "'2024-13-01'", "'2024-00-10'", "'2024-01-00'", "'2024-1-1'", "'1969-12-31'", "'0000-01-01'", "'-0001-12-31'",
        "'-5877641-06-23'", "'+5881580-07-11'", "'-5877641-06-22'", "'+5881580-07-12'", "'12024-01-01'", "'+12024-01-01'", "'+2024-01-01'", "'9999-12-31'", "' 2024-01-01'",
        "'2024-01-31T10:11:12.123Z'", "'2024-01-31 10:11:12.123+0200'", "'2024-01-31T10:11:12.123456789-03:30'", "'2024-01-31 10:11'", "'2024-01-31 10:11:12'",
        "'2024-01-31 10:11+02'", "'2024-01-31 10:11:12 UTC'", "'2024-01-31 10:11:12 GMT'", "'2024-01-31 10:11:12 +0200'", "'2024-01-31 10:11:12 Z'", "'2024-01-31T10:11:12 +02'",
        "'2024-1-5 1:2:3'", "'2024-02-31 00:00:00Z'", "'2024-04-31T00:00'", "'2024-01-32 00:00'", "'2024-01-31 24:00'", "'2024-01-31 10:60'", "'2024-01-31 10:11:60'",
        "'2024-01-31 10:11.5'", "'2024-01-31 10:11:12.'", "'2024-01-31T10:11:12.5'", "'2024-01-31+0200'", "'2024-01-31Z'", "'2024-01-31 +0200'", "'2024-01-31+02:00'", "'2024-01-31 UTC'",
        "'0001-01-01 00:00:00Z'", "'12024-01-01 00:00:00Z'", "'+12024-01-01Z'", "'292278994-08-17T07:12:55.807Z'", "'2024-01-31 10:11:12+1900'", "'2024-01-31 10:11:12+18:00'",
        "'2024-01-31 10:11:12+02:00 '", "'2024-01-31 10:11:12 +02:00'", "'2024-01-31 24:00:00.000Z'", "'2024-01-31 24:00:01'", "'2024-01-31 +02:00'", "'2024-01-31T10:11:12z'", "'2024-01-31t10:11:12Z'", "'1717171717171'", "'-5'", "'9223372036854775808'",
        "'10:11:12'", "'10:11:12.5'", "'10:11:12.123456789'", "'10:11:12.1234567890'", "'10:11'", "'24:00:00'", "'1:2:3'", "'10:60:00'", "' 10:11:12 '", "'10:11:12.'", "'00:00:00'",
        "1y", "1y2mo3w4d5h6m7s8ms9us10ns", "1Y2MO", "-1d", "12h30m", "5m", "1d2y", "1d1d", "1\u00b5s", "P1Y2M3DT4H5M6S", "-P1Y", "P2W", "PT5M", "P0001-02-03T04:05:06", "P1Y2W",
        "178956970y", "178956971y", "9223372036854775807ns", "9223372036854775808ns", "2147483647d", "2147483648d", "2562047h", "2562048h", "0s", "63mo64d65ns", "106751d", "P", "PT", "1mo1000000000000ns",
        "null", "(5)", "((5))", "('a')", "[1]", "{1}", "{}", "[]", "(1, 2)", "{a: 1}", "- 5", "-(5)", "5 5" };

    // Pairs of type and literal.
    static final String[][] COMPOSED = {
        { "FrozenType(ListType(Int32Type))", "[]", "[1]", "[1, -2, 3]", "{1}", "(1)", "[1", "[1, null]", "['a']", "[1,]", "5", "0x00000000", "[(5)]" },
        { "FrozenType(ListType(FrozenType(SetType(UTF8Type))))", "[{}]", "[{'b', 'a', 'b'}, {'c'}]", "[['a']]" },
        { "FrozenType(SetType(Int32Type))", "{}", "{3, -1, 2, 3}", "[1]", "{1: 2}", "{null}" },
        { "FrozenType(SetType(DecimalType))", "{2.50, 1e3}" },
        { "FrozenType(MapType(UTF8Type,Int32Type))", "{}", "{'b': 1, 'a': 2}", "{'a': null}", "{'a'}", "{a: 1}", "{'a': 1, }", "[]" },
        { "FrozenType(MapType(InetAddressType,FrozenType(ListType(FloatType))))", "{'::1': [1, 1.5, NaN], '10.0.0.1': []}" },
        { "TupleType(Int32Type,UTF8Type,BooleanType)", "(1, 'a', true)", "(1)", "(1, null)", "(null, null, null)", "(1, 'a', true, 2)", "()", "1", "('a', 1, true)" },
        { "TupleType(Int32Type)", "(1)", "((1))", "1" },
        { "TupleType(TupleType(Int32Type),FrozenType(ListType(UUIDType)))", "((1), [99999999-1111-2222-3333-444444444444])" },
        { UDT, "{a: 1}", "{a: 1, \"B\": 'x', c: [1, 2]}", "{\"B\": null}", "{b: 'x'}", "{d: 1}", "{}", "(1, 'x', [1])", "{a: 'x'}", "{A: 1, c: []}" },
        { "VectorType(FloatType , 3)", "[1, 2, 3]", "[1.5, -2e3, NaN]", "[1, 2]", "[1, 2, 3, 4]", "[1, 2, null]", "{1, 2, 3}", "(1, 2, 3)", "[]" },
        { "VectorType(UTF8Type , 2)", "['a', 'bcd']", "['', '']", "['a']" },
        { "VectorType(IntegerType , 2)", "[1, 123456789012345678901234567890]" },
        { "VectorType(SimpleDateType , 1)", "['2024-01-01']" },
        { "TimeUUIDType", "minTimeuuid('2024-01-31 10:11:12+0000')", "maxTimeuuid('2024-01-31 10:11:12+0000')", "MINTIMEUUID(0)", "maxTimeuuid(1717171717171)", "minTimeuuid('x')" },
        { "CompositeType(UTF8Type,Int32Type)", "0x000161000000040000000500", "0x" } };

    public static void main(String[] args) throws Exception
    {
        DatabaseDescriptor.clientInitialization();
        DatabaseDescriptor.setPartitionerUnsafe(Murmur3Partitioner.instance);
        String[] scalars = { "AsciiType", "BooleanType", "BytesType", "ByteType", "CounterColumnType", "DecimalType", "DoubleType", "DurationType", "FloatType",
                             "InetAddressType", "Int32Type", "IntegerType", "LongType", "ShortType", "SimpleDateType", "TimestampType", "TimeType",
                             "TimeUUIDType", "UTF8Type", "UUIDType" };
        for (String type : scalars) for (String literal : CONSTANTS) print(type, literal);
        for (String[] row : COMPOSED) for (int i = 1; i < row.length; i++) print(row[0], row[i]);
        for (int i = 0; i < 200; i++)
        {
            print("FloatType", number());
            print("DoubleType", number());
            print("DecimalType", number());
        }
        System.exit(0);
    }

    // Decimal texts at and next to the middle between two floats, where rounding twice goes wrong.
    static String number()
    {
        float f = Float.intBitsToFloat(random.nextInt());
        if (Float.isNaN(f) || Float.isInfinite(f)) return "1";
        java.math.BigDecimal middle = new java.math.BigDecimal(f).add(new java.math.BigDecimal(Math.nextUp(f)).subtract(new java.math.BigDecimal(f)).divide(java.math.BigDecimal.valueOf(2)));
        java.math.BigDecimal step = java.math.BigDecimal.ONE.movePointLeft(middle.scale() + 3);
        switch (random.nextInt(4))
        {
            case 0: return middle.toString().toLowerCase();
            case 1: return middle.add(step).toString().toLowerCase();
            case 2: return middle.subtract(step).toString().toLowerCase();
            default: return Float.toString(f);
        }
    }

    static void print(String type, String literal) throws Exception
    {
        String result;
        try
        {
            ByteBuffer bytes = Terms.asBytes("ks", literal, TypeParser.parse(type));
            result = "\"bytes\":" + (bytes == null ? "null" : quote(ByteBufferUtil.bytesToHex(bytes)));
        }
        catch (Throwable e)
        {
            result = "\"error\":" + quote(String.valueOf(e.getMessage()));
        }
        System.out.println("{\"type\":" + quote(type) + ",\"literal\":" + quote(literal) + "," + result + "}");
    }

    static String quote(String s)
    {
        StringBuilder sb = new StringBuilder("\"");
        for (char c : s.toCharArray())
            if (c == '"' || c == '\\') sb.append('\\').append(c);
            else if (c < 32 || c > 126) sb.append(String.format("\\u%04x", (int) c));
            else sb.append(c);
        return sb.append('"').toString();
    }
}
