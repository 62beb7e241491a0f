import { parseArgs } from 'node:util'

const FLAGS = {
  ci: { type: 'boolean', default: false },
  seconds: { type: 'string', default: '600' },
  agents: { type: 'string' },
  idle: { type: 'string', default: '500' },
  kills: { type: 'string', default: '20' },
  suspends: { type: 'string', default: '1000' },
  part: { type: 'string', multiple: true },
  cluster: { type: 'boolean', default: false },
  keep: { type: 'boolean', default: false },
}

/** The parts, in their order. */
export const PARTS = ['load', 'kills', 'faults', 'scripts', 'cluster']

/** What the command line says: `--ci` is short enough for every change, and leaves nothing out. */
export function readOptions(args) {
  const { values } = parseArgs({ args, options: FLAGS })
  const parts = values.cluster ? ['cluster'] : (values.part ?? PARTS)
  for (const part of parts) if (!PARTS.includes(part)) throw new Error(`--part is one of ${PARTS.join(', ')}.`)
  return {
    isCi: values.ci,
    parts,
    seconds: values.ci ? 20 : numberOf('seconds', values.seconds, 7_200),
    /** How long things are broken in the cluster. */
    clusterSeconds: values.ci ? 60 : numberOf('seconds', values.seconds, 7_200),
    agents: numberOf('agents', values.agents ?? '200', 2_000),
    clusterAgents: numberOf('agents', values.agents ?? (values.ci ? '20' : '100'), 2_000),
    idle: numberOf('idle', values.idle, 20_000),
    kills: numberOf('kills', values.kills, 1_000),
    /** How often a script is suspended, its process killed, and another one continues it. */
    suspends: values.ci ? 100 : numberOf('suspends', values.suspends, 100_000),
    /** Leaves the folder for a look. */
    keep: values.keep,
  }
}

function numberOf(name, text, most) {
  const number = Number(text)
  if (Number.isInteger(number) && number >= 0 && number <= most) return number
  throw new Error(`--${name} takes a number from 0 to ${most}.`)
}
