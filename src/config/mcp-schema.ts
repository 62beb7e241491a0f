import { z } from 'zod'
import { SERVER_NAME } from '../core/index.ts'
import { duration, key, text } from './schema-parts.ts'

const texts = z.record(z.string(), z.string())

const fence = z.strictObject({
  readable: key(z.array(text), 'Further files and folders that it sees.', []),
  writable: key(z.array(text), 'Folders that it may change.', []),
  hosts: key(z.array(text), 'Hosts that it reaches.', []),
})

/** `true`, or what a fenced program gets beside the folders of the system. */
export const fenceSchema = z.union([z.boolean(), fence])

const oauth = z.strictObject({
  clientId: key(text, 'The client id known to the service. Default: registered dynamically.'),
  clientSecret: key(text, 'As a reference: ${env:NAME} or ${secret:name}.'),
  issuer: key(
    text,
    'The only authorization server that may get the secret. Default: the first that the service names.',
  ),
  scopes: key(z.array(text), 'What to ask for. Default: what the service suggests.'),
  callbackPort: key(z.int().min(1).max(65_535), 'Port that the browser returns to. Default: any free one.'),
})

/** Keys that other programs write into their config. They say nothing here: rules do. */
export const FOREIGN_KEYS = [
  'autoApprove',
  'alwaysAllow',
  'disabledTools',
  'gallery',
  'version',
  'dev',
  'note',
  'envFile',
]

const common = {
  disabled: key(z.boolean(), 'Leaves it out.', false),
  trust: key(
    z.boolean(),
    'Believes what it says of its tools: read-only ones run unasked, and their results count as trusted.',
    false,
  ),
  timeout: key(duration, 'Time for one call. Default: the limit of every tool.'),
  startTimeout: key(duration, 'Time to connect and to list its tools.', '30s'),
  ...Object.fromEntries(
    FOREIGN_KEYS.map((name) => [name, key(z.unknown(), 'Of another program; it says nothing here.')]),
  ),
}

const program = z.strictObject({
  type: key(z.literal('stdio'), 'A program.'),
  command: text.describe('The program.'),
  args: key(z.array(z.string()), 'Its arguments.', []),
  env: key(texts, 'Its environment beside PATH, HOME and the like; ${env:NAME} and ${secret:name} are filled in.'),
  cwd: key(text, 'The folder it runs in. Default: the folder of this config; with sandbox, a folder of its own.'),
  sandbox: key(fenceSchema, 'Fences it in like a command.', false),
  ...common,
})

const service = z.strictObject({
  type: key(z.enum(['http', 'streamable-http', 'sse']), 'The transport. Default: detected.'),
  url: z.url({ protocol: /^https?$/ }).describe('Where it answers.'),
  headers: key(texts, 'Sent with every request; ${env:NAME} and ${secret:name} are filled in.'),
  oauth: key(z.union([z.literal(false), oauth]), 'How to sign in; false never signs in. Default: discovered.'),
  ...common,
})

/** MCP servers by name, in the shape of Claude, Cursor and VS Code. */
export const mcpServersSchema = z.record(
  z.string().regex(SERVER_NAME, 'letters, digits, _ and -, at most 32, a letter first'),
  z.union([program, service]),
)

/** The servers as they were written. */
export type WrittenMcpServers = z.output<typeof mcpServersSchema>
