import { resolve } from 'node:path'
import type { HubOptions } from '../../core/index.ts'
import { loadSecondParser } from '../../hub/index.ts'
import { probeSandbox, sandboxUser } from '../../sandbox/exec/index.ts'
import type { DoctorFinding } from './doctor-examine.ts'

/** How strongly commands are fenced in here, found out by really doing it, and whether their lines can be read twice. */
export async function examineSandbox({ sandbox }: Pick<HubOptions, 'sandbox'>): Promise<DoctorFinding[]> {
  const { level, engine, weaknesses, cgroups } = await probeSandbox({ force: sandbox?.commands?.level })
  const bounds = cgroups === 'none' ? 'bounded by prlimit' : `bounded by prlimit and cgroups ${cgroups}`
  const isChosen = sandbox?.commands?.level === level && level !== 'full'
  const isFree = level === 'none' && sandbox?.required === false
  const atNone = isFree
    ? ' Your rules decide all the same: sandbox.required is false.'
    : ' Every command asks, whatever the rules say.'
  const detail = `level ${level} (${engine})${level === 'none' ? '' : userOf(sandbox?.root)}, ${bounds}.${level === 'none' ? atNone : ''}`
  const strength: DoctorFinding =
    weaknesses.length === 0
      ? { state: 'good', what: 'commands', detail }
      : { state: 'weak', what: 'commands', detail, fix: isChosen ? CHOSEN : weaknesses.join(' ') }
  return (await loadSecondParser()) ? [strength] : [strength, ONE_PARSER]
}

/** Whom commands run as, where that may surprise. */
function userOf(root: string | undefined): string {
  const roots = root === undefined ? [] : [{ path: resolve(root), mode: 'write' as const }]
  const { uid, isOther } = sandboxUser({ roots })
  if (uid === 0) return ', as root without capabilities'
  return isOther ? `, as user ${uid}` : ''
}

const CHOSEN = 'Your config chose this level: leave sandbox.commands.level out to have the best that this machine can.'

const ONE_PARSER: DoctorFinding = {
  state: 'weak',
  what: 'commands',
  detail: 'the second parser of command lines cannot be loaded: every line asks',
  fix: 'Install the package anew: npm install tool-hub.',
}
