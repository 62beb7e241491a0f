// The tools of a hub in the OpenAI Agents SDK: node examples/openai-agents.mjs
// The model is scripted and needs no key. For a real one: npm i @openai/agents, import everything from there,
// set OPENAI_API_KEY, and leave out `model` and setTracingDisabled.
import { Agent, run, setTracingDisabled, tool } from '@openai/agents-core'
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents-core/testing'
import { createToolHub, defineTool } from 'tool-hub'
import { toOpenAiAgents } from 'tool-hub/openai-agents'
import { z } from 'zod'

setTracingDisabled(true)
const postMessage = defineTool({
  name: 'chat.post',
  description: 'Post a message to a channel.',
  input: z.strictObject({ channel: z.string(), text: z.string() }),
  capabilities: ['remote'],
  targets: ({ channel }) => ({ remote: `chat:${channel}` }),
  execute: ({ channel, text }) => `Posted ${text.length} characters to ${channel}.`,
})

const hub = createToolHub({ tools: [postMessage], runs: false, policy: [{ deny: 'remote', on: 'chat:board' }] })
const tools = toOpenAiAgents(hub, { tool, names: ['chat.post'] })
const agent = new Agent({ name: 'Messenger', model: scriptedModel(), tools })

// Policy denies one call, and the model receives the reason. The other one asks: the run is interrupted.
let result = await run(agent, 'Tell the board and the team that we shipped.')
for (const interruption of result.interruptions) {
  const { text } = await hub.explain(interruption.name, JSON.parse(interruption.arguments))
  console.log(`approve? ${interruption.arguments}\n${text}`)
  result.state.approve(interruption)
}

// The user approved, and the run continues.
result = await run(agent, result.state)
for (const { type, output } of result.newItems) if (type === 'tool_call_output_item') console.log('result:', output)
console.log('model:', result.finalOutput)
await hub.close()

function scriptedModel() {
  const call = (callId, channel) => functionCall('chat_post', { channel, text: 'We shipped.' }, { callId })
  return new ScriptedModel([
    [call('1', 'board'), call('2', 'team')],
    [assistantMessage('The team is informed; I am not allowed to write to the board.')],
  ])
}

// Prints, among other lines:
//   approve? {"channel":"team","text":"We shipped."}
//   result: POLICY_DENIED: chat.post is denied
//   result: Posted 11 characters to team.
//   model: The team is informed; I am not allowed to write to the board.
