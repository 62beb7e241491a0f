// The tools of a hub in an OpenAI loop: node examples/openai.mjs
// With a real key: OPENAI_API_KEY=… node examples/openai.mjs (without one, a scripted model answers).
import OpenAI from 'openai'
import { createToolHub, defineTool } from 'tool-hub'
import { toOpenAi } from 'tool-hub/openai'

const weather = defineTool({
  name: 'weather.now',
  description: 'The weather in a city now.',
  input: { type: 'object', properties: { city: { type: 'string' }, unit: { enum: ['C', 'F'] } }, required: ['city'] },
  execute: ({ city, unit = 'C' }) => `${city}: 21 °${unit}, sunny`,
})
const book = defineTool({
  name: 'trip.book',
  description: 'Book a trip to a city.',
  input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  capabilities: ['remote'], // acts elsewhere, so the hub asks first
  targets: ({ city }) => ({ remote: `trips/${city}` }),
  execute: ({ city }) => `booked ${city}`,
})

const hub = createToolHub({ tools: [weather, book], visibility: { allow: ['weather.now', 'trip.book'] }, runs: false })
const { chat } = toOpenAi(hub, {
  strict: true,
  approve({ tool, targets }) {
    console.log(`approve? ${tool} on ${targets} -> no`)
    return { decision: 'deny', reason: 'Ask again tomorrow.' }
  },
})

const client = new OpenAI(process.env.OPENAI_API_KEY ? {} : { apiKey: 'none', fetch: scriptedModel() })
const messages = [{ role: 'user', content: 'How is the weather in Rome? If it is sunny, book a trip there.' }]
for (let turn = 0; turn < 10; turn++) {
  const { choices } = await client.chat.completions.create({ model: 'gpt-5.2', messages, tools: chat.tools })
  const { message } = choices[0]
  messages.push(message)
  if (!message.tool_calls) break
  const answers = await chat.run(message, { messages })
  for (const [index, call] of message.tool_calls.entries()) {
    console.log(`${call.function.name} ${call.function.arguments} -> ${answers[index].content}`)
  }
  messages.push(...answers)
}
console.log('model:', messages.at(-1).content)
await hub.close()

/** Stands in for the API: calls a tool, calls another, says something. */
function scriptedModel() {
  const call = (id, name, args) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(args) } })
  const turns = [
    { tool_calls: [call('call_1', 'weather_now', { city: 'Rome', unit: null })] },
    { tool_calls: [call('call_2', 'trip_book', { city: 'Rome' })] },
    { content: 'It is sunny in Rome; the trip has to wait until tomorrow.' },
  ]
  return async () => Response.json({ choices: [{ index: 0, message: { role: 'assistant', ...turns.shift() } }] })
}

// Prints, among other lines:
//   weather_now {"city":"Rome","unit":null} -> Rome: 21 °C, sunny
//   approve? trip.book on remote trips/Rome -> no
//   trip_book {"city":"Rome"} -> APPROVAL_DENIED:
//   model: It is sunny in Rome; the trip has to wait until tomorrow.
