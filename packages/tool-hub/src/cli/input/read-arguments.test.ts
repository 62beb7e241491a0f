import { expect, it } from 'vitest'
import type { SourceHost } from '../../../../core/src/source.ts'
import { defineTool } from '../../../../core/src/tool.ts'
import type { Hub } from '../../../../runtime/src/hub/hub.ts'
import { testHub } from '../../../../testing/src/tool-contract.ts'
import { readToolArguments } from './read-arguments.ts'

const late = defineTool({
  name: 'late/x.echo',
  description: 'Comes later.',
  input: { type: 'object', properties: { count: { type: 'integer' } } },
  execute: () => 'never',
})

it('waits for a tool that is on its way before it reads flags, and never takes them for nothing', async () => {
  const hub = testHub() as unknown as Hub
  let arrive = () => {}
  hub.connect({
    name: 'late',
    start(host: SourceHost) {
      const arriving = new Promise<void>((resolve) => {
        arrive = () => {
          host.offer([late])
          resolve()
        }
      })
      host.expect('late/x.', arriving)
    },
  })
  const read = (tool: string) => readToolArguments(hub, { tool, words: ['--count', '3'], flags: {} })
  const reading = read('late/x.echo')
  setImmediate(arrive)
  expect(await reading).toEqual({ count: 3 })
  await expect(read('late/x.ecko')).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND' })
  expect(await readToolArguments(hub, { tool: 'nope', words: [], flags: {} })).toEqual({})
  await hub.close()
})
