// Runs alone in a sandboxed process: imports one plugin, describes its tools to the hub, executes their calls, and
// forwards their requests of `ctx`. It and its two parts import nothing else of the project and are plain JavaScript,
// so that they are the same files in the sources and in a build. One JSON message per line: from the hub on standard
// input, to the hub on standard output, which nothing else writes to. The hub checks every message.
import { execFile } from 'node:child_process'
import { Console } from 'node:console'
import { basename } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { contextOf, openCall } from './child-context.mjs'
import { errorShape, send, toolError } from './child-wire.mjs'

const FACTS = [
  ...['title', 'retry', 'callers', 'timeoutMs', 'overflow', 'maxOutputChars', 'examples'],
  ...['category', 'tags', 'version', 'costUnits', 'mayDestroy', 'texts'],
]
/** What a plugin may have here. */
const PLUGIN_KEYS = ['name', 'tools', 'setup', 'close']
/** Only available to a plugin in the process of the hub. */
const HOME_ONLY = ['hooks', 'required']

// The plugin prints for people; on standard output it would be taken for a message.
process.stdout.write = process.stderr.write.bind(process.stderr)
globalThis.console = new Console(process.stderr, process.stderr)

const calls = new Map()
let plugin
let tools = new Map()

const HEARD = {
  load,
  call: (message) => execute(message),
  abort: ({ call, reason }) => calls.get(call)?.abort(toolError(reason)),
  answer: ({ call, id, ok, value, error }) => calls.get(call)?.answer(id, ok, ok ? value : toolError(error)),
  ping: ({ id }) => send({ type: 'pong', id }),
}

let pieces = []
process.stdin.setEncoding('utf8')
process.stdin.on('data', (text) => {
  pieces.push(text)
  // A long line is joined once, not again with every chunk.
  if (!text.includes('\n')) return
  const lines = pieces.join('').split('\n')
  pieces = [lines.pop()]
  for (const line of lines) {
    const message = JSON.parse(line)
    HEARD[message.type](message)
  }
})
process.stdin.on('end', async () => {
  await plugin?.close?.()
  process.exit(0)
})
process.on('uncaughtException', (error) => end(error))
process.on('unhandledRejection', (error) => end(error))

function end(error) {
  process.stderr.write(`${error?.stack ?? error}\n`)
  process.exit(1)
}

/** Imports the plugin and describes its tools. */
async function load({ file, options }) {
  try {
    const { default: exported } = await import(pathToFileURL(file).href)
    if (exported === undefined) throw new Error('it has no default export.')
    if (typeof exported !== 'function' && options !== undefined) throw new Error('it takes no options.')
    const given = typeof exported === 'function' ? await exported(options ?? {}) : exported
    const found = await toolsOf(given)
    const described = found.map(describe)
    // The hub takes the first of two tools with the same name.
    tools = new Map(found.toReversed().map((tool) => [tool.name, tool]))
    send({ type: 'ready', tools: described })
  } catch (error) {
    send({ type: 'failed', message: `${await placeOf(file, error)}${error?.message ?? error}`.slice(0, 2_000) })
  }
}

/** `line 3: ` for a module with a syntax error: Node prints it only on a terminal. See packages/sandbox/src/system/code-files.ts. */
async function placeOf(file, error) {
  if (!(error instanceof SyntaxError)) return ''
  const said = await promisify(execFile)(process.execPath, ['--check', file], { timeout: 5_000 }).then(
    () => error.stack,
    ({ stderr }) => stderr,
  )
  const [, place, line] = /^([^\n]*):(\d+)\n/.exec(said ?? '') ?? []
  return place?.includes(basename(file)) ? `line ${line}: ` : ''
}

async function toolsOf(given) {
  if (Array.isArray(given)) return given
  if (typeof given !== 'object' || given === null) throw new Error('it exports neither a plugin nor a tool.')
  if ('execute' in given) return [given]
  const refused = HOME_ONLY.find((key) => given[key])
  if (refused)
    throw new Error(
      `it has ${refused}, which an isolated plugin cannot: it would guard from a place that can be ended.`,
    )
  const stranger = Object.keys(given).find((key) => ![...PLUGIN_KEYS, ...HOME_ONLY].includes(key))
  if (stranger !== undefined && Object.getPrototypeOf(given) === Object.prototype)
    throw new Error(`it has no option ${JSON.stringify(stranger)}: an isolated plugin has ${PLUGIN_KEYS.join(', ')}.`)
  plugin = given
  const registered = [...(given.tools ?? [])]
  const refuse = (what) => () => {
    throw new Error(
      `it uses api.${what}, which an isolated plugin cannot: it would guard from a place that can be ended.`,
    )
  }
  const registerTool = (tool) => {
    if (typeof tool !== 'object' || tool === null) throw new Error('registerTool needs a tool.')
    registered.push(tool)
  }
  await given.setup?.({ registerTool, addHooks: refuse('addHooks'), onEvent: refuse('onEvent') })
  return registered
}

/** The description of a tool for the hub: data only. */
function describe(tool) {
  if (typeof tool?.execute !== 'function') throw new Error(`the tool ${tool?.name} has no execute function.`)
  const isAgent = isAgentTool(tool)
  const facts = Object.fromEntries(FACTS.flatMap((key) => (tool[key] === undefined ? [] : [[key, tool[key]]])))
  return {
    ...facts,
    ...(isAgent && tool.label !== undefined && { title: tool.label }),
    name: tool.name,
    description: tool.description,
    input: toJson(isAgent ? tool.parameters : tool.input, 'input'),
    ...(tool.output !== undefined && { output: toJson(tool.output, 'output') }),
    // An AgentTool declares no capabilities, so it counts as able to run commands.
    capabilities: tool.capabilities ?? (isAgent ? ['exec'] : []),
    ...(typeof tool.targets === 'object' && tool.targets !== null && { targets: tool.targets }),
    isAgentTool: isAgent,
    hasModelForm: isAgent || typeof tool.toModel === 'function',
    lost: [
      ...(typeof tool.targets === 'function' ? ['targets'] : []),
      ...['dialects', 'override', 'doubt', 'group'].filter((key) => tool[key] !== undefined),
    ],
  }
}

function isAgentTool(tool) {
  return tool.input === undefined && tool.parameters !== undefined
}

function toJson(schema, side) {
  const standard = schema?.['~standard']
  if (typeof standard?.validate !== 'function') return schema
  if (standard.jsonSchema) return standard.jsonSchema[side]({ target: 'draft-2020-12' })
  throw new Error(`a schema made with ${standard.vendor} cannot be shown as JSON Schema.`)
}

async function execute({ call, tool: name, input, context }) {
  const tool = tools.get(name)
  const state = openCall(call)
  calls.set(call, state)
  try {
    const ctx = contextOf(state, context, new Set(tool.capabilities ?? []))
    const outcome = isAgentTool(tool) ? await runAgentTool(tool, input, ctx) : await runTool(tool, input, ctx)
    state.send({ type: 'result', ...outcome })
  } catch (error) {
    state.send({ type: 'error', error: errorShape(error) })
  } finally {
    calls.delete(call)
    state.close()
  }
}

async function runTool(tool, input, ctx) {
  const checked = await parse(tool.input, input, 'INPUT_SCHEMA_INVALID')
  const value = await parse(tool.output, await tool.execute(checked, ctx), 'OUTPUT_SCHEMA_INVALID')
  return { value, ...(typeof tool.toModel === 'function' && { content: tool.toModel(value) }) }
}

async function runAgentTool(tool, input, ctx) {
  const blocks = (content) =>
    content.map((block) =>
      block.type === 'image' ? { type: 'image', data: block.data, mediaType: block.mimeType } : block,
    )
  const update = ({ content }) => ctx.progress(blocks(content))
  const { content, details = null } = await tool.execute(ctx.callId, input, ctx.signal, update)
  return { value: { content, details }, content: blocks(content) }
}

/** The hub has checked the JSON Schema; refinements and transforms belong to the schema library. */
async function parse(schema, value, code) {
  const standard = schema?.['~standard']
  if (typeof standard?.validate !== 'function') return value
  const { issues, value: parsed } = await standard.validate(value)
  if (!issues) return parsed
  const places = issues.slice(0, 10).map(({ path = [], message }) => {
    const keys = path.map((part) => String(part?.key ?? part))
    return keys.length === 0 ? message : `${keys.join('.')}: ${message}`
  })
  throw toolError({ code, message: places.join('; ') })
}
