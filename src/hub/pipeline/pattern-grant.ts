import { dirname } from 'node:path'
import type { Grant } from '../../approvals/index.ts'
import { isPlainObject } from '../../lib/index.ts'
import { decide, escapeGlob, offerCommandPatterns, patternRule } from '../../policy/index.ts'
import type { Call } from './call.ts'
import { question } from './decide.ts'
import type { Parts, RunState } from './parts.ts'

/** What a remembered answer covers beyond this call. */
export type GrantPattern = NonNullable<Grant['pattern']>

/**
 * The pattern that is offered with an approval: the program and command of a command line (`npm test *`), the folder of
 * a file, or the host of an address. Offered only if, as a rule, it would allow this very call: it never covers a deny, a
 * doubt or an unknown part.
 */
export function patternOf(parts: Parts, run: RunState, call: Call): GrantPattern | undefined {
  if (call.tool!.tool.doubt !== undefined || call.decision?.effect !== 'ask') return undefined
  const pattern = call.capabilities.includes('exec')
    ? commandPattern(parts, run, call)
    : (serverPattern(call) ?? hostPattern(call) ?? folderPattern(call))
  return pattern && permits(parts, run, call, pattern) ? pattern : undefined
}

/** Whether the call would run without an approval if the pattern were a rule in addition to the others. */
export function permits(parts: Parts, run: RunState, call: Call, pattern: GrantPattern): boolean {
  const policy = parts.policy.withRule(patternRule(call.name, pattern))
  return decide(policy, question(parts, run, call)).effect === 'allow'
}

function commandPattern(parts: Parts, run: RunState, call: Call): GrantPattern | undefined {
  const commands = call.targets.filter(({ capability }) => capability === 'exec')
  const [command] = commands
  if (!command || commands.length > 1) return undefined
  const on = offerCommandPatterns(parts.policy, question(parts, run, call), command.value)
  return on && { on, shown: on.join(', ') }
}

/** All tools of an MCP server; one whose definition changes is in doubt, and still needs an approval. */
function serverPattern({ name, targets }: Call): GrantPattern | undefined {
  const [, server] = /^mcp\/([\w-]+)\./.exec(name) ?? []
  const isOfServer = targets.length > 0 && targets.every(({ value }) => value.startsWith(`mcp:${server}/`))
  return server !== undefined && isOfServer
    ? { on: [`mcp:${server}/*`], shown: `mcp:${server}/*`, tools: `mcp/${server}.` }
    : undefined
}

/** The host of a call that only fetches; calls that send something are approved one by one. */
function hostPattern({ name, targets }: Call): GrantPattern | undefined {
  const origins = new Set(
    targets.map(({ capability, value }) => (capability === 'network' ? originOf(value) : undefined)),
  )
  const [origin] = origins
  return origin === undefined || origins.size > 1 ? undefined : { on: [`${origin}/**`], shown: `${name} on ${origin}/` }
}

/** Only of a URL whose host is a plain name or number: other characters would have a meaning in a pattern. */
function originOf(address: string): string | undefined {
  const origin = URL.canParse(address) ? new URL(address).origin : ''
  return /^https?:\/\/[a-z0-9.:-]+$/.test(origin) ? origin : undefined
}

/** The folder of the only file that the call names, if it is below the root. */
function folderPattern({ name, targets, input }: Call): GrantPattern | undefined {
  const paths = new Set(targets.map(({ value }) => value))
  const [path] = paths
  const isOfFiles = targets.every(({ capability }) => capability !== 'network' && capability !== 'remote')
  const written = isPlainObject(input) ? input.path : undefined
  if (path === undefined || paths.size > 1 || !isOfFiles || typeof written !== 'string') return undefined
  const folder = dirname(written)
  // Only a folder that the call names below the root: the root itself would cover everything.
  if (folder === '.' || /(^|\/)\.\.?(\/|$)|^[/~]/.test(written) || !path.endsWith(`/${written}`)) return undefined
  return { on: [`${escapeGlob(dirname(path))}/**`], shown: `${name} in ${folder}/` }
}
