import { isIP } from 'node:net'
import { domainToASCII } from 'node:url'
import { ToolError } from '../../errors.ts'

/** The hosts an owner allows, in the ASCII form that URLs have. */
export interface HostPatterns {
  readonly exact: ReadonlySet<string>
  /** `.example.org` for `*.example.org`. */
  readonly suffixes: readonly string[]
  readonly hasAny: boolean
}

/** True when an owner's entry covers the host of a URL: itself, or `*.` and at least one label; `*` covers all but localhost. */
export function matchHost(host: string, { exact, suffixes, hasAny }: HostPatterns): boolean {
  if (exact.has(host)) return true
  if (isIP(host.replace(/[[\]]/g, '')) > 0) return hasAny
  if (suffixes.some((suffix) => host.length > suffix.length && host.endsWith(suffix))) return true
  return hasAny && !isLocalhost(host)
}

/** Reads the owner's entries; one that could never match, or that means more than it says, is an error. */
export function parseHosts(entries: readonly string[]): HostPatterns {
  const exact = new Set<string>()
  const suffixes: string[] = []
  for (const entry of entries) {
    if (entry === '*') continue
    if (entry.startsWith('*.')) suffixes.push(`.${toAscii(entry.slice(2), entry)}`)
    else exact.add(toAscii(entry, entry))
  }
  return { exact, suffixes, hasAny: entries.includes('*') }
}

/** `localhost` and below mean this machine, whatever a resolver says (RFC 6761). */
function isLocalhost(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost')
}

function toAscii(host: string, entry: string): string {
  const ascii = isIP(host) === 6 ? new URL(`http://[${host}]`).hostname : domainToASCII(host)
  if (ascii !== '' && !/[*/@]/.test(host) && !ascii.split('.').includes('')) return ascii
  throw new ToolError('CONFIG_INVALID', `"${entry}" is not a host that can be allowed.`, {
    hint: 'Write api.example.org, *.example.org or an address; no scheme, port or path.',
  })
}
