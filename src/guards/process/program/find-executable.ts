import { access, constants, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { ToolError } from '../../../errors.ts'
import { quotePath } from '../../files/quote-path.ts'

/** A program that is there and may be run. */
export interface Executable {
  /** By the name it was found by, in a folder that is real: some programs look at what lies beside that. */
  readonly path: string
  /** Where all links end. */
  readonly real: string
}

/** Looks a program up as a shell would: in PATH by its name, or from `cwd` where it has a slash. */
export async function findExecutable(
  name: string,
  { path, cwd }: { readonly path: string; readonly cwd: string },
): Promise<Executable> {
  const isPath = name.includes('/')
  const candidates = isPath
    ? [resolve(cwd, name)]
    : path.split(':').flatMap((folder) => (folder.startsWith('/') ? [join(folder, name)] : []))
  let problem: string | undefined
  for (const candidate of candidates) {
    const found = await look(candidate)
    if (typeof found === 'object') return found
    problem ??= found
  }
  const hint = `Install it, or give its whole path.${isPath ? '' : ' It was looked for in the folders of PATH.'}`
  if (problem === undefined) throw new ToolError('NOT_FOUND', `program not found: ${quotePath(name)}`, { hint })
  throw new ToolError('EXEC_FAILED', `${quotePath(name)} cannot be run: it ${problem}.`, { hint })
}

/** Undefined when nothing is there; a text says why it cannot be run. */
async function look(path: string): Promise<Executable | string | undefined> {
  const found = await stat(path).catch(() => undefined)
  if (!found) return undefined
  if (!found.isFile()) return 'is a folder or no file'
  const isExecutable = await access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
  if (!isExecutable) return 'is not executable'
  return { path: join(await realpath(dirname(path)), basename(path)), real: await realpath(path) }
}
