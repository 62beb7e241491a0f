import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a fake API answers: JSON with a status, or events that are streamed. */
export type FakeAnswer =
  | { readonly status?: number; readonly json: unknown }
  | { readonly events: ReadonlyArray<{ readonly event?: string; readonly data: unknown }> }

/** A server on loopback that reads JSON and answers with what the test chooses. */
export interface JsonServer {
  readonly url: string
  close(): Promise<void>
}

/** Starts one; every request is given as its path and its parsed body. */
export async function startJsonServer(answer: (path: string, body: never) => FakeAnswer): Promise<JsonServer> {
  const server = createServer(async (request, response) => {
    try {
      send(response, answer(request.url!, await readJson(request)))
    } catch (error) {
      send(response, { status: 500, json: { error: { message: String(error) } } })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function readJson(request: IncomingMessage): Promise<never> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as never
}

function send(response: ServerResponse, answer: FakeAnswer): void {
  if ('json' in answer) {
    response.writeHead(answer.status ?? 200, { 'content-type': 'application/json' }).end(JSON.stringify(answer.json))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const { event, data } of answer.events) {
    const text = typeof data === 'string' ? data : JSON.stringify(data)
    response.write(`${event ? `event: ${event}\n` : ''}data: ${text}\n\n`)
  }
  response.end()
}
