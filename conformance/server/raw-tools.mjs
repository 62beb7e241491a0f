import { capabilitiesOf, currentRequest, needCapability, needInput } from './current-request.mjs'
import { fixture, object, wait } from './fixture.mjs'

const askName = {
  method: 'elicitation/create',
  params: { mode: 'form', message: 'What is your name?', requestedSchema: object({ name: { type: 'string' } }) },
}
const askModel = (text) => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens: 100 },
})
const askRoots = { method: 'roots/list', params: {} }

/** Tools that speak of what only MCP has: models and roots of the client, log messages, the keys of input requests. */
export const rawTools = [
  fixture('test_tool_with_logging', 'Writes three log messages.', async (_, ctx) => {
    await log('Tool execution started')
    await wait(50, ctx)
    await log('Tool processing data')
    await wait(50, ctx)
    await log('Tool execution completed')
    return 'Logged.'
  }),
  fixture('test_logging_tool', 'Writes a log message to every client that subscribed.', async () => {
    await log('Tool execution started')
    return 'Logged.'
  }),
  fixture(
    'test_sampling',
    'Asks the model of the client.',
    async ({ prompt }) => {
      const { mcpReq } = currentRequest().context
      const { content } = await mcpReq.requestSampling(askModel(prompt).params)
      return `LLM response: ${content.text}`
    },
    { input: object({ prompt: { type: 'string', description: 'What to ask the model.' } }) },
  ),
  fixture('test_reconnection', 'Closes its stream in the middle of the call.', async (_, ctx) => {
    currentRequest().context.http?.closeSSE?.()
    await wait(100, ctx)
    return 'The stream was closed and the call went on.'
  }),
  fixture('test_missing_capability', 'Needs a client that has a model.', () => {
    needCapability({ sampling: {} }, ({ sampling }) => sampling !== undefined)
    return 'The client has a model.'
  }),
  fixture('test_input_required_result_elicitation', 'Asks for a name.', () => {
    const { user_name: answer } = responses()
    if (!answer) return needInput({ user_name: askName })
    return `Hello, ${answer.content?.name}!`
  }),
  fixture('test_input_required_result_sampling', 'Asks the model of the client.', () => {
    const { capital_question: answer } = responses()
    if (!answer) return needInput({ capital_question: askModel('What is the capital of France?') })
    return `The model says: ${answer.content?.text}`
  }),
  fixture('test_input_required_result_list_roots', 'Asks for the roots of the client.', () => {
    const { client_roots: answer } = responses()
    if (!answer) return needInput({ client_roots: askRoots })
    return `The roots are ${answer.roots?.map(({ uri }) => uri).join(', ')}.`
  }),
  fixture('test_input_required_result_multiple_inputs', 'Asks for three things in one result.', () => {
    const { user_name: name, greeting, client_roots: roots } = responses()
    if (name && greeting && roots) return `${greeting.content?.text} ${name.content?.name}`
    const requests = { user_name: askName, greeting: askModel('Generate a greeting'), client_roots: askRoots }
    return needInput(requests, 'three-things')
  }),
  fixture('test_input_required_result_capabilities', 'Asks for what the client can answer.', () => {
    const { elicitation, sampling, roots } = capabilitiesOf(currentRequest())
    return needInput({
      ...(elicitation && { user_name: askName }),
      ...(sampling && { greeting: askModel('Generate a greeting') }),
      ...(roots && { client_roots: askRoots }),
    })
  }),
]

/** Their state is their own; the server's would be refused. */
export const rawNames = new Set(rawTools.map(({ name }) => name))

async function log(text) {
  await currentRequest().context.mcpReq.log('info', text)
}

function responses() {
  return currentRequest().context.mcpReq.inputResponses ?? {}
}
