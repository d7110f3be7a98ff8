// Large buffers that nobody needs any more. Of shared ones V8 sees a small object each (BackingStore::PerIsolateAccountingLength is 0),
// and gigabytes can wait for a collection that nothing else calls for; ordinary ones it counts, but lets them come to more than a
// stream may hold. So they are counted here, and the collector is called.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const MOST_BYTES = 16 << 20

let waiting = 0
let collect: (() => void) | undefined

let tellReader: ((bytes: number) => void) | undefined

/** Says that this thread has let go of buffers of so many bytes. */
export function dropped(bytes: number): void {
  waiting += bytes
  if (waiting < MOST_BYTES) return
  waiting = 0
  setImmediate(collectGarbage)
}

/** The same of shared buffers: they are freed when no thread has an object for them any more, so that their reader has to hear of it. */
export function droppedShared(bytes: number): void {
  dropped(bytes)
  tellReader?.(bytes)
}

/** Whoever reads what this thread writes into shared buffers is told so. */
export function onDroppedShared(tell: (bytes: number) => void): void {
  tellReader = tell
}

function collectGarbage(): void {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
  }
  collect()
}
