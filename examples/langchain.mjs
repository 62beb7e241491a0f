// The tools of a hub in LangChain: node examples/langchain.mjs
// The model is scripted and needs no key. For a real one: npm i @langchain/openai,
// import { ChatOpenAI } from '@langchain/openai', and use new ChatOpenAI({ model: 'gpt-5' }) instead of scriptedModel().
// With LangGraph, pass the tools to createAgent or ToolNode, and its interrupt to toLangChain to let the graph ask.
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages'
import { fakeModel } from '@langchain/core/testing'
import { DynamicStructuredTool } from '@langchain/core/tools'
import { createToolHub, defineTool } from 'tool-hub'
import { toLangChain } from 'tool-hub/langchain'
import { z } from 'zod'

const postMessage = defineTool({
  name: 'chat.post',
  description: 'Post a message to a channel.',
  input: z.strictObject({ channel: z.string(), text: z.string() }),
  capabilities: ['remote'],
  targets: ({ channel }) => ({ remote: `chat:${channel}` }),
  execute: ({ channel, text }) => `Posted ${text.length} characters to ${channel}.`,
})

const hub = createToolHub({
  tools: [postMessage],
  runs: false,
  policy: [{ deny: 'remote', on: 'chat:board' }],
  approve: ({ tool, targets }) => {
    console.log(`approve? ${tool} on ${targets.join(', ')}: yes`)
    return { decision: 'allow', by: 'you' }
  },
})
const tools = toLangChain(hub, { DynamicStructuredTool, ToolMessage, names: ['chat.post'] })
const model = scriptedModel().bindTools(tools)

const messages = [new HumanMessage('Tell the board and the team that we shipped.')]
for (;;) {
  const message = await model.invoke(messages)
  messages.push(message)
  if (!message.tool_calls?.length) break
  for (const call of message.tool_calls) {
    const answer = await tools.find(({ name }) => name === call.name).invoke({ ...call, type: 'tool_call' })
    console.log(`${answer.status}: ${answer.content}`)
    messages.push(answer)
  }
}
console.log('model:', messages.at(-1).content)
await hub.close()

function scriptedModel() {
  const call = (id, channel) => ({ id, name: 'chat_post', args: { channel, text: 'We shipped.' } })
  return fakeModel()
    .respondWithTools([call('1', 'board'), call('2', 'team')])
    .respond(new AIMessage('The team is informed; I am not allowed to write to the board.'))
}

// Prints, among other lines:
//   error: POLICY_DENIED: chat.post is denied
//   approve? chat.post on remote chat:team: yes
//   success: Posted 11 characters to team.
//   model: The team is informed; I am not allowed to write to the board.
