// The tools of a hub as AgentTools ({ name, label, description, parameters, execute }): node examples/agent-tools.mjs
// Any loop that supports this format can run them with its own model and key; this example makes a few scripted calls.
import { createToolHub, defineTool } from 'tool-hub'
import { toAgentTools } from 'tool-hub/agent-tools'

let answer
const pickColor = defineTool({
  name: 'ui.pickColor',
  title: 'Pick a color',
  description: 'Let the user pick a color in the client.',
  input: { type: 'object', properties: {} },
  execute(_, ctx) {
    ctx.pending('waiting for the client')
    return new Promise((resolve) => {
      answer = resolve
    })
  },
})
const count = defineTool({
  name: 'demo.count',
  description: 'Count to a number.',
  input: { type: 'object', properties: { to: { type: 'integer', maximum: 5 } }, required: ['to'] },
  execute({ to }, ctx) {
    for (let number = 1; number <= to; number++) ctx.progress(`${number}…`)
    return `counted to ${to}`
  },
})

const hub = createToolHub({ tools: [pickColor, count], runs: false })
const tools = toAgentTools(hub, {
  names: ['ui.pickColor', 'demo.count'],
  log: (line) => console.log(line),
  onSettled: (result, toolCallId) => console.log(`${toolCallId} ended later:`, result.data),
})
for (const { name, label, description } of tools) console.log(`${name} (${label}): ${description}`)

const [counter, picker] = tools
const show = ({ content }) => content.map((block) => block.text ?? `[${block.type}]`).join('\n')
const onUpdate = (update) => console.log('update:', show(update))

console.log('result:', show(await counter.execute('call-1', { to: 3 }, undefined, onUpdate)))
console.log('result:', show(await counter.execute('call-2', { to: 9 })))
console.log('result:', show(await picker.execute('call-3', {})))
answer('red')
await counter
  .execute('call-4', { to: 1 }, AbortSignal.abort())
  .catch(({ name, message }) => console.log(`${name}: ${message}`))
await hub.close()

// Prints, among other lines:
//   update: 3…
//   result: counted to 3
//   "error": "Invalid arguments for demo_count: to must be <= 5."
//   "status": "pending"
//   call-3 ended later: red
//   AbortError: demo_count was stopped by its caller.
