// Prints how many source files and functions one warm call visits, for four journeys (scripts/walk/journeys.mjs), as V8
// counts them. --list also names the files, --json prints everything as JSON. Run by npm run walk, which lets Node load
// the sources.
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { measureVisits } from './walk/coverage.mjs'
import { JOURNEYS } from './walk/journeys.mjs'

/** A journey is made this often before it is measured: once cold, then once warm. */
const WARM_UP = 2

const { values: flags } = parseArgs({ options: { list: { type: 'boolean' }, json: { type: 'boolean' } } })

const folder = await mkdtemp(join(await realpath(tmpdir()), 'tool-hub-walk-'))
try {
  const measured = []
  for (const journey of JOURNEYS) measured.push(await measure(journey))
  if (flags.json) console.log(JSON.stringify(measured, undefined, 2))
  else for (const journey of measured) print(journey)
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function measure({ name, title, open }) {
  const home = join(folder, name)
  await mkdir(home)
  const { prepare, close } = await open(home)
  try {
    for (let n = 0; n < WARM_UP; n++) {
      const travel = await prepare()
      await travel()
    }
    const visited = await measureVisits(await prepare())
    const functions = visited.reduce((sum, file) => sum + file.functions, 0)
    const calls = visited.reduce((sum, file) => sum + file.calls, 0)
    return { name, title, files: visited.length, functions, calls, visited }
  } finally {
    await close()
  }
}

function print({ title, files, functions, calls, visited }) {
  console.log(`${title}: ${files} files, ${functions} functions, ${calls} function calls`)
  if (flags.list) for (const file of visited) console.log(`  ${file.file} (${file.functions})`)
}
