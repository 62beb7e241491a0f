import type { Clock } from '../../../clock.ts'
import type { ProgramRequest, RunningProgram, SandboxLevel } from '../../../contracts/commands.ts'
import type { SelfReference } from '../../../disk/code-files.ts'
import { takenOver } from '../../../disk/taken-over.ts'
import { ToolError } from '../../../errors.ts'
import type { CommandLimits } from '../../../options.ts'
import type { OpenedProxy, ProxySettings } from '../../network/proxy/open-proxy.ts'
import { checkProgram } from './check-program.ts'
import { chooseJail } from './choose-jail.ts'
import { findExecutable } from './find-executable.ts'
import { launchProgram } from './launch-program.ts'
import { realFolder } from './real-folder.ts'

/** What the hub knows about the machine and the owner's wishes. */
export interface ProgramMachine {
  readonly limits: CommandLimits
  /** A weaker fence than the machine could have, where the owner wants that. */
  readonly level?: SandboxLevel
  /** `false` where the owner lets programs run that this machine cannot fence in. */
  readonly isFenceRequired: boolean
  /** Folders that no fenced program sees: records, grants. */
  readonly hidden: readonly string[]
  /** Real paths that no fenced program changes, in addition to protected names. */
  readonly protect: readonly string[]
  /** Where is noted, while programs run, what was at protected places before. */
  readonly ledgerFolder?: string
  readonly clock: Clock
  /** Opens the way to the named hosts through the network guard. */
  readonly openProxy: (hosts: readonly string[], settings?: ProxySettings) => Promise<OpenedProxy>
}

/**
 * Starts a program that lives until it is stopped, ends by itself or its hub is gone: a small process of its own starts
 * it, hears that the hub has gone, however that was, and ends all of it. Who starts it reads both of its outputs:
 * nothing is kept here, so one that nobody reads stops it as any full pipe does.
 */
export async function startProgram(request: ProgramRequest, machine: ProgramMachine): Promise<RunningProgram> {
  const { argv, cwd, env, fence } = checkProgram(request)
  // What runs in a fence can do no more than the project's own code could.
  const own = fence ? undefined : takenOver(argv, cwd)
  if (own) throw runsTheProject(argv[0]!, own)
  const asked = cwd === undefined ? undefined : await realFolder(cwd)
  const path = env.PATH ?? process.env.PATH ?? ''
  const executable = await findExecutable(argv[0]!, { path, cwd: asked ?? process.cwd() })
  const chosen = await chooseJail({ executable, cwd: asked, fence }, machine)
  const words = [chosen.program, ...argv.slice(1)]
  const program = await launchProgram({ ...chosen, words, env, clock: machine.clock })
  chosen.onStarted?.(program)
  return program
}

function runsTheProject(program: string, { manifest, name }: SelfReference): ToolError {
  return new ToolError('CONFIG_INVALID', `${program} would take ${name} from the project of ${manifest} itself.`, {
    hint: 'Whoever may write that file could choose what runs. Name the file to run by its path, rename the project, or set another cwd.',
  })
}
