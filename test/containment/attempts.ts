import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One way in which a command could try to get out, as its file says. */
export interface Attempt {
  readonly name: string
  readonly file: string
  /** What it tries, in a sentence. */
  readonly tries: string
  readonly why: string
  readonly needs: 'root' | 'user' | 'any'
  /** What becomes of it without a sandbox: `escapes …`, `held because …` or `either, because …`. */
  readonly atNone: string
  readonly before?: string
  readonly machine?: string
  /** To be killed is to be held: it takes more than its share, and the kernel ends it. */
  readonly isKilledWhenHeld: boolean
  /** Not to be started at all is to be held: the sandbox is not what it should be. */
  readonly isRefusedWhenHeld: boolean
  readonly repeat: number
}

/** Every attempt, by the comment that its file begins with. */
export function readAttempts(folder: string): Attempt[] {
  return readdirSync(folder)
    .toSorted()
    .map((file) => parseAttempt(file, readFileSync(join(folder, file), 'utf8')))
}

/**
 * Whether the attempt must succeed on this machine without a sandbox: `escapes`, with `as root` where another
 * user is refused anyway, and `where PATH`, `where PATH is VALUE` or `where facts.NAME` where the machine must have it.
 */
export function mustEscape({ atNone }: Attempt, facts: Readonly<Record<string, unknown>>, isRoot: boolean): boolean {
  const [, asRoot, path, value] = /^escapes( as root)?(?: where (\S+)(?: is (\S+))?)?$/.exec(atNone) ?? []
  if (!atNone.startsWith('escapes') || (asRoot && !isRoot)) return false
  if (path?.startsWith('facts.')) return facts[path.slice('facts.'.length)] != null
  if (path !== undefined && !existsSync(path)) return false
  return value === undefined || readFileSync(path!, 'utf8').trim() === value
}

function parseAttempt(file: string, text: string): Attempt {
  const lines = text.split('\n')
  const comment = lines.slice(
    0,
    lines.findIndex((line) => !line.startsWith('# ')),
  )
  const [tries, ...rest] = comment.map((line) => line.slice(2))
  const said = new Map(rest.map((line) => /^([\w-]+): (.+)$/.exec(line)?.slice(1, 3) as [string, string]))
  const needs = said.get('needs')
  const atNone = said.get('at-none')
  const why = said.get('Why')
  if (!tries || !why || !atNone || (needs !== 'any' && needs !== 'root' && needs !== 'user'))
    throw new Error(`${file} must begin with what it tries, why, needs and at-none.`)
  if (!/^(escapes\b|held because .+|either, because .+)/.test(atNone)) throw new Error(`${file}: what is ${atNone}?`)
  const name = file.replace(/\.\w+$/, '')
  return {
    ...{ name, file, tries, why, needs, atNone },
    before: said.get('before'),
    machine: said.get('machine'),
    isKilledWhenHeld: said.get('killed') === 'held',
    isRefusedWhenHeld: said.get('refused') === 'held',
    repeat: Number(said.get('repeat') ?? 1),
  }
}
