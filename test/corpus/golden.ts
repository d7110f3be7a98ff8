/**
 * The golden sets: SSTables written by real Cassandra nodes, with what the same nodes answered over them. They lie in
 * test/golden/NAME.tar.br (packed by pack-golden.sh) and are unpacked once, into a folder outside the repository.
 *
 *   const dir = await goldenSet('da')     dir/data, dir/expected, dir/schema.cql, ...
 */
import { createHash } from 'node:crypto'
import { access, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'
import { unpackTar } from './tar.ts'

export const GOLDEN_NAMES = ['me', 'nb', 'nb-5.0', 'oa', 'da', 'nb-codecs', 'da-codecs'] as const
export type GoldenName = (typeof GOLDEN_NAMES)[number]
/** Sets that test/oracle/cases.py writes, for test/cases. */
export type CaseSet = 'cases-da' | 'cases-nb' | 'cases-me'
/** Sets that test/oracle/slices.py writes, for test/storage/scan/slices.test.ts. */
export type SliceSet = `slices-${'da' | 'oa' | 'nb' | 'me'}`
/**
 * Sets made for one test, without `expected`: predicates-da holds the tables of test/storage/scan/predicate/record-answers.py; dumps-NAME
 * what sstabledump prints of the SSTables of set NAME, in sstabledump/.
 */
export type SpecialSet = 'predicates-da' | `dumps-${GoldenName}`

/** What `expected/meta.json` of a set says. */
export interface GoldenMeta {
  /** release of the node, such as `5.0.8` */
  readonly cassandra: string
  readonly format: 'me' | 'nb' | 'oa' | 'da'
  readonly seed: number
  /** epoch seconds at which the node was asked: the `now` of the expected rows */
  readonly now: number
  /** rows by `keyspace.table`, views among them */
  readonly rows: Readonly<Record<string, number>>
  readonly count_star_differs: Readonly<Record<string, { readonly rows: number; readonly count: number }>>
}

const ARCHIVES = join(dirname(fileURLToPath(import.meta.url)), '..', 'golden')
const decompress = promisify(brotliDecompress)
const unpacked = new Map<GoldenName | CaseSet | SliceSet | SpecialSet, Promise<string>>()

/** `$SLUICE_CACHE`, or a folder of its own in the system's temporary folder. */
function cacheFolder(): string {
  const set = process.env.SLUICE_CACHE
  return set ? join(set, 'golden') : join(tmpdir(), 'sluice-golden')
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/**
 * The folder's name holds the archive's digest, so another archive is another folder. It is filled under a name of its
 * own and renamed: a folder that is there is whole, and of several processes at it, one wins and the rest take its result.
 */
async function unpack(name: GoldenName | CaseSet | SliceSet | SpecialSet): Promise<string> {
  const packed = await readFile(join(ARCHIVES, `${name}.tar.br`))
  const digest = createHash('sha256').update(packed).digest('hex').slice(0, 16)
  const cache = cacheFolder()
  const directory = join(cache, `${name}-${digest}`)
  if (await exists(directory)) return directory
  await mkdir(cache, { recursive: true })
  const filling = await mkdtemp(join(cache, `.${name}-`))
  try {
    const whole = join(filling, 'set')
    await unpackTar(await decompress(packed), whole)
    await rename(whole, directory).catch(async (error: NodeJS.ErrnoException) => {
      if (!(await exists(directory))) throw error
    })
  } finally {
    await rm(filling, { recursive: true, force: true })
  }
  return directory
}

/** The set's folder; unpacked by the first caller. Do not write in it: tests share it. */
export function goldenSet(name: GoldenName | CaseSet | SliceSet | SpecialSet): Promise<string> {
  let set = unpacked.get(name)
  if (set === undefined) {
    set = unpack(name)
    unpacked.set(name, set)
  }
  return set
}

export async function goldenMeta(name: GoldenName | CaseSet | SliceSet): Promise<GoldenMeta> {
  const directory = await goldenSet(name)
  return JSON.parse(await readFile(join(directory, 'expected', 'meta.json'), 'utf8')) as GoldenMeta
}
