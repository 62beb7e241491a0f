import { ToolError } from '../../core/index.ts'
import { escapeLine } from '../../lib/index.ts'
import { isLoopback } from '../listen.ts'
import { type AuthRequest, forbidden, type Refusal } from './auth-request.ts'

const HOST = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9._-]{1,253})(?::\d{1,5})?$/

export interface OriginCheckOptions {
  /** Names, beside those of the loopback, under which the service may be asked: `tools.example.org`, with or without port. */
  readonly allowedHosts?: readonly string[]
  /** Pages of other origins that may use it: `https://app.example.org`. */
  readonly allowedOrigins?: readonly string[]
}

/**
 * Makes the check of whom a request was sent to and which page sent it. A page can point its own name at the loopback
 * (DNS rebinding), but it cannot change that the browser says this name as `Host` and the page as `Origin`.
 */
export function createOriginCheck(options: OriginCheckOptions): (request: AuthRequest) => Refusal | undefined {
  const hosts = new Set((options.allowedHosts ?? []).map(checkHost))
  const origins = new Set((options.allowedOrigins ?? []).map(checkOrigin))
  // The last one that was accepted, as it was written: nearly every request has the same one.
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

/** By name and port only: behind a proxy that speaks TLS, the page is https and what arrives is not. */
function isSameOrigin(origin: string, host: string): boolean {
  const page = readOrigin(origin)
  if (!page) return false
  const own = `${page.protocol}//${host}`
  return URL.canParse(own) && new URL(own).host === page.host
}

/** The URL of a page that is served over HTTP, if this is its origin and nothing more. */
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
