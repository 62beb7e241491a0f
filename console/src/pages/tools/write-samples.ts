/** A call by curl, for a POSIX shell. */
export function writeCurl(origin: string, tool: string, input: unknown): string {
  const body = JSON.stringify({ input }, null, 2)
  return [
    `curl ${quote(`${origin}/v1/tools/${encodeURIComponent(tool)}/call`)} \\`,
    `  -H "authorization: Bearer $TOOL_HUB_TOKEN" \\`,
    `  -H 'content-type: application/json' \\`,
    `  -d ${quote(body)}`,
  ].join('\n')
}

/** A call by the client of the package. */
export function writeClient(origin: string, tool: string, input: unknown): string {
  return [
    `import { createClient } from 'tool-hub/client'`,
    '',
    `const client = createClient({ url: ${JSON.stringify(origin)}, token: process.env.TOOL_HUB_TOKEN })`,
    `const result = await client.call(${JSON.stringify(tool)}, ${JSON.stringify(input, null, 2)})`,
    `if (!result.ok) throw new Error(\`\${result.error.code}: \${result.error.message} \${result.error.fix.hint}\`)`,
    'console.log(result.data)',
  ].join('\n')
}

/** A word of a shell in which nothing means anything. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
