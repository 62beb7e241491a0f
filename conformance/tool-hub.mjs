// What is tested, as it is built.
export { createToolHub, defineTool, ToolError } from '../packages/tool-hub/dist/index.js'
export { signInToServer } from '../packages/tool-hub/dist/mcp/manage/sign-in.js'
export { serveMcp } from '../packages/tool-hub/dist/mcp.js'
