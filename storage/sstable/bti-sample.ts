// Payloads of a trie at about equal distances of what they stand for (offsets in Data.db, which ascend with the paths): a run of
// subtrees that spans more than the distance is halved, one that does not is not looked into. So what it costs goes by the number of
// samples, not by the size of the trie, and pages are met in the order of the file's keys.

import type { PagedFile } from '../bytes/paged-file.ts'
import { readNode, type TrieNode } from './bti-trie.ts'

export interface TrieSampling {
  /** Offsets that are sampled lie in [from, to). */
  readonly from: number
  readonly to: number
  /** No two neighbouring samples are farther apart, where there is a payload between them. */
  readonly distance: number
  /** What lies behind the last payload. */
  readonly end: number
  /** CORRUPT_SSTABLE where the payload makes no sense. */
  offsetOf(node: TrieNode): number | Promise<number>
  /** Called in ascending order. The path is that of the payload, whole. */
  visit(path: Uint8Array, node: TrieNode, offset: number): void | Promise<void>
}

/** Some children of a node, or a payload alone: all that lies in [start, end) of Data.db. */
interface Run {
  readonly node: TrieNode
  readonly path: readonly number[]
  readonly low: number
  readonly high: number
  readonly start: number
  readonly end: number
}

// As bti-trie.ts.
const MAX_DEPTH = 1 << 20

/** Samples a trie, but for its least payload, which is the caller's to know. CORRUPT_SSTABLE where offsets do not ascend. */
export async function sampleTrie(file: PagedFile, root: number, sampling: TrieSampling): Promise<void> {
  const { from, to, distance, offsetOf, visit } = sampling

  const leastBelow = async (position: number, path: readonly number[]): Promise<{ node: TrieNode; path: number[] }> => {
    const full = [...path]
    let node = await readNode(file, position, 1)
    while (node.payloadFlags === 0) {
      if (node.children.length === 0) throw file.corrupt(node.position, 'a trie leaf without payload')
      if (full.length > MAX_DEPTH) throw file.corrupt(node.position, 'a trie path too long')
      full.push(node.transitions[0])
      node = await readNode(file, node.children[0], 1)
    }
    return { node, path: full }
  }

  // A stack in place of recursion: what is on top comes first in the trie.
  const stack: (Run | { visit: () => void | Promise<void> })[] = []
  /** Splits the run before a child in two, with the child's least payload between them. */
  const halve = async (run: Run, child: number): Promise<void> => {
    const { node, path, low, high, start, end } = run
    const least = await leastBelow(node.children[child], [...path, node.transitions[child]])
    const offset = await offsetOf(least.node)
    if (offset <= start || offset >= end) throw file.corrupt(least.node.position, 'a trie whose offsets do not ascend')
    stack.push({ node, path, low: child, high, start: offset, end })
    if (offset >= from && offset < to)
      stack.push({ visit: () => visit(Uint8Array.from(least.path), least.node, offset) })
    stack.push({ node, path, low, high: child, start, end: offset })
  }
  const push = async (position: number, path: readonly number[], start: number, end: number): Promise<void> => {
    let node = await readNode(file, position)
    const full = [...path]
    while (node.payloadFlags === 0 && node.children.length === 1) {
      if (full.length > MAX_DEPTH) throw file.corrupt(node.position, 'a trie path too long')
      full.push(node.transitions[0])
      node = await readNode(file, node.children[0])
    }
    const run = { node, path: full, low: 0, high: node.children.length, start, end }
    // A payload of its own comes before those of its children.
    if (node.payloadFlags !== 0 && run.high > 0) await halve(run, 0)
    else if (run.high > 0) stack.push(run)
  }

  const first = await leastBelow(root, [])
  await push(root, [], await offsetOf(first.node), sampling.end)
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    if ('visit' in top) {
      await top.visit()
      continue
    }
    const { node, path, low, high, start, end } = top
    if (Math.min(end, to) - Math.max(start, from) <= distance || low === high) continue
    if (high - low > 1) await halve(top, (low + high) >>> 1)
    else await push(node.children[low], [...path, node.transitions[low]], start, end)
  }
}
