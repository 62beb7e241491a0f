import { defineTool } from '@tool-hub/core'
import { z } from 'zod'

const question = z.string().min(1).max(4_000).describe('The question, complete in itself.')
const context = z.string().max(20_000).optional().describe('What the person needs to know to answer.')
const defaultAnswer = z.string().max(4_000).optional().describe('Taken when nobody answers in time.')
const timeoutMs = z
  .int()
  .min(1_000)
  .max(3_600_000)
  .optional()
  .describe('How long to wait, in milliseconds. Default: as long as approvals wait, at most an hour.')

/** Asks the person behind the agent and waits for the answer. */
export const askUser = defineTool({
  name: 'core/ask.user',
  title: 'Ask the user',
  description:
    'Ask the person you work for and wait for the answer. Use it when a choice is theirs and guessing would cost more ' +
    'than asking. Not for secrets or passwords, and not for what you can find out yourself.',
  input: z.strictObject({
    question,
    context,
    options: z.array(z.string().max(200)).max(20).optional().describe('Answers to choose from; others are possible.'),
    defaultAnswer,
    timeoutMs,
  }),
  output: z.strictObject({
    answer: z.string().describe('What the person said, or the default.'),
    isDefault: z.boolean().describe('True when nobody answered in time and the default stands in.'),
  }),
  timeoutMs: 3_660_000,
  category: 'other',
  tags: ['person', 'question'],
  version: '1.0.0',
  examples: [
    { input: { question: 'Which environment?', options: ['staging', 'production'], defaultAnswer: 'staging' } },
    { input: { question: 'What should the report be called?', context: 'It summarises the third quarter.' } },
  ],
  dialects: {
    coding: {
      name: 'clarify',
      input: z.strictObject({ question, context, defaultAnswer, timeout: timeoutMs }),
      toInput: ({ timeout, ...rest }) => ({ ...rest, timeoutMs: timeout }),
    },
  },
  async execute(input, ctx) {
    const answer = await ctx.ask(input)
    const how = answer.isDefault ? 'nobody answered in time, the default stands' : 'the person answered'
    ctx.evidence({ type: 'tool', ref: ctx.callId, summary: how })
    return answer
  },
  toModel: ({ answer, isDefault }) => (isDefault ? `No answer in time; the default is: ${answer}` : answer),
})
