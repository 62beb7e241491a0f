import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

/** Lines that each example must print: a tool ran, and policy or a person decided. */
const LINES: Readonly<Record<string, readonly string[]>> = {
  'agent-tools.mjs': [
    'update: 3…',
    'result: counted to 3',
    '"error": "Invalid arguments for demo_count: to must be <= 5."',
    '"status": "pending"',
    'call-3 ended later: red',
    'AbortError: demo_count was stopped by its caller.',
  ],
  'ai-sdk.mjs': [
    'result: chat.post is denied by deny remote on chat:board',
    'approve? {"channel":"team","text":"We shipped."}',
    'ask  remote chat:team',
    'result: Posted 11 characters to team.',
    'model: The team is informed; I am not allowed to write to the board.',
  ],
  'anthropic.mjs': [
    'toolu_1 -> "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"',
    'toolu_2 (error) -> "POLICY_DENIED: ',
    'model: It begins with 2cf24d; I am not allowed to read the time.',
  ],
  'langchain.mjs': [
    'error: POLICY_DENIED: chat.post is denied',
    'approve? chat.post on remote chat:team: yes',
    'success: Posted 11 characters to team.',
    'model: The team is informed; I am not allowed to write to the board.',
  ],
  'memory-server.mjs': [
    'write_memory: Stored as note-',
    '"Releases are cut on Thursdays."',
    "labels: [ 'untrusted' ]",
    'recall_memory: No matching notes.',
  ],
  'openai-agents.mjs': [
    'approve? {"channel":"team","text":"We shipped."}',
    'result: POLICY_DENIED: chat.post is denied',
    'result: Posted 11 characters to team.',
    'model: The team is informed; I am not allowed to write to the board.',
  ],
  'openai.mjs': [
    'weather_now {"city":"Rome","unit":null} -> Rome: 21 °C, sunny',
    'approve? trip.book on remote trips/Rome -> no',
    'trip_book {"city":"Rome"} -> APPROVAL_DENIED: ',
    'model: It is sunny in Rome; the trip has to wait until tomorrow.',
  ],
}

interface Ended {
  readonly code: unknown
  readonly stdout: string
  readonly stderr: string
}

describe('the examples, run against the built package', () => {
  const files = readdirSync('examples').sort()
  const cwd = mkdtempSync(join(tmpdir(), 'tool-hub-examples-'))
  const ended = new Map<string, Ended>()
  beforeAll(() => Promise.all(files.map(async (file) => ended.set(file, await run(file, cwd)))))
  afterAll(() => rmSync(cwd, { recursive: true, force: true }))

  it('all have expected output', () => {
    expect(files).toEqual(Object.keys(LINES))
  })

  it.each(Object.entries(LINES))('%s prints the expected lines in order and exits with 0', (file, lines) => {
    const { code, stdout, stderr } = ended.get(file)!
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const places = lines.map((line) => [line, stdout.indexOf(line)] as const)
    expect(places.filter(([, place]) => place === -1)).toEqual([])
    expect(places).toEqual(places.toSorted(([, one], [, other]) => one - other))
  })

  it('leave no files in the working folder', () => {
    expect(readdirSync(cwd)).toEqual([])
  })
})

/** Without API keys of the environment: no example may call a real model. */
function run(file: string, cwd: string): Promise<Ended> {
  const env = { PATH: process.env.PATH, HOME: cwd }
  return new Promise((done) => {
    execFile(process.execPath, [resolve('examples', file)], { cwd, env, timeout: 200_000 }, (error, stdout, stderr) =>
      done({ code: error ? (error.code ?? error.signal) : 0, stdout, stderr }),
    )
  })
}
