import { describe, expect, it } from 'vitest'
import { useHttpHub } from '../../../../../test/support/http-hub.ts'
import { fromOpenApi, type OpenApiOptions } from './from-open-api.ts'

/** An issue tracker, in 3.1. */
const TRACKER = {
  openapi: '3.1.0',
  info: { title: 'Tracker', version: '2' },
  servers: [{ url: 'https://tracker.example.org/api/' }],
  paths: {
    '/repos/{owner}/{repo}/issues': {
      parameters: [
        { name: 'owner', in: 'path', required: true, schema: { type: 'string', pattern: '^[a-z]+$' } },
        { name: 'repo', in: 'path', required: true, schema: { type: 'string', pattern: '^(?!-)' } },
      ],
      get: {
        operationId: 'issues/list',
        tags: ['issues'],
        parameters: [
          { name: 'state', in: 'query', schema: { type: ['string', 'null'], enum: ['open', 'closed', null] } },
          { name: 'repo', in: 'query', schema: { const: 'x' } },
          { name: 'body', in: 'query', schema: true },
          { name: 'ids[]', in: 'query', style: 'pipeDelimited', explode: false, schema: { type: 'array' } },
          { name: 'at', in: 'query', content: { 'application/json': { schema: { type: 'object' } } } },
          { name: 'sid', in: 'cookie', schema: { type: 'string' } },
          { name: 'Host', in: 'header', schema: { type: 'string' } },
        ],
      },
      post: {
        operationId: 'issues/create',
        tags: ['issues'],
        requestBody: {
          description: 'The issue.',
          content: {
            'application/vnd.tracker+json': {
              schema: {
                $ref: '#/components/schemas/Issue',
                description: 'beside',
                unevaluatedProperties: false,
              },
            },
          },
        },
      },
    },
    '/notes': {
      put: { operationId: 'notes', requestBody: { content: { 'text/plain': {} } } },
      options: { operationId: 'notes' },
    },
  },
  components: {
    schemas: {
      Issue: {
        type: 'object',
        properties: { title: { type: 'string', minLength: 1 }, parent: { $ref: '#/components/schemas/Parent' } },
        required: ['title'],
      },
      Parent: { $ref: '#/components/schemas/Issue' },
    },
  },
}

const http = useHttpHub()

/** A document with one operation. */
const withOperation = (operation: object, others: object = {}, path = '/x') => ({
  openapi: '3.1.0',
  servers: [{ url: 'https://api.example.org' }],
  paths: { [path]: { get: { operationId: 'x', ...operation } } },
  ...others,
})
const reasonOf = (document: object, options?: OpenApiOptions) => fromOpenApi(document, options).skipped[0]?.reason
const schemaOf = (schema: object, others: object = {}) => {
  const parameters = [{ name: 'p', in: 'query', schema }]
  return fromOpenApi(withOperation({ parameters }, others)).tools[0]!.input as {
    properties: { p: object }
    $defs?: object
  }
}

describe('a document of OpenAPI 3.1', () => {
  it('becomes tools with names that are valid and its own', () => {
    const { tools, skipped } = fromOpenApi(TRACKER, { namespace: 'tracker' })
    expect(skipped).toEqual([])
    expect(tools.map(({ name, capabilities }) => [name, capabilities.length])).toEqual([
      ['tracker/issues.issues_list', 1],
      ['tracker/issues.issues_create', 2],
      ['tracker/notes', 1],
      [expect.stringMatching(/^tracker\/notes-[0-9a-f]{6}$/), 2],
    ])
    const long = withOperation({ operationId: 'x'.repeat(100), tags: ['Ä b'] })
    expect(fromOpenApi(long).tools[0]!.name).toMatch(/^api\/b\.x{51}-[0-9a-f]{6}$/)
  })

  it('gives arguments of one name in two places two names, and writes each where it belongs', async () => {
    const seen: unknown[] = []
    http.local.answer = async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      seen.push([request.url, request.headers.cookie, request.headers['content-type'], body])
      response.writeHead(204).end()
    }
    const { tools } = fromOpenApi(TRACKER, { namespace: 't', server: http.url('/base/') })
    const hub = http.hub({ tools })
    const place = { owner: 'ada', repo: 'hub' }
    const list = await hub.callDynamic('t/issues.issues_list', {
      ...place,
      state: null,
      query_repo: 'x',
      query_body: 1,
      ids_: [1, 2],
      at: { line: 1 },
      sid: 'a;b',
    })
    expect(list.ok).toBe(true)
    const issue = { title: 'a', parent: { title: 'b' } }
    expect((await hub.callDynamic('t/issues.issues_create', { ...place, body: issue })).ok).toBe(true)
    const wrong = { title: 'a', parent: { title: '' } }
    expect((await hub.callDynamic('t/issues.issues_create', { ...place, body: wrong })).ok).toBe(false)
    expect((await hub.callDynamic('t/issues.issues_list', { owner: 'A1', repo: 'x' })).ok).toBe(false)
    const notes = tools.find(({ title }) => title === 'PUT /notes')!
    expect((await hub.callDynamic(notes.name, { body: 'some text' })).ok).toBe(true)
    expect(seen).toEqual([
      ['/base/repos/ada/hub/issues?repo=x&body=1&ids%5B%5D=1%7C2&at=%7B%22line%22%3A1%7D', 'sid=a%3Bb', undefined, ''],
      ['/base/repos/ada/hub/issues', undefined, 'application/vnd.tracker+json', JSON.stringify(issue)],
      ['/base/notes', undefined, 'text/plain', 'some text'],
    ])
  })

  it('is chosen from by id, tag, method and path', () => {
    const names = (...operations: string[]) =>
      fromOpenApi(TRACKER, { operations }).tools.map(({ title }) => title!.replace('/repos/{owner}/{repo}', ''))
    expect(names('issues/*')).toEqual(['GET /issues', 'POST /issues'])
    expect(names('tag:iss*')).toEqual(['GET /issues', 'POST /issues'])
    expect(names('get *', 'PUT /notes')).toEqual(['GET /issues', 'PUT /notes'])
    expect(names('!tag:issues')).toEqual(['OPTIONS /notes', 'PUT /notes'])
    expect(names('* /notes', '!options *')).toEqual(['PUT /notes'])
    expect(names()).toEqual([])
    expect(fromOpenApi(TRACKER, { operations: ['issues/lsit'] })).toEqual({
      tools: [],
      skipped: [{ operation: 'issues/lsit', reason: 'No operation fits this entry.' }],
    })
  })
})

describe('a document that is not as it should be', () => {
  it('is refused as a whole when it is not OpenAPI 3', () => {
    for (const document of ['{', '- a', '{}', 'swagger: "2.0"', 'openapi: 2.0.0', 'a: [', { openapi: '4.0' }])
      expect(() => fromOpenApi(document), String(document)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
    expect(() => fromOpenApi('x'.repeat(10_485_761))).toThrow('the limit is 10485760')
    const bomb = `openapi: 3.1.0\na: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]`
    expect(() => fromOpenApi(bomb)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
    expect(() => fromOpenApi(TRACKER, { namespace: 'core/fs' })).toThrow('Invalid tool namespace "core/fs"')
    expect(fromOpenApi({ openapi: '3.1.0' })).toEqual({ tools: [], skipped: [] })
  })

  it('loses only the operations that are broken', () => {
    const good = { get: { operationId: 'good' } }
    const servers = [{ url: 'https://api.example.org' }]
    const paths = { '/a': { $ref: 'https://evil.example.org/a.json' }, '/b': good, '/c': 1, '/d': { get: 2 } }
    const { tools, skipped } = fromOpenApi({ openapi: '3.0.0', servers, paths })
    expect(tools.map(({ name }) => name)).toEqual(['api/good'])
    expect(skipped).toEqual([{ operation: '* /a', reason: expect.stringContaining('nothing is fetched') }])
  })

  it('says of each operation what is wrong', () => {
    const query = (schema: object, others = {}) =>
      withOperation({ parameters: [{ name: 'p', in: 'query', schema }] }, others)
    expect(reasonOf(query({ $ref: 'other.yaml#/X' }))).toContain('is not inside the document')
    expect(reasonOf(query({ $ref: '#/components/schemas/None' }))).toContain('is not in the document')
    const circle = { components: { schemas: { A: { $ref: '#/components/schemas/A' } } } }
    expect(reasonOf(query({ $ref: '#/components/schemas/A' }, circle))).toContain('leads in a circle')
    let deep: object = { type: 'string' }
    for (let level = 0; level < 50; level++) deep = { type: 'array', items: deep }
    expect(reasonOf(query(deep))).toContain('nested deeper than 40')
    const many = Object.fromEntries(Array.from({ length: 10_001 }, (_, index) => [`p${index}`, {}]))
    expect(reasonOf(query({ type: 'object', properties: many }))).toContain('more than 10000 parts')
    expect(reasonOf(withOperation({ parameters: [{ name: 'p' }] }))).toContain('no name, or no place')
    const host = { name: 'Host', in: 'header', required: true }
    expect(reasonOf(withOperation({ parameters: [host] }))).toContain('set by the network guard')
    expect(reasonOf(withOperation({ parameters: [{ name: 'p', in: 'path', style: 'form' }] }))).toContain('style form')
    expect(reasonOf(withOperation({}, {}, '/{id}'))).toContain('parameter id, which is not described')
    expect(reasonOf(withOperation({}, {}, '/a?b=c'))).toContain('Its path is none')
    expect(reasonOf(withOperation({ requestBody: { content: { 'application/json': {} } } }))).toContain('with a body')
    const xml = { paths: { '/x': { post: { requestBody: { content: { 'application/xml': {} } } } } } }
    expect(reasonOf(withOperation({}, xml))).toContain('It sends application/xml')
    const trace = { paths: { '/x': { trace: {} } } }
    expect(reasonOf(withOperation({}, trace))).toContain('no TRACE')
  })

  it('says when it is not known where the API is', () => {
    const at = (url: string, variables = {}) => reasonOf(withOperation({}, { servers: [{ url, variables }] }))
    expect(at('/v1')).toContain('is not an absolute URL')
    expect(at('ftp://a.example.org')).toContain('is not an absolute URL')
    expect(at('https://u:p@a.example.org')).toContain('more than a host and a path')
    expect(at('https://a.example.org/?x=1')).toContain('more than a host and a path')
    expect(at('https://{region}.example.org')).toContain('variable region, which has no value')
    expect(at('https://{r}.example.org', { r: { default: 'c', enum: ['a', 'b'] } })).toContain('one of a, b')
    expect(reasonOf(withOperation({}, { servers: [] }))).toContain('names no server')
    expect(fromOpenApi(withOperation({}, { servers: [] }), { server: 'https://a.example.org' }).tools).toHaveLength(1)
  })

  it('puts what 3.0 says in words of its own into those of today', () => {
    const of30 = (schema: object) =>
      schemaOf(schema, { openapi: '3.0.3', components: { schemas: { A: {} } } }).properties.p
    expect(of30({ type: 'string', enum: ['a'], nullable: true })).toEqual({
      type: ['string', 'null'],
      enum: ['a', null],
    })
    expect(of30({ allOf: [{ $ref: '#/components/schemas/A' }], nullable: true, description: 'd' })).toEqual({
      description: 'd',
      anyOf: [{ allOf: [{ $ref: '#/$defs/A' }] }, { type: 'null' }],
    })
    expect(of30({ minimum: 1, exclusiveMinimum: false, maximum: 9, exclusiveMaximum: true })).toEqual({
      minimum: 1,
      exclusiveMaximum: 9,
    })
    expect(of30({ exclusiveMaximum: 5 })).toEqual({ exclusiveMaximum: 5 })
    expect(of30({ $ref: '#/components/schemas/A', maxLength: 1 })).toEqual({ $ref: '#/$defs/A' })
  })

  it('keeps of a schema what can be checked, and drops what cannot', () => {
    expect(
      schemaOf({
        type: 'date',
        maxLength: '10',
        enum: [],
        pattern: '(?=x)',
        minimum: 1,
        format: 'int64',
        'x-own': 1,
        discriminator: { propertyName: 'a' },
        example: 'e',
        description: `hidden\u200b${'x'.repeat(600)}`,
      }).properties.p,
    ).toEqual({ minimum: 1, format: 'int64', description: expect.stringMatching(/^hidden\\u\{200b\}x+…$/) })
    const components = { schemas: { 'a b': { type: 'string' }, a_b: { type: 'number' }, constructor: {} } }
    const both = { anyOf: ['a b', 'a_b', 'constructor'].map((name) => ({ $ref: `#/components/schemas/${name}` })) }
    expect(schemaOf(both, { components })).toMatchObject({
      properties: {
        p: { anyOf: [{ $ref: '#/$defs/a_b' }, { $ref: '#/$defs/a_b_2' }, { $ref: '#/$defs/constructor_2' }] },
      },
      $defs: { a_b: { type: 'string' }, a_b_2: { type: 'number' } },
    })
  })
})
