import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

/** Every module URL that a script loads, as a resolve hook sees it. */
function loadedBy(script: string): string[] {
  const hook = `
    import { writeSync } from 'node:fs'
    export async function resolve(specifier, context, next) {
      const result = await next(specifier, context)
      writeSync(1, result.url + '\\n')
      return result
    }`
  const register = `import { register } from 'node:module'; register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hook)}`)})`
  const output = execFileSync(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(register)}`, '--input-type=module', '-e', script],
    { encoding: 'utf8' },
  )
  return [...new Set(output.split('\n'))]
}

const packagesOf = (urls: string[]) =>
  new Set(urls.flatMap((url) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? []))

/** The files of the package among them. */
const filesOf = (urls: string[]) => urls.filter((url) => url.includes('/dist/')).map((url) => fileURLToPath(url))

/** How many files of the package are loaded, and their size. */
function sizeOf(urls: string[]): { readonly files: number; readonly bytes: number } {
  const files = filesOf(urls)
  return { files: files.length, bytes: files.reduce((sum, file) => sum + statSync(file).size, 0) }
}

const INDEX = `${process.cwd()}/packages/tool-hub/dist/index.js`

describe('importing tool-hub', () => {
  const urls = loadedBy(`await import('${INDEX}')`)

  it('loads few files and no built-in tool', () => {
    const { files, bytes } = sizeOf(urls)
    expect(files).toBeLessThanOrEqual(20)
    expect(bytes).toBeLessThan(1_815_000)
    expect(urls.filter((url) => /\/(read-text|web-search|exec-run|canvas)-/.test(url))).toEqual([])
  })

  it('and the first call of a tool of the user loads no more, that of a built-in tool only that tool', () => {
    const folder = mkdtempSync(join(tmpdir(), 'tool-hub-import-'))
    try {
      const call = (name: string, input: string) => `
        const { createToolHub, defineTool } = await import('${INDEX}')
        const own = defineTool({ name: 'own.echo', description: 'x', input: { '~standard': { version: 1, vendor: 'x', validate: (value) => ({ value }) } }, execute: (input) => input })
        const hub = createToolHub({ tools: [own], runs: '${folder}/runs', data: '${folder}' })
        const { ok } = await hub.callDynamic('${name}', ${input})
        await hub.close()
        if (!ok) process.exit(1)`
      const own = sizeOf(loadedBy(call('own.echo', '{ a: 1 }')))
      expect(own.files).toBeLessThanOrEqual(sizeOf(urls).files + 2)
      const builtin = loadedBy(call('core/util.hash.sha256Text', "{ text: 'a' }"))
      expect(sizeOf(builtin).files).toBeLessThanOrEqual(own.files + 8)
      expect(builtin.filter((url) => /\/(read-text|web-search|exec-run|canvas)-/.test(url))).toEqual([])
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('loads no MCP, no HTTP, no SQLite, no parser, no engine: they come when they are needed', () => {
    const heavy =
      /^(@modelcontextprotocol|hono|undici|ajv|re2js|yaml|json5|json-p3|@jmespath|commander|@clack|prom-client|@opentelemetry|unbash|web-tree-sitter|.*sqlite)/
    expect([...packagesOf(urls)].filter((name) => heavy.test(name))).toEqual([])
    expect(urls.filter((url) => /^node:(http|https|http2|sqlite|child_process|worker_threads)$/.test(url))).toEqual([])
  })

  it('loads nothing that only a store on many machines needs', () => {
    // The build names each source file in the file that it is part of.
    const sources = filesOf(urls).flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/^\/\/ .*?(packages\/.+\.ts)$/gm)].map(([, source]) => source!),
    )
    expect(sources).toContain('packages/runtime/src/store/sqlite/driver.ts')
    const shared =
      /^packages\/(cluster\/src\/(postgres\/(?!connect|postgres-store)|records\/(?!index|bucket-address)|service\/|workers\/)|server\/)/
    expect(sources.filter((source) => shared.test(source))).toEqual([])
  })

  it('loads nothing of what reads command lines', () => {
    expect(urls.filter((url) => /\/shell\/(programs\/|shell-reader|walk-script)/.test(url))).toEqual([])
  })

  it('loads none of the CLI, the config reader or the testing kit', () => {
    expect(urls.filter((url) => /\/dist\/(cli|config|testing)\//.test(url))).toEqual([])
  })
})
