import picomatch from 'picomatch'
import { LinearMatcher } from './linear-matcher.ts'
import { compileCommandPattern } from './match-command.ts'
import {
  ANY_KEY,
  type BrokenPattern,
  MAX_KEY_DEPTH,
  type Pattern,
  type PatternPlace,
  type PlainKind,
  type PolicyTarget,
  type TargetKind,
  type UrlParts,
} from './target.ts'

const FEW_KEYS = 32
const MAX_GLOB_LENGTH = 16_384

const OPTIONS = {
  dot: true,
  noextglob: true,
  nonegate: true,
  strictBrackets: true,
  windows: false,
} as const

/** Reads what a call will touch. */
export function readTarget(kind: PlainKind, value: string): PolicyTarget {
  switch (kind) {
    case 'path':
      return readPath(value)
    case 'url':
      return parseTargetUrl(value)
    default:
      return { kind: 'text', value, keys: [...new Set([ANY_KEY, value, firstSegment(value)])] }
  }
}

/** Compiles a pattern of `on` or `except` for one kind of target. */
export function compilePattern(kind: TargetKind, text: string, place: PatternPlace): Pattern | BrokenPattern {
  switch (kind) {
    case 'path':
      return compilePathPattern(text, place)
    case 'url':
      return compileUrlPattern(text)
    case 'command':
      return compileCommandPattern(text, place.isGrant)
    default:
      return compileTextPattern(text)
  }
}

/** A pattern that matches exactly this target; `undefined` if there is none. */
export function targetAsPattern(kind: PlainKind, value: string): string | undefined {
  if (kind === 'url') return urlAsPattern(value)
  return value === '' ? undefined : escapeGlob(value)
}

function compileTextPattern(text: string): Pattern | BrokenPattern {
  if (text === '') return { broken: 'a pattern needs a text' }
  const literal = literalOf(text)
  if (literal !== undefined) return { key: literal, matches: ({ value }) => value === literal }
  const expression = compilePolicyGlob(text)
  if ('broken' in expression) return expression
  return { key: textKey(text), matches: ({ value }) => value === text || expression.test(value) }
}

/** A glob whose first segment is plain matches only below it; one that begins in any other way may match anything. */
function textKey(glob: string): string {
  const segment = firstSegment(glob)
  const isPlain = segment !== glob && segment !== '' && segment !== '.' && !segment.includes('\\')
  return isPlain && literalOf(segment) !== undefined ? segment : ANY_KEY
}

function firstSegment(text: string): string {
  const slash = text.indexOf('/')
  return slash === -1 ? text : text.slice(0, slash)
}

/**
 * Reads a path pattern: `./x/**` and `x/**` from the rule's base, `~/x` from home, `/x` absolute, a leading `**` anywhere.
 * A pattern whose last part is a plain name covers the folder of that name and all below it.
 */
export function compilePathPattern(text: string, place: PatternPlace): Pattern | BrokenPattern {
  if (text === '' || text.includes('\0')) return { broken: 'a path pattern needs a text without NUL' }
  const segments = toSegments(text, place)
  if ('broken' in segments) return segments
  const last = segments.at(-1)
  const isFolder = last === undefined || literalOf(last) !== undefined
  const glob = [...segments, ...(isFolder ? ['**'] : [])].join('/')
  const expression = compilePolicyGlob(glob)
  if ('broken' in expression) return expression
  return {
    key: pathKey(segments),
    glob: `/${glob}`,
    // picomatch reads a leading `**/` as optional only without the slash of the root before it.
    matches: (target) => expression.test(target.value.slice(1)),
    isTree: isTree(last === '**' ? segments.slice(0, -1) : segments),
    nameEnds: nameEnds(segments),
  }
}

/** Whether all folders are plain, and part of the key. */
function isTree(folders: readonly string[]): boolean {
  return folders.length <= MAX_KEY_DEPTH && folders.every((folder) => literalOf(folder) !== undefined)
}

function nameEnds(segments: readonly string[]): Pattern['nameEnds'] {
  // A brace or bracket may span slashes, and so may two stars.
  if (segments.some((segment) => /[[{]|\*\*./.test(segment))) return undefined
  const [, start = '', end = ''] = /^([^*?\\]*)[*?](?:[^\\]*[*?])?([^*?\\]*)$/.exec(segments.at(-1) ?? '') ?? []
  return start + end === '' ? undefined : [start, end]
}

/** Reads an absolute real path. */
export function readPath(path: string): PolicyTarget {
  const value = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
  const keys = [ANY_KEY]
  let start = 1
  for (let depth = 1; start <= value.length; depth++) {
    const slash = value.indexOf('/', start)
    const end = slash === -1 ? value.length : slash
    if (depth <= MAX_KEY_DEPTH) keys.push(value.slice(0, end))
    keys.push(value.slice(start, end))
    start = end + 1
  }
  const dot = value.lastIndexOf('.')
  if (dot !== -1) keys.push(`*${value.slice(dot)}`)
  // A key that comes again has its patterns compared again: cheaper than a set for most paths, not for a hostile one.
  return { kind: 'path', value, keys: keys.length > FEW_KEYS ? [...new Set(keys)] : keys }
}

function toSegments(text: string, { base, home }: PatternPlace): string[] | BrokenPattern {
  if (!text.startsWith('~')) return joinSegments(/^(?:\/|\*\*(?:\/|$))/.test(text) ? '' : base, text)
  if (text !== '~' && !text.startsWith('~/')) return { broken: '~user is not supported, write the folder' }
  if (home === undefined) return { broken: '~ cannot be resolved, the home folder is not known here' }
  return joinSegments(home, text.slice(1))
}

function joinSegments(folder: string, glob: string): string[] | BrokenPattern {
  const segments = folder.split('/').filter(Boolean).map(escapeGlob)
  for (const segment of glob.split('/')) {
    if (segment === '' || segment === '.') continue
    if (segment !== '..') {
      segments.push(segment)
      continue
    }
    const left = segments.pop()
    if (left === undefined || literalOf(left) === undefined)
      return { broken: '.. leaves a part that is not a plain folder' }
  }
  return segments
}

/** The literal folders it begins with; else a plain name it contains; else the ending of the file. */
function pathKey(segments: readonly string[]): string {
  const varies = segments.findIndex((segment) => literalOf(segment) === undefined)
  const leading = (varies === -1 ? segments : segments.slice(0, varies)).slice(0, MAX_KEY_DEPTH)
  if (leading.length > 0) return `/${leading.map(literalOf).join('/')}`
  // A brace or bracket may span slashes, then what looks like a plain part is only one choice of several.
  if (segments.some((segment) => /[[{]/.test(segment))) return ANY_KEY
  const name = segments.find((segment) => literalOf(segment) !== undefined)
  if (name !== undefined) return literalOf(name) ?? ANY_KEY
  const ending = /^\*(?:\.[^*?\\.]+)*(\.[^*?\\.]+)$/.exec(segments.at(-1) ?? '')
  return ending ? `*${ending[1]}` : ANY_KEY
}

/**
 * Reads a URL pattern: `https://host/path/**`, or a host alone: `api.github.com`, `*.github.com`, `localhost:8080`.
 * A host alone covers every scheme and, unless it names one, every port. `?` begins a query; it is not a wildcard here.
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
    key: urlKey(host, path),
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
function compileTail(path: string | undefined, query: string | undefined): Pick<LinearMatcher, 'test'> | BrokenPattern {
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
function urlKey(host: string, path: string | undefined): string {
  if (host === '*') return ANY_KEY
  if (host.startsWith('*.') || path === undefined) return host
  const segments = normalisePath(path).split('/').slice(1)
  const varies = segments.findIndex((segment) => segment === '' || literalOf(segment) === undefined)
  const leading = (varies === -1 ? segments : segments.slice(0, varies)).slice(0, MAX_KEY_DEPTH)
  return [host, ...leading.map(literalOf)].join('/')
}

/** A glob of `*`, `**`, `?`, `[a-z]`, `[!a]`, `{a,b}` and `\`; all else is literal. Matching takes linear time. */
export function compilePolicyGlob(glob: string): Pick<LinearMatcher, 'test'> | BrokenPattern {
  if (glob.length > MAX_GLOB_LENGTH)
    return { broken: `it has ${glob.length} characters, the limit is ${MAX_GLOB_LENGTH}` }
  try {
    return isPlainGlob(glob) ? compileLater(glob) : compileGlob(glob)
  } catch (error) {
    return { broken: error instanceof Error ? error.message : 'it is not a glob' }
  }
}

function compileGlob(glob: string): LinearMatcher {
  return new LinearMatcher(`^(?:${globSource(glob)})$`)
}

/** Most patterns are never compared with anything: compiling those of the default policy takes 15 ms of a first call. */
function compileLater(glob: string): Pick<LinearMatcher, 'test'> {
  let matcher: LinearMatcher | undefined
  return {
    test(text) {
      matcher ??= compileGlob(glob)
      return matcher.test(text)
    },
  }
}

/** Whether a glob certainly compiles: names, `*` in them, and `**` alone between slashes. */
function isPlainGlob(glob: string): boolean {
  return glob !== '' && !/[^\w.@~ /*-]|[^/]\*\*|\*\*[^/]|(?:^|\/)\.{1,2}(?:\/|$)/.test(glob)
}

/** The regular expression that a glob means, for the flag `s`: a line break in a name must not hide it from `**`. */
function globSource(glob: string): string {
  // The third argument asks for the source, which the types leave out. A RegExp of it could backtrack for ages.
  const source: unknown = picomatch.makeRe(escapeOtherSyntax(glob), OPTIONS, true)
  if (typeof source !== 'string') throw new TypeError('it has no regular expression')
  return source
}

/** Makes a text match only itself as a glob. */
export function escapeGlob(text: string): string {
  return text.replaceAll(/[\\*?[\]{}]/g, '\\$&')
}

/** The text that a glob stands for when nothing in it varies. */
export function literalOf(glob: string): string | undefined {
  if (/[*?[\]{}]/.test(glob.replaceAll(/\\./gs, ''))) return undefined
  return glob.replaceAll(/\\(.)/gs, '$1')
}

/** Extended globs, groups and quotes of picomatch are ordinary characters of file names here, and so is a `\d`. */
function escapeOtherSyntax(glob: string): string {
  return glob.replaceAll(/\\.|\[!|\[\^?\]?[^\]]*\]|[()|!+@^$"]/gs, (part) => {
    if (part === '[!') return '[^'
    return part.length > 1 ? part.replaceAll(/\\([A-Za-z0-9])/g, '$1') : `\\${part}`
  })
}
