import { defineTool } from '../../packages/tool-hub/dist/index.js'
import { echoTools } from './echo-tools.mjs'
import { governedHub } from './ours.mjs'

/** A governed hub that shows exactly the echo tools. */
export function echoHub({ runs, count }) {
  const tools = echoTools(count).map(({ name, description, inputSchema }) =>
    defineTool({ name, description, input: inputSchema, execute: ({ text }) => text }),
  )
  return governedHub({ runs, tools, visibility: { allow: tools.map(({ name }) => name) } })
}
