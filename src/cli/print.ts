// Standard output for the commands that write a little text.

import { SluiceError } from '../../storage/errors.ts'

/** A reader such as `head` may close the pipe early; that is no failure. @throws SluiceError CANNOT_WRITE */
export function print(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error?: NodeJS.ErrnoException | null) => {
      if (!error || error.code === 'EPIPE') resolve()
      else reject(new SluiceError('CANNOT_WRITE', { file: 'standard output', reason: error.message }, error))
    })
  })
}
