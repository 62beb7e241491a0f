import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { ToolError } from '../../core/index.ts'
import { canonicalAddress, isOpened, judgeAddress, type Ranges } from './judge-address.ts'

/** Asks for every address of a name. */
export type Resolve = (host: string) => Promise<readonly string[]>

/** The checked addresses of a host, in canonical form. */
export interface HostAddresses {
  /** Addresses of the host that may be connected to. */
  readonly addresses: readonly string[]
  /** Every address lies in a private range that the owner opened. */
  readonly isOpened: boolean
}

const MAX_LITERALS = 256

/** Finds where hosts are; one address that may not be dialled refuses the whole answer. */
export class HostResolver {
  readonly #resolve: Resolve
  readonly #ranges: Ranges
  /** A literal address is checked once; names are resolved on every hop. */
  readonly #literals = new Map<string, HostAddresses>()

  constructor(resolve: Resolve = systemResolve, ranges: Ranges) {
    this.#resolve = resolve
    this.#ranges = ranges
  }

  /** The place of a host that is an address already; undefined for names. */
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

  /** Asks the resolver for a name, once. */
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
      // A name that is not there is not there in a second either; a resolver that is busy may be back.
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
