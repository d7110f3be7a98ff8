// TOC.txt: the component names of an SSTable, one a line (o.a.c.io.sstable.format.TOCComponent). Cassandra only logs a
// listed component that is missing; here the list tells whether a file is missing that changes how Data.db is read.

/** Component names as listed, also ones that Sluice does not know. Blank lines are passed over, as Cassandra does. */
export function parseToc(text: string): Set<string> {
  const names = new Set<string>()
  for (const line of text.split(/\r?\n/)) {
    const name = line.trim()
    if (name !== '') names.add(name)
  }
  return names
}
