import { execFile } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { rgPath } from '../../node_modules/@vscode/ripgrep/lib/index.js'
import { figure, ratioFigure } from '../lib/figure.mjs'
import { measureInRounds, millisecondsOf } from '../lib/measure.mjs'
import { dataOf, projectHub } from '../lib/ours.mjs'
import { withTempFolder } from '../lib/temp-folder.mjs'

const FOLDERS = 500
const FILES_EACH = 100
const MATCHES = 100

/** Searches 50,000 files for a pattern with 100 matches, beside ripgrep by itself. */
export default async function searchTree({ rounds }) {
  return withTempFolder(async (folder) => {
    const root = join(folder, 'project')
    await makeTree(root)
    const hub = projectHub({ runs: join(folder, 'runs'), root })
    const samples = await measureInRounds(
      {
        ours: () =>
          millisecondsOf(async () => {
            const { matches } = await dataOf(
              hub.call('core/fs.searchText', { root: '.', query: 'needle-42', glob: '**/*' }),
            )
            check(matches.length)
          }),
        ripgrep: () =>
          millisecondsOf(async () => {
            const { stdout } = await promisify(execFile)(rgPath, ['--no-config', '-n', '-F', '--', 'needle-42', '.'], {
              cwd: root,
            })
            check(stdout.trimEnd().split('\n').length)
          }),
      },
      { rounds, warmUps: 2 },
    )
    await hub.close()
    return [
      ratioFigure('governed : rg itself', samples.ours, samples.ripgrep, { goal: 1.1 }),
      figure('governed', samples.ours, { unit: 'ms' }),
      figure('rg', samples.ripgrep, { unit: 'ms' }),
    ]
  })
}

async function makeTree(root) {
  for (let index = 0; index < FOLDERS; index++) {
    const folder = join(root, `pkg-${index}`)
    await mkdir(folder, { recursive: true })
    await Promise.all(
      Array.from({ length: FILES_EACH }, (_, file) => {
        const isMatch = file === 7 && index < MATCHES
        const text = `export const value${file} = ${index}\n`.repeat(20) + (isMatch ? 'const needle-42 = 1\n' : '')
        return writeFile(join(folder, `file-${file}.ts`), text)
      }),
    )
  }
}

function check(matches) {
  if (matches !== MATCHES) throw new Error(`expected ${MATCHES} matches, got ${matches}`)
}
