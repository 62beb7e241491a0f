import { describeIssue, mcpServersSchema, toJsonSchema } from '../../config/index.ts'
import { formatPath } from '../../core/document/index.ts'
import { SERVER_NAME } from '../../core/index.ts'
import { isPlainObject } from '../../lib/index.ts'

/** What is wrong with a server, and what to do about it. */
export interface Fault {
  readonly message: string
  readonly hint: string
}

/** What keeps a server out of the config; nothing when it is right. */
export function findFault(name: string, entry: unknown): Fault | undefined {
  if (!SERVER_NAME.test(name))
    return {
      message: `${JSON.stringify(name.slice(0, 64))} cannot be its name`,
      hint: 'Names have letters, digits, _ and -, a letter first, at most 32.',
    }
  if (!isPlainObject(entry)) return { message: `it is ${kindOf(entry)}, no object`, hint: SHAPE }
  const servers = { [name]: entry }
  const { error } = mcpServersSchema.safeParse(servers)
  if (!error) return undefined
  if (entry.command === undefined && entry.url === undefined)
    return { message: 'it has neither a command nor a url', hint: SHAPE }
  const [first] = error.issues.flatMap((issue) => describeIssue(issue, servers, toJsonSchema(mcpServersSchema)))
  const where = formatPath(first?.path.slice(1) ?? [])
  const told = first?.message.replace(/\.$/, '') ?? 'it cannot be read'
  return { message: `${where ? `${where}: ` : ''}${told}`, hint: where === 'url' ? ADDRESS : SHAPE }
}

const SHAPE = 'A server is { "command": "npx", "args": [ … ] } or { "url": "https://…" }.'
const ADDRESS = 'Write the address whole: https://mcp.example.org/mcp.'

function kindOf(value: unknown): string {
  if (value === null) return 'nothing'
  return Array.isArray(value) ? 'a list' : `a ${typeof value}`
}
