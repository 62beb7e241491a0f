import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { CLI_MAIN } from './support/cli.ts'
import { type CodeBlock, codeBlocks, GUIDES, shellCommands } from './support/markdown-blocks.ts'
import { startPostgres, type TestPostgres } from './support/postgres.ts'

// Each test follows a whole guide, with all its commands.
vi.setConfig({ testTimeout: 600_000 })

/** A newcomer's machine: an empty folder, a home folder, and the built package as if it had been installed. */
interface Newcomer {
  readonly folder: string
  readonly home: string
  readonly port: number
  /** The URL of an empty PostgreSQL database, for guides that need one. */
  readonly database: string | undefined
  /** Everything that was printed so far, by which placeholders such as <id> are filled in. */
  printed: string
}

const temporary: string[] = []
const background: ChildProcess[] = []
const databases: TestPostgres[] = []

afterEach(async () => {
  await Promise.all(background.splice(0).map(stop))
  await Promise.all(databases.splice(0).map((database) => database.close()))
  for (const folder of temporary.splice(0)) rmSync(folder, { recursive: true, force: true })
})

describe('a newcomer in an empty folder', () => {
  it.each(GUIDES.map((page) => [basename(page, '.md'), page] as const))('can follow %s', (_, page) =>
    follow(codeBlocks(page)),
  )

  it('can follow the policy section of the README', () => {
    const lines = readFileSync('README.md', 'utf8').split('\n')
    const [from, to] = ['## Approve a change, then improve the policy', '## Use it as a library'].map((heading) =>
      lines.indexOf(heading),
    ) as [number, number]
    const blocks = codeBlocks('README.md').filter(({ line }) => line > from && line < to)
    expect(blocks.map(({ language }) => language)).toEqual(['yaml', 'sh', 'yaml', 'sh', 'text'])
    return follow(blocks)
  })
})

/** Writes the named files, runs the commands and compares what they print with what the page shows. */
async function follow(blocks: readonly CodeBlock[]): Promise<void> {
  const needsDatabase = blocks.some(({ text }) => text.includes('DATABASE_URL'))
  const newcomer = await arrive(needsDatabase ? await startDatabase() : undefined)
  let output = ''
  for (const [index, block] of blocks.entries()) {
    if (block.label === 'not run') continue
    if (block.label.includes('.')) writeNamed(newcomer, block)
    else if (block.label === 'background') output = await startInBackground(newcomer, block, blocks[index + 1]!)
    else if (block.language === 'sh') output = await runInOrder(newcomer, block)
    else if (block.language === 'text') expectLines(block, output)
  }
}

async function startDatabase(): Promise<string> {
  const database = await startPostgres({ tcp: true })
  databases.push(database)
  return database.url
}

async function arrive(database?: string): Promise<Newcomer> {
  const machine = mkdtempSync(join(tmpdir(), 'tool-hub-guide-'))
  temporary.push(machine)
  const [folder, home, programs] = ['project', 'home', 'programs'].map((name) => join(machine, name)) as [
    string,
    string,
    string,
  ]
  for (const path of [home, programs, join(folder, 'node_modules/@modelcontextprotocol')])
    mkdirSync(path, { recursive: true })
  for (const name of ['zod', 'vitest', '@modelcontextprotocol/server-filesystem'])
    symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name))
  symlinkSync(resolve('packages/tool-hub'), join(folder, 'node_modules/tool-hub'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const cli = join(programs, 'tool-hub')
  writeFileSync(cli, `#!/bin/sh\nexec "${process.execPath}" "${CLI_MAIN}" "$@"\n`)
  chmodSync(cli, 0o755)
  return { folder, home, port: await freePort(), database, printed: '' }
}

function writeNamed({ folder, port }: Newcomer, { label, text }: CodeBlock): void {
  mkdirSync(dirname(join(folder, label)), { recursive: true })
  writeFileSync(join(folder, label), text.replaceAll(':4040', `:${port}`))
}

/** Runs the commands of a block one after the other; a comment that says `exit code N` expects that code. */
async function runInOrder(newcomer: Newcomer, block: CodeBlock): Promise<string> {
  let all = ''
  for (const { command, comment } of shellCommands(block)) {
    const { code, output } = await ended(start(newcomer, command))
    newcomer.printed += output
    all += output
    const expected = Number(/exit code (\d+)/.exec(comment)?.[1] ?? 0)
    expect(
      code,
      `${block.page}:${block.line} ${command}
${output}`,
    ).toBe(expected)
  }
  return all
}

/** Starts the command of a block, and continues as soon as it has printed what the page shows next, or else a line. */
async function startInBackground(newcomer: Newcomer, block: CodeBlock, next: CodeBlock): Promise<string> {
  const child = start(newcomer, shellCommands(block).at(-1)!.command)
  background.push(child)
  let output = ''
  await new Promise<void>((printed, failed) => {
    const read = (chunk: Buffer) => {
      output += chunk
      newcomer.printed += chunk
      if (next.language === 'text' ? missingLine(next, output) === undefined : output.includes('\n')) printed()
    }
    child.stdout!.on('data', read)
    child.stderr!.on('data', read)
    child.on('close', (code) => failed(new Error(`${block.page}:${block.line} ended with ${code}: ${output}`)))
  })
  return output
}

function start(newcomer: Newcomer, command: string): ChildProcess {
  const { folder, home, port, database } = newcomer
  const variables = join(home, 'variables')
  const script = [
    `[ -f '${variables}' ] && . '${variables}'`,
    filledIn(newcomer, command),
    'code=$?',
    `export -p > '${variables}'`,
    'exit $code',
  ].join('\n')
  const PATH = `${join(dirname(folder), 'programs')}:${process.env.PATH}`
  const env = {
    PATH,
    HOME: home,
    TMPDIR: home,
    TOOL_HUB_PORT: String(port),
    ...(database !== undefined && { DATABASE_URL: database }),
  }
  return spawn('bash', ['-c', script], { cwd: folder, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
}

/** The command with this machine's values: <id> is the approval printed last, <run> the last run, <script> the script that waits. */
function filledIn({ printed, port }: Newcomer, command: string): string {
  const last = (pattern: RegExp) => printed.match(pattern)?.at(-1) ?? 'nothing-printed'
  return command
    .replaceAll('npx tool-hub', 'tool-hub')
    .replaceAll('tool-hub serve', `tool-hub serve --port ${port}`)
    .replaceAll(':4040', `:${port}`)
    .replaceAll('<id>', last(/approval-[\w-]+(?:\.\d+)*/g))
    .replaceAll('<script>', last(/(?<=code wait )[\w-]+/g))
    .replaceAll('<run>', last(/run-\d{8}-\d{6}-[0-9a-f]+/g))
    .replaceAll('<candidate>', last(/candidate-[\w-]+/g))
}

/** A port that nothing listens on. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  await new Promise((closed) => server.close(closed))
  return port
}

function ended(child: ChildProcess): Promise<{ readonly code: number | null; readonly output: string }> {
  let output = ''
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk) => (output += chunk))
  return new Promise((done) => child.on('close', (code) => done({ code, output })))
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((done) => child.on('close', done))
  process.kill(-child.pid!, 'SIGTERM')
  await gone
}

function expectLines(block: CodeBlock, output: string): void {
  expect(missingLine(block, output), `${block.page}:${block.line}: got\n${output}`).toBeUndefined()
}

/** The first line of the block that is not in the output in this order; `…` stands for any text. */
function missingLine({ text }: CodeBlock, output: string): string | undefined {
  let rest = output.split('\n').map((line) => line.trim())
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && line !== '…')
    .find((line) => {
      const index = rest.findIndex((each) => asPattern(line).test(each))
      rest = rest.slice(index + 1)
      return index === -1
    })
}

function asPattern(line: string): RegExp {
  const parts = line.split('…').map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(/\s+/g, '\\s+'))
  return new RegExp(`^${parts.join('.*')}$`)
}
