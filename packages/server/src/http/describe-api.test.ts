import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type HttpServed, serveHttp } from '../../../../test/support/http-served.ts'
import { ROUTES } from './route-table.ts'

let served: HttpServed
beforeAll(async () => {
  served = await serveHttp()
})
afterAll(() => served.close())

interface Operation {
  operationId: string
  summary: string
  security: Record<string, string[]>[]
  parameters?: { name: string; in: string; required: boolean; schema: object }[]
  requestBody?: { content: Record<string, { schema: object }> }
  responses: Record<string, { description: string; content?: Record<string, { schema?: object }> }>
}
interface Document {
  openapi: string
  info: { title: string; version: string }
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, object>; securitySchemes: Record<string, object> }
}

const documentOf = async () => (await served.ask('GET', '/openapi.json')).json as Document
const operationsOf = ({ paths }: Document) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )

describe('the OpenAPI document', () => {
  it('has every route that the app serves but those of MCP, and no other', async () => {
    const document = await documentOf()
    const described = operationsOf(document).map(({ path, method }) => `${method} ${path}`)
    const registered = served.app.hono.routes
      .map(({ path, method }) => `${method.toLowerCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')}`)
      .filter((route) => !route.endsWith(' /mcp'))
    expect(described.toSorted()).toEqual(registered.toSorted())
    expect(new Set(registered).size).toBe(registered.length)
  })

  it('says where the service is, and that every route can refuse a request', async () => {
    const document = await documentOf()
    expect(document).toMatchObject({ servers: [{ url: '/' }] })
    for (const { operation } of operationsOf(document)) expect(operation.responses).toHaveProperty('4XX')
  })

  it('says which scopes a route needs, as the table does', async () => {
    const { paths } = await documentOf()
    for (const { path, method, allow, isHidden } of ROUTES) {
      if (isHidden) continue
      const scopes = typeof allow === 'string' ? [] : allow
      const wanted = allow === 'everybody' ? [] : [{ token: scopes }, { session: scopes }]
      expect([path, paths[path]![method]!.security]).toEqual([path, wanted])
    }
  })

  it('has the shape of OpenAPI 3.1: names once, parameters of every path, references that lead somewhere', async () => {
    const document = await documentOf()
    expect(document.openapi).toBe('3.1.0')
    expect(document.info).toMatchObject({ title: 'tool-hub', version: '1.2.3' })
    const operations = operationsOf(document)
    expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length)
    for (const { path, operation } of operations) {
      const named = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path')
      expect(named.map(({ name }) => `{${name}}`)).toEqual(path.match(/\{\w+\}/g) ?? [])
      expect(operation.summary).toBeTruthy()
      for (const { description } of Object.values(operation.responses)) expect(description).toBeTruthy()
    }
    const references = JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)
    const missing = [...references].map(([, name]) => name!).filter((name) => !document.components.schemas[name])
    expect(missing).toEqual([])
  })

  it('has schemas that a validator takes, and that what is answered fits', async () => {
    const document = await documentOf()
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    ajv.addSchema({ $id: 'api', components: document.components })
    for (const { operation } of operationsOf(document)) {
      const contents = [operation.requestBody, ...Object.values(operation.responses)].flatMap((part) =>
        Object.values(part?.content ?? {}),
      )
      for (const { schema } of contents) {
        if (schema) ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"api#/components')))
      }
    }
    const isError = ajv.getSchema('api#/components/schemas/Error')!
    expect(isError((await served.ask('GET', '/v1/me')).json)).toBe(true)
    const isMe = ajv.getSchema('api#/components/schemas/Me')!
    expect(isMe((await served.ask('GET', '/v1/me', await served.newToken('x', ['read']))).json)).toBe(true)
  })
})
