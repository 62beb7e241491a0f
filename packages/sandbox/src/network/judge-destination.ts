import { lookup } from 'node:dns/promises'
import { isIP, isIPv4 } from 'node:net'
import { domainToASCII } from 'node:url'
import { ToolError } from '@tool-hub/core'
import ipaddr from 'ipaddr.js'

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

/** What is used of an address of `ipaddr.js`. Our declarations do not name that package: a build has it inside. */
interface Address {
  kind(): 'ipv4' | 'ipv6'
  range(): string
  toByteArray(): number[]
  match(range: never): boolean
}

type RangeList = ReadonlyArray<[Address, number]>

/** The owner's settings for addresses. */
export interface Ranges {
  /** Private ranges that may be reached. */
  readonly open: RangeList
  /** Ranges that may not be reached, even if they are public or opened. */
  readonly blocked: RangeList
}

// Metadata services return a machine's credentials to any client: never reachable, whatever the owner opened.
const METADATA = new Set([
  ...['169.254.169.254', '169.254.170.2', '169.254.170.23', '168.63.129.16', '100.100.100.200', '192.0.0.192'],
  ...['fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254'],
])

/** Parsed for the first address that is judged: for most processes that is never, and it takes 10 ms. */
function parseKnown() {
  return {
    globalUnicast: ranges(['2000::/3']),
    // Inside 2000::/3, but not of the public internet: protocol assignments (Teredo, ORCHID, benchmarks), documentation, AS112.
    specialIpv6: ranges(['2001::/23', '2001:db8::/32', '3fff::/20', '2620:4f:8000::/48']),
    // IPv6 that a translator turns into IPv4 (mapped, translated, NAT64, 6to4), and the byte where that IPv4 begins.
    embedding: [
      ...ranges(['::ffff:0:0/96', '::ffff:0:0:0/96', '64:ff9b::/96']).map((range) => ({ range, at: 12 })),
      ...ranges(['2002::/16']).map((range) => ({ range, at: 2 })),
    ],
  }
}

let parsed: ReturnType<typeof parseKnown> | undefined

function known(): ReturnType<typeof parseKnown> {
  parsed ??= parseKnown()
  return parsed
}

/** Whether a host is the address of a metadata service, in any spelling. */
export function isMetadata(hostname: string): boolean {
  const text = hostname.replace(/[[\]]/g, '')
  return isIP(text) > 0 && METADATA.has(effective(ipaddr.parse(text)).toString())
}

/** Why an address may not be dialled; undefined if it is public, or private and opened by the owner. */
export function judgeAddress(text: string, { open, blocked }: Ranges): string | undefined {
  if (isIP(text) === 0 || text.includes('%')) return 'is not a plain address'
  const spelled = ipaddr.parse(text)
  const address = effective(spelled)
  if (METADATA.has(address.toString())) return 'is a metadata address'
  if (isIn(address, blocked) || isIn(spelled, blocked)) return 'is in a range that the owner blocks'
  if (isIn(address, open) || isPublic(address)) return undefined
  return 'is not a public address'
}

/** Whether a private address is reachable only because the owner opened its range. */
export function isOpened(text: string, { open }: Ranges): boolean {
  const address = effective(ipaddr.parse(text))
  return isIn(address, open) && !isPublic(address)
}

/** The canonical form of an address: lower case, shortest, IPv4-mapped as plain IPv4. */
export function canonicalAddress(text: string): string {
  return ipaddr.process(text).toString()
}

/** Parses the ranges (CIDR, or single addresses) that the owner opens and blocks. */
export function parseRanges(open: readonly string[], blocked: readonly string[] = []): Ranges {
  return { open: ranges(open), blocked: ranges(blocked) }
}

/** The address that the network would reach: the IPv4 address inside an embedding IPv6 one. */
function effective(address: Address): Address {
  const embedding = known().embedding.find(({ range }) => isIn(address, [range]))
  if (!embedding) return address
  return ipaddr.fromByteArray(address.toByteArray().slice(embedding.at, embedding.at + 4))
}

function isPublic(address: Address): boolean {
  if (address.kind() === 'ipv4') return address.range() === 'unicast'
  return isIn(address, known().globalUnicast) && !isIn(address, known().specialIpv6)
}

function isIn(address: Address, list: RangeList): boolean {
  return list.some(([network, bits]) => network.kind() === address.kind() && address.match([network, bits] as never))
}

function ranges(entries: readonly string[]): RangeList {
  return entries.map((entry) => {
    const bits = isIP(entry) === 4 ? 32 : 128
    const cidr = isIP(entry) > 0 ? `${entry}/${bits}` : entry
    if (isIP(cidr.split('/')[0]!) > 0 && ipaddr.isValidCIDR(cidr)) return ipaddr.parseCIDR(cidr)
    throw new ToolError('CONFIG_INVALID', `"${entry}" is not an address range.`, {
      hint: 'Write it as CIDR: 10.1.2.0/24.',
    })
  })
}

const LOOPBACK = ['127.0.0.0/8', '::1/128']

/** The ranges that an owner opens by naming a host: that address, or this machine. */
export function spelledOut(hostname: string): readonly string[] {
  const address = hostname.replace(/[[\]]/g, '')
  if (isIP(address) > 0) return [address]
  return hostname === 'localhost' || hostname.endsWith('.localhost') ? LOOPBACK : []
}

/** Returns every address of a name. */
export type Resolve = (host: string) => Promise<readonly string[]>

/** The checked addresses of a host, in canonical form. */
export interface HostAddresses {
  /** Addresses of the host that may be connected to. */
  readonly addresses: readonly string[]
  /** Every address lies in a private range that the owner opened. */
  readonly isOpened: boolean
}

const MAX_LITERALS = 256

/** Resolves hosts to checked addresses; a host with one address that may not be dialled is refused. */
export class HostResolver {
  readonly #resolve: Resolve
  readonly #ranges: Ranges
  /** A literal address is checked once; names are resolved on every hop. */
  readonly #literals = new Map<string, HostAddresses>()

  constructor(resolve: Resolve = systemResolve, ranges: Ranges) {
    this.#resolve = resolve
    this.#ranges = ranges
  }

  /** The checked address of a host that is an address itself; undefined for names. */
  literal(host: string): HostAddresses | undefined {
    const known = this.#literals.get(host)
    if (known) return known
    const text = host.startsWith('[') ? host.slice(1, -1) : host
    if (isIP(text) === 0) return undefined
    const place = this.#judge(host, [text])
    if (this.#literals.size >= MAX_LITERALS) this.#literals.clear()
    this.#literals.set(host, place)
    return place
  }

  /** Resolves a name, once. Throws UPSTREAM_ERROR if it has no address. */
  async ask(host: string): Promise<HostAddresses> {
    let cause: unknown
    try {
      const addresses = await this.#resolve(host)
      if (addresses.length > 0) return this.#judge(host, addresses)
    } catch (error) {
      if (ToolError.is(error)) throw error
      cause = error
    }
    throw new ToolError('UPSTREAM_ERROR', `The name ${host} does not resolve.`, {
      hint: 'Check the host name.',
      // A name that does not exist will not exist in a second; a busy resolver may answer then.
      retryable: codeOf(cause) === 'EAI_AGAIN',
      cause,
    })
  }

  #judge(host: string, addresses: readonly string[]): HostAddresses {
    for (const address of addresses) {
      const refusal = judgeAddress(address, this.#ranges)
      if (refusal) {
        throw new ToolError('HTTP_DISALLOWED_HOST', `${host} leads to ${address}, which ${refusal}.`, {
          hint: 'Use a public host, or have the owner open the range in sandbox.privateRanges.',
        })
      }
    }
    return {
      addresses: [...new Set(addresses.map(canonicalAddress))],
      isOpened: addresses.every((address) => isOpened(address, this.#ranges)),
    }
  }
}

/** The resolver of the machine. */
const systemResolve: Resolve = async (host) => {
  const answers = await lookup(host, { all: true })
  return answers.map(({ address }) => address)
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}
