import { mkdir } from 'node:fs/promises'
import type { ProgramFence, SandboxLevel } from '../../../contracts/commands.ts'
import { ToolError } from '../../../errors.ts'
import { quotePath } from '../../files/quote-path.ts'
import { isWithin } from '../../is-within.ts'
import { placesToProtect } from '../command/jail-source.ts'
import { buildJail } from '../jail/build-jail.ts'
import { commandEnvironment } from '../jail/environment.ts'
import { grantedMounts } from '../jail/granted-mounts.ts'
import type { JailSpec } from '../jail/jail.ts'
import { jailOwner } from '../jail/jail-owner.ts'
import { chooseFolder } from './choose-folder.ts'
import type { JailRequest, ProgramJail } from './choose-jail.ts'
import { findGrants } from './find-grants.ts'
import { isSeen } from './is-seen.ts'
import { KeptPlaces } from './kept-places.ts'
import { programLimits } from './program-limits.ts'
import type { ProgramMachine } from './start-program.ts'

/** What is asked for, and what the machine can. */
export interface FenceRequest extends JailRequest {
  readonly fence: Required<ProgramFence>
  readonly level: Exclude<SandboxLevel, 'none'>
}

/** A program lives as long as its hub: what it sends and gets adds up without meaning anything. */
const UNCOUNTED = { maxBytes: Number.MAX_SAFE_INTEGER }

/** The jail of a command, for a program: the system's folders, what the fence names, and nothing else. */
export async function fencedJail(request: FenceRequest, machine: ProgramMachine): Promise<ProgramJail> {
  const { executable, fence, level } = request
  const grants = await findGrants(executable, fence, machine.hidden)
  const folders = [...grants.writable, ...grants.readable]
  const cwd = await chooseFolder(request.cwd, folders)
  await makeHidden(machine.hidden, folders)
  // As for a command, whose are the folders that it writes to says who it is.
  const roots = grants.writable.map((path) => ({ path, mode: 'write' as const }))
  const { isOther, ...owner } = jailOwner({ roots })
  const settings = { limits: UNCOUNTED, ...(isOther && { owner }) }
  const proxy = fence.hosts.length > 0 ? await machine.openProxy(fence.hosts, settings) : undefined
  const places = new KeptPlaces(grants.writable, machine)
  const release = async () => {
    try {
      await places.release()
    } finally {
      await proxy?.close()
    }
  }
  try {
    const found = await places.keep()
    const spec: JailSpec = {
      level,
      roots,
      readable: grants.readable,
      writable: [],
      protect: placesToProtect(found, roots),
      hide: [...machine.hidden, ...found.unlisted],
      limits: programLimits(machine.limits),
      proxySocket: proxy?.socket,
      environment: commandEnvironment({ path: grants.path, git: { safeDirectories: grants.writable } }),
    }
    refuseLeftOut(spec, folders)
    const jail = buildJail(spec)
    const program = isSeen(executable.path, folders) ? executable.path : executable.real
    return { jail, program, cwd, release, onStarted: (running) => places.stopWith(running) }
  } catch (error) {
    await release()
    throw error
  }
}

/** What is not there cannot be hidden, and a program that runs already would see what the hub makes there later. */
async function makeHidden(hidden: readonly string[], granted: readonly string[]): Promise<void> {
  for (const folder of hidden) {
    if (granted.some((path) => isWithin(path, folder))) await mkdir(folder, { recursive: true, mode: 0o700 })
  }
}

/** A program that misses what it was given fails in ways that nobody understands. */
function refuseLeftOut(spec: JailSpec, granted: readonly string[]): void {
  const { leftOut } = grantedMounts(spec, jailOwner(spec))
  const missing = leftOut.find(({ path }) => granted.includes(path))
  if (missing === undefined) return
  throw new ToolError(
    'PATH_DENIED',
    `A fenced program cannot be given ${quotePath(missing.path)}: it ${missing.why}.`,
    {
      hint: 'The program runs as the owner of its first writable folder. Give it folders that this user can enter.',
    },
  )
}
