import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

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

  it('tests every supported line of Node', () => {
    expect(job.strategy.matrix.node).toEqual(['20', '22', '24'])
    const { engines } = JSON.parse(text('package.json')) as { engines: { node: string } }
    expect(engines.node).toMatch(/^>=20\./)
  })

  it('may only read the repository', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' })
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
