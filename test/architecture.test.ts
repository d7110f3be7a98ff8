// The shape of the source tree, as ARCHITECTURE.md gives it: which layer may import which, and how large a file may be.
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const LAYERS = ['storage', 'exporters', 'src'] as const

/** What each layer may import from beside itself. */
const ALLOWED: Record<(typeof LAYERS)[number], readonly string[]> = {
  storage: [],
  exporters: ['storage'],
  src: ['storage', 'exporters'],
}

interface SourceFile {
  /** From the root, with `/`. */
  path: string
  text: string
  lines: number
  /** Every module named by import, export ... from, import() and require(). */
  imports: string[]
}

const IMPORT = /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)(['"])([^'"\n]+)\1/g

async function sources(folder: string): Promise<SourceFile[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(() => [])
  const files = entries.filter((e) => e.isFile() && /\.(ts|mts|js|mjs)$/.test(e.name))
  return Promise.all(
    files.map(async (entry) => {
      const full = join(entry.parentPath, entry.name)
      const text = await readFile(full, 'utf8')
      const imports = [...withoutComments(text).matchAll(IMPORT)].map((match) => match[2])
      return { path: relative(root, full).replaceAll('\\', '/'), text, lines: text.split('\n').length - 1, imports }
    }),
  )
}

/** Line comments that start a line and block comments; enough to keep examples in them from counting. */
function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')
}

const all = (await Promise.all(LAYERS.map(sources))).flat()

test('there is something to look at', () => {
  expect(all.length).toBeGreaterThan(100)
  expect(all.flatMap((f) => f.imports).length).toBeGreaterThan(300)
})

describe('imports', () => {
  test.each(LAYERS)('of %s go one way', (layer) => {
    const wrong = all
      .filter((file) => file.path.startsWith(`${layer}/`))
      .flatMap(({ path, imports }) =>
        imports
          .filter((name) => name.startsWith('.'))
          .map(
            (name) =>
              relative(root, resolve(root, dirname(path), name))
                .replaceAll('\\', '/')
                .split('/')[0],
          )
          .filter((top) => top !== layer && !ALLOWED[layer].includes(top))
          .map((top) => `${path} imports ${top}`),
      )
    // The version of the product is package.json's own.
    expect(wrong.filter((w) => !w.endsWith('imports package.json'))).toEqual([])
  })

  test('name files that are there, with their .ts', () => {
    const wrong = all.flatMap(({ path, imports }) =>
      imports
        .filter((name) => name.startsWith('.'))
        .filter((name) => !existsSync(resolve(root, dirname(path), name)))
        .map((name) => `${path} imports ${name}`),
    )
    expect(wrong).toEqual([])
  })

  test('of storage are no web framework and no output format', () => {
    const packages = all
      .filter((file) => file.path.startsWith('storage/'))
      .flatMap(({ path, imports }) =>
        imports
          .filter((name) => /^(apache-arrow|fastify|undici|commander|node:http)/.test(name))
          .map((name) => `${path} imports ${name}`),
      )
    expect(packages).toEqual([])
  })

  test('inside of storage, bytes know nothing above them', () => {
    const wrong = all
      .filter((file) => file.path.startsWith('storage/bytes/'))
      .flatMap(({ path, imports }) =>
        imports.filter((name) => /^\.\.\/(?!errors\.ts)/.test(name)).map((name) => `${path} imports ${name}`),
      )
    expect(wrong).toEqual([])
  })
})

describe('files', () => {
  test('have at most 500 lines', () => {
    expect(all.filter((f) => f.lines > 500).map((f) => `${f.path}: ${f.lines}`)).toEqual([])
  })

  test('say first what they are', () => {
    const mute = all.filter(({ text }) => !/^(#!.*\n)?\s*(\/\/|\/\*)/.test(text)).map((f) => f.path)
    expect(mute).toEqual([])
  })

  test('and folders are named for what they hold', () => {
    const parts = new Set(
      all.flatMap(({ path }) => path.split('/').map((part) => basename(part).replace(/\.\w+$/, ''))),
    )
    expect([...parts].filter((part) => /^(utils?|common|helpers?|misc)$/.test(part))).toEqual([])
    const odd = all
      .map((f) => basename(f.path))
      .filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.d)?\.(ts|mts|js|mjs)$/.test(name))
    expect(odd).toEqual([])
  })

  test('export by name', () => {
    expect(all.filter(({ text }) => /^export default/m.test(text)).map((f) => f.path)).toEqual([])
  })
})
