import { ToolError } from '../../core/index.ts'
import { escapeLine } from '../../lib/index.ts'
import { isLoopback } from '../listen.ts'
import { type AuthRequest, forbidden, type Refusal } from './auth-request.ts'

const HOST = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,253})(?::\d{1,5})?$/

export interface OriginCheckOptions {
  /** Host names of the service in addition to those of loopback: `tools.example.org`, with or without port. */
  readonly allowedHosts?: readonly string[]
  /** Other origins whose pages may call the service: `https://app.example.org`. */
  readonly allowedOrigins?: readonly string[]
}

/**
 * Returns a check of the `Host` and `Origin` of a request. A page can point its own name at loopback (DNS rebinding),
 * but the browser still sends that name as `Host` and the page as `Origin`.
 */
export function createOriginCheck(options: OriginCheckOptions): (request: AuthRequest) => Refusal | undefined {
  const hosts = new Set((options.allowedHosts ?? []).map(checkHost))
  const origins = new Set((options.allowedOrigins ?? []).map(checkOrigin))
  // The last host that was accepted: nearly every request has the same one.
  let known: string | undefined
  const isKnownHost = (said: string) => {
    if (said === known) return true
    const host = said.toLowerCase()
    const [, name] = HOST.exec(host) ?? []
    if (name === undefined || !(hosts.has(host) || hosts.has(name) || isLoopback(name))) return false
    known = said
    return true
  }
  return ({ headers }) => {
    const host = headers.get('host') ?? ''
    if (!isKnownHost(host)) {
      return forbidden(
        `The service is not called ${JSON.stringify(escapeLine(host.slice(0, 200)))}.`,
        'Use the address that it printed, or have the owner add the name to allowedHosts.',
      )
    }
    const origin = headers.get('origin')
    if (origin === null || origins.has(origin) || isSameOrigin(origin, host.toLowerCase())) return undefined
    return forbidden(
      `Pages of ${JSON.stringify(escapeLine(origin.slice(0, 200)))} may not use the service.`,
      'Have the owner add the origin to allowedOrigins.',
    )
  }
}

/** Compares host and port only: behind a TLS proxy, the page is https and the request that arrives is not. */
function isSameOrigin(origin: string, host: string): boolean {
  const page = readOrigin(origin)
  if (!page) return false
  const own = `${page.protocol}//${host}`
  return URL.canParse(own) && new URL(own).host === page.host
}

/** Parses an http or https origin; `undefined` if the text has more than an origin. */
function readOrigin(text: string): URL | undefined {
  const page = URL.canParse(text) ? new URL(text) : undefined
  return page?.origin === text && ['http:', 'https:'].includes(page.protocol) ? page : undefined
}

function checkHost(written: string): string {
  const host = written.toLowerCase()
  if (HOST.test(host)) return host
  throw new ToolError('CONFIG_INVALID', `allowedHosts: ${JSON.stringify(written)} is not the name of a host.`, {
    hint: 'Write it as in an address: tools.example.org, tools.example.org:8443, [2001:db8::1].',
  })
}

function checkOrigin(written: string): string {
  if (readOrigin(written)) return written
  throw new ToolError('CONFIG_INVALID', `allowedOrigins: ${JSON.stringify(written)} is not an origin.`, {
    hint: 'Write scheme and host, in small letters and without a path: https://app.example.org',
  })
}
