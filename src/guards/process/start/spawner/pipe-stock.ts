import { closeSync, constants, fchmodSync, fstatSync, openSync, readSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { startProcess } from '../../../../disk/start-process.ts'
import { readLines } from '../read-lines.ts'

/** A pipe that nobody writes to yet. Either end is opened, as often as wanted and by the hub too, by its path. */
export interface SparePipe {
  /** The end to read from. */
  readonly fd: number
  readonly path: string
  /** Lets go of it; ends that were opened stay. */
  readonly close: () => void
}

/** Where pipes for commands come from. */
export interface PipeStock {
  take(count: number): Promise<readonly SparePipe[]>
  /** Lets go of those that were not taken. */
  close(): void
}

const AT_ONCE = [3, 4, 5, 6, 7, 8, 9]
const ENOUGH = 2 * AT_ONCE.length

/**
 * Real pipes, made by a shell that is kept for it: Node makes only socket pairs, and a program whose output is a
 * socket cannot open /dev/stdout. The shell holds a here-document open, which is a pipe, and we open that through
 * /proc: no process, no file, well below 0.1 ms each. Throws where the shell's here-documents are files, or without /proc.
 */
export async function openPipeStock(): Promise<PipeStock> {
  const shell = startProcess('/bin/sh', [], { stdio: ['pipe', 'pipe', 'ignore'], env: {}, cwd: '/' })
  const ask = conversation(shell.stdin!, shell.stdout!)
  shell.on('error', ask.fail)
  shell.on('exit', () => ask.fail(new Error('the shell that makes pipes has ended')))
  const stock: SparePipe[] = []
  let filling: Promise<void> | undefined
  const fill = () => {
    filling ??= makePipes(ask.say, shell.pid!)
      .then((made) => void stock.push(...made))
      .finally(() => {
        filling = undefined
      })
    return filling
  }
  await fill()
  return {
    async take(count) {
      while (stock.length < count) await fill()
      const taken = stock.splice(0, count)
      // What goes wrong here goes wrong again for the one who needs it.
      if (stock.length < ENOUGH) fill().catch(() => {})
      return taken
    },
    close() {
      shell.kill()
      for (const pipe of stock.splice(0)) pipe.close()
    },
  }
}

async function makePipes(say: (text: string) => Promise<void>, pid: number): Promise<SparePipe[]> {
  // Not empty, since bash takes /dev/null for an empty one.
  await say(`exec ${AT_ONCE.map((fd) => `${fd}<<E`).join(' ')}\n${'.\nE\n'.repeat(AT_ONCE.length)}`)
  const made = AT_ONCE.map((fd) => reopen(pid, fd))
  // As long as the shell held an end, nobody would hear that the other one was closed.
  await say(`exec ${AT_ONCE.map((fd) => `${fd}<&-`).join(' ')}\n`)
  return made
}

function reopen(pid: number, number: number): SparePipe {
  const fd = openSync(`/proc/${pid}/fd/${number}`, constants.O_RDONLY)
  if (!fstatSync(fd).isFIFO()) throw new Error('here-documents of /bin/sh are not pipes')
  readSync(fd, Buffer.alloc(8))
  // A command that runs as another user may open /dev/stdout too. Nobody else can name the pipe.
  fchmodSync(fd, 0o666)
  return { fd, path: `/proc/${process.pid}/fd/${fd}`, close: () => closeSync(fd) }
}

/** Says a text to the shell and waits until it has done it; one at a time. */
function conversation(input: Writable, output: Readable) {
  let failed: Error | undefined
  let waiting: { done: () => void; fail: (error: Error) => void } | undefined
  readLines(output, () => waiting?.done())
  input.on('error', () => {})
  return {
    say(text: string): Promise<void> {
      if (failed) return Promise.reject(failed)
      return new Promise((done, fail) => {
        waiting = { done, fail }
        input.write(`${text}echo\n`)
      })
    },
    fail(error: Error): void {
      failed = error
      waiting?.fail(error)
    },
  }
}
