import { expect, it } from 'vitest'
import { denyEach } from './deny-each.ts'

it('denies each once, and says which were answered before and which failed', async () => {
  const sent: string[] = []
  const at = '2026-11-15T10:00:00Z'
  const send = async (id: string) => {
    sent.push(id)
    if (id === 'broken') throw new Error('The store cannot be written.')
    const answered = { by: 'ada', via: 'cli', at, decision: 'allow' }
    return id === 'late' ? { won: false, approval: { answered } } : { won: true, approval: {} }
  }
  const asked = ['a', 'broken', 'late', 'a', 'b'].map((id) => ({ id, tool: `tool-${id}` }))
  expect(await denyEach(asked, send)).toEqual([
    { id: 'a', tool: 'tool-a', outcome: 'denied' },
    { id: 'broken', tool: 'tool-broken', outcome: 'failed', words: 'The store cannot be written.' },
    { id: 'late', tool: 'tool-late', outcome: 'late', words: 'ada was first' },
    { id: 'b', tool: 'tool-b', outcome: 'denied' },
  ])
  expect(sent).toEqual(['a', 'broken', 'late', 'b'])
})
