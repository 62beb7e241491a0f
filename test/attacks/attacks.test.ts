import { type ExecFileOptions, execFile } from 'node:child_process'
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { bundleModule } from '../support/run-module.ts'

// Each test tries hundreds of attacks, one after the other.
vi.setConfig({ testTimeout: 600_000 })

interface Report {
  readonly file: string
  readonly notRun?: string
  readonly cases: number
  readonly escapes: number
  readonly overStrict: number
  readonly exact: number
  readonly overStrictShare: number
  readonly exactShare: number
  readonly benignAsked: number
  readonly inexact: ReadonlyArray<{ readonly id: string; readonly got: string }>
  readonly misses: ReadonlyArray<{ readonly id: string; readonly outcome: string; readonly why: string }>
}

/** Runs the runner on the built package, as `npm run attacks` does. */
function runAttacks(corpus: string) {
  return runScript([...LOAD_SOURCES, 'scripts/attacks.mjs'], corpus)
}

function runScript(
  script: readonly string[],
  corpus: string,
  options: ExecFileOptions = {},
): Promise<{ readonly code: number; readonly reports: Report[] }> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [...script, '--json', '--corpus', corpus], options, (error, stdout, stderr) => {
      if (stdout === '') reject(new Error(String(stderr), { cause: error }))
      else resolve({ code: error ? Number(error.code) : 0, reports: JSON.parse(String(stdout)) })
    })
  })
}

/** The judge of command lines is not part of the built package; the runner takes it from the sources. */
const LOAD_SOURCES = ['--import', './test/support/load-typescript.mjs']

const BY_FOLDER = { 'test/attacks': [119, 88, 191], 'test/attacks/more': [70, 298, 2054] } as const

it.each(Object.entries(BY_FOLDER))(
  'no case of %s escapes, and at most 2 % of what is to be allowed is refused',
  async (folder, [ssrfCases, pathCases, shellCases]) => {
    const { code, reports } = await runAttacks(folder)
    const [ssrf, paths, shell] = reports
    expect(reports.flatMap(({ misses = [] }) => misses).filter(({ outcome }) => outcome === 'escape')).toEqual([])
    expect(ssrf).toMatchObject({ file: 'ssrf.jsonl', cases: ssrfCases, escapes: 0 })
    expect(paths).toMatchObject({ file: 'paths.jsonl', cases: pathCases, escapes: 0 })
    for (const report of [ssrf, paths]) {
      expect(report?.overStrictShare, JSON.stringify(report?.misses)).toBeLessThanOrEqual(0.02)
    }
    expect(shell).toMatchObject({ file: 'shell.jsonl', cases: shellCases, escapes: 0 })
    const values = reports.find(({ file }) => file === 'values.jsonl')
    expect(values).toMatchObject(folder === 'test/attacks' ? { cases: 107, exactShare: 1 } : { notRun: 'no such file' })
    expect(shell?.exactShare, JSON.stringify([shell?.misses, shell?.inexact])).toBeGreaterThanOrEqual(0.95)
    expect(shell?.benignAsked, JSON.stringify([shell?.misses, shell?.inexact])).toBeLessThanOrEqual(0.02)
    expect(code).toBe(0)
  },
)

const NOBODY = 65_534

// Without root, the cases above already ran as an unprivileged user.
it.runIf(process.getuid?.() === 0).each(Object.entries(BY_FOLDER))(
  'no path of %s leads an unprivileged user out of the workspace',
  async (folder, [, cases]) => {
    const bundled = await bundleModule('scripts/attacks.mjs')
    const base = mkdtempSync(join(tmpdir(), 'tool-hub-attacks-'))
    onTestFinished(() => rmSync(base, { recursive: true, force: true }))
    chmodSync(base, 0o755)
    const temporary = join(base, 'tmp')
    mkdirSync(temporary)
    chownSync(temporary, NOBODY, NOBODY)
    cpSync(join(folder, 'paths.jsonl'), join(base, 'paths.jsonl'))
    const script = join(base, 'script', basename(bundled))
    cpSync(dirname(bundled), dirname(script), { recursive: true })
    // The bundle looks for the binary of ripgrep in a package next to it.
    const ripgrep = `node_modules/@vscode/ripgrep-${process.platform}-${process.arch}`
    cpSync(ripgrep, join(base, 'script', ripgrep), { recursive: true })
    // The race itself does not depend on the user, and root has tried it ten times as often.
    const { code, reports } = await runScript([script, '--race-calls', '1000'], base, {
      ...{ uid: NOBODY, gid: NOBODY, cwd: base },
      env: { PATH: process.env.PATH, HOME: temporary, TMPDIR: temporary },
    })
    const paths = reports.find(({ file }) => file === 'paths.jsonl')
    expect(paths).toMatchObject({ cases, escapes: 0 })
    expect(paths?.overStrictShare, JSON.stringify(paths?.misses)).toBeLessThanOrEqual(0.02)
    expect(code).toBe(0)
  },
)

it('the runner distinguishes an escape from a refusal, and ends with 1', async () => {
  const corpus = mkdtempSync(join(tmpdir(), 'tool-hub-corpus-'))
  const write = (file: string, cases: readonly unknown[]) =>
    writeFileSync(join(corpus, file), cases.map((attack) => JSON.stringify(attack)).join('\n'))
  try {
    write('ssrf.jsonl', [
      { id: 's-escape', policy: 'open', url: 'https://8.8.8.8/', expected: 'deny' },
      { id: 's-strict', policy: 'list', url: 'https://nowhere.example/', expected: 'allow' },
      {
        id: 's-effect',
        policy: 'open',
        url: 'http://a.example/',
        dns: { 'a.example': ['8.8.8.8'] },
        never_connect: ['8.8.8.8'],
        expected: 'allow',
      },
      { id: 's-fine', policy: 'open', url: 'http://127.0.0.1/', expected: 'deny', env: { http_proxy: 'http://x:1' } },
    ])
    write('paths.jsonl', [
      { id: 'p-escape', op: 'read', path: 'f.txt', expected: 'deny' },
      { id: 'p-strict', op: 'read', path: '../out/secret.txt', expected: 'allow' },
      { id: 'p-text', op: 'read', path: 'f.txt', forbid_text: 'in', expected: 'allow' },
      { id: 'p-fine', op: 'write', path: 'f.txt', expected: 'allow' },
    ])
    write('shell.jsonl', [
      { id: 'c-escape', cmd: 'ls', expected: 'ask' },
      { id: 'c-worse', cmd: 'sleep 1', expected: 'deny' },
      { id: 'c-strict', class: 'benign', cmd: 'sleep 1', expected: 'allow' },
      { id: 'c-policy', class: 'benign', policy: 'dev', cmd: 'git log', expected: 'allow' },
      { id: 'c-inexact', class: 'benign', cmd: 'sleep 1', expected: 'allow', accept: ['allow', 'ask'] },
      { id: 'c-fine', cmd: 'ls; rm -rf /', expected: 'deny' },
    ])
    const { code, reports } = await runAttacks(corpus)
    const outcomes = reports.flatMap(({ misses = [] }) => misses.map(({ id, outcome }) => [id, outcome]))
    expect(Object.fromEntries(outcomes)).toEqual({
      's-escape': 'escape',
      's-strict': 'over-strict',
      's-effect': 'escape',
      'p-escape': 'escape',
      'p-strict': 'over-strict',
      'p-text': 'escape',
      'c-escape': 'escape',
      'c-worse': 'escape',
      'c-strict': 'over-strict',
    })
    expect(code).toBe(1)
    expect(reports[2]).toMatchObject({ exactShare: 2 / 6, benignAsked: 2 / 3, inexact: [{ id: 'c-inexact' }] })
  } finally {
    rmSync(corpus, { recursive: true, force: true })
  }
})
