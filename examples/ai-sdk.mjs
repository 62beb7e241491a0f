// The tools of a hub in the AI SDK: node examples/ai-sdk.mjs
// The model is scripted and needs no key. For a real one: npm i @ai-sdk/openai,
// import { openai } from '@ai-sdk/openai', and use model: openai('gpt-5') instead.
import { generateText, stepCountIs } from 'ai'
import { MockLanguageModelV3 } from 'ai/test'
import { createToolHub, defineTool } from 'tool-hub'
import { toAiSdk } from 'tool-hub/ai-sdk'
import { z } from 'zod'

const postMessage = defineTool({
  name: 'chat.post',
  description: 'Post a message to a channel.',
  input: z.strictObject({ channel: z.string(), text: z.string() }),
  capabilities: ['remote'],
  targets: ({ channel }) => ({ remote: `chat:${channel}` }),
  execute: ({ channel, text }) => `Posted ${text.length} characters to ${channel}.`,
})

const hub = createToolHub({ tools: [postMessage], runs: false, policy: [{ deny: 'remote', on: 'chat:board' }] })
const options = { model: scriptedModel(), tools: toAiSdk(hub, { names: ['chat.post'] }), stopWhen: stepCountIs(5) }
const messages = [{ role: 'user', content: 'Tell the board and the team that we shipped.' }]

// Policy denies one call, and the model receives the reason. The other one asks: the SDK stops with an approval request.
const first = await generateText({ ...options, messages })
messages.push(...first.response.messages)
for (const { type, output } of first.content) if (type === 'tool-result') console.log('result:', output.summary)
const requests = first.content.filter(({ type }) => type === 'tool-approval-request')
for (const { toolCall } of requests) {
  const { text } = await hub.explain(toolCall.toolName, toolCall.input)
  console.log(`approve? ${JSON.stringify(toolCall.input)}\n${text}`)
}

// The user approves, and the loop continues.
const approved = ({ approvalId }) => ({ type: 'tool-approval-response', approvalId, approved: true })
messages.push({ role: 'tool', content: requests.map(approved) })
const { text, response } = await generateText({ ...options, messages })
const results = response.messages.flatMap(({ role, content }) => (role === 'tool' ? content : []))
for (const { output } of results) console.log('result:', output.value)
console.log('model:', text)
await hub.close()

function scriptedModel() {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
  const call = (toolCallId, channel) => {
    const input = JSON.stringify({ channel, text: 'We shipped.' })
    return { type: 'tool-call', toolCallId, toolName: 'chat_post', input }
  }
  const answer = (unified, content) => ({ content, finishReason: { unified }, usage, warnings: [] })
  return new MockLanguageModelV3({
    doGenerate: [
      answer('tool-calls', [call('1', 'board'), call('2', 'team')]),
      answer('stop', [{ type: 'text', text: 'The team is informed; I am not allowed to write to the board.' }]),
    ],
  })
}

// Prints, among other lines:
//   result: chat.post is denied by deny remote on chat:board
//   approve? {"channel":"team","text":"We shipped."}
//   ask  remote chat:team
//   result: Posted 11 characters to team.
//   model: The team is informed; I am not allowed to write to the board.
