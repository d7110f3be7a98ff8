// The versions of one row in several SSTables as one (Cassandra: Row.Merger, Cells.reconcile, LivenessInfo.supersedes of 5.0).
// The result names the winning cells where they lie; nothing is copied. Timestamps are halves, no object per cell.

import { supersedes, wins } from './cell-order.ts'
import { mergeCounters } from './counter-context.ts'
import type { RowShape } from './table-layout.ts'
import {
  CELL_DELETED,
  CELL_EXPIRING,
  COMPLEX_DELETION,
  compareTimestamps,
  covers,
  EXPIRED_LIVENESS_TTL,
  NO_DELETION_TIME,
  NO_TIMESTAMP_HI,
  NO_TIMESTAMP_LO,
  Unfiltered,
} from './unfiltered.ts'

export class RowReconciler {
  readonly shape: RowShape
  /** The versions of the row, as added since begin(). */
  readonly versions: Unfiltered[] = []
  count = 0
  // Merged liveness; timestamp MIN when there is none.
  liveHi = 0
  liveLo = 0
  liveTtl = 0
  liveLdt = 0
  /** The row, as CQL sees it at `now`, is there. */
  isLive = false
  /** Liveness alone is live. */
  hasLiveness = false
  // Row deletion in force (after the merge), timestamp MIN when none.
  delHi = 0
  delLo = 0
  delLdt = 0
  // The deletion that covers the row's cells: the strongest of partition, range and row deletion.
  activeHi = 0
  activeLo = 0
  activeLdt = 0
  // Newest timestamp of anything merged in.
  newestHi = 0
  newestLo = 0

  // Result by slot. A slot is set when stamp[slot] === epoch.
  #epoch = 0
  #stamp: Int32Array
  /** Simple: version and index of the winning cell. Complex: first entry in listVersion/listCell, and how many. */
  #version: Int32Array
  #cell: Int32Array
  #first: Int32Array
  #entries: Int32Array
  // Complex deletion in force, by slot.
  #complexHi: Int32Array
  #complexLo: Int32Array
  #complexLdt: Uint32Array
  listVersion = new Int32Array(64)
  listCell = new Int32Array(64)
  #listed = 0

  #now: number
  #strictLiveness: boolean
  #at: Int32Array = new Int32Array(8)
  /** Cells made by merging counters; stands in `versions` behind the real ones. */
  #made = new Unfiltered()
  #madeLength = 0
  #madeIndex = -1

  constructor(shape: RowShape, now: number, strictLiveness: boolean) {
    this.shape = shape
    this.#now = now
    this.#strictLiveness = strictLiveness
    const n = shape.slots.length
    this.#stamp = new Int32Array(n)
    this.#version = new Int32Array(n)
    this.#cell = new Int32Array(n)
    this.#first = new Int32Array(n)
    this.#entries = new Int32Array(n)
    this.#complexHi = new Int32Array(n)
    this.#complexLo = new Int32Array(n)
    this.#complexLdt = new Uint32Array(n)
  }

  begin(): void {
    this.count = 0
    this.#madeIndex = -1
  }

  add(version: Unfiltered): void {
    this.versions[this.count++] = version
  }

  /** Merges the versions added under the deletion that range and partition tombstones make at this place. */
  resolve(deletionHi: number, deletionLo: number, deletionLdt: number): void {
    this.#epoch++
    this.#listed = 0
    this.isLive = false
    this.#mergeLiveness(deletionHi, deletionLo, deletionLdt)
    this.hasLiveness = this.#isLivenessLive()
    if (this.hasLiveness) this.isLive = true
    this.newestHi = this.liveHi
    this.newestLo = this.liveLo
    if (compareTimestamps(this.delHi, this.delLo, this.newestHi, this.newestLo) > 0) {
      this.newestHi = this.delHi
      this.newestLo = this.delLo
    }
    if (this.count === 1) this.#one(this.versions[0])
    else this.#several()
    if (this.#strictLiveness && !this.hasLiveness) this.isLive = false
  }

  /** Whether a simple slot has a live value; then versionOf and cellOf name it. */
  hasValue(slot: number): boolean {
    if (this.#stamp[slot] !== this.#epoch) return false
    return this.isLiveCell(this.versions[this.#version[slot]], this.#cell[slot])
  }

  /** Whether any cell, dead ones too, stands in a simple slot. */
  hasCell(slot: number): boolean {
    return this.#stamp[slot] === this.#epoch
  }

  versionOf(slot: number): Unfiltered {
    return this.versions[this.#version[slot]]
  }

  cellOf(slot: number): number {
    return this.#cell[slot]
  }

  /** Entries of a complex slot in listVersion/listCell: from firstEntry on, dead cells included. */
  entries(slot: number): number {
    return this.#stamp[slot] === this.#epoch ? this.#entries[slot] : 0
  }

  firstEntry(slot: number): number {
    return this.#first[slot]
  }

  /** Timestamp halves of the complex deletion in force, MIN when none. */
  complexDeletionHi(slot: number): number {
    return this.#stamp[slot] === this.#epoch ? this.#complexHi[slot] : NO_TIMESTAMP_HI
  }

  complexDeletionLo(slot: number): number {
    return this.#stamp[slot] === this.#epoch ? this.#complexLo[slot] : NO_TIMESTAMP_LO
  }

  complexDeletionLdt(slot: number): number {
    return this.#complexLdt[slot]
  }

  isLiveCell(version: Unfiltered, cell: number): boolean {
    const flags = version.flags[cell]
    if ((flags & CELL_DELETED) !== 0) return false
    return (flags & CELL_EXPIRING) === 0 || version.ldt[cell] > this.#now
  }

  /** Seconds until an expiring cell dies, as CQL's ttl() tells. */
  remaining(ldt: number): number {
    return ldt - this.#now
  }

  #isLivenessLive(): boolean {
    if (this.liveHi === NO_TIMESTAMP_HI && this.liveLo === NO_TIMESTAMP_LO) return false
    if (this.liveTtl === 0) return true
    return this.liveTtl !== EXPIRED_LIVENESS_TTL && this.liveLdt > this.#now
  }

  #mergeLiveness(deletionHi: number, deletionLo: number, deletionLdt: number): void {
    const first = this.versions[0]
    let { liveHi, liveLo, liveTtl, liveLdt, delHi, delLo, delLdt, shadowable } = first
    for (let i = 1; i < this.count; i++) {
      const v = this.versions[i]
      if (supersedes(v, liveHi, liveLo, liveTtl, liveLdt)) {
        liveHi = v.liveHi
        liveLo = v.liveLo
        liveTtl = v.liveTtl
        liveLdt = v.liveLdt
      }
      const c = compareTimestamps(v.delHi, v.delLo, delHi, delLo)
      if (c > 0 || (c === 0 && v.delLdt > delLdt && (delHi !== NO_TIMESTAMP_HI || delLo !== NO_TIMESTAMP_LO))) {
        delHi = v.delHi
        delLo = v.delLo
        delLdt = v.delLdt
        shadowable = v.shadowable
      }
    }
    // Row.Deletion.isShadowedBy
    if (shadowable && compareTimestamps(liveHi, liveLo, delHi, delLo) > 0) {
      delHi = NO_TIMESTAMP_HI
      delLo = NO_TIMESTAMP_LO
      delLdt = NO_DELETION_TIME
    }
    const c = compareTimestamps(delHi, delLo, deletionHi, deletionLo)
    if (c > 0 || (c === 0 && delLdt > deletionLdt)) {
      this.activeHi = delHi
      this.activeLo = delLo
      this.activeLdt = delLdt
    } else {
      this.activeHi = deletionHi
      this.activeLo = deletionLo
      this.activeLdt = deletionLdt
      delHi = NO_TIMESTAMP_HI
      delLo = NO_TIMESTAMP_LO
      delLdt = NO_DELETION_TIME
    }
    this.delHi = delHi
    this.delLo = delLo
    this.delLdt = delLdt
    if (covers(this.activeHi, this.activeLo, liveHi, liveLo)) {
      liveHi = NO_TIMESTAMP_HI
      liveLo = NO_TIMESTAMP_LO
      liveTtl = 0
      liveLdt = NO_DELETION_TIME
    }
    this.liveHi = liveHi
    this.liveLo = liveLo
    this.liveTtl = liveTtl
    this.liveLdt = liveLdt
  }

  #one(v: Unfiltered): void {
    const { slots } = this.shape
    const cells = v.cells
    for (let i = 0; i < cells; ) {
      const slot = v.slot[i]
      if (slots[slot].complex) {
        let end = i + 1
        while (end < cells && v.slot[end] === slot) end++
        this.#beginComplex(slot)
        if ((v.flags[i] & COMPLEX_DELETION) !== 0) this.#complexDeletion(slot, v, i++)
        for (; i < end; i++) this.#list(slot, 0, v, i)
      } else {
        if (!covers(this.activeHi, this.activeLo, v.tsHi[i], v.tsLo[i])) this.#simple(slot, 0, i, v)
        i++
      }
    }
  }

  #simple(slot: number, version: number, cell: number, v: Unfiltered): void {
    this.#stamp[slot] = this.#epoch
    this.#version[slot] = version
    this.#cell[slot] = cell
    if (this.isLiveCell(v, cell)) this.isLive = true
    this.#note(v.tsHi[cell], v.tsLo[cell])
  }

  #note(hi: number, lo: number): void {
    if (hi > this.newestHi || (hi === this.newestHi && lo >>> 0 > this.newestLo >>> 0)) {
      this.newestHi = hi
      this.newestLo = lo
    }
  }

  #beginComplex(slot: number): void {
    this.#stamp[slot] = this.#epoch
    this.#first[slot] = this.#listed
    this.#entries[slot] = 0
    this.#complexHi[slot] = NO_TIMESTAMP_HI
    this.#complexLo[slot] = NO_TIMESTAMP_LO
    this.#complexLdt[slot] = NO_DELETION_TIME
  }

  /** Takes a complex deletion if it is stronger than the active one and than any other of the column. */
  #complexDeletion(slot: number, v: Unfiltered, cell: number): void {
    const hi = v.tsHi[cell]
    const lo = v.tsLo[cell]
    const ldt = v.ldt[cell]
    let c = compareTimestamps(hi, lo, this.activeHi, this.activeLo)
    if (c < 0 || (c === 0 && ldt <= this.activeLdt)) return
    c = compareTimestamps(hi, lo, this.#complexHi[slot], this.#complexLo[slot])
    const none = this.#complexHi[slot] === NO_TIMESTAMP_HI && this.#complexLo[slot] === NO_TIMESTAMP_LO
    if (!none && (c < 0 || (c === 0 && ldt <= this.#complexLdt[slot]))) return
    this.#complexHi[slot] = hi
    this.#complexLo[slot] = lo
    this.#complexLdt[slot] = ldt
    this.#note(hi, lo)
  }

  #isCovered(slot: number, hi: number, lo: number): boolean {
    return covers(this.activeHi, this.activeLo, hi, lo) || covers(this.#complexHi[slot], this.#complexLo[slot], hi, lo)
  }

  #list(slot: number, version: number, v: Unfiltered, cell: number): void {
    const hi = v.tsHi[cell]
    const lo = v.tsLo[cell]
    if (this.#isCovered(slot, hi, lo)) return
    const at = this.#listed++
    if (at === this.listVersion.length) {
      const versions = new Int32Array(2 * at)
      versions.set(this.listVersion)
      this.listVersion = versions
      const cells = new Int32Array(2 * at)
      cells.set(this.listCell)
      this.listCell = cells
    }
    this.listVersion[at] = version
    this.listCell[at] = cell
    this.#entries[slot]++
    if (this.isLiveCell(v, cell)) this.isLive = true
    this.#note(hi, lo)
  }

  #several(): void {
    const { count, versions } = this
    if (this.#at.length < count) this.#at = new Int32Array(2 * count)
    const at = this.#at
    for (let i = 0; i < count; i++) at[i] = 0
    for (;;) {
      let slot = 0x7fffffff
      for (let i = 0; i < count; i++) {
        const v = versions[i]
        if (at[i] < v.cells && v.slot[at[i]] < slot) slot = v.slot[at[i]]
      }
      if (slot === 0x7fffffff) return
      if (this.shape.slots[slot].complex) this.#severalComplex(slot, count)
      else this.#severalSimple(slot, count)
    }
  }

  #severalSimple(slot: number, count: number): void {
    const { versions } = this
    const at = this.#at
    let winner = -1
    let cell = 0
    for (let i = 0; i < count; i++) {
      const v = versions[i]
      if (at[i] >= v.cells || v.slot[at[i]] !== slot) continue
      const candidate = at[i]++
      if (covers(this.activeHi, this.activeLo, v.tsHi[candidate], v.tsLo[candidate])) continue
      if (winner < 0) {
        winner = i
        cell = candidate
      } else if (this.shape.slots[slot].counter) {
        winner = this.#counter(slot, winner, cell, i, candidate)
        cell = this.#winningCell
      } else if (!wins(versions[winner], cell, v, candidate)) {
        winner = i
        cell = candidate
      }
    }
    if (winner >= 0) this.#simple(slot, winner, cell, versions[winner])
  }

  #winningCell = 0

  /** Two counter cells; the version that holds the result, its cell in #winningCell. */
  #counter(slot: number, a: number, cellA: number, b: number, cellB: number): number {
    const va = this.versions[a]
    const vb = this.versions[b]
    const deadA = (va.flags[cellA] & CELL_DELETED) !== 0
    const deadB = (vb.flags[cellB] & CELL_DELETED) !== 0
    if (deadA || deadB) {
      // A tombstone always wins, whatever the timestamps (CASSANDRA-7346).
      const first = deadA && (!deadB || wins(va, cellA, vb, cellB))
      this.#winningCell = first ? cellA : cellB
      return first ? a : b
    }
    const emptyA = va.length[cellA] === 0
    const emptyB = vb.length[cellB] === 0
    if (emptyA || emptyB) {
      const first =
        emptyA !== emptyB
          ? emptyA
          : compareTimestamps(va.tsHi[cellA], va.tsLo[cellA], vb.tsHi[cellB], vb.tsLo[cellB]) > 0
      this.#winningCell = first ? cellA : cellB
      return first ? a : b
    }
    const merged = mergeCounters(
      va.bytes.subarray(va.offset[cellA], va.offset[cellA] + va.length[cellA]),
      vb.bytes.subarray(vb.offset[cellB], vb.offset[cellB] + vb.length[cellB]),
    )
    const newer = compareTimestamps(va.tsHi[cellA], va.tsLo[cellA], vb.tsHi[cellB], vb.tsLo[cellB]) >= 0
    return this.#make(slot, merged, newer ? va : vb, newer ? cellA : cellB)
  }

  #make(slot: number, value: Uint8Array, stamped: Unfiltered, cell: number): number {
    const made = this.#made
    if (this.#madeIndex < 0) {
      made.clearRow()
      this.#madeLength = 0
      this.#madeIndex = this.count
      this.versions[this.count] = made
    }
    if (made.bytes.length < this.#madeLength + value.length) {
      const larger = new Uint8Array(Math.max(4096, 2 * (this.#madeLength + value.length)))
      larger.set(made.bytes.subarray(0, this.#madeLength))
      made.bytes = larger
      made.view = new DataView(larger.buffer)
    }
    made.bytes.set(value, this.#madeLength)
    const at = made.addCell()
    made.slot[at] = slot
    made.flags[at] = 0
    made.tsHi[at] = stamped.tsHi[cell]
    made.tsLo[at] = stamped.tsLo[cell]
    made.ldt[at] = NO_DELETION_TIME
    made.ttl[at] = 0
    made.offset[at] = this.#madeLength
    made.length[at] = value.length
    this.#madeLength += value.length
    this.#winningCell = at
    return this.#madeIndex
  }

  #severalComplex(slot: number, count: number): void {
    const { versions } = this
    const at = this.#at
    this.#beginComplex(slot)
    for (let i = 0; i < count; i++) {
      const v = versions[i]
      if (at[i] < v.cells && v.slot[at[i]] === slot && (v.flags[at[i]] & COMPLEX_DELETION) !== 0) {
        this.#complexDeletion(slot, v, at[i]++)
      }
    }
    const compare = this.shape.slots[slot].comparePaths!
    for (;;) {
      let first = -1
      for (let i = 0; i < count; i++) {
        const v = versions[i]
        if (at[i] >= v.cells || v.slot[at[i]] !== slot) continue
        if (first < 0 || this.#comparePaths(compare, i, first) < 0) first = i
      }
      if (first < 0) return
      let winner = first
      let cell = at[first]++
      let covered = this.#isCovered(slot, versions[first].tsHi[cell], versions[first].tsLo[cell])
      const path = versions[first]
      const pathCell = cell
      for (let i = 0; i < count; i++) {
        const v = versions[i]
        if (i === first || at[i] >= v.cells || v.slot[at[i]] !== slot) continue
        const candidate = at[i]
        if (
          compare(
            v.bytes,
            v.view,
            v.pathOffset[candidate],
            v.pathLength[candidate],
            path.bytes,
            path.view,
            path.pathOffset[pathCell],
            path.pathLength[pathCell],
          ) !== 0
        ) {
          continue
        }
        at[i]++
        if (this.#isCovered(slot, v.tsHi[candidate], v.tsLo[candidate])) continue
        if (covered || !wins(versions[winner], cell, v, candidate)) {
          winner = i
          cell = candidate
          covered = false
        }
      }
      if (!covered) this.#list(slot, winner, versions[winner], cell)
    }
  }

  #comparePaths(compare: NonNullable<RowShape['slots'][number]['comparePaths']>, i: number, j: number): number {
    const a = this.versions[i]
    const b = this.versions[j]
    const ca = this.#at[i]
    const cb = this.#at[j]
    return compare(
      a.bytes,
      a.view,
      a.pathOffset[ca],
      a.pathLength[ca],
      b.bytes,
      b.view,
      b.pathOffset[cb],
      b.pathLength[cb],
    )
  }
}
