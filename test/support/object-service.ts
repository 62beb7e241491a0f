import { createHash, createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BucketOptions } from '@tool-hub/core'
import { afterAll } from 'vitest'

const REGION = 'eu-test-1'
const KEY = { accessKeyId: 'AKTEST', secretAccessKey: 'secret/of+the+key' }

/** An S3-like service on loopback that refuses every request whose signature (AWS version 4) or content hash is wrong. */
export interface ObjectService {
  readonly options: BucketOptions
  readonly objects: Map<string, Buffer>
  /** Requests that were answered, such as `PUT /bucket/a`. */
  readonly requests: string[]
  /** Called first; one that answers itself returns true. */
  intercept: (request: IncomingMessage, response: ServerResponse) => boolean
}

/** Starts a service, which ends after the tests of the file. */
export async function serveObjects(): Promise<ObjectService> {
  const objects = new Map<string, Buffer>()
  const requests: string[] = []
  const server = createServer((request, response) => {
    void answer(service, request, response).catch((error) => response.destroy(error))
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  afterAll(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(resolve)
      }),
  )
  const { port } = server.address() as AddressInfo
  const options = { url: `http://127.0.0.1:${port}/bucket/hub`, region: REGION, ...KEY }
  const service: ObjectService = { options, objects, requests, intercept: () => false }
  return service
}

async function answer(service: ObjectService, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { objects, requests } = service
  const path = request.url ?? '/'
  requests.push(`${request.method} ${path}`)
  if (service.intercept(request, response)) return
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks)
  const wrong = whatIsWrong(request, body)
  if (wrong !== undefined) return refuse(response, 403, wrong)
  if (request.method === 'PUT') {
    if (request.headers['content-length'] !== String(body.length)) return refuse(response, 411, 'MissingContentLength')
    objects.set(path, body)
    response.writeHead(200, { etag: '"x"' }).end()
    return
  }
  const object = objects.get(path)
  if (request.method === 'DELETE') {
    objects.delete(path)
    response.writeHead(204).end()
    return
  }
  if (!object) return refuse(response, 404, 'NoSuchKey')
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '')
  if (range) response.writeHead(206).end(object.subarray(Number(range[1]), Number(range[2]) + 1))
  else response.writeHead(200).end(object)
}

function refuse(response: ServerResponse, status: number, code: string): void {
  const text = `<?xml version="1.0"?><Error><Code>${code}</Code></Error>`
  response.writeHead(status, { 'content-type': 'application/xml' }).end(text)
}

/** Returns the code of the error, or `undefined` for a request that is signed as it should be. */
function whatIsWrong(request: IncomingMessage, body: Buffer): string | undefined {
  const { headers, method } = request
  const parts = /^AWS4-HMAC-SHA256 Credential=([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
    headers.authorization ?? '',
  )
  if (!parts) return 'AccessDenied'
  const [, credential, names, signature] = parts
  const [id, day, region, service, end] = credential!.split('/')
  const date = String(headers['x-amz-date'])
  if (id !== KEY.accessKeyId || region !== REGION || service !== 's3' || end !== 'aws4_request')
    return 'InvalidAccessKeyId'
  if (!date.startsWith(day!)) return 'SignatureDoesNotMatch'
  const contentHash = String(headers['x-amz-content-sha256'])
  if (hashOf(body) !== contentHash) return 'XAmzContentSHA256Mismatch'
  const signed = names!.split(';')
  if (!signed.includes('host') || !signed.includes('x-amz-content-sha256')) return 'AccessDenied'
  const canonicalHeaders = signed.map((name) => `${name}:${String(headers[name]).trim()}\n`).join('')
  const canonical = [method, request.url, '', canonicalHeaders, names, contentHash].join('\n')
  const scope = `${day}/${region}/${service}/${end}`
  const text = ['AWS4-HMAC-SHA256', date, scope, hashOf(canonical)].join('\n')
  const key = [day!, region, service, end].reduce<Buffer | string>(sign, `AWS4${KEY.secretAccessKey}`)
  return sign(key, text).toString('hex') === signature ? undefined : 'SignatureDoesNotMatch'
}

function sign(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function hashOf(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('hex')
}
