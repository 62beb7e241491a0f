import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'

/** Every module URL that importing an entry of the built package loads, as a resolve hook sees it. */
function loadedBy(entry: string): string[] {
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
    [
      '--import',
      `data:text/javascript,${encodeURIComponent(register)}`,
      '--input-type=module',
      '-e',
      `await import('${entry}')`,
    ],
    { encoding: 'utf8' },
  )
  return [...new Set(output.split('\n'))]
}

const packagesOf = (urls: string[]) =>
  new Set(urls.flatMap((url) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1] ?? []))

describe('importing tool-hub', () => {
  const urls = loadedBy(`${process.cwd()}/dist/index.js`)

  it('loads no MCP, no HTTP, no SQLite, no parser, no engine: they come when they are needed', () => {
    const heavy =
      /^(@modelcontextprotocol|hono|undici|ajv|re2js|yaml|json5|json-p3|@jmespath|commander|@clack|prom-client|@opentelemetry|unbash|web-tree-sitter|.*sqlite)/
    expect([...packagesOf(urls)].filter((name) => heavy.test(name))).toEqual([])
    expect(urls.filter((url) => /^node:(http|https|http2|sqlite|child_process|worker_threads)$/.test(url))).toEqual([])
  })

  it('loads nothing of what reads command lines', () => {
    expect(urls.filter((url) => /\/shell\/(programs\/|shell-reader|walk-script)/.test(url))).toEqual([])
  })

  it('loads none of the CLI, the config reader or the testing kit', () => {
    expect(urls.filter((url) => /\/dist\/(cli|config|testing)\//.test(url))).toEqual([])
  })
})
