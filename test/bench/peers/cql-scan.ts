// A full table scan by CQL as DSBulk does it: the ring cut into token ranges, several of them read at once, each paged through by 5,000
// rows. The rows are decoded by the driver and counted.

import cassandra from 'cassandra-driver'

const FETCH_SIZE = 5000
const RANGES = 64

export class CqlScan {
  #client: cassandra.Client

  constructor(port: number) {
    this.#client = new cassandra.Client({
      contactPoints: [`127.0.0.1:${port}`],
      localDataCenter: 'datacenter1',
      queryOptions: { fetchSize: FETCH_SIZE, prepare: true },
      socketOptions: { readTimeout: 600_000 },
    })
  }

  connect(): Promise<void> {
    return this.#client.connect()
  }

  async execute(statement: string): Promise<void> {
    await this.#client.execute(statement)
  }

  /** Rows of a table with one partition key column, by `concurrency` ranges at once. */
  async countRows(table: string, key: string, concurrency: number): Promise<number> {
    const query = `SELECT * FROM ${table} WHERE token(${key}) > ? AND token(${key}) <= ?`
    const waiting = tokenRanges()
    let rows = 0
    const work = async () => {
      for (let range = waiting.pop(); range !== undefined; range = waiting.pop()) {
        let pageState: string | undefined
        do {
          const page = await this.#client.execute(query, range, { prepare: true, fetchSize: FETCH_SIZE, pageState })
          rows += page.rows.length
          pageState = page.pageState
        } while (pageState !== undefined && pageState !== null)
      }
    }
    await Promise.all(Array.from({ length: concurrency }, work))
    return rows
  }

  close(): Promise<void> {
    return this.#client.shutdown()
  }
}

/** `(start, end]` over the whole ring of Murmur3. */
function tokenRanges(): [cassandra.types.Long, cassandra.types.Long][] {
  const lowest = -(2n ** 63n)
  const width = 2n ** 64n / BigInt(RANGES)
  const token = (i: number) =>
    cassandra.types.Long.fromString(String(i === RANGES ? 2n ** 63n - 1n : lowest + BigInt(i) * width))
  return Array.from({ length: RANGES }, (_, i) => [token(i), token(i + 1)])
}
