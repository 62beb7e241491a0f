import { closeSync, constants, openSync, writeSync } from 'node:fs'
import type { Descriptors } from '../launch-script.ts'
import type { SeedMessage } from '../protocol.ts'
import type { PipeStock, SparePipe } from './pipe-stock.ts'

type Stdio = 'pipe' | 'ignore' | number

/** The pipes of one command: its own ends go to the jail, the other ends wait here until the hub has opened them. */
export class CellPipes {
  readonly #kept: readonly SparePipe[]
  readonly #stdin: SparePipe
  readonly #ends: { readonly stdout: number; readonly stderr: number }
  /** Held for the hub: a command that is quicker than it must wait for its input, not read the end of it. */
  readonly #input: number
  readonly #seccomp: { readonly fd: number; readonly pipe: SparePipe } | undefined
  #isTaken = false

  /** Takes what a jail needs from the stock. */
  static async take(stock: PipeStock, seccomp: SeedMessage['seccomp']): Promise<CellPipes> {
    const pipes = await stock.take(seccomp ? 4 : 3)
    return new CellPipes(pipes, seccomp)
  }

  private constructor(pipes: readonly SparePipe[], seccomp: SeedMessage['seccomp']) {
    const [stdin, stdout, stderr, filter] = pipes
    this.#kept = [stdin!, stdout!, stderr!]
    this.#stdin = stdin!
    this.#input = openToWrite(stdin!)
    this.#ends = { stdout: openToWrite(stdout!), stderr: openToWrite(stderr!) }
    if (seccomp && filter) this.#seccomp = { fd: seccomp.fd, pipe: filled(filter, seccomp.program) }
  }

  /** Where the hub finds its ends: input, output, errors. */
  get paths(): readonly string[] {
    return this.#kept.map(({ path }) => path)
  }

  /** What a seed gets: what to do, its own errors, and for the jail its shell's script and the command's pipes. */
  stdio(at: Descriptors, hasCompanion: boolean): Stdio[] {
    const stdio: Stdio[] = ['pipe', hasCompanion ? 'pipe' : 'ignore', 'pipe']
    const last = Math.max(...Object.values(at), this.#seccomp?.fd ?? 0)
    for (let fd = stdio.length; fd <= last; fd++) stdio.push('ignore')
    stdio[at.stdin] = this.#stdin.fd
    stdio[at.stdout] = this.#ends.stdout
    stdio[at.stderr] = this.#ends.stderr
    stdio[at.report] = 'pipe'
    stdio[at.script] = 'pipe'
    if (this.#seccomp) stdio[this.#seccomp.fd] = this.#seccomp.pipe.fd
    return stdio
  }

  /** The jail has its own copies now. */
  closeCommandEnds(): void {
    closeSync(this.#ends.stdout)
    closeSync(this.#ends.stderr)
    this.#seccomp?.pipe.close()
  }

  /** The hub has its own copies now. */
  closeHubEnds(): void {
    if (this.#isTaken) return
    this.#isTaken = true
    closeSync(this.#input)
    for (const pipe of this.#kept) pipe.close()
  }
}

function openToWrite({ path }: SparePipe): number {
  return openSync(path, constants.O_WRONLY)
}

function filled(pipe: SparePipe, program: string): SparePipe {
  const end = openToWrite(pipe)
  writeSync(end, Buffer.from(program, 'base64'))
  closeSync(end)
  return pipe
}
