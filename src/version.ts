// The version of this product, from its package.json: beside src/ when run from source, one folder further up from dist/.

import { existsSync, readFileSync } from 'node:fs'

function readVersion(): string {
  for (const path of ['../package.json', '../../package.json']) {
    const url = new URL(path, import.meta.url)
    if (!existsSync(url)) continue
    const { name, version } = JSON.parse(readFileSync(url, 'utf8')) as { name?: string; version?: string }
    if (name === 'sluice' && version !== undefined) return version
  }
  return 'unknown'
}

export const VERSION = readVersion()
