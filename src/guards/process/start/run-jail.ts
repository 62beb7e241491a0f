import { setMaxListeners } from 'node:events'
import type { OpenJail, StartFailure } from './open-jail.ts'
import { type CommandStreams, endWhenSilent } from './pipe-ends.ts'
import { lostError } from './start-error.ts'
import type { Exit, Started } from './started.ts'

/** What a jail is told to run. */
export interface JailTexts {
  readonly script: string
  readonly companion?: string
  readonly ready?: Promise<void>
}

/** Gives a jail its command. An abort ends it, from now to its end. */
export async function runJail(jail: OpenJail, texts: JailTexts, signal: AbortSignal): Promise<Started | StartFailure> {
  const stop = () => void jail.stop()
  // All commands of a call may share one signal.
  setMaxListeners(0, signal)
  signal.addEventListener('abort', stop, { once: true })
  void jail.ended.then(() => signal.removeEventListener('abort', stop))
  await texts.ready?.catch(async (error: unknown) => {
    await jail.stop()
    throw error
  })
  const streams = await jail.run(texts.script, texts.companion)
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
  return { pid: jail.pid, stdin, stdout, stderr, exited, stop: () => jail.stop() }
}
