import { ToolError } from '../../../errors.ts'
import { quotePath } from '../quote-path.ts'
import type { OpenFile } from './open-file.ts'

/** A file became shorter while it was read, so what was counted before is no longer true. */
export function changedMeanwhile({ target }: OpenFile): ToolError {
  return new ToolError('CONFLICT', `${quotePath(target.path)} became shorter while it was read.`, {
    hint: 'Read it again.',
    retryable: true,
  })
}
