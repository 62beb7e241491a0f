import { RED_PIXEL } from './samples.mjs'

const argument = (name, description) => ({ name, description, required: true })

const PROMPTS = [
  {
    name: 'test_simple_prompt',
    description: 'A text.',
    messages: () => [said('This is a simple prompt for testing.')],
  },
  {
    name: 'test_prompt_with_arguments',
    description: 'A text with two arguments.',
    arguments: [argument('arg1', 'First test argument'), argument('arg2', 'Second test argument')],
    messages: ({ arg1, arg2 }) => [said(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
  },
  {
    name: 'test_prompt_with_embedded_resource',
    description: 'A document and a text.',
    arguments: [argument('resourceUri', 'URI of the resource to embed')],
    messages: ({ resourceUri: uri }) => [
      message({
        type: 'resource',
        resource: { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
      }),
      said('Please process the embedded resource above.'),
    ],
  },
  {
    name: 'test_prompt_with_image',
    description: 'An image and a text.',
    messages: () => [
      message({ type: 'image', data: RED_PIXEL, mimeType: 'image/png' }),
      said('Please analyze the image above.'),
    ],
  },
  {
    name: 'test_input_required_result_prompt',
    description: 'A text that needs an answer first.',
    messages: (_, { user_context: answer }) => answer && [said(`In the context of ${answer.content?.context}.`)],
  },
]

const ASK_CONTEXT = {
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message: 'What context should the prompt use?',
    requestedSchema: { type: 'object', properties: { context: { type: 'string' } }, required: ['context'] },
  },
}

/** Adds the prompts, and how their arguments are completed; a hub has none of its own. */
export function addPrompts(server) {
  server.registerCapabilities({ prompts: {}, completions: {} })
  server.setRequestHandler('prompts/list', () => ({ prompts: PROMPTS.map(({ messages, ...prompt }) => prompt) }))
  server.setRequestHandler('prompts/get', ({ params }, { mcpReq }) => {
    const prompt = PROMPTS.find(({ name }) => name === params.name)
    if (!prompt) throw Object.assign(new Error(`Unknown prompt: ${params.name}`), { code: -32602 })
    const messages = prompt.messages(params.arguments ?? {}, mcpReq.inputResponses ?? {})
    if (messages) return { messages }
    return { resultType: 'input_required', inputRequests: { user_context: ASK_CONTEXT } }
  })
  server.setRequestHandler('completion/complete', ({ params }) => {
    const values = ['test', 'testing', 'paris'].filter((value) => value.startsWith(params.argument.value))
    return { completion: { values, total: values.length, hasMore: false } }
  })
}

function said(text) {
  return message({ type: 'text', text })
}

function message(content) {
  return { role: 'user', content }
}
