// The declarations of a published package: what people can import, of all packages of the workspace, with relative imports.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { readExports } from '../packages.mjs'

/** Where `tsc --build` writes them; it keeps there what has not changed. */
const BUILT = 'node_modules/.cache/types'
/** Sources whose declarations lack the comments of properties: schemas. */
const SCHEMAS = [/^core\/protocol\/[^/]+\.d\.ts$/, /^(features\/[^/]+|browser|code)\/schema\.d\.ts$/]

/** Compiles the declarations of packages, and of all that those need. */
export function compileTypes(units) {
  const args = ['node_modules/typescript/bin/tsc', '--build', ...units.map((unit) => `packages/${unit}`)]
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

/**
 * Writes the declarations of the entries, and all that those import, to a folder, each in a folder with the name of its
 * package. `entries`: such as `library/index.d.ts`.
 */
export function writeDeclarations(folder, entries) {
  const sourceOfExport = readExports()
  const files = new Set(entries)
  // A set also iterates over what is added meanwhile.
  for (const file of files) {
    let text = readFileSync(join(BUILT, file), 'utf8')
    if (SCHEMAS.some((pattern) => pattern.test(file))) text = withComments(text, sourceOf(file))
    text = text.replaceAll(/(['"])(@tool-hub\/[\w/-]+)\1/g, (_, quote, name) => {
      const to = relative(dirname(file), declarationOf(name, sourceOfExport))
      return `${quote}${to.startsWith('.') ? to : `./${to}`}${quote}`
    })
    for (const [, to] of text.matchAll(/(?:from |import |import\()['"](\.[^'"]+)\.[jt]s['"]/g))
      files.add(join(dirname(file), `${to}.d.ts`))
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    writeFileSync(join(folder, file), text)
  }
}

/** The file of the declarations that has what is imported of a package. */
function declarationOf(specifier, sourceOfExport) {
  const source = sourceOfExport(specifier)
  if (source === undefined) throw new Error(`No package exports ${specifier}.`)
  return source.replace(/^packages\/([\w-]+)\/src\//, '$1/').replace(/\.ts$/, '.js')
}

function sourceOf(declaration) {
  const [unit, ...rest] = declaration.split('/')
  return readFileSync(`packages/${unit}/src/${rest.join('/').replace(/\.d\.ts$/, '.ts')}`, 'utf8')
}

/** Editors show the comments of a schema's properties for the type that is inferred of it; tsc declares schemas without them. */
function withComments(declared, source) {
  const comments = propertyComments(source)
  let schema
  return declared
    .split('\n')
    .flatMap((line) => {
      schema = /^(?:export )?declare const (\w+):/.exec(line)?.[1] ?? schema
      const comment = comments.get(schema)?.get(/^ {4}(\w+):/.exec(line)?.[1])
      return comment === undefined ? line : [`    ${comment.replaceAll('\n', '\n  ')}`, line]
    })
    .join('\n')
}

/** The comments of the properties of each schema, with those of the schemas that it extends. */
function propertyComments(source) {
  const schemas = new Map()
  let current = new Map()
  const take = (name) => {
    for (const [property, comment] of schemas.get(name) ?? []) current.set(property, comment)
  }
  const parts = /^(?:export )?const (\w+) = (\w*)|^ {2}(\/\*\*(?:(?!\*\/)[\s\S])*\*\/)\n {2}(\w+)\b|\.\.\.(\w+)/gm
  for (const [, schema, base, comment, property, spread] of source.matchAll(parts)) {
    if (schema !== undefined) {
      current = new Map()
      schemas.set(schema, current)
      take(base)
    } else if (comment !== undefined) current.set(property, comment)
    else take(spread)
  }
  return schemas
}
