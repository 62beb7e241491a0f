import type { ReadContext } from '../../../core/define.ts'
import { ToolError } from '../../../core/errors.ts'

/** The text of a file; undefined when there is no such file. */
export async function readIfThere(path: string, { fs }: Pick<ReadContext, 'fs'>): Promise<string | undefined> {
  try {
    return await fs.readText(path)
  } catch (error) {
    if (ToolError.is(error) && error.code === 'NOT_FOUND') return undefined
    throw error
  }
}
