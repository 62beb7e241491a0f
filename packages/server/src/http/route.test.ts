import { expect, it } from 'vitest'
import { z } from 'zod'
import { concernOf, type Route, type RouteRequest } from './route.ts'
import { ROUTES } from './route-table.ts'

/** Routes that take a run and do not concern it, each with why. */
const FILTERS: Readonly<Record<string, string>> = {
  'get /v1/calls': 'a filter of the index, which is in the store',
  'get /v1/memory/candidates': 'a filter of the list, which is in the store',
  'get /v1/scripts': 'a filter of the list, which is in the store',
  'get /v1/canvases': 'a filter of the list, which is in the store',
}

function keysOf(schema: z.ZodType | undefined): readonly string[] {
  if (!schema) return []
  const { properties = {} } = z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' })
  return Object.keys(properties)
}

const nameOf = ({ method, path }: Route) => `${method} ${path}`

it.each(ROUTES.filter(({ path }) => path.includes('{run}')).map((route) => [nameOf(route), route] as const))(
  'in a cluster, %s is answered by the process that has the run',
  async (_, route) => {
    const question = { param: (name: string) => `the ${name}` } as RouteRequest
    expect(await concernOf(route, question)).toEqual({ run: 'the run' })
  },
)

it('every route that takes a run says which process has to answer', () => {
  const silent = ROUTES.filter(
    ({ query, body, concerns }) => !concerns && [query, body].flatMap(keysOf).includes('run'),
  )
  expect(silent.map(nameOf).filter((name) => FILTERS[name] === undefined)).toEqual([])
})

it('a call, an explanation and a check concern the run that they name', async () => {
  const named = { body: { run: 'r1' }, query: { run: 'r1' } } as RouteRequest
  const none = { body: {}, query: {} } as RouteRequest
  for (const path of ['/v1/tools/{name}/call', '/v1/policy/explain', '/v1/artifacts/{sha256}', '/v1/audit/verify']) {
    const route = ROUTES.find((each) => each.path === path)!
    expect([await concernOf(route, named), await concernOf(route, none)]).toEqual([{ run: 'r1' }, undefined])
  }
})
