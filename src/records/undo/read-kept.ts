import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { type FileState, ToolError } from '../../core/index.ts'
import { errnoOf } from '../../lib/index.ts'
import { openRegular } from '../../system/index.ts'
import { diskError } from '../log/disk-error.ts'

/**
 * The content that a run kept of a file, piece by piece. Fails at its end when it is not what was kept, so anyone who
 * writes it must not let anybody see it before.
 */
export async function* readKept(folder: string, { sha256, bytes }: FileState): AsyncGenerator<Uint8Array> {
  const path = join(folder, 'undo', sha256)
  const file = await openRegular(path).catch((error) => {
    if (errnoOf(error) !== 'ENOENT') throw diskError('What was kept cannot be read', path, error)
    throw new ToolError('NOT_FOUND', 'What was there before is no longer kept.')
  })
  try {
    const hash = createHash('sha256')
    let left = bytes
    for await (const chunk of file.createReadStream({ autoClose: false })) {
      left -= (chunk as Buffer).length
      if (left < 0) throw tampered(sha256)
      hash.update(chunk)
      yield chunk
    }
    if (hash.digest('hex') !== sha256) throw tampered(sha256)
  } finally {
    await file.close()
  }
}

function tampered(sha256: string): ToolError {
  return new ToolError('CONFLICT', `What was kept (undo/${sha256.slice(0, 12)}…) was changed since.`, {
    hint: 'It cannot be restored; look for another copy.',
  })
}
