import { setMaxListeners } from 'node:events'
import { type Clock, systemClock } from '../../../clock.ts'
import { ToolError } from '../../../errors.ts'
import { throwIfAborted } from '../../throw-if-aborted.ts'
import type { Jail } from '../jail/jail.ts'
import { JailPool } from './jail-pool.ts'
import { launchScript } from './launch-script.ts'
import { type CreateCgroup, OpenJail, type StartFailure } from './open-jail.ts'
import { type CommandStreams, endWhenSilent } from './pipe-ends.ts'
import { Refill } from './refill.ts'
import { SpawnerLink } from './spawner-link.ts'
import { lostError, startError } from './start-error.ts'
import type { Exit, Started, Starter } from './started.ts'

/** What a starter may be given. */
export interface StarterOptions {
  readonly clock?: Clock
  /** How many jails of a kind are made ahead at most; 2 unless said. */
  readonly prepared?: number
  /** Bounds all processes of a command together, where the machine can. */
  readonly createCgroup?: CreateCgroup
}

/** Starts commands in their jails, through a small process that is started when it is first needed. */
export function createStarter({ clock = systemClock, prepared = 2, createCgroup }: StarterOptions = {}): Starter {
  let link: SpawnerLink | undefined
  let isClosed = false
  const open = (jail: Jail, isAhead: boolean) => {
    if (!link?.isOpen) link = new SpawnerLink()
    return new OpenJail(link, jail, { isAhead, cgroup: createCgroup?.(jail.limits) })
  }
  const pool = new JailPool((jail) => open(jail, true), { clock, mostOfAKind: prepared })
  const refill = new Refill((jail) => {
    if (!isClosed) pool.fill(jail)
  }, clock)
  const launch = (jail: OpenJail, script: string, signal: AbortSignal) => {
    refill.during(jail.ended)
    return run(jail, script, signal)
  }
  return {
    async start(order, signal) {
      throwIfAborted(signal)
      if (isClosed) throw new ToolError('ABORTED', 'The hub is closing: no command is started any more.')
      const script = launchScript(order)
      const ahead = pool.take(order.jail)
      const tried = ahead && (await launch(ahead, script, signal))
      // One that was made ahead may have died or show a folder that has gone; a new one knows better.
      const isWanted = tried === undefined || ('kind' in tried && tried.kind === 'broken' && !signal.aborted)
      const started = isWanted ? await launch(open(order.jail, false), script, signal) : tried
      refill.want(order.jail)
      if (!('kind' in started)) return started
      throwIfAborted(signal)
      throw await startError(started, order)
    },
    prepare: (jail) => refill.want(jail),
    async close() {
      isClosed = true
      await link?.close()
    },
  }
}

/** Gives a jail its command. An abort ends it, from now to its end. */
async function run(jail: OpenJail, script: string, signal: AbortSignal): Promise<Started | StartFailure> {
  const stop = () => void jail.stop()
  // All commands of a call may share one signal.
  setMaxListeners(0, signal)
  signal.addEventListener('abort', stop, { once: true })
  void jail.ended.then(() => signal.removeEventListener('abort', stop))
  const streams = await jail.run(script)
  if (!('kind' in streams) && !signal.aborted) return running(jail, streams)
  await jail.ended
  if ('kind' in streams) return streams
  for (const stream of [streams.stdin, streams.stdout, streams.stderr]) stream.destroy()
  return { kind: 'broken', reason: 'it was stopped', words: '' }
}

function running(jail: OpenJail, { stdin, stdout, stderr }: CommandStreams): Started {
  const exited = jail.ended.then((how): Exit => {
    stdin.destroy()
    endWhenSilent(stdout)
    endWhenSilent(stderr)
    if ('kind' in how) throw lostError(how.reason)
    return how
  })
  // Who does not wait for the end need not hear that it was lost.
  exited.catch(() => {})
  return { stdin, stdout, stderr, exited, stop: () => jail.stop() }
}
