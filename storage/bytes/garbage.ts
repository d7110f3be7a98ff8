// Shared memory that nobody needs any more. V8 counts the bytes of ordinary buffers and collects garbage when they have become many; of
// shared ones it sees a small object each (BackingStore::PerIsolateAccountingLength is 0), and gigabytes can wait for a collection
// that nothing else calls for. So they are counted here, and the collector is called.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

const MOST_BYTES = 64 << 20

let dropped = 0
let collect: (() => void) | undefined

/** Says that this thread has let go of so many bytes of shared memory, which another may still hold. */
export function droppedShared(bytes: number): void {
  dropped += bytes
  if (dropped < MOST_BYTES) return
  dropped = 0
  setImmediate(collectGarbage)
}

function collectGarbage(): void {
  if (collect === undefined) {
    setFlagsFromString('--expose-gc')
    collect = runInNewContext('gc') as () => void
  }
  collect()
}
