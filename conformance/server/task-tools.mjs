import { ToolError } from '../tool-hub.mjs'
import { needCapability } from './current-request.mjs'
import { fixture, object, wait } from './fixture.mjs'

/** A call that takes longer is a task; no fixture that is not one takes so long. */
export const TASK_AFTER_MS = 300
const LONG_MS = 2 * TASK_AFTER_MS
const TASKS = 'io.modelcontextprotocol/tasks'

/** Tools that take so long that their calls become tasks, and one that does not. */
export const taskTools = [
  fixture('greet', 'Greets somebody.', ({ name }) => `Hello, ${name}!`, {
    input: object({ name: { type: 'string' } }),
  }),
  fixture(
    'slow_compute',
    'Takes its time.',
    async ({ seconds, label }, ctx) => {
      await wait(seconds * 1_000, ctx)
      return `${label} is done.`
    },
    {
      input: {
        type: 'object',
        properties: { seconds: { type: 'number', minimum: 0, maximum: 60 }, label: { type: 'string', default: 'It' } },
        required: ['seconds'],
        additionalProperties: false,
      },
      timeoutMs: 120_000,
    },
  ),
  fixture('failing_job', 'Takes its time, and fails.', async (_, ctx) => {
    needCapability({ extensions: { [TASKS]: {} } }, ({ extensions }) => extensions?.[TASKS] !== undefined)
    await wait(LONG_MS, ctx)
    throw new ToolError('EXEC_FAILED', 'The job failed.')
  }),
  fixture(
    'confirm_delete',
    'Takes its time, and asks for a yes.',
    async ({ filename }, ctx) => {
      await wait(LONG_MS, ctx)
      const { values } = await ask(ctx, `Delete ${filename}?`)
      return values.confirm ? `${filename} would be deleted.` : `${filename} stays.`
    },
    { input: object({ filename: { type: 'string' } }) },
  ),
  fixture('multi_input', 'Takes its time, and asks two questions together.', async (_, ctx) => {
    await wait(LONG_MS, ctx)
    await Promise.all([ask(ctx, 'The first?'), ask(ctx, 'The second?')])
    return 'Both were answered.'
  }),
  fixture('test_tool_with_task', 'Asks for a name, and takes its time.', async (_, ctx) => {
    const { values } = await ctx.ask({ question: 'What is your name?', form: object({ name: { type: 'string' } }) })
    await wait(LONG_MS, ctx)
    return `Hello, ${values.name}!`
  }),
]

function ask(ctx, question) {
  const properties = { confirm: { type: 'boolean' }, name: { type: 'string' } }
  return ctx.ask({ question, form: { type: 'object', properties, required: ['confirm'] } })
}
