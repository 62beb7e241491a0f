import { type Clock, systemClock } from '../../../clock.ts'
import { ToolError } from '../../../errors.ts'
import { throwIfAborted } from '../../throw-if-aborted.ts'
import type { Jail } from '../jail/jail.ts'
import { JailPool } from './jail-pool.ts'
import { companionScript, launchScript } from './launch-script.ts'
import { type CreateCgroup, OpenJail } from './open-jail.ts'
import { Refill } from './refill.ts'
import { runJail } from './run-jail.ts'
import { seedKey } from './seed-key.ts'
import { SpawnerLink } from './spawner-link.ts'
import { startError } from './start-error.ts'
import type { Starter, StartOrder } from './started.ts'

/** What a starter may be given. */
export interface StarterOptions {
  readonly clock?: Clock
  /**
   * How many jails of a kind are made ahead at most; 2 unless said. With 0, some seeds are still kept once there was a
   * command: shells that wait outside of any jail and see nothing, from which the next jail is made sooner.
   */
  readonly prepared?: number
  /** Bounds all processes of a command together, where the machine can. */
  readonly createCgroup?: CreateCgroup
}

const JAILS = { mostKinds: 4, atOnce: 1 }
/** Some at once and rarely: to start one takes as long as a short command, which would have to wait for it. */
const SEEDS = { mostKinds: 2, atOnce: 3, enough: 1 }

/** Starts commands in their jails, through a small process that is started when it is first needed. */
export function createStarter({ clock = systemClock, prepared = 2, createCgroup }: StarterOptions = {}): Starter {
  /** By whether its sandboxes have private mounts. */
  const links = new Map<boolean, SpawnerLink>()
  let isClosed = false
  const sow = (jail: Jail) => {
    const isPrivate = jail.hasPrivateMounts === true
    const known = links.get(isPrivate)
    const link = known?.isOpen ? known : new SpawnerLink(jail)
    links.set(isPrivate, link)
    return new OpenJail(link, jail, createCgroup?.(jail.limits))
  }
  const seeds = new JailPool({ ...SEEDS, clock, open: sow, keyOf: seedKey })
  const open = (jail: Jail, isAhead: boolean) => {
    const opened = seeds.take(jail) ?? sow(jail)
    opened.open(jail, { isAhead })
    return opened
  }
  const jails = new JailPool({
    ...JAILS,
    clock,
    enough: prepared,
    open: (jail) => open(jail, true),
    keyOf: ({ key }) => key,
  })
  const refill = new Refill((jail) => {
    if (isClosed) return
    // What runs beside a command belongs to that command's call.
    if (jail.companion === undefined) jails.fill(jail)
    seeds.fill(jail)
  }, clock)
  const launch = (jail: OpenJail, order: StartOrder, script: string, signal: AbortSignal) => {
    refill.during(jail.ended)
    return runJail(jail, { script, companion: companionScript(order.jail), ready: order.ready }, signal)
  }
  const launchNew = (order: StartOrder, script: string, signal: AbortSignal) => {
    const running = launch(open(order.jail, false), order, script, signal)
    // Now the spawner has nothing to do for as long as it takes to make the jail.
    seeds.fill(order.jail)
    return running
  }
  return {
    async start(order, signal) {
      throwIfAborted(signal)
      if (isClosed) throw new ToolError('ABORTED', 'The hub is closing: no command is started any more.')
      const script = launchScript(order)
      const ahead = jails.take(order.jail)
      const tried = ahead && (await launch(ahead, order, script, signal))
      // One that was made ahead may have died or show a folder that has gone; a new one knows better.
      const isWanted = tried === undefined || ('kind' in tried && tried.kind === 'broken' && !signal.aborted)
      const started = isWanted ? await launchNew(order, script, signal) : tried
      refill.want(order.jail)
      if (!('kind' in started)) return started
      throwIfAborted(signal)
      throw await startError(started, order)
    },
    prepare: (jail) => refill.want(jail),
    async close() {
      isClosed = true
      await Promise.all([...links.values()].map((link) => link.close()))
    },
  }
}
