// The on-disk tries of the bti format (o.a.c.io.tries.TrieNode, Walker): nodes of 16 shapes, each within a 4096-byte page,
// children before their parents, payloads behind the node. Bytes are compared unsigned; of two paths where one begins with
// the other, the shorter is less. Every step goes to a smaller position, so a damaged file cannot make a walk endless.

import type { PagedFile } from '../bytes/paged-file.ts'
import { PAGE_BYTES } from '../bytes/paged-file.ts'

/** A decoded node. Cold code: a lookup decodes about as many as the path has branches. */
export interface TrieNode {
  readonly position: number
  /** 0: no payload. */
  readonly payloadFlags: number
  /** The rest of the page behind the node: the payload begins there. */
  readonly payload: Uint8Array
  /** Ascending. */
  readonly transitions: readonly number[]
  readonly children: readonly number[]
}

// By the type nibble. 0: payload only; 1 to 4: single; 5 to 9: sparse; 10 to 15: dense.
const DISTANCE_BITS = [0, 4, 8, 12, 16, 8, 12, 16, 24, 40, 12, 16, 24, 32, 40, 64]

/** `most`: no more children than this are decoded. */
export async function readNode(file: PagedFile, position: number, most = 256): Promise<TrieNode> {
  if (!(position >= 0 && position < file.size)) throw file.corrupt(position, 'no trie node is there')
  const page = await file.page(position)
  const at = position % PAGE_BYTES
  const type = page[at] >> 4
  const bits = DISTANCE_BITS[type]
  const transitions: number[] = []
  const children: number[] = []
  let flags = page[at] & 15
  let end = at + 1

  const child = (transition: number, distance: number) => {
    if (distance <= 0 || distance > position) throw file.corrupt(position, `a trie node ${distance} bytes before it`)
    transitions.push(transition)
    children.push(position - distance)
  }
  const layout = (length: number) => {
    end = at + length
    if (end > page.length) throw file.corrupt(position, 'a trie node crosses its page')
  }

  if (type === 1 || type === 3) {
    // The low nibble belongs to the distance: such a node has no payload.
    layout(type === 1 ? 2 : 3)
    child(page[end - 1], type === 1 ? flags : (flags << 8) | page[at + 1])
    flags = 0
  } else if (type === 2 || type === 4) {
    layout(2 + bits / 8)
    child(page[at + 1], distanceAt(page, at + 2, 0, bits))
  } else if (type >= 5 && type <= 9) {
    layout(2)
    const count = page[at + 1]
    if (count === 0) throw file.corrupt(position, 'a sparse trie node without children')
    layout(2 + count + Math.ceil((count * bits) / 8))
    for (let i = 0; i < Math.min(count, most); i++) {
      const transition = page[at + 2 + i]
      if (i > 0 && transition <= transitions[i - 1]) throw file.corrupt(position, 'trie transitions out of order')
      child(transition, distanceAt(page, at + 2 + count, i, bits))
    }
  } else if (type >= 10) {
    layout(3)
    const first = page[at + 1]
    const count = page[at + 2] + 1
    if (first + count > 256) throw file.corrupt(position, 'trie transitions beyond a byte')
    layout(3 + Math.ceil((count * bits) / 8))
    for (let i = 0; i < count && children.length < most; i++) {
      const distance = distanceAt(page, at + 3, i, bits)
      if (distance !== 0) child(first + i, distance)
    }
  }
  return { position, payloadFlags: flags, payload: page.subarray(end), transitions, children }
}

/** The i-th of a row of distances of 8, 12, 16, 24, 32, 40 or 64 bits; two of 12 bits lie in three bytes. */
function distanceAt(page: Uint8Array, base: number, i: number, bits: number): number {
  if (bits === 12) {
    const at = base + ((3 * i) >> 1)
    return i & 1 ? ((page[at] & 15) << 8) | page[at + 1] : (page[at] << 4) | (page[at + 1] >> 4)
  }
  const bytes = bits / 8
  let distance = 0
  for (let b = 0; b < bytes; b++) distance = distance * 256 + page[base + i * bytes + b]
  return distance
}

/** A big-endian two's complement integer of 1 to 8 bytes (o.a.c.utils.SizedInts); rounded beyond 2^53. */
export function sizedInt(bytes: Uint8Array, at: number, length: number): number {
  let value = (bytes[at] << 24) >> 24
  for (let i = 1; i < length; i++) value = value * 256 + bytes[at + i]
  return value
}

interface Step {
  node: TrieNode
  /** Which child was taken; -1 while the walk stands at the node itself. */
  taken: number
}

// A key of 64 KiB doubles at most when zeros are escaped; clusterings have several values.
const MAX_DEPTH = 1 << 20

/** Stands at a node with a payload, or nowhere. Payloads come in the order of their paths. */
export class TrieWalker {
  readonly #file: PagedFile
  readonly #root: number
  #steps: Step[] = []

  constructor(file: PagedFile, root: number) {
    this.#file = file
    this.#root = root
  }

  /** Where it stands. */
  get node(): TrieNode | null {
    return this.#steps.at(-1)?.node ?? null
  }

  /** The path of where it stands. */
  path(): Uint8Array {
    const bytes = new Uint8Array(Math.max(0, this.#steps.length - 1))
    for (let i = 0; i < bytes.length; i++) {
      const { node, taken } = this.#steps[i]
      bytes[i] = node.transitions[taken]
    }
    return bytes
  }

  clone(): TrieWalker {
    const copy = new TrieWalker(this.#file, this.#root)
    copy.#steps = this.#steps.map(({ node, taken }) => ({ node, taken }))
    return copy
  }

  async #push(position: number): Promise<TrieNode> {
    if (this.#steps.length > MAX_DEPTH) throw this.#file.corrupt(position, 'a trie path too long')
    const node = await readNode(this.#file, position)
    this.#steps.push({ node, taken: -1 })
    return node
  }

  async #descend(child: number): Promise<TrieNode> {
    const step = this.#steps.at(-1)!
    step.taken = child
    return this.#push(step.node.children[child])
  }

  /** Down to the least payload of the subtree it stands at. */
  async #toLeast(): Promise<void> {
    let { node } = this.#steps.at(-1)!
    while (node.payloadFlags === 0) {
      if (node.children.length === 0) throw this.#file.corrupt(node.position, 'a trie leaf without payload')
      node = await this.#descend(0)
    }
  }

  /** Down to the greatest payload of the subtree it stands at. */
  async #toGreatest(): Promise<void> {
    let { node } = this.#steps.at(-1)!
    while (node.children.length > 0) node = await this.#descend(node.children.length - 1)
    if (node.payloadFlags === 0) throw this.#file.corrupt(node.position, 'a trie leaf without payload')
  }

  /** To the least payload behind the subtree it stands at; false: there is none. */
  async #pastSubtree(): Promise<boolean> {
    for (;;) {
      this.#steps.pop()
      const step = this.#steps.at(-1)
      if (step === undefined) return false
      if (step.taken + 1 >= step.node.children.length) continue
      await this.#descend(step.taken + 1)
      await this.#toLeast()
      return true
    }
  }

  async first(): Promise<boolean> {
    this.#steps = []
    await this.#push(this.#root)
    await this.#toLeast()
    return true
  }

  /** To the next payload; false: it stood at the last, and stands nowhere now. */
  async next(): Promise<boolean> {
    const step = this.#steps.at(-1)
    if (step === undefined) return false
    if (step.node.children.length === 0) return this.#pastSubtree()
    await this.#descend(0)
    await this.#toLeast()
    return true
  }

  /**
   * To the first payload whose path is a prefix of the wanted bytes, or else to the least that is greater. False: all are
   * less. `isPrefix` tells which it is.
   */
  async ceiling(wanted: Uint8Array): Promise<{ found: boolean; isPrefix: boolean }> {
    this.#steps = []
    let node = await this.#push(this.#root)
    for (let depth = 0; ; depth++) {
      if (node.payloadFlags !== 0) return { found: true, isPrefix: true }
      if (depth === wanted.length) {
        await this.#toLeast()
        return { found: true, isPrefix: false }
      }
      const child = atLeast(node.transitions, wanted[depth])
      if (child === node.children.length) return { found: await this.#pastSubtree(), isPrefix: false }
      const equal = node.transitions[child] === wanted[depth]
      node = await this.#descend(child)
      if (equal) continue
      await this.#toLeast()
      return { found: true, isPrefix: false }
    }
  }

  /** To the greatest payload whose path is not greater than the wanted bytes. False: all are greater. */
  async floor(wanted: Uint8Array): Promise<boolean> {
    this.#steps = []
    // How many steps to keep of the way down, and the child to take from there; -1: the node itself.
    let steps = 0
    let branch = -1
    let node = await this.#push(this.#root)
    for (let depth = 0; ; depth++) {
      if (node.payloadFlags !== 0) {
        steps = depth + 1
        branch = -1
      }
      if (depth === wanted.length) break
      const child = atLeast(node.transitions, wanted[depth])
      if (child > 0) {
        steps = depth + 1
        branch = child - 1
      }
      if (child === node.children.length || node.transitions[child] !== wanted[depth]) break
      node = await this.#descend(child)
    }
    this.#steps.length = steps
    if (steps === 0) return false
    this.#steps[steps - 1].taken = -1
    if (branch >= 0) {
      await this.#descend(branch)
      await this.#toGreatest()
    }
    return true
  }

  /**
   * To the last payload for which `holds`; it holds for all before one for which it does. False: for none. Of each node
   * passed, about log2 of its children are looked into.
   */
  async last(holds: (node: TrieNode) => Promise<boolean>): Promise<boolean> {
    this.#steps = []
    let node = await this.#push(this.#root)
    if (!(await holds(await this.#leastBelow(node)))) {
      this.#steps = []
      return false
    }
    while (node.children.length > 0) {
      // Of the children, the last whose least payload passes.
      let low = 0
      let high = node.children.length
      while (low < high) {
        const middle = (low + high) >>> 1
        const least = await this.#leastBelow(await readNode(this.#file, node.children[middle], 1))
        if (await holds(least)) low = middle + 1
        else high = middle
      }
      // Its own payload is less than all of them.
      if (low === 0) break
      node = await this.#descend(low - 1)
    }
    if (node.payloadFlags === 0) throw this.#file.corrupt(node.position, 'a trie leaf without payload')
    return true
  }

  async #leastBelow(start: TrieNode): Promise<TrieNode> {
    let node = start
    while (node.payloadFlags === 0) {
      if (node.children.length === 0) throw this.#file.corrupt(node.position, 'a trie leaf without payload')
      node = await readNode(this.#file, node.children[0], 1)
    }
    return node
  }
}

/** Index of the first transition that is not less; the count when all are. */
function atLeast(transitions: readonly number[], byte: number): number {
  let low = 0
  let high = transitions.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (transitions[middle] < byte) low = middle + 1
    else high = middle
  }
  return low
}
