import { execFileSync } from 'node:child_process'
import { afterAll, expect, it } from 'vitest'
import { CLI_MAIN, cliFolder } from '../../../../test/support/cli.ts'

const empty = cliFolder(null)
afterAll(empty.remove)

it('starts a list without what a list does not need: hub, config reader, parsers, prompts', () => {
  const urls = loadedBy(['list'])
  const heavy = /node_modules\/(?!commander\/|zod\/)|\/(hub|pipeline|context|create-tool-hub|report-error)\.js$/
  const folders = /\/(approval|guards|limits|record|store|cli\/prompt|cli\/demo)\//
  expect(urls.filter((url) => heavy.test(url) || folders.test(url))).toEqual([])
  expect(urls.filter((url) => /\/config\/(schema|read-config|parse-)/.test(url))).toEqual([])
  expect(urls.length).toBeLessThan(200)
})

/** Every module URL that a command line loads, as a resolve hook sees it. */
function loadedBy(words: readonly string[]): string[] {
  const hook = `
    import { writeSync } from 'node:fs'
    export async function resolve(specifier, context, next) {
      const result = await next(specifier, context)
      writeSync(1, 'loaded ' + result.url + '\\n')
      return result
    }`
  const register = `import { register } from 'node:module'; register(${JSON.stringify(dataUrl(hook))})`
  const output = execFileSync(process.execPath, ['--import', dataUrl(register), CLI_MAIN, ...words], {
    cwd: empty.path,
    encoding: 'utf8',
  })
  return [...new Set(output.split('\n').flatMap((line) => /^loaded (.*)/.exec(line)?.[1] ?? []))]
}

function dataUrl(source: string): string {
  return `data:text/javascript,${encodeURIComponent(source)}`
}
