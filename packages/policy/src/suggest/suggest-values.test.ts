import { expect, it } from 'vitest'
import { groupCalls } from './suggest-values.ts'

const facts = { tool: 'mail.send', capabilities: ['remote' as const] }
const valuesOf = (...recipients: string[]) =>
  groupCalls({ approved: recipients.map((to) => ({ args: { to } })), facts }, 'pattern').map(({ values }) =>
    values.get('to'),
  )

it('widens addresses to their domain, also to one that begins like a public one', () => {
  expect(valuesOf('ann@our-firm.org', 'bob@our-firm.org')).toEqual([['*@our-firm.org']])
  expect(valuesOf('ann@mail.our-firm.org', 'bob@mail.our-firm.org')).toEqual([['*@mail.our-firm.org']])
})

it('never widens to a domain where anybody can have an address', () => {
  for (const domain of ['gmail.com', 'googlemail.com', 'yahoo.co.uk', 'proton.me', 'web.de'])
    expect(valuesOf(`ann@${domain}`, `bob@${domain}`)).toEqual([])
})
