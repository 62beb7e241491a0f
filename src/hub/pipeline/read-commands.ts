import type { CommandTarget } from '../../core/commands.ts'
import { commandValue } from '../../lib/command-value.ts'
import { lazyModule } from '../../lib/lazy-module.ts'
import type { CommandReading } from '../../shell/reading.ts'
import type { Call } from './call.ts'
import type { Parts, RunState } from './parts.ts'

const loadReadCommandLine = lazyModule(() => import('../../shell/read-command-line.ts'))
const loadReadArgv = lazyModule(() => import('../../shell/read-argv.ts'))

/** The part of step 4 that is about commands: what each would run, where, and how strongly it would be fenced in. */
export async function readCommands(
  parts: Parts,
  run: RunState,
  call: Call,
  commands: readonly CommandTarget[],
): Promise<void> {
  if (commands.length === 0) {
    // A tool that names no command may run none: it needs no folder for one before it does.
    call.sandbox = await run.doors.sandboxLevel()
    return
  }
  const door = run.doors.process()
  const [{ level }, askSecondParser, { readCommandLine }, { readArgv }] = await Promise.all([
    door.report(),
    parts.secondParser(),
    loadReadCommandLine(),
    loadReadArgv(),
  ])
  call.sandbox = level
  for (const command of commands) {
    const { cwd, argv, command: line, env } = command
    const place = { ...door.place(cwd), env }
    const reading = argv ? readArgv(argv, place, askSecondParser) : readCommandLine(line!, place, askSecondParser)
    const value = commandValue(command)
    call.readings.set(value, together(call.readings.get(value), reading))
    call.commands.push({ value, cwd: place.cwd, env: env ?? [] })
  }
}

/** The same words in two folders, or with and without variables: the strictest of both counts. */
function together(a: CommandReading | undefined, b: CommandReading): CommandReading {
  return a ? { parts: [...a.parts, ...b.parts], doubts: [...a.doubts, ...b.doubts] } : b
}
