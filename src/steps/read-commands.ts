import type { CommandTarget } from '../commands.ts'
import { commandValue } from '../value/command-value.ts'
import type { Call } from './call.ts'
import type { Parts, RunState } from './parts.ts'

/** The part of step 4 that is about commands: what each would run, where, and how strongly it would be fenced in. */
export async function readCommands(
  parts: Parts,
  run: RunState,
  call: Call,
  commands: readonly CommandTarget[],
): Promise<void> {
  const door = run.doors.process()
  const [{ level }, askSecondParser, { readCommandLine }, { readArgv }] = await Promise.all([
    door.report(),
    parts.secondParser(),
    import('../policy/shell/read-command-line.ts'),
    import('../policy/shell/read-argv.ts'),
  ])
  call.sandbox = level
  for (const command of commands) {
    const { cwd, argv, command: line, env } = command
    const place = { ...door.place(cwd), env }
    const reading = argv ? readArgv(argv, place, askSecondParser) : readCommandLine(line!, place, askSecondParser)
    call.readings.set(commandValue(command), reading)
  }
}
