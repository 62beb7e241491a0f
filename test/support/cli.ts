import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** The built CLI. */
export const CLI_MAIN = resolve(process.env.TOOL_HUB_TEST_MAIN ?? 'packages/tool-hub/dist/cli/main.js')

/** How a command line ended, and what it said. */
export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A command line under way. */
export interface Running {
  readonly child: ChildProcessWithoutNullStreams
  readonly ended: Promise<Ended>
  /** Resolves when stdout or stderr has said this. */
  says(text: string): Promise<void>
  /** What it has printed so far. */
  said(): { readonly stdout: string; readonly stderr: string }
}

/** A folder with a config, a plugin and the real, built CLI to run in it. */
export interface CliFolder {
  readonly path: string
  run(words: readonly string[], stdin?: string): Promise<Ended>
  start(words: readonly string[]): Running
  write(file: string, text: string): string
  remove(): void
}

/** Makes a folder of its own for the tests of one file; null means no config. It is the home folder, too, unless one is given. */
export function cliFolder(config: string | null = CONFIG, home?: string): CliFolder {
  const path = mkdtempSync(join(tmpdir(), 'tool-hub-cli-'))
  const write = (file: string, text: string) => {
    writeFileSync(join(path, file), text)
    return join(path, file)
  }
  if (config !== null) write('tool-hub.yaml', config)
  write('plugin.mjs', PLUGIN)
  const start = (words: readonly string[]) => startCli(path, words, CLI_MAIN, home)
  return {
    path,
    start,
    write,
    run(words, stdin = '') {
      const { child, ended } = start(words)
      // A command that does not read its stdin may be gone before it is written.
      child.stdin.on('error', () => {})
      child.stdin.end(stdin)
      return ended
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  }
}

/** The values of a text of JSON lines. */
// biome-ignore lint/suspicious/noExplicitAny: tests look at whatever a command printed
export function jsonLines(text: string): any[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}

/** Starts the built CLI, or another copy of it, in a folder. */
export function startCli(
  cwd: string,
  words: readonly string[],
  main = CLI_MAIN,
  home = cwd,
  variables: Readonly<Record<string, string>> = {},
): Running {
  // What a command leaves in the temporary folder goes with the folder of the test.
  const env = { PATH: process.env.PATH, HOME: home, TMPDIR: cwd, ...variables }
  const child = spawn(process.execPath, [main, ...words], { cwd, env })
  const said = { stdout: '', stderr: '' }
  const waiting: { readonly text: string; readonly resolve: () => void }[] = []
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      said[name] += chunk
      for (const { text, resolve: told } of waiting) if (said[name].includes(text)) told()
    })
  }
  const ended = new Promise<Ended>((done) => child.on('close', (code) => done({ code, ...said })))
  const says = (text: string) =>
    new Promise<void>((told, failed) => {
      if (said.stdout.includes(text) || said.stderr.includes(text)) return told()
      waiting.push({ text, resolve: told })
      void ended.then(() => failed(new Error(`It ended without saying ${text}: ${said.stdout}${said.stderr}`)))
    })
  return { child, ended, says, said: () => ({ ...said }) }
}

const CONFIG = `version: 1
plugins: [./plugin.mjs]
sandbox: { root: . }
policy:
  - { ask: test/note, reason: "notes are read by a person first" }
  - { deny: test/forbidden, reason: "never" }
`

const PLUGIN = `
const anything = { type: 'object' }
const text = { type: 'string' }
const closed = (properties, required = []) => ({ type: 'object', properties, required, additionalProperties: false })
const turns = new Map()
const turn = (id) => {
  if (!turns.has(id)) {
    let end
    const over = new Promise((resolve) => { end = resolve })
    turns.set(id, { over, end: () => end() ?? 'over' })
  }
  return turns.get(id)
}
const aborted = (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))

export default {
  name: 'test',
  async setup(api) {
    await null
    api.registerTool({
      name: 'test/late',
      description: 'Registered after a moment.',
      input: closed({}),
      capabilities: [],
      execute: () => 'late',
    })
  },
  tools: [
    {
      name: 'test/echo',
      description: 'Returns its input.',
      input: anything,
      capabilities: [],
      execute: (input) => input,
    },
    {
      name: 'test/follows',
      description: 'Ends after the call with another id has ended.',
      input: anything,
      capabilities: [],
      async execute({ id, after }) {
        if (after !== null) await turn(after).over
        return turn(id).end()
      },
    },
    {
      name: 'test/wipes',
      description: 'Would remove everything.',
      input: closed({}),
      capabilities: ['danger:destructive'],
      execute: () => 'never',
    },
    {
      name: 'test/typed',
      description: 'Has an argument of every type.',
      input: closed({
        path: text,
        maxBytes: { type: 'integer' },
        ratio: { type: 'number' },
        deep: { type: 'boolean' },
        tags: { type: 'array', items: text },
        options: anything,
        json: text,
        level: { enum: ['low', 'high'] },
      }),
      capabilities: [],
      execute: (input) => input,
    },
    {
      name: 'test/note',
      description: 'Writes a note; policy asks.',
      input: closed({ path: text, text }, ['path', 'text']),
      capabilities: ['write:fs'],
      targets: ({ path }) => ({ 'write:fs': path }),
      async execute({ path, text }, ctx) {
        await ctx.fs.writeText(path, text)
        return { path }
      },
    },
    {
      name: 'test/forbidden',
      description: 'Policy denies it.',
      input: closed({}),
      capabilities: ['write:fs'],
      execute: () => 'never',
    },
    {
      name: 'test/fails',
      description: 'Has a defect.',
      input: closed({}),
      capabilities: [],
      execute() {
        throw 'a string'
      },
    },
    {
      name: 'test/hangs',
      description: 'Waits until it is stopped.',
      input: closed({}),
      capabilities: [],
      execute(_, ctx) {
        ctx.progress('hanging')
        return aborted(ctx.signal)
      },
    },
    {
      name: 'test/nests',
      description: 'Calls another tool.',
      input: closed({}),
      capabilities: [],
      async execute(_, ctx) {
        return (await ctx.call('test/echo', { nested: true })).data
      },
    },
    {
      name: 'test/paints',
      description: 'Tries to drive\\u001b[2J the terminal.',
      input: closed({}),
      capabilities: [],
      execute: () => ({ text: 'red \\u001b[31m and \\u202e reversed' }),
      toModel: ({ text }) => text,
    },
  ],
}
`
