import { realpath, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { ToolError } from '../../../errors.ts'
import { quotePath } from '../../files/quote-path.ts'

/** The real path of a folder to run in. */
export async function realFolder(path: string): Promise<string> {
  const real = await realpath(resolve(path)).catch(() => undefined)
  const found = real === undefined ? undefined : await stat(real).catch(() => undefined)
  if (real !== undefined && found?.isDirectory()) return real
  const problem = found ? 'is no folder' : 'does not exist'
  throw new ToolError('NOT_FOUND', `The folder to run in ${problem}: ${quotePath(path)}`, {
    hint: 'Make it, or correct cwd.',
  })
}
