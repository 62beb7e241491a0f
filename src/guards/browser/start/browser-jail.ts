import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { buildJail } from '../../process/jail/build-jail.ts'
import { commandEnvironment } from '../../process/jail/environment.ts'
import type { CommandLimits, Jail } from '../../process/jail/jail.ts'
import { canEnter, NOBODY } from '../../process/jail/jail-owner.ts'
import { runAs } from '../../process/jail/run-as.ts'
import { isSeen } from '../../process/program/is-seen.ts'
import type { ChosenSandbox } from './choose-sandbox.ts'

/** What a browser runs in. */
export interface JailRequest {
  readonly chosen: ChosenSandbox
  readonly executable: string
  /** The folder that it writes to; whose it is, is who runs it. */
  readonly folder: string
  readonly downloadBytes: number
  readonly proxySocket?: string
}

const HUGE_BYTES = 2 ** 46
/** All processes together, where the machine can count that. */
const MOST_MEMORY_BYTES = 4_000_000_000

/** Who runs the browser of a hub that is root: somebody without rights, if that user can reach the program. */
export function browserUser(executable: string): typeof NOBODY | undefined {
  if (process.platform !== 'linux' || process.geteuid?.() !== 0) return undefined
  return canEnter(dirname(executable), NOBODY) ? NOBODY : undefined
}

/** The jail of a browser: as that of a program, but V8 reserves far more addresses than a command may. */
export async function browserJail(request: JailRequest): Promise<Jail> {
  const { chosen, executable, folder, proxySocket } = request
  const limits: CommandLimits = {
    cpuSeconds: Number.POSITIVE_INFINITY,
    memoryBytes: HUGE_BYTES,
    processes: 1_024,
    fileBytes: Math.max(request.downloadBytes, 100_000_000),
    openFiles: 4_096,
  }
  const jail = buildJail({
    level: chosen.level,
    roots: [{ path: folder, mode: 'write' }],
    readable: isSeen(executable, []) ? [] : [dirname(executable)],
    writable: [],
    protect: [],
    hide: [],
    limits,
    ...(proxySocket !== undefined && { proxySocket }),
    environment: commandEnvironment({ home: folder }),
  })
  const counted = { ...jail, limits: { ...limits, memoryBytes: MOST_MEMORY_BYTES } }
  return chosen.level === 'none' ? asUser(counted, folder) : counted
}

/** Without a jail nobody has left the rights of root behind yet. */
async function asUser(jail: Jail, folder: string): Promise<Jail> {
  const { uid, gid } = await stat(folder)
  const isOther = process.geteuid?.() === 0 && uid !== 0
  const [file, ...args] = runAs({ uid, gid, isOther }, [jail.file, ...jail.args])
  return { ...jail, file: file!, args }
}
