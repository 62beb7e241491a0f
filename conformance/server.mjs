// The server under test: the suite's fixtures as tools of a hub, served as any hub's. Says where on stdout; ends with its stdin.
import { addExtras } from './server/add-extras.mjs'
import { askingRules, askingTools } from './server/asking-tools.mjs'
import { changingTools } from './server/changing-tools.mjs'
import { contentTools } from './server/content-tools.mjs'
import { rawTools } from './server/raw-tools.mjs'
import { schemaTools } from './server/schema-tools.mjs'
import { TASK_AFTER_MS, taskTools } from './server/task-tools.mjs'
import { createToolHub, serveMcp } from './tool-hub.mjs'

const tools = [...contentTools, ...askingTools, ...rawTools, ...taskTools, ...schemaTools]

const hub = createToolHub({
  tools,
  sources: [changingTools()],
  visibility: { allow: [...tools.map(({ name }) => name), 'test_trigger_tool_change', 'test_extra_tool'] },
  policy: askingRules,
  runs: false,
})
const server = await serveMcp(hub, {
  extras: addExtras,
  elicitation: true,
  taskAfterMs: TASK_AFTER_MS,
  onError: (error) => console.error(error),
})
console.log(server.url)

process.stdin.resume().once('end', async () => {
  await server.close()
  await hub.close()
})
