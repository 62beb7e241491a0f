/** What the templates are about. */
interface Names {
  /** `notes.save`. */
  readonly name: string
  /** `notes-save`. */
  readonly file: string
  /** `notesSaveTool`. */
  readonly variable: string
}

/** The beginning of a tool: it works as it is. */
export function toolTemplate({ name, variable }: Names): string {
  return `import { defineTool, ToolError } from 'tool-hub'
import { z } from 'zod'

/** Replace this: say in one sentence what the tool does. */
export const ${variable} = defineTool({
  name: '${name}',
  // Replace this: say when a model should use the tool, and when not.
  description: 'Write a text in capitals. Not for texts that a person reads later.',
  input: z.strictObject({ text: z.string().min(1).max(10_000) }),
  output: z.strictObject({ text: z.string() }),
${BODY}  toModel: ({ text }) => text,
})
`
}

/** The same as a plugin file for the command line, in JavaScript and without a schema library. */
export function pluginTemplate({ name }: Names): string {
  return `import { defineTool, ToolError } from 'tool-hub'

const text = { type: 'string', minLength: 1, maxLength: 10_000 }
const input = { type: 'object', properties: { text }, required: ['text'], additionalProperties: false }

/** Replace this: say in one sentence what the tool does. */
export default defineTool({
  name: '${name}',
  // Replace this: say when a model should use the tool, and when not.
  description: 'Write a text in capitals. Not for texts that a person reads later.',
  input,
  output: input,
${BODY}  toModel: ({ text }) => text,
})
`
}

const BODY = `  // What it needs of the world: ['write:fs'], and then what each call touches: targets: ({ path }) => ({ 'write:fs': path })
  capabilities: [],
  examples: [{ input: { text: 'hello' } }, { input: { text: 'Straße' }, note: 'any language' }],
  execute({ text }, ctx) {
    // Replace this: your own code. Throw a ToolError for what can go wrong.
    if (text.trim() === '') {
      throw new ToolError('INPUT_SCHEMA_INVALID', 'The text is blank.', { hint: 'Give at least one word.' })
    }
    ctx.progress(\`\${text.length} characters\`)
    return { text: text.toUpperCase() }
  },
`

/** Its test, through the real road. */
export function toolTestTemplate({ file, variable }: Names): string {
  return `import { testHub, toolContract } from 'tool-hub/testing'
import { expect, it } from 'vitest'
import { ${variable} } from './${file}.js'

it('keeps what every tool promises', async () => {
  expect(await toolContract(${variable})).toEqual([])
})

// Replace the rest with what your tool does.
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
