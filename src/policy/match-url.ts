import { compilePolicyGlob, escapeGlob, literalOf, type Matcher } from './glob.ts'
import { ANY_KEY, type BrokenPattern, MAX_KEY_DEPTH, type Pattern, type PolicyTarget, type UrlParts } from './target.ts'

/**
 * Reads a URL pattern: `https://host/path/**`, or a host alone: `api.github.com`, `*.github.com`, `localhost:8080`.
 * A host alone covers every scheme and, unless it names one, every port. `?` begins a query; it is no wildcard here.
 */
export function compileUrlPattern(text: string): Pattern | BrokenPattern {
  const written =
    /^(?:([a-z][a-z0-9+.-]*|\*):\/\/)?(\[[0-9a-f:.]+\]|[^\s/?#@:[\]\\]+)(?::(\d{1,5}))?(\/[^?#]*)?(\?[^#]*)?$/is.exec(
      text,
    )
  if (!written) return { broken: 'it is neither a URL like https://host/path/** nor a host like *.github.com' }
  const [, rawScheme, rawHost = '', port, path, query] = written
  const scheme = rawScheme?.toLowerCase()
  if (scheme === undefined && (path ?? query) !== undefined)
    return { broken: 'a pattern with a path begins with https://' }
  const host = normaliseHost(rawHost)
  if (host === undefined)
    return { broken: `${rawHost} is not a host; a * stands alone or for whole labels in front: *.github.com` }
  const tail = compileTail(path, query)
  if ('broken' in tail) return tail
  const fits: UrlParts = { scheme: scheme ?? '*', host, port: portOf(scheme, port), path: '', query: '' }
  return {
    key: keyOf(host, path),
    matches: ({ url }) =>
      url !== undefined &&
      fitsOrigin(fits, url) &&
      tail.test(url.path.slice(1) + (query === undefined ? '' : url.query)),
  }
}

/** Reads a URL in its normal form. */
export function parseTargetUrl(value: string): PolicyTarget {
  const url = splitUrl(value)
  if (!url) return { kind: 'url', value, keys: [ANY_KEY] }
  const keys = [ANY_KEY, url.host]
  for (let dot = url.host.indexOf('.'); dot !== -1; dot = url.host.indexOf('.', dot + 1))
    keys.push(`*${url.host.slice(dot)}`)
  let end = 0
  for (let depth = 1; depth <= MAX_KEY_DEPTH && end < url.path.length; depth++) {
    const slash = url.path.indexOf('/', end + 1)
    end = slash === -1 ? url.path.length : slash
    keys.push(url.host + url.path.slice(0, end))
  }
  return { kind: 'url', value, keys, url }
}

/** A pattern for exactly this URL, with any query. */
export function urlAsPattern(value: string): string | undefined {
  const url = splitUrl(value)
  return url && `${url.scheme}://${url.host}${url.port && `:${url.port}`}${escapeGlob(url.path)}`
}

function splitUrl(value: string): UrlParts | undefined {
  const parts =
    /^([a-z][a-z0-9+.-]*):\/\/(?:[^/?#]*@)?(\[[0-9a-f:.]*\]|[^/?#:@[\]]*)(?::(\d*))?(\/[^?#]*)?(\?[^#]*)?(?:#.*)?$/is.exec(
      value,
    )
  if (!parts?.[2]) return undefined
  const [, scheme = '', host, port = '', path = '/', query = ''] = parts
  return { scheme, host: host.replace(/\.$/, ''), port, path: decodeUnreserved(path), query }
}

function fitsOrigin(wanted: UrlParts, url: UrlParts): boolean {
  if (wanted.scheme !== '*' && wanted.scheme !== url.scheme) return false
  if (wanted.port !== '*' && wanted.port !== url.port) return false
  if (wanted.host === '*') return true
  return wanted.host.startsWith('*.') ? url.host.endsWith(wanted.host.slice(1)) : wanted.host === url.host
}

/** A URL names its origin, so no port means the scheme's own; a host alone means any. */
function portOf(scheme: string | undefined, port: string | undefined): string {
  if (port === undefined) return scheme === undefined || scheme === '*' ? '*' : ''
  const isOwn = (scheme === 'https' && Number(port) === 443) || (scheme === 'http' && Number(port) === 80)
  return isOwn ? '' : String(Number(port))
}

/** The form that normalised URLs have: lower case, ASCII, no dot at the end. */
function normaliseHost(host: string): string | undefined {
  if (host === '*') return host
  const isWild = host.startsWith('*.')
  const name = isWild ? host.slice(2) : host
  if (/[*?{}!|]/.test(name) || !/[^.]/.test(name) || !URL.canParse(`http://${name}`)) return undefined
  return (isWild ? '*.' : '') + new URL(`http://${name}`).hostname.replace(/\.$/, '')
}

/** Without a path every path; a path that ends in a slash covers all below it. */
function compileTail(path: string | undefined, query: string | undefined): Matcher | BrokenPattern {
  if (path === undefined && query === undefined) return { test: () => true }
  const glob = `${normalisePath(path ?? '/').slice(1)}${path?.endsWith('/') && query === undefined ? '**' : ''}`
  return compilePolicyGlob(
    query === undefined ? glob : `${glob}\\?${normalisePath(query.slice(1)).replaceAll('?', '\\?')}`,
  )
}

function normalisePath(path: string): string {
  return decodeUnreserved(path.replaceAll(/[^\x21-\x7e]+/g, encodeText))
}

/** As WHATWG does, a lone surrogate becomes the replacement character. */
function encodeText(text: string): string {
  return encodeURIComponent(text.replaceAll(/\p{Cs}/gu, '\ufffd'))
}

/** `%61` is `a`: servers read both the same, so rules must too. */
function decodeUnreserved(path: string): string {
  if (!path.includes('%')) return path
  return path.replaceAll(/%(?:2[de]|3\d|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9ae])/gi, decodeURIComponent)
}

/** The host with the plain folders its path begins with. */
function keyOf(host: string, path: string | undefined): string {
  if (host === '*') return ANY_KEY
  if (host.startsWith('*.') || path === undefined) return host
  const segments = normalisePath(path).split('/').slice(1)
  const varies = segments.findIndex((segment) => segment === '' || literalOf(segment) === undefined)
  const leading = (varies === -1 ? segments : segments.slice(0, varies)).slice(0, MAX_KEY_DEPTH)
  return [host, ...leading.map(literalOf)].join('/')
}
