import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

/** A client of the SDK, connected to a server that is a process of its own. */
export async function connectStdio(args) {
  const client = new Client({ name: 'bench', version: '1.0.0' })
  await client.connect(new StdioClientTransport({ command: process.execPath, args, stderr: 'inherit' }))
  return client
}

/** The file of a contender in bench/peers. */
export function peerFile(name) {
  return fileURLToPath(new URL(`../peers/${name}.mjs`, import.meta.url))
}

/** The same trivial call for everybody. */
export async function echo(client, name, text) {
  const { content } = await client.callTool({ name, arguments: { text } })
  if (content[0]?.text !== text) throw new Error(`expected ${text}, got ${JSON.stringify(content)}`)
}
