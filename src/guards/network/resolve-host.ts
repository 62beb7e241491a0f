import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { ToolError } from '../../errors.ts'
import { canonicalAddress, judgeAddress, type OpenRanges } from './judge-address.ts'

/** Asks for every address of a name. */
export type Resolve = (host: string) => Promise<readonly string[]>

/** Resolves a host once; one address that may not be dialled refuses the whole answer. */
export async function resolveHost(host: string, resolve: Resolve, open: OpenRanges): Promise<readonly string[]> {
  const literal = host.replace(/^\[|\]$/g, '')
  const addresses = isIP(literal) > 0 ? [literal] : await ask(host, resolve)
  for (const address of addresses) {
    const refusal = judgeAddress(address, open)
    if (refusal) {
      throw new ToolError('HTTP_DISALLOWED_HOST', `${host} leads to ${address}, which ${refusal}.`, {
        hint: 'Use a public host, or have the owner open the range in sandbox.privateRanges.',
      })
    }
  }
  return [...new Set(addresses.map(canonicalAddress))]
}

/** The resolver of the machine. */
export const systemResolve: Resolve = async (host) => {
  const answers = await lookup(host, { all: true })
  return answers.map(({ address }) => address)
}

async function ask(host: string, resolve: Resolve): Promise<readonly string[]> {
  let cause: unknown
  try {
    const addresses = await resolve(host)
    if (addresses.length > 0) return addresses
  } catch (error) {
    cause = error
  }
  throw new ToolError('UPSTREAM_ERROR', `The name ${host} does not resolve.`, { hint: 'Check the host name.', cause })
}
