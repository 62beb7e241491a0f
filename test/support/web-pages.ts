import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a page is: HTML, or whatever a function makes of the request. */
export type WebPage = string | ((request: IncomingMessage, response: ServerResponse) => void)

/** A server on loopback that shows pages by their path; others are not found. */
export async function servePages(pages: Readonly<Record<string, WebPage>>) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    const [path = '/'] = (request.url ?? '/').split('?')
    const page = Object.hasOwn(pages, path) ? pages[path]! : undefined
    if (typeof page === 'function') return page(request, response)
    response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' })
    response.end(page ?? 'not found')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** `GET /path`, in the order of arrival. */
    asked,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
