import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { temporaryFolder } from './temporary-folder.ts'

const LOADER = pathToFileURL(join(import.meta.dirname, 'load-typescript.mjs')).href
const PROGRAM = join(import.meta.dirname, 'cluster-process.mjs')
/** Longer than a process is believed to be alive. */
export const LEASE_MS = 11_000

/** What the processes of a cluster share, apart from the store in a file that they have by default. */
interface ClusterOptions {
  /** A store in PostgreSQL in place of the file. */
  readonly database?: { readonly url: string; readonly schema: string; readonly pollMs?: number }
  /** A webhook for requests that wait. */
  readonly hook?: { readonly url: string; readonly secret: string }
  /** Options of the hubs. */
  readonly options?: object
}

const children: ChildProcess[] = []

/** Kills all processes of all clusters. */
export async function killProcesses(): Promise<void> {
  for (const child of children.splice(0)) await kill(child)
}

async function kill(child: ChildProcess): Promise<void> {
  const isOver = child.exitCode !== null || child.signalCode !== null
  const over = isOver ? undefined : once(child, 'exit')
  child.kill('SIGKILL')
  await over
}

/** Real processes with one store and one clock, and a folder of runs for each, as on machines of their own. */
export function newCluster(shared: ClusterOptions = {}) {
  const folder = temporaryFolder('cluster-processes')
  const place = { data: join(folder, 'data'), ahead: join(folder, 'ahead'), effects: join(folder, 'effects') }
  writeFileSync(place.ahead, '0')
  writeFileSync(place.effects, '')
  const start = async () => {
    const runs = join(mkdtempSync(join(folder, 'machine-')), 'runs')
    const words = ['--import', LOADER, PROGRAM, JSON.stringify({ ...place, ...shared, runs })]
    const child = spawn(process.execPath, words, { stdio: ['pipe', 'pipe', 'inherit'] })
    children.push(child)
    const lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]()
    const answer = async () => {
      const said = JSON.parse((await lines.next()).value)
      if (said.thrown !== undefined) throw new Error(said.thrown)
      return said
    }
    const { id } = await answer()
    const send = (command: string, options: object = {}) => {
      child.stdin?.write(`${JSON.stringify({ command, run: 'r', ...options })}\n`)
      return answer()
    }
    return {
      ...{ id, child, runs, send },
      kill: () => kill(child),
      act: (what: string) => send('call', { tool: 'test.effect', input: { what }, idempotencyKey: what }),
      read: () => send('call', { tool: 'test.pure', input: {} }),
      /** Calls a method of the hub or of one of its services. */
      do: (method: string, ...args: unknown[]) => send('do', { method, args }),
    }
  }
  return {
    start,
    /** Lets the time of all processes pass; those that run send a heartbeat then. */
    async pass(ms: number, running: readonly Awaited<ReturnType<typeof start>>[]) {
      writeFileSync(place.ahead, String(Number(readFileSync(place.ahead, 'utf8')) + ms))
      for (const { send } of running) await send('beat')
    },
    effects: () => readFileSync(place.effects, 'utf8').split('\n').slice(0, -1),
  }
}
