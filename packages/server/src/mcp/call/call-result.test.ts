import { expect, it } from 'vitest'
import { z } from 'zod'
import { fileHub } from '../../../../../test/support/file-hub.ts'
import { defineTool } from '../../../../core/src/tool.ts'
import { execRun } from '../../../../runtime/src/tools/exec/exec-run.ts'
import { toCallResult } from './call-result.ts'

const charsOf = (value: unknown) => JSON.stringify(value).length

it('gives no more data of a command than text, and its output once', async () => {
  const { call, hub } = fileHub({}, { tools: [execRun], policy: [{ allow: 'exec' }] })
  const { output: schema } = hub.cards().find(({ tool }) => tool === 'core/exec.run')!
  const uriOf = ({ ref }: { readonly ref: string }) => ref
  for (const command of ['seq 1 100000', 'seq 1 100000; seq 1 100000 >&2']) {
    const result = await call('exec', { command })
    const { structuredContent, content } = await toCallResult(result, { schema, uriOf })
    // Escapes and names of keys come on top.
    expect(charsOf(structuredContent)).toBeLessThan(42_000)
    expect(charsOf(content)).toBeLessThan(42_000)
    expect(structuredContent).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('characters cut') })
    if (!command.includes('>&2')) expect(structuredContent).toMatchObject({ tail: '[the same text as stdout]' })
  }
  const few = await call('exec', { command: 'echo few' })
  const { structuredContent } = await toCallResult(few, { schema, uriOf })
  expect(structuredContent).toMatchObject({ stdout: 'few\n', tail: 'few\n' })
})

it('cuts data of tools that show a model little of it', async () => {
  const quiet = defineTool({
    name: 'x.quiet',
    description: 'Returns much, and shows little.',
    input: z.strictObject({}),
    output: z.strictObject({ parts: z.array(z.string()) }),
    capabilities: [],
    execute: () => ({ parts: Array.from({ length: 10 }, (_, index) => `${index}`.repeat(50_000)) }),
    toModel: () => 'ten parts',
  })
  const { call, hub } = fileHub({}, { tools: [quiet] })
  const { output: schema } = hub.cards().find(({ tool }) => tool === 'x.quiet')!
  const result = await call('x.quiet', {})
  const { structuredContent } = await toCallResult(result, { schema, uriOf: ({ ref }) => ref })
  expect(charsOf(structuredContent)).toBeLessThan(31_000)
  expect((structuredContent as { parts: string[] }).parts).toHaveLength(10)
})
