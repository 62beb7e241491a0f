import { createFilesystemMiddleware, FilesystemBackend } from 'deepagents'

/** The read tool of LangChain's deepagents on real files below a folder, called as an agent loop calls it. */
export default function deepagentsRead(rootDir, path) {
  const { tools } = createFilesystemMiddleware({ backend: new FilesystemBackend({ rootDir, virtualMode: true }) })
  const tool = tools.find(({ name }) => name === 'read_file')
  const args = { file_path: path, limit: 10_000 }
  return async () => {
    const { content } = await tool.invoke({ type: 'tool_call', id: 'call-1', name: 'read_file', args }, {})
    if (!JSON.stringify(content).includes('0123456789abcdef')) throw new Error('deepagents did not read the file')
  }
}
