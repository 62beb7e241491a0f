import { defineTool } from '@tool-hub/core'
import { z } from 'zod'
import { sessionBrief, sessionState, showBrief } from './session-shapes.ts'

/** Lists sessions. */
export const sessionList = defineTool({
  name: 'core/session.list',
  title: 'List sessions',
  description:
    'List the agent sessions that you can see: your own, its ancestors and its descendants, newest first, and the runners that ' +
    'core/session.spawn can use. Use it to find the id or label of a session. Not for the history of one: use core/session.history.',
  input: z.strictObject({
    limit: z.int().min(1).max(200).default(50).describe('Maximum number of sessions.'),
    before: z.string().max(40).optional().describe('The next value of an earlier page.'),
    state: sessionState.optional().describe('Only those in this state.'),
  }),
  output: z.strictObject({
    own: z.string().describe('Your own session.'),
    sessions: z.array(sessionBrief),
    next: z.string().optional(),
    runners: z.array(z.strictObject({ name: z.string(), description: z.string().optional() })),
  }),
  capabilities: ['session'],
  targets: () => ({ session: [] }),
  category: 'sessions',
  tags: ['session', 'agent', 'list'],
  version: '1.0.0',
  examples: [{ input: {} }, { input: { state: 'running', limit: 10 }, note: 'the running ones' }],
  dialects: { coding: { name: 'sessions_list' } },
  async execute(input, ctx) {
    const { own, sessions, next, runners } = await ctx.sessions.list(input)
    ctx.evidence({ type: 'tool', ref: own, summary: `${sessions.length} sessions listed` })
    return {
      own,
      sessions: [...sessions],
      ...(next !== undefined && { next }),
      runners: [...runners],
    }
  },
  toModel({ own, sessions, next, runners }) {
    const names = runners.map(({ name, description }) => (description ? `${name} (${description})` : name))
    return [
      `You are ${own}.`,
      ...sessions.map(showBrief),
      ...(next === undefined ? [] : [`more: before=${next}`]),
      names.length === 0 ? 'No runner is configured.' : `runners: ${names.join(', ')}`,
    ].join('\n')
  },
})
