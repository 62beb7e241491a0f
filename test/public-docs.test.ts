import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseAst } from 'rolldown/parseAst'
import { describe, expect, it } from 'vitest'
import { readExports } from '../scripts/packages.mjs'

/** The part of a syntax tree node that this test reads. */
interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly name?: unknown
  readonly kind?: string
  readonly computed?: boolean
  readonly optional?: boolean
  readonly accessibility?: string | null
  readonly id?: Node | null
  readonly key?: Node
  readonly declaration?: Node | null
  readonly declarations?: readonly Node[]
  readonly specifiers?: readonly Node[]
  readonly source?: { readonly value: string } | null
  readonly exported?: Node
  readonly imported?: Node
  readonly local?: Node
  readonly typeAnnotation?: Node | null
  readonly typeName?: Node
  readonly expression?: Node
  readonly exprName?: Node
  readonly superClass?: Node | null
  readonly callee?: Node
  readonly object?: Node
  readonly property?: Node
  readonly value?: unknown
  readonly init?: Node | null
  readonly properties?: readonly Node[]
}

interface SourceFile {
  readonly path: string
  readonly text: string
  readonly body: readonly Node[]
}

interface Declaration {
  readonly file: SourceFile
  readonly node: Node
}

/** Types that users pass on without looking inside, or that another specification describes, each with the reason. */
const OPAQUE: Readonly<Record<string, string>> = {
  'packages/policy/src/compile-policy.ts#Policy': 'compiled rules; `explain` takes them whole',
  'packages/runtime/src/hub/create-runtime.ts#HubLists': 'what a hub is put together from; users call `createToolHub`',
  'packages/core/src/schema/schema.ts#': 'the keywords of JSON Schema and of Standard Schema',
}
const MEMBERS = new Set(['TSPropertySignature', 'TSMethodSignature', 'PropertyDefinition', 'MethodDefinition'])
const SCHEMA_METHODS = new Set(['extend', 'omit', 'pick', 'partial', 'array', 'optional', 'nullable'])
const DECLARATION = /^(TSInterface|TSTypeAlias|Class|Function|Variable)Declaration$|^TSDeclareFunction$/
const files = new Map<string, SourceFile>()
const sourceOfExport = readExports()

describe('the public types', () => {
  const declarations = reachableDeclarations(entryPoints())

  it('are found from the entry points, even if only another type mentions them', () => {
    const names = [...declarations.keys()]
    expect(names).toContain('packages/core/src/options.ts#HubOptions')
    expect(names).toContain('packages/core/src/handles.ts#ReadFiles')
    expect(names).toContain('packages/client/src/create-client.ts#FollowOptions')
    expect(names).toContain('packages/features/src/schedules/schema.ts#scheduleRunList')
    expect(names).toContain('packages/features/src/sessions/types.ts#SessionEntry')
    expect(names).toContain('packages/core/src/protocol/runs.ts#runEntry')
    expect(names.length).toBeGreaterThan(300)
  })

  it('have a doc comment directly before every property and method', () => {
    const undocumented = [...declarations.values()].flatMap(({ file, node }) =>
      membersOf(node, file.text)
        .filter((member) => !hasDocComment(file.text, member))
        .map((member) => `${file.path}:${lineOf(file.text, member.start)} ${nameOf(member, file.text)}`),
    )
    expect(undocumented).toEqual([])
  })

  it('exempts only declarations that still exist', () => {
    for (const key of Object.keys(OPAQUE)) {
      const [path, name] = key.split('#') as [string, string]
      expect({ key, found: read(path).text.includes(name) }).toEqual({ key, found: true })
    }
  })
})

describe('the search for doc comments', () => {
  const find = (text: string) =>
    parse(text)
      .flatMap((node) => membersOf(node, text))
      .filter((member) => !hasDocComment(text, member))
      .map((member) => nameOf(member, text))

  it('finds members without a doc comment, and accepts no other kind of comment', () => {
    expect(find('interface A {\n  /** Yes. */\n  a: string\n  b(): void\n  // no\n  c: 1 | 2\n}')).toEqual(['b', 'c'])
    expect(find('interface A {\n  /* no */\n  a: string\n  /** `/*` */\n  b: string\n}')).toEqual(['a'])
    expect(find('interface A {\n  /** Yes. */\n  // biome-ignore x: y\n  a: string\n}')).toEqual([])
  })

  it('checks the public members of a class', () => {
    const fields = 'a = 1\n  private b = 2\n  #c = 3\n  constructor() {}\n  d() {}\n  readonly [KEY] = 1'
    expect(find(`class A {\n  ${fields}\n}`)).toEqual(['a', 'd'])
  })

  it('checks the properties of schemas, which a comment or `describe` explains', () => {
    const properties =
      "kind: z.literal('a'),\n  b: z.string(),\n  c: z.string().describe('C.'),\n  /** D. */\n  d: other,"
    expect(
      find(`const a = z.object({\n  ${properties}\n  e: z.array(\n    z.object({\n f: other }),\n  ),\n})`),
    ).toEqual([...['b', 'e', 'f']])
    expect(find('const a = b.omit({\n  c: true\n}).extend({\n  d: z.string()\n})')).toEqual(['d'])
    expect(find('const a = find({\n  c: other\n})')).toEqual([])
  })

  it('skips discriminants and one-line object types, which their owner describes', () => {
    const union =
      "{\n      kind: 'a'\n      b: string\n      c?: true\n      d?: undefined\n    }\n  | { kind: 'd'; e: string }"
    expect(find(`type A =\n  | ${union}`)).toEqual(['b', 'c'])
    expect(find('interface A {\n  /** Yes. */\n  a: { b: 1 }\n  /** Yes. */\n  c: {\n    d: string\n  }\n}')).toEqual([
      'd',
    ])
  })
})

/** The source file behind every entry of `exports` in package.json that has types. */
function entryPoints(): string[] {
  const { exports } = JSON.parse(readFileSync('packages/tool-hub/package.json', 'utf8')) as {
    exports: Record<string, unknown>
  }
  return Object.values(exports)
    .filter((entry): entry is { types: string } => typeof entry === 'object' && entry !== null && 'types' in entry)
    .map(({ types }) => types.replace(/^\.\/dist\/types\/([^/]+)\//, 'packages/$1/src/').replace(/\.d\.ts$/, '.ts'))
}

/** Every declaration that an entry point exports, or that the type of one mentions, by file and name. */
function reachableDeclarations(entries: readonly string[]): Map<string, Declaration> {
  const found = new Map<string, Declaration>()
  const waiting = entries.flatMap((path) => exportedNames(path).map((name) => ({ path, name })))
  waiting.push(...schemasOfClient())
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const declaration of declarationsOf(next.path, next.name)) {
      const { file, node } = declaration
      // The overloads of a function are declarations of one name.
      const overload = node.type === 'TSDeclareFunction' ? `@${node.start}` : ''
      const key = `${file.path}#${nameOf(node, file.text)}${overload}`
      if (found.has(key) || Object.keys(OPAQUE).some((opaque) => key.startsWith(opaque))) continue
      found.set(key, declaration)
      for (const name of mentionedTypes(node)) waiting.push({ path: file.path, name })
    }
  }
  return found
}

/** The schemas whose types the generated methods of the client have. */
function schemasOfClient(): { readonly path: string; readonly name: string }[] {
  const file = 'packages/client/src/routes.generated.ts'
  const { text } = read(file)
  const imports = text.matchAll(/^import type \* as (\w+) from '([^']+)'$/gm)
  const modules = new Map([...imports].map(([, name, from]) => [name!, sourceBehind(file, from!)!]))
  return [...text.matchAll(/typeof (\w+)\.(\w+)/g)].map(([, module, name]) => ({
    path: modules.get(module!)!,
    name: name!,
  }))
}

/** The declarations of a name in a file, or in the one that the file has it from; none for other packages. */
function declarationsOf(path: string, name: string): Declaration[] {
  const file = read(path)
  const own = file.body
    .map((node) => node.declaration ?? node)
    .filter((node) => DECLARATION.test(node.type) && namesOf(node).includes(name))
  if (own.length > 0) return own.map((node) => ({ file, node }))
  return file.body.flatMap(({ type, source, specifiers = [] }) => {
    const target = source ? sourceBehind(path, source.value) : undefined
    if (target === undefined) return []
    if (type === 'ExportAllDeclaration') return declarationsOf(target, name)
    return specifiers
      .filter(({ exported, local }) => textOf(exported ?? local) === name)
      .flatMap(({ imported, local }) => declarationsOf(target, textOf(imported ?? local)))
  })
}

/** The file that is imported, unless it belongs to a package of others. */
function sourceBehind(path: string, specifier: string): string | undefined {
  return specifier.startsWith('.') ? join(dirname(path), specifier) : sourceOfExport(specifier)
}

function exportedNames(path: string): string[] {
  return read(path).body.flatMap(({ type, source, declaration, specifiers = [] }) => {
    if (type === 'ExportAllDeclaration') return exportedNames(sourceBehind(path, source!.value)!)
    if (type !== 'ExportNamedDeclaration') return []
    return declaration ? namesOf(declaration) : specifiers.map(({ exported }) => textOf(exported))
  })
}

/** The names of the types that a declaration shows; the body of a function is not shown. */
function mentionedTypes(declaration: Node): string[] {
  const names: string[] = []
  walk(declaration, ({ type, typeName, expression, exprName, superClass }) => {
    if (type === 'TSTypeReference') names.push(textOf(typeName))
    if (type === 'TSInterfaceHeritage' || type === 'TSClassImplements') names.push(textOf(expression))
    if (type === 'TSTypeQuery') names.push(textOf(exprName))
    if (type === 'ClassDeclaration') names.push(textOf(superClass))
  })
  for (const { init } of declaration.declarations ?? []) {
    // The type of a schema shows what the schemas in it describe.
    if (init && isSchema(init)) walk(init, ({ type, name }) => type === 'Identifier' && names.push(String(name)))
  }
  return names
}

/** Whether an expression is a schema, or properties of one: `z.object({ … })`, `entry.extend({ … })`, `{ id: z.string() }`. */
function isSchema(node: Node): boolean {
  if (node.type === 'ObjectExpression')
    return (node.properties ?? []).some(({ value }) => isNode(value) && isSchema(value))
  const called = node.type === 'CallExpression' ? node.callee : undefined
  if (called?.type !== 'MemberExpression') return false
  return textOf(called.object) === 'z' || SCHEMA_METHODS.has(textOf(called.property)) || isSchema(called.object!)
}

/** The members that an editor shows on their own; what is on one line is described by what it belongs to. */
function membersOf(declaration: Node, source: string): Node[] {
  const members: Node[] = []
  const isOnLinesOfItsOwn = (owner: Node) => source.slice(owner.start, owner.end).includes('\n')
  walk(declaration, (node, owner) => {
    const isMember = MEMBERS.has(node.type) && node.kind !== 'constructor' && node.computed !== true
    if (isMember && !isDiscriminant(node) && isOnLinesOfItsOwn(owner)) members.push(node)
  })
  for (const { init } of declaration.declarations ?? []) {
    if (!init || !isSchema(init)) continue
    walk(init, (node, owner) => {
      if (node.type === 'Property' && isDescribable(node.value) && isOnLinesOfItsOwn(owner)) members.push(node)
    })
  }
  return members
}

/** A schema, or the name of one; not the discriminant of a union, and not `true` as `omit` takes it. */
function isDescribable(value: unknown): boolean {
  if (!isNode(value)) return false
  const isLiteral = textOf(value.callee?.property) === 'literal'
  return value.type === 'Identifier' || (isSchema(value) && !isLiteral)
}

/** `ok: true` or `allow?: undefined`: says which member of a union an object is. */
function isDiscriminant({ optional, typeAnnotation }: Node): boolean {
  return typeAnnotation?.typeAnnotation?.type === (optional ? 'TSUndefinedKeyword' : 'TSLiteralType')
}

function hasDocComment(source: string, member: Node): boolean {
  // What `describe` says of the property of a schema is also in the documents that are made of it.
  if (member.type === 'Property' && source.slice(member.start, member.end).includes('.describe(')) return true
  const lines = source.slice(0, member.start).trimEnd().split('\n')
  while (lines.at(-1)!.trim().startsWith('//')) lines.pop()
  return /\/\*\*(?:[^*]|\*(?!\/))*\*\/$/.test(lines.join('\n'))
}

/** Visits what a declaration shows, each node with the one around it. */
function walk(node: Node, visit: (node: Node, owner: Node) => void, owner: Node = node): void {
  const isHidden = node.accessibility === 'private' || node.key?.type === 'PrivateIdentifier'
  if (node.type === 'BlockStatement' || isHidden) return
  visit(node, owner)
  for (const [key, value] of Object.entries(node)) {
    if (key === 'value' && node.type === 'PropertyDefinition') continue
    for (const child of [value].flat()) if (isNode(child)) walk(child, visit, node)
  }
}

function isNode(value: unknown): value is Node {
  return typeof (value as Node | null | undefined)?.type === 'string'
}

function nameOf(node: Node, source: string): string {
  return MEMBERS.has(node.type) || node.type === 'Property'
    ? source.slice(node.key!.start, node.key!.end)
    : namesOf(node).join()
}

function namesOf(node: Node): string[] {
  return (node.declarations ?? [node]).map(({ id }) => textOf(id))
}

function textOf(identifier: Node | null | undefined): string {
  return typeof identifier?.name === 'string' ? identifier.name : ''
}

function lineOf(source: string, offset: number): number {
  return source.slice(0, offset).split('\n').length
}

function parse(text: string): readonly Node[] {
  return parseAst(text, { lang: 'ts' }).body as unknown as readonly Node[]
}

function read(path: string): SourceFile {
  const known = files.get(path)
  if (known) return known
  const text = readFileSync(path, 'utf8')
  const file = { path, text, body: parse(text) }
  files.set(path, file)
  return file
}
