import { describe, expect, it } from 'vitest'
import type { AgentEntry } from '../../api/types.ts'
import { orderAsTree } from './order-as-tree.ts'

const agent = (id: string, parent?: string): AgentEntry => ({
  id,
  root: 'a',
  state: 'running',
  createdAt: '2026-11-16T10:00:00Z',
  isTainted: false,
  ...(parent !== undefined && { parent }),
})
const draw = (agents: readonly AgentEntry[]) =>
  orderAsTree(agents).map((row) => `${'-'.repeat(row.depth)}${row.agent.id}`)

describe('the tree of agents', () => {
  it('has each below the one that began it, in the order given', () => {
    expect(draw([agent('d', 'b'), agent('c'), agent('b', 'a'), agent('e', 'a'), agent('a')])).toEqual([
      'c',
      'a',
      '-b',
      '--d',
      '-e',
    ])
  })

  it('lets one stand by itself whose parent is not shown, or is itself', () => {
    expect(draw([agent('b', 'elsewhere'), agent('c', 'c')])).toEqual(['b', 'c'])
  })

  it('leaves nobody out where two would have begun each other', () => {
    expect(draw([agent('a', 'b'), agent('b', 'a')])).toEqual(['a', 'b'])
  })
})
