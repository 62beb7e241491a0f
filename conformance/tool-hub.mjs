// What is tested, as it is built.
export { createToolHub, defineTool, ToolError } from '../dist/index.js'
export { serveMcp } from '../dist/public/mcp.js'
export { signInToServer } from '../dist/sources/mcp/manage/sign-in.js'
