import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import picomatch from 'picomatch'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import config from '../vitest.config.ts'

const text = (file: string) => readFileSync(file, 'utf8')

/** The line of the README that tests a fresh clone, without its comment. */
const testCommand = /^(npm ci && npm test\b.*?)\s*(?:#.*)?$/m.exec(text('README.md'))![1]!

interface Workflow {
  readonly permissions: unknown
  readonly jobs: Readonly<Record<string, Job>>
}

interface Job {
  readonly strategy: { readonly matrix: { readonly node: readonly string[] } }
  readonly steps: readonly { readonly run?: string }[]
}

describe('continuous integration', () => {
  const workflow: Workflow = parse(text('.github/workflows/test.yml'))
  const job = workflow.jobs.test!

  it("runs the README's test command, and no other one", () => {
    const commands = job.steps.flatMap(({ run }) => (run?.includes('npm') ? [run] : []))
    expect(commands).toEqual([testCommand])
    expect(text('.ci/run')).toContain(`{ ${testCommand}; }`)
  })

  it('runs only scripts and projects of tests that exist', () => {
    const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> }
    const commands = readdirSync('.github/workflows').flatMap((file) =>
      Object.values((parse(text(`.github/workflows/${file}`)) as Workflow).jobs).flatMap(({ steps }) =>
        steps.flatMap(({ run = '' }) => run.split('&&').map((command) => command.trim())),
      ),
    )
    const named = (pattern: RegExp) => commands.flatMap((command) => pattern.exec(command)?.[1] ?? [])
    const run = named(/^npm run (?:--silent )?([\w:]+)/)
    expect(run).toContain('check')
    expect(run.filter((name) => scripts[name] === undefined)).toEqual([])
    const projects = named(/^npx vitest run --project (\w+)/)
    expect(projects).toEqual(['paths'])
    expect(text('vitest.config.ts')).toContain(`name: '${projects[0]}'`)
  })

  it('checks every push in minutes', () => {
    const { on, jobs } = parse(text('.github/workflows/check.yml')) as Workflow & { readonly on: object }
    expect(Object.keys(on)).toEqual(['push', 'pull_request'])
    expect(jobs.check).toMatchObject({ 'timeout-minutes': 5 })
  })

  it('tests every supported line of Node', () => {
    expect(job.strategy.matrix.node).toEqual(['20', '22', '24'])
    const { engines } = JSON.parse(text('packages/tool-hub/package.json')) as { engines: { node: string } }
    expect(engines.node).toMatch(/^>=20\./)
  })

  it('may only read the repository', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' })
  })
})

it('names only test files that exist where a project of the tests has a list of them', () => {
  const projects = (config as { test: { projects: { test: { include: string[] } }[] } }).test.projects
  const files = execFileSync('git', ['ls-files', '*.test.ts'], { encoding: 'utf8' }).split('\n')
  const patterns = projects.flatMap(({ test }) => test.include)
  expect(patterns.length).toBeGreaterThan(10)
  const hasFile = (pattern: string) => {
    const isMatch = picomatch(pattern)
    return files.some((file) => isMatch(file))
  }
  expect(patterns.filter((pattern) => !hasFile(pattern))).toEqual([])
})

describe('a release', () => {
  const { jobs } = parse(text('.github/workflows/release.yml')) as Workflow
  const commands = jobs.publish!.steps.flatMap(({ run = '' }) => run.split('&&').map((command) => command.trim()))
  const versionOf = (folder: string) => JSON.parse(text(`${folder}/package.json`)).version as string | undefined

  it('has one version for all packages of the workspace', () => {
    const versions = readdirSync('packages').map((name) => [name, versionOf(`packages/${name}`)])
    expect(versions.filter(([, version]) => version !== versionOf('packages/tool-hub'))).toEqual([])
    expect(versionOf('.')).toBeUndefined()
  })

  it('compares the tag with the version of the package that it publishes', () => {
    const [, manifest = ''] = commands.flatMap((command) => /require\("\.\/(.*?)"\)\.version/.exec(command) ?? [])
    expect(JSON.parse(text(manifest))).toMatchObject({ name: 'tool-hub', version: expect.any(String) })
  })

  it('publishes the packages that are not private, and no other ones, with a proof and after the build', () => {
    const isPublic = (name: string) => JSON.parse(text(`packages/${name}/package.json`)).private !== true
    const units = readdirSync('packages').filter(isPublic).sort()
    expect(units).toEqual(['base', 'tool-hub'])
    const publish = commands.filter((command) => command.startsWith('npm publish'))
    expect(publish).toEqual(units.map((unit) => `npm publish -w packages/${unit} --provenance --access public`))
    const described = commands.flatMap(
      (command) => /^npm pkg set -w packages\/([\w-]+) .*directory=packages\/\1"$/.exec(command)?.[1] ?? [],
    )
    expect(described).toEqual(units)
    expect(commands.indexOf('npm run check')).toBeGreaterThan(commands.indexOf('npm ci'))
    expect(commands.indexOf(publish[0]!)).toBeGreaterThan(commands.indexOf('npm run check'))
  })
})

describe('the files for GitHub', () => {
  const files = readdirSync('.github', { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

  it('are valid YAML', () => {
    const yaml = files.filter((file) => /\.ya?ml$/.test(file))
    expect(yaml.length).toBeGreaterThanOrEqual(5)
    for (const file of yaml) expect(() => parse(text(file), { strict: true, uniqueKeys: true }), file).not.toThrow()
  })

  it('have issue forms whose fields have an id and a label', () => {
    for (const name of ['bug', 'feature']) {
      const form = parse(text(`.github/ISSUE_TEMPLATE/${name}.yml`))
      expect(form).toMatchObject({ name: expect.any(String), description: expect.any(String) })
      const fields = (form.body as { type: string }[]).filter(({ type }) => type !== 'markdown')
      for (const field of fields)
        expect(field).toMatchObject({ id: expect.any(String), attributes: { label: expect.any(String) } })
      expect(new Set(fields.map((field) => (field as { id?: string }).id)).size).toBe(fields.length)
    }
  })
})
