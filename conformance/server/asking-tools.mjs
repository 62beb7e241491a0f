import { fixture, object } from './fixture.mjs'

const text = { type: 'string' }
const choice = (...values) => values.map(([value, title]) => ({ const: value, title }))

/** Tools that ask the person behind the client, by the hub's own words for it: `ctx.ask`, and a rule that asks. */
export const askingTools = [
  fixture(
    'test_elicitation',
    'Asks for a name and an address.',
    async ({ message }, ctx) => {
      const form = object({
        username: { type: 'string', description: "User's response" },
        email: { type: 'string', description: "User's email address" },
      })
      return `User response: ${await answerTo(ctx, message, form)}`
    },
    { input: object({ message: { type: 'string', description: 'The message to show the user.' } }) },
  ),
  fixture('test_elicitation_sep1034_defaults', 'Asks with values filled in.', async (_, ctx) => {
    const properties = {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    }
    return `Elicitation completed: ${await answerTo(ctx, 'Please look at the values', { type: 'object', properties })}`
  }),
  fixture('test_elicitation_sep1330_enums', 'Asks with every kind of choice.', async (_, ctx) => {
    const options = ['option1', 'option2', 'option3']
    const titled = choice(['value1', 'First Option'], ['value2', 'Second Option'], ['value3', 'Third Option'])
    const properties = {
      untitledSingle: { type: 'string', enum: options },
      titledSingle: { type: 'string', oneOf: titled },
      legacyEnum: {
        type: 'string',
        enum: ['opt1', 'opt2', 'opt3'],
        enumNames: ['Option One', 'Option Two', 'Option Three'],
      },
      untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
      titledMulti: { type: 'array', items: { anyOf: titled } },
    }
    return `Elicitation completed: ${await answerTo(ctx, 'Please choose', { type: 'object', properties })}`
  }),
  fixture('test_input_required_result_request_state', 'Asks for a yes.', async (_, ctx) => {
    const { values } = await ctx.ask({ question: 'Please confirm', form: object({ ok: { type: 'boolean' } }) })
    return values.ok ? 'state-ok' : 'The answer was no.'
  }),
  fixture('test_input_required_result_multi_round', 'Asks one thing after the other.', async (_, ctx) => {
    const first = await ctx.ask({ question: 'Step 1: What is your name?', form: object({ name: text }) })
    const second = await ctx.ask({ question: 'Step 2: What is your favorite color?', form: object({ color: text }) })
    return `${first.values.name} likes ${second.values.color}.`
  }),
  fixture('test_input_required_result_tampered_state', 'Runs when somebody allows it.', () => 'It was allowed.'),
  fixture('test_streaming_elicitation', 'Runs when somebody allows it.', () => 'It was allowed.'),
]

/** Whoever calls these is asked by the policy, not by the tool. */
export const askingRules = [{ ask: 'test_input_required_result_tampered_state' }, { ask: 'test_streaming_elicitation' }]

async function answerTo(ctx, question, form) {
  const { values } = await ctx.ask({ question, form })
  return `action=accept, content=${JSON.stringify(values)}`
}
