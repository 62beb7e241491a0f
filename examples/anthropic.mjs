// The tools of a hub in a streamed loop with Claude: node examples/anthropic.mjs
// With a real key: ANTHROPIC_API_KEY=… node examples/anthropic.mjs (without one, a scripted model answers).
import Anthropic from '@anthropic-ai/sdk'
import { createToolHub } from 'tool-hub'
import { toAnthropic } from 'tool-hub/anthropic'

const hub = createToolHub({
  visibility: { allow: ['core/util.hash.sha256Text', 'core/util.time.now'] },
  policy: [{ deny: 'core/util.time.now', reason: 'time does not matter here' }],
  runs: false,
})
const claude = toAnthropic(hub, { strict: true, cacheControl: true })

const client = new Anthropic(process.env.ANTHROPIC_API_KEY ? {} : { apiKey: 'none', fetch: scriptedModel() })
const messages = [{ role: 'user', content: 'What is the SHA-256 of "hello"? And what time is it?' }]
for (let turn = 0; turn < 10; turn++) {
  const request = { model: 'claude-sonnet-4-6', max_tokens: 1000, messages, tools: claude.tools }
  const message = await client.messages.stream(request).finalMessage()
  messages.push({ role: 'assistant', content: message.content })
  if (message.stop_reason !== 'tool_use') break
  const results = await claude.run(message, { messages })
  for (const { tool_use_id, content, is_error } of results) {
    console.log(`${tool_use_id}${is_error ? ' (error)' : ''} -> ${JSON.stringify(content)}`)
  }
  messages.push({ role: 'user', content: results })
}
console.log('model:', messages.at(-1).content.at(-1).text)
await hub.close()

/** Stands in for the API: calls two tools in one turn, then answers with text. */
function scriptedModel() {
  const use = (id, name, input) => ({ type: 'tool_use', id, name, input })
  const turns = [
    [use('toolu_1', 'core_util_hash_sha256Text', { text: 'hello' }), use('toolu_2', 'core_util_time_now', {})],
    [{ type: 'text', text: 'It begins with 2cf24d; I am not allowed to read the time.' }],
  ]
  return async () => {
    const blocks = turns.shift()
    const usage = { input_tokens: 1, output_tokens: 1 }
    const stop_reason = blocks[0].type === 'tool_use' ? 'tool_use' : 'end_turn'
    const events = [
      { type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', content: [], usage } },
      ...blocks.flatMap((content_block, index) => [
        { type: 'content_block_start', index, content_block },
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: { stop_reason }, usage },
      { type: 'message_stop' },
    ]
    const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  }
}

// Prints, among other lines:
//   toolu_1 -> "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
//   toolu_2 (error) -> "POLICY_DENIED:
//   model: It begins with 2cf24d; I am not allowed to read the time.
