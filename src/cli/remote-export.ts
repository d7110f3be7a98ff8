// `sluice export --url`: a table that a server has, pulled in parallel. Arrow streams go on where they stood after any failure, also of
// this process where there is a checkpoint; the other formats go on at the next split.

import { createReadStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import PQueue from 'p-queue'
import { SluiceError } from '../../storage/errors.ts'
import { createExport, findExport, type PullProgress, type RemoteExport, type SplitState } from '../client/index.ts'
import { formatBytes, formatCount } from '../format-numbers.ts'
import type { FormatName } from '../formats.ts'
import { formatTableName, parseTableName } from '../names.ts'
import type { ParameterName, ParameterValues } from '../parameters.ts'
import { EXPORT_PARAMETERS, ROWS_PARAMETERS } from '../parameters.ts'
import { type CheckpointContent, readCheckpoint, removeCheckpoint, writeCheckpoint } from './checkpoint.ts'
import { withoutHeader } from './csv-header.ts'
import { type ExportFlags, interruption, outputFormat, toStandardOutput } from './export.ts'
import { logFormat, parameterValues } from './options.ts'
import { openOutput, ReaderLeft } from './output.ts'
import { startProgress } from './progress.ts'
import type { RemoteFlags } from './remote-flags.ts'
import { warn } from './report-error.ts'
import { ResumableFile } from './resumable-file.ts'
import { wholeNumber } from './sizes.ts'
import { readToken } from './token.ts'

type Flags = RemoteFlags & Partial<ExportFlags>

interface Job {
  flags: Flags
  format: FormatName
  remote: RemoteExport
  concurrency: number
  /** Rows at most. */
  limit: number | undefined
  signal: AbortSignal
  /** Where each split stands, and what of each file is whole; kept in the checkpoint. */
  states: Map<number, SplitState>
  sizes: Map<number, number>
  save(): Promise<void>
  onProgress(progress: PullProgress): void
  onRetry(split: number, error: SluiceError): void
}

const END_OF_STREAM = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0)
/** Number of the file of all splits in a checkpoint. */
const ONE_FILE = -1
/** A checkpoint costs a sync of the files. */
const SAVE_BYTES = 64 << 20
const SAVE_MS = 2000

export async function exportFromServer(tableName: string, flags: Flags): Promise<void> {
  if (flags.data !== undefined) throw bad('data', 'it cannot be given with --url')
  const { keyspace, table } = parseTableName(tableName)
  const perSplit = flags.perSplit ?? false
  const format = outputFormat(flags.format, perSplit ? undefined : flags.output, perSplit)
  const concurrency = flags.concurrency === undefined ? 4 : wholeNumber('concurrency', flags.concurrency, 1, 1000)
  if (toStandardOutput(flags) && (perSplit || flags.checkpoint !== undefined)) {
    throw bad(perSplit ? 'per-split' : 'checkpoint', 'needs -o')
  }
  const { limit, ...asked } = requestOf(flags, format)
  if (limit !== undefined && flags.checkpoint !== undefined) throw bad('limit', 'it does not go with --checkpoint')
  // Only one stream makes one file of these, and only one comes to the first rows first.
  const isWhole = limit !== undefined || ((format === 'parquet' || format === 'arrow') && !perSplit)
  const request = { keyspace, table, ...asked, ...splitsOf(flags, isWhole, limit !== undefined, concurrency) }
  const signal = interruption()
  const { remote, content } = await open(flags, request)
  const progress = { rows: 0, dataBytesRead: 0, dataBytesTotal: 0, retries: 0 }
  let saved: Promise<unknown> = Promise.resolve()
  const job: Job = {
    flags,
    format,
    remote,
    concurrency,
    limit: limit === undefined ? undefined : Number(limit),
    signal,
    states: new Map(content.splits),
    sizes: new Map(content.sizes),
    async save() {
      const { checkpoint } = flags
      if (checkpoint === undefined) return
      // One at a time: several splits can come to their end at once.
      const saving = saved.then(() =>
        writeCheckpoint(checkpoint, { ...content, splits: [...job.states], sizes: [...job.sizes] }),
      )
      saved = saving.catch(() => {})
      await saving
    },
    onProgress({ rows, dataBytes, dataBytesDone }) {
      progress.rows = rows
      progress.dataBytesRead = dataBytesDone
      progress.dataBytesTotal = dataBytes
    },
    onRetry(split, error) {
      progress.retries++
      if (!flags.quiet) warn(`split ${split}: ${error.message}; trying again`, logFormat(flags))
    },
  }
  await job.save()
  const isShown = process.stderr.isTTY && !flags.quiet && !(toStandardOutput(flags) && process.stdout.isTTY)
  const label = formatTableName({ keyspace, table })
  const bar = isShown ? startProgress(label, progress, progress, process.stderr) : undefined
  const started = performance.now()
  let bytes: number
  try {
    if (perSplit) bytes = await intoDirectory(job, resolve(flags.output!), label)
    else if (format === 'arrows') bytes = await intoOneStream(job)
    else bytes = await joined(job)
  } catch (error) {
    await job.save()
    // Without a checkpoint nobody will come back for it.
    if (flags.checkpoint === undefined) await remote.delete().catch(() => {})
    if (error instanceof ReaderLeft) return
    throw signal.aborted ? signal.reason : error
  } finally {
    bar?.stop()
  }
  if (flags.checkpoint !== undefined) await removeCheckpoint(flags.checkpoint)
  await remote.delete().catch(() => {})
  const ms = Math.round(performance.now() - started)
  if (flags.stats) process.stderr.write(`${JSON.stringify({ ...progress, bytes, ms, export: remote.id })}\n`)
  else if (process.stderr.isTTY && !flags.quiet) {
    const rows = format === 'arrows' ? `${formatCount(progress.rows)} rows, ` : ''
    process.stderr.write(`${label}: ${rows}${formatBytes(bytes)} in ${(ms / 1000).toFixed(1)} s\n`)
  }
}

/** The export of the checkpoint, or a new one. */
async function open(
  flags: Flags,
  request: Record<string, unknown> & { keyspace: string; table: string },
): Promise<{ remote: RemoteExport; content: CheckpointContent }> {
  const { url, checkpoint } = flags
  const connection = { url: url!, token: await readToken(flags) }
  const kept = checkpoint === undefined ? undefined : await readCheckpoint(checkpoint)
  if (kept === undefined) {
    const remote = await createExport(connection, request as Parameters<typeof createExport>[1])
    return { remote, content: { url: url!, exportId: remote.id, request, splits: [], sizes: [] } }
  }
  if (kept.url !== url || JSON.stringify(kept.request) !== JSON.stringify(request)) {
    throw bad('checkpoint', 'it is of another command', 'remove the file to begin anew')
  }
  return { remote: await findExport(connection, kept.exportId), content: kept }
}

/** All splits in ring order as one Arrow stream. */
async function intoOneStream(job: Job): Promise<number> {
  const { flags, remote, concurrency, signal, states, sizes } = job
  const isFile = flags.checkpoint !== undefined
  const file = isFile ? await ResumableFile.open(resolve(flags.output!), sizes.get(ONE_FILE) ?? 0) : undefined
  const output = isFile ? undefined : await openOutput(flags.output, signal)
  let bytes = file?.size ?? 0
  const write = async (part: Uint8Array) => {
    bytes += part.length
    if (file === undefined) await output!.write([part])
    else await file.write(part)
  }
  const saving = new Saving(async (pending) => {
    if (file === undefined) return
    await file.sync()
    for (const [split, state] of pending) states.set(split, state)
    sizes.set(ONE_FILE, file.size)
    await job.save()
  })
  try {
    if (bytes === 0) await write(remote.schemaMessage)
    for await (const part of remote.parts({ ...job, concurrency, resume: new Map(states) })) {
      if (part.kind === 'batch') await write(part.bytes)
      await saving.add(part)
    }
    await write(END_OF_STREAM)
    await (file ?? output!).commit()
  } catch (error) {
    if (file === undefined) await output!.discard()
    else {
      await saving.flush().catch(() => {})
      await file.leave(true)
    }
    throw error
  }
  return bytes
}

/** A file for each split. Gives the bytes of all. */
async function intoDirectory(job: Job, directory: string, name: string): Promise<number> {
  await mkdir(directory, { recursive: true }).catch((error) => {
    throw new SluiceError('CANNOT_WRITE', { file: directory, reason: (error as Error).message }, error)
  })
  const path = (split: number) => join(directory, splitName(name, split, job.format))
  return job.format === 'arrows' ? streamsInto(job, path) : copiesInto(job, path)
}

async function streamsInto(job: Job, path: (split: number) => string): Promise<number> {
  const { remote, concurrency, states, sizes, flags } = job
  const files = new Map<number, ResumableFile>()
  const fileOf = async (split: number) => {
    let file = files.get(split)
    if (file === undefined) {
      file = await ResumableFile.open(path(split), sizes.get(split) ?? 0)
      files.set(split, file)
      if (file.size === 0) await file.write(remote.schemaMessage)
    }
    return file
  }
  const saving = new Saving(async (pending) => {
    if (flags.checkpoint === undefined) return
    for (const [split, state] of pending) {
      const file = files.get(split)
      await file?.sync()
      if (file !== undefined) sizes.set(split, file.size)
      states.set(split, state)
    }
    await job.save()
  })
  try {
    const resume = new Map(states)
    for await (const part of remote.parts({ ...job, concurrency, resume, ordered: false })) {
      const file = await fileOf(part.split)
      if (part.kind === 'batch') await file.write(part.bytes)
      else {
        await file.write(END_OF_STREAM)
        await file.commit()
        sizes.set(part.split, file.size)
        files.delete(part.split)
      }
      await saving.add(part)
    }
    await saving.flush()
  } catch (error) {
    await saving.flush().catch(() => {})
    for (const file of files.values()) await file.leave(flags.checkpoint !== undefined)
    throw error
  }
  return [...sizes.values()].reduce((sum, size) => sum + size, 0)
}

/** Whole splits in the server's format. */
async function copiesInto(job: Job, path: (split: number) => string): Promise<number> {
  const { remote, concurrency, limit, states, sizes, signal } = job
  const { endpoints } = remote.description
  const progress = { rows: 0, dataBytes: endpoints.reduce((sum, { bytes }) => sum + bytes, 0), dataBytesDone: 0 }
  const queue = new PQueue({ concurrency })
  const failed = new AbortController()
  const either = AbortSignal.any([signal, failed.signal])
  const copy = async (split: number) => {
    if (states.get(split) !== 'done') {
      const file = await ResumableFile.open(path(split), 0)
      try {
        await remote.copy(split, file, { limit, signal: either, onRetry: job.onRetry })
        await file.commit()
      } catch (error) {
        await file.leave(false)
        failed.abort(error)
        throw error
      }
      sizes.set(split, file.size)
      states.set(split, 'done')
      await job.save()
    }
    progress.dataBytesDone += endpoints[split].bytes
    job.onProgress(progress as PullProgress)
  }
  await Promise.all(endpoints.map((_, split) => queue.add(() => either.throwIfAborted() ?? copy(split))))
  return [...sizes.values()].reduce((sum, size) => sum + size, 0)
}

/** Splits into files of their own first, since none of them can be resumed in the midst; then one behind the other. */
async function joined(job: Job): Promise<number> {
  const { flags, format, remote, signal } = job
  const output = await openOutput(flags.output, signal)
  const folder = toStandardOutput(flags) ? `sluice-${remote.id}.splits` : `${resolve(flags.output!)}.splits`
  let isWhole = false
  try {
    await intoDirectory(job, folder, 'part')
    let bytes = 0
    for (const split of remote.description.endpoints.keys()) {
      const file: AsyncIterable<Uint8Array> = createReadStream(join(folder, splitName('part', split, format)))
      for await (const part of format === 'csv' && split > 0 ? withoutHeader(file) : file) {
        await output.write([part])
        bytes += part.length
      }
    }
    await output.commit()
    isWhole = true
    return bytes
  } catch (error) {
    await output.discard()
    throw error
  } finally {
    if (isWhole || flags.checkpoint === undefined) await rm(folder, { recursive: true, force: true })
  }
}

/** Saves now and then what has come. */
class Saving {
  readonly #save: (pending: Map<number, SplitState>) => Promise<void>
  #pending = new Map<number, SplitState>()
  #bytes = 0
  #at = performance.now()

  constructor(save: (pending: Map<number, SplitState>) => Promise<void>) {
    this.#save = save
  }

  async add(
    part: { split: number } & ({ kind: 'batch'; position: string; bytes: Uint8Array } | { kind: 'end' }),
  ): Promise<void> {
    this.#pending.set(part.split, part.kind === 'end' ? 'done' : { position: part.position })
    if (part.kind === 'batch') this.#bytes += part.bytes.length
    if (this.#bytes >= SAVE_BYTES || performance.now() - this.#at >= SAVE_MS) await this.flush()
  }

  async flush(): Promise<void> {
    const pending = this.#pending
    this.#pending = new Map()
    this.#bytes = 0
    await this.#save(pending)
    this.#at = performance.now()
  }
}

function splitName(name: string, split: number, format: FormatName): string {
  return `${name}.${String(split).padStart(5, '0')}.${format}`
}

/** The parameters of the export, as the server takes them. */
function requestOf(flags: Flags, format: FormatName): Record<string, string> {
  // Checked here as they would be without a server.
  const values: ParameterValues = parameterValues(ROWS_PARAMETERS, flags as Record<string, unknown>)
  const allowed: readonly ParameterName[] = EXPORT_PARAMETERS
  const request: Record<string, string> = { format }
  if (values.after !== undefined && values.from !== undefined)
    throw bad('after', 'it does not go with --from and --url')
  for (const name of Object.keys(values) as ParameterName[]) {
    if (name === 'after' || name === 'limit') {
      request[name === 'after' ? 'from' : name] = String(values[name])
      continue
    }
    if (!allowed.includes(name)) throw bad(name, 'it cannot be given with --url')
    const value = values[name]!
    if (typeof value !== 'object') request[name] = String(value)
    else request[name] = value.kind === 'text' ? 'text' : `${value.kind}:${value.scale}`
  }
  return { ...request, format }
}

function splitsOf(
  { splits, targetBytes }: Flags,
  isWhole: boolean,
  isLimited: boolean,
  concurrency: number,
): { splits?: number; target_bytes?: number } {
  if (isWhole) {
    if ((splits ?? '1') !== '1' || targetBytes !== undefined) {
      if (isLimited) throw bad('splits', 'only one stream comes to the first rows first')
      throw bad('splits', 'this format is one stream in one file', 'take --per-split, or --format arrows')
    }
    return { splits: 1 }
  }
  if (splits !== undefined) return { splits: wholeNumber('splits', splits, 1, 10_000) }
  if (targetBytes !== undefined) return { target_bytes: wholeNumber('target-bytes', targetBytes, 1, 1e12) }
  // So that the streams end at about the same time.
  return { splits: 4 * concurrency }
}

function bad(parameter: string, reason: string, hint?: string): SluiceError {
  return new SluiceError('BAD_PARAMETER', { parameter, reason, hint })
}
