import { isIP } from 'node:net'

const LOOPBACK = ['127.0.0.0/8', '::1/128']

/** The ranges that an owner opens by writing them down as a host: this very address, or this machine. */
export function spelledOut(hostname: string): readonly string[] {
  const address = hostname.replace(/[[\]]/g, '')
  if (isIP(address) > 0) return [address]
  return hostname === 'localhost' || hostname.endsWith('.localhost') ? LOOPBACK : []
}
