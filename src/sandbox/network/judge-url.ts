import { isIP, isIPv4 } from 'node:net'
import { domainToASCII } from 'node:url'
import { ToolError } from '../../core/index.ts'

const MAX_URL_BYTES = 8192
// The URL parser would silently drop or rewrite these, and other parsers interpret them differently.
const AMBIGUOUS = /[\p{Cc}\s\\]/u
const EMPTY_LABEL = /^\.|\.\.|\.$/
const HTTP_URL = /^https?:\/\/([^/?#]+)/i

// The Fetch standard's bad ports, and 0.
const BAD_PORTS = new Set(
  `0 1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135
  137 139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719
  1720 1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080`.split(/\s+/),
)

/** Parses a URL that every parser interprets alike; returns its normal form, without fragment and trailing dot of the host. */
export function judgeUrl(text: string): URL {
  const authority = spelledAuthority(text)
  const url = parse(text)
  if (authority.includes('@')) {
    throw invalid('The URL carries a user name or password.', 'Leave them out; credentials belong in a header.')
  }
  const { hostname } = url
  if (isIPv4(hostname) && authority.split(':')[0] !== hostname) {
    throw invalid(
      `The host is the address ${hostname} in another spelling.`,
      'Write the address as four plain numbers.',
    )
  }
  if (BAD_PORTS.has(url.port)) {
    throw new ToolError('HTTP_DISALLOWED_HOST', `Port ${url.port} belongs to another protocol than HTTP.`, {
      hint: 'Use the port of a web server.',
    })
  }
  if (hostname.endsWith('.')) url.hostname = hostname.slice(0, -1)
  if (EMPTY_LABEL.test(url.hostname)) throw invalid('The host has an empty part between its dots.')
  // Setting the same value would parse the URL again.
  if (text.includes('#')) url.hash = ''
  return url
}

/** Parses the target of a redirect, relative to the URL that sent it, by the same rules. */
export function judgeRedirect(location: string, from: URL): URL {
  if (AMBIGUOUS.test(location)) throw invalid('The URL has a blank, a control character or a backslash.')
  if (/^[a-z][a-z0-9+.-]*:/i.test(location)) return judgeUrl(location)
  if (location.startsWith('//')) return judgeUrl(from.protocol + location)
  if (!URL.canParse(location, from.href)) throw invalid('The URL cannot be parsed.')
  return judgeUrl(new URL(location, from).href)
}

function parse(text: string): URL {
  try {
    return new URL(text)
  } catch (cause) {
    throw invalid('The URL cannot be parsed.', undefined, cause)
  }
}

/** The part between `//` and the path, as it was written. */
function spelledAuthority(text: string): string {
  if (typeof text !== 'string') throw invalid(`A URL is a string, not ${text === null ? 'null' : typeof text}.`)
  const bytes = text.length > MAX_URL_BYTES / 3 ? Buffer.byteLength(text) : text.length
  if (bytes > MAX_URL_BYTES) throw invalid(`The URL has ${bytes} bytes, the limit is ${MAX_URL_BYTES}.`)
  if (AMBIGUOUS.test(text)) throw invalid('The URL has a blank, a control character or a backslash.')
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(text)?.[1]?.toLowerCase()
  if (scheme !== undefined && scheme !== 'http' && scheme !== 'https') {
    throw new ToolError('HTTP_DISALLOWED_HOST', `The scheme ${scheme}: is not allowed, only http: and https: are.`, {
      hint: 'Use an http or https URL.',
    })
  }
  const authority = HTTP_URL.exec(text)?.[1]
  if (authority === undefined) throw invalid('The URL does not begin with http:// or https:// and a host.')
  return authority
}

function invalid(message: string, hint = 'Give a complete http or https URL.', cause?: unknown): ToolError {
  return new ToolError('INPUT_SCHEMA_INVALID', message, { hint, cause })
}

/** The hosts an owner allows, in the ASCII form that URLs have. */
export interface HostPatterns {
  readonly exact: ReadonlySet<string>
  /** `.example.org` for `*.example.org`. */
  readonly suffixes: readonly string[]
  readonly hasAny: boolean
}

/** Whether an owner's entry covers the host of a URL: itself, or `*.` and at least one label; `*` covers all but localhost. */
export function matchHost(host: string, { exact, suffixes, hasAny }: HostPatterns): boolean {
  if (exact.has(host)) return true
  if (isIP(host.replace(/[[\]]/g, '')) > 0) return hasAny
  if (suffixes.some((suffix) => host.length > suffix.length && host.endsWith(suffix))) return true
  return hasAny && !isLocalhost(host)
}

/** Parses the owner's entries; throws for one that could never match or that would cover more than it says. */
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
