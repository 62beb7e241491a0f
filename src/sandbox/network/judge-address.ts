import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import { ToolError } from '../../core/index.ts'

type Address = ipaddr.IPv4 | ipaddr.IPv6

type RangeList = ReadonlyArray<[Address, number]>

/** What the owner says about addresses. */
export interface Ranges {
  /** Private ranges that may be reached. */
  readonly open: RangeList
  /** Ranges that may not be reached, though they are public or opened. */
  readonly blocked: RangeList
}

// What hands out a machine's credentials to anybody who asks; never reachable, whatever the owner opened.
const METADATA = new Set(
  [
    ...['169.254.169.254', '169.254.170.2', '169.254.170.23', '168.63.129.16', '100.100.100.200', '192.0.0.192'],
    ...['fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254'],
  ].map((address) => ipaddr.parse(address).toString()),
)

const GLOBAL_UNICAST = ranges(['2000::/3'])
// Inside 2000::/3, but not of the public internet: protocol assignments (Teredo, ORCHID, benchmarks), documentation, AS112.
const SPECIAL_IPV6 = ranges(['2001::/23', '2001:db8::/32', '3fff::/20', '2620:4f:8000::/48'])
// IPv6 that a translator turns into IPv4 (mapped, translated, NAT64, 6to4), and the byte where that IPv4 begins.
const EMBEDDING = [
  ...ranges(['::ffff:0:0/96', '::ffff:0:0:0/96', '64:ff9b::/96']).map((range) => ({ range, at: 12 })),
  ...ranges(['2002::/16']).map((range) => ({ range, at: 2 })),
]

/** Why an address may not be dialled; undefined when it is public, or private and opened by the owner. */
export function judgeAddress(text: string, { open, blocked }: Ranges): string | undefined {
  if (isIP(text) === 0 || text.includes('%')) return 'is not a plain address'
  const spelled = ipaddr.parse(text)
  const address = effective(spelled)
  if (METADATA.has(address.toString())) return 'is a metadata address'
  if (isIn(address, blocked) || isIn(spelled, blocked)) return 'is in a range that the owner blocks'
  if (isIn(address, open) || isPublic(address)) return undefined
  return 'is not a public address'
}

/** True for a private address that is reached only because the owner opened its range. */
export function isOpened(text: string, { open }: Ranges): boolean {
  const address = effective(ipaddr.parse(text))
  return isIn(address, open) && !isPublic(address)
}

/** The one spelling of an address: lower case, shortest, IPv4-mapped as plain IPv4. */
export function canonicalAddress(text: string): string {
  return ipaddr.process(text).toString()
}

/** Reads the ranges (CIDR, or single addresses) that the owner opens and blocks. */
export function parseRanges(open: readonly string[], blocked: readonly string[] = []): Ranges {
  return { open: ranges(open), blocked: ranges(blocked) }
}

/** What the network would really reach: the IPv4 address inside an embedding IPv6 one. */
function effective(address: Address): Address {
  const embedding = EMBEDDING.find(({ range }) => isIn(address, [range]))
  if (!embedding) return address
  return ipaddr.fromByteArray(address.toByteArray().slice(embedding.at, embedding.at + 4))
}

function isPublic(address: Address): boolean {
  if (address.kind() === 'ipv4') return address.range() === 'unicast'
  return isIn(address, GLOBAL_UNICAST) && !isIn(address, SPECIAL_IPV6)
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

/** The ranges that an owner opens by writing them down as a host: this very address, or this machine. */
export function spelledOut(hostname: string): readonly string[] {
  const address = hostname.replace(/[[\]]/g, '')
  if (isIP(address) > 0) return [address]
  return hostname === 'localhost' || hostname.endsWith('.localhost') ? LOOPBACK : []
}
