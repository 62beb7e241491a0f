import { ToolError } from '@tool-hub/core/errors'
import { expect, it } from 'vitest'
import { assertServerName } from './mcp-source.ts'

it('refuses what cannot name a server, and says what can', () => {
  for (const name of ['a', 'my-server_2', 'a'.repeat(32)]) expect(() => assertServerName(name)).not.toThrow()
  for (const name of ['', '2nd', 'a b', 'a.b', 'a'.repeat(33)]) {
    const thrown = catchError(() => assertServerName(name))
    expect(thrown).toMatchObject({
      code: 'CONFIG_INVALID',
      message: `Invalid MCP server name ${JSON.stringify(name)}.`,
      fix: { hint: 'Under mcpServers, use letters, digits, _ and -, beginning with a letter, at most 32 characters.' },
    })
  }
  const message = `Invalid MCP server name "${'a'.repeat(64)}".`
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
