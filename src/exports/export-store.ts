// The exports of a server: made, read, renewed, ended. An export is a pinned table with everything about its rows fixed once; all
// streams under it see the same rows. Its files stay readable by open descriptors, and by hard links where there is a state directory.

import type { Logger } from 'pino'
import { isSluiceError, SluiceError } from '../../storage/errors.ts'
import type { BatchSchema } from '../../storage/rows/batch.ts'
import type { Scan } from '../../storage/scan/scan-request.ts'
import { currentSecond } from '../instant.ts'
import { EXPORT_PARAMETERS, readParameters, scanRequest } from '../parameters.ts'
import type { PinnedSource, Source } from '../source.ts'
import type { TableSplit } from '../split-table.ts'
import { DEFAULT_EXPORT_LIMITS, type ExportLimits } from './export-limits.ts'
import type { KeptExport, StateDirectory } from './kept-files.ts'
import { isOwnExportId, newExportId, type SigningKey, signingKey } from './tickets.ts'

export interface TableExport extends KeptExport {
  readonly pinned: PinnedSource
  /** What its streams look like. */
  readonly batchSchema: BatchSchema
  /** Of Data.db, on disk. */
  readonly bytes: number
  /** Whether its files outlive the process. */
  readonly linked: boolean
}

export interface ExportStoreOptions {
  source: Source
  logger: Logger
  /** Signs ids and tickets; one of this process if not given. */
  key?: SigningKey
  limits?: Partial<ExportLimits>
  state?: StateDirectory
}

interface Held {
  export: TableExport
  /** Cuts a stream that reads it. */
  streams: Set<(reason: SluiceError) => void>
}

const SWEEP_MS = 1000
const PIN_ATTEMPTS = 20
/** A longer position would not fit into a ticket; such a cut is left out. */
const MAX_POSITION = 2048

export class ExportStore {
  readonly key: SigningKey
  readonly limits: ExportLimits
  readonly #source: Source
  readonly #logger: Logger
  readonly #state: StateDirectory | undefined
  readonly #exports = new Map<string, Held>()
  readonly #timer: NodeJS.Timeout
  #making = 0

  constructor({ source, logger, key, limits, state }: ExportStoreOptions) {
    this.key = key ?? signingKey()
    this.limits = { ...DEFAULT_EXPORT_LIMITS, ...limits }
    this.#source = source
    this.#logger = logger
    this.#state = state
    this.#timer = setInterval(() => this.#sweep(), SWEEP_MS).unref()
  }

  /** Brings back the exports of an earlier process. */
  async restore(): Promise<void> {
    const damaged = (id: string, error: unknown) => this.#logger.error({ export: id, err: error }, 'export lost')
    for (const { directories, ...kept } of (await this.#state?.load(damaged)) ?? []) {
      if (kept.expires <= Date.now() || !isOwnExportId(this.key, kept.id)) {
        await this.#state!.remove(kept.id)
        continue
      }
      try {
        const pinned = await this.#source.reopen(kept.schema, directories)
        const batchSchema = await schemaOf(pinned, kept.parameters, kept.now)
        this.#hold({ ...kept, pinned, batchSchema, bytes: bytesOf(pinned), linked: true })
      } catch (error) {
        damaged(kept.id, error)
        await this.#state!.remove(kept.id)
      }
    }
  }

  /**
   * @param parameters of EXPORT_PARAMETERS, as text
   * @throws SluiceError OVERLOADED at one of the limits; BAD_*, UNKNOWN_*; what opening the SSTables finds
   */
  async create(keyspace: string, table: string, parameters: [name: string, value: string][]): Promise<TableExport> {
    const { limits } = this
    const values = readParameters(EXPORT_PARAMETERS, parameters)
    const ttl = Math.min(values.ttl ?? limits.ttlSeconds, limits.ageSeconds)
    checkLimit('exports', this.#exports.size + this.#making + 1, limits.exports)
    this.#making++
    const id = newExportId(this.key)
    let pinned: PinnedSource | undefined
    try {
      const now = values.now ?? currentSecond()
      let linked: boolean
      ;({ pinned, linked } = await this.#pin(id, keyspace, table))
      const bytes = bytesOf(pinned)
      checkLimit('pinned bytes', this.totals.bytes + bytes, limits.pinnedBytes)
      checkLimit('descriptors', this.totals.descriptors + pinned.descriptors, limits.descriptors)
      const batchSchema = await schemaOf(pinned, parameters, now)
      const { start, end, where, from, to, splits: count, target_bytes: targetBytes } = values
      for (const [parameter, position] of Object.entries({ from, to })) checkLength(parameter, position)
      const splits = joined(
        await pinned.splits({ start, end, where, from, to, count, targetBytes: targetBytes ?? limits.targetBytes }),
      )
      checkLimit('splits', this.totals.splits + splits.length, limits.splits)
      const created = Date.now()
      const expires = created + ttl * 1000
      const { schema } = pinned
      const kept: KeptExport = { id, keyspace, table, parameters, now, created, expires, ttl, splits, schema }
      if (linked) await this.#state!.save(kept)
      const made = { ...kept, pinned, batchSchema, bytes, linked }
      this.#hold(made)
      this.#logger.info({ export: id, keyspace, table, splits: splits.length, bytes, linked }, 'export made')
      return made
    } catch (error) {
      await pinned?.release()
      await this.#state?.remove(id)
      throw error
    } finally {
      this.#making--
    }
  }

  list(): TableExport[] {
    return [...this.#exports.values()].map((held) => held.export)
  }

  /** @throws SluiceError EXPORT_GONE, UNKNOWN_EXPORT */
  get(id: string): TableExport {
    return this.#find(id).export
  }

  /** Puts the end off to `ttl` seconds from now, within the age that exports may reach. */
  async renew(id: string, ttl?: number): Promise<TableExport> {
    const held = this.#find(id)
    const { created } = held.export
    const seconds = ttl ?? held.export.ttl
    const expires = Math.min(Date.now() + seconds * 1000, created + this.limits.ageSeconds * 1000)
    held.export = { ...held.export, expires }
    if (held.export.linked) await this.#state!.save(keptOf(held.export))
    return held.export
  }

  /** Ends it, and cuts the streams that read it. */
  async delete(id: string): Promise<void> {
    await this.#end(this.#find(id), 'deleted')
  }

  /**
   * Says that a stream reads the export, which does not expire meanwhile; to be called back when it does no longer.
   * @param cut called when the export ends all the same
   */
  use(id: string, cut: (reason: SluiceError) => void): () => void {
    const { streams } = this.#find(id)
    streams.add(cut)
    return () => streams.delete(cut)
  }

  get totals(): { exports: number; bytes: number; descriptors: number; splits: number } {
    const totals = { exports: this.#exports.size, bytes: 0, descriptors: 0, splits: 0 }
    for (const held of this.#exports.values()) {
      totals.bytes += held.export.bytes
      totals.descriptors += held.export.pinned.descriptors
      totals.splits += held.export.splits.length
    }
    return totals
  }

  /** Lets go of everything; exports with links stay on disk. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    const all = [...this.#exports.values()]
    this.#exports.clear()
    for (const { export: ended } of all) await ended.pinned.release()
    await this.#state?.close()
  }

  #hold(made: TableExport): void {
    this.#exports.set(made.id, { export: made, streams: new Set() })
  }

  #find(id: string): Held {
    const held = this.#exports.get(id)
    if (held !== undefined) return held
    throw new SluiceError(isOwnExportId(this.key, id) ? 'EXPORT_GONE' : 'UNKNOWN_EXPORT', { value: id.slice(0, 100) })
  }

  /** Pins, and links what was pinned. A file that went between the two means another set: pinned again. */
  async #pin(id: string, keyspace: string, table: string): Promise<{ pinned: PinnedSource; linked: boolean }> {
    for (let attempt = 1; ; attempt++) {
      const pinned = await this.#source.pin(keyspace, table)
      try {
        return { pinned, linked: (await this.#state?.link(id, pinned.files)) ?? false }
      } catch (error) {
        await pinned.release()
        if (!isSluiceError(error) || error.code !== 'MISSING_COMPONENT' || attempt === PIN_ATTEMPTS) throw error
      }
    }
  }

  #sweep(): void {
    const now = Date.now()
    for (const held of this.#exports.values()) {
      const { created, expires } = held.export
      const tooOld = now >= created + this.limits.ageSeconds * 1000
      if (tooOld || (now >= expires && held.streams.size === 0)) {
        this.#end(held, tooOld ? 'too old' : 'expired').catch((error) =>
          this.#logger.error({ export: held.export.id, err: error }, 'export not removed'),
        )
      }
    }
  }

  async #end(held: Held, reason: string): Promise<void> {
    const { id, pinned, linked } = held.export
    this.#exports.delete(id)
    for (const cut of held.streams) cut(new SluiceError('EXPORT_GONE', { value: id, reason }))
    await pinned.release()
    if (linked) await this.#state!.remove(id)
    this.#logger.info({ export: id, reason }, 'export ended')
  }
}

/** What its streams look like; and whether it can be read at all. */
async function schemaOf(
  pinned: PinnedSource,
  parameters: [name: string, value: string][],
  now: number,
): Promise<BatchSchema> {
  const values = readParameters(EXPORT_PARAMETERS, parameters)
  const scan: Scan = await pinned.scan({ ...scanRequest(values, 'arrows', now), limit: 0 })
  try {
    return scan.schema
  } finally {
    await scan.close()
  }
}

function keptOf({ pinned: _, batchSchema: __, bytes: ___, linked: ____, ...kept }: TableExport): KeptExport {
  return kept
}

function bytesOf({ sstables }: PinnedSource): number {
  return sstables.reduce((sum, { bytes }) => sum + bytes, 0)
}

function checkLimit(reason: string, found: number, limit: number): void {
  if (found > limit) throw new SluiceError('OVERLOADED', { reason, found: String(found), limit })
}

/** The ends of splits stand in tickets. */
function checkLength(parameter: string, position: string | undefined): void {
  if (position === undefined || position.length <= MAX_POSITION) return
  throw new SluiceError('BAD_POSITION', { parameter, reason: 'too long for a ticket', limit: MAX_POSITION })
}

/** Without the cuts at positions that are too long; and with one split at least, so that there is a stream to read. */
function joined(splits: readonly TableSplit[]): TableSplit[] {
  const result: TableSplit[] = []
  for (const split of splits) {
    const last = result.at(-1)
    if (last?.to && last.to.length > MAX_POSITION && last.to === split.from) {
      result[result.length - 1] = {
        ...last,
        to: split.to,
        end: split.end,
        bytes: last.bytes + split.bytes,
        partitions: last.partitions + split.partitions,
      }
    } else result.push(split)
  }
  if (result.length === 0) return [{ from: null, to: null, start: null, end: null, bytes: 0, partitions: 0 }]
  return result
}
