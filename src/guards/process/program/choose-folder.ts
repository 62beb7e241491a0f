import { stat } from 'node:fs/promises'
import { ToolError } from '../../../errors.ts'
import { quotePath } from '../../files/quote-path.ts'
import { JAIL_HOME } from '../jail/jail-home.ts'
import { isSeen } from './is-seen.ts'

/** Every jail has these, whatever they are outside. */
const ALWAYS = ['/', '/tmp', JAIL_HOME]

/** The folder in which a fenced program runs: the one asked for, else the hub's, the first granted, or an empty home. */
export async function chooseFolder(asked: string | undefined, granted: readonly string[]): Promise<string> {
  if (asked !== undefined) {
    if (ALWAYS.includes(asked) || isSeen(asked, granted)) return asked
    throw new ToolError('PATH_OUTSIDE_SANDBOX', `A fenced program does not see its folder ${quotePath(asked)}.`, {
      hint: 'Add it to the readable or writable folders of the program, or leave cwd out.',
    })
  }
  for (const path of isSeen(process.cwd(), granted) ? [process.cwd()] : granted) {
    if ((await stat(path)).isDirectory()) return path
  }
  return JAIL_HOME
}
