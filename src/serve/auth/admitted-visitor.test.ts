import { expect, it } from 'vitest'
import { toVisitor } from './admitted-visitor.ts'

const hub = { as: (principal: object) => ({ principal }) } as never
const facts = { name: 'user:ada', scopes: ['call'], limits: {}, label: 'x', base: '/', howToAllowDanger: '' } as const

it('a visitor has the id of its token, and none where it came without one', () => {
  expect(toVisitor(hub, { ...facts, token: 'token-1' })).toMatchObject({ token: 'token-1' })
  expect(Object.keys(toVisitor(hub, facts))).toEqual(['name', 'scopes', 'hub', 'rights'])
})
