import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type FormReply, useServedHubs } from '../../../../../test/support/mcp-served.ts'
import { defineTool, type Question } from '../../../../core/src/tool.ts'
import { fakeClock } from '../../../../testing/src/fake-clock.ts'

const { serve: serveHub, connect } = useServedHubs()
/** Nobody is known here, and yet asked. */
const serve: typeof serveHub = (options, serving) => serveHub(options, { elicitation: true, ...serving })

/** A tool that asks something in the middle of its work, and how often it began. */
function asking(question: Question) {
  const work = { begun: 0 }
  const tool = defineTool({
    name: 'order',
    description: 'Orders lunch.',
    input: z.strictObject({}),
    execute: async (_, ctx) => {
      work.begun++
      const { answer, values } = await ctx.ask(question)
      return values ?? answer
    },
  })
  return { tool, work }
}

function textOf(result: object): string {
  return (result as { content: { text: string }[] }).content.map(({ text }) => text).join('\n')
}

const FORM = {
  type: 'object',
  properties: {
    dish: { type: 'string', enum: ['soup', 'salad'], title: 'Di\u200bsh' },
    portions: { type: 'integer', minimum: 1, maximum: 9 },
    hot: { type: 'boolean', default: true },
  },
  required: ['dish'],
} as const

describe.each(['legacy', 'modern'] as const)('a question of a tool, in the %s era', (era) => {
  it('is put to the person, and the tool continues with the answer', async () => {
    const { tool, work } = asking({ question: 'What to eat?', context: 'It is noon.', options: ['soup', 'salad'] })
    const { url } = await serve({ tools: [tool] })
    const shown: string[] = []
    const client = await connect(url, era, {
      onForm: (message) => {
        shown.push(message)
        return { action: 'accept', content: { answer: 'soup' } }
      },
    })
    expect(textOf(await client.callTool({ name: 'order', arguments: {} }))).toBe('soup')
    expect(work.begun).toBe(1)
    expect(shown).toEqual([
      'order asks: What to eat?\n\nIt is noon.\n\nAnswers to choose from, others are possible: "soup", "salad"',
    ])
  })

  it('may be a form, whose fields are shown as they are', async () => {
    const { tool } = asking({ question: 'Lunch?', form: FORM })
    const { url } = await serve({ tools: [tool] })
    let schema: unknown
    const client = await connect(url, era, {
      onForm: (_, params) => {
        schema = (params as { requestedSchema: unknown }).requestedSchema
        return { action: 'accept', content: { dish: 'salad', portions: 2, hot: false } }
      },
    })
    const result = await client.callTool({ name: 'order', arguments: {} })
    expect(JSON.parse(textOf(result))).toEqual({ dish: 'salad', portions: 2, hot: false })
    expect(schema).toMatchObject({ ...FORM, properties: { ...FORM.properties, dish: { title: 'Di\\u{200b}sh' } } })
  })

  it.each([
    ['decline', 'declined to answer'],
    ['cancel', 'closed the question'],
  ] as const)('fails for the tool when the person says %s', async (action, words) => {
    const { tool } = asking({ question: 'Lunch?' })
    const { url } = await serve({ tools: [tool] })
    const client = await connect(url, era, { onForm: (): FormReply => ({ action }) })
    const result = await client.callTool({ name: 'order', arguments: {} })
    expect(result.isError).toBe(true)
    expect(textOf(result)).toMatch(new RegExp(`^APPROVAL_DENIED: The person ${words}`))
  })

  it.each([
    ['no answer', { question: 'Lunch?' }, {}, /gave no answer/],
    ['not all that a form requires', { question: 'Lunch?', form: FORM }, { portions: 2 }, /gave no dish/],
  ] as const)('fails for the tool when the person sends %s', async (_, question, content, words) => {
    const { tool } = asking(question)
    const { url } = await serve({ tools: [tool] })
    const client = await connect(url, era, { onForm: (): FormReply => ({ action: 'accept', content }) })
    const result = await client.callTool({ name: 'order', arguments: {} })
    expect(result.isError).toBe(true)
    expect(textOf(result)).toMatch(words)
  })

  it('goes to the hub when the client shows no forms', async () => {
    const { tool } = asking({ question: 'Lunch?' })
    const { url } = await serve({ tools: [tool], onQuestion: () => 'later' })
    const client = await connect(url, era)
    expect(textOf(await client.callTool({ name: 'order', arguments: {} }))).toBe('later')
  })

  it.each([
    ['nested fields', { type: 'object', properties: { who: { type: 'object' } } }],
    ['hidden text in a choice', { type: 'object', properties: { who: { type: 'string', enum: ['a\u200b'] } } }],
  ])('is not asked when its form has %s', async (_, form) => {
    const { tool } = asking({ question: 'Lunch?', form })
    const { url } = await serve({ tools: [tool] })
    const client = await connect(url, era, { onForm: () => ({ action: 'accept', content: {} }) })
    expect(textOf(await client.callTool({ name: 'order', arguments: {} }))).toMatch(/^APPROVAL_UNAVAILABLE: The form/)
  })
})

describe('a question in the modern era', () => {
  it('waits five minutes for its answer, then the call ends and an answer is too late', async () => {
    const clock = fakeClock()
    const { tool, work } = asking({ question: 'Lunch?' })
    const { hub, url } = await serve({ tools: [tool] }, { clock })
    const ended = new Promise<string | undefined>((resolve) => {
      hub.onEvent((event) => event.type === 'call-ended' && resolve(event.result.error?.code))
    })
    const client = await connect(url, 'modern', {
      onForm: async () => {
        await clock.advance(301_000)
        return { action: 'accept', content: { answer: 'soup' } }
      },
    })
    const result = await client.callTool({ name: 'order', arguments: {} })
    expect(textOf(result)).toMatch(/^APPROVAL_TIMEOUT: /)
    expect(await ended).toBe('APPROVAL_UNAVAILABLE')
    expect(work.begun).toBe(1)
  })
})
