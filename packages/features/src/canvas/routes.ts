import {
  defineFeatureRoute,
  type FeatureRequest,
  type FeatureRoute,
  type FeatureRoutes,
  FileAnswer,
  type ServedFile,
  ToolError,
} from '@tool-hub/core'
import { sha256 } from '@tool-hub/core/lib'
import { canvasDetail, canvasEntry, canvasList, canvasQuery, contentQuery, viewQuery } from './schema.ts'
import { pagePolicy, readScriptFile, SCRIPT_NAMES } from './write-frame.ts'

const read = new Map<string, Promise<ServedFile | undefined>>()

const SCRIPTS = '/v1/canvas-scripts'

/** The contents of a canvas are artifacts of its run. */
const run = async ({ hub, param }: FeatureRequest) => (await hub.canvas.find(param('id')))?.run

const ROUTES: readonly FeatureRoute[] = [
  defineFeatureRoute({
    method: 'get',
    path: '/v1/canvases',
    client: 'canvases.list',
    summary: 'Canvases that agents show to people',
    allow: ['read'],
    query: canvasQuery,
    answers: [{ description: 'Canvases, newest first', schema: canvasList }],
    async handle({ hub, query: { hidden, ...filter } }) {
      const wanted = { ...filter, ...(hidden !== undefined && { hidden: hidden === 'true' }) }
      const canvases = await hub.canvas.list(wanted)
      const next = canvases.length === filter.limit ? canvases.at(-1)!.createdAt : undefined
      return { canvases, next }
    },
  }),
  defineFeatureRoute({
    method: 'get',
    path: '/v1/canvases/{id}',
    client: { name: 'canvases.get', note: 'Rejects with `NOT_FOUND` if there is none.' },
    summary: 'One canvas with its versions',
    allow: ['read'],
    answers: [{ description: 'The canvas', schema: canvasDetail }],
    async handle({ hub, param }) {
      const canvas = await hub.canvas.find(param('id'))
      if (!canvas) throw new ToolError('NOT_FOUND', 'Canvas not found.')
      return canvas
    },
  }),
  defineFeatureRoute({
    method: 'get',
    path: '/v1/canvases/{id}/view',
    summary: 'A page that shows the canvas in a frame without network',
    allow: ['read'],
    query: viewQuery,
    answers: [{ description: 'The page', mediaType: 'text/html' }],
    run,
    async handle({ hub, param, query, host }) {
      const place = scriptsOf(host)
      const shown = { ...query, ...(place !== undefined && { scripts: place }) }
      const page = await hub.canvas.document(param('id'), shown)
      return new Response(page, { headers: viewHeaders(place) })
    },
  }),
  defineFeatureRoute({
    method: 'get',
    path: '/v1/canvases/{id}/content',
    summary: 'The content as the agent gave it',
    allow: ['read'],
    query: contentQuery,
    answers: [{ description: 'The content', mediaType: 'text/plain' }],
    run,
    async handle({ hub, param, query: { version } }) {
      const { text } = await hub.canvas.content(param('id'), version)
      const headers = {
        'content-type': 'text/plain; charset=utf-8',
        'content-security-policy': "default-src 'none'; sandbox",
      }
      return new Response(text, { headers })
    },
  }),
  defineFeatureRoute({
    method: 'post',
    path: '/v1/canvases/{id}/hide',
    client: 'canvases.hide',
    summary: 'Hides a canvas; its versions stay stored',
    allow: ['approve', 'admin'],
    answers: [{ description: 'The canvas is hidden', status: 204 }],
    async handle({ hub, caller, param }) {
      await hub.canvas.hide(param('id'), { by: caller.name })
    },
  }),
  defineFeatureRoute({
    method: 'get',
    path: `${SCRIPTS}/{name}`,
    summary: 'The scripts that draw canvases; public',
    allow: ['read'],
    // The frames that load them have an opaque origin, which some browsers send: it must not be refused.
    isOpen: true,
    answers: [{ description: 'The script', mediaType: 'text/javascript' }],
    handle: ({ param }) => answerScript(param('name')),
  }),
]

/** The HTTP routes of canvases. */
export const canvasRoutes: FeatureRoutes = {
  resources: { canvases: 'Canvases that agents show to people.' },
  schemas: { Canvas: canvasEntry, CanvasDetail: canvasDetail },
  routes: ROUTES,
}

/** Where the page loads the scripts from. A content security policy cannot name an IPv6 address: they are inlined then. */
function scriptsOf(host: string | undefined): string | undefined {
  return host === undefined || host.startsWith('[') ? undefined : `${host}${SCRIPTS}`
}

/**
 * The headers of every page with a canvas. It has an opaque origin, so no cookies and no storage, and loads nothing but
 * the drawing scripts, wherever it is opened. Only the console may embed it in a frame.
 */
function viewHeaders(place: string | undefined): Record<string, string> {
  const scripts = place === undefined ? [] : SCRIPT_NAMES.map((name) => `${place}/${name}`)
  return {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': `sandbox allow-scripts; ${pagePolicy(scripts)}; frame-ancestors 'self'`,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'x-dns-prefetch-control': 'off',
    'permissions-policy':
      'camera=(), clipboard-read=(), clipboard-write=(), display-capture=(), geolocation=(), microphone=()',
    'cache-control': 'no-store',
  }
}

/** A script that draws canvases. Frames with an opaque origin load it, so it is served to every origin; it contains no secrets. */
async function answerScript(name: string): Promise<FileAnswer> {
  const file = SCRIPT_NAMES.includes(name) ? await open(name) : undefined
  if (!file) {
    throw new ToolError('NOT_FOUND', 'Script not found.', {
      hint: 'In a checkout of tool-hub, build them with npm run build.',
    })
  }
  return new FileAnswer(file, { 'cross-origin-resource-policy': 'cross-origin' })
}

/** Each script is read once, because it is large and public. */
function open(name: string): Promise<ServedFile | undefined> {
  const known = read.get(name)
  if (known) return known
  const reading = readAll(name)
  read.set(name, reading)
  reading.then(
    (file) => file ?? read.delete(name),
    () => read.delete(name),
  )
  return reading
}

async function readAll(name: string): Promise<ServedFile | undefined> {
  const script = await readScriptFile(name)
  if (!script) return undefined
  const etag = `"${sha256(script.bytes).slice(0, 32)}"`
  return { type: 'text/javascript; charset=utf-8', ...script, etag, isImmutable: false }
}
