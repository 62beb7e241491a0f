/**
 * The tools of the demo as the text of a plugin file. It stands in the demo's folder beside the config, so that every
 * command works there afterwards; plain objects, because nothing can be imported from a temporary folder.
 */
export const DEMO_TOOLS = `// The tools of the demo. In a project, write them with defineTool from 'tool-hub': tool-hub new tool.
const text = { type: 'string' }
const object = (properties) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
})

const fetchPage = {
  name: 'demo/web.fetch',
  description: 'Fetch a page that holds JSON. Not for sending anything.',
  input: object({ url: text }),
  output: object({ status: { type: 'integer' }, json: {} }),
  capabilities: ['network'],
  targets: ({ url }) => ({ network: url }),
  async execute({ url }, ctx) {
    const response = await ctx.fetch(url)
    const body = await response.text()
    ctx.evidence({ type: 'url', ref: url, summary: \`\${response.status}, \${body.length} characters\` })
    return { status: response.status, json: JSON.parse(body) }
  },
  toModel: ({ json }) => JSON.stringify(json),
}

const writeReport = {
  name: 'demo/files.writeReport',
  description: 'Write a finished report as a new file. Not for changing files that are there.',
  input: object({ path: text, text }),
  output: object({ path: text, bytes: { type: 'integer' }, sha256: text }),
  capabilities: ['write:fs'],
  targets: ({ path }) => ({ 'write:fs': path }),
  async execute({ path, text }, ctx) {
    const { bytes, sha256 } = await ctx.fs.writeText(path, text, { mkdirp: true })
    ctx.evidence({ type: 'file', ref: path, summary: \`\${bytes} bytes, sha256 \${sha256.slice(0, 12)}…\` })
    return { path, bytes, sha256 }
  },
  toModel: ({ path, bytes }) => \`Wrote \${path} (\${bytes} bytes).\`,
}

export default { name: 'demo', tools: [fetchPage, writeReport] }
`
