import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { z } from 'zod'

const FILE = 'traces.json'

const call = z.looseObject({ tool: z.string(), args: z.record(z.string(), z.unknown()).default({}) })
const tool = z.looseObject({
  name: z.string(),
  description: z.string().optional(),
  params: z.record(z.string(), z.unknown()).default({}),
})
const task = z.looseObject({
  prompt: z.string(),
  calls: z.array(call),
  canary: z.array(z.looseObject({ vectors: z.array(z.unknown()).default([]) })).default([]),
})
const suite = z.looseObject({
  tools: z.array(tool),
  user: z.record(z.string(), task),
  inj: z.record(z.string(), z.looseObject({ calls: z.array(call).default([]) })).default({}),
})
const file = z.record(z.string().regex(/^[\w-]+$/, 'use letters, digits, - and _'), suite)

/** Reads a file of suites: `{ suite: { tools, user, inj } }`. Throws an error that names the file and the field. */
export function readSuiteFile(path) {
  let data
  try {
    data = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new Error(`${path} cannot be read: ${error.message}`)
  }
  const parsed = file.safeParse(data)
  if (parsed.success && Object.keys(parsed.data).length > 0) return parsed.data
  const [{ path: field, message }] = parsed.error?.issues ?? [{ path: [], message: 'It contains no suite.' }]
  throw new Error(`${path}${field.length > 0 ? `, ${field.join('.')}` : ''}: ${message}`)
}

/** The benchmarks in folders, each a folder with a file of suites: `[{ name, file, suites }]`. */
export function readBenchmarks(folders) {
  const found = folders.flatMap((folder) => {
    if (!existsSync(folder)) throw new Error(`${folder} does not exist.`)
    const inside = readdirSync(folder).map((name) => join(folder, name))
    const holders = [folder, ...inside.sort()].filter((each) => existsSync(join(each, FILE)))
    if (holders.length === 0) throw new Error(`${folder} has no ${FILE}, and neither have the folders in it.`)
    return holders.map((each) => ({ name: basename(each), file: join(each, FILE) }))
  })
  const benchmarks = found.map((each) => ({ ...each, suites: readSuiteFile(each.file) }))
  const names = benchmarks.flatMap(({ suites }) => Object.keys(suites))
  const double = names.find((name, place) => names.indexOf(name) !== place)
  if (double === undefined) return benchmarks
  const files = benchmarks.filter(({ suites }) => Object.hasOwn(suites, double)).map((each) => each.file)
  throw new Error(`${files.join(' and ')} both have a suite ${double}.`)
}
