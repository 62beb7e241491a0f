import type { Clock } from '../../../clock.ts'
import type { RunningProgram } from '../../../contracts/commands.ts'
import { commandCgroup } from '../command/command-cgroup.ts'
import { companionScript, launchScript } from '../start/launch-script.ts'
import { OpenJail } from '../start/open-jail.ts'
import { runJail } from '../start/run-jail.ts'
import { startError } from '../start/start-error.ts'
import type { StartOrder } from '../start/started.ts'
import { ProgramHandle } from './program-handle.ts'
import { useProgramSpawner } from './program-spawner.ts'

/** A program with all that was decided about it. */
export interface ProgramLaunch extends Pick<StartOrder, 'jail' | 'words' | 'cwd' | 'env'> {
  readonly clock: Clock
  /** Closes what was opened for it; called once, after its end or when it did not start. */
  readonly release: () => Promise<void>
}

/** Runs a program in its jail, by the same means as a command. */
export async function launchProgram({ clock, release, ...asked }: ProgramLaunch): Promise<RunningProgram> {
  const order: StartOrder = { ...asked, pty: false }
  const { jail } = order
  const spawner = useProgramSpawner(jail)
  const leave = async () => {
    spawner.release()
    await release()
  }
  try {
    const script = launchScript(order)
    const opened = new OpenJail(spawner.link, jail, jail.level === 'none' ? undefined : commandCgroup(jail.limits))
    opened.open(jail, { isAhead: false })
    // A program belongs to nobody's call: only `stop` ends it.
    const started = await runJail(opened, { script, companion: companionScript(jail) }, new AbortController().signal)
    if ('kind' in started) throw await startError(started, order)
    return new ProgramHandle({ jail: opened, level: jail.level, started, clock, leave })
  } catch (error) {
    await leave()
    throw error
  }
}
