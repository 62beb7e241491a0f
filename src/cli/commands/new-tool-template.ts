/** The beginning of a tool: it works as it is. */
export function toolTemplate({ name, variable }: { readonly name: string; readonly variable: string }): string {
  return `import { defineTool, ToolError } from 'tool-hub'
import { z } from 'zod'

/** Say in one sentence what the tool does. */
export const ${variable} = defineTool({
  name: '${name}',
  description: 'Write a text in capitals. Say here when a model should use the tool, and when not.',
  input: z.strictObject({ text: z.string().min(1).max(10_000) }),
  output: z.strictObject({ text: z.string() }),
  // What it needs of the world: ['write:fs'], and then what each call touches: targets: ({ path }) => ({ 'write:fs': path })
  capabilities: [],
  examples: [{ input: { text: 'hello' } }, { input: { text: 'Straße' }, note: 'any language' }],
  execute({ text }, ctx) {
    if (text.trim() === '') {
      throw new ToolError('INPUT_SCHEMA_INVALID', 'The text is blank.', { hint: 'Give at least one word.' })
    }
    ctx.progress(\`\${text.length} characters\`)
    return { text: text.toUpperCase() }
  },
  toModel: ({ text }) => text,
})
`
}

/** Its test, through the real road. */
export function toolTestTemplate({ file, variable }: { readonly file: string; readonly variable: string }): string {
  return `import { testHub, toolContract } from 'tool-hub/testing'
import { expect, it } from 'vitest'
import { ${variable} } from '../${file}.js'

it('keeps what every tool promises', async () => {
  expect(await toolContract(${variable})).toEqual([])
})

it('writes a text in capitals', async () => {
  const hub = testHub({ tools: [${variable}] })
  const result = await hub.call(${variable}, { text: 'hello' })
  await hub.close()
  expect(result).toMatchObject({ ok: true, data: { text: 'HELLO' } })
})

it('refuses a blank text', async () => {
  const hub = testHub({ tools: [${variable}] })
  const result = await hub.call(${variable}, { text: '  ' })
  await hub.close()
  expect(result.error?.code).toBe('INPUT_SCHEMA_INVALID')
})
`
}
