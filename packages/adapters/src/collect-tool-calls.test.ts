import { describe, expect, it } from 'vitest'
import { type ChatToolCallDelta, collectToolCalls } from './collect-tool-calls.ts'

const chunk = (...tool_calls: ChatToolCallDelta[]) => ({ choices: [{ index: 0, delta: { tool_calls } }] })

describe('streamed tool calls', () => {
  it('are put together by their index, in the order of it', () => {
    const calls = collectToolCalls()
    calls.add(chunk({ index: 1, id: 'b', function: { name: 'two', arguments: '{' } }))
    calls.add(chunk({ index: 0, id: 'a', function: { name: 'one' } }, { index: 1, function: { arguments: '}' } }))
    calls.add({
      choices: [{ index: 1, delta: { tool_calls: [{ index: 0, function: { arguments: 'of another choice' } }] } }],
    })
    calls.add({ choices: [] })
    calls.add({ choices: [{ delta: { tool_calls: null } }] })
    expect(calls.toolCalls).toEqual([
      { id: 'a', type: 'function', function: { name: 'one', arguments: '' } },
      { id: 'b', type: 'function', function: { name: 'two', arguments: '{}' } },
    ])
  })

  it('are whole without an index, as some servers send them', () => {
    const calls = collectToolCalls()
    calls.add(chunk({ id: 'a', function: { name: 'one', arguments: '{}' } }, { id: 'b', function: { name: 'two' } }))
    expect(calls.toolCalls.map(({ id }) => id)).toEqual(['a', 'b'])
  })

  it('have a bound', () => {
    const calls = collectToolCalls()
    for (let index = 0; index < 2_000; index++) calls.add(chunk({ index, id: 'x', function: { name: 'n' } }))
    expect(calls.toolCalls).toHaveLength(1_000)
    const megabyte = 'x'.repeat(1_000_000)
    for (let count = 0; count < 30; count++) calls.add(chunk({ index: 0, function: { arguments: megabyte } }))
    expect(calls.toolCalls[0]!.function.arguments.length).toBeLessThanOrEqual(20_000_000)
  })
})
