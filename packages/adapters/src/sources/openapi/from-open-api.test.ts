import type { IncomingMessage } from 'node:http'
import { beforeEach, describe, expect, it } from 'vitest'
import { useHttpHub } from '../../../../../test/support/http-hub.ts'
import type { HubOptions } from '../../../../core/src/options.ts'
import { fromOpenApi, type OpenApiOptions } from './from-open-api.ts'

const PETSTORE = `
openapi: 3.0.3
info: { title: Petstore, version: 1.0.0 }
servers:
  - url: "{scheme}://127.0.0.1:{port}/{version}"
    variables:
      scheme: { default: http, enum: [http, https] }
      port: { default: "80" }
      version: { default: v1 }
paths:
  /pets:
    parameters:
      - $ref: "#/components/parameters/Trace"
    get:
      operationId: listPets
      tags: [pets]
      summary: List all pets
      parameters:
        - { name: limit, in: query, description: How many per page., schema: { type: integer, minimum: 0, exclusiveMinimum: true, maximum: 100, default: 20 } }
        - { name: tags, in: query, schema: { type: array, items: { type: string } } }
        - { name: status, in: query, explode: false, schema: { type: array, items: { type: string, enum: [sold, free] } } }
        - { name: filter, in: query, style: deepObject, explode: true, schema: { type: object, properties: { color: { type: string } } } }
      responses: { "200": { description: ok } }
    post:
      operationId: createPet
      tags: [pets]
      requestBody: { $ref: "#/components/requestBodies/Pet" }
      responses: { "201": { description: created } }
  /pets/{petId}:
    parameters:
      - { name: petId, in: path, required: true, schema: { type: string } }
    get: { operationId: getPet, tags: [pets], responses: {} }
    delete: { operationId: "delete pet!", tags: [pets], responses: {} }
    put:
      operationId: oldPut
      deprecated: true
      responses: {}
  /pets/{petId}/photo:
    post:
      operationId: uploadPhoto
      parameters: [{ name: petId, in: path, required: true, schema: { type: string } }]
      requestBody: { content: { multipart/form-data: { schema: { type: object } } } }
      responses: {}
  /login:
    post:
      tags: [auth]
      security: []
      requestBody:
        content:
          application/x-www-form-urlencoded:
            schema: { type: object, properties: { user: { type: string }, roles: { type: array, items: { type: string } } } }
      responses: {}
components:
  parameters:
    Trace: { name: X-Trace, in: header, schema: { type: string } }
  requestBodies:
    Pet:
      required: true
      content:
        application/json:
          schema: { $ref: "#/components/schemas/Pet" }
  schemas:
    Pet:
      type: object
      required: [id, name]
      properties:
        id: { type: integer, readOnly: true }
        name: { type: string }
        nick: { type: string, nullable: true }
        friends: { type: array, items: { $ref: "#/components/schemas/Pet" } }
`

const http = useHttpHub()
const seen: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[] = []
let answer: { status: number; type?: string; body?: string; headers?: Record<string, string> }

beforeEach(() => {
  seen.length = 0
  answer = { status: 200, type: 'application/json', body: '{"ok":true}' }
  http.local.answer = async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    seen.push({ method: request.method!, url: request.url!, headers: request.headers, body })
    response.writeHead(answer.status, { ...(answer.type && { 'content-type': answer.type }), ...answer.headers })
    response.end(answer.body)
  }
})

const variables = () => ({ server: { variables: { port: String(http.local.port) } } })
const read = (options: OpenApiOptions = {}) => fromOpenApi(PETSTORE, { namespace: 'pets', ...variables(), ...options })
const open = (options: OpenApiOptions = {}, hub: HubOptions = {}) => http.hub({ tools: read(options).tools, ...hub })

describe('fromOpenApi', () => {
  it('makes a tool of each operation, and says which it leaves out and why', () => {
    const { tools, skipped } = read()
    expect(tools.map(({ name, capabilities }) => [name, capabilities.join()])).toEqual([
      ['pets/pets.listPets', 'network'],
      ['pets/pets.createPet', 'network,send'],
      ['pets/pets.getPet', 'network'],
      ['pets/pets.delete_pet', 'network,send'],
      ['pets/auth.post_login', 'network,send'],
    ])
    expect(tools[0]!.description).toBe('List all pets\n\nGET /pets')
    expect(skipped).toEqual([
      { operation: 'PUT /pets/{petId}', reason: expect.stringContaining('deprecated') },
      { operation: 'POST /pets/{petId}/photo', reason: expect.stringContaining('It sends multipart/form-data') },
    ])
    expect(read({ deprecated: true }).tools.map(({ name }) => name)).toContain('pets/oldPut')
  })

  it('shows a model closed arguments in the words of today, defaults told and not filled in', () => {
    const cards = open().cards()
    const parameters = (name: string) => cards.find(({ tool }) => tool === name)!.parameters
    expect(parameters('pets/pets.listPets')).toMatchObject({
      additionalProperties: false,
      properties: {
        'X-Trace': { type: 'string' },
        limit: { type: 'integer', exclusiveMinimum: 0, maximum: 100, description: 'How many per page. Default: 20.' },
        tags: { type: 'array' },
      },
    })
    expect(parameters('pets/pets.createPet')).toMatchObject({
      required: ['body'],
      properties: { body: { $ref: '#/$defs/Pet' } },
      $defs: { Pet: { required: ['name'], properties: { nick: { type: ['string', 'null'] } } } },
    })
    expect(JSON.stringify(parameters('pets/pets.createPet'))).not.toMatch(/readOnly|"id"|nullable/)
  })

  it('sends what the arguments say, and gives status, headers and body', async () => {
    answer.headers = { 'x-total': '7', 'set-cookie': 'sid=1' }
    const result = await open().callDynamic('pets/pets.listPets', {
      'X-Trace': 't-1',
      limit: 5,
      tags: ['a b', 'c&d'],
      status: ['sold', 'free'],
      filter: { color: 'red' },
    })
    expect(result.data).toMatchObject({ status: 200, headers: { 'x-total': '7' }, body: { ok: true } })
    expect(JSON.stringify(result.data)).not.toContain('sid=1')
    expect(result.content).toEqual([{ type: 'text', text: 'HTTP 200\n\n{\n "ok": true\n}' }])
    expect(seen[0]).toMatchObject({
      method: 'GET',
      url: '/v1/pets?limit=5&tags=a%20b&tags=c%26d&status=sold,free&filter%5Bcolor%5D=red',
      headers: { 'x-trace': 't-1' },
    })
    expect(result.meta.labels).toEqual(['untrusted'])
  })

  it('sends JSON and forms', async () => {
    const hub = open()
    const pet = { name: 'Rex', nick: null, friends: [{ name: 'Tom' }] }
    expect((await hub.callDynamic('pets/pets.createPet', { body: pet })).ok).toBe(true)
    expect((await hub.callDynamic('pets/auth.post_login', { body: { user: 'a b', roles: ['x', 'y'] } })).ok).toBe(true)
    expect(seen.map(({ body, headers }) => [headers['content-type'], body])).toEqual([
      ['application/json', JSON.stringify(pet)],
      ['application/x-www-form-urlencoded', 'user=a%20b&roles=x&roles=y'],
    ])
  })

  it('refuses arguments that do not fit, and such that would lead elsewhere, before anything is sent', async () => {
    const hub = open()
    const bad = [
      ['pets/pets.listPets', { limit: 0 }],
      ['pets/pets.listPets', { other: 1 }],
      ['pets/pets.createPet', { body: { nick: 'x' } }],
      ['pets/pets.createPet', { body: { name: 'x', friends: [{ name: 1 }] } }],
      ['pets/pets.getPet', {}],
      ['pets/pets.getPet', { petId: '' }],
      ['pets/pets.getPet', { petId: '..' }],
      ['pets/pets.getPet', { petId: '../admin' }],
      ['pets/pets.getPet', { petId: 'a\\..\\b' }],
      ['pets/pets.getPet', { petId: '.' }],
      ['pets/pets.getPet', { petId: '%2e%2E' }],
    ] as const
    for (const [tool, input] of bad)
      expect((await hub.callDynamic(tool, input)).error?.code, JSON.stringify(input)).toBe('INPUT_SCHEMA_INVALID')
    expect(seen).toEqual([])
    for (const petId of ['a/b?c#d', '...', '%41', 'é'])
      expect((await hub.callDynamic('pets/pets.getPet', { petId })).ok, petId).toBe(true)
    expect(seen.map(({ url }) => url)).toEqual([
      '/v1/pets/a%2Fb%3Fc%23d',
      '/v1/pets/...',
      '/v1/pets/%2541',
      '/v1/pets/%C3%A9',
    ])
  })

  it('puts every URL before policy and the sandbox', async () => {
    const policy = [{ deny: 'network', on: http.url('/v1/pets/secret') }]
    const hub = open({}, { policy })
    expect((await hub.callDynamic('pets/pets.getPet', { petId: 'secret' })).error?.code).toBe('POLICY_DENIED')
    expect((await hub.callDynamic('pets/pets.getPet', { petId: 'known' })).ok).toBe(true)
    const closed = open({}, { sandbox: { network: ['api.example.org'] } })
    const refused = await closed.callDynamic('pets/pets.getPet', { petId: 'a' })
    expect(refused.error?.code).toBe('HTTP_DISALLOWED_HOST')
    const asking = open({}, { policy: [{ ask: 'send' }], approve: () => ({ decision: 'deny' }) })
    expect((await asking.callDynamic('pets/pets.delete_pet', { petId: 'a' })).error?.code).toBe('APPROVAL_DENIED')
    expect(seen).toHaveLength(1)
  })

  it('turns a no of the server into a typed error that has all it said', async () => {
    const hub = open({}, { limits: { httpTimeoutMs: 60_000 } })
    const codes = [
      [400, 'UPSTREAM_ERROR', false],
      [401, 'CONFIG_INVALID', false],
      [404, 'NOT_FOUND', false],
      [409, 'CONFLICT', false],
      [429, 'RATE_LIMITED', true],
      [500, 'UPSTREAM_ERROR', true],
    ] as const
    for (const [status, code, retryable] of codes) {
      answer = { status, type: 'application/problem+json', body: `{"detail":"no \\u001b ${status}"}` }
      const result = await hub.callDynamic('pets/pets.delete_pet', { petId: String(status) })
      expect(result, String(status)).toMatchObject({
        status: 'error',
        error: { code, retryable, message: `DELETE /pets/{petId} answered HTTP ${status}: no \\u{1b} ${status}` },
        data: { status, body: { detail: `no \u001b ${status}` } },
      })
    }
  })

  it('takes answers that are empty, text, broken JSON or no text at all', async () => {
    const hub = open()
    const get = async () => (await hub.callDynamic('pets/pets.delete_pet', { petId: 'a' })).data as { body: unknown }
    answer = { status: 204 }
    expect((await get()).body).toBeNull()
    answer = { status: 200, type: 'text/plain', body: 'hello' }
    expect((await get()).body).toBe('hello')
    answer = { status: 200, type: 'application/json', body: '{"a":' }
    expect((await get()).body).toBe('{"a":')
    answer = { status: 200, type: 'image/png', body: 'PNG' }
    const { body } = (await get()) as { body: { artifact: string } }
    expect(body).toMatchObject({ mediaType: 'image/png', bytes: 3 })
    expect(Buffer.from(await hub.artifact(body.artifact)).toString()).toBe('PNG')
  })

  it('stops when the call is aborted, and when its time is over', async () => {
    const abort = new AbortController()
    http.local.answer = (request) => {
      if (request.url!.endsWith('/stop')) abort.abort()
    }
    const hub = open({ timeoutMs: 100 })
    const stopped = await hub.callDynamic('pets/pets.delete_pet', { petId: 'stop' }, { signal: abort.signal })
    expect(stopped.status).toBe('aborted')
    expect((await hub.callDynamic('pets/pets.delete_pet', { petId: 'a' })).error?.code).toBe('HTTP_TIMEOUT')
  })

  it('refuses an answer over the limit', async () => {
    answer.body = JSON.stringify({ text: 'x'.repeat(5_000) })
    const hub = open({}, { limits: { httpBytes: 2_000 } })
    expect((await hub.callDynamic('pets/pets.getPet', { petId: 'a' })).error?.code).toBe('HTTP_TOO_LARGE')
  })
})

describe('auth of fromOpenApi', () => {
  const secrets = { pets: { value: 's3cr3t-value', hosts: ['127.0.0.1'] } }

  it('sends a secret by its name, to operations that want one, and shows it to nobody', async () => {
    answer.body = '{"echo":"s3cr3t-value"}'
    const bearer = open({ auth: { type: 'bearer', secret: 'pets' } }, { secrets })
    const result = await bearer.callDynamic('pets/pets.getPet', { petId: 'a' })
    await bearer.callDynamic('pets/auth.post_login', { body: {} })
    const header = open({ auth: { type: 'header', name: 'X-Trace', secret: 'pets' } }, { secrets })
    await header.callDynamic('pets/pets.listPets', {})
    const basic = open({ auth: { type: 'basic', secret: 'pets' } }, { secrets })
    await basic.callDynamic('pets/pets.getPet', { petId: 'a' })
    expect(seen.map(({ headers }) => headers.authorization ?? headers['x-trace'])).toEqual([
      'Bearer s3cr3t-value',
      undefined,
      's3cr3t-value',
      'Basic s3cr3t-value',
    ])
    expect(JSON.stringify([result, bearer.cards(), header.cards()])).not.toContain('s3cr3t-value')
    expect(JSON.stringify(header.cards())).not.toContain('X-Trace')
  })

  it('lets no argument name a secret', async () => {
    const hub = open({ auth: { type: 'bearer', secret: 'pets' } }, { secrets })
    const result = await hub.callDynamic('pets/pets.listPets', { 'X-Trace': '${secret:pets}' })
    expect(result.error?.code).toBe('INPUT_SCHEMA_INVALID')
    expect(seen).toEqual([])
  })

  it('refuses a secret in the URL, and names that are none', () => {
    expect(() => read({ auth: { type: 'query', name: 'key', secret: 'pets' } })).toThrow('cannot be sent in the URL')
    expect(() => read({ auth: { type: 'bearer', secret: 'a}b' } })).toThrow('Invalid secret name "a}b"')
    expect(() => read({ auth: { type: 'header', name: 'a b', secret: 'pets' } })).toThrow('Invalid header name "a b"')
    expect(() => read({ auth: { type: 'oauth' } as never })).toThrow()
  })
})
