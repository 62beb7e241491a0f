import { defineTool } from '@tool-hub/core'
import { z } from 'zod'
import { RESERVED_SESSION_NAMES, SESSION_LABEL } from '../types.ts'
import { CALL_MS, sessionEntry, showEntry, waitMs } from './session-shapes.ts'

/** Starts a session. */
export const sessionSpawn = defineTool({
  name: 'core/session.spawn',
  title: 'Start a session',
  description:
    'Start another agent on a task, in a new session below yours, with at most your rights and within your budget. Use it for ' +
    'work that can run in parallel with yours; core/session.list names the runners. With waitMs, wait for its result; otherwise check later with ' +
    'core/session.status. Not for what a single tool call can do.',
  input: z.strictObject({
    task: z
      .string()
      .min(1)
      .max(20_000)
      .refine((task) => task.trim() !== '', 'must not be blank')
      .describe('The complete task: the agent knows nothing else.'),
    label: z
      .string()
      .regex(SESSION_LABEL, 'must be letters, digits, ., _ and -, at most 40, beginning with a letter or digit')
      .refine((label) => !RESERVED_SESSION_NAMES.includes(label), 'must not be owner or parent')
      .optional()
      .describe('A name for it: letters, digits, ., _ and -, without spaces; neither owner nor parent.'),
    runner: z.string().min(1).max(32).default('default').describe('Name of the runner.'),
    limits: z
      .strictObject({
        calls: z.int().min(1).describe('Maximum number of tool calls.'),
        wallMs: z.int().min(1).describe('Maximum time of its calls and of the session, in milliseconds.'),
        cost: z.number().min(0).describe('Maximum cost units.'),
      })
      .partial()
      .optional()
      .describe('Limits of the whole session.'),
    waitMs: waitMs.default(0).describe('How long to wait for its result, in milliseconds; 0 does not wait.'),
  }),
  output: z.strictObject({ session: sessionEntry }),
  capabilities: ['session'],
  targets: ({ runner }) => ({ session: `runner:${runner}` }),
  timeoutMs: CALL_MS,
  category: 'sessions',
  tags: ['session', 'agent', 'spawn'],
  version: '1.0.0',
  examples: [
    {
      input: { task: 'List the open issues about printing.', runner: 'researcher', label: 'printing', waitMs: 120_000 },
    },
    {
      input: { task: 'Check every link in docs/.', limits: { calls: 200, wallMs: 600_000 } },
      note: 'runs in the background',
    },
  ],
  dialects: { coding: { name: 'sessions_spawn' } },
  async execute(input, ctx) {
    const session = await ctx.sessions.spawn(input)
    ctx.evidence({ type: 'tool', ref: session.id, summary: `session begun with ${session.runner}: ${session.state}` })
    return { session }
  },
  toModel({ session }) {
    const hint = session.state === 'running' ? '\nIt is still running; check it with core/session.status.' : ''
    return `${showEntry(session)}${hint}`
  },
})
