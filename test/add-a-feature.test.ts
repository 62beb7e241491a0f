import { execFile } from 'node:child_process'
import { appendFileSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { type CodeBlock, codeBlocks } from './support/markdown-blocks.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const run = promisify(execFile)
const LIST = 'src/features/index.ts'
const LOADER = ['--import', './test/support/load-typescript.mjs']

/** What a new feature may need to be written, generated and compiled. */
const COPIED = [
  ...['src', 'scripts', 'docs', 'test/support', 'package.json', 'tsconfig.json', 'biome.json', '.gitignore'],
  ...['config.schema.json'],
]

let copy: string
let named: readonly CodeBlock[]

beforeAll(async () => {
  copy = temporaryFolder('add-a-feature')
  for (const path of COPIED) cpSync(path, join(copy, path), { recursive: true })
  symlinkSync(resolve('node_modules'), join(copy, 'node_modules'))
  named = codeBlocks('docs/guides/add-a-feature.md').filter(({ label }) => label.startsWith('src/'))
  for (const { label, text } of named) {
    const path = join(copy, label)
    mkdirSync(dirname(path), { recursive: true })
    if (label === LIST) appendFileSync(path, text)
    else writeFileSync(path, text)
  }
  await inCopy([...LOADER, 'scripts/generate.mjs'])
}, 180_000)

describe('a feature that is added as the guide says', () => {
  it('is one folder and one line', () => {
    const [folder] = [...new Set(named.filter(({ label }) => label !== LIST).map(({ label }) => label.split('/')[2]))]
    expect(folder).toBe('greetings')
    expect(named.filter(({ label }) => !label.startsWith('src/features/greetings/')).map(({ text }) => text)).toEqual([
      "export { greetings } from './greetings/index.ts'\n",
    ])
    const lines = (root: string) => readFileSync(join(root, LIST), 'utf8').split('\n').length
    expect(lines(copy)).toBe(lines('.') + 1)
  })

  it('compiles, with its types in ctx, the hub, its options and the client', async () => {
    writeFileSync(join(copy, 'src/use-greetings.ts'), USE)
    const args = ['node_modules/typescript/bin/tsc', '--noEmit', '-p', '.']
    writeFileSync(
      join(copy, 'tsconfig.json'),
      JSON.stringify({
        extends: resolve('tsconfig.json'),
        include: ['src'],
        exclude: ['src/**/*.test.ts', 'src/**/*.test-d.ts', 'src/**/*.examples.ts'],
        compilerOptions: { typeRoots: [resolve('node_modules/@types')] },
      }),
    )
    expect(await inCopy(args)).toBe('')
  }, 180_000)

  it('has a handle, a service, a section of the config, a route, client methods and a tool', async () => {
    expect(JSON.parse(await inCopy([...LOADER, 'src/use-greetings.ts']))).toEqual({
      tool: { ok: true, data: { text: 'Good morning, Ada!' } },
      denied: 'POLICY_DENIED',
      byDefault: 'allow',
      service: { text: 'Good morning, Grace!', before: 1 },
      client: { text: 'Good morning, Lin!', before: 2 },
      schema: true,
    })
  }, 60_000)

  it('has a command', async () => {
    const config = join(copy, 'tool-hub.yaml')
    writeFileSync(config, 'greetings: { word: Welcome }\nruns: false\n')
    expect(await inCopy([...LOADER, 'src/cli/main.ts', 'greetings', 'Ada', '--config', config])).toBe('Welcome, Ada!\n')
    expect(await inCopy([...LOADER, 'src/cli/main.ts', '--help'])).toMatch(/^ {2}greetings +Greet somebody$/m)
  }, 60_000)
})

/** Uses the feature through everything that follows from its definition. */
const USE = `
import { createClient } from './client/index.ts'
import { loadConfig } from './config/index.ts'
import { createToolHub } from './create-tool-hub.ts'
import { featureRoutes } from './features/generated/routes/index.ts'
import { writeFileSync } from 'node:fs'

writeFileSync('use.yaml', 'greetings: { word: Good morning }\\nruns: false\\npolicy: [{ allow: greeting, on: Ada }, { deny: greeting, on: Eve }]\\n')
const { options } = await loadConfig({ file: 'use.yaml' })
const word: string | undefined = options.greetings?.word
const hub = createToolHub(options)
const greeted = await hub.call('core/greeting.greet', { name: 'Ada' })
const denied = await hub.call('core/greeting.greet', { name: 'Eve' })
const plain = createToolHub({ runs: false })
const byDefault = await plain.explain('core/greeting.greet', { name: 'World' })
await plain.close()
const service: { text: string } = await hub.greetings.greet('Grace')
const route = featureRoutes.flatMap(({ routes }) => routes).find(({ path }) => path === '/v1/greetings/{name}')!
const fetch = async (url: string | URL | Request) => {
  const name = decodeURIComponent(String(url).split('/').at(-1)!)
  const request = { hub, param: () => name } as never
  return Response.json(await route.handle(request))
}
const client = await createClient({ url: 'http://127.0.0.1:1', token: 't', fetch }).greetings.greet('Lin')
await hub.close()
console.log(JSON.stringify({
  tool: greeted.ok && { ok: greeted.ok, data: greeted.data },
  denied: !denied.ok && denied.error.code,
  byDefault: byDefault.effect,
  service,
  client,
  schema: word === 'Good morning',
}))
`

/** Runs Node in the copy, and returns what it prints. */
async function inCopy(args: readonly string[]): Promise<string> {
  const { stdout } = await run(process.execPath, args, { cwd: copy, maxBuffer: 10_000_000 }).catch((error) => {
    throw new Error(`${error.stdout}\n${error.stderr}`)
  })
  return stdout
}
