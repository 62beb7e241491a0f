import { expect, it } from 'vitest'
import { ToolError } from '../../core/errors.ts'
import { assertServerName } from './mcp-source.ts'

it('refuses what cannot name a server, and says what can', () => {
  for (const name of ['a', 'my-server_2', 'a'.repeat(32)]) expect(() => assertServerName(name)).not.toThrow()
  for (const name of ['', '2nd', 'a b', 'a.b', 'a'.repeat(33)]) {
    const thrown = catchError(() => assertServerName(name))
    expect(thrown).toMatchObject({
      code: 'CONFIG_INVALID',
      message: `${JSON.stringify(name)} is not a name for an MCP server.`,
      fix: { hint: 'Under mcpServers, use letters, digits, _ and -, beginning with a letter, at most 32 characters.' },
    })
  }
  const message = `"${'a'.repeat(64)}" is not a name for an MCP server.`
  expect(catchError(() => assertServerName('a'.repeat(65)))).toMatchObject({ message })
})

function catchError(attempt: () => void): unknown {
  try {
    attempt()
  } catch (error) {
    if (ToolError.is(error)) return error
  }
  return undefined
}
