import { BlockList, isIP } from 'node:net'
import { ToolError } from '../../core/index.ts'
import type { AuthRequest } from './auth-request.ts'

const CIDR = /^([^/]+)(?:\/(\d{1,3}))?$/
const WITH_PORT = /^\[([0-9a-f:.]+)\](?::\d{1,5})?$|^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/i

/**
 * Makes what tells the address that a request comes from: whoever opened the connection, and behind proxies that are
 * trusted whom they say. Everybody can write X-Forwarded-For, so it is read from its end, where our own proxy adds to it.
 */
export function createAddressOf(trustedProxies: readonly string[] = []): (request: AuthRequest) => string | undefined {
  if (trustedProxies.length === 0) return ({ remoteAddress }) => remoteAddress
  const trusted = new BlockList()
  for (const written of trustedProxies) trust(trusted, written)
  const isTrusted = (address: string) => isIP(address) !== 0 && trusted.check(address, familyOf(address))
  return ({ remoteAddress, headers }) => {
    let address = remoteAddress
    const forwarded = (headers.get('x-forwarded-for') ?? '').split(',')
    while (address !== undefined && forwarded.length > 0 && isTrusted(address)) {
      const before = toAddress(forwarded.pop()!.trim())
      if (before === undefined) break
      address = before
    }
    return address
  }
}

function toAddress(said: string): string | undefined {
  const [, six, four] = WITH_PORT.exec(said) ?? []
  const address = six ?? four ?? said
  return isIP(address) === 0 ? undefined : address
}

function trust(trusted: BlockList, written: string): void {
  const [, address = '', bits] = CIDR.exec(written) ?? []
  const most = isIP(address) === 6 ? 128 : 32
  const length = bits === undefined ? most : Number(bits)
  if (isIP(address) === 0 || length > most) {
    throw new ToolError('CONFIG_INVALID', `trustedProxies: ${JSON.stringify(written)} is not an address.`, {
      hint: 'Write an address or a network: 10.0.0.7, 10.0.0.0/8, 2001:db8::/32.',
    })
  }
  trusted.addSubnet(address, length, familyOf(address))
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}
