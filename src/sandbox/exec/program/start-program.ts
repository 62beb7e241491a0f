import type { ProgramFence, ProgramRequest, RunningProgram } from '../../../core/commands.ts'
import { ToolError } from '../../../core/errors.ts'
import type { SelfReference } from '../../../lib/code-files.ts'
import { takenOver } from '../../../lib/taken-over.ts'
import { quotePath } from '../../files/file-error.ts'
import type { SandboxLaunch } from '../isolation/sandbox.ts'
import { probeSandboxOnce, type SandboxReport } from '../probe/probe-sandbox.ts'
import { launchProgram } from './launch-program.ts'
import { checkProgram, type Executable, findExecutable, type ProgramSettings, realFolder } from './program-request.ts'
import { type ProgramSandbox, programLimits, sandboxProgram } from './sandboxed-program.ts'

/**
 * Starts a program that runs until it is stopped, exits by itself, or its hub is gone. A small process of its own starts
 * it, notices when the hub is gone, for whatever reason, and ends all of it. The caller must read both of the program's
 * outputs: nothing is buffered here, so an output that nobody reads blocks the program as any full pipe does.
 */
export async function startProgram(request: ProgramRequest, settings: ProgramSettings): Promise<RunningProgram> {
  const { argv, cwd, env, fence } = checkProgram(request)
  // A sandboxed program can do no more than the project's own code could.
  const own = fence ? undefined : takenOver(argv, cwd)
  if (own) throw runsTheProject(argv[0]!, own)
  const folder = cwd === undefined ? undefined : await realFolder(cwd)
  const path = env.PATH ?? process.env.PATH ?? ''
  const executable = await findExecutable(argv[0]!, { path, cwd: folder ?? process.cwd() })
  const { program, onStarted, ...chosen } = await chooseSandbox(executable, folder, fence, settings)
  const running = await launchProgram({ ...chosen, words: [program, ...argv.slice(1)], env, clock: settings.clock })
  onStarted?.(running)
  return running
}

/** The sandbox of a program: none unless it is requested, or if the owner accepts that this machine has none. */
async function chooseSandbox(
  executable: Executable,
  cwd: string | undefined,
  fence: Required<ProgramFence> | undefined,
  settings: ProgramSettings,
): Promise<ProgramSandbox> {
  const unsandboxed = {
    sandbox: unsandboxedLaunch(),
    program: executable.path,
    cwd: cwd ?? process.cwd(),
    release: async () => {},
  }
  if (!fence) return unsandboxed
  const report = await probeSandboxOnce(settings.level)
  if (report.level !== 'none') return sandboxProgram({ executable, cwd, fence, level: report.level }, settings)
  if (!settings.isSandboxRequired) return unsandboxed
  throw unavailable(executable, report)
}

const PASSED_VARIABLES = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TERM', 'TMPDIR', 'USER', 'SHELL']

/** No sandbox and no limits, for a program that the owner runs like any other, but without the hub's own variables. */
function unsandboxedLaunch(): SandboxLaunch {
  const passed = PASSED_VARIABLES.flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value]]
  })
  const env: Record<string, string> = Object.fromEntries(passed)
  return { level: 'none', key: 'program', file: '/usr/bin/env', args: ['--'], env, limits: programLimits({}) }
}

function unavailable({ path }: Executable, { weaknesses }: SandboxReport): ToolError {
  const reasons = weaknesses.filter((line) => /^(Not at level|Level)/.test(line))
  return new ToolError('SANDBOX_UNAVAILABLE', `${quotePath(path)} cannot be sandboxed on this machine.`, {
    fix: {
      key: 'sandbox.required',
      hint: `Install bubblewrap (apt install bubblewrap); run tool-hub doctor for details. ${reasons.join(' ')}`.trim(),
    },
  })
}

function runsTheProject(program: string, { manifest, name }: SelfReference): ToolError {
  return new ToolError('CONFIG_INVALID', `${program} would take ${name} from the project of ${manifest} itself.`, {
    hint: 'Anybody who can write that file could choose what runs. Name the file to run by its path, rename the project, or set another cwd.',
  })
}
