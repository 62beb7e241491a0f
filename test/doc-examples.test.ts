import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { loadConfig } from '@tool-hub/config'
import { parseAst } from 'rolldown/parseAst'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { type CodeBlock, codeBlocks, FEATURE_GUIDE, PAGES, shellCommands } from './support/markdown-blocks.ts'

// Examples are checked by the compiler, against the types of the package.
vi.setConfig({ testTimeout: 600_000 })

/** Packages that examples import. */
const PACKAGES = ['zod', 'ai', 'openai', '@anthropic-ai/sdk', '@langchain/core', '@openai/agents-core', 'ws', 'vitest']
const COMPILER = '--strict --noEmit --skipLibCheck --module nodenext --target es2022 --types node'.split(' ')
/** What docs-globals.ts.txt declares for every example. */
const GLOBALS = new Set(['createToolHub', 'defineTool', 'definePlugin', 'ToolError', 'openStore'])
/** What short examples take from the program around them: objects of frameworks, and the reader's own. */
const SURROUNDINGS = [
  ...['Agent', 'DynamicStructuredTool', 'ToolMessage', 'client', 'createAgent', 'generateText', 'model', 'stepCountIs'],
  ...['audit', 'bus', 'chat', 'definition', 'editor', 'expect', 'forecast', 'loop', 'max_tokens', 'messages'],
  ...['parameters', 'readFile', 'search', 'signal', 'stream', 'token', 'tool', 'weather', 'WebSocket'],
]
const blocks = PAGES.flatMap(codeBlocks)
const folder = mkdtempSync(join(tmpdir(), 'tool-hub-examples-'))
const at = ({ page, line }: CodeBlock) => `${page}:${line}`
const ofLanguage = (...languages: readonly string[]) => blocks.filter(({ language }) => languages.includes(language))

beforeAll(() => {
  for (const name of [...PACKAGES, '@types/node', '@types/ws']) {
    const link = join(folder, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(resolve('node_modules', name), link)
  }
  symlinkSync(resolve('packages/tool-hub'), join(folder, 'node_modules/tool-hub'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the examples in README.md and docs/', () => {
  it('name their language', () => {
    const known = ['ts', 'js', 'yaml', 'json', 'sh', 'text', 'python']
    expect(blocks.filter(({ language }) => !known.includes(language)).map(at)).toEqual([])
  })

  it('compile in strict mode against the types of the package: TypeScript', () => {
    const examples = ofLanguage('ts')
      .filter(({ page }) => page !== FEATURE_GUIDE)
      .map(({ page, line, text }) => [`${basename(page, '.md')}-${line}`, text] as const)
    expect(examples.length).toBeGreaterThan(30)
    expect(compile(examples)).toBe('')
  })

  it.each(ofLanguage('js').map((block) => [at(block), block] as const))('%s parses: JavaScript', (_, { text }) => {
    expect(() => parseAst(text)).not.toThrow()
  })

  it.each(ofLanguage('json').map((block) => [at(block), block] as const))('%s parses: JSON', (_, { text }) => {
    expect(() => JSON.parse(text)).not.toThrow()
  })

  // The rules in the guide to features are added to the default policy by `test/add-a-feature.test.ts`.
  const configs = ofLanguage('yaml').filter(({ page }) => page !== FEATURE_GUIDE)
  it.each(configs.map((block) => [at(block), block] as const))('%s is a valid config', async (_, block) => {
    const home = join(folder, `${basename(block.page, '.md')}-${block.line}`)
    mkdirSync(home)
    writeFileSync(join(home, 'tool-hub.yaml'), block.text)
    for (const file of filesNamedIn(block.text)) {
      mkdirSync(join(home, dirname(file)), { recursive: true })
      writeFileSync(join(home, file), 'export default { name: "example" }')
    }
    const shadow: unknown = parse(block.text)?.policy?.shadow
    if (typeof shadow === 'string') writeFileSync(join(home, shadow), 'policy: []')
    for (const [, name] of block.text.matchAll(/\$\{env:(\w+)\}/g))
      vi.stubEnv(name!, name === 'DATABASE_URL' ? 'postgres://db.example/hub' : 'example')
    const { warnings } = await loadConfig({ cwd: home })
    vi.unstubAllEnvs()
    expect(warnings.filter((warning) => !/ is not set, so the secret /.test(warning))).toEqual([])
  })

  it.each(ofLanguage('sh').map((block) => [at(block), block] as const))(
    '%s uses real commands and options',
    (_, block) => {
      const wrong = shellCommands(block)
        .map(({ command }) => /(?:^|[(|;&]\s*)(?:npx |node dist\/cli\/main\.js )?tool-hub (.*)$/.exec(command)?.[1])
        .filter((command) => command !== undefined)
        .flatMap(mistakesIn)
      expect(wrong).toEqual([])
    },
  )
})

describe('the examples in the comments of public functions', () => {
  it('compile in strict mode against the types of the package', async () => {
    const homes = await publicNames()
    const examples = sourceFiles().flatMap((file) =>
      commentExamples(readFileSync(file, 'utf8'))
        .filter(({ of }) => homes.has(of))
        .map(({ of, text }) => {
          const used = [...homes].filter(([name]) => !GLOBALS.has(name) && new RegExp(`\\b${name}\\b`).test(text))
          const imports = used.map(([name, home]) => `import { ${name} } from '${home}'`)
          const given = SURROUNDINGS.filter((name) => takes(text, name))
          const declared = given.map((name) => `declare const ${name}: any`)
          return [`comment-${of}`, [...imports, ...declared, text].join('\n')] as const
        }),
    )
    expect(examples.length).toBeGreaterThan(15)
    expect(compile(examples)).toBe('')
  })
})

/** Whether an example uses a name that it does not define. */
function takes(text: string, name: string): boolean {
  return new RegExp(`\\b${name}\\b`).test(text) && !new RegExp(`const (?:{ )?${name}\\b`).test(text)
}

/** What the compiler says about the examples, each a module of its own. */
function compile(examples: readonly (readonly [name: string, text: string])[]): string {
  copyFileSync('test/support/docs-globals.ts.txt', join(folder, 'globals.ts'))
  const files = examples.map(([name, text]) => {
    writeFileSync(join(folder, `${name}.ts`), `${text}\nexport {}\n`)
    return `${name}.ts`
  })
  const words = [resolve('node_modules/typescript/bin/tsc'), ...COMPILER, 'globals.ts', ...files]
  return spawnSync(process.execPath, words, { cwd: folder, encoding: 'utf8' }).stdout
}

/** The names that users import, each with the module it comes from. */
async function publicNames(): Promise<Map<string, string>> {
  const { exports } = JSON.parse(readFileSync('packages/tool-hub/package.json', 'utf8')) as {
    exports: Record<string, unknown>
  }
  const homes = new Map<string, string>()
  for (const [subpath, entry] of Object.entries(exports)) {
    if (typeof entry !== 'object' || entry === null || !('default' in entry)) continue
    const names = Object.keys(await import(resolve('packages/tool-hub', entry.default as string)))
    for (const name of names) if (!homes.has(name)) homes.set(name, subpath.replace(/^\./, 'tool-hub'))
  }
  return homes
}

function sourceFiles(): string[] {
  return readdirSync('packages', { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !/(^|\/)(dist|node_modules)\//.test(name))
    .map((name) => join('packages', name))
}

/** The `@example`s of exported functions. */
function commentExamples(source: string): { readonly of: string; readonly text: string }[] {
  const comments = source.matchAll(
    /@example\n((?: \*(?!\/).*\n)+) \*\/\n(?:\/\/.*\n)*export (?:async )?function (\w+)/g,
  )
  return [...comments].map(([, text, of]) => ({ of: of!, text: text!.replaceAll(/^ \* ?/gm, '') }))
}

/** Modules that a config names as plugins, so that the example can be loaded. */
function filesNamedIn(text: string): string[] {
  const { plugins = [] } = (parse(text) ?? {}) as { readonly plugins?: readonly unknown[] }
  return plugins.filter((plugin) => typeof plugin === 'string' && plugin.endsWith('.mjs')) as string[]
}

/** The options of every command, by its full name, as the generated reference lists them. */
const COMMANDS: ReadonlyMap<string, readonly string[]> = new Map(
  PAGES.filter((page) => /^docs\/reference\/cli\b/.test(page))
    .map((page) => readFileSync(page, 'utf8'))
    .join('\n')
    .split(/^## /m)
    .slice(1)
    .map((section) => [
      section.slice(0, section.indexOf('\n')),
      [...section.matchAll(/(?<![\w-])--[a-z][\w-]*/g)].map(([option]) => option),
    ]),
)

/** Commands or options in a command line that tool-hub does not have; arguments of tools are not looked at. */
function mistakesIn(line: string): string[] {
  const words = line.replaceAll(/'[^']*'|"[^"]*"/g, 'text').split(/\s+/)
  const end = words.findIndex((word) => /^[|>&;)]|^--$/.test(word))
  const own = end === -1 ? words : words.slice(0, end)
  let name = 'tool-hub'
  for (const word of own) {
    if (!COMMANDS.has(`${name} ${word}`)) break
    name = `${name} ${word}`
  }
  if (name === 'tool-hub' && !own[0]!.startsWith('-')) return [`${line}: no such command`]
  if (/^tool-hub (?:call|policy explain)$/.test(name)) return []
  const known = COMMANDS.get(name)!
  return own
    .filter((word) => word.startsWith('--') && !known.includes(word.split('=')[0]!))
    .map((word) => `${line}: ${name} has no option ${word}`)
}
