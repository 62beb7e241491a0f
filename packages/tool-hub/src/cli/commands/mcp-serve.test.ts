import { expect, it } from 'vitest'
import { mayAskClients } from './mcp-serve.ts'

it('lets clients be asked only where the answer is that of the person behind them, unless the config says so', () => {
  expect(mayAskClients({}, {})).toBe(true)
  expect(mayAskClients({}, { http: true, tokenEnv: 'TOKEN' })).toBe(true)
  expect(mayAskClients({}, { http: '8808' })).toBe(false)
  expect(mayAskClients({ approvals: { inbox: true } }, {})).toBe(false)
  expect(mayAskClients({ approvals: { inbox: true, elicitation: true } }, { http: true })).toBe(true)
  expect(mayAskClients({ approvals: { elicitation: false } }, {})).toBe(false)
  expect(mayAskClients({ approvals: { elicitation: true } }, { elicitation: false })).toBe(false)
})
