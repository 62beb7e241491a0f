import { expect, it } from 'vitest'
import { toCaller, toPrincipal } from './caller.ts'

const hub = { as: (principal: object) => ({ principal }) } as never
const facts = { name: 'user:ada', scopes: ['call'], limits: {}, label: 'x', base: '/', howToAllowDanger: '' } as const

it('a caller has the id of its token, and none where it came without one', () => {
  expect(toCaller(hub, { ...facts, token: 'token-1' })).toMatchObject({ token: 'token-1' })
  expect(Object.keys(toCaller(hub, facts))).toEqual(['name', 'scopes', 'hub', 'rights'])
})

it('a caller uses the hub as the principal that its limits make it', () => {
  const limits = { profile: 'minimal', rate: { perSecond: 5 } } as const
  const rights = toPrincipal({ ...facts, limits })
  expect(toCaller(hub, { ...facts, limits })).toStrictEqual({
    name: 'user:ada',
    scopes: new Set(['call']),
    hub: { principal: rights },
    rights,
    rate: { perSecond: 5 },
  })
})

it('a principal has the limits that are set, and no others', () => {
  const budget = { calls: 3 }
  const rate = { perSecond: 5 }
  const roots = [{ path: '/srv', mode: 'read' }] as const
  const allowDanger = true
  const principal = (limits: Parameters<typeof toPrincipal>[0]['limits']) => toPrincipal({ ...facts, limits })
  expect(principal({ allowDanger })).toStrictEqual({ name: 'user:ada' })
  expect(principal({ allowDanger, profile: 'full', budget, rate, roots: [...roots] })).toStrictEqual({
    name: 'user:ada',
    visibility: { profile: 'full' },
    budget,
    rate,
    roots,
  })
  expect(principal({}).policy).toHaveLength(2)
  expect(principal({ allowDanger, policy: [{ deny: 'exec' }] }).policy).toHaveLength(1)
})
