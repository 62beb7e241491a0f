import { readdir, readFile, stat } from 'node:fs/promises'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { extname, join, relative, sep } from 'node:path'
import { ToolError } from '@tool-hub/core'
import { errnoOf, sha256 } from '@tool-hub/core/lib'
import { PAGE_HEADERS } from './answers.ts'

/** The page without a built console; it has no style, because the content security policy allows none. */
const NOT_BUILT_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>tool-hub</title>
</head>
<body>
<h1>tool-hub is running</h1>
<p>The console is not in this build. In a checkout of tool-hub, <code>npm run build</code> makes it; the published package has it.</p>
<p>Everything else works: agents call at <code>/v1/tools/{name}/call</code> and <code>/mcp</code>, and <a href="/openapi.json">/openapi.json</a> says what else there is.</p>
</body>
</html>
`

/** A file of the console, also compressed. */
export interface ConsoleFile {
  readonly type: string
  readonly bytes: Uint8Array
  readonly brotli?: Uint8Array
  readonly gzip?: Uint8Array
  readonly etag: string
  /** Its name changes with its content. */
  readonly isImmutable: boolean
}

/** The console. */
export interface Console {
  /** Returns the file or page of a request; `undefined` if there is none. */
  answer(request: IncomingMessage): Response | undefined
}

const MAX_FILES = 2_000
const MAX_BYTES = 50_000_000
const TYPES = new Map([
  ['.css', 'text/css; charset=utf-8'],
  ['.html', 'text/html; charset=utf-8'],
  ['.ico', 'image/x-icon'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.json', 'application/json'],
  ['.map', 'application/json'],
  ['.png', 'image/png'],
  ['.svg', 'image/svg+xml'],
  ['.txt', 'text/plain; charset=utf-8'],
  ['.webmanifest', 'application/manifest+json'],
  ['.webp', 'image/webp'],
  ['.woff2', 'font/woff2'],
])
const HASHED = /^\/assets\/.*[-.][A-Za-z0-9_-]{8,}\.\w+$/
/** Paths of pages; the rest may have dots, as in names of tools. */
const PAGE = /^\/(?!(?:v1|mcp|assets)(?:\/|$))[\w-]*(?:\/|$)/

/** Reads the files of the built console once. Only these are served, so no request path becomes a file path. */
export async function loadConsole(folder: string | undefined): Promise<Console> {
  const files = folder === undefined ? new Map<string, Uint8Array>() : await readAll(folder)
  const table = new Map<string, ConsoleFile>()
  for (const [path, bytes] of files) if (!/\.(br|gz)$/.test(path)) table.set(path, toFile(path, bytes, files))
  const index = table.get('/index.html') ?? toFile('/index.html', Buffer.from(NOT_BUILT_PAGE), new Map())
  table.delete('/index.html')
  return {
    answer(request) {
      if (request.method !== 'GET' && request.method !== 'HEAD') return undefined
      const [path = '/'] = request.url!.split(/[?#]/, 1)
      const file = table.get(path) ?? (isPage(path) ? index : undefined)
      return file && answerFile(file, request.headers)
    },
  }
}

/** Whether a path is a page of the console, including `/index.html`. */
function isPage(path: string): boolean {
  return path === '/index.html' || PAGE.test(path)
}

function toFile(path: string, bytes: Uint8Array, files: ReadonlyMap<string, Uint8Array>): ConsoleFile {
  return {
    type: TYPES.get(extname(path)) ?? 'application/octet-stream',
    bytes,
    brotli: files.get(`${path}.br`),
    gzip: files.get(`${path}.gz`),
    etag: `"${sha256(bytes).slice(0, 32)}"`,
    isImmutable: HASHED.test(path),
  }
}

async function readAll(folder: string): Promise<Map<string, Uint8Array>> {
  const found = new Map<string, Uint8Array>()
  let left = MAX_BYTES
  for (const entry of await list(folder)) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    left -= (await stat(path)).size
    if (left < 0 || found.size >= MAX_FILES) {
      throw new ToolError('CONFIG_INVALID', `${folder} is not a console: it has over ${MAX_FILES} files or 50 MB.`)
    }
    found.set(`/${relative(folder, path).split(sep).join('/')}`, await readFile(path))
  }
  return found
}

async function list(folder: string) {
  try {
    return await readdir(folder, { recursive: true, withFileTypes: true })
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw error
  }
}

const A_YEAR = 'public, max-age=31536000, immutable'

/** A file of the console, in the smallest encoding that the browser accepts. */
export function answerFile(file: ConsoleFile, headers: IncomingHttpHeaders): Response {
  const { encoding, bytes } = choose(file, String(headers['accept-encoding'] ?? ''))
  const shared = {
    ...PAGE_HEADERS,
    'cache-control': file.isImmutable ? A_YEAR : 'no-cache',
    etag: file.etag,
    vary: 'accept-encoding',
  }
  if (headers['if-none-match'] === file.etag) return new Response(null, { status: 304, headers: shared })
  return new Response(bytes as Uint8Array<ArrayBuffer>, {
    headers: {
      ...shared,
      'content-type': file.type,
      'content-length': String(bytes.length),
      ...(encoding && { 'content-encoding': encoding }),
    },
  })
}

function choose({ bytes, brotli, gzip }: ConsoleFile, accepted: string): { encoding?: string; bytes: Uint8Array } {
  if (brotli && takes(accepted, 'br')) return { encoding: 'br', bytes: brotli }
  if (gzip && takes(accepted, 'gzip')) return { encoding: 'gzip', bytes: gzip }
  return { bytes }
}

/** `gzip;q=0` excludes an encoding. */
function takes(accepted: string, encoding: string): boolean {
  return accepted.split(',').some((part) => {
    const [name = '', ...parameters] = part.split(';').map((word) => word.trim().toLowerCase())
    return name === encoding && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter))
  })
}
