// CQL identifiers as text: which need quotes (Cassandra's ColumnIdentifier.maybeQuote and reserved_keywords.txt).

// The union over 3.11 to 5.0: a quoted name is right in every version.
const RESERVED = new Set(
  `add allow alter and apply asc authorize batch begin by columnfamily create default delete desc describe drop entries execute
  from full grant if in index infinity insert into is keyspace limit materialized mbean mbeans modify nan norecursive not null of
  on or order primary rename replace revoke schema select set table to token truncate unlogged unset update use using view where
  with`.split(/\s+/),
)

/** The name as CQL text: quoted unless it is lower case, plain and no reserved word. */
export function quoteName(name: string): string {
  return /^[a-z][a-z0-9_]*$/.test(name) && !RESERVED.has(name) ? name : `"${name.replaceAll('"', '""')}"`
}
