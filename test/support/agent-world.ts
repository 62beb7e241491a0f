import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ToolError } from '@tool-hub/core/errors'
import { z } from 'zod'
import type { HubOptions } from '../../packages/core/src/options.ts'
import { defineTool } from '../../packages/core/src/tool.ts'
import { type TestHub, testHub } from '../../packages/testing/src/tool-contract.ts'

const FILES = {
  'README.md': '# Greeter\n\nSays helo.\n',
  'src/app.js': "export function greet(name) {\n  const greeting = 'helo'\n  return `${greeting} ${name}`\n}\n",
  'old.txt': 'nobody needs this\n',
  'keep.txt': 'somebody needs this\n',
  'locked/key.txt': 'the key\n',
}

/** When all of it was made; a list of files shows it. */
const MADE = new Date('2026-01-01T00:00:00Z')

const postMessage = defineTool({
  name: 'chat.post',
  description: 'Post a message to a channel.',
  input: z.strictObject({ channel: z.string(), text: z.string() }),
  capabilities: ['remote'],
  targets: ({ channel }) => ({ remote: `chat:${channel}` }),
  execute: ({ channel }) => `posted to ${channel}`,
})
const showLog = defineTool({
  name: 'log.show',
  description: 'Show the log.',
  input: z.strictObject({ lines: z.int().min(1).max(10_000) }),
  output: z.strictObject({ log: z.string() }),
  execute: ({ lines }) => ({ log: Array.from({ length: lines }, (_, line) => `${line}: nothing happened`).join('\n') }),
})
/** Calls three tools itself: one works, one is pure, one is denied to it as it would be to the model. */
const checkProject = defineTool({
  name: 'project.check',
  description: 'Check a file and write a report.',
  input: z.strictObject({ path: z.string(), report: z.string() }),
  async execute({ path, report }, ctx) {
    const read = await ctx.call('core/fs.sha256', { path })
    const hash = await ctx.call('core/util.hash.sha256Text', { text: path })
    const write = await ctx.call('core/fs.writeText', { path: report, text: 'checked' })
    return [read, hash, write].map((result) => result.error?.code ?? 'ok')
  },
})
const waitForTime = defineTool({
  name: 'time.wait',
  description: 'Wait for a better time.',
  input: z.strictObject({}),
  timeoutMs: 20,
  execute: (_, { signal }) =>
    new Promise<string>((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
})
const runBuild = defineTool({
  name: 'build.run',
  description: 'Build the project.',
  input: z.strictObject({}),
  execute: () => {
    throw new ToolError('EXEC_FAILED', 'make ended with 2.', { data: 'app.c:1: error', hint: 'Read the output.' })
  },
})
const crashBuild = defineTool({
  name: 'build.crash',
  description: 'Build the project, with a defect.',
  input: z.strictObject({}),
  execute: () => {
    throw new TypeError('undefined is not a function')
  },
})

const GOVERNANCE = {
  tools: [postMessage, showLog, checkProject, waitForTime, runBuild, crashBuild],
  policy: [
    { deny: 'write:fs', on: '**/locked/**', reason: 'the lock stays as it is' },
    { ask: 'core/fs.deletePath', reason: 'a person looks first' },
  ],
  approve: ({ targets }) => {
    const isWanted = targets.some((target) => /(old\.txt|chat:team)$/.test(target))
    return isWanted ? { decision: 'allow', by: 'owner' } : { decision: 'deny', by: 'owner', reason: 'not that one' }
  },
} satisfies HubOptions

/** A hub over a project of its own, the same each time: its files, tools, rules and the person who answers. */
export interface AgentWorld {
  readonly hub: TestHub
  /** The project's folder. */
  readonly root: string
  /** What its files hold now, by path. */
  files(): Record<string, string>
  close(): Promise<void>
}

/** Makes the world that `AGENT_SCRIPT` is about. */
export function agentWorld(): AgentWorld {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'tool-hub-agent-')))
  const root = join(base, 'project')
  for (const [path, text] of Object.entries({ ...FILES, '../outside.txt': 'not yours\n' })) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  for (const path of readdirSync(root, { encoding: 'utf8', recursive: true })) utimesSync(join(root, path), MADE, MADE)
  const hub = testHub({ ...GOVERNANCE, sandbox: { root } }) as TestHub
  return {
    hub,
    root,
    files: () => readFiles(root),
    async close() {
      await hub.close({ abort: true })
      rmSync(base, { recursive: true, force: true })
    },
  }
}

function readFiles(root: string): Record<string, string> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name)).sort()
  return Object.fromEntries(paths.map((path) => [path.slice(root.length + 1), readFileSync(path, 'utf8')]))
}
