import { execFile } from 'node:child_process'
import { appendFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { linkModules } from '../scripts/packages.mjs'
import { type CodeBlock, codeBlocks } from './support/markdown-blocks.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

// Types of the whole tree are checked.
vi.setConfig({ testTimeout: 600_000 })

const run = promisify(execFile)
const LIST = 'packages/library/src/features.ts'
const LOADER = ['--import', './test/support/load-typescript.mjs']

/** What a new feature may need to be written, generated and compiled. */
const COPIED = [
  ...[
    'packages',
    'scripts',
    'docs',
    'test/support',
    'package.json',
    'tsconfig.json',
    'tsconfig.build.json',
    'biome.json',
    '.gitignore',
  ],
]

/** Texts to add to files, each with the place that it is added before. */
type Edits = Readonly<Record<string, readonly (readonly [place: string, added: string])[]>>

let copy: string
let named: readonly CodeBlock[]

beforeAll(async () => {
  copy = temporaryFolder('add-a-feature')
  const isSource = (path: string) => !/\/(dist|node_modules)$/.test(path)
  for (const path of COPIED) cpSync(path, join(copy, path), { recursive: true, filter: isSource })
  linkModules(resolve('node_modules'), copy)
  named = codeBlocks('docs/guides/add-a-feature.md').filter(({ label }) => label.startsWith('packages/'))
  for (const { label, text } of named) {
    const path = join(copy, label)
    mkdirSync(dirname(path), { recursive: true })
    if (label === LIST) appendFileSync(path, text)
    else writeFileSync(path, text)
  }
  for (const [file, edits] of Object.entries({ ...ROUTE, ...OPTION })) {
    const text = readFileSync(join(copy, file), 'utf8')
    const edited = edits.reduce((before, [place, added]) => before.replace(place, `${added}${place}`), text)
    expect(edited.length).toBe(text.length + edits.reduce((sum, [, added]) => sum + added.length, 0))
    writeFileSync(join(copy, file), edited)
  }
  await inCopy([...LOADER, 'scripts/generate.mjs'])
})

/** What a new HTTP route needs: its schemas, and itself. Each text is added before the place. */
const ROUTE: Edits = {
  'packages/core/src/protocol/service.ts': [
    [
      '/** `GET /v1/audit/verify`',
      `export const weatherQuery = z.object({ days: z.coerce.number().default(1) })
export const weather = z.object({ city: z.string(), days: z.number() })
`,
    ],
  ],
  'packages/server/src/http/routes/service-routes.ts': [
    ['import { auditQuery, ', "import { weather, weatherQuery } from '@tool-hub/core/protocol'\n"],
    [
      "  defineRoute({\n    method: 'get',\n    path: '/v1/health',",
      `  defineRoute({
    method: 'get',
    path: '/v1/weather/{city}',
    client: { name: 'weather', note: 'For a test.', returns: 'days' },
    summary: 'The weather',
    allow: ['read'],
    query: weatherQuery,
    answers: [{ description: 'The weather', schema: weather }],
    handle: ({ param, query }) => answerJson({ city: param('city'), days: query.days }),
  }),
`,
    ],
  ],
}

/** What a new option of the hub needs that a config can set: its type, and its key. */
const OPTION: Edits = {
  'packages/core/src/options.ts': [
    [
      '  /** The source of time, for tests',
      '  /** What a test says. Default: nothing. */\n  readonly motto?: string\n',
    ],
  ],
  'packages/config/src/schema.ts': [['  caller: key(text,', "  motto: key(text, 'What a test says.'),\n"]],
}

describe('a route that is added as CONTRIBUTING.md says', () => {
  it('is two files', () => {
    expect(Object.keys(ROUTE)).toHaveLength(2)
    expect(readFileSync('CONTRIBUTING.md', 'utf8')).toContain('A route is written in two files:')
  })

  it('is served, described, and a method of the client with its types', async () => {
    writeFileSync(join(copy, 'packages/tool-hub/src/use-route.ts'), USE_ROUTE)
    expect(JSON.parse(await inCopy([...LOADER, 'packages/tool-hub/src/use-route.ts']))).toEqual({
      asked: 'http://127.0.0.1:1/v1/weather/S%C3%A3o%20Paulo?days=3',
      days: 3,
      answer: { city: 'Rome', days: 2 },
      described: true,
    })
  })
})

describe('an option of the hub that is added as CONTRIBUTING.md says', () => {
  it('is two files', () => {
    expect(Object.keys(OPTION)).toHaveLength(2)
    expect(readFileSync('CONTRIBUTING.md', 'utf8')).toContain('An option of the hub is written in two files:')
  })

  it('is a key of the config, passed on and checked', async () => {
    writeFileSync(join(copy, 'packages/tool-hub/src/use-option.ts'), USE_OPTION)
    expect(JSON.parse(await inCopy([...LOADER, 'packages/tool-hub/src/use-option.ts']))).toEqual({
      motto: 'Measure twice.',
      misspelt: 'createToolHub has no option "moto". Did you mean motto?',
      documented: true,
    })
  })
})

describe('a feature that is added as the guide says', () => {
  it('is one folder and one line', () => {
    const [folder] = [...new Set(named.filter(({ label }) => label !== LIST).map(({ label }) => label.split('/')[3]))]
    expect(folder).toBe('greetings')
    expect(
      named.filter(({ label }) => !label.startsWith('packages/features/src/greetings/')).map(({ text }) => text),
    ).toEqual(["export { greetings } from '@tool-hub/features/greetings/index'\n"])
    const lines = (root: string) => readFileSync(join(root, LIST), 'utf8').split('\n').length
    expect(lines(copy)).toBe(lines('.') + 1)
  })

  it('compiles, with its types in ctx, the hub, its options and the client', async () => {
    writeFileSync(join(copy, 'packages/tool-hub/src/use-greetings.ts'), USE)
    writeFileSync(join(copy, 'packages/tool-hub/src/use-route.ts'), USE_ROUTE)
    writeFileSync(join(copy, 'packages/tool-hub/src/use-option.ts'), USE_OPTION)
    const args = ['node_modules/typescript/bin/tsc', '--noEmit', '-p', '.']
    writeFileSync(
      join(copy, 'tsconfig.json'),
      JSON.stringify({
        extends: resolve('tsconfig.json'),
        include: ['packages/*/src'],
        exclude: ['packages/console', '**/*.test.ts', '**/*.test-d.ts', '**/*.examples.ts'],
        compilerOptions: { typeRoots: [resolve('node_modules/@types')] },
      }),
    )
    expect(await inCopy(args)).toBe('')
  })

  it('has a handle, a service, a section of the config, a route, client methods and a tool', async () => {
    expect(JSON.parse(await inCopy([...LOADER, 'packages/tool-hub/src/use-greetings.ts']))).toEqual({
      tool: { ok: true, data: { text: 'Good morning, Ada!' } },
      denied: 'POLICY_DENIED',
      byDefault: 'allow',
      service: { text: 'Good morning, Grace!', before: 1 },
      client: { text: 'Good morning, Lin!', before: 2 },
      schema: true,
    })
  })

  it('has a command', async () => {
    const config = join(copy, 'tool-hub.yaml')
    writeFileSync(config, 'greetings: { word: Welcome }\nruns: false\n')
    expect(await inCopy([...LOADER, 'packages/tool-hub/src/cli/main.ts', 'greetings', 'Ada', '--config', config])).toBe(
      'Welcome, Ada!\n',
    )
    expect(await inCopy([...LOADER, 'packages/tool-hub/src/cli/main.ts', '--help'])).toMatch(
      /^ {2}greetings +Greet somebody$/m,
    )
  })
})

const USE_ROUTE = `
import { createClient } from '@tool-hub/client'
import { describeApi } from '../../server/src/http/describe-api.ts'
import { ROUTES } from '../../server/src/http/route-table.ts'

let asked = ''
const fetch = async (url: string | URL | Request) => {
  asked = String(url)
  return Response.json({ city: 'x', days: 3 })
}
const days: number = await createClient({ url: 'http://127.0.0.1:1', token: 't', fetch }).weather('São Paulo', { days: 3 })
const route = ROUTES.find(({ path }) => path === '/v1/weather/{city}')!
const response = await route.handle({ param: () => 'Rome', query: route.query!.parse({ days: '2' }) } as never)
const described = JSON.stringify(describeApi(ROUTES, '0')).includes('/v1/weather/{city}')
console.log(JSON.stringify({ asked, days, answer: await response.json(), described }))
`

const USE_OPTION = `
import { readFileSync, writeFileSync } from 'node:fs'
import { loadConfig } from '@tool-hub/config'
import { createToolHub } from '@tool-hub/library'

writeFileSync('motto.yaml', 'motto: Measure twice.\\nruns: false\\n')
const { options } = await loadConfig({ file: 'motto.yaml' })
const motto: string | undefined = options.motto
await createToolHub(options).close()
let misspelt = ''
try {
  createToolHub({ runs: false, moto: 'x' } as never)
} catch (error) {
  const { message, fix } = error as { message: string; fix: { hint: string } }
  misspelt = message + ' ' + fix.hint
}
const documented = readFileSync('docs/reference/config.md', 'utf8').includes('motto')
console.log(JSON.stringify({ motto, misspelt, documented }))
`

/** Uses the feature through everything that follows from its definition. */
const USE = `
import { createClient } from '@tool-hub/client'
import { loadConfig } from '@tool-hub/config'
import { createToolHub } from '@tool-hub/library'
import { featureRoutes } from '@tool-hub/library/generated/routes'
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
