import { createFilesystemMiddleware, FilesystemBackend } from 'deepagents'

/** A file tool of LangChain's deepagents on real files below a folder, called as an agent loop calls it. */
export function deepagentsTool(name, rootDir) {
  const { tools } = createFilesystemMiddleware({ backend: new FilesystemBackend({ rootDir, virtualMode: true }) })
  const tool = tools.find((candidate) => candidate.name === name)
  return (args) => tool.invoke({ type: 'tool_call', id: 'call-1', name, args }, {})
}
