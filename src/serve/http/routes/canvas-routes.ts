import type { IncomingMessage } from 'node:http'
import { canvasDetail, canvasList, canvasQuery, contentQuery, viewQuery } from '../../api/canvases.ts'
import { answerJson } from '../answer/answer-json.ts'
import { answerNothing } from '../answer/answer-nothing.ts'
import { HttpRefusal } from '../answer/http-refusal.ts'
import { API_HEADERS } from '../answer/security-headers.ts'
import { answerScript } from '../canvas/answer-script.ts'
import { viewHeaders } from '../canvas/view-headers.ts'
import { defineOpenRoute, defineRoute, type Route } from '../route.ts'

const SCRIPTS = '/v1/canvas-scripts'

/** What agents show to people. */
export const CANVAS_ROUTES: readonly Route[] = [
  defineRoute({
    method: 'get',
    path: '/v1/canvases',
    summary: 'What agents show to people',
    admits: ['read'],
    query: canvasQuery,
    answers: [{ description: 'Canvases, newest first', schema: canvasList }],
    async handle({ door, query: { hidden, ...filter } }) {
      const wanted = { ...filter, ...(hidden !== undefined && { hidden: hidden === 'true' }) }
      const canvases = await door.service.hub.canvas.list(wanted)
      const next = canvases.length === filter.limit ? canvases.at(-1)!.createdAt : undefined
      return answerJson({ canvases, next })
    },
  }),
  defineRoute({
    method: 'get',
    path: '/v1/canvases/{id}',
    summary: 'One canvas with its versions',
    admits: ['read'],
    answers: [{ description: 'The canvas', schema: canvasDetail }],
    async handle({ door, params }) {
      const canvas = await door.service.hub.canvas.find(params.get('id')!)
      if (!canvas) throw new HttpRefusal(404, 'NOT_FOUND', 'There is no such canvas.')
      return answerJson(canvas)
    },
  }),
  defineRoute({
    method: 'get',
    path: '/v1/canvases/{id}/view',
    summary: 'A page that shows the canvas in a frame without network',
    admits: ['read'],
    query: viewQuery,
    answers: [{ description: 'The page', mediaType: 'text/html' }],
    async handle({ door, params, query, request }) {
      const place = scriptsOf(request)
      const shown = { ...query, ...(place !== undefined && { scripts: place }) }
      const page = await door.service.hub.canvas.document(params.get('id')!, shown)
      return new Response(page, { headers: viewHeaders(place) })
    },
  }),
  defineRoute({
    method: 'get',
    path: '/v1/canvases/{id}/content',
    summary: 'What the agent gave, as it is',
    admits: ['read'],
    query: contentQuery,
    answers: [{ description: 'The content', mediaType: 'text/plain' }],
    async handle({ door, params, query: { version } }) {
      const { text } = await door.service.hub.canvas.content(params.get('id')!, version)
      const headers = { ...API_HEADERS, 'content-type': 'text/plain; charset=utf-8' }
      return new Response(text, { headers: { ...headers, 'content-security-policy': "default-src 'none'; sandbox" } })
    },
  }),
  defineRoute({
    method: 'post',
    path: '/v1/canvases/{id}/hide',
    summary: 'Takes a canvas out of sight; it stays on record',
    admits: ['approve', 'admin'],
    answers: [{ description: 'It is hidden', status: 204 }],
    async handle({ door, visitor, params }) {
      await door.service.hub.canvas.hide(params.get('id')!, { by: visitor.name })
      return answerNothing()
    },
  }),
  defineOpenRoute({
    method: 'get',
    path: `${SCRIPTS}/{name}`,
    summary: 'The scripts that draw canvases; the same for everybody',
    // The frames that load them have no origin, and some browsers say so: nobody else may be refused for that.
    isForProbes: true,
    answers: [{ description: 'The script', mediaType: 'text/javascript' }],
    handle: ({ params, request }) => answerScript(params.get('name')!, request.headers),
  }),
]

/** Where the page finds our scripts. No policy can name an address of IPv6: there they are in the page. */
function scriptsOf({ headers: { host } }: IncomingMessage): string | undefined {
  return host === undefined || host.startsWith('[') ? undefined : `${host}${SCRIPTS}`
}
