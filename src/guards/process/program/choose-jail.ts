import type { ProgramFence, RunningProgram } from '../../../contracts/commands.ts'
import { ToolError } from '../../../errors.ts'
import { quotePath } from '../../files/quote-path.ts'
import { probeOnce } from '../command/probe-once.ts'
import type { Jail, SandboxReport } from '../jail/jail.ts'
import { fencedJail } from './fenced-jail.ts'
import type { Executable } from './find-executable.ts'
import type { ProgramMachine } from './start-program.ts'
import { unfencedJail } from './unfenced-jail.ts'

/** What is asked for, found and checked. */
export interface JailRequest {
  readonly executable: Executable
  /** Real. */
  readonly cwd?: string
  readonly fence?: Required<ProgramFence>
}

/** A jail and what its program is told. */
export interface ProgramJail {
  readonly jail: Jail
  /** The first word, as the jail sees it. */
  readonly program: string
  readonly cwd: string
  /** Closes what was opened for it. */
  readonly release: () => Promise<void>
  /** The program runs. */
  readonly onStarted?: (program: RunningProgram) => void
}

/** The jail of a program: none unless it is asked for, or where the owner does without one that cannot be had. */
export async function chooseJail(request: JailRequest, machine: ProgramMachine): Promise<ProgramJail> {
  const { executable, cwd = process.cwd(), fence } = request
  const unfenced = { jail: unfencedJail(), program: executable.path, cwd, release: async () => {} }
  if (!fence) return unfenced
  const report = await probeOnce(machine.level)
  if (report.level !== 'none') return fencedJail({ ...request, fence, level: report.level }, machine)
  if (!machine.isFenceRequired) return unfenced
  throw unavailable(executable, report)
}

function unavailable({ path }: Executable, { weaknesses }: SandboxReport): ToolError {
  const reasons = weaknesses.filter((line) => /^(Not at level|Level)/.test(line))
  return new ToolError('SANDBOX_UNAVAILABLE', `${quotePath(path)} cannot be fenced in on this machine.`, {
    fix: {
      key: 'sandbox.required',
      hint: `Install bubblewrap (apt install bubblewrap); tool-hub doctor says more. ${reasons.join(' ')}`.trim(),
    },
  })
}
