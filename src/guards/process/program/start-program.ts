import type { Clock } from '../../../clock.ts'
import type { ProgramRequest, RunningProgram, SandboxLevel } from '../../../commands.ts'
import { ToolError } from '../../../errors.ts'
import type { CommandLimits } from '../../../options.ts'
import type { OpenedProxy, ProxySettings } from '../../network/proxy/open-proxy.ts'

/** What the hub knows about the machine and the owner's wishes. */
export interface ProgramMachine {
  readonly limits: CommandLimits
  /** A weaker fence than the machine could have, where the owner wants that. */
  readonly level?: SandboxLevel
  /** `false` where the owner lets programs run that this machine cannot fence in. */
  readonly isFenceRequired: boolean
  /** Folders that no fenced program sees: records, grants. */
  readonly hidden: readonly string[]
  readonly clock: Clock
  /** Opens the way to the named hosts through the network guard. */
  readonly openProxy: (hosts: readonly string[], settings?: ProxySettings) => Promise<OpenedProxy>
}

/** Starts a program that lives until it is stopped, ends by itself or its hub is gone. */
export async function startProgram(request: ProgramRequest, _machine: ProgramMachine): Promise<RunningProgram> {
  throw new ToolError('SANDBOX_UNAVAILABLE', `${request.argv[0]} cannot be started.`)
}
